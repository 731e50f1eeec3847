// Plain loads and stores, many at a time: first their path through L1, which leaves a list of what
// L2 has to do; then that list through L2, which leaves a list of writes; then these. L1 does not
// depend on what L2 finds, and a batch is of one SM, so the order between the passes is not seen.
// Whatever is more than plain waits until all before it is done and takes the general path
// (engine_path.cpp).
#include <algorithm>

#include "runtime/cache/engine/batches/plain_level.hpp"

namespace lanewise::cache {

template <class L1Ways, class L2Ways, bool kWhole>
class Engine::PlainBatch {
 public:
  PlainBatch(Engine& engine, const Plan& load, const Plan& store, uint32_t sm)
      : e_(engine), lists_(*engine.lists_), load_(load), store_(store), sm_(sm) {}

  void run(std::span<const PlainAccess> accesses) {
    accesses_ = accesses;
    if (!through())
      write_back_l1();
    else
      write_through_l1();
  }

 private:
  using L1 = PlainLevel<L1Ways, false, kWhole>;
  using L2 = PlainLevel<L2Ways, true, kWhole>;

  void write_back_l1() {
    L1 l1(e_.l1(sm_), *e_.l2_, e_.preset_.knobs);
    const uint64_t count = take(l1, accesses_);
    register_stores();
    drain();
    finish_l1(l1, count);
  }
  /// Where a store's miss fetches nothing, nothing else shows that this SM has a copy now. Other
  /// SMs ask for it when the batch is done.
  void register_stores() {
    if (e_.preset_.sms <= 1 || e_.preset_.knobs.fetch_on_write) return;
    for (const PlainAccess& a : accesses_)
      if (a.write != 0) e_.register_copy(Cache::l1, a.block, sm_);
  }

  /// Stores change L1 as they go by.
  void write_through_l1() {
    L1 l1(e_.l1(sm_), *e_.l2_, e_.preset_.knobs);
    uint64_t count = 0;
    const auto store = [](const PlainAccess& a) { return a.write != 0; };
    for (auto at = accesses_.begin(); at != accesses_.end();) {
      const auto loads_end = std::find_if(at, accesses_.end(), store);
      if (loads_end != at) count += take(l1, std::span(at, loads_end));
      for (at = loads_end; at != accesses_.end() && store(*at); ++at) {
        e_.store_l1_through(store_, access(*at), at->block, at->mask);
        *writes_++ = below_;
        *below_++ = *at;
        // publish() takes it for a line that L1 gave up.
        LevelCounters& n = e_.count(Cache::l1);
        --n.write_backs;
        n.write_back_bytes -= L2::bytes(at->mask);
      }
    }
    drain();
    finish_l1(l1, count);
  }

  /// How many of the accesses asked for no more than plain steps.
  uint64_t take(L1& l1, std::span<const PlainAccess> accesses) {
    const size_t count = accesses.size();
    uint64_t more_than_plain = 0;
    for (size_t i = 0;;) {
      i += l1.take({&accesses[i], count - i, below_, writes_});
      if (i == count) return count - more_than_plain;
      ++more_than_plain;
      in_general(accesses[i]);
      if (++i == count) return count - more_than_plain;
    }
  }

  void finish_l1(L1& l1, uint64_t accesses) {
    const auto sectors = l1.finish(accesses, e_.count(Cache::l1));
    e_.site_->l1_hits += sectors.hits;
    e_.site_->l1_misses += sectors.misses;
    e_.site_->l1_write_hits += sectors.write_hits;
    e_.site_->l1_write_misses += sectors.write_misses;
  }

  Access access(const PlainAccess& a) const { return {a.block, a.mask, a.context, sm_, nullptr}; }

  /// One that is more than plain, and has to see what all before it did.
  void in_general(const PlainAccess& a) {
    drain();
    e_.run(a.write != 0 ? store_ : load_, access(a));
  }

