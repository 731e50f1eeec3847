#include "runtime/ir/evaluate.hpp"

#include "runtime/ir/format_bytes.hpp"
#include "runtime/ir/integer.hpp"
#include "runtime/ir/signature.hpp"
#include "runtime/support/enum_set.hpp"

namespace lanewise::ir {
namespace {

using Results = std::array<uint64_t, 2>;

std::optional<Results> evaluate_move(const Inst& i, std::span<const uint64_t> s) {
  switch (i.op) {
    case Op::mov:
      // Nothing says what a move of a narrow type does to the bits above.
      if (i.ftz || i.sat || (i.type != Type::pred && size_of(i.type) < 4)) return std::nullopt;
      return Results{s[0]};
    case Op::select:
      return Results{s[0] != 0 ? s[1] : s[2]};
    case Op::unpack64:
      return Results{s[0] & 0xffffffff, s[0] >> 32};
    default:
      return Results{integer_op(i.op, i.type, i.mode, s[0], s.size() > 1 ? s[1] : 0, 0, 0)};
  }
}

std::optional<Results> evaluate_integer(const Inst& i, std::span<const uint64_t> s) {
  const auto source = [&](size_t k) { return k < s.size() ? s[k] : 0; };
  static constexpr EnumSet<Op> kLogic{Op::and_, Op::or_, Op::xor_, Op::not_};
  if (i.type == Type::pred && !kLogic.has(i.op)) return std::nullopt;
  if (i.op == Op::icmp) return Results{integer_compare(i.type, i.cond, s[0], s[1])};
  if (i.op == Op::addc || i.op == Op::subb) {
    const WithCarry x = i.op == Op::addc ? add_carry(i.type, s[0], s[1], s[2] != 0)
                                         : subtract_borrow(i.type, s[0], s[1], s[2] != 0);
    return Results{x.value, x.carry};
  }
  return Results{integer_op(i.op, i.type, i.mode, source(0), source(1), source(2), source(3))};
}

}  // namespace

std::optional<Results> evaluate(const Inst& inst, std::span<const uint64_t> sources) {
  if (sources.size() != inst.src.size()) return std::nullopt;
  if (inst.op == Op::sreg) return std::nullopt;
  if (inst.op <= Op::sext16) return evaluate_move(inst, sources);
  if (inst.op <= Op::icmp) return evaluate_integer(inst, sources);
  if (inst.op == Op::fmt_bytes) return Results{kFormatBytes[sources[0] >> 15 & 15]};
  return std::nullopt;
}

}  // namespace lanewise::ir
