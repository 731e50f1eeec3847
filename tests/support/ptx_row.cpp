#include "tests/support/ptx_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <regex>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/isa/ptx/lower.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::test {
namespace {

struct Class {
  const char* prefix;
  unsigned bits;
};
constexpr Class kClasses[] = {{"rd", 64}, {"ul", 64}, {"sl", 64}, {"fd", 64}, {"hf", 16},
                              {"uh", 16}, {"sh", 16}, {"r", 32},  {"u", 32},  {"s", 32},
                              {"f", 32},  {"h", 16},  {"q", 128}, {"p", 1},   {"c", 8}};

// Offsets into the parameters: kparr begins at 64.
constexpr size_t kParamArray = 64, kBytes = 88, kSecond = 96, kFirst = 104, kSeed = 112;
constexpr uint32_t kSlot = 256;  ///< where addresses point to in a buffer

uint32_t multiplier(size_t reg, size_t word) {
  return static_cast<uint32_t>(2654435761U + 2 * (4 * reg + word));
}
uint32_t addend(size_t reg, size_t word) {
  return static_cast<uint32_t>(40503U * (7 * reg + word + 1));
}

uint64_t read_bytes(const std::vector<std::byte>& from, size_t at, size_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, from.data() + at, bytes);
  return value;
}
template <typename T>
void put(std::vector<std::byte>& to, size_t at, T value) {
  std::memcpy(to.data() + at, &value, sizeof value);
}

std::string trimmed(const std::string& text) {
  const size_t from = text.find_first_not_of(" \t");
  if (from == std::string::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t;") - from + 1);
}

std::vector<std::string> split_operands(const std::string& text) {
  std::vector<std::string> list(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' || c == '[' || c == '(' ? 1 : c == '}' || c == ']' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      list.emplace_back();
    else
      list.back() += c;
  }
  for (std::string& operand : list) operand = trimmed(operand);
  if (list.size() == 1 && list[0].empty()) list.clear();
  return list;
}

bool one_of(const std::string& text, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* name) { return text == name; });
}

bool writes_registers(const RowText& row) {
  return one_of(row.opcode,
                {"ld", "ldu", "atom", "createpolicy", "cvta", "isspacep", "mapa", "getctarank"});
}
/// The operand that is an address though it stands in no brackets.
bool takes_plain_address(const RowText& row) {
  return one_of(row.opcode, {"cvta", "isspacep", "mapa", "getctarank"});
}

std::string address_register(const std::string& operand) {
  static const std::regex kInside("^[^%]*\\[\\s*(%\\w+)");
  std::smatch found;
  return std::regex_search(operand, found, kInside) && operand.find('[') == 0 ? found[1].str()
                                                                              : std::string();
}

/// The registers that the row takes addresses from, in order.
std::vector<std::string> address_registers(const RowText& row) {
  std::vector<std::string> list;
  for (size_t i = 0; i < row.operands.size(); ++i) {
    const std::string& operand = row.operands[i];
    const bool plain = i == 1 && takes_plain_address(row) && register_bits(operand) >= 32;
    const std::string reg = plain ? operand : address_register(operand);
    if (!reg.empty()) list.push_back(reg);
  }
  return list;
}

/// Where an address of the row shall point to.
uint64_t address_for(const RowText& row, uint32_t number, const RowPlace& place) {
  const std::string space = row.space();
  if (space == "shared" || space == "local" || row.opcode == "mapa") return kSlot;
  if (space == "param") return 16;
  if (space == "const") return place.cbuf + kSlot;
  if (row.opcode == "isspacep" || row.opcode == "getctarank") {
    const uint64_t places[] = {place.gbuf + kSlot, guest::kSharedWindow + kSlot,
                               guest::kLocalWindow + kSlot, place.cbuf + kSlot};
    return places[number % 4];
  }
  const bool vast = row.has("v8") || row.has("global") || row.has("mmio") || row.has("nc");
  if (space.empty() && !vast && number % 2 == 1) return guest::kSharedWindow + kSlot;
  return place.gbuf + kSlot;
}

/// The registers whose first mention is the order of their data.
std::vector<std::string> registers_of(const std::string& text) {
  static const std::regex kReg("%[a-z]+[0-9]+(\\.[xyzw])?");
  std::vector<std::string> list;
  for (std::sregex_iterator it(text.begin(), text.end(), kReg), none; it != none; ++it)
    if (register_bits(it->str()) != 0 && std::ranges::count(list, it->str()) == 0)
      list.push_back(it->str());
  for (const char* vector : {"%vec4", "%vec2"}) {
    const std::regex whole(std::string(vector) + "(?![.0-9])");
    if (!std::regex_search(text, whole)) continue;
    for (const std::string& part : elements_of(vector))
      if (std::ranges::count(list, part) == 0) list.push_back(part);
  }
  return list;
}

