// Part of each_host.hpp: which handlers an instruction has.
#pragma once

#include "runtime/reference/lanes/exchange_memory.hpp"

namespace lanewise::reference::LANEWISE_LANES {
namespace {

bool is_wide(Type type) {
  return ir::width_of(type) == Width::b64;
}
template <Op op, bool vector = true>
Handlers integers(Type type) {
  if (is_wide(type))
    return ir::is_signed(type) ? kInteger<op, Type::s64, vector> : kInteger<op, Type::u64, vector>;
  return ir::is_signed(type) ? kInteger<op, Type::s32, vector> : kInteger<op, Type::u32, vector>;
}
/// Where signedness makes no difference.
template <Op op, bool vector = true>
Handlers bits(Type type) {
  return is_wide(type) ? kInteger<op, Type::u64, vector> : kInteger<op, Type::u32, vector>;
}
template <Op op>
Handlers logic(Type type) {
  return type == Type::pred ? kHandlers<PredLogic<op>> : bits<op>(type);
}

Handlers find_integer(const Code& c) {
  if (c.op == Op::mulwide)
    return ir::is_signed(c.type) ? kInteger<Op::mulwide, Type::s32>
                                 : kInteger<Op::mulwide, Type::u32>;
  if (c.op == Op::prmt && c.mode != 0) return {};
  const Handlers all[] = {one_of<Op::add, Op::sub, Op::mul, Op::neg, Op::abs, Op::shl, Op::bfi>(
                              c.op, [&]<auto op>() { return bits<op>(c.type); }),
                          one_of<Op::popc, Op::clz>(
                              c.op, [&]<auto op>() { return bits<op, false>(c.type); }),
                          one_of<Op::mulhi, Op::min, Op::max, Op::shr>(
                              c.op, [&]<auto op>() { return integers<op>(c.type); }),
                          one_of<Op::div, Op::rem, Op::bfind, Op::bfe>(
                              c.op, [&]<auto op>() { return integers<op, false>(c.type); }),
                          one_of<Op::and_, Op::or_, Op::xor_, Op::not_>(
                              c.op, [&]<auto op>() { return logic<op>(c.type); }),
                          one_of<Op::shf_l, Op::shf_r, Op::lop3>(
                              c.op, [&]<auto op>() { return kInteger<op, Type::u32>; }),
                          one_of<Op::prmt>(
                              c.op, [&]<auto op>() { return kInteger<op, Type::u32, false>; })};
  for (const Handlers& found : all)
    if (found[0] != nullptr) return found;
  return {};
}

Handlers find_move(const Code& c) {
  if (c.op == Op::mov) return logic<Op::mov>(c.type);
  if (c.op == Op::unpack64) return kHandlers<Unpack>;
  if (c.op == Op::select && c.type == Type::pred) return kHandlers<PredLogic<Op::select>>;
  if (c.op == Op::select)
    return is_wide(c.type) ? kHandlers<Select<uint64_t>> : kHandlers<Select<uint32_t>>;
  return one_of<Op::pack64, Op::zext64, Op::sext64, Op::trunc32, Op::zext8, Op::sext8, Op::zext16,
                Op::sext16>(
      c.op, [&]<auto op>() { return kInteger<op, Type::none>; });
}

Handlers find_compare(const Code& c) {
  const bool is_signed = ir::is_signed(c.type);
  if (c.op == Op::icmp) {
    if (is_wide(c.type))
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
  const ir::Round round = c.flags.round;
  const auto find = [&]<auto op>() {
    return floats<op>(c);
  };
  if (c.op == Op::frcp_approx) return floats<Op::frcp>(c);
  if (c.op == Op::fsqrt_approx) return floats<Op::fsqrt>(c);
  if (c.op == Op::fround && round == ir::Round::rna) return {};
  const Handlers found =
      one_of<Op::fmin, Op::fmax, Op::fneg, Op::fabs, Op::fdiv_approx, Op::fround>(c.op, find);
  if (found[0] != nullptr || round != ir::Round::rn) return found;
  return one_of<Op::fadd, Op::fsub, Op::fmul, Op::ffma, Op::fdiv, Op::frcp, Op::fsqrt>(c.op, find);
}

template <Op op, Type to, Type... from>
Handlers converted(const Code& c) {
  return one_of<from...>(
      c.from, [&]<auto type>() { return kConvert<op, to, type>; });
}

Handlers find_conversion(const Code& c) {
  const ir::Round round = c.flags.round;
  if (c.op == Op::f2i) {
    // A subnormal that is flushed first would be rounded up or down.
    const bool flushed = c.flags.ftz && round != ir::Round::rz && round != ir::Round::rn;
    if (flushed || round == ir::Round::rna) return {};
    return one_of<Type::u32, Type::s32>(
        c.type, [&]<auto to>() { return converted<Op::f2i, to, Type::f32, Type::f64>(c); });
  }
  if (c.flags.sat || round != ir::Round::rn) return {};
  return one_of<Type::f32, Type::f64>(
      c.type, [&]<auto to>() {
        return c.op == Op::i2f
                   ? converted<Op::i2f, to, Type::u32, Type::s32, Type::u64, Type::s64>(c)
                   : converted<Op::f2f, to, Type::f32, Type::f64>(c);
      });
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
  const Type elem = c.mem->elem;
  if (elem == Type::u8) return access<uint8_t>(c);
  if (elem == Type::s8) return access<int8_t>(c);
  if (elem == Type::u16) return access<uint16_t>(c);
  if (elem == Type::s16) return access<int16_t>(c);
  return elem == Type::u32 ? access<uint32_t>(c) : access<uint64_t>(c);
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
