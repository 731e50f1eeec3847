// Vectors to bytes, back, and compared.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "runtime/bench/pairs/pair.hpp"

namespace lanewise::bench {

template <typename T>
Bytes to_bytes(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> from_bytes(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <typename T>
Bytes zeros(size_t count) {
  return Bytes(count * sizeof(T));
}

/// n values of f(i).
template <typename T, typename F>
std::vector<T> made(size_t n, F f) {
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<T>(f(i));
  return values;
}

/// Scattered over 32 bits, the same on every run.
inline uint32_t scattered(size_t i) {
  uint32_t x = static_cast<uint32_t>(i) * 2654435761U + 12345U;
  x ^= x >> 15;
  x *= 0x85ebca6bU;
  return x ^ (x >> 13);
}

/// Says the first difference that `same(got, expected)` denies and how many there are; empty when
/// at most `allowed` are.
template <typename T, typename Same>
std::string differences(const std::vector<T>& got, const std::vector<T>& expected, Same same,
                        size_t allowed = 0) {
  size_t count = 0, first = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    if (i >= got.size() || !same(got[i], expected[i])) first = count++ == 0 ? i : first;
  if (count <= allowed) return {};
  return fmt::format("{} of {} results are wrong; number {} is {}, the host says {}", count,
                     expected.size(), first, first < got.size() ? got[first] : T{},
                     expected[first]);
}

template <typename T>
std::string differences(const Bytes& got, const std::vector<T>& expected) {
  return differences(from_bytes<T>(got), expected, [](T a, T b) { return a == b; });
}

}  // namespace lanewise::bench
