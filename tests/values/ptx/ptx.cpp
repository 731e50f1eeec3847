#include "tests/values/ptx/ptx.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/isa/ptx/lower.hpp"

namespace values::ptx {

namespace {

constexpr const char* kSourceNames[] = {"a", "b", "c", "e", "f"};
constexpr const char* kResultNames[] = {"d", "g", "h", "k", "l", "m", "n", "o"};

std::string prologue(unsigned in_bytes, unsigned out_bytes) {
  return fmt::format(
      ".version 9.0\n.target sm_100\n.address_size 64\n"
      ".global .align 8 .b8 global_words[64] = {{4, 5, 6}};\n.const .align 8 .b8 const_words[64] = "
      "{{1, 2, 3}};\n"
      "{}"
      ".visible .entry values(.param .u64 pin, .param .u64 pout)\n{{\n"
      ".reg .b64 in, out, far;\n.reg .b32 lane, group;\n"
      "ld.param.u64 in, [pin];\nld.param.u64 out, [pout];\n"
      "mov.u32 lane, %tid.x;\nmov.u32 group, %ctaid.x;\nmad.lo.u32 lane, group, {}, lane;\n"
      "mul.wide.u32 far, lane, {};\nadd.u64 in, in, far;\n"
      "mul.wide.u32 far, lane, {};\nadd.u64 out, out, far;\n",
      memory::variables(), kGroup, in_bytes, out_bytes);
}

std::string with_offsets(std::string text, const Slot& s) {
  const auto replace = [&](const std::string& what, unsigned with) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
      text.replace(at, what.size(), std::to_string(with));
  };
  replace("@in", s.in);
  replace("@out", s.out);
  return text;
}

std::string kernel(std::span<const Slot> slots, unsigned in_bytes, unsigned out_bytes) {
  std::string text = prologue(in_bytes, out_bytes);
  for (const Slot& s : slots) text += "{\n" + with_offsets(s.test->text, s) + "}\n";
  return text + "ret;\n}\n";
}

Pool pool_of(const Operand& o) {
  const std::string& p = o.pool;
  if (p == "shift") return shifts();
  if (p == "nonzero") {
    Pool q = o.type.bits == 64 ? u64() : o.type.bits == 16 ? u16() : u32();
    std::erase_if(q.values, [&](uint64_t v) { return (v & mask(o.type.bits)) == 0; });
    return q;
  }
  if (p == "flag") return flags();
  if (p == "lane") return counting(32);
  if (p == "nibble") return u32(24);
  if (p == "small") return {1, {0, 1, 2, 3, 31, 0xffffffff, 0xfffffffe, 0xffffffe1, 32, 5}};
  if (o.type.letter == 'p') return flags();
  if (o.type.name == "f16") return f16();
  if (o.type.name == "bf16") {
    Pool q{1, {}};
    for (uint64_t v : f32().values) q.values.push_back(v >> 16);
    return q.with({0x3f81, 0x7f7f, 0xff7f, 0x0080, 0x007f, 0x4f00, 0xcf00, 0x42ff, 0x4300, 0xc300,
                   0x47ff, 0x4780, 0x437f, 0x4380, 0x3e80, 0x40b0, 0xc0b0});
  }
  if (o.type.name == "bf16x2") {  // sums that cancel, and those of far apart numbers, among them
    Pool q{1, {}};
    Operand one = o;
    one.type = type_named("bf16");
    const Pool h = pool_of(one);
    const size_t n = h.values.size();
    for (size_t i = 0; i < n; ++i)
      q.values.push_back((h.values[i] & 0xffff) | (h.values[(i * 7 + 3) % n] & 0xffff) << 16);
    return q;
  }
  if (o.type.name == "e4m3x2" || o.type.name == "e5m2x2") {  // every value in both places
    Pool q{1, {}};
    for (uint64_t v = 0; v < 256; ++v) q.values.push_back(v | ((v * 7 + 3) & 255) << 8);
    return q;
  }
  if (o.type.name == "f16x2") {  // every value in the lower half with another one in the upper
    Pool q{1, {}};
    const Pool h = f16();
    const size_t n = h.values.size();
    for (size_t i = 0; i < n; ++i)
      q.values.push_back(h.values[i] | h.values[(i * 7 + 3) % n] << 16);
    return q;
  }
  if (o.type.is_float()) return o.type.bits == 64 ? f64() : f32();
  switch (o.type.bits) {
    case 8:
      return u8();
    case 16:
      return u16();
    case 64:
      return u64();
    case 128:
      return {4, u64().values};
    default:
      return u32();
  }
}

/// What distinguishes the inputs of two ops.
std::string inputs_of(const Op& op) {
  std::string key = op.near ? "near" : "";
  for (const Operand& o : op.sources)
    key += fmt::format(" {}{}/{}/{}",
                       o.type.is_float()      ? "f"
                       : o.type.letter == 'p' ? "p"
                                              : "i",
                       o.type.name == "bf16"                                ? "B"
                       : o.type.name == "bf16x2"                            ? "Bx"
                       : o.type.name == "f16x2"                             ? "x"
                       : o.type.name == "e4m3x2" || o.type.name == "e5m2x2" ? "E"
                                                                            : "",
                       o.type.bits, o.pool + o.reg);
  return key;
}

std::string load(const Operand& o, const std::string& name, unsigned at) {
  const auto word = [&](unsigned n) { return fmt::format("[in+@in+{}]", at + 4 * n); };
  if (o.type.letter == 'p')
    return fmt::format(
        ".reg .pred {0};\n.reg .b32 w{0};\nld.global.b32 w{0}, {1};\n"
        "setp.ne.u32 {0}, w{0}, 0;\n",
        name, word(0));
  const std::string reg = o.reg.empty() ? o.type.reg() : o.reg;
  if (o.type.bits == 128)
    return fmt::format(
        ".reg .b128 {0};\n.reg .b32 w{0}<4>;\n.reg .b64 x{0}<2>;\n"
        "ld.global.b32 w{0}0, {1};\nld.global.b32 w{0}1, {2};\n"
        "ld.global.b32 w{0}2, {3};\nld.global.b32 w{0}3, {4};\n"
        "mov.b64 x{0}0, {{w{0}0, w{0}1}};\nmov.b64 x{0}1, {{w{0}2, w{0}3}};\n"
        "mov.b128 {0}, {{x{0}0, x{0}1}};\n",
        name, word(0), word(1), word(2), word(3));
  if (o.type.bits == 64)
    return fmt::format(
        ".reg .b64 {0};\n.reg .b32 w{0}<2>;\nld.global.b32 w{0}0, {1};\n"
        "ld.global.b32 w{0}1, {2};\nmov.b64 {0}, {{w{0}0, w{0}1}};\n",
        name, word(0), word(1));
  const char* type = reg == ".b16" ? "u16" : reg == ".b8" ? "u8" : "b32";
  return fmt::format(".reg {1} {0};\nld.global.{2} {0}, {3};\n", name, reg, type, word(0));
}

std::string store(const Operand& o, const std::string& name, unsigned at) {
  const auto word = [&](unsigned n) { return fmt::format("[out+@out+{}]", at + 4 * n); };
  if (o.type.letter == 'p')
    return fmt::format(".reg .b32 w{0};\nselp.b32 w{0}, 1, 0, {0};\nst.global.b32 {1}, w{0};\n",
                       name, word(0));
  const std::string reg = o.reg.empty() ? o.type.reg() : o.reg;
  if (o.type.bits == 128)
    return fmt::format(
        ".reg .b64 x{0}<2>;\n.reg .b32 w{0}<4>;\nmov.b128 {{x{0}0, x{0}1}}, {0};\n"
        "mov.b64 {{w{0}0, w{0}1}}, x{0}0;\nmov.b64 {{w{0}2, w{0}3}}, x{0}1;\n"
        "st.global.b32 {1}, w{0}0;\nst.global.b32 {2}, w{0}1;\n"
        "st.global.b32 {3}, w{0}2;\nst.global.b32 {4}, w{0}3;\n",
        name, word(0), word(1), word(2), word(3));
  if (reg == ".b64")
    return fmt::format(
        ".reg .b32 w{0}<2>;\nmov.b64 {{w{0}0, w{0}1}}, {0};\n"
        "st.global.b32 {1}, w{0}0;\nst.global.b32 {2}, w{0}1;\n",
        name, word(0), word(1));
  if (reg == ".b16" || reg == ".b8")  // all of the register that holds it must be known
    return fmt::format(".reg .b32 w{0};\ncvt.u32.u{2} w{0}, {0};\nst.global.b32 {1}, w{0};\n", name,
                       word(0), reg.substr(2));
  return fmt::format("st.global.b32 {}, {};\n", word(0), name);
}

unsigned words_of(const std::vector<Operand>& operands) {
  unsigned n = 0;
  for (const Operand& o : operands) n += words_of(o);
  return n;
}

std::string default_text(const Op& op) {
  std::vector<std::string> sources(kSourceNames, kSourceNames + op.sources.size());
  return text_with(op, sources);
}

/// Operands as the oracle reads them: nothing above their types. 128 bits take two.
std::vector<uint64_t> unpacked(const std::vector<Operand>& operands, In in) {
  std::vector<uint64_t> values;
  size_t at = 0;
  for (const Operand& o : operands) {
    const bool two = words_of(o) >= 2;
    values.push_back((two ? wide(in[at], in[at + 1]) : in[at]) &
                     (o.reg.empty() ? mask(o.type.bits) : ~uint64_t{0}));
    if (o.type.letter == 'p') values.back() = in[at] != 0;
    if (o.type.bits == 128) values.push_back(wide(in[at + 2], in[at + 3]));
    at += words_of(o);
  }
  return values;
}

void pack(const std::vector<Operand>& operands, const std::vector<uint64_t>& values, Out out) {
  size_t at = 0, from = 0;
  for (const Operand& o : operands)
    for (unsigned n = 0; n < words_of(o); ++n) {
      const uint64_t v = values[from];
      out[at++] = static_cast<uint32_t>(n % 2 == 0 ? v : v >> 32);
      if (n % 2 == 1 || n + 1 == words_of(o)) ++from;
    }
}

constexpr size_t kMostResults = 8;

void evaluate(const Op& op, In in, Out out) {
  const std::vector<uint64_t> sources = unpacked(op.sources, in);
  std::vector<uint64_t> results(kMostResults);
  op.value(sources.data(), results.data());
  pack(op.results, results, out);
}

bool is_near(const Op& op, In in, In got) {
  const std::vector<uint64_t> sources = unpacked(op.sources, in);
  const std::vector<uint64_t> results = unpacked(op.results, got);
  return op.near(sources.data(), results.data());
}

Tuples tuples_of(const Op& op) {
  std::vector<Pool> pools;
  for (const Operand& o : op.sources) {
    Pool p = pool_of(o);
    if (p.words == 4) {  // two 64-bit values
      p.words = 2;
      pools.push_back(p);
    }
    pools.push_back(std::move(p));
  }
  constexpr size_t kOfTwo = 512, kOfMore = 768;
  return pools.empty() ? Tuples{{}} : tuples(pools, pools.size() <= 2 ? kOfTwo : kOfMore);
}

Case case_of(const std::vector<Op>& group) {
  const Op& first = group.front();
  Case c;
  c.row = first.form;
  c.inputs = words_of(first.sources);
  c.outputs = 0;
  c.tuples = tuples_of(first);
  unsigned at = 0;
  for (size_t i = 0; i < first.sources.size(); ++i) {
    c.text += load(first.sources[i], kSourceNames[i], at);
    at += 4 * words_of(first.sources[i]);
  }
  for (const Op& op : group) {
    c.text += "{\n";
    for (size_t i = 0; i < op.results.size(); ++i)
      c.text += fmt::format(
          ".reg {} {};\n", op.results[i].reg.empty() ? op.results[i].type.reg() : op.results[i].reg,
          kResultNames[i]);
    c.text += (op.text.empty() ? default_text(op) : op.text) + "\n";
    for (size_t i = 0; i < op.results.size(); ++i) {
      c.text += store(op.results[i], kResultNames[i], 4 * c.outputs);
      c.outputs += words_of(op.results[i]);
    }
    c.text += "}\n";
  }
  c.wrong_forms = [group](In in, In got) {
    std::vector<std::string> forms;
    for (const Op& op : group) {
      const size_t width = words_of(op.results);
      std::vector<uint32_t> want(width);
      if (op.value) evaluate(op, in, want);
      const bool right =
          op.near ? is_near(op, in, got.first(width)) : std::ranges::equal(want, got.first(width));
      if (!right) forms.push_back(op.form);
      got = got.subspan(width);
    }
    return forms;
  };
  if (!first.near) {
    c.oracle = [group](In in, Out out) {
      size_t place = 0;
      for (const Op& op : group) {
        evaluate(op, in, out.subspan(place, words_of(op.results)));
        place += words_of(op.results);
      }
    };
    return c;
  }
  std::string text;
  for (const Op& op : group) text += (text.empty() ? "" : ", ") + op.form + ": " + op.bound;
  c.bound = Bound{text, [group](In in, In got) {
                    size_t place = 0;
                    return std::ranges::all_of(group, [&](const Op& op) {
                      const In own = got.subspan(place, words_of(op.results));
                      place += words_of(op.results);
                      return is_near(op, in, own);
                    });
                  }};
  return c;
}

}  // namespace

