// Sees every request that comes to a cache and every line that leaves one: what analyses that are
// not worth their time on every run are made of (analysis/). An engine that has one takes the
// general path for every access.
#pragma once

#include "runtime/cache/engine/sets/level.hpp"

namespace lanewise::cache {

enum class Cache : uint8_t;

class LineProbe {
 public:
  virtual ~LineProbe() = default;
  /// A request for bytes of a line comes to a cache that would keep it, before anything changes.
  /// demand: an instruction wants the bytes now; not so for prefetches.
  virtual void asked(Cache c, const Level& level, uint64_t line, uint32_t context, bool present,
                     bool demand) = 0;
  /// The line at `index` is evicted for one that `context` asks for.
  virtual void evicted(Cache c, const Level& level, uint32_t index, uint32_t context) = 0;
  /// Dirty bytes go to the level below; the line still says who wrote them.
  virtual void written_back(Cache c, const Line& line, const Mask& dirty) = 0;
  /// Dirty bytes are given up: nobody below ever gets them.
  virtual void discarded(Cache c, uint32_t context, const Mask& bytes) = 0;
};

}  // namespace lanewise::cache
