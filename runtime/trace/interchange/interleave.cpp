#include "runtime/trace/interchange/interleave.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/support/error.hpp"

namespace lanewise::trace {

bool Interleaver::Group::done() const {
  return std::all_of(warps.begin(), warps.end(), [](const Warp& w) { return w.done(); });
}

void Interleaver::turn(Group& group) {
  for (Warp& w : group.warps) {
    if (w.waits || w.done()) continue;
    const WarpStep& step = w.steps[w.next++];
    if (step.barrier)
      w.waits = true;
    else
      to_(step.record);
  }
  if (std::all_of(group.warps.begin(), group.warps.end(),
                  [](const Warp& w) { return w.waits || w.done(); }))
    for (Warp& w : group.warps) w.waits = false;
}

void Interleaver::run_until_free() {
  while (true) {
    turn_ %= resident_.size();
    Group& group = resident_[turn_];
    turn(group);
    if (group.done()) return;
    ++turn_;
  }
}

void Interleaver::add(GroupSteps steps) {
  if (options_.interleave == Interleave::serial) {
    for (const auto& warp : steps)
      for (const WarpStep& step : warp)
        if (!step.barrier) to_(step.record);
    return;
  }
  Group group;
  for (auto& warp : steps) group.warps.push_back({std::move(warp), 0, false});
  if (group.done()) return;
  if (resident_.size() < options_.resident) return resident_.push_back(std::move(group));
  run_until_free();
  resident_[turn_++] = std::move(group);
}

void Interleaver::finish() {
  while (!resident_.empty()) {
    run_until_free();
    resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(turn_));
  }
  turn_ = 0;
}

void set_policy(ReadOptions& options, const std::string& text) {
  const size_t equal = text.find('=');
  const std::string name = text.substr(0, equal);
  const std::string value = equal == std::string::npos ? "" : text.substr(equal + 1);
  const auto fail = [&](const char* expected) {
    throw Error(ErrorKind::usage, fmt::format("--policy {}: expected {}", text, expected));
  };
  if (name == "trace.interleave") {
    if (value != "serial" && value != "round-robin") fail("trace.interleave=round-robin or serial");
    options.interleave = value == "serial" ? Interleave::serial : Interleave::round_robin;
  } else if (name == "trace.resident") {
    const auto r = std::from_chars(value.data(), value.data() + value.size(), options.resident);
    if (r.ec != std::errc{} || r.ptr != value.data() + value.size() || options.resident == 0 ||
        options.resident > 65536)
      fail("trace.resident=1 to 65536");
  } else {
    fail("trace.interleave=... or trace.resident=...");
  }
}

}  // namespace lanewise::trace
