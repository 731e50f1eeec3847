#include "tests/support/ptx_bundle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "runtime/guest/layout.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/isa/ptx/lower.hpp"

namespace lanewise::test {
namespace {

struct Class {
  const char* prefix;
  const char* type;
  unsigned bits;
};
constexpr Class kClasses[] = {
    {"rd", "b64", 64},    {"ul", "u64", 64},  {"sl", "s64", 64}, {"fd", "f64", 64},
    {"hf2", "f16x2", 32}, {"hf", "f16", 16},  {"uh", "u16", 16}, {"sh", "s16", 16},
    {"r", "b32", 32},     {"u", "u32", 32},   {"s", "s32", 32},  {"f", "f32", 32},
    {"h", "b16", 16},     {"q", "b128", 128}, {"p", "pred", 1},  {"c", "b8", 8}};

/// `%rd1` is {rd, b64}; null for what is no register of the module.
const Class* class_of(const std::string& reg) {
  const size_t digits = reg.find_first_of("0123456789", reg.starts_with("%hf2") ? 4 : 1);
  if (digits == std::string::npos) return nullptr;
  for (const Class& c : kClasses)
    if (reg.substr(1, digits - 1) == c.prefix) return &c;
  return nullptr;
}

std::string declarations(bool has_b128) {
  std::string text =
      ".reg .v4 .b32 %vec4; .reg .v2 .b32 %vec2;\n"
      ".reg .pred %p<4>; .reg .b8 %c<4>; .reg .b16 %h<16>; .reg .b32 %r<40>; .reg .b64 %rd<40>;\n"
      ".reg .f32 %f<16>; .reg .f64 %fd<16>; .reg .u32 %u<8>; .reg .s32 %s<8>; .reg .u64 %ul<8>;\n"
      ".reg .s64 %sl<8>; .reg .u16 %uh<8>; .reg .s16 %sh<8>; .reg .f16 %hf<8>; .reg .f16x2 "
      "%hf2<8>;\n";
  if (has_b128) text += ".reg .b128 %q<8>;\n";
  return text;
}

/// Every register starts as another function of the seed, which no compiler knows.
std::string initial_values(bool has_b128) {
  std::string text =
      "ld.param.u64 %rd39, [kp0]; ld.param.u64 %rd38, [kparr+120]; mov.u64 %rd37, gbuf;\n"
      "add.u64 %rd37, %rd37, %rd38; ld.global.u32 %r39, [%rd39]; mov.u32 %r38, 0;\n";
  for (unsigned i = 0; i < 32; ++i)
    text += fmt::format("mad.lo.u32 %r{}, %r39, {}, {};\n", i, 2654435761U + 2 * i, 40503U * i);
  for (unsigned i = 0; i < 32; ++i)
    text += fmt::format("mov.b64 %rd{0}, {{%r{0}, %r{1}}};\n", i, (i * 7 + 3) % 32);
  for (unsigned i = 0; i < 16; ++i)
    text += fmt::format("mov.b32 %f{0}, %r{1}; mov.b64 %fd{0}, %rd{1}; cvt.u16.u32 %h{0}, %r{0};\n",
                        i, 31 - i);
  for (unsigned i = 0; i < 8; ++i)
    text += fmt::format(
        "mov.b32 %u{0}, %r{1}; mov.b32 %s{0}, %r{2}; mov.b64 %ul{0}, %rd{1}; mov.b64 %sl{0}, "
        "%rd{2};\nmov.b16 %uh{0}, %h{0}; mov.b16 %sh{0}, %h{1}; mov.b16 %hf{0}, %h{1}; mov.b32 "
        "%hf2{0}, %r{2};\n",
        i, i + 8, i + 16);
  for (unsigned i = 0; i < 8 && has_b128; ++i)
    text += fmt::format("mov.b128 %q{}, {{%rd{}, %rd{}}};\n", i, i, 8 + i);
  for (unsigned i = 0; i < 4; ++i)
    text += fmt::format("mov.b32 %vec4.{}, %r{}; setp.lt.s32 %p{}, %r{}, {};\n", "xyzw"[i], i + 20,
                        i, i, i % 2 == 0 ? "2147483647" : "-2147483648");
  return text + "mov.b32 %vec2.x, %r24; mov.b32 %vec2.y, %r25;\n";
}

bool has_qualifier(const std::string& text, const std::string& prefix) {
  return std::regex_search(text.substr(0, text.find_first_of(" \t[")), std::regex("\\." + prefix));
}

/// Code that makes a register point into the row's piece of the space that the row accesses.
std::string address_code(const std::string& text, const std::string& reg, size_t row, bool second) {
  const Class* c = class_of(reg);
  if (c == nullptr || c->bits < 16 || c->bits > 64) return {};
  const size_t slot = kSlotBytes * (row + 1);
  std::string to;
  if (text.starts_with("cp.async") && !second)
    to = fmt::format("add.u64 %rd36, %rd38, {};", slot);
  else if (has_qualifier(text, "shared"))
    to = fmt::format("add.u64 %rd36, %rd38, {};", slot);
  else if (has_qualifier(text, "local"))
    to = fmt::format("mov.u64 %rd36, lbuf; add.u64 %rd36, %rd36, {};", slot);
  else if (has_qualifier(text, "const"))
    to = "mov.u64 %rd36, cbuf;";
  else if (has_qualifier(text, "param"))
    to = "add.u64 %rd36, %rd38, 16;";
  else if (!has_qualifier(text, "global") && row % 2 == 1)
    to = fmt::format("add.u64 %rd36, %rd38, {};", guest::kSharedWindow + slot);
  else
    to = fmt::format("add.u64 %rd36, %rd37, {};", slot);
  const std::string narrow = c->bits == 32 ? "cvt.u32.u64" : "cvt.u16.u64";
  return to + (c->bits == 64 ? " mov.b64 " : " " + narrow + " ") + reg + ", %rd36;\n";
}

std::string fold_word(const std::string& reg) {
  return "mad.lo.u32 %r38, %r38, 31, " + reg + ";";
}

/// Takes a register into the hash.
std::string fold(const std::string& reg) {
  if (reg == "%vec4" || reg == "%vec2") {
    std::string text;
    for (unsigned i = 0; i < (reg == "%vec4" ? 4U : 2U); ++i)
      text += fold_word(reg + std::string(".") + "xyzw"[i]);
    return text;
  }
  if (reg.find('.') != std::string::npos) return fold_word(reg);
  const Class* c = class_of(reg);
  if (c == nullptr) return {};
  switch (c->bits) {
    case 1:
      return "selp.b32 %r37, 1, 0, " + reg + ";" + fold_word("%r37");
    case 8:
      return "mov.b32 %r37, 0;" + fold_word("%r37");  // nothing but st takes these
    case 16:
      return "mov.b16 %h15, " + reg + "; cvt.u32.u16 %r37, %h15;" + fold_word("%r37");
    case 32:
      return "mov.b32 %r37, " + reg + ";" + fold_word("%r37");
    case 64:
      return "mov.b64 {%r37, %r36}, " + reg + ";" + fold_word("%r37") + fold_word("%r36");
    default:
      return "mov.b128 {%rd36, %rd35}, " + reg + ";" + fold("%rd36") + fold("%rd35");
  }
}

std::string observe(const std::string& text) {
  static const std::regex kReg("%\\w+(\\.[xyzw])?");
  const size_t start = text.find_first_of(" \t");
  if (start == std::string::npos || text.starts_with("st") || text.starts_with("red")) return {};
  // Destinations end at the address or at the first comma outside braces.
  size_t end = start;
  for (int depth = 0; end < text.size() && !(depth == 0 && (text[end] == ',' || text[end] == '['));
       ++end)
    depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
  const std::string operand = text.substr(start, end - start);
  std::string code;
  for (std::sregex_iterator it(operand.begin(), operand.end(), kReg), none; it != none; ++it)
    code += fold(it->str());
  return code;
}

/// Without its predicate; the opcode is what the others look at.
std::string without_guard(const std::string& text) {
  return text.starts_with('@') ? text.substr(text.find(' ') + 1) : text;
}

std::string row_code(const PtxRow& row, size_t index) {
  static const std::regex kRegister("\\[\\s*(%\\w+)");
  static const std::regex kVariable("\\[\\s*(gbuf|sbuf|lbuf)");
  static const std::regex kArray("\\b(gbuf|sbuf|lbuf)\\[");
  const std::string plain = without_guard(row.text);
  std::string code;
  bool second = plain.find("[sbuf") != std::string::npos;
  for (std::sregex_iterator it(plain.begin(), plain.end(), kRegister), none; it != none; ++it) {
    code += address_code(plain, (*it)[1], index, second);
    second = true;
  }
  const std::string slot = std::to_string(kSlotBytes * (index + 1));
  std::string text = std::regex_replace(row.text, kVariable, "[$1+" + slot);
  text = std::regex_replace(text, kArray, "$1[" + slot + "+");
  return code + text + "\n" + observe(plain) +
         fmt::format("st.global.u32 [%rd39+{}], %r38;\n", 4 * index);
}

/// Shared and local memory start as the same bytes as the output's first ones.
std::string fill() {
  return fmt::format(
      "mov.u64 %rd36, sbuf; mov.u64 %rd34, lbuf; mov.u64 %rd35, %rd39; mov.u32 %r37, 0;\n"
      "$fill:\nld.global.v4.u32 {{%r33, %r34, %r35, %r36}}, [%rd35];\n"
      "st.shared.v4.u32 [%rd36], {{%r33, %r34, %r35, %r36}};\n"
      "st.local.v4.u32 [%rd34], {{%r36, %r35, %r34, %r33}};\n"
      "add.u64 %rd36, %rd36, 16; add.u64 %rd35, %rd35, 16; add.u64 %rd34, %rd34, 16;\n"
      "add.u32 %r37, %r37, 1; setp.lt.u32 %p3, %r37, {};\n@%p3 bra $fill;\n",
      kBufferBytes / 16);
}

std::string dump(const char* space, const char* variable, uint32_t at) {
  return fmt::format(
      "mov.u64 %rd36, {1}; add.u64 %rd35, %rd39, {2}; mov.u32 %r37, 0;\n"
      "$dump_{0}:\nld.{0}.v4.u32 {{%r33, %r34, %r35, %r36}}, [%rd36];\n"
      "st.global.v4.u32 [%rd35], {{%r33, %r34, %r35, %r36}};\n"
      "add.u64 %rd36, %rd36, 16; add.u64 %rd35, %rd35, 16; add.u32 %r37, %r37, 1;\n"
      "setp.lt.u32 %p3, %r37, {3};\n@%p3 bra $dump_{0};\n",
      space, variable, at, kBufferBytes / 16);
}

}  // namespace

std::string bundle_text(const std::vector<PtxRow>& rows) {
  const bool b128 = rows.front().version != "7.8";
  std::string text = fmt::format(
      ".version {}\n.target {}\n.address_size 64\n.global .align 32 .b8 gbuf[{}];\n"
      ".global .b32 gvar;\n.const .align 64 .b8 cbuf[{}];\n.shared .align 32 .b8 sbuf[{}];\n"
      ".visible .entry k(.param .b64 kp0, .param .align 64 .b8 kparr[128])\n{{\n",
      rows.front().version, rows.front().target, kBufferBytes, kConstBytes, kBufferBytes);
  text += declarations(b128) + fmt::format(".local .align 32 .b8 lbuf[{}];\n", kBufferBytes) +
          ".param .align 32 .b8 pbuf[256];\n" + initial_values(b128) + fill();
  for (size_t i = 0; i < rows.size(); ++i)
    text += fmt::format("// row {}\n", i) + row_code(rows[i], i);
  text += dump("shared", "sbuf", kHashBytes) + dump("local", "lbuf", kHashBytes + kBufferBytes);
  return text + "ret;\n}\n";
}

Bundle lower_bundle(const std::vector<PtxRow>& rows, uint64_t gbuf, uint64_t gvar, uint64_t cbuf) {
  const std::string text = bundle_text(rows);
  std::vector<size_t> row_of_line(1, SIZE_MAX);  // lines count from 1
  size_t row = SIZE_MAX;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    if (text.compare(at, 7, "// row ") == 0) row = std::stoul(text.substr(at + 7));
    row_of_line.push_back(row);
  }
  Bundle bundle;
  const auto complain = [&](const std::vector<Diagnostic>& diagnostics) {
    for (const Diagnostic& d : diagnostics) {
      if (d.warning) continue;
      bundle.refused.push_back(d.line < row_of_line.size() ? row_of_line[d.line] : SIZE_MAX);
      bundle.reasons.push_back(d.message);
    }
  };
  const ptx::ParseResult parsed = ptx::parse(text, 0);
  complain(parsed.diagnostics);
  if (!parsed.ok()) return bundle;
  ptx::LowerResult lowered = ptx::lower(parsed.module);
  complain(lowered.diagnostics);
  if (!bundle.refused.empty() || lowered.module.kernels.empty()) return bundle;
  bundle.program = std::move(lowered.module.kernels[0]);
  ir::bind_symbols(bundle.program, [&](const ir::Symbol& s) {
    return s.name == "gbuf" ? gbuf : s.name == "gvar" ? gvar : cbuf;
  });
  return bundle;
}

}  // namespace lanewise::test
