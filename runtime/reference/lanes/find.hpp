// Part of each_host.hpp: which handlers an instruction has.
#pragma once

#include "runtime/reference/lanes/exchange_memory.hpp"

namespace lanewise::reference::LANEWISE_LANES {
namespace {

template <Op op, bool vector = true>
Handlers integers(Type type) {
  if (type == Type::u32) return kInteger<op, Type::u32, vector>;
  if (type == Type::s32) return kInteger<op, Type::s32, vector>;
  if (type == Type::u64) return kInteger<op, Type::u64, vector>;
  return type == Type::s64 ? kInteger<op, Type::s64, vector> : Handlers{};
}
/// Where signedness makes no difference.
template <Op op, bool vector = true>
Handlers bits(Type type) {
  if (type == Type::u32 || type == Type::s32) return kInteger<op, Type::u32, vector>;
  return type == Type::u64 || type == Type::s64 ? kInteger<op, Type::u64, vector> : Handlers{};
}
template <Op op>
Handlers logic(Type type) {
  return type == Type::pred ? kHandlers<PredLogic<op>> : bits<op>(type);
}
template <Op op, bool vector = true>
Handlers words(Type type) {
  return ir::is_signed(type) ? kInteger<op, Type::s32, vector> : kInteger<op, Type::u32, vector>;
}

Handlers find_integer(const Code& c) {
  switch (c.op) {
    case Op::add:
      return bits<Op::add>(c.type);
    case Op::sub:
      return bits<Op::sub>(c.type);
    case Op::mul:
      return bits<Op::mul>(c.type);
    case Op::mulhi:
      return integers<Op::mulhi>(c.type);
    case Op::mulwide:
      return words<Op::mulwide>(c.type);
    case Op::div:
      return integers<Op::div, false>(c.type);
    case Op::rem:
      return integers<Op::rem, false>(c.type);
    case Op::min:
      return integers<Op::min>(c.type);
    case Op::max:
      return integers<Op::max>(c.type);
    case Op::neg:
      return bits<Op::neg>(c.type);
    case Op::abs:
      return bits<Op::abs>(c.type);
    case Op::and_:
      return logic<Op::and_>(c.type);
    case Op::or_:
      return logic<Op::or_>(c.type);
    case Op::xor_:
      return logic<Op::xor_>(c.type);
    case Op::not_:
      return logic<Op::not_>(c.type);
    case Op::shl:
      return bits<Op::shl>(c.type);
    case Op::shr:
      return integers<Op::shr>(c.type);
    case Op::shf_l:
      return kInteger<Op::shf_l, Type::u32>;
    case Op::shf_r:
      return kInteger<Op::shf_r, Type::u32>;
    case Op::popc:
      return bits<Op::popc, false>(c.type);
    case Op::clz:
      return bits<Op::clz, false>(c.type);
    case Op::bfind:
      return integers<Op::bfind, false>(c.type);
    case Op::bfe:
      return integers<Op::bfe, false>(c.type);
    case Op::bfi:
      return bits<Op::bfi>(c.type);
    case Op::prmt:
      return c.mode == 0 ? kInteger<Op::prmt, Type::u32, false> : Handlers{};
    case Op::lop3:
      return kInteger<Op::lop3, Type::u32>;
    default:
      return {};
  }
}

Handlers find_move(const Code& c) {
  const bool wide = ir::width_of(c.type) == Width::b64, pred = c.type == Type::pred;
  switch (c.op) {
    case Op::mov:
      if (pred) return kHandlers<PredLogic<Op::mov>>;
      return wide ? kChange<Op::mov, Type::u64, Change::copy>
                  : kChange<Op::mov, Type::u32, Change::copy>;
    case Op::select:
      if (pred) return kHandlers<PredLogic<Op::select>>;
      return wide ? kHandlers<Select<uint64_t>> : kHandlers<Select<uint32_t>>;
    case Op::pack64:
      return kChange<Op::pack64, Type::none, Change::pack>;
    case Op::unpack64:
      return kHandlers<Unpack>;
    case Op::zext64:
      return kChange<Op::zext64, Type::none, Change::low_word>;
    case Op::sext64:
      return kChange<Op::sext64, Type::none, Change::sign_word>;
    case Op::trunc32:
      return kChange<Op::trunc32, Type::none, Change::low_word>;
    case Op::zext8:
      return kChange<Op::zext8, Type::none, Change::zero8>;
    case Op::sext8:
      return kChange<Op::sext8, Type::none, Change::sign8>;
    case Op::zext16:
      return kChange<Op::zext16, Type::none, Change::zero16>;
    case Op::sext16:
      return kChange<Op::sext16, Type::none, Change::sign16>;
    default:
      return {};
  }
}

Handlers find_compare(const Code& c) {
  const bool is_signed = ir::is_signed(c.type), wide = ir::width_of(c.type) == Width::b64;
  if (c.op == Op::icmp) {
    if (wide)
      return is_signed ? kHandlers<CompareIntegers<int64_t>> : kHandlers<CompareIntegers<uint64_t>>;
    return is_signed ? kHandlers<CompareIntegers<int32_t>> : kHandlers<CompareIntegers<uint32_t>>;
  }
  if (c.type == Type::f64) return kHandlers<CompareFloats<uint64_t>>;
  return c.type == Type::f32 ? kHandlers<CompareFloats<uint32_t>> : Handlers{};
}

template <Op op>
Handlers floats(const Code& c) {
  if (c.type == Type::f64) return kFloat<op, Type::f64, false>;
  return c.flags.ftz ? kFloat<op, Type::f32, true> : kFloat<op, Type::f32, false>;
}

Handlers find_float(const Code& c) {
  if (c.flags.sat || (c.type != Type::f32 && c.type != Type::f64)) return {};
  switch (c.op) {
    case Op::fmin:
      return floats<Op::fmin>(c);
    case Op::fmax:
      return floats<Op::fmax>(c);
    case Op::fneg:
      return floats<Op::fneg>(c);
    case Op::fabs:
      return floats<Op::fabs>(c);
    case Op::fdiv_approx:
      return floats<Op::fdiv_approx>(c);
    case Op::frcp_approx:
      return floats<Op::frcp>(c);
    case Op::fsqrt_approx:
      return floats<Op::fsqrt>(c);
    case Op::fround:
      return c.flags.round == ir::Round::rna ? Handlers{} : floats<Op::fround>(c);
    default:
      break;
  }
  if (c.flags.round != ir::Round::rn) return {};
  switch (c.op) {
    case Op::fadd:
      return floats<Op::fadd>(c);
    case Op::fsub:
      return floats<Op::fsub>(c);
    case Op::fmul:
      return floats<Op::fmul>(c);
    case Op::ffma:
      return floats<Op::ffma>(c);
    case Op::fdiv:
      return floats<Op::fdiv>(c);
    case Op::frcp:
      return floats<Op::frcp>(c);
    case Op::fsqrt:
      return floats<Op::fsqrt>(c);
    default:
      return {};
  }
}

template <Type to>
Handlers to_word(const Code& c) {
  if (c.from == Type::f64) return kConvert<Op::f2i, to, Type::f64>;
  return c.from == Type::f32 ? kConvert<Op::f2i, to, Type::f32> : Handlers{};
}
template <Type to>
Handlers from_integer(const Code& c) {
  if (c.from == Type::u32) return kConvert<Op::i2f, to, Type::u32>;
  if (c.from == Type::s32) return kConvert<Op::i2f, to, Type::s32>;
  if (c.from == Type::u64) return kConvert<Op::i2f, to, Type::u64>;
  return c.from == Type::s64 ? kConvert<Op::i2f, to, Type::s64> : Handlers{};
}
template <Type to>
Handlers resized(const Code& c) {
  if (c.from == Type::f64) return kConvert<Op::f2f, to, Type::f64>;
  return c.from == Type::f32 ? kConvert<Op::f2f, to, Type::f32> : Handlers{};
}

Handlers find_conversion(const Code& c) {
  const ir::Round round = c.flags.round;
  if (c.op == Op::f2i) {
    // A subnormal that is flushed first would be rounded up or down.
    const bool flushed = c.flags.ftz && round != ir::Round::rz && round != ir::Round::rn;
    if (flushed || round == ir::Round::rna) return {};
    if (c.type == Type::u32) return to_word<Type::u32>(c);
    return c.type == Type::s32 ? to_word<Type::s32>(c) : Handlers{};
  }
  if (c.flags.sat || round != ir::Round::rn) return {};
  if (c.op == Op::i2f) {
    if (c.type == Type::f64) return from_integer<Type::f64>(c);
    return c.type == Type::f32 ? from_integer<Type::f32>(c) : Handlers{};
  }
  if (c.type == Type::f64) return resized<Type::f64>(c);
  return c.type == Type::f32 ? resized<Type::f32>(c) : Handlers{};
}

template <typename E, typename A>
Handlers access(const Code& c) {
  if (c.op == Op::store) return {Store<E, A>::wide, Store<E, A>::one};
  if (c.same_address) return {Load<E, A>::shared, Load<E, A>::one};
  return {Load<E, A>::wide, Load<E, A>::one};
}
template <typename E>
Handlers access(const Code& c) {
  if (width_of(c.src[0]) == Width::b64) return access<E, uint64_t>(c);
  return c.address_bits == 0xffffffff ? access<E, uint32_t>(c) : Handlers{};
}
Handlers find_access(const Code& c) {
  switch (c.mem->elem) {
    case Type::u8:
      return access<uint8_t>(c);
    case Type::s8:
      return access<int8_t>(c);
    case Type::u16:
      return access<uint16_t>(c);
    case Type::s16:
      return access<int16_t>(c);
    case Type::u32:
      return access<uint32_t>(c);
    case Type::u64:
      return access<uint64_t>(c);
    default:
      return {};
  }
}

}  // namespace

Handlers find(const Code& code) {
  switch (code.action) {
    case Action::load:
    case Action::store:
      return find_access(code);
    case Action::atom:
      return find_exchange(code);
    case Action::mov:
    case Action::select:
    case Action::narrow:
      return find_move(code);
    case Action::icmp:
    case Action::fcmp:
      return find_compare(code);
    case Action::floating:
      return find_float(code);
    case Action::convert:
      return find_conversion(code);
    case Action::integer:
      return find_integer(code);
    default:
      return {};
  }
}

}  // namespace lanewise::reference::LANEWISE_LANES
