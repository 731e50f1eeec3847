#include "runtime/isa/gcn/lowering/constants.hpp"

#include "runtime/isa/gcn/text/number_text.hpp"

namespace lanewise::gcn {
namespace {

constexpr unsigned kLastInteger = 208;  ///< inline constants behind it are floating-point

/// Only what both paths agree on stays. True when `into` changed.
bool meet(std::optional<ScalarConstants>& into, const ScalarConstants& from) {
  if (!into) {
    into = from;
    return true;
  }
  return std::erase_if(*into, [&](const auto& entry) {
           const auto it = from.find(entry.first);
           return it == from.end() || it->second != entry.second;
         }) != 0;
}

std::optional<uint32_t> constant(const Operand& o) {
  return o.code == kLiteral ? std::optional(o.value) : inline_constant(o.code);
}

}  // namespace

namespace {

/// A field of the MODE register is written: known where what goes there is.
void step_mode(const Instruction& i, ScalarConstants& known) {
  const Operand& field = *i.operand(Slot::hwreg);
  if (hwreg_id(field) != kHwMode) return;
  std::optional<uint32_t> value;
  if (const Operand* literal = i.operand(Slot::literal)) {
    value = literal->value;
  } else if (const auto it = known.find(i.operand(Slot::ksrc)->code); it != known.end()) {
    value = it->second;
  }
  const auto mode = known.find(kModeKey);
  if (mode == known.end()) return;
  if (!value) {
    known.erase(mode);
    return;
  }
  const uint32_t mask = hwreg_mask(field);
  mode->second = (mode->second & ~mask) | (*value << hwreg_offset(field) & mask);
}

}  // namespace

void step_constants(const Instruction& i, ScalarConstants& known) {
  if (i.row->does(kWritesMode)) step_mode(i, known);
  const ScalarSet writes = effects(i).writes;
  std::erase_if(known, [&](const auto& entry) { return writes.test(entry.first); });
  if (i.row->kind != Kind::move) return;
  const Operand& from = i.operands[1];
  const bool wide = i.operands[0].count == 2, keyed = from.immediate;
  const unsigned to = i.operands[0].code;
  if (keyed) {
    known[to] = static_cast<uint32_t>(int32_t{static_cast<int16_t>(from.value)});
    return;
  }
  const auto value = constant(from);
  const bool literal = from.code == kLiteral;
  if (!value || (wide && !literal && from.code > kLastInteger)) return;
  known[to] = *value;
  // 64 bits: integers are sign-extended, literals zero-extended.
  if (wide) known[to + 1] = !literal && *value >> 31 != 0 ? 0xffffffff : 0;
}

std::vector<ScalarConstants> constants_in(const Kernel& kernel, const Analysis& analysis) {
  std::vector<std::optional<ScalarConstants>> in(analysis.blocks.size());
  const ScalarConstants at_entry = {{kModeKey, kernel.mode().word()}};
  in[0] = at_entry;
  std::vector<size_t> work = {0};
  while (!work.empty()) {
    const BasicBlock& block = analysis.blocks[work.back()];
    ScalarConstants known = *in[work.back()];
    work.pop_back();
    for (size_t n = block.begin; n < block.end; ++n) step_constants(kernel.code[n], known);
    for (const size_t s : block.successors)
      if (s < in.size() && meet(in[s], known)) work.push_back(s);
  }
  std::vector<ScalarConstants> out;
  for (auto& known : in) out.push_back(known ? std::move(*known) : at_entry);
  return out;
}

}  // namespace lanewise::gcn