std::string word_code(size_t reg, size_t word) {
  return fmt::format("mad.lo.u32 %yw{}, %yseed, {}, {};\n", word, multiplier(reg, word),
                     addend(reg, word));
}

std::string initial_code(const RowKernel& k, size_t index, const std::vector<std::string>& places) {
  const std::string& reg = k.registers[index];
  const unsigned bits = register_bits(reg);
  const auto place = std::ranges::find(places, reg);
  if (place != places.end() && bits >= 16 && bits <= 64)
    return fmt::format("ld.param.b{} {}, [kparr+{}];\n", bits, reg,
                       (place == places.begin() ? kFirst : kSecond) - kParamArray);
  switch (bits) {
    case 1:
      return word_code(index, 0) + "setp.lt.s32 " + reg + ", %yw0, 0;\n";
    case 8:
      return fmt::format("ld.param.u8 {}, [kparr+{}];\n", reg, kBytes - kParamArray + index % 8);
    case 16:
      return word_code(index, 0) + "cvt.u16.u32 %yh, %yw0; mov.b16 " + reg + ", %yh;\n";
    case 32:
      return word_code(index, 0) + "mov.b32 " + reg + ", %yw0;\n";
    case 64:
      return word_code(index, 0) + word_code(index, 1) + "mov.b64 " + reg + ", {%yw0, %yw1};\n";
    default:
      return word_code(index, 0) + word_code(index, 1) + "mov.b64 %yd0, {%yw0, %yw1};\n" +
             word_code(index, 2) + word_code(index, 3) + "mov.b64 %yd1, {%yw2, %yw3};\nmov.b128 " +
             reg + ", {%yd0, %yd1};\n";
  }
}

/// Moves a register into the words %yo0, %yo1 ... from `word` on.
std::string word_moves(const std::string& reg, size_t word) {
  switch (register_bits(reg)) {
    case 1:
      return fmt::format("selp.b32 %yo{}, 1, 0, {};\n", word, reg);
    case 8:
      return fmt::format("st.local.b8 [ybyte], {}; ld.local.u8 %yo{}, [ybyte];\n", reg, word);
    case 16:
      return fmt::format("mov.b16 %yh, {}; cvt.u32.u16 %yo{}, %yh;\n", reg, word);
    case 32:
      return fmt::format("mov.b32 %yo{}, {};\n", word, reg);
    case 64:
      return fmt::format("mov.b64 {{%yo{}, %yo{}}}, {};\n", word, word + 1, reg);
    default:
      return fmt::format("mov.b128 {{%yd0, %yd1}}, {};\n", reg) + "mov.b64 {%yo0, %yo1}, %yd0;\n" +
             "mov.b64 {%yo2, %yo3}, %yd1;\n";
  }
}

size_t words_of(const std::string& reg) {
  return std::max(register_bits(reg) / 32, 1U);
}

/// Stores what the row wrote, four words at a time.
std::string result_code(const std::vector<std::string>& destinations) {
  std::string code;
  size_t words = 0;
  for (const std::string& reg : destinations) {
    code += word_moves(reg, words);
    words += words_of(reg);
  }
  for (size_t i = 0; i < words; i += 4)
    code += fmt::format("st.global.v4.b32 [%yout+{}], {{%yo{}, %yo{}, %yo{}, %yo{}}};\n", 4 * i, i,
                        i + 1, i + 2, i + 3);
  return code;
}

/// sbuf and lbuf start as copies of gbuf.
std::string copy_loop(const std::string& label, const std::string& load, const std::string& from,
                      const std::string& store, const std::string& to) {
  return fmt::format(
      "mov.u64 %yd0, {1}; mov.u64 %yd1, {3}; mov.u32 %yn, 0;\n"
      "${0}:\n{2}.v4.b32 {{%yw0, %yw1, %yw2, %yw3}}, [%yd0];\n"
      "{4}.v4.b32 [%yd1], {{%yw0, %yw1, %yw2, %yw3}};\n"
      "add.u64 %yd0, %yd0, 16; add.u64 %yd1, %yd1, 16; add.u32 %yn, %yn, 1;\n"
      "setp.lt.u32 %yp, %yn, {5};\n@%yp bra ${0};\n",
      label, from, load, to, store, kSpaceBytes / 16);
}

std::string copy_out(const std::string& space, const std::string& variable, uint32_t at) {
  return fmt::format("add.u64 %yd2, %yout, {};\n", at) +
         copy_loop("out_" + space, "ld." + space, variable, "st.global", "%yd2");
}

