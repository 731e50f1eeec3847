#include "runtime/events/derive/form.hpp"

#include <algorithm>
#include <bit>

namespace lanewise::events {
namespace {

constexpr int64_t kLimit = int64_t{1} << 61;

int64_t sign_extended(uint64_t value, unsigned bits) {
  const unsigned unused = 64 - bits;
  return static_cast<int64_t>(value << unused) >> unused;
}

}  // namespace

Form sum(const Form& a, const Form& b) {
  Form r;
  r.constant = a.constant + b.constant;
  for (size_t i = 0; i < kCoordinates; ++i)
    r.factor[i] = static_cast<int64_t>(static_cast<uint64_t>(a.factor[i]) +
                                       static_cast<uint64_t>(b.factor[i]));
  return r;
}

Form scaled(const Form& a, uint64_t by) {
  Form r;
  r.constant = a.constant * by;
  for (size_t i = 0; i < kCoordinates; ++i)
    r.factor[i] = static_cast<int64_t>(static_cast<uint64_t>(a.factor[i]) * by);
  return r;
}

Form cut(const Form& a, unsigned bits) {
  Form r = a;
  if (bits == 64) return r;
  r.constant &= (uint64_t{1} << bits) - 1;
  for (int64_t& f : r.factor) f = sign_extended(static_cast<uint64_t>(f), bits);
  return r;
}

unsigned even_bits(const Form& a) {
  unsigned bits = 64;
  for (const int64_t f : a.factor)
    bits = std::min(bits, static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(f))));
  return bits;
}

std::optional<Exact> Extents::bounded(const Form& a) const {
  Exact e{a, static_cast<int64_t>(a.constant), static_cast<int64_t>(a.constant)};
  for (size_t i = 0; i < kCoordinates; ++i) {
    int64_t most = 0;
    if (__builtin_mul_overflow(a.factor[i], counts_[i] - 1, &most)) return std::nullopt;
    int64_t& end = most < 0 ? e.low : e.high;
    if (__builtin_add_overflow(end, most, &end)) return std::nullopt;
  }
  if (e.low < -kLimit || e.high > kLimit) return std::nullopt;
  return e;
}

std::optional<Exact> Extents::between(const Form& a, unsigned bits, int64_t least,
                                      int64_t most) const {
  std::optional<Exact> e = bounded(a);
  if (!e) return std::nullopt;
  if (bits < 64) {
    // The multiple of 2^bits that brings the least value home; the shift rounds down.
    const int64_t away = (e->low - least) >> bits << bits;
    e->form.constant -= static_cast<uint64_t>(away);
    e->low -= away;
    e->high -= away;
  }
  if (e->low < least || e->high > most) return std::nullopt;
  return e;
}

std::optional<Exact> Extents::as_unsigned(const Form& a, unsigned bits) const {
  return between(a, bits, 0, bits == 64 ? kLimit : (int64_t{1} << bits) - 1);
}

std::optional<Exact> Extents::as_signed(const Form& a, unsigned bits) const {
  const int64_t half = bits == 64 ? kLimit : int64_t{1} << (bits - 1);
  return between(a, bits, -half, half - 1);
}

}  // namespace lanewise::events
