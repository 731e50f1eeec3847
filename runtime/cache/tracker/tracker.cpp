#include "runtime/cache/tracker/tracker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/parts/part.hpp"
#include "runtime/cache/parts/sample.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::cache {
namespace {

using trace::OpKind;
using trace::Space;

constexpr size_t kSpaces = 7;
constexpr uint64_t kDefaultLocalBytes = 16 * 1024;

/// Index of the n-th set bit.
unsigned lane_of(uint64_t mask, unsigned n) {
  for (; n != 0; --n) mask &= mask - 1;
  return static_cast<unsigned>(std::countr_zero(mask));
}

Space space_of(const trace::Kernel& k, uint64_t address) {
  if (address - k.shared_base < k.shared_size) return Space::shared;
  if (address - k.local_base < k.local_size) return Space::local;
  return Space::global;
}

/// Copies a lane's value into (or out of) the image of a block.
template <class F>
void each_lane_byte(const trace::Lanes& lanes, unsigned bytes, const Request& q, F f) {
  for (unsigned i = 0; i < lanes.count; ++i)
    for (unsigned b = 0; b < bytes; ++b) {
      const uint64_t at = lanes.address[i] + b;
      if (at - q.block < kBlockBytes && (q.mask & byte_range(at - q.block, 1)).any())
        f(i, b, static_cast<unsigned>(at - q.block));
    }
}

}  // namespace

namespace {

Share share_of(const Preset& preset, const TrackerOptions& o) {
  if (o.parts != 0) return Share::part(preset, o.part, o.parts);
  return o.sample != 0 ? Share::sample(preset, o.sample) : Share{};
}

}  // namespace

Tracker::Tracker(const Preset& preset, const TrackerOptions& options)
    : options_(options),
      hazards_(preset, *this),
      engine_(preset, &hazards_, options.keep_values, Engine::Vectors::best,
              share_of(preset, options)),
      contexts_(options.kept_contexts),
      accesses_(kMostWaiting + requests_.at.size()),
      modulo_sms_(preset.sms),
      l1_unit_(preset.l1.line >= kBlockBytes ? kBlockBytes : 64),
      l1_line_shift_(static_cast<unsigned>(std::countr_zero(preset.l1.line))) {
  hazards_.set_engine(&engine_);
  hazards_.watch_at_most(options.watched_sectors);
  if (options.profile) profile_ = std::make_unique<Profile>(preset);
  if (!options.insight()) return;
  insight_ = std::make_unique<Insight>(preset, *this);
  engine_.set_probe(insight_.get());
}

void Tracker::kernel(const trace::Kernel& k) {
  kernels_.push_back(k);
}

void Tracker::site(const trace::Site& s) {
  if (s.kernel >= kernels_.size())
    throw Error(ErrorKind::usage, fmt::format("trace: site '{}' belongs to no kernel", s.text));
  sites_.push_back(s);
  plans_.emplace_back();
  counters_.emplace_back();
  streams_.emplace_back();
  stream_sites_.emplace_back();
  counters_moved_ = true;
  if (s.op == ir::CacheOp::nc || s.op == ir::CacheOp::ci) hazards_.watch_read_only();
}

void Tracker::buffer(const trace::Buffer& b) {
  buffers_.push_back(b);
  if (b.system) engine_.mark_system(b.address, b.size);
  if (b.undefined) hazards_.undefined_buffer(b.address, b.size);
}

void Tracker::no_context_left() {
  throw Error(ErrorKind::usage, "trace: more than 2^32 - 1 wave instructions");
}

Context Tracker::context_of(uint32_t context) const {
  return contexts_.at(context, engine_.now() != 0 ? engine_.now() : contexts_.next());
}

void Tracker::event(const trace::Event& e) {
  engine_.trim();
  switch (e.kind) {
    case trace::EventKind::wave:
      return wave(e.wave, nullptr);
    case trace::EventKind::kernel_begin:
      hazards_.kernel_begin(contexts_.next());
      if (profile_ != nullptr) profile_->kernel_begin(engine_, e.kernel, contexts_.next());
      return engine_.kernel_begin(contexts_.next());
    case trace::EventKind::kernel_end:
      engine_.kernel_end();
      if (profile_ != nullptr) profile_->kernel_end(engine_, contexts_.next());
      return hazards_.kernel_end();
    default:
      return host_event(e);
  }
}

