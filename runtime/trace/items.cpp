#include "runtime/trace/items.hpp"

#include "runtime/trace/record.hpp"

namespace lanewise::trace {
namespace {

constexpr uint64_t kFullMask = WaveStart::kFullMask, kHasSm = WaveStart::kHasSm,
                   kHasValues = WaveStart::kHasValues, kHasIndex = WaveStart::kHasIndex;

uint64_t pack_flags(const Site& s) {
  uint64_t bits = 0;
  unsigned at = 0;
  for (const bool b :
       {s.glc, s.slc, s.scalar, s.volatile_lines, s.system_lines, s.uncached, s.invalidates,
        s.hinted, s.encoding.register_address, s.encoding.nonzero_immediate, s.encoding.extended,
        s.encoding.read_scoreboard, s.buffer.present, s.buffer.swizzle})
    bits |= static_cast<uint64_t>(b) << at++;
  return bits;
}
void unpack_flags(uint64_t bits, Site& s) {
  unsigned at = 0;
  for (bool* b :
       {&s.glc, &s.slc, &s.scalar, &s.volatile_lines, &s.system_lines, &s.uncached, &s.invalidates,
        &s.hinted, &s.encoding.register_address, &s.encoding.nonzero_immediate,
        &s.encoding.extended, &s.encoding.read_scoreboard, &s.buffer.present, &s.buffer.swizzle})
    *b = (bits >> at++ & 1) != 0;
  if (bits >> at != 0) Take::fail("holds an unknown flag of a site");
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

void put_range(Put& out, const Event& e) {
  out.u(e.address);
  out.u(e.size);
}

}  // namespace

void put_kernel(Put& out, const Kernel& k) {
  out.byte(static_cast<uint8_t>(Item::kernel));
  out.text(k.name);
  out.u(static_cast<uint64_t>(k.dialect));
  out.u(k.wave_lanes);
  for (const uint32_t v : k.grid) out.u(v);
  for (const uint32_t v : k.block) out.u(v);
  for (const uint64_t v : {k.shared_base, k.shared_size, k.local_base, k.local_size}) out.u(v);
}

Kernel take_kernel(Take& in) {
  Kernel k;
  k.name = in.text();
  k.dialect = in.one_of(Dialect::gcn, "dialect");
  k.wave_lanes = static_cast<uint32_t>(in.below(65, "wave size"));
  for (uint32_t& v : k.grid) v = static_cast<uint32_t>(in.below(1ULL << 32, "grid size"));
  for (uint32_t& v : k.block) v = static_cast<uint32_t>(in.below(1ULL << 32, "block size"));
  for (uint64_t* v : {&k.shared_base, &k.shared_size, &k.local_base, &k.local_size}) *v = in.u();
  return k;
}

void put_site(Put& out, const Site& s) {
  out.byte(static_cast<uint8_t>(Item::site));
  out.u(static_cast<uint64_t>(s.dialect));
  out.u(s.kernel);
  out.u(s.pc);
  out.u(s.line);
  out.text(s.text);
  out.text(s.file);
  for (const auto v :
       {static_cast<uint64_t>(s.kind), static_cast<uint64_t>(s.space),
        static_cast<uint64_t>(s.bytes), static_cast<uint64_t>(s.order),
        static_cast<uint64_t>(s.scope), static_cast<uint64_t>(s.op), static_cast<uint64_t>(s.l1),
        static_cast<uint64_t>(s.l2), static_cast<uint64_t>(s.prefetch_bytes), pack_flags(s),
        s.policy, static_cast<uint64_t>(s.control), static_cast<uint64_t>(s.target),
        static_cast<uint64_t>(s.encoding.wait), static_cast<uint64_t>(s.emitted)})
    out.u(v);
  if (s.buffer.present) {
    out.u(s.buffer.stride);
    out.u(s.buffer.element_size);
    out.u(s.buffer.index_stride);
  }
}

Site take_site(Take& in) {
  Site s;
  s.dialect = in.one_of(Dialect::gcn, "dialect");
  s.kernel = static_cast<uint32_t>(in.u());
  s.pc = in.u();
  s.line = static_cast<uint32_t>(in.u());
  s.text = in.text();
  s.file = in.text();
  s.kind = in.one_of(OpKind::fetch, "kind of access");
  s.space = in.one_of(Space::crs, "address space");
  s.bytes = static_cast<uint16_t>(in.below(1 << 16, "access size"));
  s.order = in.one_of(ir::Order::seq_cst, "memory order");
  s.scope = in.one_of(ir::Scope::sys, "scope");
  s.op = in.one_of(ir::CacheOp::wt, "cache operator");
  s.l1 = in.one_of(ir::EvictPriority::no_allocate, "eviction priority");
  s.l2 = in.one_of(ir::EvictPriority::no_allocate, "eviction priority");
  s.prefetch_bytes = static_cast<uint16_t>(in.below(1 << 16, "prefetch size"));
  unpack_flags(in.u(), s);
  s.policy = in.u();
  s.control = in.one_of(ControlOp::query, "cache control");
  s.target = in.one_of(Target::texture, "target cache");
  s.encoding.wait = static_cast<uint8_t>(in.below(256, "wait count"));
  s.emitted = in.one_of(Emitted::atomic, "emitted access");
  if (s.buffer.present) {
    s.buffer.stride = static_cast<uint32_t>(in.u());
    s.buffer.element_size = static_cast<uint32_t>(in.u());
    s.buffer.index_stride = static_cast<uint32_t>(in.u());
  }
  return s;
}

void put_buffer(Put& out, const Buffer& b) {
  out.byte(static_cast<uint8_t>(Item::buffer));
  out.text(b.name);
  out.u(b.address);
  out.u(b.size);
  out.u((b.system ? 1u : 0u) | (b.undefined ? 2u : 0u));
}

Buffer take_buffer(Take& in) {
  Buffer b;
  b.name = in.text();
  b.address = in.u();
  b.size = in.u();
  const uint64_t flags = in.below(4, "flag of a buffer");
  b.system = (flags & 1) != 0;
  b.undefined = (flags & 2) != 0;
  return b;
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
  out.byte(static_cast<uint8_t>(item));
  switch (e.kind) {
    case EventKind::wave:
      put_wave(out, e.wave, previous);
      break;
    case EventKind::kernel_begin:
    case EventKind::kernel_end:
      out.u(e.kernel);
      break;
    case EventKind::host_write:
    case EventKind::host_read:
      put_range(out, e);
      break;
    case EventKind::policy_window:
      put_range(out, e);
      out.u(e.hit_ratio);
      out.u(static_cast<uint64_t>(e.hit));
      out.u(static_cast<uint64_t>(e.miss));
      break;
    case EventKind::end_of_window:
      break;
  }
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
  switch (e.kind) {
    case EventKind::kernel_begin:
    case EventKind::kernel_end:
      e.kernel = static_cast<uint32_t>(in.u());
      break;
    case EventKind::host_write:
    case EventKind::host_read:
    case EventKind::policy_window:
      e.address = in.u();
      e.size = in.u();
      break;
    default:
      break;
  }
  if (e.kind != EventKind::policy_window) return;
  e.hit_ratio = static_cast<uint32_t>(in.below(65537, "hit ratio"));
  e.hit = in.one_of(ir::EvictPriority::no_allocate, "eviction priority");
  e.miss = in.one_of(ir::EvictPriority::no_allocate, "eviction priority");
}

}  // namespace lanewise::trace
