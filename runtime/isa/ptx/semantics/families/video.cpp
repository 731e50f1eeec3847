// Video instructions: parts of words, extended, combined, brought into the range of what they are
// merged into. Scalar ones compute in 64 bits, where nothing they make can overflow; those on two
// halves or four bytes in 32.
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

/// The operand without the selector behind its name (`%r1.b0`), and that selector.
struct Selected {
  Operand operand;
  std::string selector;
};
Selected selected(Emit& e, size_t i) {
  Selected s{e.operand(i), {}};
  if (s.operand.kind != Operand::Kind::name) return s;
  const size_t dot = s.operand.name.rfind('.');
  if (dot == std::string::npos || dot == 0 || e.body.find(s.operand.name) != nullptr) return s;
  if (s.operand.name[dot + 1] != 'b' && s.operand.name[dot + 1] != 'h') return s;
  s.selector = s.operand.name.substr(dot + 1);
  s.operand.name.resize(dot);
  return s;
}

struct Place {
  unsigned at = 0, bits = 32;
};
/// Of a scalar selector: b0 to b3, h0, h1, or nothing for the whole word.
Place place_of(Emit& e, const Selected& s) {
  if (s.selector.empty()) return {};
  const unsigned width = s.selector[0] == 'b' ? 8 : 16;
  const auto digit = static_cast<unsigned>(s.selector[1] - '0');
  if (s.selector.size() != 2 || digit * width >= 32)
    e.fail("'." + s.selector + "' is no part of a word, one of .b0 to .b3, .h0, .h1 was expected");
  return {digit * width, width};
}

ir::Operand field_of(Emit& e, ir::Operand word, Place p, bool is_signed) {
  if (p.bits == 32) return word;
  return e.op(Op::bfe, is_signed ? Type::s32 : Type::u32, {word, imm(p.at), imm(p.bits)});
}

/// A scalar operand as a number of 64 bits.
ir::Operand wide_part(Emit& e, size_t i, bool is_signed) {
  const Selected s = selected(e, i);
  const ir::Operand word = e.raw(s.operand, is_signed ? kS32 : kU32);
  return e.widen(field_of(e, word, place_of(e, s), is_signed), is_signed);
}

ir::Operand clamped(Emit& e, Type type, ir::Operand x, unsigned bits, bool is_signed) {
  const uint64_t top = uint64_t{1} << (bits - (is_signed ? 1 : 0));
  const uint64_t lowest = is_signed ? 0 - top : 0;
  x = e.op(Op::min, type, {x, imm(top - 1)});
  return e.op(Op::max, type, {x, imm(type == Type::s32 ? lowest & 0xffffffff : lowest)});
}

/// Saturates to the part that is written, then merges into or combines with the last operand.
void finish(Emit& e, ir::Operand result, PType d) {
  const Selected into = selected(e, 0);
  const Place p = place_of(e, into);
  const std::string_view second = e.get("op2");
  const bool merges = !into.selector.empty();
  if (merges && !second.empty()) e.fail("either a part of the result or a second operation");
  if ((e.count() == 4) != (merges || !second.empty()))
    e.fail(e.count() == 4 ? "a third source needs a part of the result or a second operation"
                          : "a third source is missing");
  if (e.has("sat")) result = clamped(e, Type::s64, result, p.bits, d.is_signed());
  ir::Operand x = e.narrow(result);
  if (merges) {
    x = e.op(Op::bfi, Type::u32, {x, e.raw(3, kU32), imm(p.at), imm(p.bits)});
  } else if (!second.empty()) {
    const Op op = second == "add" ? Op::add : second == "min" ? Op::min : Op::max;
    x = e.op(op, d.ir(), {x, e.raw(3, d)});
  }
  e.set(into.operand, d, x);
}

struct Factors {
  ir::Operand a, b;
};
Factors factors(Emit& e) {
  const ir::Operand a = wide_part(e, 1, e.type("atype").is_signed());
  return {a, wide_part(e, 2, e.type("btype").is_signed())};
}

template <Op kOp>
void scalar(Emit& e) {
  const auto [a, b] = factors(e);
  finish(e, e.op(kOp, Type::s64, {a, b}), e.type("dtype"));
}

void vabsdiff(Emit& e) {
  const auto [a, b] = factors(e);
  const ir::Reg difference = e.op(Op::sub, Type::s64, {a, b});
  finish(e, e.op(Op::abs, Type::s64, {difference}), e.type("dtype"));
}

/// Amounts above 32 count as 32, or are taken modulo 32.
template <Op kOp>
void vshift(Emit& e) {
  const auto [a, b] = factors(e);
  const ir::Operand asked = e.narrow(b);
  const ir::Reg amount = e.get("mode") == "wrap" ? e.op(Op::and_, Type::u32, {asked, imm(31)})
                                                 : e.op(Op::min, Type::u32, {asked, imm(32)});
  finish(e, e.op(kOp, Type::s64, {a, amount}), e.type("dtype"));
}