void Tracker::host_event(const trace::Event& e) {
  const auto whole = [&](ir::EvictPriority p) {
    return p == ir::EvictPriority::first  ? Class::first
           : p == ir::EvictPriority::last ? Class::last
                                          : Class::normal;
  };
  switch (e.kind) {
    case trace::EventKind::host_write:
      hazards_.host_write(e.address, e.size);
      return engine_.host_write(e.address, e.size, new_context({}));
    case trace::EventKind::host_read:
      return hazards_.host_read(e.address, e.size, new_context({}));
    case trace::EventKind::policy_window:
      hazards_.watch_evictions();
      return engine_.set_window({e.address, e.size, e.hit_ratio, whole(e.hit), whole(e.miss)});
    default:
      return engine_.set_window({});
  }
}

void Tracker::finish() {}

std::vector<uint8_t> Tracker::load_values(const trace::WaveRecord& record) {
  std::vector<uint8_t> loaded(size_t{sites_.at(record.site).bytes} * trace::active_lanes(record));
  wave(record, &loaded);
  return loaded;
}

const Plan& Tracker::plan(const trace::Site& s, uint32_t index, Space space) {
  SitePlans& plans = plans_[index];
  if (plans.by_space.empty())
    for (size_t i = 0; i < kSpaces; ++i)
      plans.by_space.push_back(engine_.plan(s, static_cast<Space>(i)));
  return plans.by_space[static_cast<size_t>(space)];
}

void Tracker::wave(const trace::WaveRecord& r, std::vector<uint8_t>* loaded) {
  if (r.site >= sites_.size())
    throw Error(ErrorKind::usage, fmt::format("trace: site {} is not defined", r.site));
  const trace::Site& s = sites_[r.site];
  Access a;
  a.sm = r.sm != trace::kAnySm ? r.sm % preset().sms : r.group % preset().sms;
  a.context = new_context({r.site, r.group, r.wave, static_cast<uint16_t>(a.sm)});
  if (insight_ != nullptr) insight_->time_is(a.context, engine_);
  SiteCounters& n = counters_[r.site];
  ++n.instructions;
  n.lanes += trace::active_lanes(r);
  engine_.set_site(&n);
  if (!plans_[r.site].executed) {
    plans_[r.site].executed = true;
    const Space space = s.space == Space::generic ? Space::global : s.space;
    hazards_.first_execution(s, r.site, &plan(s, r.site, space), a);
  }
  if (s.kind == OpKind::fence) return fence(s, a);
  if (s.kind == OpKind::none || (r.mask == 0 && s.kind != OpKind::control)) return;
  split_by_space(r, s, a, loaded);
}

void Tracker::fence(const trace::Site& s, const Access& a) {
  // A fence of GPU scope that acquires empties the L1: fused on Maxwell (MEMBAR.IVALLD), a
  // CCTL.IVALL after the fence on later chips, which a SASS trace shows as an instruction of its
  // own.
  const bool acquires = s.dialect == trace::Dialect::ptx
                            ? s.scope >= ir::Scope::cluster && s.order != ir::Order::release
                            : s.invalidates;
  if (acquires) return engine_.invalidate_global(a);
  hazards_.fence(s, a.sm, a.context);
}

void Tracker::split_by_space(const trace::WaveRecord& r, const trace::Site& s, const Access& a,
                             std::vector<uint8_t>* loaded) {
  Group group;
  trace::unpack(r, group.lanes);
  for (unsigned i = 0; i < group.lanes.count; ++i) group.active[i] = static_cast<uint8_t>(i);
  if (s.space != Space::generic) return in_space(r, s, s.space, group, a, loaded);
  if (group.lanes.count == 0) return in_space(r, s, Space::global, group, a, loaded);
  const trace::Kernel& k = kernel_of(s);
  for (const Space space : {Space::global, Space::shared, Space::local}) {
    Group part;
    part.lanes.count = 0;
    for (unsigned i = 0; i < group.lanes.count; ++i) {
      if (space_of(k, group.lanes.address[i]) != space) continue;
      part.active[part.lanes.count] = static_cast<uint8_t>(i);
      part.lanes.address[part.lanes.count++] =
          group.lanes.address[i] - (space == Space::local ? k.local_base : 0);
    }
    if (part.lanes.count != 0) in_space(r, s, space, part, a, loaded);
  }
}

uint64_t Tracker::local_wave(const trace::WaveRecord& r, const trace::Kernel& k) const {
  const uint64_t threads = uint64_t{k.block[0]} * k.block[1] * k.block[2];
  const uint64_t waves = (threads + k.wave_lanes - 1) / std::max(1u, k.wave_lanes);
  return r.group * std::max<uint64_t>(1, waves) + r.wave;
}