std::string declarations(bool b128, bool local) {
  std::string text =
      ".reg .v4 .b32 %vec4; .reg .v2 .b32 %vec2;\n"
      ".reg .pred %p<4>; .reg .b8 %c<4>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 %rd<32>;\n"
      ".reg .f32 %f<16>; .reg .f64 %fd<16>; .reg .u32 %u<8>; .reg .s32 %s<8>; .reg .u64 %ul<8>;\n"
      ".reg .s64 %sl<8>; .reg .u16 %uh<8>; .reg .s16 %sh<8>; .reg .f16 %hf<8>;\n"
      ".reg .f16x2 %hf2<8>;\n"
      ".reg .b32 %yseed, %yn, %yw<4>, %yo<16>; .reg .b16 %yh; .reg .b64 %yout, %yd<3>;\n"
      ".reg .pred %yp; .param .align 32 .b8 pbuf[256];\n";
  if (b128) text += ".reg .b128 %q<8>;\n";
  if (local) text += fmt::format(".local .align 32 .b8 lbuf[{}]; .local .b8 ybyte;\n", kSpaceBytes);
  return text;
}

std::string module_text(const RowKernel& k) {
  const bool b128 = k.row.version != "7.8";
  const auto places = address_registers(k.parts);
  std::string text = fmt::format(
      ".version {0}\n.target {1}\n.address_size 64\n.global .align 32 .b8 gbuf[{2}];\n"
      ".global .b32 gvar;\n.const .align 64 .b8 cbuf[{2}];\n.shared .align 32 .b8 sbuf[{2}];\n"
      ".visible .entry k(.param .b64 kp0, .param .align 64 .b8 kparr[128])\n{{\n",
      k.row.version, k.row.target, kSpaceBytes);
  text += declarations(b128, k.local) + "ld.param.u64 %yout, [kp0];\n" +
          fmt::format("ld.param.u32 %yseed, [kparr+{}];\n", kSeed - kParamArray);
  for (size_t i = 0; i < 16; ++i) text += fmt::format("mov.u32 %yo{}, 0;\n", i);
  if (k.shared) text += copy_loop("in_shared", "ld.global", "gbuf", "st.shared", "sbuf");
  if (k.local) text += copy_loop("in_local", "ld.global", "gbuf", "st.local", "lbuf");
  for (size_t i = 0; i < k.registers.size(); ++i) text += initial_code(k, i, places);
  text += k.row.text + "\n" + result_code(k.destinations);
  if (k.shared) text += copy_out("shared", "sbuf", kRowResultBytes);
  if (k.local) text += copy_out("local", "lbuf", kRowResultBytes + kSpaceBytes);
  return text + "ret;\n}\n";
}

std::vector<std::byte> parameters(const RowText& row, uint32_t number, const RowPlace& place) {
  std::vector<std::byte> params(192);
  for (size_t i = 0; i < params.size(); ++i)
    params[i] = std::byte((i * 73 + number * 29 + 11) & 0xff);
  put(params, 0, place.output);
  put(params, kSeed, 0x9e3779b9U * (number + 1));
  put(params, kFirst, address_for(row, number, place));
  put(params, kSecond, place.gbuf + 2 * kSlot);  // cp.async copies from there
  return params;
}

}  // namespace

bool RowText::has(std::string_view qualifier) const {
  return std::ranges::count(qualifiers, qualifier) != 0;
}

std::string RowText::space() const {
  for (const std::string& q : qualifiers)
    for (const char* name : {"global", "shared", "local", "const", "param"})
      if (q == name || q.starts_with(std::string(name) + "::")) return name;
  return {};
}

RowText parse_row(const std::string& line) {
  RowText row;
  std::string rest = trimmed(line);
  if (rest.starts_with('@')) {
    row.guard_negated = rest[1] == '!';
    const size_t from = row.guard_negated ? 2 : 1, to = rest.find_first_of(" \t");
    row.guard = rest.substr(from, to - from);
    rest = trimmed(rest.substr(to));
  }
  // Blanks may stand before a qualifier's dot; an operand never begins with one.
  size_t end = 0;
  for (size_t at = rest.find_first_of(" \t["); at != std::string::npos;
       at = rest.find_first_of(" \t[", at + 1)) {
    const size_t next = rest.find_first_not_of(" \t", at);
    end = at;
    if (rest[at] == '[' || next == std::string::npos || rest[next] != '.') break;
  }
  if (end == 0) end = rest.size();
  std::string head = rest.substr(0, end);
  std::erase_if(head, [](char c) { return c == ' ' || c == '\t'; });
  size_t from = 0;
  for (size_t dot = head.find('.'); from <= head.size(); dot = head.find('.', from)) {
    const std::string chunk = head.substr(from, dot == std::string::npos ? dot : dot - from);
    if (from == 0)
      row.opcode = chunk;
    else
      row.qualifiers.push_back(chunk);
    if (dot == std::string::npos) break;
    from = dot + 1;
  }
  row.operands = split_operands(rest.substr(end));
  return row;
}

