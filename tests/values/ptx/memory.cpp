// Loads and stores: which bytes they move, and how narrow values are extended.
#include <fmt/format.h>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::memory {

namespace {

constexpr unsigned kBytes = 32;
constexpr uint32_t kFill = 0x5a5a5a5a;

/// Byte `at` of the source data; about half of them have their highest bit set.
uint64_t data(unsigned at) {
  return (0x9d + 0x3b * at) & 0xff;
}
uint64_t value(unsigned at, unsigned bytes) {
  uint64_t v = 0;
  for (unsigned i = 0; i < bytes; ++i) v |= data(at + i) << (8 * i);
  return v;
}
std::string initialiser() {
  std::string list;
  for (unsigned i = 0; i < kBytes; ++i) list += fmt::format("{}{}", i == 0 ? "" : ", ", data(i));
  return list;
}

struct Access {
  std::string opcode, space;
  Type type;
  unsigned count = 1;
  bool hint = false;

  static std::optional<Access> of(const std::string& form) {
    Mods m(form);
    Access a;
    a.opcode = m.opcode();
    if (a.opcode != "ld" && a.opcode != "ldu" && a.opcode != "st") return {};
    if (m.take("async") || m.take("bulk")) return {};
    if (!m.one_of({"param", "param::entry", "param::func"}).empty()) return {};
    a.space = m.one_of({"global", "local", "shared", "shared::cta", "shared::cluster", "const"});
    a.space = a.space.substr(0, a.space.find(':'));
    const std::string vector = m.one_of({"v2", "v4", "v8"});
    if (!vector.empty()) a.count = static_cast<unsigned>(vector[1] - '0');
    a.hint = m.take("L2::cache_hint");
    const auto t = m.type();
    if (!t) return {};
    a.type = *t;
    if (a.opcode == "ldu" && a.count * a.type.bits > 128) return {};
    return a;
  }
  unsigned element() const { return type.bits / 8; }
  std::string register_type() const {
    return type.bits < 32 ? ".b32" : fmt::format(".b{}", type.bits);
  }
};

constexpr const char* kNames[] = {"d", "g", "h", "k", "l", "m", "n", "o"};

std::string list(const Access& a, const char* prefix) {
  std::string names;
  for (unsigned i = 0; i < a.count; ++i)
    names += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, kNames[i]);
  return a.count == 1 ? names : "{" + names + "}";
}

/// The variable's address in `at`, its words being `words`, or the source data.
std::string variable(const Access& a, bool filled) {
  std::string text = ".reg .b64 at;\n.reg .b32 x;\n";
  if (a.space == "const") return text + "mov.u64 at, const_data;\n";
  const bool global = a.space.empty() || a.space == "global";
  if (global && filled) return text + "mov.u64 at, global_data;\n";
  const std::string space = global ? "global" : a.space;
  // Lanes store by weak and by ordered accesses: each has bytes of its own.
  const unsigned lanes = a.space == "local" ? 1 : kGroup;
  text += global ? "mov.u64 at, global_sink;\n"
                 : fmt::format(".{} .align 32 .b8 v[{}];\nmov.u64 at, v;\n", space, kBytes * lanes);
  if (lanes > 1) text += "mov.u32 x, %tid.x;\nmad.wide.u32 at, x, 32, at;\n";
  for (unsigned i = 0; i < kBytes; i += 4) {
    text += filled ? fmt::format("ld.global.b32 x, [global_data+{}];\n", i)
                   : fmt::format("mov.b32 x, {:#x};\n", kFill);
    text += fmt::format("st.{}.b32 [at+{}], x;\n", space, i);
  }
  return text;
}

Op load(const std::string& form, const Access& a) {
  Op op{form, {}, {}, {}};
  for (unsigned i = 0; i < a.count; ++i)
    op.results.push_back({a.type, "", a.type.bits < 32 ? ".b32" : ""});
  op.text = variable(a, true) + form + " " + list(a, "") + ", [at]" + (a.hint ? ", 0;" : ";");
  op.value = [a](Args, Results r) {
    if (a.type.bits == 128) {
      r[0] = value(0, 8);
      r[1] = value(8, 8);
      return;
    }
    for (unsigned i = 0; i < a.count; ++i)
      r[i] = static_cast<uint64_t>(number(a.type, value(i * a.element(), a.element())));
  };
  return op;
}

/// The bytes behind the last one stored keep what they were.
Op store(const std::string& form, const Access& a) {
  const Type word{"b32", 'b', 32};
  Op op{form, {}, std::vector<Operand>(kBytes / 4, {word}), {}};
  op.text = variable(a, false);
  for (unsigned i = 0; i < a.count; ++i)
    op.text += fmt::format(".reg {2} s{0};\nld.global.b{1} s{0}, [global_data+{3}];\n", kNames[i],
                           a.type.bits, a.register_type(), i * a.element());
  op.text += form + " [at], " + list(a, "s") + (a.hint ? ", 0;\n" : ";\n");
  const std::string space = a.space.empty() ? "global" : a.space;
  for (unsigned i = 0; i < kBytes / 4; ++i)
    op.text += fmt::format("ld.{}.b32 {}, [at+{}];\n", space, kNames[i], 4 * i);
  op.value = [bytes = a.count * a.element()](Args, Results r) {
    for (unsigned i = 0; i < kBytes; i += 4) r[i / 4] = kFill;
    for (unsigned i = 0; i < bytes; ++i) {
      const unsigned shift = 8 * (i % 4);
      r[i / 4] = (r[i / 4] & ~(uint64_t{0xff} << shift)) | data(i) << shift;
    }
  };
  return op;
}

}  // namespace

std::string variables() {
  return fmt::format(
      ".global .align 32 .b8 global_data[32] = {{{0}}};\n"
      ".const .align 32 .b8 const_data[32] = {{{0}}};\n.global .align 32 .b8 global_sink[{1}];\n",
      initialiser(), kBytes * kGroup);
}

std::vector<Op> ops() {
  std::vector<Op> out;
  for (const auto& c : lanewise::ptx::coverage()) {
    if (c.state == lanewise::ptx::FormState::unsupported) continue;
    if (const auto a = Access::of(c.form))
      out.push_back(a->opcode == "st" ? store(c.form, *a) : load(c.form, *a));
  }
  return out;
}

}  // namespace values::ptx::memory
