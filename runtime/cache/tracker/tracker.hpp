// Takes a trace and drives the caches of one preset with it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/cache/analysis/insight.hpp"
#include "runtime/cache/hazards/hazards.hpp"
#include "runtime/cache/parts/results.hpp"
#include "runtime/cache/reports/profile.hpp"
#include "runtime/cache/tracker/coalesce.hpp"
#include "runtime/cache/tracker/contexts.hpp"
#include "runtime/trace/event.hpp"

namespace lanewise::cache {

struct TrackerOptions {
  bool keep_values = false;  ///< caches hold bytes, so that stale values can be seen
  uint32_t kept_contexts = uint32_t{1} << 24;  ///< wave instructions that reports can still name
  bool profile = false;                        ///< keep what the HTML and Perfetto reports show
  // Each of these makes the tracker keep an Insight, and reports show this part of it.
  bool compare = false;  ///< what hints did; reports also need without_hints()
  bool reuse = false;    ///< reuse distances
  bool sets = false;     ///< use of sets, and why lines were missing
  /// Of L2 the part `part` of `parts` alone, or a sample of one set in `sample` (share.hpp).
  uint32_t part = 0, parts = 0;              ///< parts 0: all
  uint32_t sample = 0;                       ///< 0: all
  size_t watched_sectors = size_t{1} << 20;  ///< of a kernel, by H14
  /// How the trace was read where its file leaves that open: reports print it.
  std::vector<std::pair<std::string, std::string>> policies;
  /// Where the events come from, for the page: "launches on NAME of DEVICE", "the trace FILE".
  std::string origin;
  /// Every access takes the engine's general path: for tests, which compare.
  bool general_path = false;
  /// Where reports look for source files, beside their own names.
  std::vector<std::string> source_folders;
  bool insight() const { return compare || reuse || sets; }
};

class Tracker final : public trace::Sink, public RunFacts {
 public:
  explicit Tracker(const Preset& preset, const TrackerOptions& options = {});

  void kernel(const trace::Kernel& k) override;
  void site(const trace::Site& s) override;
  void buffer(const trace::Buffer& b) override;
  void event(const trace::Event& e) override;
  void waves(std::span<const trace::StridedWave> waves) override;
  void finish() override;

  /// Runs a load and returns what its lanes see, lane after lane; only with values.
  std::vector<uint8_t> load_values(const trace::WaveRecord& record);

  const Engine& engine() const { return engine_; }
  Engine& engine() { return engine_; }
  const Preset& preset() const { return engine_.preset(); }
  const Hazards& hazards() const { return hazards_; }
  // What reports say: of the run so far, or the results that it holds.
  std::vector<Finding> findings() const { return held_ ? held_->findings : hazards_.findings(); }
  const LevelCounters& counters(Cache c) const {
    return held_ ? held_->counters[static_cast<size_t>(c)] : engine_.counters(c);
  }
  Engine::Dirty dirty(Cache c) const {
    return held_ ? held_->dirty[static_cast<size_t>(c)] : engine_.dirty(c);
  }
  const std::vector<SiteCounters>& site_counters() const {
    return held_ ? held_->sites : counters_;
  }
  uint64_t records() const { return held_ ? held_->records : contexts_.next(); }
  size_t memory_bytes() const;
  /// Null unless they are estimates.
  const Sample* sample() const { return held_ && held_->sample ? &*held_->sample : nullptr; }
  /// Results from elsewhere, in place of a run's.
  void hold(Results results) { held_ = std::move(results); }
  /// The trace has ended: of a sample, what it says of all sets. Throws Error(usage) when it
  /// cannot.
  void settle();
  const std::vector<trace::Site>& sites() const { return sites_; }
  const std::vector<trace::Kernel>& kernels() const { return kernels_; }
  const std::vector<trace::Buffer>& buffers() const { return buffers_; }
  /// Null unless it was asked for.
  const Profile* profile() const { return profile_.get(); }
  const Insight* insight() const { return insight_.get(); }
  const TrackerOptions& options() const { return options_; }
  /// The same trace and preset with hints ignored, or null.
  const Tracker* without_hints() const { return without_hints_; }
  void set_without_hints(const Tracker* t) { without_hints_ = t; }
  /// "flags +0x40", or the bare address outside every buffer.
  std::string describe(uint64_t address) const;

