// Random numbers that are the same on every machine.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace lanewise::programs {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t next() { return engine_(); }
  uint32_t word() { return static_cast<uint32_t>(engine_() >> 32); }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(engine_() % n); }
  bool chance(uint32_t one_in) { return below(one_in) == 0; }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<uint32_t>(list.size()))];
  }
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[below(static_cast<uint32_t>(list.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace lanewise::programs
