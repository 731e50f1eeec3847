// The caches of one GPU, driven request by request: per SM or CU an L1, constant, instruction and
// scalar caches where the preset has them, and one shared L2. It keeps state and counts; what a
// state means for the program is judged by an Observer (hazards.hpp).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/cache/dialects/dialect.hpp"
#include "runtime/cache/dialects/policy_word.hpp"
#include "runtime/cache/engine/batches/stream_access.hpp"
#include "runtime/cache/engine/line_probe.hpp"
#include "runtime/cache/engine/memory/memory.hpp"
#include "runtime/cache/engine/sets/level.hpp"
#include "runtime/cache/presets/preset.hpp"

namespace lanewise::cache {

enum class Cache : uint8_t { l1, constant, constant15, instruction, instruction15, scalar, l2 };
inline constexpr size_t kCaches = 7;
std::string_view name(Cache cache);

/// Requests and sectors of one cache. A request misses when any of its bytes is missing.
struct LevelCounters {
  uint64_t reads = 0, read_misses = 0;
  uint64_t writes = 0, write_misses = 0;
  uint64_t sector_hits = 0, sector_misses = 0;              ///< of reads
  uint64_t write_sector_hits = 0, write_sector_misses = 0;  ///< whose line is there, or is not
  uint64_t fills = 0;                                       ///< sectors fetched from below
  uint64_t evictions = 0, write_backs = 0, write_back_bytes = 0;
  uint64_t invalidated = 0;
  uint64_t prefetches = 0, over_fetch = 0;
  std::array<uint64_t, 4> by_class{};  ///< sectors asked for as normal, first, last, unchanged
  LevelCounters& operator+=(const LevelCounters& o);
  bool operator==(const LevelCounters&) const = default;
};

/// Of one instruction (site).
struct SiteCounters {
  uint64_t instructions = 0, lanes = 0, requests = 0, hardware_requests = 0, sectors = 0;
  uint64_t bytes = 0;
  uint64_t l1_hits = 0, l1_misses = 0, l2_hits = 0, l2_misses = 0;  ///< sectors read
  uint64_t l1_write_hits = 0, l1_write_misses = 0;  ///< sectors stored, by itself and not by
  uint64_t l2_write_hits = 0, l2_write_misses = 0;  ///< lines that are evicted for it
  uint64_t stale = 0;
  bool operator==(const SiteCounters&) const = default;
};

/// One wave's request for bytes of one line.
struct Access {
  uint64_t block = 0;  ///< 128-byte aligned
  Mask mask;
  uint32_t context = 0;
  uint32_t sm = 0;
  uint8_t* bytes = nullptr;  ///< values of the block: read by stores, filled in by loads
};

/// An Access of a load or store that needs no more than this. Half of a host's cache line.
struct PlainAccess {
  uint64_t block = 0;
  Mask mask;
  uint32_t context = 0;
  uint32_t write = 0;  ///< all ones for a store, 0 for a load
};

/// A site's row with everything that does not change from wave to wave worked out.
struct Plan {
  const Row* row = nullptr;
  bool local = false;
  bool plain = false;    ///< Engine::run_plain() takes it
  bool streams = false;  ///< Engine::run_stream() takes it
  bool in_l1 = true;     ///< the preset lets this access use its first cache
  Probe probe = Probe::normal;
  L1Store store = L1Store::evict;
  bool never_allocates = false;  ///< L1::no_allocate
  Class l1_class = Class::normal, l2_class = Class::normal;
  bool hinted = false;
  PolicyWord policy;
  uint16_t prefetch_bytes = 0;
  bool volatile_lines = false;
  uint8_t flags = 0;
};

struct StaleRead {
  Cache cache;
  const Plan* plan;
  Access access;
  Line line;  ///< as found
  History history;
  Mask bytes;  ///< read and stale
};

/// cudaAccessPolicyWindow: the class of plain accesses to a range of addresses.
struct PolicyWindow {
  uint64_t address = 0, size = 0;
  uint32_t hit_ratio = 65536;  ///< share of the window's lines that get `hit`, of 65536
  Class hit = Class::normal, miss = Class::normal;
};

enum class Loss : uint8_t { reset, discard, last_use, scalar_invalidate };

/// Observes what is out of the ordinary. All calls are rare.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Before each access of run_stream(), if the caller wanted that.
  virtual void asked(const Plan&, const Access&) {}
  virtual void stale_read(const StaleRead&) {}
  virtual void lost(Loss, const Access& /*cause*/, const Line&, const Mask& /*bytes*/) {}
  /// A line with a flag or a class of its own leaves its cache.
  virtual void evicted(Cache, const Line&, Priority, uint32_t /*context*/) {}
  virtual void partial_write_back(const Line&, unsigned /*sectors*/) {}
  /// The sector at this address was last written by another SM of the same kernel, which wrote
  /// these bytes of it.
  virtual void shared_write(const Access&, uint64_t /*sector*/, const SectorState& /*before*/,
                            uint32_t /*bytes*/) {}
  virtual void priority_refused(const Access&) {}
  virtual void useless_control(const Access&, Effect, const char* /*why*/) {}
};

