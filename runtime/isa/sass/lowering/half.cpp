// Arithmetic of half precision: a register holds two numbers, and each half of the result is
// computed from the halves that the operands choose.
#include "runtime/isa/sass/lowering/semantics.hpp"

#include <array>
#include <cstring>
#include <optional>

namespace lanewise::sass {
namespace {

/// What an operand gives the two halves of the result. `.F32` gives a single for both.
enum Swizzle : uint8_t { kBoth, kSingle, kLow, kHigh };
/// Where the results go: both halves of the register, all of it as a single, or one half.
enum Format : uint8_t { kHalves, kWhole, kIntoLow, kIntoHigh };

uint64_t swizzle(const Instruction& i, Role role) {
  const OperandSpec& o = *i.operand(role);
  return o.part.present() ? o.part.get(i.word) : uint64_t{kBoth};
}

Operand with_sign(LowerContext& c, const Instruction& i, Role role, Type type, Operand x) {
  if (c.absolute(i, role)) x = c.make(Op::fabs, type, {x});
  if (c.negated(i, role)) x = c.make(Op::fneg, type, {x});
  return x;
}

/// A number of the instruction: its upper ten bits, or all sixteen.
uint64_t number(const OperandSpec& o, uint64_t word) {
  const uint64_t bits = o.field.get(word);
  if (!o.sign.present()) return bits;
  return o.sign.get(word) << 15 | bits << (15 - o.field.len);
}

/// The half with the value of a single, if there is one.
std::optional<uint32_t> half_of(uint32_t single) {
  const uint32_t sign = single >> 16 & 0x8000, magnitude = single & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude == 0x7f800000) return sign | 0x7c00;
  if (magnitude == 0) return sign;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent < -24 || exponent > 15) return std::nullopt;
  const int lost = exponent < -14 ? -1 - exponent : 13;
  const uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
  if ((significand & ((1U << lost) - 1)) != 0) return std::nullopt;
  return sign | (exponent < -14 ? significand >> lost : (magnitude >> 13) - (112U << 10));
}

/// A word of a constant bank is a single, and gives both halves. Compilers put such there that are
/// halves as well; how others are rounded is not known.
Operand constant(LowerContext& c, const Instruction& i, const OperandSpec& o, Role role) {
  const auto place = static_cast<unsigned>(o.field.get(i.word));
  const unsigned bank = place >> 14, offset = (place & 0x3fff) * 4;
  refuse(bank == 0 || c.constant_bank(bank).bytes.size() < offset + 4,
         "half precision takes constants that are known before the launch alone");
  uint32_t single = 0;
  std::memcpy(&single, c.constant_bank(bank).bytes.data() + offset, 4);
  const std::optional<uint32_t> value = half_of(single);
  refuse(!value, "how half precision rounds a constant that is not a half is not documented");
  return with_sign(c, i, role, Type::f16, imm(*value));
}

/// The half `n` (0 or 1) of an operand, its sign applied.
Operand half(LowerContext& c, const Instruction& i, Role role, unsigned n) {
  const OperandSpec& o = *i.operand(role);
  if (o.kind == OperandSpec::Kind::fimm)
    return imm(number(n == 0 ? *i.operand(kLowNumber) : o, i.word));
  if (o.kind == OperandSpec::Kind::cbank) return constant(c, i, o, role);
  const uint64_t from = swizzle(i, role);
  const bool high = from == kBoth ? n == 1 : from == kHigh;
  const Operand x = c.raw(i, role);
  return with_sign(c, i, role, Type::f16,
                   high ? c.make(Op::shr, Type::u32, {x, imm(16)})
                        : c.make(Op::and_, Type::u32, {x, imm(0xffff)}));
}

/// Compilers truncate a single to a half by adding zero to it; nothing more is known of singles as
/// sources.
Operand source(LowerContext& c, const Instruction& i, Op op, Role role, unsigned n) {
  if (swizzle(i, role) != kSingle) return half(c, i, role, n);
  const Role other = role == Role::a ? Role::b : Role::a;
  const OperandSpec& o = *i.operand(other);
  const bool alone = op == Op::fadd && o.kind == OperandSpec::Kind::reg &&
                     o.field.get(i.word) == kRZ && swizzle(i, other) != kSingle;
  refuse(!alone || i.mod(ModId::size) == kWhole || i.mod(ModId::ftz) != 0,
         "a source .F32 is known of HADD2 with RZ alone, without .FTZ and with a half as result");
  const Reg r = c.reg(Width::b32);
  const Operand single = with_sign(c, i, role, Type::f32, c.raw(i, role));
  ir::Inst& inst = c.emit(Op::f2f, Type::f16, {r}, {single});
  inst.from = Type::f32;
  inst.round = Round::rz;
  return r;
}

