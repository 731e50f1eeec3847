#include "runtime/cache/engine.hpp"

namespace lanewise::cache {

/// Of one byte: the first copy of a cache that has one per SM counts, a dirty one before others.
LineState Engine::byte_state(Cache c, uint64_t address) const {
  LineState state;
  const auto look = [&](const Level* level) {
    if (level == nullptr) return;
    const uint32_t index = level->find(level->line_address(address));
    if (index == kNoLine) return;
    const Line& line = level->line(index);
    const Mask byte = byte_range(address % kBlockBytes, 1);
    if (!line.valid.covers(byte)) return;
    state.present = true;
    state.dirty = state.dirty || line.dirty.covers(byte);
  };
  if (c == Cache::l2) {
    look(l2_.get());
  } else {
    for (const auto& level : c == Cache::l1 ? l1_ : others_[static_cast<size_t>(c)])
      look(level.get());
  }
  return state;
}

}  // namespace lanewise::cache