void vset(Emit& e) {
  const auto [a, b] = factors(e);
  const ir::Reg test = e.op(Op::icmp, Type::s64, {a, b}, {.cond = e.condition()});
  finish(e, e.op(Op::select, Type::u64, {test, imm(1), imm(0)}), kU32);
}

/// a * b + c, plus one with .po, shifted. It is signed when a factor is, and with that fits 64
/// bits.
void vmad(Emit& e) {
  const auto [a, b] = factors(e);
  const bool is_signed = e.type("atype").is_signed() || e.type("btype").is_signed();
  const Type type = is_signed ? Type::s64 : Type::u64;
  const ir::Operand c = e.widen(e.raw(3, is_signed ? kS32 : kU32), is_signed);
  ir::Operand sum = e.op(Op::add, type, {e.op(Op::mul, type, {a, b}), c});
  if (e.has("po")) sum = e.op(Op::add, type, {sum, imm(1)});
  if (e.has("scale")) sum = e.op(Op::shr, type, {sum, imm(e.get("scale") == "shr7" ? 7 : 15)});
  if (e.has("sat")) sum = clamped(e, type, sum, 32, is_signed);
  e.set(0, e.type("dtype"), e.narrow(sum));
}

// --- two halves or four bytes --------------------------------------------------------------------

struct Lanes {
  unsigned count, bits;
};

/// Which parts of both words, the second above the first, an operand's elements are, lowest first.
std::vector<unsigned> chosen_parts(Emit& e, const Selected& s, Lanes l, unsigned first) {
  std::vector<unsigned> parts;
  for (unsigned i = 0; i < l.count; ++i) parts.push_back(first + i);
  if (s.selector.empty()) return parts;
  if (s.selector.size() != 1 + l.count || (s.selector[0] == 'b') != (l.count == 4))
    e.fail("'." + s.selector + "' does not choose " + std::to_string(l.count) + " parts");
  for (unsigned i = 0; i < l.count; ++i) {
    parts[i] = static_cast<unsigned>(s.selector[l.count - i] - '0');
    if (parts[i] >= 2 * l.count) e.fail("'." + s.selector + "': there is no such part");
  }
  return parts;
}

/// The parts of the result that are written: digits from the highest to the lowest.
unsigned written_parts(Emit& e, const Selected& s, Lanes l) {
  if (s.selector.empty()) return (1U << l.count) - 1;
  unsigned mask = 0;
  const bool kind_fits = (s.selector[0] == 'b') == (l.count == 4);
  for (const char c : s.selector.substr(1)) {
    const unsigned bit = 1U << static_cast<unsigned>(c - '0');
    if (!kind_fits || bit >> l.count != 0 || (mask != 0 && bit >= (mask & (0U - mask))))
      e.fail("'." + s.selector + "' is no choice of parts of the result");
    mask |= bit;
  }
  return mask;
}

template <typename F>
void each_part(Emit& e, Lanes l, PType d, F&& compute) {
  const Selected into = selected(e, 0), first = selected(e, 1), second = selected(e, 2);
  const unsigned mask = written_parts(e, into, l);
  const auto a = chosen_parts(e, first, l, 0), b = chosen_parts(e, second, l, l.count);
  const bool a_signed = e.type("atype").is_signed(), b_signed = e.type("btype").is_signed();
  const ir::Operand wa = e.raw(first.operand, kU32), wb = e.raw(second.operand, kU32);
  const auto element = [&](unsigned part, bool is_signed) {
    const Place p{part % l.count * l.bits, l.bits};
    return field_of(e, part < l.count ? wa : wb, p, is_signed);
  };
  const bool sums = e.has("op2");
  ir::Operand result = e.raw(3, kU32);
  for (unsigned i = 0; i < l.count; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const ir::Operand x = element(a[i], a_signed);
    ir::Operand value = compute(x, element(b[i], b_signed));
    if (e.has("sat")) value = clamped(e, Type::s32, value, l.bits, d.is_signed());
    if (sums)
      result = e.op(Op::add, Type::u32, {result, value});
    else
      result = e.op(Op::bfi, Type::u32, {value, result, imm(uint64_t{i} * l.bits), imm(l.bits)});
  }
  e.set(into.operand, d, result);
}

constexpr Lanes kHalfLanes{2, 16}, kByteLanes{4, 8};
Lanes lanes_of(const Emit& e) {
  return e.inst.opcode.back() == '2' ? kHalfLanes : kByteLanes;
}

