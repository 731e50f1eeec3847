// Judges what the caches did: rules H1 to H18 (docs/cache-model.md). A finding names the
// instructions on both sides, where they ran, the line's history, and what would have made it
// right.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/tracker/contexts.hpp"

namespace lanewise::cache {

enum class Severity : uint8_t { error, warning, advice };
std::string_view name(Severity s);

/// Rule ids are stable: H1 ... H18.
struct Rule {
  std::string_view id, title;
};
const Rule& rule(unsigned number);
inline constexpr unsigned kRules = 18;

struct Finding {
  unsigned rule = 0;
  Severity severity = Severity::error;
  uint64_t count = 0;
  uint32_t site = kNoContext;        ///< the instruction it happened at
  uint32_t other_site = kNoContext;  ///< the store, the invalidation, ... on the other side
  uint32_t context = kNoContext, other_context = kNoContext;
  Context where, other_where;
  uint64_t address = 0;
  unsigned bytes = 0;
  uint32_t version = 0, newest = 0;  ///< of the sector: what was read, and what there was
  uint64_t value = 0, newest_value = 0;
  bool has_values = false;
  std::string message;
  std::vector<std::string> line_history;
  std::string fix;
  // What puts the findings of several shares of L2 together: when it was seen first, when the
  // line's history was (address, bytes, versions, values and line_history), and of H2 when the lost
  // bytes were read first.
  Moment seen;
  std::optional<Moment> observed, read;
  std::string read_history;
};

/// Findings of one run by rule and both sites.
using Findings = std::map<std::tuple<unsigned, uint32_t, uint32_t>, Finding>;
inline std::tuple<unsigned, uint32_t, uint32_t> key_of(const Finding& f) {
  return {f.rule, f.site, f.other_site};
}
/// As reports have them: without those that are too few to matter, sorted by severity, then
/// count.
std::vector<Finding> to_report(const Findings& findings, const Preset& preset);
/// "missed a line that left as evict_first".
Finding early_eviction(const Preset& preset);

/// Of H14: a sector that several SMs have written in turn, no two of them the same byte.
struct SharedSector {
  uint64_t since = 0;  ///< of a share: its number among the sectors that are watched
  uint64_t sector = 0;
  uint32_t count = 0, sms = 0, bytes = 0;
  uint32_t context = kNoContext, other = kNoContext;
  Context where, other_where;
};
Finding false_sharing(const SharedSector& s, uint64_t clock);
/// Of a kernel, for who puts shares together: which sectors are the first to be watched is known
/// to all shares together only.
struct SharingLog {
  uint64_t clock = 0;           ///< when it ended
  std::vector<uint64_t> since;  ///< of each sector that was watched: the clock then
  std::vector<SharedSector> often;
};
/// Adds one more finding, or its count to the first of its kind.
void add_later(Findings& all, const Finding& f);

/// Of H8, for who puts shares together: how many lines left L2 as evict-first in between is known
/// to all shares together only.
struct EarlyLog {
  std::vector<uint64_t> left;  ///< when lines did, by the clock
  /// A load that misses one of the latest of them.
  struct Missed {
    Finding finding;              ///< as far as it differs from others
    std::vector<uint64_t> lines;  ///< numbers in `left` of lines with this address
  };
  std::vector<Missed> missed;
};

/// What the rules need to know of the run; the tracker is one.
class RunFacts {
 public:
  virtual ~RunFacts() = default;
  virtual const trace::Site& site_of(uint32_t site) const = 0;
  /// The default Context when the number is the host's or too old to be kept.
  virtual Context context_of(uint32_t context) const = 0;
};

class Hazards final : public Observer {
 public:
  Hazards(const Preset& preset, const RunFacts& facts) : preset_(preset), facts_(facts) {}
  void set_engine(Engine* engine) { engine_ = engine; }

  // From the tracker, before the engine sees the access.
  void first_execution(const trace::Site& site, uint32_t index, const Plan* plan, const Access& a);
  void before_load(const Plan& plan, const Access& a);
  void before_store(const Plan& plan, const Access& a);
  void fence(const trace::Site& site, uint32_t sm, uint32_t context);
  void control_in_space(const trace::Site& site, trace::Space space, const Access& a);
  void misaligned_control(const Access& a, uint64_t address);
  void discarded(const Access& a);
  void kernel_begin(uint32_t first_context);
  /// What only the whole of a kernel shows.
  void kernel_end();
  void undefined_buffer(uint64_t address, uint64_t size);
  void host_write(uint64_t address, uint64_t size);
  void host_read(uint64_t address, uint64_t size, uint32_t context);
  void watch_read_only() { watch_read_only_ = true; }
  /// Before lines can leave as evict-first.
  void watch_evictions() { watching_ = true; }
  /// True when each request of a load or store must be shown to before_load / before_store, since
  /// what they find may depend on what the request before it did to the caches.
  bool watching() const { return watching_; }
  /// True when they must be shown, though all requests of a wave may be at once.
  bool watching_read_only() const { return watch_read_only_; }