  /// Does what L1 left to do.
  void drain() {
    if (below_ == lists_.below) return;
    L2 l2(*e_.l2_, *e_.l2_, e_.preset_.knobs);
    const auto count = static_cast<size_t>(below_ - lists_.below);
    PlainAccess* nothing = nullptr;
    const PlainAccess** none = nullptr;
    uint64_t more_than_plain = 0;
    const PlainAccess* const* published = lists_.writes;
    for (size_t i = 0, from = 0; i < count; from = i) {
      i += l2.take({&lists_.below[i], count - i, nothing, none});
      published = publish(from, i, published);
      if (i == count) break;
      ++more_than_plain;
      published += lists_.below[i].write & 1;
      l2_in_general(lists_.below[i++]);
    }
    const auto sectors = l2.finish(count - more_than_plain, e_.count(Cache::l2));
    e_.site_->l2_hits += sectors.hits;
    e_.site_->l2_misses += sectors.misses;
    if (through()) {
      e_.site_->l2_write_hits += sectors.write_hits;
      e_.site_->l2_write_misses += sectors.write_misses;
    }
    e_.count(Cache::l1).fills += sectors.hits + sectors.misses;
    below_ = lists_.below;
    writes_ = lists_.writes;
  }

  void l2_in_general(const PlainAccess& a) {
    // A line that L1 gave up names who wrote it, a fetch the access that asks for it.
    if (a.write != 0) {
      const PlainAccess* const writes[] = {&a};
      count_write_backs(writes);
      return e_.write_l2(through() ? store_ : Engine::write_back_plan(), access(a), false);
    }
    const auto cause = std::find_if(accesses_.begin(), accesses_.end(), [&](const PlainAccess& q) {
      return q.context == a.context && q.block == a.block;
    });
    e_.read_l2(cause->write != 0 ? store_ : load_, access(*cause), a.block, a.mask, nullptr);
    e_.register_copy(Cache::l1, a.block, sm_);
    e_.count(Cache::l1).fills += sector_count(a.mask, 32);
  }

  /// What L2 has to write is what the stores write, not what L1 gave up.
  bool through() const { return store_.store != L1Store::write_back; }

  /// What L2 leaves to do of lists_.below[from] to lists_.below[to - 1], the first of whose writes
  /// is the one given: memory has new versions, and other SMs may ask for copies. Returns the next
  /// write.
  const PlainAccess* const* publish(size_t from, size_t to, const PlainAccess* const* write) {
    const PlainAccess* const* end = write;
    if (to == static_cast<size_t>(below_ - lists_.below))
      end = writes_;
    else
      while (end != writes_ && *end < &lists_.below[to]) ++end;
    const std::span writes(write, end);
    count_write_backs(writes);
    if (e_.preset_.sms > 1 || e_.any_other_) {
      publish_to_others(from, to);
      return end;
    }
    // Nobody else can have a copy.
    e_.memory_.write_later(writes);
    return end;
  }
  void publish_to_others(size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      const PlainAccess& a = lists_.below[i];
      if (a.write != 0)
        e_.publish(access(a));
      else if (e_.preset_.sms > 1)
        e_.register_copy(Cache::l1, a.block, sm_);
    }
  }
  void count_write_backs(std::span<const PlainAccess* const> writes) {
    LevelCounters& n = e_.count(Cache::l1);
    n.write_backs += writes.size();
    for (const PlainAccess* w : writes) n.write_back_bytes += L2::bytes(w->mask);
  }

  Engine& e_;
  PlainLists& lists_;
  const Plan &load_, &store_;
  const uint32_t sm_;
  std::span<const PlainAccess> accesses_;
  PlainAccess* below_ = lists_.below;           ///< the end of that list
  const PlainAccess** writes_ = lists_.writes;  ///< the same
};

template <class L1Ways, class L2Ways, bool kWhole>
void Engine::run_batch(Engine& engine, const Plan& load, const Plan& store,
                       std::span<const PlainAccess> accesses, uint32_t sm) {
  PlainBatch<L1Ways, L2Ways, kWhole>(engine, load, store, sm).run(accesses);
}

