// Integer arithmetic and carries. Rules: 128-bit arithmetic on the numbers the operands stand for.
#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::integer {

namespace {

using Binary = Wide (*)(const Type&, Wide, Wide);

std::optional<Op> binary(Mods& m, Binary rule, const char* second = "") {
  const bool sat = m.take("sat");
  const auto t = m.type();
  if (!t || t->is_float() || (sat && t->name != "s32")) return {};
  return Op{{}, {{*t}, {*t, second}}, {{*t}}, [t = *t, rule, sat](Args in, Results out) {
              const Wide r = rule(t, number(t, in[0]), number(t, in[1]));
              out[0] = sat ? clamped(t, r) : static_cast<uint64_t>(r) & mask(t.bits);
            }};
}

std::optional<Op> add(const std::string&, Mods& m) {
  return binary(m, [](const Type&, Wide a, Wide b) { return a + b; });
}
std::optional<Op> sub(const std::string&, Mods& m) {
  return binary(m, [](const Type&, Wide a, Wide b) { return a - b; });
}
// Division by zero has no defined result: docs/ir.md says all ones, and all ones as the rest, as an
// H100 does.
std::optional<Op> div(const std::string&, Mods& m) {
  return binary(m, [](const Type&, Wide a, Wide b) { return b == 0 ? -1 : a / b; });
}
std::optional<Op> rem(const std::string&, Mods& m) {
  return binary(m, [](const Type&, Wide a, Wide b) { return b == 0 ? -1 : a % b; });
}
std::optional<Op> min(const std::string&, Mods& m) {
  return binary(m, [](const Type&, Wide a, Wide b) { return a < b ? a : b; });
}
std::optional<Op> max(const std::string&, Mods& m) {
  return binary(m, [](const Type&, Wide a, Wide b) { return a > b ? a : b; });
}

std::optional<Op> unary(Mods& m, Wide (*rule)(Wide)) {
  const auto t = m.type();
  if (!t || !t->is_signed()) return {};
  return Op{{}, {{*t}}, {{*t}}, [t = *t, rule](Args in, Results out) {
              out[0] = static_cast<uint64_t>(rule(number(t, in[0]))) & mask(t.bits);
            }};
}
std::optional<Op> abs(const std::string&, Mods& m) {
  return unary(m, [](Wide a) { return a < 0 ? -a : a; });
}
std::optional<Op> neg(const std::string&, Mods& m) {
  return unary(m, [](Wide a) { return -a; });
}

std::optional<Op> sad(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return Op{{}, {{*t}, {*t}, {*t}}, {{*t}}, [t = *t](Args in, Results out) {
              const Wide a = number(t, in[0]), b = number(t, in[1]);
              out[0] =
                  static_cast<uint64_t>((a < b ? b - a : a - b) + number(t, in[2])) & mask(t.bits);
            }};
}

// --- products ------------------------------------------------------------------------------------

Type twice(const Type& t) {
  return {{}, t.letter, 2 * t.bits};
}

/// The part of a * b that the form asks for, as a number of `result` bits.
struct Product {
  std::string part;
  Type type, result;
  uint64_t of(uint64_t a, uint64_t b) const {
    // The full product of two 64-bit numbers needs all 128 bits, so let it wrap.
    __extension__ using Full = unsigned __int128;
    const Full p = static_cast<Full>(number(type, a)) * static_cast<Full>(number(type, b));
    return static_cast<uint64_t>(part == "hi" ? p >> type.bits : p) & mask(result.bits);
  }
};
std::optional<Product> product(Mods& m) {
  Product p{m.one_of({"lo", "hi", "wide"}), {}, {}};
  const auto t = m.type();
  if (!t || t->is_float() || p.part.empty()) return {};
  p.type = *t;
  p.result = p.part == "wide" ? twice(*t) : *t;
  return p;
}

std::optional<Op> mul(const std::string&, Mods& m) {
  const auto p = product(m);
  if (!p) return {};
  return Op{{}, {{p->type}, {p->type}}, {{p->result}}, [p = *p](Args in, Results out) {
              out[0] = p.of(in[0], in[1]);
            }};
}

std::optional<Op> mad(const std::string&, Mods& m) {
  const bool sat = m.take("sat");
  if (m.take("cc")) return {};
  const auto p = product(m);
  if (!p || (sat && (p->type.name != "s32" || p->part != "hi"))) return {};
  return Op{
      {}, {{p->type}, {p->type}, {p->result}}, {{p->result}}, [p = *p, sat](Args in, Results out) {
        const uint64_t high = p.of(in[0], in[1]);
        out[0] = sat ? clamped(p.type, number(p.type, high) + number(p.type, in[2]))
                     : (high + in[2]) & mask(p.result.bits);
      }};
}

/// Bits 31..0 or 47..16 of the product of the lower 24 bits.
uint64_t product24(bool high, bool is_signed, uint64_t a, uint64_t b) {
  const Type t{{}, is_signed ? 's' : 'u', 24};
  const Wide p = number(t, a) * number(t, b);
  return static_cast<uint64_t>(high ? p >> 16 : p) & mask(32);
}
std::optional<Op> mul24(const std::string&, Mods& m) {
  const bool high = m.one_of({"lo", "hi"}) == "hi";
  const auto t = m.type();
  if (!t) return {};
  return Op{{}, {{*t}, {*t}}, {{*t}}, [t = *t, high](Args in, Results out) {
              out[0] = product24(high, t.is_signed(), in[0], in[1]);
            }};
}
std::optional<Op> mad24(const std::string&, Mods& m) {
  const bool high = m.one_of({"lo", "hi"}) == "hi", saturates = m.take("sat");
  const auto t = m.type();
  if (!t) return {};
  if (saturates)
    return Op{{}, {{*t}, {*t}, {*t}}, {{*t}}, [](Args in, Results out) {
                const auto as_signed = [](uint64_t v) { return int64_t{static_cast<int32_t>(v)}; };
                const int64_t sum =
                    as_signed(product24(true, true, in[0], in[1])) + as_signed(in[2]);
                out[0] = static_cast<uint32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
              }};
  return Op{{}, {{*t}, {*t}, {*t}}, {{*t}}, [t = *t, high](Args in, Results out) {
              out[0] = (product24(high, t.is_signed(), in[0], in[1]) + in[2]) & mask(32);
            }};
}

/// Sum of products of fields: four bytes with four bytes, or two halves with two bytes of b.
std::optional<Op> dot(Mods& m, unsigned a_bits, unsigned first) {
  const auto a = m.type(), b = m.type();
  if (!a || !b) return {};
  return Op{{},
            {{*a}, {*b}, {*a}},
            {{*a}},
            [a_sign = a->letter, b_sign = b->letter, a_bits, first](Args in, Results out) {
              const Type ta{{}, a_sign, a_bits}, tb{{}, b_sign, 8};
              Wide sum = static_cast<Wide>(in[2]);
              for (unsigned i = 0; i < 32 / a_bits; ++i)
                sum += number(ta, in[0] >> (i * a_bits)) * number(tb, in[1] >> (8 * (first + i)));
              out[0] = static_cast<uint64_t>(sum) & mask(32);
            }};
}
std::optional<Op> dp4a(const std::string&, Mods& m) {
  return dot(m, 8, 0);
}
std::optional<Op> dp2a(const std::string&, Mods& m) {
  const std::string part = m.one_of({"lo", "hi"});
  return part.empty() ? std::nullopt : dot(m, 16, part == "hi" ? 2 : 0);
}

// --- carries -------------------------------------------------------------------------------------

const Type kPred{"pred", 'p', 1};
const Type kU32{"u32", 'u', 32};

/// The form with its flag set before from predicate-like input `in_name`, and read after.
/// Sums write and read a carry, differences a borrow; how they mix, the flag being one, is tested
/// where programs are run.
std::string with_flag(const std::string& form, const std::string& sources, const char* flag,
                      bool subtracts) {
  std::string text = ".reg .b32 t;\n";
  if (flag != nullptr)
    text += subtracts ? std::string("sub.cc.u32 t, 0, ") + flag + ";\n"
                      : std::string("add.cc.u32 t, ") + flag + ", 0xffffffff;\n";
  text += form + " d, " + sources + ";\n";
  return text + (subtracts ? "subc.u32 t, 0, 0;\nneg.s32 g, t;" : "addc.u32 g, 0, 0;");
}

std::optional<Op> carry_sum(const std::string& form, Mods& m, bool carry_in, bool subtracts) {
  const bool cc = m.take("cc");
  const auto t = m.type();
  if (!t || t->is_float() || (!cc && !carry_in)) return {};
  Op op{{}, {{*t}, {*t}}, {{*t}}, {}};
  if (carry_in) op.sources.push_back({kU32, "flag"});
  if (cc) op.results.push_back({kU32});
  op.text = with_flag(form, "a, b", carry_in ? "c" : nullptr, subtracts);
  if (!cc) op.text = op.text.substr(0, op.text.find(";\n", op.text.find(form)) + 1);
  op.value = [bits = t->bits, carry_in, subtracts](Args in, Results out) {
    const Wide a = static_cast<Wide>(in[0]), b = static_cast<Wide>(in[1]);
    const Wide c = carry_in ? static_cast<Wide>(in[2]) : 0;
    const Wide r = subtracts ? a - b - c : a + b + c;
    out[0] = static_cast<uint64_t>(r) & mask(bits);
    out[1] = r < 0 || r > static_cast<Wide>(mask(bits)) ? 1 : 0;
  };
  return op;
}
std::optional<Op> add_cc(const std::string& form, Mods& m) {
  return carry_sum(form, m, false, false);
}
std::optional<Op> addc(const std::string& form, Mods& m) {
  return carry_sum(form, m, true, false);
}
std::optional<Op> sub_cc(const std::string& form, Mods& m) {
  return carry_sum(form, m, false, true);
}
std::optional<Op> subc(const std::string& form, Mods& m) {
  return carry_sum(form, m, true, true);
}

std::optional<Op> carry_product(const std::string& form, Mods& m, bool carry_in) {
  const bool cc = m.take("cc");
  const auto p = product(m);
  if (!p || p->part == "wide" || (!cc && !carry_in)) return {};
  Op op{{}, {{p->type}, {p->type}, {p->type}}, {{p->type}}, {}};
  if (carry_in) op.sources.push_back({kU32, "flag"});
  if (cc) op.results.push_back({kU32});
  op.text = with_flag(form, "a, b, c", carry_in ? "e" : nullptr, false);
  if (!cc) op.text = op.text.substr(0, op.text.find(";\n", op.text.find(form)) + 1);
  op.value = [p = *p, carry_in](Args in, Results out) {
    const Wide sum = static_cast<Wide>(p.of(in[0], in[1])) + static_cast<Wide>(in[2]) +
                     (carry_in ? static_cast<Wide>(in[3]) : 0);
    out[0] = static_cast<uint64_t>(sum) & mask(p.type.bits);
    out[1] = sum > static_cast<Wide>(mask(p.type.bits)) ? 1 : 0;
  };
  return op;
}
std::optional<Op> mad_cc(const std::string& form, Mods& m) {
  return carry_product(form, m, false);
}
std::optional<Op> madc(const std::string& form, Mods& m) {
  return carry_product(form, m, true);
}

}  // namespace

const Makers& makers() {
  static const Makers makers = {{"add", add},     {"sub", sub},     {"mul", mul},  {"mad", mad},
                                {"mul24", mul24}, {"mad24", mad24}, {"div", div},  {"rem", rem},
                                {"min", min},     {"max", max},     {"abs", abs},  {"neg", neg},
                                {"sad", sad},     {"dp4a", dp4a},   {"dp2a", dp2a}};
  return makers;
}
const Makers& carry_makers() {
  static const Makers makers = {{"add", add_cc}, {"addc", addc},  {"sub", sub_cc},
                                {"subc", subc},  {"mad", mad_cc}, {"madc", madc}};
  return makers;
}

}  // namespace values::ptx::integer
