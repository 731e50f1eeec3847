// Integer vector instructions beyond sums and shifts: bits, bytes, extremes.
#include "runtime/isa/gcn/lowering/values.hpp"

namespace lanewise::gcn {

namespace {

Type word_type(Type t) {
  return ir::is_signed(t) ? Type::s32 : Type::u32;
}

Reg byte_of(Values& v, ir::Operand word, unsigned n) {
  return v.make(Op::zext8, {v.make(Op::shr, {word, imm(8 * n)})});
}
Reg difference(Values& v, ir::Operand x, ir::Operand y) {
  const Reg high = v.make(Op::max, {x, y}), low = v.make(Op::min, {x, y});
  return v.make(Op::sub, {high, low});
}
/// The sum of four bytes' differences; with `masked` a byte of `y` that is 0 counts for nothing.
Reg byte_differences(Values& v, ir::Operand x, ir::Operand y, bool masked) {
  Reg sum;
  for (unsigned n = 0; n < 4; ++n) {
    const Reg b = byte_of(v, y, n);
    ir::Operand d = difference(v, byte_of(v, x, n), b);
    if (masked) d = v.select(v.c.compare(Cond::eq, Type::u32, b, imm(0)), imm(0), d);
    sum = n == 0 ? d.reg() : v.make(Op::add, {sum, d});
  }
  return sum;
}

}  // namespace

/// One operation on integers of the row's type; 16-bit results have an upper half of 0.
void lower_v_integer(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Meaning& m = i.row->meaning;
  const Reg r = c.make(m.op, word_type(m.type), {v.integer(0, m.type), v.integer(1, m.type)});
  v.put(ir::size_of(m.type) == 2 ? v.make(Op::zext16, {r}) : r);
}

void lower_v_extremes(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Meaning& m = i.row->meaning;
  const Reg first = c.make(m.op, m.type, {v.u32(0), v.u32(1)});
  v.put(c.make(m.op, m.type, {first, v.u32(2)}));
}

void lower_v_median(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = i.row->meaning.type;
  const ir::Operand x = v.u32(0), y = v.u32(1), z = v.u32(2);
  const Reg low = c.make(Op::min, t, {x, y}), high = c.make(Op::max, t, {x, y});
  v.put(c.make(Op::max, t, {low, c.make(Op::min, t, {high, z})}));
}

/// From the top (clz; of signed numbers the first bit unlike the sign) or from below (brev).
void lower_v_first_bit(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Meaning& m = i.row->meaning;
  ir::Operand x = v.u32(0);
  if (m.type == Type::s32) {
    const Reg sign = c.make(Op::shr, Type::s32, {x, imm(31)});
    x = v.make(Op::xor_, {x, sign});
  }
  const ir::Operand turned = m.op == Op::brev ? ir::Operand(v.make(Op::brev, {x})) : x;
  const Reg zeros = c.make(Op::clz, Type::u32, {turned});
  v.put(v.select(c.compare(Cond::eq, Type::u32, x, imm(0)), imm(0xffffffff), zeros));
}

void lower_v_count(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Reg n = c.reg(Width::b32);
  c.emit(Op::popc, Type::u32, {n}, {v.u32(0)});
  v.put(v.make(Op::add, {n, v.u32(1)}));
}

/// ((1 << S0[4:0]) - 1) << S1[4:0]
void lower_v_mask(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Reg size = v.make(Op::and_, {v.u32(0), imm(31)}),
            at = v.make(Op::and_, {v.u32(1), imm(31)});
  const Reg ones = v.make(Op::sub, {v.make(Op::shl, {imm(1), size}), imm(1)});
  v.put(v.make(Op::shl, {ones, at}));
}

/// Bits 47:32 of a product of 24 bits each, sign extended where it is signed.
void lower_mulhi24(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = i.row->meaning.type;
  const auto cut = [&](size_t n) {
    return c.make(Op::shr, t, {v.make(Op::shl, {v.u32(n), imm(8)}), imm(8)});
  };
  v.put(c.make(Op::mulhi, t, {cut(0), cut(1)}));
}

/// The low dword of S0:S1 shifted right by bytes.
void lower_alignbyte(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Reg bytes = v.make(Op::and_, {v.u32(2), imm(3)});
  const Reg r = c.reg(Width::b32);
  c.emit(Op::shf_r, Type::none, {r}, {v.u32(1), v.u32(0), v.make(Op::shl, {bytes, imm(3)})}).mode =
      1;
  v.put(r);
}

/// Each byte of S2 picks: 0 to 3 a byte of S1, 4 to 7 of S0, 8 to 11 the sign of one of their
/// halves, 12 zeros, more ones.
void lower_perm(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const ir::Operand high = v.u32(0), low = v.u32(1), selector = v.u32(2);
  ir::Operand result = imm(0);
  for (unsigned n = 0; n < 4; ++n) {
    const Reg which = byte_of(v, selector, n);
    const auto is_above = [&](uint32_t limit) {
      return c.compare(Cond::gt, Type::u32, which, imm(limit));
    };
    // Bytes 1, 3, 5 and 7 end in the signs.
    const Reg sign_byte = v.make(Op::add, {v.make(Op::shl, {which, imm(1)}), imm(1)});
    const Reg index = v.make(Op::and_, {v.select(is_above(7), sign_byte, which), imm(7)});
    const Reg word = v.select(c.compare(Cond::gt, Type::u32, index, imm(3)), high, low);
    const Reg position = v.make(Op::shl, {v.make(Op::and_, {index, imm(3)}), imm(3)});
    const Reg byte = v.make(Op::zext8, {v.make(Op::shr, {word, position})});
    const Reg sign = v.select(c.compare(Cond::gt, Type::u32, byte, imm(127)), imm(255), imm(0));
    Reg picked = v.select(is_above(7), sign, byte);
    picked = v.select(is_above(11), imm(0), picked);
    picked = v.select(is_above(12), imm(255), picked);
    result = v.make(Op::or_, {result, v.make(Op::shl, {picked, imm(8 * n)})});
  }
  v.put(result);
}

/// The parts' width is the row's count; `shl` puts the sum into the upper half first, `select`
/// leaves out bytes where S1 has 0.
void lower_sad(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Meaning& m = i.row->meaning;
  const ir::Operand x = v.u32(0), y = v.u32(1);
  Reg sum;
  if (m.count == 32) {
    sum = difference(v, x, y);
  } else if (m.count == 16) {
    const auto low = [&](ir::Operand o) { return v.make(Op::zext16, {o}); };
    const auto high = [&](ir::Operand o) { return v.make(Op::shr, {o, imm(16)}); };
    sum = v.make(Op::add, {difference(v, low(x), low(y)), difference(v, high(x), high(y))});
  } else {
    sum = byte_differences(v, x, y, m.op == Op::select);
  }
  if (m.op == Op::shl) sum = v.make(Op::shl, {sum, imm(16)});
  v.put(v.make(Op::add, {sum, v.u32(2)}));
}

/// Four windows of S0's eight bytes, each one byte further, against S1; S2 has the four sums so
/// far.
void lower_sad_wide(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  if (i.clamp) throw Unsupported("clamp on an integer result is not supported");
  const Meaning& m = i.row->meaning;
  const Operand &s0 = *i.operand(Slot::src0), &s2 = *i.operand(Slot::src2);
  const unsigned dst = i.operand(Slot::vdst)->code;
  const ir::Operand low = c.read32(s0, 0), high = c.read32(s0, 1), y = v.u32(1);
  std::vector<ir::Operand> words(m.count == 32 ? 4 : 2);
  for (unsigned n = 0; n < 4; ++n) {
    const Reg window = c.reg(Width::b32);
    c.emit(Op::shf_r, Type::none, {window}, {low, high, imm(8 * n)}).mode = 1;
    const Reg sum = byte_differences(v, window, y, m.op == Op::select);
    if (m.count == 32) {
      words[n] = v.make(Op::add, {sum, c.read32(s2, n)});
      continue;
    }
    const ir::Operand so_far = c.read32(s2, n / 2);
    const Reg part = n % 2 == 0 ? v.make(Op::zext16, {so_far}) : v.make(Op::shr, {so_far, imm(16)});
    const Reg total = v.make(Op::zext16, {v.make(Op::add, {sum, part})});
    words[n / 2] =
        n % 2 == 0 ? total : v.make(Op::or_, {words[n / 2], v.make(Op::shl, {total, imm(16)})});
  }
  for (unsigned n = 0; n < words.size(); ++n)
    c.emit_vector(Op::mov, Type::u32, {c.vgpr(dst + n)}, {words[n]});
}

/// The mean of each two bytes, rounded up where S2's byte is odd.
void lower_lerp(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const ir::Operand x = v.u32(0), y = v.u32(1), z = v.u32(2);
  ir::Operand result = imm(0);
  for (unsigned n = 0; n < 4; ++n) {
    const Reg odd = v.make(Op::and_, {v.make(Op::shr, {z, imm(8 * n)}), imm(1)});
    const Reg sum = v.make(Op::add, {v.make(Op::add, {byte_of(v, x, n), byte_of(v, y, n)}), odd});
    const Reg mean = v.make(Op::shr, {sum, imm(1)});
    result = v.make(Op::or_, {result, v.make(Op::shl, {mean, imm(8 * n)})});
  }
  v.put(result);
}

/// A product and a sum of 16 bits.
void lower_mad16(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type type = i.row->meaning.type;
  const bool is_signed = ir::is_signed(type);
  if (!i.clamp) {
    const Reg product = v.make(Op::mul, {v.u16(0), v.u16(1)});
    return v.put(v.make(Op::zext16, {v.make(Op::add, {product, v.u16(2)})}));
  }
  // Neither the largest nor the least sum leaves 32 bits.
  const Reg product = v.make(Op::mul, {v.integer(0, type), v.integer(1, type)});
  const Reg sum = v.make(Op::add, {product, v.integer(2, type)});
  const Type wide = is_signed ? Type::s32 : Type::u32;
  const Reg low = c.make(Op::max, wide, {sum, imm(is_signed ? 0xffff8000U : 0U)});
  const Reg inside = c.make(Op::min, wide, {low, imm(is_signed ? 0x7fffU : 0xffffU)});
  c.emit_vector(Op::zext16, Type::u32, {c.vgpr(i.operand(Slot::vdst)->code)}, {inside});
}

}  // namespace lanewise::gcn