std::vector<std::string> elements_of(const std::string& operand) {
  if (operand == "%vec4") return {"%vec4.x", "%vec4.y", "%vec4.z", "%vec4.w"};
  if (operand == "%vec2") return {"%vec2.x", "%vec2.y"};
  if (!operand.starts_with('{')) return {operand};
  return split_operands(operand.substr(1, operand.rfind('}') - 1));
}

unsigned register_bits(const std::string& reg) {
  if (reg.starts_with("%vec4.") || reg.starts_with("%vec2.")) return 32;
  if (!reg.starts_with('%')) return 0;
  const bool packed = reg.starts_with("%hf2") && reg.size() > 4;
  const size_t digits = reg.find_first_of("0123456789", packed ? 4 : 1);
  if (packed) return digits != std::string::npos ? 32 : 0;
  if (digits == std::string::npos) return 0;
  if (reg.find_first_not_of("0123456789", digits) != std::string::npos) return 0;
  for (const Class& c : kClasses)
    if (reg.substr(1, digits - 1) == c.prefix) return c.bits;
  return 0;
}

std::optional<Words> RowKernel::initial(const std::string& reg) const {
  const auto it = std::ranges::find(registers, reg);
  if (it == registers.end()) return {};
  const auto index = static_cast<size_t>(it - registers.begin());
  const unsigned bits = register_bits(reg);
  const auto places = address_registers(parts);
  const auto place = std::ranges::find(places, reg);
  Words words{};
  if (place != places.end() && bits >= 16 && bits <= 64) {
    const uint64_t value = read_bytes(params, place == places.begin() ? kFirst : kSecond, bits / 8);
    return Words{static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
  }
  if (bits == 8) return Words{static_cast<uint32_t>(read_bytes(params, kBytes + index % 8, 1))};
  const auto seed = static_cast<uint32_t>(read_bytes(params, kSeed, 4));
  for (size_t w = 0; w < words_of(reg); ++w)
    words[w] = seed * multiplier(index, w) + addend(index, w);
  if (bits == 16) words[0] &= 0xffff;
  if (bits == 1) words[0] >>= 31;
  return words;
}

RowKernel row_kernel(const PtxRow& row, uint32_t number, const RowPlace& place) {
  RowKernel k;
  k.row = row;
  k.parts = parse_row(row.text);
  k.registers = registers_of(row.text);
  if (writes_registers(k.parts) && !k.parts.operands.empty())
    for (const std::string& reg : elements_of(k.parts.operands[0]))
      if (register_bits(reg) != 0 && std::ranges::count(k.destinations, reg) == 0)
        k.destinations.push_back(reg);
  const std::string space = k.parts.space();
  const bool memory = one_of(k.parts.opcode, {"ld", "st", "atom", "red", "cp"});
  k.shared = memory && (space == "shared" || space.empty() || k.parts.opcode == "cp");
  const bool bytes = std::ranges::any_of(
      k.destinations, [](const std::string& reg) { return register_bits(reg) == 8; });
  k.local = (memory && space == "local") || row.text.find("lbuf") != std::string::npos || bytes;
  k.params = parameters(k.parts, number, place);
  k.text = module_text(k);
  return k;
}

LoweredRow lower_row(const RowKernel& kernel, const RowPlace& place) {
  LoweredRow out;
  const auto errors = [&](const std::vector<Diagnostic>& diagnostics) {
    for (const Diagnostic& d : diagnostics)
      if (!d.warning && out.refused.empty()) out.refused = d.message;
    return !out.refused.empty();
  };
  const ptx::ParseResult parsed = ptx::parse(kernel.text, 0);
  if (errors(parsed.diagnostics)) return out;
  ptx::LowerResult lowered = ptx::lower(parsed.module);
  if (errors(lowered.diagnostics)) return out;
  out.program = std::move(lowered.module.kernels.at(0));
  ir::bind_symbols(out.program, [&](const ir::Symbol& s) {
    return s.name == "gbuf" ? place.gbuf : s.name == "gvar" ? place.gvar : place.cbuf;
  });
  return out;
}

}  // namespace lanewise::test