template <Op kOp>
void parts(Emit& e) {
  each_part(e, lanes_of(e), e.type("dtype"), [&](ir::Operand a, ir::Operand b) {
    return e.op(kOp, Type::s32, {a, b});
  });
}
void parts_absdiff(Emit& e) {
  each_part(e, lanes_of(e), e.type("dtype"), [&](ir::Operand a, ir::Operand b) {
    return e.op(Op::abs, Type::s32, {e.op(Op::sub, Type::s32, {a, b})});
  });
}
/// Halves are rounded away from zero.
void parts_average(Emit& e) {
  each_part(e, lanes_of(e), e.type("dtype"), [&](ir::Operand a, ir::Operand b) {
    const ir::Reg sum = e.op(Op::add, Type::s32, {a, b});
    const ir::Reg negative = e.op(Op::shr, Type::s32, {sum, imm(31)});  // -1 or 0
    const ir::Reg up = e.op(Op::add, Type::s32, {negative, imm(1)});
    return e.op(Op::shr, Type::s32, {e.op(Op::add, Type::s32, {sum, up}), imm(1)});
  });
}
void parts_set(Emit& e) {
  each_part(e, lanes_of(e), kU32, [&](ir::Operand a, ir::Operand b) {
    const ir::Reg test = e.op(Op::icmp, Type::s32, {a, b}, {.cond = e.condition()});
    return e.op(Op::select, Type::u32, {test, imm(1), imm(0)});
  });
}

std::string check_sum(const Form& f) {
  return f.has("sat") && f.has("op2") ? "'.sat' does not go with '.add'" : "";
}

#define LW_TYPES "dtype:u32|s32 atype:u32|s32 btype:u32|s32"
#define LW_SCALAR LW_TYPES " ?sat+ ?op2:add|min|max"
#define LW_PARTS LW_TYPES " ?sat+ ?op2:add"
#define LW_SHIFT "dtype:u32|s32 atype:u32|s32 btype:u32"
#define LW_TESTS "atype:u32|s32 btype:u32|s32 cmp:eq|ne|lt|le|gt|ge"

constexpr Row kVideoRows[] = {
    {"vadd", LW_SCALAR, "V:$dtype V:$atype V:$btype ?V&op2:$dtype", scalar<Op::add>},
    {"vsub", LW_SCALAR, "V:$dtype V:$atype V:$btype ?V&op2:$dtype", scalar<Op::sub>},
    {"vmin", LW_SCALAR, "V:$dtype V:$atype V:$btype ?V&op2:$dtype", scalar<Op::min>},
    {"vmax", LW_SCALAR, "V:$dtype V:$atype V:$btype ?V&op2:$dtype", scalar<Op::max>},
    {"vabsdiff", LW_SCALAR, "V:$dtype V:$atype V:$btype ?V&op2:$dtype", vabsdiff},
    {"vshl", LW_SHIFT " mode:clamp|wrap ?op2:add|min|max",
     "V:$dtype V:$atype V:$btype ?V&op2:$dtype", vshift<Op::shl>},
    {"vshr", LW_SHIFT " ?sat+ mode:clamp|wrap ?op2:add|min|max",
     "V:$dtype V:$atype V:$btype ?V&op2:$dtype", vshift<Op::shr>},
    {"vset", LW_TESTS " ?op2:add|min|max", "V:u32 V:$atype V:$btype ?V&op2:u32", vset},
    {"vmad", LW_TYPES " ?po ?sat+ ?scale:shr7|shr15", "d:u32 M:$atype M:$btype M:$dtype", vmad},
    {"vadd2", LW_PARTS, "D:$dtype D:$atype D:$btype r:$dtype", parts<Op::add>, "", check_sum},
    {"vadd4", LW_PARTS, "Q:$dtype Q:$atype Q:$btype r:$dtype", parts<Op::add>, "", check_sum},
    {"vsub2", LW_PARTS, "D:$dtype D:$atype D:$btype r:$dtype", parts<Op::sub>, "", check_sum},
    {"vsub4", LW_PARTS, "Q:$dtype Q:$atype Q:$btype r:$dtype", parts<Op::sub>, "", check_sum},
    {"vmin2", LW_PARTS, "D:$dtype D:$atype D:$btype r:$dtype", parts<Op::min>, "", check_sum},
    {"vmin4", LW_PARTS, "Q:$dtype Q:$atype Q:$btype r:$dtype", parts<Op::min>, "", check_sum},
    {"vmax2", LW_PARTS, "D:$dtype D:$atype D:$btype r:$dtype", parts<Op::max>, "", check_sum},
    {"vmax4", LW_PARTS, "Q:$dtype Q:$atype Q:$btype r:$dtype", parts<Op::max>, "", check_sum},
    {"vavrg2", LW_PARTS, "D:$dtype D:$atype D:$btype r:$dtype", parts_average, "", check_sum},
    {"vavrg4", LW_PARTS, "Q:$dtype Q:$atype Q:$btype r:$dtype", parts_average, "", check_sum},
    {"vabsdiff2", LW_PARTS, "D:$dtype D:$atype D:$btype r:$dtype", parts_absdiff, "", check_sum},
    {"vabsdiff4", LW_PARTS, "Q:$dtype Q:$atype Q:$btype r:$dtype", parts_absdiff, "", check_sum},
    {"vset2", LW_TESTS " ?op2:add", "D:u32 D:$atype D:$btype r:u32", parts_set},
    {"vset4", LW_TESTS " ?op2:add", "Q:u32 Q:$atype Q:$btype r:u32", parts_set},
};

}  // namespace

constinit Rows video_rows = kVideoRows;

}  // namespace lanewise::ptx
