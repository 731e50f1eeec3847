// The cache tracker beside a case: what `expect cache ...` asks.
#pragma once

#include <memory>

#include "runtime/cache/engine/exact.hpp"
#include "runtime/events/collector.hpp"
#include "runtime/script/case.hpp"

namespace lanewise::script {

class CacheWatch {
 public:
  /// Problem where the setting stands when there is no such preset.
  explicit CacheWatch(const CacheSetting& setting);

  /// Makes the launch tell its accesses: `program` is numbered and must outlive the launch. What a
  /// script's own instructions do (those without a site) is not the guest's.
  void observe(ir::Program& program, LaunchRequest& request);

  /// What an expectation counts.
  uint64_t count(const ExpectCache& e, uint64_t address) const;
  cache::LineState line(const ExpectCache& e, uint64_t address) const;

 private:
  uint64_t place(const ExpectCache& e, uint64_t address) const;

  cache::Tracker tracker_;
  cache::ExactMemory exact_;
  events::Collector collector_;
};

}  // namespace lanewise::script
