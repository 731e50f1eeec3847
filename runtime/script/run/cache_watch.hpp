// What the memory events of a case go to: the cache tracker that `expect cache ...` asks, and who
// runs the script.
#pragma once

#include <memory>
#include <optional>

#include "runtime/cache/tracker/exact.hpp"
#include "runtime/events/collector.hpp"
#include "runtime/script/case.hpp"
#include "runtime/trace/fan.hpp"

namespace lanewise::script {

class CacheWatch {
 public:
  /// Problem where the setting stands when there is no such preset; without a preset there is
  /// nothing to expect. `also` (or null) gets every event, too.
  CacheWatch(const CacheSetting& setting, trace::Sink* also);

  /// Makes the launch report its accesses: `program` is numbered and must outlive the launch. What
  /// a script's own instructions do (those without a site) is not the guest's.
  void observe(ir::Program& program, LaunchRequest& request);
  /// Notifies `also` that these hold something new; the case's own tracker starts with its buffers.
  void report_buffers(std::span<const Allocation> allocations);

  /// What an expectation counts.
  uint64_t count(const ExpectCache& e, uint64_t address) const;
  cache::LineState line(const ExpectCache& e, uint64_t address) const;

 private:
  uint64_t place(const ExpectCache& e, uint64_t address) const;

  std::optional<cache::Tracker> tracker_;
  std::optional<cache::ExactMemory> exact_;
  trace::Sink* also_;
  trace::Fan fan_;
  events::Collector collector_;
};

}  // namespace lanewise::script
