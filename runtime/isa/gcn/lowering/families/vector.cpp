// Vector ALU instructions: results go to the active lanes only.
#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

namespace {

/// Sources in text order, behind the destination(s).
std::vector<const Operand*> sources(const Instruction& i) {
  std::vector<const Operand*> out;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Slot s = i.row->operands[n].slot;
    if (s == Slot::src0 || s == Slot::src1 || s == Slot::src2 || s == Slot::vsrc1)
      out.push_back(&i.operands[n]);
  }
  if (i.row->meaning.reversed) std::swap(out[0], out[1]);
  return out;
}

ir::Operand read(LowerContext& c, const Instruction& i, const Operand& o) {
  if (ir::is_float(i.row->meaning.type)) return c.read_float(o);
  if (o.neg || o.abs) throw Unsupported("neg and abs on an integer operand are not supported");
  return c.read32(o);
}

bool flushes(const LowerContext& c) {
  const FloatMode mode = c.mode();
  if (mode.keeps_operands(Type::f32) != mode.keeps_results(Type::f32))
    throw Unsupported(
        "subnormals that are flushed on one side only (float_denorm_mode_32 1 and "
        "2) are not supported");
  return mode.flushes(Type::f32);
}

void check_clamp(const LowerContext& c, const Instruction& i) {
  if (i.clamp && !c.mode().dx10_clamp)
    throw Unsupported("a clamp that keeps NaN (dx10_clamp 0) is not supported");
}

void set_float_mode(LowerContext& c, const Instruction& i, ir::Inst& inst) {
  check_clamp(c, i);
  inst.ftz = flushes(c);
  inst.round = c.mode().round(Type::f32);
  inst.sat = i.clamp;
}

void check_output(const Instruction& i, bool is_float) {
  if (i.clamp && !is_float) throw Unsupported("clamp on an integer result is not supported");
}

Reg destination(LowerContext& c, const Instruction& i) {
  return c.vgpr(i.operand(Slot::vdst)->code);
}

}  // namespace

void lower_vop(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const FloatMode mode = c.mode();
  if (ir::is_float(m.type) && mode.keeps_operands(Type::f32) != mode.keeps_results(Type::f32))
    return lower_real(c, i);
  check_output(i, ir::is_float(m.type));
  std::vector<ir::Operand> src;
  for (const Operand* o : sources(i)) src.push_back(read(c, i, *o));
  ir::Inst& inst = c.emit_vector(m.op, m.type, {destination(c, i)}, std::move(src));
  if (ir::is_float(m.type)) set_float_mode(c, i, inst);
}

namespace {

/// A constant that is no signalling NaN needs no test.
bool may_signal(const ir::Operand& x) {
  return !x.is_imm() || (x.imm & 0x7fffffff) - 0x7f800001 < 0x3fffff;
}
/// A NaN whose quiet bit is off.
ir::Operand signalling(LowerContext& c, const ir::Operand& x) {
  const Reg magnitude = c.make(Op::and_, Type::u32, {x, imm(0x7fffffff)});
  const Reg above = c.make(Op::sub, Type::u32, {magnitude, imm(0x7f800001)});
  return c.compare(Cond::lt, Type::u32, above, imm(0x3fffff));
}

}  // namespace

/// min and max leave subnormals as they are in every mode. In IEEE mode a signalling NaN wins over
/// numbers; a quiet one never does.
void lower_vextreme(LowerContext& c, const Instruction& i) {
  check_output(i, true);
  check_clamp(c, i);
  std::vector<ir::Operand> src;
  for (const Operand* o : sources(i)) src.push_back(c.read_float(*o));
  const Reg result = c.reg(Width::b32);
  c.emit(i.row->meaning.op, Type::f32, {result}, src).sat = i.clamp;
  ir::Operand value = result;
  for (const ir::Operand& s : src)
    if (c.mode().ieee && may_signal(s)) {
      const ir::Operand quieted = imm(i.clamp ? 0 : 0x7fffffff);
      value = c.make(Op::select, Type::u32, {signalling(c, s), quieted, value});
    }
  c.emit_vector(Op::mov, Type::u32, {destination(c, i)}, {value});
}

