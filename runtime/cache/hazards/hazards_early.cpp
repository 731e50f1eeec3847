// H8: data used again that L2 let go early, since a hint asked for evict_first. A line counts as
// missed when it is loaded while at most evict_first_window further lines have left so.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/hazards/hazards.hpp"

namespace lanewise::cache {

Finding early_eviction(const Preset& preset) {
  Finding f;
  f.rule = 8;
  f.severity = Severity::advice;
  f.message = fmt::format("missed a line that left as evict_first, at most {} such lines ago",
                          preset.knobs.evict_first_window);
  f.fix = "no evict_first on data that is used again";
  return f;
}

/// In a sample as much of the window as there is of L2.
size_t Hazards::early_window() const {
  const Share& share = engine_->share();
  const size_t window = preset_.knobs.evict_first_window;
  if (!share.sampled()) return window;
  return std::max<size_t>(1, window * share.kept_units() / share.units());
}

void Hazards::left_early(uint64_t line) {
  if (is_part()) log_early_eviction(line);
  if (early_.size() < early_window())
    early_.push_back(line);
  else
    early_[early_at_++ % early_.size()] = line;
}

void Hazards::check_early_eviction(const Access& a) {
  if (is_part()) return log_early_miss(a);
  const auto it = std::find(early_.begin(), early_.end(), a.block);
  if (it == early_.end()) return;
  *it = ~uint64_t{0};
  const Finding f = early_eviction(preset_);
  report(8, Severity::advice, a, kNoContext, f.message, f.fix);
}

// Of a share. Lines of one address are all in it, and what has left the window of this share alone
// has left that of all. Each load misses one line at most, so more loads than lines need not be
// reported. Which of them do miss one, merge() finds out.

void Hazards::log_early_eviction(uint64_t line) {
  const uint64_t number = early_log_.left.size();
  early_log_.left.push_back(engine_->moment().clock);
  left_[line].numbers.push_back(number);
  if (early_.size() < early_window()) return;
  // The oldest leaves the window.
  const auto oldest = left_.find(early_[early_at_ % early_.size()]);
  Left& of = oldest->second;
  of.numbers.erase(of.numbers.begin());
  if (of.missed != 0) --of.missed;
  if (of.numbers.empty()) left_.erase(oldest);
}

void Hazards::log_early_miss(const Access& a) {
  const auto it = left_.find(a.block);
  if (it == left_.end() || it->second.missed == it->second.numbers.size()) return;
  ++it->second.missed;
  EarlyLog::Missed missed;
  Findings one;
  missed.finding = report_to(one, engine_->moment(), 8, Severity::advice, a, kNoContext, "", "");
  missed.lines = it->second.numbers;
  early_log_.missed.push_back(std::move(missed));
}

}  // namespace lanewise::cache
