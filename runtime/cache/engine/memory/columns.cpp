#include "runtime/cache/engine/memory/columns.hpp"

#include <algorithm>

namespace lanewise::cache {
namespace {

enum Form : uint8_t { kZero, kAsBefore, kRuns };

}  // namespace

uint8_t* PutColumns::number(uint8_t* to, uint64_t v) {
  for (; v >= 0x80; v >>= 7) *to++ = static_cast<uint8_t>(v | 0x80);
  *to++ = static_cast<uint8_t>(v);
  return to;
}

void PutColumns::add_now() {
  // As if each value were a run: a step and a length.
  constexpr size_t kMostBytes = 10 + 2;
  if (bytes_.size() < size_ + 1 + kMostBytes * now_.size())
    bytes_.resize(2 * bytes_.size() + 1 + kMostBytes * now_.size());
  uint8_t* to = bytes_.data() + size_;
  if (std::all_of(now_.begin(), now_.end(), [](uint64_t v) { return v == 0; })) {
    *to++ = kZero;
  } else if (now_ == before_) {
    *to++ = kAsBefore;
  } else {
    *to++ = kRuns;
    uint64_t last = 0;
    const uint64_t *at = now_.data(), *const end = at + now_.size();
    while (at != end) {
      const uint64_t* const first = at;
      const uint64_t step = *at - last;
      while (++at != end && *at - at[-1] == step) {
      }
      to = number(to, step << 1 ^ (~(step >> 63) + 1));
      to = number(to, static_cast<uint64_t>(at - first));
      last = at[-1];
    }
  }
  size_ = static_cast<size_t>(to - bytes_.data());
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
