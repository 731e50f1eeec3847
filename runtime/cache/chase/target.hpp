// What a pointer chase is timed on: a modelled GPU, or a real one. The method (method.hpp) knows
// nothing else of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/cache/presets/preset.hpp"

namespace lanewise::cache {

/// By which instruction a load goes: ld.global.ca, ld.global.nc, ld.global.cg.
enum class ChaseWay : uint8_t { l1, read_only, l2 };

class ChaseTarget {
 public:
  virtual ~ChaseTarget() = default;
  /// Size of the buffer that addresses are offsets into.
  virtual uint64_t bytes() const = 0;
  /// One lane loads from the addresses in their order, again and again, each load's address out of
  /// the value before. Returns the time of a load, on average over the later rounds, in a unit of
  /// the target's own. An address may be there more than once, at most eight times; addresses are
  /// multiples of 32. The caches hold nothing of it before.
  virtual double time(ChaseWay way, std::span<const uint64_t> round) = 0;
  /// Of a round of at most kShortRound loads: how many come before those that are timed, and how
  /// many are timed.
  virtual unsigned warm_rounds() const = 0;
  virtual unsigned timed_rounds() const = 0;
  static constexpr size_t kShortRound = 4096;
  /// How far times of equal rounds may lie apart, as a share of them; 0: not at all.
  virtual double noise() const = 0;
  virtual std::string unit() const = 0;
};

/// A preset's caches: a load that L1 has takes 1, one that L2 has 8, one from memory 32.
std::unique_ptr<ChaseTarget> modelled_target(const Preset& preset);

}  // namespace lanewise::cache
