// The tracker's engine beside a plain two-level loop, on one core: what full state costs.
//
// Both model L1 32 KB (64 x 4 x 128 B) and L2 2 MB (1024 x 16 x 128 B), LRU, write back, write
// allocate; an access is one aligned 32-byte sector, 20 % are writes. The plain loop keeps per way
// a struct of tag, time, valid and dirty. The engine keeps everything it keeps for a real trace:
// byte masks, who filled and wrote each line, write versions per sector, sharers, counters per
// instruction. Miss counts of both must agree. Times are processor time; the two take turns, half
// a million accesses each, and of the repeats the one counts in which both together took least.
#pragma once

#include "runtime/bench/figure.hpp"

namespace lanewise::bench {

/// cache/stream, cache/rand64, cache/stride, cache/hot, cache/mix: million accesses a second.
std::vector<Benchmark> cache_benchmarks();

}  // namespace lanewise::bench
