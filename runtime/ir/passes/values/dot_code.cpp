#include "runtime/ir/passes/values/dot_code.hpp"

#include <algorithm>

#include "runtime/ir/make.hpp"
#include "runtime/ir/texture.hpp"

namespace lanewise::ir {

Inst DotCode::inst(Op op, Type type, std::vector<Operand> src) const {
  return instruction(op, type, {}, std::move(src), site_);
}
Operand DotCode::emit(Inst i, Width width) {
  i.dst = {program_.add_reg(width)};
  out_.push_back(std::move(i));
  return out_.back().dst[0];
}
Operand DotCode::number(Op op, std::vector<Operand> src) {
  Inst i = inst(op, Type::f32, std::move(src));
  i.any_nan = true;
  return emit(std::move(i));
}
Operand DotCode::is(Cond cond, Operand a, Operand b) {
  Inst i = inst(Op::icmp, Type::u32, {a, b});
  i.cond = cond;
  return emit(std::move(i), Width::pred);
}
Operand DotCode::convert(Op op, Type type, Type from, Operand x) {
  Inst i = inst(op, type, {x});
  i.from = from;
  if (op == Op::f2i) {
    i.round = Round::rz;
    i.mode = static_cast<uint8_t>(ToIntMode::fits);
  }
  return emit(std::move(i));
}
Operand DotCode::widened(Operand half) {
  Inst i = inst(Op::f2f, Type::f32, {half});
  i.from = Type::f16;
  i.any_nan = true;
  return emit(std::move(i));
}

Operand DotCode::element(Operand w, Element e, unsigned i) {
  const unsigned bits = bits_of(e);
  if (e == Element::tf32) return word(Op::and_, w, 0xffffe000);
  if (e == Element::bf16) return i == 0 ? word(Op::shl, w, 16) : word(Op::and_, w, 0xffff0000);
  Operand part = i == 0 ? w : word(Op::shr, w, uint64_t{i} * bits);
  part = word(Op::and_, part, (1U << bits) - 1);
  if (e == Element::f16) return widened(part);
  if (e == Element::e5m2) return widened(word(Op::shl, part, 8));
  // e4m3: an f16 with this fraction, whose exponent 2^8 makes up for.
  const Operand magnitude = word(Op::and_, part, 0x7f);
  const Operand small = widened(word(Op::shl, magnitude, 7));
  const Operand value = emit(Op::fmul, Type::f32, {small, Operand::immediate(0x43800000)});
  const Operand sign = word(Op::shl, word(Op::and_, part, 0x80), 24);
  const Operand nan = is(Cond::eq, magnitude, Operand::immediate(0x7f));
  return select(nan, Operand::immediate(0x7fffffff), word(Op::or_, value, sign));
}

Operand DotCode::integer(Operand w, Element e, unsigned i) {
  const unsigned bits = bits_of(e), above = 32 - bits * (i + 1);
  const bool has_sign = e == Element::s8 || e == Element::s4;
  const Operand top = above == 0 ? w : word(Op::shl, w, above);
  return emit(Op::shr, has_sign ? Type::s32 : Type::u32, {top, Operand::immediate(32 - bits)});
}

Operand DotCode::shuffled(const Inst& shuffle, Operand value) {
  Inst i = shuffle;
  i.src[0] = value;
  i.dst = {program_.add_reg(Width::b32), program_.add_reg(Width::pred)};
  out_.push_back(std::move(i));
  return out_.back().dst[0];
}

unsigned Factors::version(const Operand& o) const {
  const auto found = o.is_reg() ? versions_.find(o.index) : versions_.end();
  return found == versions_.end() ? 0 : found->second;
}
Factors::Word Factors::word_of(const Operand& o) const {
  return {o.is_reg() ? o.index : o.imm | uint64_t{1} << 63, version(o)};
}

void Factors::note(const Inst& inst) {
  const bool moves = inst.op == Op::shfl && inst.guard.always();
  std::vector<unsigned> versions;
  for (const Operand& o : inst.src)
    if (moves) versions.push_back(version(o));
  for (const Reg r : inst.dst) {
    ++versions_[r.id];
    shuffles_.erase(r.id);
  }
  if (moves) shuffles_[inst.dst[0].id] = {inst, std::move(versions), versions_[inst.dst[0].id]};
}

/// The shuffle that made it, if its sources are still what they were.
const Factors::Shuffle* Factors::shuffle_of(const Operand& o) const {
  const auto found = o.is_reg() ? shuffles_.find(o.index) : shuffles_.end();
  if (found == shuffles_.end()) return nullptr;
  const Shuffle& s = found->second;
  for (size_t i = 0; i < s.inst.src.size(); ++i)
    if (version(s.inst.src[i]) != s.versions[i]) return nullptr;
  return &s;
}

Operand Factors::element(Operand w, Element e, unsigned i) {
  const Key key{word_of(w), {}, 2 + i};
  if (const auto made = made_.find(key); made != made_.end()) return made->second;
  // Devices bring a value from a lane of the same four while they compute with it.
  constexpr uint64_t kSegmentsOfFour = 28;
  const Shuffle* s = shuffle_of(w);
  const bool near = s != nullptr && s->inst.src[1].is_imm() && s->inst.src[2].is_imm() &&
                    s->inst.mode == static_cast<uint8_t>(ShflMode::idx) &&
                    (s->inst.src[2].imm >> 8 & 31) == kSegmentsOfFour;
  const Operand made =
      near ? code_.shuffled(s->inst, element(s->inst.src[0], e, i)) : code_.element(w, e, i);
  return made_.emplace(key, made).first->second;
}

Operand Factors::exponents(Operand first, Operand second, Element e) {
  const Key key{word_of(first), word_of(second), 0};
  if (const auto made = made_.find(key); made != made_.end()) return made->second;
  const Shuffle *s = shuffle_of(first), *other = second.is_imm() ? s : shuffle_of(second);
  const auto from = [](const Shuffle* shuffle) {
    return std::vector<Operand>(shuffle->inst.src.begin() + 1, shuffle->inst.src.end());
  };
  Operand made;
  if (s != nullptr && other != nullptr && s->inst.mode == other->inst.mode &&
      from(s) == from(other))
    made = code_.shuffled(
        s->inst, exponents(s->inst.src[0], second.is_imm() ? second : other->inst.src[0], e));
  else
    made = exponents_here(first, second, e);
  return made_.emplace(key, made).first->second;
}

Operand Factors::exponents_here(Operand first, Operand second, Element e) {
  const unsigned width = bits_of(e), top = width - 1;
  const bool wide = e == Element::bf16 || e == Element::tf32;
  const unsigned field_bits = wide ? 8 : e == Element::e4m3 ? 4 : 5, fraction = top - field_bits;
  const unsigned base_bit = wide ? 9 : 6, normal_bit = wide ? 8 : 7;
  // The same bits in each element.
  const auto each = [&](uint64_t bits) {
    return width == 32 ? bits : bits * (width == 16 ? 0x00010001U : 0x01010101U);
  };
  // Bits of both words, as bytes.
  const auto both = [&](Operand a, unsigned down, Operand b, unsigned bits) {
    const Operand low = code_.word(Op::and_, code_.word(Op::shr, a, down), each(bits));
    if (second.is_imm()) return low;
    const Operand shifted =
        down < 8 ? code_.word(Op::shl, b, 8 - down) : code_.word(Op::shr, b, down - 8);
    return code_.word(Op::or_, low, code_.word(Op::and_, shifted, each(bits) << 8));
  };
  // A sum that reaches the place of the sign where the number is not zero. Of tf32 13 bits do not
  // count.
  const auto not_zero = [&](Operand w) {
    const uint64_t size = each((uint64_t{1} << top) - 1);
    if (w.is_imm()) return w;
    const uint64_t counts = e == Element::tf32 ? 0x7fffe000 : size;
    return code_.word(Op::add, code_.word(Op::and_, w, counts), size);
  };
  const Operand field = both(first, fraction, second, (1U << field_bits) - 1);
  const Operand base = both(not_zero(first), top - base_bit, not_zero(second), 1U << base_bit);
  // Likewise where the field is not.
  const uint64_t ones = wide ? each(0xff) : 0x7f7f7f7f;
  const Operand normal = code_.word(Op::shr, code_.word(Op::add, field, ones), normal_bit);
  const Operand one = code_.word(Op::and_, normal, wide ? each(1) : 0x01010101);
  return code_.word(Op::sub, code_.word(Op::add, field, base), one);
}

}  // namespace lanewise::ir
