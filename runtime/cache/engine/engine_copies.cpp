// What a write means for copies elsewhere, atomics, and the bytes themselves.
#include <algorithm>

#include "runtime/cache/engine/engine.hpp"

namespace lanewise::cache {
void Engine::drop_bytes(Level& level, uint32_t index, Mask mask) {
  Line& x = level.line(index);
  const bool was_dirty = x.dirty.any();
  x.valid = without(x.valid, mask);
  x.notes |= kLacking;
  x.dirty = without(x.dirty, mask);
  if ((x.flags & kStale) != 0)
    level.history(index).stale = without(level.history(index).stale, mask);
  if (was_dirty && x.dirty.none()) level.count_dirty(-1);
  if (x.valid.none()) level.remove(index);
}

void Engine::atomic(const Plan& p, const Access& a) {
  if (p.row == nullptr || p.row->path == Path::none) return;
  if (l1_[a.sm] && preset_.knobs.atomic_invalidates_l1)
    each_line(l1(a.sm), a.block, a.mask, [&](uint64_t line, Mask m) {
      const uint32_t index = l1(a.sm).find(line);
      if (index == kNoLine) return;
      if (l1(a.sm).line(index).dirty.any()) write_back(Cache::l1, l1(a.sm), index);
      drop_bytes(l1(a.sm), index, whole_sectors(m, l1(a.sm).geometry().sector));
    });
  Access read = a;
  read.bytes = nullptr;
  read_l2(p, read, a.block, whole_sectors(a.mask, l2_->geometry().sector), nullptr);
  write_l2(p, a, p.local);
  if ((p.flags & kAcquire) != 0) invalidate_global(a);
}

/// Before a write of sectors that other SMs of this kernel have written.
void Engine::report_sharing(const Access& a, const SectorState* sectors, const uint32_t* written) {
  for (unsigned left = sectors32(a.mask); left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (this_kernels(sectors[i]) && sectors[i].sm() != a.sm && sectors[i].sm() != kHostSm)
      observer_->shared_write(a, a.block + 32 * i, sectors[i], written[i]);
  }
}

void Engine::mark_copies(Page& page, const Access& a) {
  uint64_t& sharers = page.sharers_of(a.block);
  for (uint64_t left = sharers; left != 0; left &= left - 1) {
    const auto bit = static_cast<uint32_t>(std::countr_zero(left));
    bool found = false;
    for (uint32_t sm = bit; sm < preset_.sms; sm += 64) {
      if (!l1_[sm]) continue;
      if (sm == a.sm) {  // may have it, and its own copy is not old
        found = true;
        continue;
      }
      each_line(*l1_[sm], a.block, a.mask, [&](uint64_t line, Mask m) {
        const uint32_t index = l1_[sm]->find(line);
        if (index == kNoLine) return;
        found = true;
        mark_stale(*l1_[sm], index, page, m);
      });
    }
    // The line may be narrower than the block: only a block of one line shows that none is left.
    if (!found && preset_.l1.line >= kBlockBytes) sharers &= ~(uint64_t{1} << bit);
  }
  if (!page.in_other_caches) return;
  for (size_t c = 0; c < kCaches; ++c)
    for (size_t i = 0; i < others_[c].size(); ++i) {
      Level* level = others_[c][i].get();
      if (level == nullptr) continue;
      each_line(*level, a.block, a.mask, [&](uint64_t line, Mask m) {
        const uint32_t index = level->find(line);
        if (index == kNoLine || level->geometry().line > kBlockBytes) return;
        const bool own =
            static_cast<Cache>(c) == Cache::scalar && level->line(index).write == a.context;
        if (!own) mark_stale(*level, index, page, m);
      });
    }
}

void Engine::mark_stale(Level& level, uint32_t index, Page& page, Mask mask) {
  Line& x = level.line(index);
  const Mask bytes = mask & x.valid;
  // What a thread keeps in its local memory is no copy of anything.
  if (bytes.none() || (x.flags & kLocal) != 0) return;
  History& h = level.history(index);
  if ((x.flags & kStale) == 0) h = History{};
  x.flags |= kStale;
  const uint64_t block = block_of(x.address);
  for (unsigned s = 0; s < 4; ++s) {
    const Mask sector = byte_range(32 * s, 32);
    if ((bytes & sector).any() && (h.stale & sector).none())
      h.version[s] = page.writes.state(block + 32 * s).version();
  }
  h.stale |= bytes;
}

void Engine::write_memory(const Line& line, const Mask& mask, const uint8_t* bytes) {
  if (bytes != nullptr) copy_bytes(memory_bytes_of(block_of(line.address)), bytes, mask);
}

uint8_t* Engine::memory_bytes_of(uint64_t block) {
  Page& page = memory_.page(block);
  if (!page.bytes) page.bytes = std::make_unique<uint8_t[]>(kPageBytes);
  return page.bytes.get() + block % kPageBytes;
}

uint8_t Engine::coherent_byte(uint64_t address) {
  const uint64_t block = block_of(address);
  const auto at = static_cast<unsigned>(address - block);
  const uint32_t index = l2_->find(l2_->line_address(address));
  if (index != kNoLine && l2_->line(index).valid.covers(byte_range(at, 1)))
    return l2_->bytes(index, block)[at];
  return memory_bytes_of(block)[at];
}

void Engine::cached_bytes(Cache c, const Access& a, uint64_t line, uint8_t* block) {
  Level& level = instance(c, a.sm);
  const uint32_t index = level.find(line);
  if (index != kNoLine) copy_bytes(block, level.bytes(index, a.block), ~Mask{});
}

void Engine::set_memory_byte(uint64_t address, uint8_t value) {
  memory_bytes_of(block_of(address))[address % kBlockBytes] = value;
}

}  // namespace lanewise::cache