void Tracker::in_space(const trace::WaveRecord& r, const trace::Site& s, Space space,
                       const Group& group, const Access& a, std::vector<uint8_t>* loaded) {
  const Plan& p = plan(s, r.site, space);
  if (space == Space::local) return run_local(r, s, p, group, a, loaded);
  if (s.kind == OpKind::control) return control(s, space, group, a);
  run(r, s, p, group, s.bytes, a, loaded);
}

/// Local memory interleaves the lanes' dwords, so each dword is an access of its own.
void Tracker::run_local(const trace::WaveRecord& r, const trace::Site& s, const Plan& p,
                        const Group& group, const Access& a, std::vector<uint8_t>* loaded) {
  const trace::Kernel& k = kernel_of(s);
  const unsigned lanes = std::max(1u, k.wave_lanes);
  const uint64_t size = k.local_size != 0 ? (k.local_size + 3) & ~uint64_t{3} : kDefaultLocalBytes;
  const unsigned component = std::min<unsigned>(s.bytes, 4);
  Group words = group;
  for (unsigned at = 0; at == 0 || (at < s.bytes && s.kind != OpKind::control); at += component) {
    for (unsigned i = 0; i < group.lanes.count; ++i)
      words.lanes.address[i] =
          local_address(local_wave(r, k), size, lanes, lane_of(r.mask, group.active[i]),
                        group.lanes.address[i] + at);
    if (s.kind == OpKind::control) return control(s, Space::local, words, a);
    trace::WaveRecord part;
    part.mask = r.mask;
    for (unsigned i = 0; i < trace::active_lanes(r) && !r.values.empty(); ++i)
      part.values.insert(part.values.end(), r.values.begin() + i * s.bytes + at,
                         r.values.begin() + i * s.bytes + at + component);
    std::vector<uint8_t> out(loaded != nullptr ? size_t{component} * trace::active_lanes(r) : 0);
    run(part, s, p, words, component, a, loaded != nullptr ? &out : nullptr);
    for (size_t i = 0; i * component < out.size(); ++i)
      std::copy_n(out.begin() + static_cast<long>(i * component), component,
                  loaded->begin() + static_cast<long>(i * s.bytes + at));
  }
  if (s.kind == OpKind::control && group.lanes.count == 0) control(s, Space::local, words, a);
}

void Tracker::run(const trace::WaveRecord& r, const trace::Site& s, const Plan& p,
                  const Group& group, unsigned bytes, Access a, std::vector<uint8_t>* loaded) {
  if (p.row == nullptr || p.row->path == Path::none) return;
  const auto index = static_cast<uint32_t>(&s - sites_.data());
  SiteCounters& n = counters_[index];
  const Geometry& g = preset().l1;
  coalesce(group.lanes, bytes, g.line, requests_);
  n.requests += requests_.count;
  n.hardware_requests += s.dialect == trace::Dialect::gcn
                             ? gcn_requests(group.lanes, r, s.buffer, bytes, g.line)
                             : nvidia_requests(r.mask, bytes, preset().knobs.request_lanes);
  if (insight_ != nullptr)
    for (unsigned i = 0; i < requests_.count; ++i)
      insight_->requested(requests_.at[i].block, requests_.at[i].mask, a.context);
  if (p.streams && may_stream()) {
    stream_sites_[index].set_plan(p);
    for (unsigned i = 0; i < requests_.count; ++i)
      request(requests_.at[i].block, requests_.at[i].mask, {0, {}, a.context, index, a.sm}, n);
    return flush();
  }
  if (p.plain && !hazards_.watching() && profile_ == nullptr && !options_.general_path)
    return run_plain(p, n, a);
  const bool values = options_.keep_values && s.kind != OpKind::fetch;
  alignas(16) uint8_t image[kBlockBytes] = {};
  for (unsigned i = 0; i < requests_.count; ++i) {
    const Request& q = requests_.at[i];
    a.block = q.block;
    a.mask = q.mask;
    a.bytes = nullptr;
    n.sectors += sector_count(q.mask, std::min(32u, g.sector));
    n.bytes += q.mask.count();
    if (values && (s.kind == OpKind::load || r.values.size() >= bytes * trace::active_lanes(r))) {
      a.bytes = image;
      if (s.kind != OpKind::load)
        each_lane_byte(group.lanes, bytes, q, [&](unsigned lane, unsigned b, unsigned at) {
          image[at] = r.values[group.active[lane] * bytes + b];
        });
    }
    const uint64_t reports = hazards_.reports();
    engine_.tick();
    if (hazards_.watching() || hazards_.watching_read_only()) {
      if (s.kind != OpKind::store) hazards_.before_load(p, a);
      if (s.kind == OpKind::store || s.kind == OpKind::atomic) hazards_.before_store(p, a);
    }
    if (profile_ != nullptr) profile_->before(engine_, n);
    engine_.run(p, a);
    if (profile_ != nullptr)
      profile_->after(engine_, n, index, s.kind, a, hazards_.reports() != reports);
    if (loaded != nullptr && s.kind == OpKind::load)
      each_lane_byte(group.lanes, bytes, q, [&](unsigned lane, unsigned b, unsigned at) {
        (*loaded)[group.active[lane] * bytes + b] = image[at];
      });
  }
}