unsigned words_of(const Operand& o) {
  return o.reg == ".b64" ? 2 : o.type.words();
}

std::string Type::reg() const {
  if (letter == 'p') return ".pred";
  return fmt::format(".b{}", bits == 8 ? 32 : bits);
}

bool is_type(std::string_view name) {
  static const std::set<std::string, std::less<>> names = {
      "pred", "b8",    "b16",  "b32",    "b64",  "b128",   "u8",    "u16",
      "u32",  "u64",   "s8",   "s16",    "s32",  "s64",    "f16",   "f32",
      "f64",  "f16x2", "bf16", "bf16x2", "tf32", "e4m3x2", "e5m2x2"};
  return names.contains(name);
}

Type type_named(std::string_view name) {
  REQUIRE(is_type(name));
  Type t{std::string(name), name[0], 32};
  if (name == "pred") return {t.name, 'p', 1};
  if (name == "bf16") return {t.name, 'B', 16};
  if (name == "e4m3x2" || name == "e5m2x2") return {t.name, 'f', 16};
  if (name.ends_with("x2") || name == "tf32") return {t.name, 'f', 32};
  t.bits = static_cast<unsigned>(std::stoul(t.name.substr(1)));
  return t;
}

Mods::Mods(std::string_view form) {
  size_t at = form.find('.');
  opcode_ = form.substr(0, at);
  while (at != std::string_view::npos) {
    const size_t next = form.find('.', at + 1);
    left_.emplace_back(form.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
    at = next;
  }
}
bool Mods::take(std::string_view name) {
  const auto at = std::ranges::find(left_, name);
  if (at == left_.end()) return false;
  left_.erase(at);
  return true;
}
std::string Mods::one_of(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (take(name)) return std::string(name);
  return {};
}
std::optional<Type> Mods::type() {
  const auto at = std::ranges::find_if(left_, [](const std::string& s) { return is_type(s); });
  if (at == left_.end()) return {};
  const Type t = type_named(*at);
  left_.erase(at);
  return t;
}

std::string text_with(const Op& op, const std::vector<std::string>& sources) {
  std::string text = op.form;
  const char* between = " ";
  const auto add = [&](const std::string& name) {
    text += between + name;
    between = ", ";
  };
  for (size_t i = 0; i < op.results.size(); ++i) add(kResultNames[i]);
  for (const std::string& source : sources) add(source);
  return text + ";";
}

std::vector<Op> ops_of(const std::vector<std::string>& forms) {
  std::vector<Op> out;
  const Makers* families[] = {&integer::makers(), &bit_ops::makers(), &integer::carry_makers(),
                              &compare::makers(), &floats::makers(),  &approximate::makers(),
                              &half::makers(),    &convert::makers(), &move::makers(),
                              &bfloat::makers(),  &video::makers()};
  for (const std::string& form : forms)
    for (const Makers* makers : families) {
      Mods m(form);
      const auto it = makers->find(m.opcode());
      if (it == makers->end()) continue;
      std::optional<Op> op = it->second(form, m);
      if (!op || !m.done()) continue;
      op->form = form;
      out.push_back(std::move(*op));
      break;
    }
  return out;
}

std::vector<Op> ops() {
  std::vector<std::string> forms;
  for (const auto& c : lanewise::ptx::coverage())
    if (c.state != lanewise::ptx::FormState::unsupported) forms.push_back(c.form);
  return ops_of(forms);
}

std::vector<Case> joined(const std::vector<Op>& ops) {
  constexpr size_t kTogether = 14;
  std::map<std::string, std::vector<Op>> groups;
  for (const Op& op : ops) groups[inputs_of(op)].push_back(op);
  std::vector<Case> out;
  for (const auto& [key, group] : groups)
    for (size_t from = 0; from < group.size(); from += kTogether)
      out.push_back(case_of(
          {group.begin() + static_cast<std::ptrdiff_t>(from),
           group.begin() + static_cast<std::ptrdiff_t>(std::min(from + kTogether, group.size()))}));
  return out;
}

const InstructionSet& instruction_set() {
  static const InstructionSet set = {lanewise::Isa::ptx, "", 32, kernel, 8, 4096};
  return set;
}

Wide number(const Type& t, uint64_t bits) {
  const uint64_t low = bits & mask(t.bits);
  if (!t.is_signed() || low >> (t.bits - 1) == 0) return static_cast<Wide>(low);
  return static_cast<Wide>(low) - (static_cast<Wide>(1) << t.bits);
}
Wide lowest(const Type& t) {
  return t.is_signed() ? -(static_cast<Wide>(1) << (t.bits - 1)) : 0;
}
Wide highest(const Type& t) {
  return (static_cast<Wide>(1) << (t.is_signed() ? t.bits - 1 : t.bits)) - 1;
}
uint64_t clamped(const Type& t, Wide value) {
  return static_cast<uint64_t>(std::clamp(value, lowest(t), highest(t))) & mask(t.bits);
}

int direction(std::string_view name) {
  if (name.starts_with("rz")) return FE_TOWARDZERO;
  if (name.starts_with("rm")) return FE_DOWNWARD;
  if (name.starts_with("rp")) return FE_UPWARD;
  return FE_TONEAREST;
}

}  // namespace values::ptx
