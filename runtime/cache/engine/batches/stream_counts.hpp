// What a stream of plain accesses (engine_stream.cpp) need not count, since it follows.
#pragma once

#include "runtime/cache/engine/engine.hpp"

namespace lanewise::cache {

/// All sectors are of normal class, and where a line is one sector, so is a request.
template <bool kOneSector>
void complete(LevelCounters& n, bool writes_have_class) {
  if (kOneSector) {
    n.reads = n.sector_hits + n.sector_misses;
    n.read_misses = n.fills = n.sector_misses;
  }
  n.by_class[0] = n.sector_hits + n.sector_misses;
  if (!writes_have_class) return;
  if (kOneSector) {
    n.writes = n.write_sector_hits + n.write_sector_misses;
    n.write_misses = n.write_sector_misses;
  }
  n.by_class[0] += n.write_sector_hits + n.write_sector_misses;
}

}  // namespace lanewise::cache
