#include "runtime/explain/formula.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise::explain {
namespace {

using ir::Op;

/// Expressions that go deeper are cut to their value.
constexpr unsigned kMaxDepth = 8;

std::string_view infix(Op op) {
  switch (op) {
    case Op::add:
    case Op::fadd:
      return "+";
    case Op::sub:
    case Op::fsub:
      return "-";
    case Op::mul:
    case Op::mulwide:
    case Op::fmul:
      return "*";
    case Op::and_:
      return "&";
    case Op::or_:
      return "|";
    case Op::xor_:
      return "^";
    case Op::shl:
      return "<<";
    case Op::shr:
      return ">>";
    default:
      return {};
  }
}

/// Operations that hand their operand on when its value does not change.
bool hands_on(Op op) {
  switch (op) {
    case Op::mov:
    case Op::zext64:
    case Op::sext64:
    case Op::trunc32:
    case Op::zext8:
    case Op::zext16:
    case Op::sext8:
    case Op::sext16:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string hex(uint64_t value, bool wide) {
  return wide ? fmt::format("0x{:016x}", value) : fmt::format("0x{:08x}", value);
}

std::string number(uint64_t value) {
  return value < 10 ? fmt::format("{}", value) : fmt::format("0x{:x}", value);
}

bool Formula::is_wide(const ir::Operand& o) const {
  return o.is_reg() ? program_.regs[o.index].width == ir::Width::b64 : o.imm >> 32 != 0;
}

std::optional<size_t> Formula::maker(size_t k, size_t n) const {
  const ir::Operand& o = visit_.steps[k].inst->src[n];
  if (!o.is_reg()) return std::nullopt;
  for (size_t j = k; j-- > 0;) {
    const Executed& e = visit_.steps[j];
    if (e.ran && std::ranges::find(e.inst->dst, o.reg()) != e.inst->dst.end()) return j;
  }
  return std::nullopt;
}

std::string Formula::operand(size_t k, size_t n, unsigned depth) const {
  const ir::Operand& o = visit_.steps[k].inst->src[n];
  const uint64_t value = visit_.steps[k].sources[n];
  if (!o.is_reg()) return number(value);
  const std::string& name = program_.regs[o.index].name;
  if (program_.regs[o.index].width == ir::Width::pred && name.empty())
    return value != 0 ? "true" : "false";
  if (!name.empty()) return fmt::format("{} ({})", name, number(value));
  const auto j = maker(k, n);
  if (!j || depth >= kMaxDepth) return number(value);
  const auto& dst = visit_.steps[*j].inst->dst;
  return expand(*j, static_cast<size_t>(std::ranges::find(dst, o.reg()) - dst.begin()), depth + 1);
}

/// Two registers that are one number are written as the guest writes them: R3:R2.
std::string Formula::pair(size_t k, unsigned depth) const {
  const Executed& e = visit_.steps[k];
  std::string names[2];
  for (size_t n = 0; n < 2; ++n) {
    const ir::Operand& o = e.inst->src[n];
    if (o.is_reg()) names[n] = program_.regs[o.index].name;
  }
  const uint64_t value = e.sources[0] | e.sources[1] << 32;
  if (!names[0].empty() && !names[1].empty())
    return fmt::format("{}:{} ({})", names[1], names[0], number(value));
  if (e.sources[1] == 0) return operand(k, 0, depth);
  return fmt::format("({} << 32 | {})", operand(k, 1, depth), operand(k, 0, depth));
}

std::string Formula::expand(size_t k, size_t which, unsigned depth) const {
  const Executed& e = visit_.steps[k];
  const ir::Inst& inst = *e.inst;
  const uint64_t value = e.settled && which < e.after.size() ? e.after[which] : 0;
  if (hands_on(inst.op) && e.settled && value == e.sources[0]) return operand(k, 0, depth);
  if (inst.op == Op::pack64) return pair(k, depth);
  if (inst.op == Op::sreg)
    return fmt::format("{} ({})", name(static_cast<ir::SReg>(inst.mode)), number(value));
  if (inst.op == Op::select) return operand(k, e.sources[0] != 0 ? 1 : 2, depth);
  if (inst.op == Op::load || inst.op == Op::atom) return fmt::format("loaded {}", number(value));
  if (const std::string_view sign = infix(inst.op); !sign.empty()) {
    const std::string text =
        fmt::format("{} {} {}", operand(k, 0, depth), sign, operand(k, 1, depth));
    return depth == 0 ? text : fmt::format("({})", text);
  }
  std::string text(ir::info(inst.op).name);
  if (text.ends_with('_')) text.pop_back();
  text += '(';
  for (size_t n = 0; n < inst.src.size(); ++n) text += (n == 0 ? "" : ", ") + operand(k, n, depth);
  return text + ')';
}

}  // namespace lanewise::explain
