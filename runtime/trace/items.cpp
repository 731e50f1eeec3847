#include "runtime/trace/items.hpp"

#include "runtime/trace/fields.hpp"
#include "runtime/trace/record.hpp"

namespace lanewise::trace {
namespace {

constexpr uint64_t kFullMask = WaveStart::kFullMask, kHasSm = WaveStart::kHasSm,
                   kHasValues = WaveStart::kHasValues, kHasIndex = WaveStart::kHasIndex;

template <class Io, class K>
void fields(Io& io, K& k, const Kernel*) {
  io.text(k.name);
  io.one_of(k.dialect, Dialect::gcn, "dialect");
  io.below(k.wave_lanes, 65, "wave size");
  for (auto& v : k.grid) io.below(v, 1ULL << 32, "grid size");
  for (auto& v : k.block) io.below(v, 1ULL << 32, "block size");
  for (auto* v : {&k.shared_base, &k.shared_size, &k.local_base, &k.local_size}) io.u(*v);
}

template <class Io, class S>
void fields(Io& io, S& s, const Site*) {
  io.one_of(s.dialect, Dialect::gcn, "dialect");
  io.u(s.kernel);
  io.u(s.pc);
  io.u(s.line);
  io.text(s.text);
  io.text(s.file);
  io.one_of(s.kind, OpKind::fetch, "kind of access");
  io.one_of(s.space, Space::crs, "address space");
  io.below(s.bytes, 1 << 16, "access size");
  io.one_of(s.order, ir::Order::seq_cst, "memory order");
  io.one_of(s.scope, ir::Scope::sys, "scope");
  io.one_of(s.op, ir::CacheOp::wt, "cache operator");
  io.one_of(s.l1, ir::EvictPriority::no_allocate, "eviction priority");
  io.one_of(s.l2, ir::EvictPriority::no_allocate, "eviction priority");
  io.below(s.prefetch_bytes, 1 << 16, "prefetch size");
  auto& e = s.encoding;
  io.flags({&s.glc, &s.slc, &s.scalar, &s.volatile_lines, &s.system_lines, &s.uncached,
            &s.invalidates, &s.hinted, &e.register_address, &e.nonzero_immediate, &e.extended,
            &e.read_scoreboard, &s.buffer.present, &s.buffer.swizzle},
           "flag of a site");
  io.u(s.policy);
  io.one_of(s.control, ControlOp::query, "cache control");
  io.one_of(s.target, Target::texture, "target cache");
  io.below(e.wait, 256, "wait count");
  io.one_of(s.emitted, Emitted::atomic, "emitted access");
  if (!s.buffer.present) return;
  io.u(s.buffer.stride);
  io.u(s.buffer.element_size);
  io.u(s.buffer.index_stride);
}

template <class Io, class B>
void fields(Io& io, B& b, const Buffer*) {
  io.text(b.name);
  io.u(b.address);
  io.u(b.size);
  io.flags({&b.system, &b.undefined}, "flag of a buffer");
}

/// Of events that are no waves.
template <class Io, class E>
void fields(Io& io, E& e, const Event*) {
  const bool window = e.kind == EventKind::policy_window;
  if (e.kind == EventKind::kernel_begin || e.kind == EventKind::kernel_end) io.u(e.kernel);
  if (e.kind == EventKind::host_write || e.kind == EventKind::host_read || window) {
    io.u(e.address);
    io.u(e.size);
  }
  if (!window) return;
  io.below(e.hit_ratio, 65537, "hit ratio");
  io.one_of(e.hit, ir::EvictPriority::no_allocate, "eviction priority");
  io.one_of(e.miss, ir::EvictPriority::no_allocate, "eviction priority");
}

template <class T>
void put_item(Put& put, Item item, const T& value) {
  put.byte(static_cast<uint8_t>(item));
  FieldsOut out(put);
  fields(out, value, static_cast<const T*>(nullptr));
}
template <class T>
T take_item(Take& take) {
  T value;
  FieldsIn in(take);
  fields(in, value, static_cast<const T*>(nullptr));
  return value;
}

uint64_t full_mask(unsigned lanes) {
  return lanes == 64 ? ~uint64_t{0} : 0xffff'ffffULL;
}

void put_wave(Put& out, const WaveRecord& r, uint64_t& previous) {
  const bool full = r.mask == full_mask(32);
  const uint64_t flags = (full ? kFullMask : 0) | (r.sm != kAnySm ? kHasSm : 0) |
                         (r.values.empty() ? 0 : kHasValues) | (r.index.empty() ? 0 : kHasIndex);
  out.byte(static_cast<uint8_t>(flags | static_cast<uint64_t>(r.mode) << 4));
  out.u(r.site);
  out.u(r.group);
  out.u(r.wave);
  if (r.sm != kAnySm) out.u(r.sm);
  if (!full) out.u(r.mask);
  if (r.mode != AddressMode::none) {
    out.s(static_cast<int64_t>(r.base - previous));
    previous = r.base;
  }
  if (r.mode == AddressMode::affine) out.s(r.stride);
  if (r.mode == AddressMode::deltas)
    for (unsigned i = 0; i + 1 < active_lanes(r); ++i) out.s(r.deltas.at(i));
  if (!r.values.empty()) {
    out.u(r.values.size());
    for (const uint8_t v : r.values) out.byte(v);
  }
  if (!r.index.empty())
    for (unsigned i = 0; i < active_lanes(r); ++i) {
      out.u(r.index.at(i));
      out.u(r.offset.at(i));
    }
}

}  // namespace

void put_kernel(Put& out, const Kernel& k) {
  put_item(out, Item::kernel, k);
}
void put_site(Put& out, const Site& s) {
  put_item(out, Item::site, s);
}
void put_buffer(Put& out, const Buffer& b) {
  put_item(out, Item::buffer, b);
}
Kernel take_kernel(Take& in) {
  return take_item<Kernel>(in);
}
Site take_site(Take& in) {
  return take_item<Site>(in);
}
Buffer take_buffer(Take& in) {
  return take_item<Buffer>(in);
}

void put_strided(Put& out, const StridedWave& w, uint64_t& previous) {
  const bool full = w.mask == full_mask(32);
  out.byte(static_cast<uint8_t>(Item::wave));
  out.byte(static_cast<uint8_t>((full ? kFullMask : 0) | (w.sm != kAnySm ? kHasSm : 0) |
                                static_cast<uint64_t>(AddressMode::affine) << 4));
  out.u(w.site);
  out.u(w.group);
  out.u(w.wave);
  if (w.sm != kAnySm) out.u(w.sm);
  if (!full) out.u(w.mask);
  out.s(static_cast<int64_t>(w.base - previous));
  previous = w.base;
  out.s(w.stride);
}

void put_event(Put& out, const Event& e, uint64_t& previous) {
  const auto item =
      static_cast<Item>(static_cast<uint8_t>(Item::wave) + static_cast<uint8_t>(e.kind));
  if (e.kind != EventKind::wave) return put_item(out, item, e);
  out.byte(static_cast<uint8_t>(item));
  put_wave(out, e.wave, previous);
}

void take_wave(Take& in, const WaveStart& start, WaveRecord& r) {
  to_record(start.wave, r);
  r.mode = start.mode();
  if (r.mode == AddressMode::deltas)
    for (unsigned i = 0; i + 1 < active_lanes(r); ++i) r.deltas.push_back(in.s());
  if ((start.head & kHasValues) != 0) {
    const size_t n = in.count();
    for (size_t i = 0; i < n; ++i) r.values.push_back(in.byte());
  }
  if ((start.head & kHasIndex) != 0)
    for (unsigned i = 0; i < active_lanes(r); ++i) {
      r.index.push_back(static_cast<uint32_t>(in.u()));
      r.offset.push_back(static_cast<uint32_t>(in.u()));
    }
}

void take_plain_event(Take& in, Item item, Event& e) {
  e.kind = static_cast<EventKind>(static_cast<uint8_t>(item) - static_cast<uint8_t>(Item::wave));
  FieldsIn fields_in(in);
  fields(fields_in, e, static_cast<const Event*>(nullptr));
}

}  // namespace lanewise::trace
