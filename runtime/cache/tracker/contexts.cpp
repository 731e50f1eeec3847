#include "runtime/cache/tracker/contexts.hpp"

namespace lanewise::cache {

void Contexts::next_chunk() {
  const size_t place = next_ % capacity_ / kChunk;
  if (place == chunks_.size()) {
    Chunk& p = chunks_.emplace_back();
    p.groups = std::make_unique_for_overwrite<uint32_t[]>(kChunk);
    if (wide_)
      p.wide = std::make_unique_for_overwrite<uint64_t[]>(kChunk);
    else
      p.narrow = std::make_unique<uint32_t[]>(kChunk);
  }
  groups_ = chunks_[place].groups.get();
  whos_ = chunks_[place].narrow.get();
  whos_wide_ = chunks_[place].wide.get();
  at_ = next_ % kChunk;
  end_ = kChunk;
}

void Contexts::widen() {
  for (Chunk& p : chunks_) {
    p.wide = std::make_unique_for_overwrite<uint64_t[]>(kChunk);
    for (size_t i = 0; i < kChunk; ++i) {
      const uint64_t who = p.narrow[i];
      const uint64_t site = who >> 16 == kHost ? kNoSite : who >> 16;
      p.wide[i] = site << 32 | (who >> 8 & 0xff) << 16 | (who & 0xff);
    }
    p.narrow.reset();
  }
  wide_ = true;
  whos_ = nullptr;
  whos_wide_ = chunks_[next_ % capacity_ / kChunk].wide.get();
}

}  // namespace lanewise::cache
