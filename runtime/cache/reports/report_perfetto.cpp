// What the caches did over time, for Perfetto. Of Profile's columns, so the file is small however
// long the trace is.
#include <fmt/format.h>

#include "runtime/cache/reports/report_data.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cache {
namespace {

constexpr unsigned kProcesses = 1024;  ///< of one preset: its launches, L2, and SMs
constexpr unsigned kLaunches = 1, kL2Process = 2, kFirstSm = 3;

class PerfettoReport {
 public:
  void add(const Tracker& t, bool several) {
    if (t.profile() == nullptr) return;
    t_ = &t;
    profile_ = t.profile();
    prefix_ = several ? t.preset().name + " " : "";
    launches();
    l2();
    sms();
    findings();
    base_ += kProcesses;
  }
  std::string text() const {
    std::string out =
        "{\"displayTimeUnit\":\"ns\",\"lanewise\":" + json_versions() + ",\"traceEvents\":[\n";
    for (size_t i = 0; i < events_.size(); ++i) out += (i == 0 ? "" : ",\n") + events_[i];
    return out + "\n]}\n";
  }

 private:
  void event(const Json& j) {
    events_.push_back(j.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  unsigned process_of(uint32_t sm) const { return base_ + kFirstSm + sm; }
  void process(unsigned pid, const std::string& name) {
    event({{"ph", "M"},
           {"name", "process_name"},
           {"pid", pid},
           {"args", {{"name", prefix_ + name}}}});
    event({{"ph", "M"},
           {"name", "process_sort_index"},
           {"pid", pid},
           {"args", {{"sort_index", pid}}}});
  }
  void launches() {
    process(base_ + kLaunches, "launches");
    for (const LaunchSpan& l : profile_->launches())
      event({{"ph", "X"},
             {"name", t_->kernels().at(l.kernel).name},
             {"pid", base_ + kLaunches},
             {"tid", 1},
             {"ts", l.begin},
             {"dur", l.end - l.begin}});
  }
  /// A counter's value holds until its next one, so what falls back to zero says so.
  void counter(unsigned pid, const char* name, uint32_t column, Json values, bool zero) {
    bool& silent = silent_[{pid, name}];
    const bool fresh = silent_.size() != seen_;
    seen_ = silent_.size();
    if (zero && (silent || fresh)) {
      silent = true;
      return;
    }
    silent = zero;
    event({{"ph", "C"},
           {"name", name},
           {"pid", pid},
           {"ts", column * profile_->column_width()},
           {"args", std::move(values)}});
  }
  void l2() {
    process(base_ + kL2Process, "L2");
    for (uint32_t c = 0; c <= profile_->columns_used(); ++c) {
      HeatCell all;
      for (uint32_t r = 0; c < profile_->columns_used() && r < profile_->by_set().rows(); ++r)
        all.add(profile_->by_set().row(r).at(c));
      counter(base_ + kL2Process, "L2 sectors", c,
              {{"hits", all.l2_hits}, {"misses", all.l2_misses}}, all.l2_hits + all.l2_misses == 0);
      counter(base_ + kL2Process, "L2 lines", c,
              {{"evicted", all.l2_evictions}, {"written back", all.write_backs}},
              all.l2_evictions + all.write_backs == 0);
    }
  }
  void sms() {
    const NumberedHeat& map = profile_->by_sm();
    for (uint32_t r = 0; r < map.rows(); ++r) {
      bool named = false;
      const unsigned pid = process_of(map.first(r));
      for (uint32_t c = 0; c <= profile_->columns_used(); ++c) {
        const HeatCell n = c < profile_->columns_used() ? map.row(r).at(c) : HeatCell{};
        if (!named && n != HeatCell{}) {
          const uint32_t first = map.first(r), last = map.first(r + 1) - 1;
          process(pid, first == last ? fmt::format("SM {}", first)
                                     : fmt::format("SMs {}-{}", first, last));
          named = true;
        }
        if (!named) continue;
        counter(pid, "L1 sectors", c, {{"hits", n.l1_hits}, {"misses", n.l1_misses}},
                n.l1_hits + n.l1_misses == 0);
        counter(pid, "L1 lines", c, {{"evicted", n.l1_evictions}}, n.l1_evictions == 0);
        counter(pid, "stale reads", c, {{"stale", n.stale}}, n.stale == 0);
      }
    }
  }
  /// The process of the band that this SM is in.
  unsigned named_process_of(uint32_t sm) const {
    const NumberedHeat& map = profile_->by_sm();
    return process_of(map.first(static_cast<uint32_t>(uint64_t{sm} * map.rows() / map.count())));
  }
  void instant(const Finding& f, uint32_t site, const Context& c, uint32_t context, bool other) {
    if (context == kNoContext) return;
    const bool host = site == kNoContext;
    Json args = {{"message", f.message}, {"where", t_->describe(f.address)}, {"count", f.count}};
    if (!host) args["instruction"] = t_->site_of(site).text;
    event({{"ph", "i"},
           {"s", "p"},
           {"name", fmt::format("{} {}{}", rule(f.rule).id, rule(f.rule).title,
                                other ? ", other side" : "")},
           {"cat", name(f.severity)},
           {"pid", host ? base_ + kLaunches : named_process_of(c.sm)},
           {"tid", 1},
           {"ts", context},
           {"args", std::move(args)}});
  }
  void findings() {
    for (const Finding& f : t_->findings()) {
      instant(f, f.site, f.where, f.context, false);
      instant(f, f.other_site, f.other_where, f.other_context, true);
    }
  }

  const Tracker* t_ = nullptr;
  const Profile* profile_ = nullptr;
  std::string prefix_;
  unsigned base_ = 0;
  std::map<std::pair<unsigned, std::string>, bool> silent_;
  size_t seen_ = 0;
  std::vector<std::string> events_;
};

}  // namespace

std::string perfetto_report(std::span<const Tracker* const> runs) {
  PerfettoReport report;
  for (const Tracker* t : runs) report.add(*t, runs.size() > 1);
  return report.text();
}

}  // namespace lanewise::cache
