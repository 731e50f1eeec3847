// What caches hold of single bytes: for expectations of scripts and for cache-exact mode.
#include <algorithm>

#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/tracker/coalesce.hpp"

namespace lanewise::cache {

/// Of several copies a dirty one counts before others.
LineState Engine::byte_state(Cache c, uint64_t address, std::optional<uint32_t> sm) const {
  LineState state;
  const auto look = [&](const Level* level) {
    if (level == nullptr || (state.present && state.dirty)) return;
    const uint32_t index = level->find(level->line_address(address));
    if (index == kNoLine) return;
    const Line& line = level->line(index);
    const Mask byte = byte_range(static_cast<unsigned>(address % kBlockBytes), 1);
    const bool dirty = line.dirty.covers(byte);
    if (state.valid_bytes != 0 && !dirty) return;
    state = {line.valid.covers(byte), dirty, line.valid.count(), line.dirty.count()};
  };
  if (c == Cache::l2) {
    look(l2_.get());
    return state;
  }
  const auto& all = c == Cache::l1 ? l1_ : others_[static_cast<size_t>(c)];
  for (const auto& level : all)
    if (level && (!sm || level->owner == *sm)) look(level.get());
  return state;
}

Engine::Dirty Engine::dirty(Cache c) const {
  Dirty sum;
  const auto add = [&](const Level* level) {
    if (level == nullptr) return;
    for (uint32_t i = 0; i < level->slots(); ++i)
      if (const Line& x = level->line(i); !x.empty() && x.dirty.any()) {
        ++sum.lines;
        sum.bytes += x.dirty.count();
      }
  };
  if (c == Cache::l2) add(l2_.get());
  if (c == Cache::l1)
    for (const auto& level : l1_) add(level.get());
  for (const auto& level : others_[static_cast<size_t>(c)]) add(level.get());
  return sum;
}

std::vector<Engine::Dirty> Engine::dirty_by_unit() const {
  std::vector<Dirty> sums(share_.kept_units());
  const uint32_t stride = Level::stride_of(preset_.l2.ways);
  for (uint32_t i = 0; i < l2_->slots(); ++i)
    if (const Line& x = l2_->line(i); !x.empty() && x.dirty.any()) {
      Dirty& sum = sums[share_.unit_at(i / stride)];
      ++sum.lines;
      sum.bytes += x.dirty.count();
    }
  return sums;
}

std::array<uint32_t, 4> Engine::l2_lines() const {
  std::array<uint32_t, 4> lines{};
  for (uint32_t i = 0; i < l2_->slots(); ++i)
    if (!l2_->line(i).empty()) ++lines[static_cast<size_t>(l2_->priority(i))];
  return lines;
}

void Engine::coherent_block(uint64_t block, uint8_t* bytes) {
  copy_bytes(bytes, memory_bytes_of(block), ~Mask{});
  each_line(*l2_, block, ~Mask{}, [&](uint64_t line, const Mask& part) {
    const uint32_t index = l2_->find(line);
    if (index != kNoLine)
      copy_bytes(bytes, l2_->bytes(index, block), l2_->line(index).valid & part);
  });
}

void Engine::set_coherent(uint64_t block, const Mask& mask, const uint8_t* bytes) {
  copy_bytes(memory_bytes_of(block), bytes, mask);
  each_line(*l2_, block, mask, [&](uint64_t line, const Mask& part) {
    const uint32_t index = l2_->find(line);
    if (index != kNoLine) copy_bytes(l2_->bytes(index, block), bytes, part);
  });
}

void Engine::clear_local_memory() {
  memory_.each_page([](uint64_t first, Page& page) {
    if (first >= kLocalBase && page.bytes) std::fill_n(page.bytes.get(), kPageBytes, 0);
  });
  static constexpr uint8_t kZeros[kBlockBytes] = {};
  for (uint32_t i = 0; i < l2_->slots(); ++i)
    if (const Line& x = l2_->line(i); !x.empty() && x.address >= kLocalBase)
      copy_bytes(l2_->bytes(i, block_of(x.address)), kZeros, x.valid);
}

}  // namespace lanewise::cache
