// What a write that has reached L2 means for memory and for copies elsewhere.
#pragma once

#include "runtime/cache/engine/engine.hpp"

namespace lanewise::cache {

/// Memory has a new version, copies elsewhere are old from now on.
[[gnu::always_inline]] inline void Engine::publish_here(const Access& a) {
  Page& page = memory_.page(a.block);
  make_copies_old(page, a);
  SectorState* const sectors = &page.sector(a.block);
  uint32_t* const written = &page.written_bytes(a.block);
  for (unsigned left = sectors32(a.mask); left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    SectorState& state = sectors[i];
    const uint32_t bytes = sector_bytes(a.mask, i);
    if (this_kernels(state) && state.sm() == a.sm) {
      written[i] |= bytes;
    } else {
      if (this_kernels(state) && state.sm() != kHostSm)
        observer_->shared_write(a, a.block + 32 * i, state, written[i]);
      written[i] = bytes;
    }
    state.written(a.context, a.sm);
  }
}

inline void Engine::make_copies_old(Page& page, const Access& a) {
  const uint64_t own = uint64_t{1} << (a.sm & 63);
  const uint64_t sharers = page.sharers_of(a.block);
  // From 64 SMs on, some share a bit.
  const bool namesake = (a.sm & 63) + 64 < preset_.sms || a.sm >= 64;
  if ((sharers & ~own) != 0 || page.in_other_caches || ((sharers & own) != 0 && namesake))
    mark_copies(page, a);
}

}  // namespace lanewise::cache
