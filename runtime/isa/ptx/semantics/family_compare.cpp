// setp, set, selp, slct.
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {
namespace {

using ir::Cond;
using ir::Op;
using ir::Type;

Cond condition(std::string_view name) {
  constexpr std::pair<std::string_view, Cond> kConds[] = {
      {"eq", Cond::eq},   {"ne", Cond::ne},   {"lt", Cond::lt},   {"le", Cond::le},
      {"gt", Cond::gt},   {"ge", Cond::ge},   {"lo", Cond::lt},   {"ls", Cond::le},
      {"hi", Cond::gt},   {"hs", Cond::ge},   {"equ", Cond::equ}, {"neu", Cond::neu},
      {"ltu", Cond::ltu}, {"leu", Cond::leu}, {"gtu", Cond::gtu}, {"geu", Cond::geu},
      {"num", Cond::num}, {"nan", Cond::nan}};
  for (const auto& [n, c] : kConds)
    if (n == name) return c;
  return Cond::eq;
}

ir::Operand compare_values(Emit& e, PType t, ir::Operand a, ir::Operand b) {
  return e.op(t.is_float() ? Op::fcmp : Op::icmp, t.ir(), {a, b},
              {.ftz = e.has("ftz"), .cond = condition(e.get("cmp"))});
}

ir::Operand compare(Emit& e, PType t) {
  // One after the other: reading an operand may number a register.
  const ir::Operand a = e.ext(1, t), b = e.ext(2, t);
  return compare_values(e, t, a, b);
}

/// The optional `.and/.or/.xor` with the last predicate.
ir::Operand combine(Emit& e, ir::Operand result) {
  const std::string_view with = e.get("bool");
  if (with.empty()) return result;
  const Op op = with == "and" ? Op::and_ : with == "or" ? Op::or_ : Op::xor_;
  return e.op(op, Type::pred, {result, e.pred(3)});
}

void check_count(Emit& e) {
  const size_t wanted = e.has("bool") ? 4 : 3;
  if (e.count() != wanted)
    e.fail("'" + e.inst.opcode + "' " + (wanted == 4 ? "with" : "without") +
           " a combining predicate takes " + std::to_string(wanted) + " operands, found " +
           std::to_string(e.count()));
}

void setp(Emit& e) {
  check_count(e);
  const ir::Operand result = compare(e, e.type());
  ir::Operand second;
  if (!e.operand(0).pair.empty()) second = combine(e, e.op(Op::not_, Type::pred, {result}));
  const ir::Operand first = combine(e, result);
  e.set(0, kPred, first);
  if (!e.operand(0).pair.empty()) e.set_pair(0, kPred, second);
}

void setp_half2(Emit& e) {
  check_count(e);
  if (e.operand(0).pair.empty()) e.fail("a comparison of .f16x2 needs two destinations, p|q");
  const ir::Operand a = e.raw(1, {PType::Class::flt, 32, true});
  const ir::Operand b = e.raw(2, {PType::Class::flt, 32, true});
  ir::Operand result[2];
  for (unsigned i = 0; i < 2; ++i) {
    const ir::Reg x = e.op(Op::bfe, Type::u32, {a, imm(16ULL * i), imm(16)});
    const ir::Reg y = e.op(Op::bfe, Type::u32, {b, imm(16ULL * i), imm(16)});
    result[i] = combine(e, compare_values(e, kF16, x, y));
  }
  e.set(0, kPred, result[0]);
  e.set_pair(0, kPred, result[1]);
}

void set_value(Emit& e) {
  check_count(e);
  const PType d = e.type("dtype");
  const ir::Operand p = combine(e, compare(e, e.type()));
  const uint64_t yes = d.is_float() ? 0x3f800000 : 0xffffffff;
  e.set(0, d, e.op(Op::select, Type::u32, {p, imm(yes), imm(0)}));
}

/// The type with which bits are only moved.
PType untyped(PType t) {
  return t.is_float() ? t : PType{t.bits < 32 ? PType::Class::bits : t.cls, t.bits};
}

Type move_type(PType t) {
  return t.bits == 64 ? Type::u64 : Type::u32;
}

void selp(Emit& e) {
  const PType t = e.type();
  const ir::Operand a = e.raw(1, t), b = e.raw(2, t), p = e.pred(3);
  e.set(0, untyped(t), e.op(Op::select, move_type(t), {p, a, b}), Fit::exact, true);
}

void slct(Emit& e) {
  const PType t = e.type("dtype"), c = e.type();
  const ir::Operand a = e.raw(1, t), b = e.raw(2, t);
  const ir::Reg p = e.op(c.is_float() ? Op::fcmp : Op::icmp, c.ir(), {e.raw(3, c), imm(0)},
                         {.ftz = e.has("ftz"), .cond = Cond::ge});
  e.set(0, untyped(t), e.op(Op::select, move_type(t), {p, a, b}), Fit::exact, true);
}

constexpr Row kCompareRows[] = {
    {"setp", "cmp:eq|ne ?bool:$bool type:b16|b32|b64", setp, 3, 4},
    {"setp", "cmp:eq|ne|lt|le|gt|ge ?bool:$bool type:$int", setp, 3, 4},
    {"setp", "cmp:lo|ls|hi|hs ?bool:$bool type:u16|u32|u64", setp, 3, 4},
    {"setp", "cmp:$cmpf ?bool:$bool ?ftz type:f32", setp, 3, 4},
    {"setp", "cmp:$cmpf ?bool:$bool type:f64", setp, 3, 4},
    {"setp", "cmp:$cmpf ?bool:$bool ?ftz type:f16", setp, 3, 4},
    {"setp", "cmp:$cmpf ?bool:$bool ?ftz type:f16x2", setp_half2, 3, 4},
    {"set", "cmp:eq|ne ?bool:$bool dtype:u32|s32|f32 type:b16|b32|b64", set_value, 3, 4},
    {"set", "cmp:eq|ne|lt|le|gt|ge ?bool:$bool dtype:u32|s32|f32 type:$int", set_value, 3, 4},
    {"set", "cmp:lo|ls|hi|hs ?bool:$bool dtype:u32|s32|f32 type:u16|u32|u64", set_value, 3, 4},
    {"set", "cmp:$cmpf ?bool:$bool ?ftz dtype:u32|s32|f32 type:f32", set_value, 3, 4},
    {"set", "cmp:$cmpf ?bool:$bool dtype:u32|s32|f32 type:f64", set_value, 3, 4},
    {"selp", "type:b16|b32|b64|$int|f32|f64|f16", selp, 4, 4},
    {"slct", "dtype:b16|b32|b64|$int|f32|f64 type:s32", slct, 4, 4},
    {"slct", "?ftz dtype:b16|b32|b64|$int|f32|f64 type:f32", slct, 4, 4},
};

}  // namespace

std::span<const Row> compare_rows() {
  return kCompareRows;
}

}  // namespace lanewise::ptx
