#include "runtime/events/collector.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/guest/allocation_at.hpp"
#include "runtime/guest/event_words.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/trace/record.hpp"

namespace lanewise::events {
using guest::inside;

Error buffer_too_small(const ir::Program& program, uint64_t buffer_bytes) {
  return Error(ErrorKind::budget,
               fmt::format("one work-group of kernel '{}' makes more memory events than the event "
                           "buffer of {} KiB holds; raise --trace-buffer",
                           program.name, buffer_bytes >> 10));
}

void Collector::announce_buffers(std::span<const Allocation> allocations) {
  for (const Allocation& a : allocations) {
    const std::pair<uint64_t, std::string> what(a.size, a.name);
    const auto known = announced_.find(a.address);
    if (known != announced_.end() && known->second == what) continue;
    announced_[a.address] = what;
    trace::Buffer b;
    b.name = a.name;
    b.address = a.address;
    b.size = a.size;
    sink_.buffer(b);
  }
}

void Collector::announce_kernel(const LaunchRequest& request) {
  const ir::Program& program = *request.program;
  trace::Kernel k;
  k.name = program.name;
  k.dialect = static_cast<trace::Dialect>(program.isa);
  k.wave_lanes = program.wave_lanes;
  k.grid = {request.grid.x, request.grid.y, request.grid.z};
  k.block = {request.block.x, request.block.y, request.block.z};
  k.shared_base = guest::kSharedWindow;
  k.shared_size = guest::kWindowSize;
  k.local_base = guest::kLocalWindow;
  k.local_size = (uint64_t{program.local_bytes} + 3) / 4 * 4;
  sink_.kernel(k);
  kernel_ = kernels_++;
  first_site_ = sites_;
  hinted_.clear();
  for (trace::Site& s : plan_.sites) {
    s.kernel = kernel_;
    if (s.file.empty() && s.line != 0) s.file = input_;
    sink_.site(s);
    ++sites_;
  }
}

uint32_t Collector::site_of(const Point& p, uint64_t policy) {
  constexpr size_t kMostPolicies = 4096;  ///< of a launch: memory is bounded
  if (!p.hinted) return first_site_ + p.site;
  const auto known = hinted_.find({p.site, policy});
  if (known != hinted_.end()) return known->second;
  if (hinted_.size() == kMostPolicies) return first_site_ + p.site;
  trace::Site s = plan_.sites[p.site];
  s.policy = policy;
  sink_.site(s);
  return hinted_[{p.site, policy}] = sites_++;
}

void Collector::begin(const LaunchRequest& request, uint64_t arena_size) {
  if (reader_ == nullptr) {
    announce_buffers(request.allocations);
    announce_kernel(request);
  }
  wave_lanes_ = request.program->wave_lanes;
  arena_size_ = arena_size;
  local_bytes_ = request.program->local_bytes;
  param_bytes_ = request.program->param_bytes;
  memcheck_ = request.memcheck;
  allocations_ = request.allocations;
  pointers_.clear();
  if (memcheck_ == Memcheck::alloc && request.pointers) {
    if (auto bounds = guest::pointer_bounds(plan_.pointers, request.params, allocations_))
      pointers_ = std::move(*bounds);
  }
  if (reader_ != nullptr) return reader_->begin(request);
  event_ = trace::Event();
  event_.kind = trace::EventKind::kernel_begin;
  event_.kernel = kernel_;
  sink_.event(event_);
  event_.kind = trace::EventKind::wave;
}

void Collector::end() {
  if (reader_ != nullptr) return;
  event_ = trace::Event();
  event_.kind = trace::EventKind::kernel_end;
  event_.kernel = kernel_;
  sink_.event(event_);
}

void Collector::host(trace::EventKind kind, uint64_t address, uint64_t size) {
  trace::Event e;
  e.kind = kind;
  e.address = address;
  e.size = size;
  if (size != 0) sink_.event(e);
}

trace::WaveRecord& Collector::exact_record(uint64_t group, uint16_t wave, uint32_t point,
                                           uint64_t policy, uint64_t mask,
                                           std::span<const uint64_t> addresses) {
  trace::WaveRecord& r = event_.wave;
  r.site = site_of(plan_.point(point), policy);
  r.group = static_cast<uint32_t>(group);
  r.wave = wave;
  r.mask = mask;
  r.values.clear();
  trace::pack(r, addresses);
  ++records_;
  lane_accesses_ += addresses.size();
  return r;
}

std::vector<uint8_t> Collector::execute() {
  std::vector<uint8_t> loaded = exact_->access(event_.wave);
  event_.wave.values.clear();  // traces hold none
  sink_.event(event_);
  return loaded;
}

bool Collector::touches(const Point& p, uint64_t address) const {
  if (!p.access) return true;
  if (p.rule == ir::AlignRule::trap && (address & (p.alignment - 1)) != 0) return false;
  if (p.space == ir::Space::local) return inside(address, p.bytes, local_bytes_);
  if (p.space == ir::Space::param) return inside(address - p.base, p.bytes, param_bytes_);
  const bool of_parameter = memcheck_ == Memcheck::alloc && p.pointer < pointers_.size();
  if (p.space == ir::Space::generic && !of_parameter) {
    if (address >> 24 == guest::kSharedWindow >> 24) return false;  // passes no cache
    if (address >> 24 == guest::kLocalWindow >> 24)
      return inside(address - guest::kLocalWindow, p.bytes, local_bytes_);
  }
  if (!inside(address - guest::kArenaBase, p.bytes, arena_size_)) return false;
  if (memcheck_ != Memcheck::alloc) return true;
  const Allocation* a = guest::allocation_at(allocations_, address, p.bytes);
  if (a == nullptr || (p.write && a->read_only)) return false;
  return !of_parameter || pointers_[p.pointer].allows(address, p.bytes, p.write);
}

bool Collector::touches_between(const Point& p, uint64_t first, uint64_t last) const {
  if (!touches(p, first) || !touches(p, last)) return false;
  if (memcheck_ != Memcheck::alloc || !ir::wide_space(p.space)) return true;
  return guest::allocation_at(allocations_, first, 1) ==
         guest::allocation_at(allocations_, last, 1);
}

}  // namespace lanewise::events
