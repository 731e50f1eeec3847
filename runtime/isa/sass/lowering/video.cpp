// Video instructions: parts of words, extended, combined, brought into the range of what they are
// merged into. All of it in 64 bits, as PTX defines vadd, vabsdiff, vmin, vset, vshl and vmad.
#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

namespace {

constexpr Field kSelectA{36, 3}, kSelectB{28, 3}, kSignA{48, 1}, kSignB{49, 1}, kRegisterB{50, 1};

Operand extended(LowerContext& c, Operand x, bool is_signed) {
  const Reg wide = c.reg(Width::b64);
  c.emit(is_signed ? Op::sext64 : Op::zext64, is_signed ? Type::s64 : Type::u64, {wide}, {x});
  return wide;
}

/// Byte 0 to 3, half 4 or 5, or the whole word 6.
Operand part(LowerContext& c, Operand x, uint64_t select, bool is_signed) {
  const uint64_t place = select < 4 ? 8 * select : 16 * (select & 1);
  if (select < 6 && place != 0) x = c.make(Op::shr, Type::u32, {x, imm(place)});
  if (select < 4)
    x = c.make(is_signed ? Op::sext8 : Op::zext8, Type::u32, {x});
  else if (select < 6)
    x = c.make(is_signed ? Op::sext16 : Op::zext16, Type::u32, {x});
  return extended(c, x, is_signed);
}

struct Factors {
  Operand a, b;
};
/// `sign_b`: where the second operand's sign stands; a shift's amount has none.
Factors factors(LowerContext& c, const Instruction& i, bool shift = false) {
  const bool sb = !shift && kSignB.get(i.word) != 0;
  const Operand a = part(c, c.raw(i, Role::a), kSelectA.get(i.word), kSignA.get(i.word) != 0);
  const bool is_register = kRegisterB.get(i.word) != 0;
  const Operand b = part(c, c.raw(i, Role::b), is_register ? kSelectB.get(i.word) : 4, sb);
  return {a, b};
}

Operand clamped(LowerContext& c, Operand x, unsigned bits, bool is_signed) {
  const uint64_t top = uint64_t{1} << (bits - (is_signed ? 1 : 0));
  x = c.make(Op::min, Type::s64, {x, imm(top - 1)});
  return c.make(Op::max, Type::s64, {x, imm(is_signed ? 0 - top : 0)});
}

Operand low_word(LowerContext& c, Operand x) {
  return c.make(Op::trunc32, Type::u32, {x});
}

/// Saturates to the size that is merged, then merges or combines with the third operand.
void finish(LowerContext& c, const Instruction& i, Operand result, bool is_signed) {
  enum : uint64_t { kHigh, kLow, kByte0, kByte2, kAdd, kMin, kMax, kNone };
  refuse(c.has_cc(i), "video instructions with .CC are not documented");
  const uint64_t op = i.mod(ModId::op);
  const unsigned bits = op <= kLow ? 16 : op <= kByte2 ? 8 : 32;
  if (i.mod(ModId::sat) != 0) result = clamped(c, result, bits, is_signed);
  const Operand x = low_word(c, result), third = c.raw(i, Role::c);
  const Reg d = c.destination(i);
  const Type type = is_signed ? Type::s32 : Type::u32;
  if (op == kNone) {
    c.emit(Op::mov, Type::u32, {d}, {x});
  } else if (op >= kAdd) {
    c.emit(op == kAdd   ? Op::add
           : op == kMin ? Op::min
                        : Op::max,
           op == kAdd ? Type::u32 : type, {d}, {x, third});
  } else {
    const uint64_t place = op == kHigh || op == kByte2 ? 16 : 0;
    c.emit(Op::bfi, Type::u32, {d}, {x, third, imm(place), imm(bits)});
  }
}

bool signed_result(const Instruction& i) {
  return i.mod(ModId::signed_) != 0;
}

Operand negated(LowerContext& c, const Instruction& i, Role role, Operand x) {
  return c.negated(i, role) ? Operand(c.make(Op::neg, Type::s64, {x})) : x;
}

Operand parts_compared(LowerContext& c, const Instruction& i) {
  static constexpr Cond kConds[] = {Cond::eq, Cond::lt, Cond::eq, Cond::le,
                                    Cond::gt, Cond::ne, Cond::ge, Cond::eq};
  const uint64_t code = i.mod(ModId::cond);
  if (code == 0 || code == 7) return imm(code == 7 ? 1 : 0);
  const auto [a, b] = factors(c, i);
  return c.compare(kConds[code], Type::s64, a, b);
}

}  // namespace

void lower_vadd(LowerContext& c, const Instruction& i) {
  const auto [a, b] = factors(c, i);
  Operand sum = c.make(Op::add, Type::s64, {negated(c, i, Role::a, a), negated(c, i, Role::b, b)});
  if (i.form->mod(ModId::plus) != nullptr) sum = c.make(Op::add, Type::s64, {sum, imm(1)});
  finish(c, i, sum, signed_result(i));
}

void lower_vabsdiff(LowerContext& c, const Instruction& i) {
  const auto [a, b] = factors(c, i);
  const Reg difference = c.make(Op::sub, Type::s64, {a, b});
  finish(c, i, c.make(Op::abs, Type::s64, {difference}), signed_result(i));
}

