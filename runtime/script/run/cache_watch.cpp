#include "runtime/script/run/cache_watch.hpp"

#include <fmt/format.h>

#include "runtime/cache/tracker/coalesce.hpp"
#include "runtime/script/language/cache_names.hpp"

namespace lanewise::script {
namespace {

cache::Preset preset_of(const CacheSetting& s) {
  try {
    return cache::load_preset(s.preset);
  } catch (const Error& e) {
    fail(s.loc, e.what());
  }
}

uint64_t findings(const cache::Tracker& tracker, const std::string& rule) {
  uint64_t n = 0;
  for (const cache::Finding& f : tracker.findings())
    if (rule == cache::rule(f.rule).id) n += f.count;
  return n;
}

}  // namespace

CacheWatch::CacheWatch(const CacheSetting& setting, trace::Sink* also)
    : also_(also), collector_(fan_) {
  if (!setting.preset.empty()) {
    cache::TrackerOptions options;
    options.keep_values = setting.exact;
    tracker_.emplace(preset_of(setting), options);
    if (setting.exact) collector_.set_exact(&exact_.emplace(*tracker_));
    fan_.add(exact_ ? static_cast<trace::Sink*>(&*exact_) : &*tracker_);
  }
  if (also != nullptr) fan_.add(also);
}

void CacheWatch::report_buffers(std::span<const Allocation> allocations) {
  if (also_ == nullptr) return;
  for (const Allocation& a : allocations) {
    trace::Event e;
    e.kind = trace::EventKind::host_write;
    e.address = a.address;
    e.size = a.size;
    also_->event(e);
  }
}

void CacheWatch::observe(ir::Program& program, LaunchRequest& request) {
  collector_.number_points(program);
  for (ir::Block& block : program.blocks)
    for (ir::Inst& inst : block.insts)
      if (inst.site == ir::kNone) inst.event = 0;
  request.program = &program;
  request.events = &collector_;
}

/// Local bytes are those of the launch's first thread.
uint64_t CacheWatch::place(const ExpectCache& e, uint64_t address) const {
  if (!e.local || tracker_->kernels().empty()) return address;
  const trace::Kernel& k = tracker_->kernels().back();
  return cache::local_address(0, k.local_size, k.wave_lanes, 0, address);
}

uint64_t CacheWatch::count(const ExpectCache& e, uint64_t address) const {
  switch (e.what) {
    case ExpectCache::What::finding:
      return findings(*tracker_, e.name);
    case ExpectCache::What::valid_bytes:
      return line(e, address).valid_bytes;
    case ExpectCache::What::dirty_bytes:
      return line(e, address).dirty_bytes;
    default:
      return tracker_->engine().counters(cache_named(e.cache, e.loc)).*counter_named(e.name, e.loc);
  }
}

cache::LineState CacheWatch::line(const ExpectCache& e, uint64_t address) const {
  return tracker_->engine().byte_state(cache_named(e.cache, e.loc), place(e, address), e.sm);
}

}  // namespace lanewise::script
