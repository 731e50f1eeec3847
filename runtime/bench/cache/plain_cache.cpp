// A struct per way, time stamps, no vector instructions by hand. Compiled on its own with -O2; it
// shares nothing with the engine but the trace.
#include "runtime/bench/cache/plain_cache.hpp"

namespace lanewise::bench {
namespace {

class PlainCache {
 public:
  PlainCache(size_t sets, size_t ways, PlainCache* below)
      : sets_(sets), ways_(ways), below_(below), lines_(sets * ways) {}

  void access(uint64_t address, bool write) {
    const uint64_t number = address >> 7;
    Way* set = &lines_[(number & (sets_ - 1)) * ways_];
    ++time_;
    for (size_t w = 0; w < ways_; ++w)
      if (set[w].valid && set[w].tag == number) {
        set[w].time = time_;
        set[w].dirty |= write;
        return;
      }
    ++misses;
    size_t victim = 0;
    for (size_t w = 0; w < ways_; ++w) {
      if (!set[w].valid) {
        victim = w;
        break;
      }
      if (set[w].time < set[victim].time) victim = w;
    }
    Way& v = set[victim];
    if (below_ != nullptr) {
      if (v.valid && v.dirty) below_->access(v.tag << 7, true);
      below_->access(address, false);
    }
    v = {number, time_, true, write};
  }

  uint64_t misses = 0;

 private:
  struct Way {
    uint64_t tag = 0, time = 0;
    bool valid = false, dirty = false;
  };
  size_t sets_, ways_;
  PlainCache* below_;
  std::vector<Way> lines_;
  uint64_t time_ = 0;
};

}  // namespace

struct PlainLoop::Caches {
  PlainCache l2{1024, 16, nullptr}, l1{64, 4, &l2};
};

PlainLoop::PlainLoop() : caches_(std::make_unique<Caches>()) {}
PlainLoop::~PlainLoop() = default;

void PlainLoop::run(std::span<const PackedAccess> trace) {
  for (const PackedAccess p : trace) caches_->l1.access(p & ~uint64_t{1}, (p & 1) != 0);
}

PlainMisses PlainLoop::misses() const {
  return {caches_->l1.misses, caches_->l2.misses};
}

}  // namespace lanewise::bench
