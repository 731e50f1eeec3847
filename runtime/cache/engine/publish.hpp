// What a write that has reached L2 means for memory and for copies elsewhere.
#pragma once

#include "runtime/cache/engine/engine.hpp"

namespace lanewise::cache {

/// Memory has a new version, copies elsewhere are old from now on. The page is the block's.
[[gnu::always_inline]] inline void Engine::publish_in(Page& page, const Access& a) {
  make_copies_old(page, a);
  SectorState* const sectors = &page.sector(a.block);
  uint32_t* const written = &page.written_bytes(a.block);
  const Sectors mask = sectors_of(a.mask);
  Sectors this_kernels, own;
  SectorState::last_written(sectors, first_context_, a.sm, this_kernels, own);
  const Sectors asked = Sectors(mask != 0);
  if (not_zero(this_kernels & ~own & asked) != 0) [[unlikely]]
    tell_of_sharing(a, sectors, written);
  // Who writes on adds to the bytes he has written.
  Sectors bytes;
  std::memcpy(&bytes, written, sizeof bytes);
  bytes = (bytes & ((this_kernels & own) | ~asked)) | mask;
  std::memcpy(written, &bytes, sizeof bytes);
  SectorState::written(sectors, mask, a.context, a.sm);
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