/// When something happened, by a clock that is the same whatever share of L2 an engine keeps: so
/// what several of them saw can be put in one order.
struct Moment {
  uint64_t clock = 0;
  uint64_t place = 0;  ///< of what is gone through in one moment: a line of L2, a block
  auto operator<=>(const Moment&) const = default;
};

/// What a cache holds of one byte and of the line around it.
struct LineState {
  bool present = false, dirty = false;
  unsigned valid_bytes = 0, dirty_bytes = 0;
};

class Engine {
 public:
  /// Vector instructions: the best of this machine's, at most AVX2, or those that every machine
  /// has.
  enum class Vectors { best, avx2, base };
  /// share: of L2, what this engine answers for. The caches above are whole.
  Engine(const Preset& preset, Observer* observer, bool keep_values = false,
         Vectors vectors = Vectors::best, Share share = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Plan plan(const trace::Site& site, trace::Space space) const;
  void load(const Plan& plan, const Access& access);
  void store(const Plan& plan, const Access& access);
  void atomic(const Plan& plan, const Access& access);
  void control(Effect effect, const trace::Site& site, bool local, const Access& access);
  void invalidate_global(const Access& cause);

  void kernel_begin(uint32_t first_context);
  void kernel_end();
  void host_write(uint64_t address, uint64_t size, uint32_t context);
  void set_window(const PolicyWindow& w) { window_ = w; }
  void mark_system(uint64_t address, uint64_t size);

  void set_site(SiteCounters* counters) { site_ = counters; }
  /// Null: none. It must live as long as the engine, or until it is replaced.
  void set_probe(LineProbe* probe) { probe_ = probe; }
  const Preset& preset() const { return preset_; }
  const LevelCounters& counters(Cache c) const { return counters_[static_cast<size_t>(c)]; }
  const Share& share() const { return share_; }
  /// The block's sets are of this engine's share.
  bool owns(uint64_t block) const { return share_.whole() || owned(block); }
  Moment moment() const { return moment_; }
  /// The clock goes on; all engines that see one trace do so together.
  void tick(uint64_t place = 0) { moment_ = {moment_.clock + 1, place}; }
  void at_place(uint64_t place) { moment_.place = place; }
  /// Of a sample: L2's counters and dirty lines, by unit.
  std::span<const LevelCounters> unit_counters() const { return unit_counters_; }
  SectorState sector(uint64_t address) { return memory_.page(address).writes.state(address); }
  /// What the sector's last writer has written of it since nobody else did, a bit a byte.
  uint32_t written_bytes(uint64_t address) { return memory_.page(address).writes.written(address); }
  /// Of the kernel with this number.
  ReadOnlyUse& read_only_use(uint64_t address, uint32_t kernel) {
    return memory_.read_only_use(address, kernel);
  }
  /// Without an SM: of whichever copy there is.
  LineState byte_state(Cache c, uint64_t address, std::optional<uint32_t> sm = {}) const;
  /// What all caches of one kind hold that nobody below has yet.
  struct Dirty {
    uint64_t lines = 0, bytes = 0;
  };
  Dirty dirty(Cache c) const;
  std::vector<Dirty> dirty_by_unit() const;
  /// Lines of L2 by Priority; [0] is 0.
  std::array<uint32_t, 4> l2_lines() const;
  uint32_t persisting_limit() const { return l2_->persisting_limit(); }
  const Level& l2() const { return *l2_; }
  size_t memory_bytes() const;
  /// Now and then, between accesses: keeps what is known of memory in bounds.
  void trim() {
    if (!keep_values_) memory_.trim();
  }
  /// Bytes as the L2 would return them now; only with values.
  uint8_t coherent_byte(uint64_t address);
  /// The bytes of one cached line as it holds them; only with values.
  void cached_bytes(Cache c, const Access& a, uint64_t line, uint8_t* block);
  void set_memory_byte(uint64_t address, uint8_t value);
  /// The same for the bytes of a 128-byte block; a set byte changes in L2 as well, where it lies.
  void coherent_block(uint64_t block, uint8_t* bytes);
  void set_coherent(uint64_t block, const Mask& mask, const uint8_t* bytes);
  /// Local memory below the L1s is zero again, as when threads start.
  void clear_local_memory();

  /// Of dirty bytes that go down.
  static const Plan& write_back_plan();
  /// A load, store or atomic, as the plan's row says.
  void run(const Plan& p, const Access& a);
  /// The same for many loads and stores of one SM and one site, in their order, and faster. Both
  /// plans are plain; `store` is that of the accesses that write.
  void run_plain(const Plan& load, const Plan& store, std::span<const PlainAccess> accesses,
                 uint32_t sm);
  /// Loads and stores of any sites and SMs, in their order; their plans stream. `sites` is indexed
  /// by StreamAccess::site. With `ask`, the observer learns of each access first.
  void run_stream(std::span<const StreamAccess> accesses, const StreamSite* sites, bool ask);
  /// Not so while every access has to be seen by somebody.
  bool streams() const { return run_stream_ != nullptr && window_.size == 0 && probe_ == nullptr; }
  /// While run_stream() works: the number of the access it is at, plus 1. Else 0.
  uint32_t now() const { return now_; }

 private:
  // Streams of plain accesses (engine_stream.cpp).
  template <bool kWide, unsigned kLine, unsigned kSector, bool kCommon>
  class Stream;
  using RunStream = void(Engine&, std::span<const StreamAccess>, const StreamSite*);
  template <bool kWide, unsigned kLine, unsigned kSector>
  static RunStream stream;
  static RunStream stream_128_32, stream_64_64, stream_128_128;
  static RunStream stream_128_32_wide, stream_64_64_wide, stream_128_128_wide;
  static RunStream* stream_runner(const Preset& preset, bool keep_values, Vectors vectors);
  // Plain accesses (engine_plain.cpp): for caches of any shape, and of the most common ones.
  template <class L1Ways, class L2Ways, bool kWhole>
  class PlainBatch;
  using RunBatch = void(Engine&, const Plan& load, const Plan& store, std::span<const PlainAccess>,
                        uint32_t sm);
  template <class L1Ways, class L2Ways, bool kWhole>
  static RunBatch run_batch;
  static RunBatch batch_base, batch_wide, batch_any_16, batch_4_16, batch_4_16_whole, batch_widest;
  static RunBatch* batch_runner(const Preset& preset, Vectors vectors);
  /// What a batch of accesses leaves to do: each at most a line that goes down and one to fetch.
  /// One more is for what is put there and not kept.
  struct PlainLists {
    static constexpr size_t kBatch = Memory::kMostLater / 2;
    PlainAccess below[2 * kBatch + 1];
    const PlainAccess* writes[2 * kBatch + 1];
  };
  LevelCounters& count(Cache c) {
    return c == Cache::l2 ? *l2_counters_ : counters_[static_cast<size_t>(c)];
  }
  bool owned(uint64_t block) const;
  /// Before L2 learns of a block: false where another share has it.
  bool enter_l2(uint64_t block) { return share_.whole() || enter_share(block); }
  bool enter_share(uint64_t block);
  void count_for(uint32_t place) {
    if (!unit_counters_.empty()) l2_counters_ = &unit_counters_[share_.unit_at(place)];
  }
  Level& l1(uint32_t sm) { return l1_[sm] ? *l1_[sm] : new_l1(sm); }
  Level& new_l1(uint32_t sm);
  Level& instance(Cache c, uint32_t sm);
  Cache first_cache(const Plan& plan) const;
  void read_line(Cache c, Level& level, uint32_t index, const Plan& p, const Access& a,
                 uint64_t line, Mask mask);
  void read_through(Cache c, Level& level, uint32_t index, const Plan& p, const Access& a,
                    uint64_t line, Mask mask);
  void pass_by(const Plan& p, const Access& a, uint64_t line, Mask mask);
  uint32_t allocate(Cache c, Level& level, uint64_t address, Class wanted, const Access& a);
  bool has_level15(Cache c) const;
  void fetch(Cache c, Level& level, const Plan& p, const Access& a, uint64_t line, Mask need,
             uint8_t* to);
  void fetch_level15(Cache c, const Plan& p, const Access& a, uint64_t line, Mask need,
                     uint8_t* to);
  void read_l2(const Plan& p, const Access& a, uint64_t block, Mask need, uint8_t* to);
  void read_l2_line(const Plan& p, const Access& a, uint64_t line, Mask mask, uint8_t* to);
  void over_fetch(const Plan& p, const Access& a);
  void hit(Level& level, uint32_t index, Class wanted);
  Class l2_class(const Plan& p, uint64_t line) const;
  void register_copy(Cache c, uint64_t block, uint32_t sm);
  void check_stale(Cache c, const Plan& p, const Access& a, const Level& level, uint32_t index,
                   Mask mask);

  void store_l1_write_back(Cache c, Level& level, uint32_t index, const Plan& p, const Access& a,
                           uint64_t line, Mask mask);
  void store_l1_through(const Plan& p, const Access& a, uint64_t line, Mask mask);
  /// Counts a store's sectors at one level; `demand`: an instruction asks for it.
  void count_write(Cache c, const Level& level, const Mask& mask, bool hit, bool demand);
  void write_l2(const Plan& p, const Access& a, bool local);
  void write_l2_line(const Plan& p, const Access& a, uint64_t line, Mask mask);
  /// Written by a store of the kernel that runs.
  bool this_kernels(const SectorState& s) const {
    return s.writer() >= first_context_ && s.writer() != kNoContext;
  }
  void publish(const Access& a);
  void publish_in(Page& page, const Access& a);
  void publish_line(Writes& w, const Access& a);
  void report_sharing(const Access& a, const SectorState* sectors, const uint32_t* written);
  void notify(Cache c, const Level& level, uint64_t line, uint32_t context, bool present) {
    if (probe_ != nullptr) probe_->asked(c, level, line, context, present, demand_);
  }
  void give_up(Cache c, Loss loss, const Access& cause, const Line& line, const Mask& bytes) {
    if (probe_ != nullptr) probe_->discarded(c, cause.context, bytes);
    observer_->lost(loss, cause, line, bytes);
  }
  void make_copies_old(Page& page, const Access& a);
  void mark_copies(Page& page, const Access& a);
  void mark_stale(Level& level, uint32_t index, Page& page, Mask mask);
  void write_memory(const Line& line, const Mask& mask, const uint8_t* bytes);

  void leave(Cache c, Level& level, uint32_t index, uint32_t context);
  void write_back_line(Cache c, Level& level, uint32_t index);
  void write_back(Cache c, Level& level, uint32_t index);
  void drop_bytes(Level& level, uint32_t index, Mask mask);
  void invalidate_line(Cache c, Level& level, uint32_t index, uint32_t context);
  template <class Which>
  uint32_t invalidate_where(Cache c, Level& level, uint32_t context, Which which);
  void control_line(Effect effect, bool local, const Access& a, uint64_t line);
  void prefetch_line(Effect effect, const trace::Site& site, bool local, const Access& a);
  void discard_l2(const Access& a);
  void discard_in_l2(const Access& a);
  void scalar_control(Effect effect, const Access& a);
  void write_back_call_stack(const Access& a);
  uint8_t* values(Level& level, uint32_t index, uint64_t block) {
    return keep_values_ ? level.bytes(index, block) : nullptr;
  }
  uint8_t* memory_bytes_of(uint64_t block);

  Preset preset_;
  Share share_;
  RunBatch* run_batch_;  ///< null: the preset needs the general path
  RunStream* run_stream_;
  uint32_t now_ = 0;
  bool notify_observer_ = false;
  std::unique_ptr<PlainLists> lists_ = std::make_unique<PlainLists>();
  Observer* observer_;
  Observer silent_;
  LineProbe* probe_ = nullptr;
  bool demand_ = true;  ///< not so while a prefetch asks
  bool keep_values_;
  Memory memory_;
  std::vector<std::unique_ptr<Level>> l1_;
  std::array<std::vector<std::unique_ptr<Level>>, kCaches> others_;
  std::unique_ptr<Level> l2_;
  struct StackEntry {
    uint64_t block;
    Mask mask;
    uint32_t context;
  };
  std::vector<std::vector<StackEntry>> call_stacks_;  ///< per SM, not yet in L1
  std::array<LevelCounters, kCaches> counters_{};
  std::vector<LevelCounters> unit_counters_;
  LevelCounters* l2_counters_ = &counters_[static_cast<size_t>(Cache::l2)];
  Moment moment_;
  mutable uint64_t asked_block_ = ~uint64_t{0};  ///< of owned(), the latest
  mutable bool asked_owned_ = false;
  SiteCounters no_site_;
  SiteCounters* site_ = &no_site_;
  uint32_t first_context_ = 0;
  PolicyWindow window_;
  bool any_other_ = false;
};

/// Calls f(line address, bytes of the line) for each line that the block's bytes lie in.
template <class F>
inline void each_line(const Level& level, uint64_t block, const Mask& mask, F f) {
  const uint32_t bytes = level.geometry().line;
  if (bytes >= kBlockBytes) return f(level.line_address(block), mask);
  for (uint32_t at = 0; at < kBlockBytes; at += bytes)
    if (const Mask part = mask & byte_range(at, bytes); part.any()) f(block + at, part);
}

/// The bytes of a line as bytes of its block.
inline Mask line_mask(const Level& level, uint64_t line) {
  const uint32_t bytes = level.geometry().line;
  return bytes >= kBlockBytes ? ~Mask{}
                              : byte_range(static_cast<unsigned>(line % kBlockBytes), bytes);
}

inline uint64_t block_of(uint64_t address) {
  return address & ~(kBlockBytes - 1);
}

}  // namespace lanewise::cache