/// All that run() does where nobody looks at the single request.
void Tracker::run_plain(const Plan& p, SiteCounters& n, const Access& a) {
  const uint32_t write = p.row->kind == OpKind::store ? ~0u : 0;
  plain_accesses_.clear();
  for (unsigned i = 0; i < requests_.count; ++i) {
    const Request& q = requests_.at[i];
    plain_accesses_.push_back({q.block, q.mask, a.context, write});
    n.sectors += sector_count(q.mask, 32);
    n.bytes += q.mask.count();
    if (!hazards_.watching_read_only()) continue;
    const Access single{q.block, q.mask, a.context, a.sm, nullptr};
    engine_.tick();
    if (write != 0)
      hazards_.before_store(p, single);
    else
      hazards_.before_load(p, single);
  }
  engine_.run_plain(p, p, plain_accesses_, a.sm);
}

void Tracker::control(const trace::Site& s, Space space, const Group& group, Access a) {
  if (space == Space::shared) return hazards_.control_in_space(s, space, a);
  const ControlRow* row = find_control(s, space);
  if (!encoding_fault(s).empty() || row == nullptr) return;  // H12 has reported it
  const bool local = space == Space::local;
  const bool takes_address = row->effect <= Effect::reset_line || row->effect == Effect::demote ||
                             row->effect == Effect::discard;
  if (!takes_address) return engine_.control(row->effect, s, local, a);
  hazards_.control_in_space(s, space, a);
  const bool whole_line = row->effect == Effect::demote || row->effect == Effect::discard;
  for (unsigned i = 0; i < group.lanes.count; ++i)
    if (whole_line && group.lanes.address[i] % kBlockBytes != 0)
      return hazards_.misaligned_control(a, group.lanes.address[i]);
  const auto index = static_cast<uint32_t>(&s - sites_.data());
  // Equal lines of one wave are one operation.
  coalesce(group.lanes, 1, preset().l1.line, requests_);
  for (unsigned i = 0; i < requests_.count; ++i) {
    a.block = requests_.at[i].block;
    a.mask = requests_.at[i].mask;
    const uint64_t reports = hazards_.reports();
    engine_.tick();
    if (row->effect == Effect::discard) hazards_.discarded(a);
    if (profile_ != nullptr) profile_->before(engine_, counters_[index]);
    engine_.control(row->effect, s, local, a);
    if (profile_ != nullptr)
      profile_->after(engine_, counters_[index], index, s.kind, a, hazards_.reports() != reports);
  }
}

std::string Tracker::describe(uint64_t address) const {
  for (const trace::Buffer& b : buffers_)
    if (address - b.address < b.size) return fmt::format("{} +{:#x}", b.name, address - b.address);
  if (address >= kLocalBase) return fmt::format("local memory {:#x}", address - kLocalBase);
  return fmt::format("{:#x}", address);
}

void Tracker::settle() {
  if (held_ || !engine_.share().sampled()) return;
  check_quota(*this);
  Results r;
  r.records = records();
  r.tracker_bytes = memory_bytes();
  for (size_t i = 0; i < kCaches; ++i) {
    r.counters[i] = engine_.counters(static_cast<Cache>(i));
    r.dirty[i] = engine_.dirty(static_cast<Cache>(i));
  }
  r.sites = counters_;
  r.findings = hazards_.findings();
  r.sample = estimate_l2(engine_, options_.sample);
  scale_l2(r);
  hold(std::move(r));
}

size_t Tracker::memory_bytes() const {
  if (held_) return held_->tracker_bytes;
  return engine_.memory_bytes() + contexts_.memory_bytes() +
         counters_.capacity() * sizeof(SiteCounters);
}

}  // namespace lanewise::cache
