#include "runtime/cache/engine/memory/writes.hpp"

#include <algorithm>

namespace lanewise::cache {

SectorState* WritesPool::take(unsigned shift) {
  Kind& kind = kinds_[shift - Writes::kSectorShift];
  if (!kind.free.empty()) {
    SectorState* const used = kind.free.back();
    kind.free.pop_back();
    return used;
  }
  if (static_cast<size_t>(kind.end - kind.next) < words(shift)) {
    auto& slab = slabs_.emplace_back();
    slab.reserve(kSlabBytes / sizeof(SectorState));
    kind.next = slab.data();
    kind.end = kind.next + slab.capacity();
  }
  return std::exchange(kind.next, kind.next + words(shift));
}

void WritesPool::begin(Writes& w, unsigned shift) {
  end(w);
  w.states_ = take(shift);
  w.shift_ = shift;
  std::fill_n(w.states_, words(shift), SectorState{});
}

void WritesPool::spread(Writes& w) {
  if (w.none()) return begin(w, Writes::kSectorShift);
  if (w.by_sector()) return;
  const Writes lines = w;
  w.states_ = take(Writes::kSectorShift);
  w.shift_ = Writes::kSectorShift;
  const unsigned sectors = 1U << (lines.shift_ - Writes::kSectorShift);
  for (size_t i = 0; i < lines.count(); ++i) {
    std::fill_n(w.states() + i * sectors, sectors, lines.states()[i]);
    std::fill_n(w.bytes() + i * sectors, sectors, lines.bytes()[i]);
  }
  kinds_[lines.shift_ - Writes::kSectorShift].free.push_back(lines.states_);
}

void WritesPool::end(Writes& w) {
  if (w.none()) return;
  kinds_[w.shift_ - Writes::kSectorShift].free.push_back(w.states_);
  w = Writes{};
}

}  // namespace lanewise::cache
