// A literal two-level cache: per set a list of lines in order of last use. Write back, write
// allocate, fetch on write, LRU; by Dinero IV's published rules for such a cache. It shares no code
// with the tracker and counts whole lines.
//
// Order of one miss: the victim goes down first, then the line is fetched.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

namespace lanewise::oracle {

struct CacheCounts {
  uint64_t reads = 0, read_misses = 0, writes = 0, write_misses = 0, write_backs = 0;
  bool operator==(const CacheCounts&) const = default;
};

class CacheModel {
 public:
  CacheModel(uint64_t sets, uint64_t ways, uint64_t line, CacheModel* below)
      : sets_(sets), ways_(ways), line_(line), below_(below) {}

  /// A read or write of bytes inside one line.
  void access(uint64_t address, bool write) {
    (write ? counts.writes : counts.reads) += 1;
    const uint64_t number = address / line_;
    std::list<Entry>& set = sets_[number % sets_.size()];
    for (auto it = set.begin(); it != set.end(); ++it) {
      if (it->number != number) continue;
      it->dirty = it->dirty || write;
      set.splice(set.begin(), set, it);
      return;
    }
    (write ? counts.write_misses : counts.read_misses) += 1;
    if (set.size() == ways_) {
      const Entry victim = set.back();
      set.pop_back();
      if (victim.dirty) {
        ++counts.write_backs;
        if (below_ != nullptr) below_->access(victim.number * line_, true);
      }
    }
    if (below_ != nullptr) below_->access(number * line_, false);
    set.push_front({number, write});
  }

  CacheCounts counts;

 private:
  struct Entry {
    uint64_t number;
    bool dirty;
  };
  std::vector<std::list<Entry>> sets_;
  uint64_t ways_, line_;
  CacheModel* below_;
};

}  // namespace lanewise::oracle
