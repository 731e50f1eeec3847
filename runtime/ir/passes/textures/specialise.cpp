// What of a texture's block rarely changes from launch to launch becomes immediates.
#include <algorithm>
#include <map>

#include "runtime/ir/passes/textures/specialise.hpp"

namespace lanewise::ir {
namespace {

/// Registers that are written once, and where.
std::vector<const Inst*> single_definitions(const Program& program) {
  std::vector<const Inst*> found(program.regs.size(), nullptr);
  std::vector<bool> several(program.regs.size());
  for (const Block& block : program.blocks)
    for (const Inst& inst : block.insts)
      for (const Reg r : inst.dst) {
        if (!r.valid()) continue;
        several[r.id] = found[r.id] != nullptr || several[r.id];
        found[r.id] = &inst;
      }
  for (size_t r = 0; r < found.size(); ++r)
    if (several[r]) found[r] = nullptr;
  return found;
}

bool reads_block(const Inst& inst) {
  return inst.op == Op::load && inst.mode == static_cast<uint8_t>(LoadMode::descriptor);
}

std::optional<TextureHandle> handle_of(const Operand& address,
                                       const std::vector<const Inst*>& definitions) {
  Operand at = address;
  // A few copies between the parameter and the use; no loop, as definitions could name each other.
  for (int n = 0; n < 8; ++n) {
    if (at.is_imm()) return TextureHandle{false, at.imm};
    if (!at.is_reg() || definitions[at.index] == nullptr) return std::nullopt;
    const Inst& made = *definitions[at.index];
    if (made.op == Op::load && made.mem->space == Space::param && made.mem->elem == Type::u64 &&
        made.mem->count == 1 && made.src[0].is_imm())
      return TextureHandle{
          true, (made.src[0].imm + static_cast<uint64_t>(made.mem->offset)) & 0xffffffff};
    if (made.op != Op::mov) return std::nullopt;
    at = made.src[0];
  }
  return std::nullopt;
}

}  // namespace

std::vector<TextureHandle> texture_handles(const Program& program) {
  std::vector<TextureHandle> out;
  std::vector<const Inst*> definitions;
  for (const Block& block : program.blocks)
    for (const Inst& inst : block.insts) {
      if (!reads_block(inst)) continue;
      if (definitions.empty()) definitions = single_definitions(program);
      const auto handle = handle_of(inst.src[0], definitions);
      if (handle && std::ranges::find(out, *handle) == out.end()) out.push_back(*handle);
    }
  return out;
}

bool specialise_textures(Program& program, std::span<const KnownBlock> known) {
  const std::vector<const Inst*> definitions = single_definitions(program);
  std::map<uint32_t, uint32_t> values;  // of registers
  for (const Block& block : program.blocks)
    for (const Inst& inst : block.insts) {
      if (!reads_block(inst)) continue;
      const auto handle = handle_of(inst.src[0], definitions);
      const auto of = std::ranges::find_if(
          known, [&](const KnownBlock& k) { return handle && k.handle == *handle; });
      if (of == known.end()) continue;
      for (size_t n = 0; n < inst.dst.size(); ++n)
        for (const auto& [word, value] : of->words)
          if (4 * (word - n) == static_cast<uint64_t>(inst.mem->offset) &&
              definitions[inst.dst[n].id] == &inst)
            values.emplace(inst.dst[n].id, value);
    }
  if (values.empty()) return false;
  for (Block& block : program.blocks)
    for (Inst& inst : block.insts)
      for (Operand& o : inst.src) {
        if (!o.is_reg()) continue;
        if (const auto value = values.find(o.index); value != values.end())
          o = Operand::immediate(value->second);
      }
  return true;
}

}  // namespace lanewise::ir
