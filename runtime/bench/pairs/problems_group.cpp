// Problems whose lanes work together: reductions, histograms, scans, atomics.
#include <algorithm>

#include "runtime/bench/pairs/data.hpp"
#include "runtime/bench/pairs/problems.hpp"

namespace lanewise::bench {
namespace {

/// Group g sums the values of which `owner` says that they are its own.
template <typename Owner>
Problem reduction(size_t groups, Owner owner) {
  const auto a = made<float>(kWordCount, [](size_t i) { return scattered(i) % 16; });
  std::vector<float> sums(groups);
  for (size_t i = 0; i < a.size(); ++i) sums[owner(i)] += a[i];
  Problem p;
  p.buffers = {to_bytes(a), zeros<float>(groups)};
  p.integers = {kWordCount};
  p.wrong = [sums](const std::vector<Bytes>& after) { return differences(after[1], sums); };
  return p;
}

template <typename T>
Problem histogram() {
  const auto a = made<T>(kWordCount, scattered);
  std::vector<uint32_t> counts(256);
  for (const T x : a) ++counts[x & 255];
  Problem p;
  p.buffers = {to_bytes(a), zeros<uint32_t>(256)};
  p.integers = {kWordCount, kGroupCount};
  p.wrong = [counts](const std::vector<Bytes>& after) { return differences(after[1], counts); };
  return p;
}

}  // namespace

Problem reduce_strided() {
  return reduction(kGroupCount, [](size_t i) { return i / 256 % kGroupCount; });
}
Problem reduce_halves() {
  return reduction(kWordCount / 512, [](size_t i) { return i / 512; });
}
Problem histogram_of_words() {
  return histogram<uint32_t>();
}
Problem histogram_of_bytes() {
  return histogram<uint8_t>();
}

Problem scan() {
  const auto a = made<uint32_t>(kWordCount, scattered);
  std::vector<uint32_t> sums = a;
  for (size_t i = 0; i < sums.size(); ++i)
    if (i % 256 != 0) sums[i] += sums[i - 1];
  Problem p;
  p.buffers = {to_bytes(a), zeros<uint32_t>(a.size())};
  p.wrong = [sums](const std::vector<Bytes>& after) { return differences(after[1], sums); };
  return p;
}

Problem atomics() {
  constexpr uint32_t kKeys = 1024;
  const auto a = made<uint32_t>(kWordCount, scattered);
  // The last word counts what came too late to set a bit; that depends on the order and is not
  // compared.
  std::vector<uint32_t> out(3 * kKeys);
  for (uint32_t i = 0; i < kWordCount; ++i) {
    const uint32_t key = a[i] % kKeys;
    ++out[key];
    out[kKeys + key] = i;
    out[2 * kKeys + key] |= 1U << (i % 32);
  }
  Problem p;
  p.buffers = {to_bytes(a), zeros<uint32_t>(3 * kKeys + 1)};
  p.integers = {kWordCount};
  p.wrong = [out](const std::vector<Bytes>& after) { return differences(after[1], out); };
  return p;
}

Problem compact() {
  const auto a = made<uint32_t>(kWordCount, scattered);
  std::vector<uint32_t> kept;
  for (const uint32_t x : a)
    if (x & 1) kept.push_back(x);
  std::ranges::sort(kept);
  Problem p;
  p.buffers = {to_bytes(a), zeros<uint32_t>(kWordCount), zeros<uint32_t>(1)};
  p.integers = {kWordCount};
  // The order is not determined.
  p.wrong = [kept](const std::vector<Bytes>& after) -> std::string {
    const uint32_t count = from_bytes<uint32_t>(after[2])[0];
    if (count != kept.size()) return fmt::format("{} kept, the host says {}", count, kept.size());
    std::vector<uint32_t> got = from_bytes<uint32_t>(after[1]);
    got.resize(count);
    std::ranges::sort(got);
    return differences(got, kept, [](uint32_t x, uint32_t y) { return x == y; });
  };
  return p;
}

}  // namespace lanewise::bench
