// Predicates and flags as values of registers, and the other way round.
#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

namespace {

constexpr unsigned kPredicates = 7;  // PT is none

/// PR or the condition code, bit for bit as R2P and P2R move them.
bool moves_flags(const Instruction& i) {
  return i.operand(Role::p)->field.get(i.word) != 0;
}

/// Compilers put the flags into a register to take them out of it again. Which bit is which flag is
/// not documented; here they are zero, sign, carry and overflow.
std::vector<Reg> moved(LowerContext& c, const Instruction& i) {
  if (moves_flags(i))
    return {c.flag(Flag::zero), c.flag(Flag::sign), c.carry(), c.flag(Flag::overflow)};
  std::vector<Reg> all;
  for (unsigned n = 0; n < kPredicates; ++n) all.push_back(c.predicate(n));
  return all;
}

/// With .X, the zero flag may be that of the result or that of all words so far. They are one where
/// the result is zero only if the lower words were equal, too: as compilers end a loop.
bool joins_two_words(const Instruction& i) {
  constexpr uint64_t kNotEqual = 5, kAnd = 0;
  const OperandSpec& r = *i.operand(Role::r);
  return i.mod(ModId::cond) == kNotEqual && i.mod(ModId::bop) == kAnd &&
         r.field.get(i.word) == kPT && r.neg.get(i.word) == 0;
}

}  // namespace

void write_truth(LowerContext& c, const Instruction& i, Operand truth) {
  refuse(c.has_cc(i) && i.mod(ModId::x) != 0 && !joins_two_words(i),
         "which flags a compare with .X and .CC sets is only known of .NE with PT");
  const Reg r = c.reg(Width::b32);
  c.emit(Op::select, Type::u32, {r},
         {truth, imm(i.mod(ModId::parts) != 0 ? 0x3f800000 : 0xffffffff), imm(0)});
  set_flags(c, i, r, imm(0), imm(0));
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {r});
}

void lower_csetp(LowerContext& c, const Instruction& i) {
  write_test(c, i, flag_test(c, i.mod(ModId::cond)));
}

void lower_cset(LowerContext& c, const Instruction& i) {
  write_truth(
      c, i,
      combine(c, i.mod(ModId::bop), flag_test(c, i.mod(ModId::cond)), c.pred_source(i, Role::r)));
}

void lower_psetp(LowerContext& c, const Instruction& i) {
  const Operand first =
      combine(c, i.mod(ModId::bop), c.pred_source(i, Role::a), c.pred_source(i, Role::b));
  const Operand third = c.pred_source(i, Role::c);
  const Operand other = c.make(Op::not_, Type::pred, {first});
  const Operand p = combine(c, i.mod(ModId::op), first, third);
  const Operand q = combine(c, i.mod(ModId::op), other, third);
  c.write_predicate(i, Role::p, p);
  c.write_predicate(i, Role::q, q);
}

void lower_pset(LowerContext& c, const Instruction& i) {
  const Operand first =
      combine(c, i.mod(ModId::bop), c.pred_source(i, Role::a), c.pred_source(i, Role::b));
  write_truth(c, i, combine(c, i.mod(ModId::op), first, c.pred_source(i, Role::c)));
}

/// Those predicates whose bit the mask has take the bit of a register's byte.
void lower_r2p(LowerContext& c, const Instruction& i) {
  const std::vector<Reg> targets = moved(c, i);
  const uint64_t byte = i.operand(Role::a)->part.get(i.word);
  const Operand bits = c.make(Op::shr, Type::u32, {c.raw(i, Role::a), imm(8 * byte)});
  const Operand mask = c.raw(i, Role::b);
  const auto bit = [&](Operand x, unsigned n) {
    const Reg p = c.reg(Width::pred);
    c.emit(Op::icmp, Type::u32, {p}, {c.make(Op::and_, Type::u32, {x, imm(1U << n)}), imm(0)})
        .cond = Cond::ne;
    return Operand(p);
  };
  const ir::Guard guard = c.guard();
  for (unsigned n = 0; n < targets.size(); ++n) {
    if (mask.is_imm() && (mask.imm >> n & 1) == 0) continue;
    const Operand value = bit(bits, n);
    if (!mask.is_imm()) c.set_guard(c.narrowed(bit(mask, n)));
    c.emit(Op::mov, Type::pred, {targets[n]}, {value});
    c.set_guard(guard);
  }
}

/// The predicates of the mask replace bits of a register's byte.
void lower_p2r(LowerContext& c, const Instruction& i) {
  const std::vector<Reg> sources = moved(c, i);
  const uint64_t every = (uint64_t{1} << sources.size()) - 1;
  const uint64_t place = 8 * i.mod(ModId::parts);
  const Operand asked = c.raw(i, Role::b);
  refuse(asked.is_imm() && (asked.imm & 0xff & ~every) != 0,
         moves_flags(i) ? "P2R of a fifth flag is not documented"
                        : "P2R of an eighth predicate is not documented");
  const Operand mask = c.make(Op::and_, Type::u32, {asked, imm(every)});
  Operand all = imm(0);
  for (unsigned n = 0; n < sources.size(); ++n) {
    const Reg one = c.make(Op::select, Type::u32, {sources[n], imm(uint64_t{1} << n), imm(0)});
    all = c.make(Op::or_, Type::u32, {all, one});
  }
  const auto placed = [&](Operand x) {
    return place == 0 ? x : Operand(c.make(Op::shl, Type::u32, {x, imm(place)}));
  };
  const Reg taken = c.make(Op::and_, Type::u32, {all, mask});
  const Reg kept =
      c.make(Op::and_, Type::u32, {c.raw(i, Role::a), c.make(Op::not_, Type::u32, {placed(mask)})});
  c.emit(Op::or_, Type::u32, {c.destination(i)}, {kept, placed(taken)});
}

}  // namespace lanewise::sass
