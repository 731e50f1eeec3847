// What one preset's caches did, beyond counters: who evicted whom, why lines were missing, how the
// classes share L2 over time, how sets are used, and reuse distances. It sees every request, so
// the engine runs without its batches.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "runtime/cache/analysis/reuse.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/line_probe.hpp"
#include "runtime/cache/hazards/hazards.hpp"

namespace lanewise::cache {

/// Why a line was missing.
struct MissCauses {
  uint64_t first = 0;     ///< nobody had used it before
  uint64_t capacity = 0;  ///< an LRU cache of this size without sets would have missed, too
  uint64_t conflict = 0;  ///< that one would have had it: the set, or the policy, gave it up early
  uint64_t invalidated = 0;  ///< it had been invalidated, not evicted
  uint64_t all() const { return first + capacity + conflict + invalidated; }
  bool operator==(const MissCauses&) const = default;
};

struct SetUse {
  uint64_t requests = 0, misses = 0, conflicts = 0, evictions = 0;
};

/// Of one instruction (or of the host and the ends of kernels, for which no site stands).
struct SiteInsight {
  std::array<MissCauses, 2> causes;       ///< L1, L2
  std::array<uint64_t, 2> evicts{};       ///< lines of others and its own that it pushed out
  std::array<uint64_t, 2> evicted{};      ///< lines it brought that were pushed out
  std::array<uint64_t, 2> write_backs{};  ///< of lines that it wrote last
  std::array<uint64_t, 2> discarded{};    ///< dirty bytes that it gave up
  std::array<ReuseCurve, 3> reuse;        ///< Asked
};

/// Whose requests a reuse curve is of.
enum class Asked : uint8_t {
  all,  ///< every line that waves ask for, all SMs in one row, as if there were no L1
  l1,   ///< what comes to the L1s, each SM for itself
  l2,   ///< what comes to L2 with this preset's L1s before it
};
inline constexpr size_t kAsked = 3;

/// What L2 holds of each class.
struct Occupancy {
  uint32_t first = 0, normal = 0, last = 0;
};

class Insight final : public LineProbe {
 public:
  Insight(const Preset& preset, const RunFacts& facts);

  /// A wave's request, before the caches see it.
  void requested(uint64_t block, const Mask& mask, uint32_t context);
  /// Now and then, with the number of wave instructions so far.
  void time_is(uint64_t now, const Engine& engine) {
    if (now >= next_sample_) sample(now, engine);
  }
  void asked(Cache c, const Level& level, uint64_t line, uint32_t context, bool present,
             bool demand) override;
  void evicted(Cache c, const Level& level, uint32_t index, uint32_t context) override;
  void written_back(Cache c, const Line& line, const Mask& dirty) override;
  void discarded(Cache c, uint32_t context, const Mask& bytes) override;

  /// kNoContext: no instruction.
  const SiteInsight& of_site(uint32_t site) const;
  const MissCauses& causes(Cache c) const { return causes_[c == Cache::l2]; }
  const ReuseCurve& reuse(Asked s) const { return reuse_[static_cast<size_t>(s)]; }
  /// Lines by (who evicted, whose line it was): sites, or kNoContext for none.
  using Matrix = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
  const Matrix& evictions(Cache c) const { return matrix_[c == Cache::l2]; }
  uint64_t discarded_bytes(Cache c) const { return discarded_[c == Cache::l2]; }
  /// Empty for an infinite cache. The L1s of all SMs together.
  const std::vector<SetUse>& sets(Cache c) const { return sets_[c == Cache::l2]; }
  const std::vector<Occupancy>& occupancy() const { return samples_; }
  uint64_t sample_width() const { return width_; }     ///< in wave instructions
  uint32_t line_bytes() const { return line_bytes_; }  ///< of Asked::all and Asked::l2

  static constexpr size_t kSamples = 96;

 private:
  SiteInsight& site(uint32_t context);
  void sample(uint64_t now, const Engine& engine);

  const RunFacts& facts_;
  uint32_t line_bytes_;
  std::array<uint64_t, 2> capacity_;  ///< lines of one L1, of L2
  std::vector<ReuseStack> l1_;        ///< by SM
  ReuseStack l2_, all_;
  std::array<MissCauses, 2> causes_;
  std::array<ReuseCurve, kAsked> reuse_;
  std::array<Matrix, 2> matrix_;
  std::array<uint64_t, 2> discarded_{};
  std::array<std::vector<SetUse>, 2> sets_;
  std::vector<SiteInsight> by_site_;
  SiteInsight nobody_;
  std::vector<Occupancy> samples_;
  uint64_t width_ = 1, next_sample_ = 0;
};

}  // namespace lanewise::cache