void lower_vshift(LowerContext& c, const Instruction& i) {
  check_output(i, false);
  const auto s = sources(i);
  const Reg amount = c.make(Op::and_, Type::u32, {read(c, i, *s[1]), imm(31)});
  c.emit_vector(i.row->meaning.op, i.row->meaning.type, {destination(c, i)},
                {read(c, i, *s[0]), amount});
}

void lower_vshift64(LowerContext& c, const Instruction& i) {
  check_output(i, false);
  const auto s = sources(i);
  const Reg amount = c.make(Op::and_, Type::u32, {read(c, i, *s[1]), imm(63)});
  const Reg r = c.make(i.row->meaning.op, i.row->meaning.type, {c.read64(*s[0]), amount});
  const unsigned dst = i.operand(Slot::vdst)->code;
  c.emit_vector(Op::unpack64, Type::u64, {c.vgpr(dst), c.vgpr(dst + 1)}, {r});
}

/// The carry is a mask: 0 in inactive lanes. It is not computed when nobody reads it.
void lower_vadd(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  if (c.gen() != Gen::gfx8) check_output(i, false);
  const auto s = sources(i);
  const ir::Operand a = read(c, i, *s[0]), b = read(c, i, *s[1]);
  const Operand* pair = i.operand(Slot::mask_dst);
  const unsigned carry_pair = pair != nullptr ? pair->code : kVccLo;
  ir::Operand carry_in = imm(0);
  if (i.row->does(kReadsVcc)) carry_in = c.mask(kVccLo);
  if (const Operand* in = i.operand(Slot::mask_src)) carry_in = c.read_mask(*in);
  const bool plain =
      !i.clamp && !c.mask_wanted(carry_pair) && carry_in.is_imm() && carry_in.imm == 0;
  if (plain) {
    c.emit_vector(m.op == Op::addc ? Op::add : Op::sub, Type::u32, {destination(c, i)}, {a, b});
    return;
  }
  const Reg sum = c.reg(Width::b32), carry = c.reg(Width::pred);
  c.emit(m.op, Type::u32, {sum, carry}, {a, b, carry_in});
  const ir::Operand out = c.active(carry);
  ir::Operand result = sum;
  if (i.clamp) {
    const uint32_t limit = m.op == Op::addc ? 0xffffffff : 0;
    result = c.make(Op::select, Type::u32, {carry, imm(limit), sum});
  }
  c.emit_vector(Op::mov, Type::u32, {destination(c, i)}, {result});
  c.write_mask(carry_pair, out);
}

/// Two roundings, subnormals always flushed. v_mac adds to its destination.
void lower_vmad(LowerContext& c, const Instruction& i) {
  check_output(i, true);
  const auto s = sources(i);
  const Reg product = c.reg(Width::b32);
  ir::Inst& mul =
      c.emit(Op::fmul, Type::f32, {product}, {c.read_float(*s[0]), c.read_float(*s[1])});
  set_float_mode(c, i, mul);
  mul.ftz = true;
  mul.sat = false;
  const ir::Operand addend = s.size() > 2 ? c.read_float(*s[2]) : ir::Operand(destination(c, i));
  ir::Inst& add = c.emit_vector(Op::fadd, Type::f32, {destination(c, i)}, {product, addend});
  set_float_mode(c, i, add);
  add.ftz = true;
}

void lower_mul24(LowerContext& c, const Instruction& i) {
  check_output(i, false);
  const Type type = i.row->meaning.type;
  std::vector<ir::Operand> src;
  for (const Operand* o : sources(i)) {
    if (src.size() == 2) {
      src.push_back(imm(0));
      break;
    }
    const Reg up = c.make(Op::shl, Type::u32, {read(c, i, *o), imm(8)});
    src.push_back(c.make(Op::shr, type, {up, imm(8)}));
  }
  if (src.size() == 3) {  // v_mad: the addend has all its bits
    const Reg product = c.make(Op::mul, Type::u32, {src[0], src[1]});
    const ir::Operand addend = read(c, i, *sources(i)[2]);
    c.emit_vector(Op::add, Type::u32, {destination(c, i)}, {product, addend});
    return;
  }
  c.emit_vector(Op::mul, Type::u32, {destination(c, i)}, std::move(src));
}