void compute(LowerContext& c, const Instruction& i, Op op, std::initializer_list<Role> roles) {
  const uint64_t format = i.mod(ModId::size), zeros = i.mod(ModId::ftz);
  refuse(zeros > 1, ".FMZ of half precision is not supported yet");
  refuse(format == kWhole && zeros != 0, "what .FTZ does to a single is not documented");
  const auto result = [&](unsigned n) {
    std::vector<Operand> sources;
    for (const Role role : roles) sources.push_back(source(c, i, op, role, n));
    if (format == kWhole) {
      for (Operand& s : sources) {
        const Reg wide = c.reg(Width::b32);
        c.emit(Op::f2f, Type::f32, {wide}, {s}).from = Type::f16;
        s = wide;
      }
    }
    const Reg r = c.reg(Width::b32);
    ir::Inst& inst = c.emit(op, format == kWhole ? Type::f32 : Type::f16, {r}, std::move(sources));
    inst.ftz = zeros != 0;
    inst.sat = i.mod(ModId::sat) != 0;
    return Operand(r);
  };
  const auto old = [&](uint32_t mask) {
    const Operand before = c.readable(c.reg_number(i, Role::d));
    return Operand(c.make(Op::and_, Type::u32, {before, imm(mask)}));
  };
  const auto high = [&] { return Operand(c.make(Op::shl, Type::u32, {result(1), imm(16)})); };
  Operand value;
  if (format == kWhole)
    value = result(0);
  else if (format == kHalves)
    value = c.make(Op::or_, Type::u32, {result(0), high()});
  else if (format == kIntoLow)
    value = c.make(Op::or_, Type::u32, {result(0), old(0xffff0000)});
  else
    value = c.make(Op::or_, Type::u32, {old(0xffff), high()});
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {value});
}

/// The compare of both halves.
std::array<Operand, 2> compared(LowerContext& c, const Instruction& i) {
  refuse(swizzle(i, Role::a) == kSingle || swizzle(i, Role::b) == kSingle,
         "compares of half precision with a source .F32 are not documented");
  std::array<Operand, 2> tests;
  for (unsigned n = 0; n < 2; ++n)
    tests[n] = float_compare(c, i, Type::f16, half(c, i, Role::a, n), half(c, i, Role::b, n));
  return tests;
}

}  // namespace

void lower_hadd2(LowerContext& c, const Instruction& i) {
  compute(c, i, Op::fadd, {Role::a, Role::b});
}
void lower_hmul2(LowerContext& c, const Instruction& i) {
  compute(c, i, Op::fmul, {Role::a, Role::b});
}
void lower_hfma2(LowerContext& c, const Instruction& i) {
  compute(c, i, Op::ffma, {Role::a, Role::b, Role::c});
}

/// Each half is all ones, or 1.0 with .BF, where it is true.
void lower_hset2(LowerContext& c, const Instruction& i) {
  const std::array<Operand, 2> tests = compared(c, i);
  const Operand third = c.pred_source(i, Role::r);
  const uint64_t truth = i.mod(ModId::parts) != 0 ? 0x3c00 : 0xffff;
  const auto word = [&](unsigned n) {
    const Operand holds = combine(c, i.mod(ModId::bop), tests[n], third);
    return Operand(c.make(Op::select, Type::u32, {holds, imm(truth << (16 * n)), imm(0)}));
  };
  c.emit(Op::or_, Type::u32, {c.destination(i)}, {word(0), word(1)});
}

/// P takes the lower half's test and Q the upper one's, or with .H_AND P takes both.
void lower_hsetp2(LowerContext& c, const Instruction& i) {
  const std::array<Operand, 2> tests = compared(c, i);
  const Operand third = c.pred_source(i, Role::r);
  const uint64_t bop = i.mod(ModId::bop);
  const bool joined = i.mod(ModId::parts) != 0;
  refuse(joined && c.reg_number(i, Role::q) != kPT,
         "what the second predicate of .H_AND takes is not documented");
  constexpr uint64_t kAnd = 0;
  const Operand p =
      combine(c, bop, joined ? combine(c, kAnd, tests[0], tests[1]) : tests[0], third);
  const Operand q = combine(c, bop, tests[1], third);
  c.write_predicate(i, Role::p, p);
  c.write_predicate(i, Role::q, q);
}

}  // namespace lanewise::sass
