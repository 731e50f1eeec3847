// One wave in execution: its lanes' registers side by side, and which of them are active.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "runtime/reference/decode.hpp"

namespace lanewise::reference {

inline constexpr uint32_t kMaxWave = 64;

/// Addresses at which every access of one instruction is all right, with nothing else to be asked:
/// those from `base` to `base + limit`. The bytes of lane n of the group lie at
/// `data + n * step + (address - base)`.
struct Range {
  uint64_t base = 0, limit = 0;
  std::byte* data = nullptr;  ///< null: there are none
  uint64_t step = 0;

  LANEWISE_INLINE bool holds(const Code& c, uint64_t address) const {
    return data != nullptr && address - base <= limit && (address & c.aligned) == 0;
  }
};

class Group;

struct Wave {
  std::byte* regs = nullptr;
  uint64_t mask = 0;    ///< active lanes
  uint64_t spare = 0;   ///< lanes whose registers nobody reads: they may be computed along
  uint64_t all = 0;     ///< as many as a register has
  uint32_t lane = 0;    ///< the lowest active one
  uint32_t single = 0;  ///< 1: it is the only one
  bool few = false;     ///< so few are active that each by itself is less work
  bool ahead = false;   ///< lanes run together up to where others may see which comes first
  bool shared = false;  ///< other groups run at the same time
  uint32_t stride = 32;
  uint32_t meet = ~0U;  ///< lowest rank at which other lanes of the run stand
  const Code* codes = nullptr;
  Range* ranges = nullptr;  ///< [Code::access]
  Group* group = nullptr;
  /// Counted back edges since the active lanes began, which `steps` lacks; how many may be taken.
  uint64_t run_steps = 0, headroom = 0;
  uint32_t index = 0, first = 0;  ///< of the group's waves; of its lanes
  uint64_t present = 0, live = 0, faulted = 0;
  uint64_t at_wave = 0, at_barrier = 0, at_access = 0;  ///< lanes that wait
  bool fresh = false;                                   ///< no lane has run yet
  bool stepped = false;                                 ///< some of `steps` are not 0
  std::array<uint32_t, kMaxWave> position{};            ///< of lanes that are not active
  std::array<uint64_t, kMaxWave> steps{};               ///< counted back edges taken
  std::array<uint32_t, kMaxWave> ticket{};  ///< how many had arrived at the barrier before
  std::array<uint8_t, kMaxWave> barrier{};

  uint64_t ready() const { return live & ~(at_wave | at_barrier | at_access); }
  bool full() const { return (mask | spare) == ~uint64_t{0}; }
  void activate(uint64_t lanes) {
    mask = lanes;
    lane = lanes != 0 ? static_cast<uint32_t>(__builtin_ctzll(lanes)) : 0;
    uint64_t more = lanes & (lanes - 1);
    single = lanes != 0 && more == 0 ? 1 : 0;
    for (int n = 1; n < 5 && more != 0; ++n) more &= more - 1;
    few = more == 0;
  }

  template <typename T>
  T* at(uint32_t offset) const {
    return reinterpret_cast<T*>(regs + offset);
  }
  uint64_t get(Slot slot, uint32_t i) const {
    const uint32_t offset = offset_of(slot);
    if (width_of(slot) == ir::Width::b32) return at<uint32_t>(offset)[i];
    return width_of(slot) == ir::Width::b64 ? at<uint64_t>(offset)[i]
                                            : *at<uint64_t>(offset) >> i & 1;
  }
  void set(Slot slot, uint32_t i, uint64_t value) const {
    const uint32_t offset = offset_of(slot);
    if (width_of(slot) == ir::Width::b32) {
      at<uint32_t>(offset)[i] = static_cast<uint32_t>(value);
    } else if (width_of(slot) == ir::Width::b64) {
      at<uint64_t>(offset)[i] = value;
    } else {
      uint64_t& word = *at<uint64_t>(offset);
      word = (word & ~(uint64_t{1} << i)) | uint64_t{value != 0} << i;
    }
  }
};

/// One lane of a wave.
struct Lane {
  Wave& wave;
  uint32_t i;

  uint64_t get(Slot slot) const { return wave.get(slot, i); }
  void set(Slot slot, uint64_t value) const { wave.set(slot, i, value); }
  uint32_t linear() const { return wave.first + i; }
  uint64_t bit() const { return uint64_t{1} << i; }
  uint32_t& position() const { return wave.position[i]; }
  const Code& code() const { return wave.codes[position()]; }
};

constexpr uint64_t lowest(uint64_t bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}
template <typename Visit>
void for_each_lane(uint64_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<uint32_t>(__builtin_ctzll(mask)));
}
/// Those of the lanes for which it holds.
template <typename Holds>
uint64_t lanes_of(uint64_t mask, Holds holds) {
  uint64_t found = 0;
  for_each_lane(mask, [&](uint32_t i) { found |= uint64_t{holds(i)} << i; });
  return found;
}

}  // namespace lanewise::reference
