#include "runtime/host/core/block_pool.hpp"

#include <iterator>

namespace lanewise::core {
namespace {

constexpr uint64_t kSmall = 4096, kLarge = uint64_t{2} << 20;  // what addresses are multiples of

uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

BlockPool::BlockPool(uint64_t address, uint64_t bytes) {
  const uint64_t begin = round_up(address, kSmall);
  free_[begin] = (address + bytes - begin) / kSmall * kSmall;
}

uint64_t BlockPool::take(uint64_t bytes) {
  const uint64_t unit = bytes != 0 && bytes % kLarge == 0 ? kLarge : kSmall;
  if (bytes == 0 || bytes > UINT64_MAX - unit) return 0;
  const uint64_t size = round_up(bytes, unit);
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    const auto [begin, length] = *block;
    const uint64_t at = round_up(begin, unit), end = begin + length;
    if (at >= end || end - at < size) continue;
    free_.erase(block);
    if (at != begin) free_[begin] = at - begin;
    if (at + size != end) free_[at + size] = end - at - size;
    taken_[at] = size;
    return at;
  }
  return 0;
}

bool BlockPool::give_back(uint64_t address) {
  const auto block = taken_.find(address);
  if (block == taken_.end()) return false;
  const auto freed = free_.insert(*block).first;
  taken_.erase(block);
  join(freed);
  if (freed != free_.begin()) join(std::prev(freed));
  return true;
}

/// With the next one, where that begins at its end.
void BlockPool::join(Blocks::iterator block) {
  const auto next = std::next(block);
  if (next == free_.end() || block->first + block->second != next->first) return;
  block->second += next->second;
  free_.erase(next);
}

}  // namespace lanewise::core