  // From the engine.
  void asked(const Plan& plan, const Access& a) override;
  void stale_read(const StaleRead& s) override;
  void lost(Loss loss, const Access& cause, const Line& line, const Mask& bytes) override;
  void evicted(Cache c, const Line& line, Priority p, uint32_t context) override;
  void partial_write_back(const Line& line, unsigned sectors) override;
  void shared_write(const Access& a, uint64_t sector, const SectorState& before,
                    uint32_t bytes) override;
  void priority_refused(const Access& a) override;
  void useless_control(const Access& a, Effect effect, const char* why) override;

  /// How often a rule has spoken so far.
  uint64_t reports() const { return reports_; }
  std::vector<Finding> findings() const { return to_report(all_findings(), preset_); }
  /// Those of kernels that have not ended, too.
  Findings all_findings() const;
  /// Of a share.
  const EarlyLog& early_log() const { return early_log_; }
  /// Of a share: the kernels with sectors that H14 watched.
  std::vector<SharingLog> sharing_logs() const;
  /// H14 watches at most so many sectors of a kernel: memory is bounded.
  void watch_at_most(size_t sectors) { most_alternations_ = sectors; }
  size_t most_watched() const { return most_alternations_; }

 private:
  /// Bytes of a block with a past.
  struct Note {
    Mask lost, undefined, dropped;  ///< H2, H6, H7
    Mask written;                   ///< H6: in buffers that start undefined
    uint32_t cause = kNoContext, owner = kNoContext;
  };
  /// A sector that several SMs write: while their bytes differ, who wrote which. 32 SMs at most.
  struct Alternation {
    uint64_t since = 0;  ///< by the clock
    uint32_t count = 0;
    uint32_t context = kNoContext, other = kNoContext;  ///< of the latest two stores
    bool shared = false, any = false;                   ///< two SMs wrote the same byte; any SM
    using Part = std::pair<uint32_t, uint32_t>;         ///< SM, bytes
    // A kernel may have a million of these, most with one SM.
    Part first;
    std::unique_ptr<std::vector<Part>> more;
    void add(uint32_t sm, uint32_t mask);
    bool overlaps(uint32_t sm, uint32_t mask) const;  ///< what others wrote
    bool knows(uint32_t sm) const;
    Part* part_of(uint32_t sm);  ///< or null
    uint32_t sms() const {
      return (any ? 1 : 0) + (more != nullptr ? static_cast<uint32_t>(more->size()) : 0);
    }
  };
  Finding& report(unsigned rule, Severity severity, const Access& a, uint32_t other_context,
                  const std::string& message, const std::string& fix);
  Finding& report_to(Findings& findings, Moment when, unsigned rule, Severity severity,
                     const Access& a, uint32_t other_context, const std::string& message,
                     const std::string& fix) const;
  /// H14 of the sectors that this kernel has written so far.
  void judge_sharing(Findings& findings) const;
  /// In the order of their addresses.
  std::vector<SharedSector> often_shared() const;
  SharingLog sharing_log() const;
  bool is_part() const { return !engine_->share().whole() && !engine_->share().sampled(); }
  uint32_t site_at(uint32_t context) const { return facts_.context_of(context).site; }
  void lost_bytes_read(const Note& note, const Access& a);
  void check_note(Note& note, const Access& a);
  void check_early_eviction(const Access& a);
  void check_read_only_load(const Access& a);
  void fill_history(Finding& f, const StaleRead& s, const SectorState& newest);
  bool values_equal(const StaleRead& s, Finding* f);
  std::string place(uint32_t context) const;
  std::string fresh_load_fix(const trace::Site& site) const;

  Preset preset_;
  const RunFacts& facts_;
  Engine* engine_ = nullptr;
  bool watching_ = false, watch_read_only_ = false;
  uint32_t first_context_ = 0;
  Findings findings_;
  Finding elsewhere_;  ///< what another share reports
  uint64_t reports_ = 0;
  std::unordered_map<uint64_t, Note> notes_;
  uint32_t kernels_ = 0;  ///< begun so far
  std::unordered_map<uint64_t, Alternation> alternations_;
  std::vector<uint32_t> narrow_fences_;  ///< per SM, the latest fence of CTA scope
  std::vector<uint64_t> early_;          ///< ring of lines that left as evict-first
  size_t early_at_ = 0;
  size_t early_window() const;
  void left_early(uint64_t line);
  void log_early_eviction(uint64_t line);
  void log_early_miss(const Access& a);
  EarlyLog early_log_;
  /// Of a share: the latest numbers in EarlyLog::left, by address; of them the first `missed` have
  /// been loaded again.
  struct Left {
    std::vector<uint64_t> numbers;
    size_t missed = 0;
  };
  std::unordered_map<uint64_t, Left> left_;
  size_t most_alternations_ = size_t{1} << 20;
  std::vector<SharingLog> sharing_logs_;
  std::vector<std::pair<uint64_t, uint64_t>> undefined_;
};

}  // namespace lanewise::cache
