// The cache tracker beside a case: what `expect cache ...` asks.
#pragma once

#include <memory>

#include "runtime/cache/tracker.hpp"
#include "runtime/events/collector.hpp"
#include "runtime/script/case.hpp"

namespace lanewise::script {

class CacheWatch {
 public:
  /// Problem at loc when there is no such preset.
  CacheWatch(const std::string& preset, Loc loc);

  /// Makes the launch tell its accesses: `program` is numbered and must outlive the launch. What a
  /// script's own instructions do (those without a site) is not the guest's.
  void observe(ir::Program& program, LaunchRequest& request);

  /// What an expectation counts; Problem when the preset has no such cache.
  uint64_t count(const ExpectCache& e) const;
  /// The line at the address, "present, clean" and the like; "absent" when there is none.
  struct Found {
    bool present = false, dirty = false;
    std::string text() const;
  };
  Found line(const ExpectCache& e, uint64_t address) const;

 private:
  cache::Tracker tracker_;
  events::Collector collector_;
};

/// The names scripts use; Problem for another one.
cache::Cache cache_named(const std::string& name, Loc loc);
void check_counter(const std::string& name, Loc loc);

}  // namespace lanewise::script
