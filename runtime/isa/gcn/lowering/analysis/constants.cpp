#include "runtime/isa/gcn/lowering/analysis/constants.hpp"

#include "runtime/isa/gcn/text/operands/number_text.hpp"

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
  if (o.half != Operand::Half::none) return std::nullopt;
  return o.code == kLiteral ? std::optional(o.value) : inline_constant(o.code);
}

}  // namespace

namespace {

/// Masks are more than a number.
std::optional<uint32_t> value_of(const Operand& o, const ScalarConstants& known) {
  if (o.code >= kSgprs && o.code != kM0) return constant(o);
  const auto it = known.find(o.code);
  return it != known.end() ? std::optional(it->second) : std::nullopt;
}

void set(ScalarConstants& known, unsigned key, std::optional<uint32_t> value) {
  if (value)
    known[key] = *value;
  else
    known.erase(key);
}

/// A field of the MODE register is written: known where what goes there is.
void step_mode(const Instruction& i, ScalarConstants& known) {
  if (i.row->meaning.indexing != Indexing::keeps) {
    known[kIndexOnKey] = i.row->meaning.indexing == Indexing::enters ? 1 : 0;
    return;
  }
  const Operand& field = *i.operand(Slot::hwreg);
  if (hwreg_id(field) != kHwMode) return;
  const Operand* literal = i.operand(Slot::literal);
  const auto value =
      literal != nullptr ? std::optional(literal->value) : value_of(*i.operand(Slot::ksrc), known);
  std::optional<uint32_t> placed;
  if (value) placed = *value << hwreg_offset(field);
  const uint32_t all = hwreg_mask(field), mask = all & ~kIndexOnBit;
  if (all != mask)
    set(known, kIndexOnKey, placed ? std::optional((*placed & kIndexOnBit) != 0) : std::nullopt);
  const auto mode = known.find(kModeKey);
  if (mask == 0 || mode == known.end()) return;
  if (placed) placed = (mode->second & ~mask) | (*placed & mask);
  set(known, kModeKey, placed);
}

/// What the index mode asks of M0, behind the instruction.
void step_index(const Instruction& i, const ScalarConstants& before, ScalarConstants& known) {
  if (!i.row->does(kWritesM0)) {
    const auto m0 = known.find(kM0);
    const bool whole = m0 != known.end();
    set(known, kIndexKey, whole ? std::optional(m0->second & 0xff) : std::nullopt);
    set(known, kIndexedKey, whole ? std::optional(m0->second >> 12 & 15) : std::nullopt);
    return;
  }
  if (const Operand* from = i.operand(Slot::ssrc0)) {
    const auto index = value_of(*from, before);
    set(known, kIndexKey, index ? std::optional(*index & 0xff) : std::nullopt);
  }
  if (const Operand* names = i.operand(Slot::gpr_idx)) known[kIndexedKey] = names->value;
}

}  // namespace

IndexMode index_mode(const ScalarConstants& known) {
  const auto at = [&](unsigned key) {
    const auto it = known.find(key);
    return it != known.end() ? std::optional(it->second) : std::nullopt;
  };
  const auto on = at(kIndexOnKey);
  return {on.value_or(1) != 0, on.has_value(), at(kIndexedKey), at(kIndexKey)};
}

namespace {

/// A scalar register gets its source, or a constant.
void step_move(const Instruction& i, ScalarConstants& known) {
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

}  // namespace

void step_constants(const Instruction& i, ScalarConstants& known) {
  if (i.row->does(kWritesMode)) step_mode(i, known);
  const ScalarSet writes = effects(i).writes;
  const ScalarConstants before = writes.test(kM0) ? known : ScalarConstants();
  std::erase_if(known, [&](const auto& entry) { return writes.test(entry.first); });
  if (i.row->kind == Kind::move) step_move(i, known);
  if (writes.test(kM0)) step_index(i, before, known);
}

std::vector<ScalarConstants> constants_in(const Kernel& kernel, const Analysis& analysis) {
  std::vector<std::optional<ScalarConstants>> in(analysis.blocks.size());
  const ScalarConstants at_entry = {{kModeKey, kernel.mode().word()}, {kIndexOnKey, 0}};
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
  out.reserve(in.size());
  for (auto& known : in) out.push_back(std::move(known).value_or(at_entry));
  return out;
}

}  // namespace lanewise::gcn