void lower_vminmax(LowerContext& c, const Instruction& i) {
  const auto [a, b] = factors(c, i);
  finish(c, i, c.make(i.mod(ModId::greater) != 0 ? Op::max : Op::min, Type::s64, {a, b}),
         signed_result(i));
}

void lower_vset(LowerContext& c, const Instruction& i) {
  const Operand test = parts_compared(c, i);
  finish(c, i, c.make(Op::select, Type::u64, {test, imm(1), imm(0)}), false);
}

void lower_vsetp(LowerContext& c, const Instruction& i) {
  write_test(c, i, parts_compared(c, i));
}

/// Amounts above 32 count as 32, or are taken modulo 32 (.W).
void lower_vshift(LowerContext& c, const Instruction& i) {
  const bool left = i.form->is(kLeft);
  refuse(left && i.mod(ModId::sat) != 0,
         "VSHL.SAT: how many bits of the shifted value are parts_compared is not documented");
  const auto [a, b] = factors(c, i, true);
  const Operand asked = low_word(c, b);
  const Operand amount = i.mod(ModId::wrap) != 0 ? c.make(Op::and_, Type::u32, {asked, imm(31)})
                                                 : c.make(Op::min, Type::u32, {asked, imm(32)});
  finish(c, i, c.make(left ? Op::shl : Op::shr, Type::s64, {a, amount}), signed_result(i));
}

/// (+-a * b) + c or - c, plus one with .PO, shifted. It is signed when anything in it is.
void lower_vmad(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "video instructions with .CC are not documented");
  const bool minus_product = c.negated(i, Role::a), minus_addend = c.negated(i, Role::c);
  const bool is_signed =
      kSignA.get(i.word) != 0 || kSignB.get(i.word) != 0 || minus_product || minus_addend;
  const bool saturates = i.mod(ModId::sat) != 0;
  const bool whole_words =
      kSelectA.get(i.word) == 6 && kRegisterB.get(i.word) != 0 && kSelectB.get(i.word) == 6;
  refuse(whole_words && (saturates || i.mod(ModId::scale) != 0),
         "VMAD of whole words with .SAT or .SHR needs more than 64 bits: not supported");
  const auto [a, b] = factors(c, i);
  Operand sum = c.make(Op::mul, Type::s64, {a, b});
  if (minus_product) sum = c.make(Op::neg, Type::s64, {sum});
  Operand addend = extended(c, c.raw(i, Role::c), is_signed);
  if (minus_addend) addend = c.make(Op::neg, Type::s64, {addend});
  sum = c.make(Op::add, Type::s64, {sum, addend});
  if (i.form->mod(ModId::plus) != nullptr) sum = c.make(Op::add, Type::s64, {sum, imm(1)});
  static constexpr uint64_t kShifts[] = {0, 7, 15};
  if (i.mod(ModId::scale) != 0)
    sum = c.make(Op::shr, Type::s64, {sum, imm(kShifts[i.mod(ModId::scale)])});
  if (saturates) sum = clamped(c, sum, 32, is_signed);
  c.emit(Op::trunc32, Type::u32, {c.destination(i)}, {sum});
}

namespace {

/// Which of the eight bytes of both registers element `n` of an operand is: digits, the highest
/// element first.
uint64_t chosen_byte(const Instruction& i, Role role, uint64_t n) {
  const OperandSpec& o = *i.operand(role);
  std::string_view digits = o.part_names[o.part.get(i.word)];
  if (digits.empty()) digits = role == Role::a ? "3210" : "7654";
  refuse(digits.size() != 4, "this choice of bytes has no name");
  return static_cast<uint64_t>(digits[3 - n] - '0');
}

}  // namespace

/// Differences of four bytes, as PTX defines vabsdiff4: put into the third operand where the mask
/// says so, or added to it.
void lower_vabsdiff4(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "video instructions with .CC are not documented");
  const uint64_t op = i.mod(ModId::op), mask = i.mod(ModId::parts);
  const bool sums = op == 1, saturates = i.mod(ModId::sat) != 0, is_signed = signed_result(i);
  refuse(op > 1, "this use of the differences has no name");
  refuse(mask == 0, "VABSDIFF4 that writes no byte is not documented");
  refuse(sums && saturates, "VABSDIFF4.ACC.SAT is not documented");
  const Operand words[] = {c.raw(i, Role::a), c.raw(i, Role::b)};
  const auto element = [&](Role role, uint64_t n) {
    const uint64_t byte = chosen_byte(i, role, n);
    return part(c, words[byte / 4], byte % 4, (role == Role::a ? kSignA : kSignB).get(i.word) != 0);
  };
  Operand result = c.raw(i, Role::c);
  for (uint64_t n = 0; n < 4; ++n) {
    if ((mask >> n & 1) == 0) continue;
    Operand difference = c.make(Op::sub, Type::s64, {element(Role::a, n), element(Role::b, n)});
    difference = c.make(Op::abs, Type::s64, {difference});
    if (saturates) difference = clamped(c, difference, 8, is_signed);
    const Operand low = low_word(c, difference);
    result = sums ? Operand(c.make(Op::add, Type::u32, {result, low}))
                  : Operand(c.make(Op::bfi, Type::u32, {low, result, imm(8 * n), imm(8)}));
  }
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {result});
}

}  // namespace lanewise::sass
