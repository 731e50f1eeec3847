#include "runtime/cache/tracker/contexts.hpp"

namespace lanewise::cache {

void Contexts::next_piece() {
  const size_t place = next_ % capacity_ / kPiece;
  if (place == pieces_.size()) {
    Piece& p = pieces_.emplace_back();
    p.groups = std::make_unique_for_overwrite<uint32_t[]>(kPiece);
    if (wide_)
      p.wide = std::make_unique_for_overwrite<uint64_t[]>(kPiece);
    else
      p.narrow = std::make_unique<uint32_t[]>(kPiece);
  }
  groups_ = pieces_[place].groups.get();
  whos_ = pieces_[place].narrow.get();
  whos_wide_ = pieces_[place].wide.get();
  at_ = next_ % kPiece;
  end_ = kPiece;
}

void Contexts::widen() {
  for (Piece& p : pieces_) {
    p.wide = std::make_unique_for_overwrite<uint64_t[]>(kPiece);
    for (size_t i = 0; i < kPiece; ++i) {
      const uint64_t who = p.narrow[i];
      const uint64_t site = who >> 16 == kHost ? kNoSite : who >> 16;
      p.wide[i] = site << 32 | (who >> 8 & 0xff) << 16 | (who & 0xff);
    }
    p.narrow.reset();
  }
  wide_ = true;
  whos_ = nullptr;
  whos_wide_ = pieces_[next_ % capacity_ / kPiece].wide.get();
}

}  // namespace lanewise::cache
