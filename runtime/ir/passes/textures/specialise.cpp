// What of a texture's block rarely changes from launch to launch becomes immediates.
#include <algorithm>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/textures/descriptor_loads.hpp"
#include "runtime/ir/passes/textures/specialise.hpp"
#include "runtime/ir/passes/values/values.hpp"
#include "runtime/layout/texture_block.hpp"

namespace lanewise::ir {
namespace {

constexpr uint32_t kDescriptorWords = static_cast<uint32_t>(guest::TextureWord::image);

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

class Specialisation {
 public:
  Specialisation(Program& program, std::span<const KnownBlock> known)
      : program_(program), known_(known), words_(program.regs.size()) {}

  bool run() {
    const std::vector<const Inst*> definitions = single_definitions(program_);
    for (Block& block : program_.blocks)
      for (Inst& inst : block.insts)
        if (reads_block(inst)) note_words(inst, definitions);
    if (!any_) return false;
    for (Block& block : program_.blocks)
      for (Inst& inst : block.insts)
        if (is_texture(inst.op) && inst.mem) note_texels(inst, definitions);
    for (Block& block : program_.blocks)
      for (Inst& inst : block.insts) insert_values(inst);
    return true;
  }

 private:
  /// A word of a known block.
  struct Word {
    const KnownBlock* block = nullptr;
    uint32_t number = 0;
    std::optional<uint32_t> value;
  };

  void note_words(Inst& load, const std::vector<const Inst*>& definitions) {
    const auto handle = handle_of(load.src[0], definitions);
    const auto block = std::ranges::find_if(
        known_, [&](const KnownBlock& k) { return handle && k.handle == *handle; });
    if (block == known_.end()) return;
    any_ = true;
    if (block->memory != TexelMemory::unknown) load.mem->certain = Certain::everywhere;
    for (size_t n = 0; n < load.dst.size(); ++n) {
      if (definitions[load.dst[n].id] != &load) continue;
      Word& word = words_[load.dst[n].id];
      word = {&*block, static_cast<uint32_t>(load.mem->offset / 4 + static_cast<int64_t>(n)), {}};
      for (const KnownWord& known : block->words)
        if (known.number == word.number) word.value = known.value;
    }
  }

  const Word* word_of(const Operand& o) const {
    return o.is_reg() && words_[o.index].block != nullptr ? &words_[o.index] : nullptr;
  }

  /// The block that all words of an image are from, in their places.
  const KnownBlock* block_of_image(const Inst& inst,
                                   const std::vector<const Inst*>& definitions) const {
    constexpr auto kImage = static_cast<uint32_t>(guest::TextureWord::image);
    if (!inst.src[image::base].is_reg()) return nullptr;
    const Inst* pair = definitions[inst.src[image::base].index];
    if (pair == nullptr || pair->op != Op::pack64) return nullptr;
    const Word* first = word_of(pair->src[0]);
    const auto is = [&](const Operand& o, uint32_t number) {
      const Word* word = word_of(o);
      return word != nullptr && word->block == first->block && word->number == kImage + number;
    };
    if (first == nullptr || !is(pair->src[0], 0) || !is(pair->src[1], 1)) return nullptr;
    // Without levels a surface has the number 0 for them.
    const auto stands = [&](uint32_t n) {
      const Operand& o = inst.src[n];
      return is(o, n + 1) || (n == image::levels && o == Operand::immediate(0));
    };
    for (uint32_t n = image::format; n < kImageWords; ++n)
      if (!stands(n)) return nullptr;
    return first->block;
  }

  /// Coordinates are limited to the image's sizes before anything is read or written.
  void note_texels(Inst& inst, const std::vector<const Inst*>& definitions) {
    const KnownBlock* block = block_of_image(inst, definitions);
    const auto least = inst.op == Op::texel_store ? TexelMemory::writable : TexelMemory::readable;
    if (block != nullptr && block->memory >= least) inst.mem->certain = Certain::guarded;
  }

  void insert_values(Inst& inst) const {
    for (Operand& o : inst.src)
      if (const Word* word = word_of(o); word != nullptr && word->value)
        o = Operand::immediate(*word->value);
  }

  Program& program_;
  std::span<const KnownBlock> known_;
  std::vector<Word> words_;  ///< by register
  bool any_ = false;
};

/// Words that code finds at the block's begin, as GCN's does: behind each load of one that is known
/// stands what it is.
bool specialise_descriptors(Program& program, std::span<const KnownBlock> known) {
  const std::vector<DescriptorLoad> loads = descriptor_loads(program, kDescriptorWords);
  bool any = false;
  for (auto at = loads.rbegin(); at != loads.rend(); ++at) {
    const auto block =
        std::ranges::find(known, TextureHandle{true, at->parameter}, &KnownBlock::handle);
    if (block == known.end()) continue;
    std::vector<Inst>& insts = program.blocks[at->block].insts;
    Inst& load = insts[at->inst];
    if (block->memory != TexelMemory::unknown) load.mem->certain = Certain::everywhere;
    std::vector<Inst> found;
    for (uint32_t n = 0; n < load.dst.size(); ++n)
      for (const KnownWord& word : block->words) {
        if (word.number != at->word + n) continue;
        const Reg r = load.dst[n];
        const auto put = [&](Op op, std::vector<Operand> src) {
          found.push_back(instruction(op, Type::u32, {r}, std::move(src), load.site));
        };
        const bool whole = word.mask == 0xffffffff;
        if (!whole) put(Op::and_, {r, Operand::immediate(~word.mask)});
        put(whole ? Op::mov : Op::or_,
            whole ? std::vector<Operand>{Operand::immediate(word.value)}
                  : std::vector<Operand>{r, Operand::immediate(word.value)});
      }
    any = any || !found.empty();
    insts.insert(insts.begin() + at->inst + 1, found.begin(), found.end());
  }
  // Operations of textures want to see constants themselves.
  if (any) propagate_constants(program, {});
  return any;
}

bool has_textures(const Program& program) {
  return std::ranges::any_of(program.blocks, [](const Block& block) {
    return std::ranges::any_of(block.insts, [](const Inst& inst) { return is_texture(inst.op); });
  });
}

}  // namespace

std::vector<TextureHandle> texture_handles(const Program& program) {
  std::vector<TextureHandle> out;
  if (program.isa == Isa::gcn && has_textures(program))
    for (const DescriptorLoad& load : descriptor_loads(program, kDescriptorWords))
      if (const TextureHandle handle{true, load.parameter};
          std::ranges::find(out, handle) == out.end())
        out.push_back(handle);
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
  if (program.isa == Isa::gcn) return specialise_descriptors(program, known);
  return Specialisation(program, known).run();
}

}  // namespace lanewise::ir
