#include "runtime/cache/engine/memory/columns.hpp"

#include <algorithm>

namespace lanewise::cache {
namespace {

enum Form : uint8_t { kZero, kAsBefore, kRuns };

}  // namespace

void PutColumns::number(uint64_t v) {
  for (; v >= 0x80; v >>= 7) bytes_.push_back(static_cast<uint8_t>(v | 0x80));
  bytes_.push_back(static_cast<uint8_t>(v));
}

void PutColumns::add_now() {
  if (std::all_of(now_.begin(), now_.end(), [](uint64_t v) { return v == 0; })) {
    bytes_.push_back(kZero);
  } else if (now_ == before_) {
    bytes_.push_back(kAsBefore);
  } else {
    bytes_.push_back(kRuns);
    uint64_t last = 0;
    for (size_t i = 0; i < now_.size();) {
      const uint64_t step = now_[i] - last;
      size_t end = i + 1;
      while (end < now_.size() && now_[end] - now_[end - 1] == step) ++end;
      number(step << 1 ^ (~(step >> 63) + 1));
      number(end - i);
      last = now_[end - 1];
      i = end;
    }
  }
  now_.swap(before_);
}

uint64_t TakeColumns::number() {
  uint64_t v = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint64_t b = *at_++;
    v |= (b & 0x7f) << shift;
    if (b < 0x80) return v;
  }
}

std::span<const uint64_t> TakeColumns::take(size_t count) {
  const uint8_t form = *at_++;
  if (form == kAsBefore) return column_;
  column_.assign(count, 0);
  if (form == kZero) return column_;
  uint64_t last = 0;
  for (size_t i = 0; i < count;) {
    const uint64_t coded = number(), step = coded >> 1 ^ (~(coded & 1) + 1);
    for (uint64_t n = number(); n != 0; --n) column_[i++] = last += step;
  }
  return column_;
}

}  // namespace lanewise::cache
