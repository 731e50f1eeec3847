// What a write that has reached L2 means for memory and for copies elsewhere.
#pragma once

#include "runtime/cache/engine/engine.hpp"

namespace lanewise::cache {

/// Memory has a new version, copies elsewhere are old from now on. The page is the block's.
[[gnu::always_inline]] inline void Engine::publish_in(Page& page, const Access& a) {
  make_copies_old(page, a);
  Writes& w = page.writes;
  if (w.none()) [[unlikely]]
    memory_.writes().begin(w);
  if (w.takes_as_one(a.mask)) [[likely]]
    return publish_line(w, a);
  if (!w.by_sector()) [[unlikely]]
    memory_.writes().spread(w);
  SectorState* const sectors = w.sectors(a.block);
  uint32_t* const written = w.bytes_of_sectors(a.block);
  const Sectors mask = sectors_of(a.mask);
  Sectors this_kernels, own;
  SectorState::last_written(sectors, first_context_, a.sm, this_kernels, own);
  const Sectors asked = Sectors(mask != 0);
  if (not_zero(this_kernels & ~own & asked) != 0) [[unlikely]]
    report_sharing(a, sectors, written);
  // Who writes on adds to the bytes he has written.
  Sectors bytes;
  std::memcpy(&bytes, written, sizeof bytes);
  bytes = (bytes & ((this_kernels & own) | ~asked)) | mask;
  std::memcpy(written, &bytes, sizeof bytes);
  SectorState::written(sectors, mask, a.context, a.sm);
}

/// The same where one entry is of all that is written.
[[gnu::always_inline]] inline void Engine::publish_line(Writes& w, const Access& a) {
  const uint64_t line = a.mask.lo != 0 ? a.block : a.block + kBlockBytes / 2;
  SectorState& state = w.state_at(line);
  uint32_t& written = w.bytes_at(line);
  const auto bytes = static_cast<uint32_t>(a.mask.lo | a.mask.hi);
  if (this_kernels(state)) {
    if (state.sm() == a.sm) {
      written |= bytes;
      return state.written(a.context, a.sm);
    }
    const SectorState sectors[4] = {state, state, state, state};
    const uint32_t of_sectors[4] = {written, written, written, written};
    report_sharing(a, sectors, of_sectors);
  }
  written = bytes;
  state.written(a.context, a.sm);
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
