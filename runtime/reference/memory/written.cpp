#include "runtime/reference/memory/written.hpp"

#include <algorithm>
#include <bit>

namespace lanewise::reference {
namespace {

constexpr size_t kBits = 64;

/// Bits from `first` on.
uint64_t bits_at(const std::vector<uint64_t>& words, size_t first, size_t count) {
  const size_t word = first / kBits, shift = first % kBits;
  uint64_t bits = words[word] >> shift;
  if (shift + count > kBits) bits |= words[word + 1] << (kBits - shift);
  return bits & lowest(count);
}

void change_bits(std::vector<uint64_t>& words, size_t first, uint64_t bits, bool to) {
  const size_t word = first / kBits, shift = first % kBits;
  const uint64_t low = bits << shift, high = shift != 0 ? bits >> (kBits - shift) : 0;
  words[word] = to ? words[word] | low : words[word] & ~low;
  if (high != 0) words[word + 1] = to ? words[word + 1] | high : words[word + 1] & ~high;
}

}  // namespace

Written::Written(std::span<const std::byte> memory, size_t given)
    : memory_(memory), given_(given), written_(memory.size() / kBits + 2) {
  forget();
}

void Written::forget() {
  std::ranges::fill(written_, uint64_t{0});
  left_ = memory_.size();
  computed_.clear();
  for (size_t left = given_, bytes = 0; left != 0; left -= bytes) {
    bytes = std::min(left, kBits);
    note(memory_.data() + memory_.size() - left, bytes);
  }
}

void Written::note(const std::byte* at, size_t bytes) {
  if (left_ == 0) return;
  left_ -= static_cast<size_t>(std::popcount(missing(at, bytes)));
  change_bits(written_, index(at), lowest(bytes), true);
}

uint64_t Written::missing(const std::byte* at, size_t bytes) const {
  return bits_at(written_, index(at), bytes) ^ lowest(bytes);
}

void Written::lose(const std::byte* at, uint64_t missing, bool computed) {
  left_ += static_cast<size_t>(std::popcount(bits_at(written_, index(at), kBits) & missing));
  change_bits(written_, index(at), missing, false);
  if (computed && computed_.empty()) computed_.resize(written_.size());
  if (!computed_.empty()) change_bits(computed_, index(at), missing, computed);
}

bool Written::computed(const std::byte* at, size_t bytes) const {
  return !computed_.empty() && bits_at(computed_, index(at), bytes) != 0;
}

}  // namespace lanewise::reference
