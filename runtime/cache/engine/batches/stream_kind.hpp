// What a stream of accesses (engine_stream.cpp) knows of the preset: of most presets when it is
// compiled, of others when it runs.
#pragma once

#include "runtime/cache/engine/sets/level.hpp"
#include "runtime/cache/presets/preset.hpp"

namespace lanewise::cache {

/// What stays as it is while accesses are made.
struct StreamFacts {
  bool shared_;                     ///< L2 with other engines
  bool sampled_;                    ///< of L2 some sets, each counted for itself
  bool l1_few_, l1_many_, l2_few_;  ///< ways
  bool l2_grows_, whole_lines_, few_sms_;
};
/// kCommon: all is as in most presets of this size of lines, and need not be asked.
template <unsigned kLine, bool kCommon>
struct StreamKind : StreamFacts {
  static constexpr unsigned kL1Stride = 0, kL2Stride = 0;  ///< any
  explicit StreamKind(const StreamFacts& facts) : StreamFacts(facts) {}
};
template <unsigned kLine>
struct StreamKind<kLine, true> {
  static constexpr bool shared_ = false, sampled_ = false, l1_few_ = kLine == 64,
                        l1_many_ = !l1_few_, l2_few_ = true, l2_grows_ = false,
                        whole_lines_ = false, few_sms_ = false;
  static constexpr unsigned kL1Stride = l1_few_ ? 4 : 0, kL2Stride = l1_few_ ? 16 : 0;
  explicit StreamKind(const StreamFacts&) {}
  static bool is(const StreamFacts& f, const Preset& p) {
    const auto stride = [](const Geometry& g, unsigned wanted) {
      return wanted == 0 || Level::stride_of(g.ways) == wanted;
    };
    return !f.shared_ && !f.sampled_ && f.l1_few_ == l1_few_ && f.l1_many_ == l1_many_ &&
           f.l2_few_ && !f.whole_lines_ && !f.few_sms_ && stride(p.l1, kL1Stride) &&
           stride(p.l2, kL2Stride);
  }
};

}  // namespace lanewise::cache
