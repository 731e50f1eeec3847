// setp, set, selp, slct.
#include "runtime/isa/ptx/semantics/packed.hpp"

namespace lanewise::ptx {
namespace {

using ir::Cond;
using ir::Op;
using ir::Type;

ir::Operand compare_values(Emit& e, PType t, ir::Operand a, ir::Operand b) {
  return e.op(t.is_float() ? Op::fcmp : Op::icmp, t.ir(), {a, b},
              {.ftz = e.has("ftz"), .cond = e.condition()});
}

ir::Operand compare(Emit& e, PType t) {
  if (e.get("type") == "bf16") {
    const ir::Operand x = widened_bf16(e, e.raw(1, kB16));
    return compare_values(e, kF32, x, widened_bf16(e, e.raw(2, kB16)));
  }
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

void setp(Emit& e) {
  const ir::Operand result = compare(e, e.type());
  ir::Operand second;
  if (!e.operand(0).pair.empty()) second = combine(e, e.op(Op::not_, Type::pred, {result}));
  const ir::Operand first = combine(e, result);
  e.set(0, kPred, first);
  if (!e.operand(0).pair.empty()) e.set_pair(0, kPred, second);
}

/// Both halves of .f16x2 or .bf16x2.
void compare_halves(Emit& e, ir::Operand (&result)[2]) {
  const bool bf16 = e.get("type") == "bf16x2";
  const PType t = bf16 ? kB32 : PType{PType::Class::flt, 32, true};
  const ir::Operand a = e.raw(1, t), b = e.raw(2, t);
  for (unsigned i = 0; i < 2; ++i) {
    ir::Operand x = e.op(Op::bfe, Type::u32, {a, imm(16ULL * i), imm(16)});
    ir::Operand y = e.op(Op::bfe, Type::u32, {b, imm(16ULL * i), imm(16)});
    if (bf16) x = widened_bf16(e, x), y = widened_bf16(e, y);
    result[i] = combine(e, compare_values(e, bf16 ? kF32 : kF16, x, y));
  }
}

/// The manual asks for two destinations; with one the assembler compares the lower halves.
void setp_half2(Emit& e) {
  ir::Operand result[2];
  compare_halves(e, result);
  e.set(0, kPred, result[0]);
  if (!e.operand(0).pair.empty()) e.set_pair(0, kPred, result[1]);
}

/// Of pairs: all bits of each half, or 1.0 in it.
void set_half2(Emit& e) {
  ir::Operand result[2];
  compare_halves(e, result);
  const std::string_view d = e.get("dtype");
  const uint64_t yes = d == "f16x2" ? 0x3c00 : d == "bf16x2" ? 0x3f80 : 0xffff;
  for (ir::Operand& r : result) r = e.op(Op::select, Type::u32, {r, imm(yes), imm(0)});
  e.set(0, kB32, joined_halves(e, result[0], result[1]));
}

void set_value(Emit& e) {
  const bool bf16 = e.get("dtype") == "bf16";
  const PType d = bf16 ? kB16 : e.type("dtype");
  const ir::Operand p = combine(e, compare(e, e.type()));
  const uint64_t yes = bf16                           ? 0x3f80
                       : d.is_float() && d.bits == 16 ? 0x3c00
                       : d.is_float()                 ? 0x3f800000
                       : d.bits == 16                 ? 0xffff
                                                      : 0xffffffff;
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
    {"setp", "cmp:eq|ne ?bool:$bool type:b16|b32|b64", "d_|:pred s s p&bool", setp},
    {"setp", "cmp:eq|ne|lt|le|gt|ge ?bool:$bool type:$int", "d_|:pred s s p&bool", setp},
    {"setp", "cmp:lo|ls|hi|hs ?bool:$bool type:u16|u32|u64", "d_|:pred s s p&bool", setp},
    {"setp", "cmp:$cmpf ?bool:$bool ?ftz type:f32", "d_|:pred s s p&bool", setp},
    {"setp", "cmp:$cmpf ?bool:$bool type:f64", "d_|:pred s s p&bool", setp},
    {"setp@53.42", "cmp:$cmpf ?bool:$bool ?ftz type:f16", "d_:pred s s p&bool", setp},
    {"setp@53.42", "cmp:$cmpf ?bool:$bool ?ftz type:f16x2", "d_|:pred s s p&bool", setp_half2},
    {"set", "cmp:eq|ne ?bool:$bool dtype:u32|s32|f32 type:b16|b32|b64", "d:$dtype s s p&bool",
     set_value},
    {"set", "cmp:eq|ne|lt|le|gt|ge ?bool:$bool dtype:u32|s32|f32 type:$int", "d:$dtype s s p&bool",
     set_value},
    {"set", "cmp:lo|ls|hi|hs ?bool:$bool dtype:u32|s32|f32 type:u16|u32|u64", "d:$dtype s s p&bool",
     set_value},
    {"set", "cmp:$cmpf ?bool:$bool ?ftz dtype:u32|s32|f32 type:f32", "d:$dtype s s p&bool",
     set_value},
    {"set", "cmp:$cmpf ?bool:$bool dtype:u32|s32|f32 type:f64", "d:$dtype s s p&bool", set_value},
    {"setp@90.78", "cmp:$cmpf ?bool:$bool type:bf16", "d_:pred s s p&bool", setp},
    {"setp@90.78", "cmp:$cmpf ?bool:$bool type:bf16x2", "d_|:pred s s p&bool", setp_half2},
    {"set@53.42", "cmp:eq|ne ~bool:$bool dtype:f16|bf16@90.78 type:b16|b32|b64",
     "d:$dtype s s p&bool", set_value},
    {"set@53.42", "cmp:eq|ne|lt|le|gt|ge ~bool:$bool dtype:f16|bf16@90.78 type:$int",
     "d:$dtype s s p&bool", set_value},
    {"set@53.42", "cmp:lo|ls|hi|hs ~bool:$bool dtype:f16|bf16@90.78 type:u16|u32|u64",
     "d:$dtype s s p&bool", set_value},
    {"set@53.42", "cmp:$cmpf ~bool:$bool ?ftz dtype:f16 type:f16|f32", "d:$dtype s s p&bool",
     set_value},
    {"set@53.42", "cmp:$cmpf ~bool:$bool dtype:f16|bf16@90.78 type:f64", "d:$dtype s s p&bool",
     set_value},
    {"set@90.78", "cmp:$cmpf ~bool:$bool dtype:bf16 type:bf16|f16|f32", "d:$dtype s s p&bool",
     set_value},
    {"set@53.42", "cmp:$cmpf ~bool:$bool ?ftz dtype:u16|s16|u32|s32 type:f16",
     "d:$dtype s s p&bool", set_value},
    {"set@90.78", "cmp:$cmpf ~bool:$bool dtype:u16|s16|u32|s32 type:bf16", "d:$dtype s s p&bool",
     set_value},
    {"set@53.42", "cmp:$cmpf ~bool:$bool ?ftz dtype:f16x2|u32|s32 type:f16x2",
     "d:$dtype s s p&bool", set_half2},
    {"set@90.78", "cmp:$cmpf ~bool:$bool dtype:bf16x2|u32|s32 type:bf16x2", "d:$dtype s s p&bool",
     set_half2},
    {"selp", "type:b16|b32|b64|$int|f32|f64", "d s s p", selp},
    {"slct", "dtype:b16|b32|b64|$int|f32|f64 type:s32", "d:$dtype s:$dtype s:$dtype s", slct},
    {"slct", "?ftz dtype:b16|b32|b64|$int|f32|f64 type:f32", "d:$dtype s:$dtype s:$dtype s", slct},
};

}  // namespace

constinit Rows compare_rows = kCompareRows;

}  // namespace lanewise::ptx
