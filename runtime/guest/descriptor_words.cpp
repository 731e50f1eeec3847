#include "runtime/guest/descriptor_words.hpp"

#include <algorithm>
#include <span>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/ir/passes/values/numbers.hpp"

namespace lanewise::guest {
namespace {

constexpr uint32_t kStride = 0xffff0000, kAll = 0xffffffff;

struct Wanted {
  uint32_t source, mask;
};
/// Sources that are such words.
std::span<const Wanted> wanted(ir::Op op) {
  static constexpr Wanted kDescriptor[] = {{1, kStride}, {3, kAll}}, kFormat[] = {{0, kAll}},
                          kUnpacked[] = {{4, kAll}};
  switch (op) {
    case ir::Op::buffer_address:
      return kDescriptor;
    case ir::Op::fmt_bytes:
    case ir::Op::fmt_legal:
      return kFormat;
    case ir::Op::fmt_unpack:
    case ir::Op::fmt_pack:
      return kUnpacked;
    default:
      return {};
  }
}

bool decides(const ir::Known& known, uint32_t mask) {
  return !known.none() && ((known.zero | known.one) & mask) == mask;
}

bool asks(const ir::Program& program) {
  return std::ranges::any_of(program.blocks, [](const ir::Block& block) {
    return std::ranges::any_of(block.insts, [](const ir::Inst& i) {
      return i.op == ir::Op::buffer_address && (i.src[1].is_reg() || i.src[3].is_reg());
    });
  });
}

}  // namespace

std::vector<DescriptorWord> descriptor_words(const ir::Program& program,
                                             const CertainFacts& facts) {
  std::vector<DescriptorWord> words;
  if (!asks(program)) return words;
  ir::Program loads = program;
  ir::load_parameters(loads);  // instructions keep their places
  const ir::Numbers always(loads, {});
  const ir::Numbers now(loads, {.params = facts.params});
  for (uint32_t b = 0; b < loads.blocks.size(); ++b) {
    if (!now.reached(b)) continue;
    for (uint32_t i = 0; i < loads.blocks[b].insts.size(); ++i)
      for (const auto& [source, mask] : wanted(loads.blocks[b].insts[i].op)) {
        if (!loads.blocks[b].insts[i].src[source].is_reg()) continue;
        const ir::Known known = now.use(b, i, source);
        if (!decides(known, mask) || decides(always.use(b, i, source), mask)) continue;
        words.push_back({b, i, source, mask, static_cast<uint32_t>(known.one) & mask});
      }
  }
  return words;
}

void set_words(ir::Program& program, const std::vector<DescriptorWord>& words) {
  ir::Builder b(program);
  auto word = words.begin();
  while (word != words.end()) {
    const uint32_t block = word->block;
    std::vector<ir::Inst> old = std::move(program.blocks[block].insts);
    program.blocks[block].insts.clear();
    b.set_block(block);
    for (uint32_t i = 0; i < old.size(); ++i) {
      for (; word != words.end() && word->block == block && word->inst == i; ++word) {
        ir::Operand& source = old[i].src[word->source];
        if (word->mask == kAll) {
          source = ir::Operand::immediate(word->value);
          continue;
        }
        b.set_site(old[i].site);
        const ir::Operand rest =
            b.make(ir::Op::and_, ir::Type::u32, {source, ir::Operand::immediate(~word->mask)});
        source = b.make(ir::Op::or_, ir::Type::u32, {rest, ir::Operand::immediate(word->value)});
      }
      program.blocks[block].insts.push_back(std::move(old[i]));
    }
  }
}

}  // namespace lanewise::guest