  const trace::Site& site_of(uint32_t site) const override { return sites_.at(site); }
  Context context_of(uint32_t context) const override;

 private:
  struct SitePlans {
    std::vector<Plan> by_space;  ///< index = trace::Space
    bool executed = false;
  };
  /// Lanes of a wave that go to the same space; active[i] counts among the record's active lanes.
  struct Group {
    trace::Lanes lanes;
    std::array<uint8_t, trace::kMaxLanes> active;
  };
  uint32_t new_context(const Context& c) {
    if (contexts_.next() == kNoContext) no_context_left();
    return contexts_.add(c);
  }
  [[noreturn]] static void no_context_left();
  void wave(const trace::WaveRecord& r, std::vector<uint8_t>* loaded);
  void split_by_space(const trace::WaveRecord& r, const trace::Site& s, const Access& a,
                      std::vector<uint8_t>* loaded);
  void in_space(const trace::WaveRecord& r, const trace::Site& s, trace::Space space,
                const Group& group, const Access& a, std::vector<uint8_t>* loaded);
  void run(const trace::WaveRecord& r, const trace::Site& s, const Plan& p, const Group& group,
           unsigned bytes, Access a, std::vector<uint8_t>* loaded);
  void run_plain(const Plan& p, SiteCounters& n, const Access& a);
  // Waves of plain accesses, many at a time (tracker_stream.cpp).
  /// How a site's waves can be taken without a look at each.
  struct Stream {
    bool known = false, takes = false;
    bool generic = false, gcn = false, buffer = false;
    uint8_t bytes = 0;
    uint8_t full_requests = 0;  ///< hardware's, of 32 lanes
    uint32_t kernel = 0;
  };
  bool may_stream() const;
  const Stream& new_stream(uint32_t site);
  bool take(const trace::StridedWave& w);
  bool all_global(const trace::StridedWave& w, const Stream& s, unsigned lanes) const;
  void request(uint64_t block, const Mask& mask, const StreamAccess& of, SiteCounters& n) {
    accesses_[waiting_++] = {block, mask, of.context, of.site, of.sm};
    n.sectors += sector_count(mask, 32);
    n.bytes += mask.count();
  }
  void flush();
  void run_local(const trace::WaveRecord& r, const trace::Site& s, const Plan& p,
                 const Group& group, const Access& a, std::vector<uint8_t>* loaded);
  void control(const trace::Site& s, trace::Space space, const Group& group, Access a);
  void fence(const trace::Site& s, const Access& a);
  const Plan& plan(const trace::Site& s, uint32_t index, trace::Space space);
  uint64_t local_wave(const trace::WaveRecord& r, const trace::Kernel& k) const;
  const trace::Kernel& kernel_of(const trace::Site& s) const { return kernels_.at(s.kernel); }
  void host_event(const trace::Event& e);

  TrackerOptions options_;
  Hazards hazards_;
  Engine engine_;
  std::optional<Results> held_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<Insight> insight_;
  const Tracker* without_hints_ = nullptr;
  std::vector<trace::Kernel> kernels_;
  std::vector<trace::Site> sites_;
  std::vector<SitePlans> plans_;
  std::vector<SiteCounters> counters_;
  std::vector<trace::Buffer> buffers_;
  Contexts contexts_;
  trace::Lanes lanes_;
  Requests requests_;
  std::vector<PlainAccess> plain_accesses_;
  std::vector<Stream> streams_;           ///< by site
  std::vector<StreamSite> stream_sites_;  ///< the same, for the engine
  bool counters_moved_ = false;           ///< since stream_sites_ last knew where they are
  /// Not made yet are the first `waiting_`. Behind the last of them there is space for any
  /// wave's.
  std::vector<StreamAccess> accesses_;
  static constexpr size_t kMostWaiting = 512;
  size_t waiting_ = 0;
  bool streams_now_ = false;  ///< may_stream(), while waves() works
  Remainder modulo_sms_;
  unsigned l1_unit_ = kBlockBytes;  ///< bytes that a request has at most
  unsigned l1_line_shift_ = 0;
  trace::WaveRecord record_;
};

}  // namespace lanewise::cache