void lower_vcvt(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  check_output(i, ir::is_float(m.type));
  const Operand& s = *sources(i)[0];
  if (!ir::is_float(m.from) && (s.neg || s.abs))
    throw Unsupported("neg and abs on an integer operand are not supported");
  ir::Inst& inst = c.emit_vector(m.op, m.type, {destination(c, i)}, {c.read_float(s)});
  inst.from = m.from;
  if (ir::is_float(m.type))
    set_float_mode(c, i, inst);
  else
    inst.round = Round::rz;
}

void lower_vround(LowerContext& c, const Instruction& i) {
  check_output(i, true);
  ir::Inst& inst =
      c.emit_vector(Op::fround, Type::f32, {destination(c, i)}, {c.read_float(*sources(i)[0])});
  set_float_mode(c, i, inst);
  inst.round = i.row->meaning.round;
}

namespace {

Reg low5(LowerContext& c, const Instruction& i, const Operand& o) {
  return c.make(Op::and_, Type::u32, {read(c, i, o), imm(31)});
}

}  // namespace

void lower_vbfe(LowerContext& c, const Instruction& i) {
  check_output(i, false);
  const auto s = sources(i);
  c.emit_vector(Op::bfe, i.row->meaning.type, {destination(c, i)},
                {read(c, i, *s[0]), low5(c, i, *s[1]), low5(c, i, *s[2])});
}

/// (S0 & S1) | (~S0 & S2)
void lower_vbfi(LowerContext& c, const Instruction& i) {
  check_output(i, false);
  const auto s = sources(i);
  const ir::Operand mask = read(c, i, *s[0]);
  const Reg chosen = c.make(Op::and_, Type::u32, {mask, read(c, i, *s[1])});
  const Reg rest = c.make(Op::not_, Type::u32, {mask});
  const Reg others = c.make(Op::and_, Type::u32, {rest, read(c, i, *s[2])});
  c.emit_vector(Op::or_, Type::u32, {destination(c, i)}, {chosen, others});
}

/// The low dword of S0:S1 shifted right.
void lower_valign(LowerContext& c, const Instruction& i) {
  check_output(i, false);
  const auto s = sources(i);
  c.emit_vector(Op::shf_r, Type::none, {destination(c, i)},
                {read(c, i, *s[1]), read(c, i, *s[0]), low5(c, i, *s[2])})
      .mode = 1;
}

/// Of the lowest active lane, or of lane 0 when none is.
void lower_readfirstlane(LowerContext& c, const Instruction& i) {
  const Reg active = c.make(Op::ballot, Type::u64, {c.exec()});
  const Reg some = c.make(Op::or_, Type::u64, {active, imm(uint64_t{1} << 63)});
  const Reg turned = c.make(Op::brev, Type::u64, {some});
  const Reg lane = c.reg(Width::b32), value = c.reg(Width::b32);
  c.emit(Op::clz, Type::u64, {lane}, {turned});
  const Reg none = c.compare(Cond::eq, Type::u64, active, imm(0));
  const Reg from = c.make(Op::select, Type::u32, {none, imm(0), lane});
  c.emit(Op::readlane, Type::none, {value}, {c.read32(*sources(i)[0]), from});
  c.write32(i.operand(Slot::sdst)->code, value);
}

void lower_cndmask(LowerContext& c, const Instruction& i) {
  check_output(i, false);
  const auto s = sources(i);
  const Operand* pair = i.operand(Slot::mask_src);
  const ir::Operand which = pair != nullptr ? c.read_mask(*pair) : ir::Operand(c.mask(kVccLo));
  // abs and neg work on the sign bit here too.
  c.emit_vector(Op::select, Type::u32, {destination(c, i)},
                {which, c.read_float(*s[1]), c.read_float(*s[0])});
}

}  // namespace lanewise::gcn