// Flattened: no calls, but for PlainLevel::take() and what stands in other files, and all of it for
// one kind of processor.
[[gnu::flatten]] void Engine::batch_base(Engine& e, const Plan& load, const Plan& store,
                                         std::span<const PlainAccess> accesses, uint32_t sm) {
  run_batch<AnyWays, AnyWays, false>(e, load, store, accesses, sm);
}
#if defined(LANEWISE_WIDE)
[[gnu::flatten]] LANEWISE_WIDE void Engine::batch_wide(Engine& e, const Plan& load,
                                                       const Plan& store,
                                                       std::span<const PlainAccess> accesses,
                                                       uint32_t sm) {
  run_batch<AnyWaysWide, AnyWaysWide, false>(e, load, store, accesses, sm);
}
[[gnu::flatten]] LANEWISE_WIDE void Engine::batch_4_16(Engine& e, const Plan& load,
                                                       const Plan& store,
                                                       std::span<const PlainAccess> accesses,
                                                       uint32_t sm) {
  run_batch<WideWays<4>, WideWays<16>, false>(e, load, store, accesses, sm);
}
[[gnu::flatten]] LANEWISE_WIDE void Engine::batch_4_16_whole(Engine& e, const Plan& load,
                                                             const Plan& store,
                                                             std::span<const PlainAccess> accesses,
                                                             uint32_t sm) {
  run_batch<WideWays<4>, WideWays<16>, true>(e, load, store, accesses, sm);
}
[[gnu::flatten]] LANEWISE_WIDE void Engine::batch_any_16(Engine& e, const Plan& load,
                                                         const Plan& store,
                                                         std::span<const PlainAccess> accesses,
                                                         uint32_t sm) {
  run_batch<AnyWaysWide, WideWays<16>, false>(e, load, store, accesses, sm);
}
[[gnu::flatten]] LANEWISE_WIDE void Engine::batch_widest(Engine& e, const Plan& load,
                                                         const Plan& store,
                                                         std::span<const PlainAccess> accesses,
                                                         uint32_t sm) {
  run_batch<WideWays<4>, WidestWays, true>(e, load, store, accesses, sm);
}
#endif

Engine::RunBatch* Engine::batch_runner(const Preset& preset, [[maybe_unused]] Vectors vectors) {
  const uint32_t dirty_limit = preset.knobs.dirty_limit_percent;
  if (!Level::is_simple(preset.l1, dirty_limit) || !Level::is_simple(preset.l2, dirty_limit) ||
      !preset.knobs.write_allocate_l2)
    return nullptr;
#if defined(LANEWISE_WIDE)
  if (vectors != Vectors::base && wide_vectors_run()) {
    if (Level::stride_of(preset.l2.ways) != 16) return batch_wide;
    if (Level::stride_of(preset.l1.ways) != 4) return batch_any_16;
    const bool whole = preset.knobs.fill == Granule::line && preset.knobs.fetch_on_write &&
                       Level::is_linear(preset.l1) && Level::is_linear(preset.l2);
    if (!whole) return batch_4_16;
    return vectors == Vectors::best && widest_vectors_run() ? batch_widest : batch_4_16_whole;
  }
#endif
  return batch_base;
}

void Engine::run_plain(const Plan& load, const Plan& store, std::span<const PlainAccess> accesses,
                       uint32_t sm) {
  if (run_batch_ == nullptr || window_.size != 0 || probe_ != nullptr) {
    for (const PlainAccess& a : accesses)
      run(a.write != 0 ? store : load, {a.block, a.mask, a.context, sm, nullptr});
    return;
  }
  while (!accesses.empty()) {
    const auto part = accesses.first(std::min<size_t>(accesses.size(), PlainLists::kBatch));
    run_batch_(*this, load, store, part, sm);
    accesses = accesses.subspan(part.size());
  }
}

}  // namespace lanewise::cache
