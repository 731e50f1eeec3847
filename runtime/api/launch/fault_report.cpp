#include "runtime/api/launch/fault_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "runtime/guest/allocator.hpp"
#include "runtime/guest/pointer_bounds.hpp"
#include "runtime/isa/absent.hpp"
#include "runtime/isa/function_site.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/support/findings/rules.hpp"

namespace lanewise::host {
namespace {

std::string bytes_text(uint64_t n) {
  return fmt::format("{} byte{}", n, n == 1 ? "" : "s");
}

std::string describe_nearest(const guest::Nearest& nearest, uint64_t address, uint32_t size) {
  const Allocation& a = *nearest.allocation;
  if (nearest.distance == 0) {
    const uint64_t end = address - a.address + size;
    const std::string over =
        end > a.size ? fmt::format(", {} past its end", bytes_text(end - a.size)) : "";
    return fmt::format("'{}' (offset {} of {} bytes{})", a.name, address - a.address, a.size, over);
  }
  if (nearest.distance == 1)
    return fmt::format("'{}' ({}; right behind its end)", a.name, bytes_text(a.size));
  if (nearest.distance > 0) {
    return fmt::format("'{}' ({}; {} past its end)", a.name, bytes_text(a.size),
                       bytes_text(static_cast<uint64_t>(nearest.distance - 1)));
  }
  return fmt::format("'{}' ({}; {} before its start)", a.name, bytes_text(a.size),
                     bytes_text(static_cast<uint64_t>(-nearest.distance)));
}

/// Of a copy between global and shared memory, the side that the address is of. Offsets in shared
/// memory lie below all allocations, and those within it are at most misaligned.
ir::Space side_of_copy(const Fault& f, const FaultMemory& memory) {
  if (f.parameter != ir::kNone || f.address >= guest::kArenaBase) return ir::Space::global;
  const bool inside = f.kind != FaultKind::misaligned && f.address + f.size <= memory.shared;
  return inside ? ir::Space::global : ir::Space::shared;
}

/// The space of the access, where it is one that has addresses of its own, which no allocation is
/// near to.
ir::Space space_of(const ir::Program& p, const Fault& f, const FaultMemory& memory) {
  const UndefinedValue* undefined = f.undefined.get();
  const uint32_t site = undefined != nullptr ? undefined->load_site : f.site;
  bool global = false, shared = false, own = false;
  ir::Space lane_space = ir::Space::local;
  for (const ir::Block& b : p.blocks) {
    for (const ir::Inst& i : b.insts) {
      if (i.site != site || !i.mem || ir::info(i.op).trait != ir::OpTrait::mem) continue;
      ir::Space space = i.mem->space;
      if (space == ir::Space::generic) {
        if (f.address - guest::kSharedWindow < guest::kWindowSize) return ir::Space::shared;
        if (f.address - guest::kLocalWindow < guest::kWindowSize) return ir::Space::local;
        space = ir::Space::global;
      }
      global = global || space == ir::Space::global;
      shared = shared || space == ir::Space::shared;
      if (space != ir::Space::local && space != ir::Space::param) continue;
      own = true;
      lane_space = space;
    }
  }
  // Copies keep in local memory what is still to be done; that never faults.
  if (global && shared) return side_of_copy(f, memory);
  if (shared) return ir::Space::shared;
  return own && !global ? lane_space : ir::Space::global;
}

void add_space(FaultReport& r, const ir::Program& p, ir::Space space, const FaultMemory& memory) {
  r.space = ir::name(space);
  r.space_size = space == ir::Space::shared  ? memory.shared
                 : space == ir::Space::local ? (uint64_t{p.local_bytes} + 3) / 4 * 4
                                             : memory.params.size();
}

void add_freed(FaultReport& r, const Allocation& a) {
  r.nearest_allocation = fmt::format("'{}' (freed; offset {} of the {} that it had)", a.name,
                                     r.address - a.address, bytes_text(a.size));
  r.allocation_freed = true;
}

/// What a pointer belongs to: a live allocation, or one that was freed.
const Allocation* pointed_into(const FaultMemory& memory, uint64_t pointer) {
  const Allocation* live = guest::pointed_at(memory.allocations, pointer);
  return live != nullptr ? live : guest::freed_at(memory.freed, pointer);
}

/// The freed allocation that the access means; null = it means a live one. Memory around a live
/// allocation may be what is left of a freed one: the pointer says which, or else the distance.
const Allocation* freed_target(const Fault& f, const std::optional<guest::Nearest>& nearest,
                               const FaultMemory& memory) {
  if (f.parameter != ir::kNone) {
    const uint64_t pointer = guest::pointer_at(memory.params, f.parameter);
    if (guest::pointed_at(memory.allocations, pointer) != nullptr) return nullptr;
  } else if (nearest && std::abs(nearest->distance) <= int64_t{guest::kAllocAlign}) {
    return nullptr;
  }
  return guest::freed_at(memory.freed, f.address);
}

/// A live allocation that kernels do not reach.
bool add_closed(FaultReport& r, const FaultMemory& memory) {
  const auto in = std::ranges::find_if(
      memory.closed, [&](const Allocation& a) { return r.address - a.address < a.size; });
  if (in == memory.closed.end()) return false;
  r.nearest_allocation = fmt::format("'{}' (offset {} of {} bytes; out of this kernel's reach)",
                                     in->name, r.address - in->address, in->size);
  r.allocation = in->name;
  r.allocation_address = in->address;
  r.allocation_size = in->size;
  return true;
}

void add_nearest(FaultReport& r, const Fault& f, const FaultMemory& memory) {
  if (add_closed(r, memory)) return;
  const auto nearest = guest::nearest_allocation(memory.allocations, r.address);
  const bool inside = nearest && nearest->distance == 0;
  const Allocation* freed = inside ? nullptr : freed_target(f, nearest, memory);
  const Allocation* found = freed != nullptr ? freed : nearest ? nearest->allocation : nullptr;
  if (found == nullptr) return;
  if (freed != nullptr)
    add_freed(r, *freed);
  else
    r.nearest_allocation = describe_nearest(*nearest, r.address, r.size);
  r.allocation = found->name;
  r.allocation_address = found->address;
  r.allocation_size = found->size;
}

/// The only parameter that points into the allocation; kNone where there are several or none.
uint32_t pointer_into(const ir::Program& p, uint64_t start, const FaultMemory& memory) {
  uint32_t found = ir::kNone;
  for (const ir::Param& param : p.params) {
    if (param.size != 8) continue;
    const Allocation* into = pointed_into(memory, guest::pointer_at(memory.params, param.offset));
    if (into == nullptr || into->address != start) continue;
    if (found != ir::kNone) return ir::kNone;
    found = param.offset;
  }
  return found;
}

void add_parameter(FaultReport& r, const ir::Program& p, const Fault& f,
                   const FaultMemory& memory) {
  uint32_t offset = f.parameter;
  // Not followed through the program: the allocation decides, where one parameter alone leads
  // there.
  if (offset == ir::kNone && r.allocation_size != 0)
    offset = pointer_into(p, r.allocation_address, memory);
  if (offset == ir::kNone) return;
  const auto named = std::ranges::find(p.params, offset, &ir::Param::offset);
  r.parameter = named != p.params.end() && !named->name.empty()
                    ? named->name
                    : fmt::format("at byte {} of the parameters", offset);
  const Allocation* into = pointed_into(memory, guest::pointer_at(memory.params, offset));
  if (into == nullptr) return;
  r.parameter_allocation = into->name;
  r.parameter_allocation_address = into->address;
}

constexpr const char* kAsksForGroups =
    "the kernel asks for a cooperative launch (its groups wait for each other, as in grid.sync()), "
    "and this is another one";
constexpr const char* kCooperative = "LaunchCooperativeKernel, or the policy groups=resident";

/// A program that finds its grid's workspace missing gives up.
std::string reason_of(const ir::Program& p, const Fault& f) {
  const std::string called = f.site < p.sites.size() ? p.sites[f.site].function : "";
  if (const auto service = isa::absent_service(called); !service.empty())
    return fmt::format("call of '{}': {} is not supported", called, service);
  if (const auto inside = isa::FunctionSite::of(called); inside && inside->name == "free")
    return "free() of what malloc() did not give, or of what is free already";
  const bool grid = std::ranges::any_of(p.sites, [](const ir::Site& s) {
    return s.text.find("%envreg1") != std::string::npos ||
           s.text.find("%envreg2") != std::string::npos;
  });
  return grid ? fmt::format("trap executed; {}: cuda{}", kAsksForGroups, kCooperative) : "";
}
/// So does a wave that comes to a semaphore which the launch has not.
std::string reason_of_illegal(const ir::Program& p, const Fault& f) {
  const bool grid = f.site < p.sites.size() && p.sites[f.site].text.starts_with("ds_gws_barrier");
  return grid ? fmt::format("{}: hip{}", kAsksForGroups, kCooperative) : "";
}

bool is_of_copy(RaceAccess access) {
  return access == RaceAccess::copy_read || access == RaceAccess::copy_write;
}

std::string_view rule_of(const FaultReport& r, const Fault& f) {
  if (f.race != nullptr && is_of_copy(f.race->other_access)) return "async";
  if (f.sync == nullptr)
    return findings::rule_of_fault(name(f.kind), r.allocation_freed, !r.assertion.empty());
  constexpr std::string_view kRules[] = {
      "sync-divergent-barrier", "sync-barrier-count", "sync-exited-lanes", "sync-mask-without-lane",
      "sync-lanes-missing",     "sync-mbarrier",      "sync-deadlock"};
  return kRules[static_cast<size_t>(f.sync->kind)];
}

/// "lanes 0-15 wait at 'bar.sync 1' (line 12), lanes 16-31 have ended"
std::string places_text(const ir::Program& p, const Sync& sync) {
  std::string out;
  for (const Sync::Place& place : sync.places) {
    if (!out.empty()) out += "; ";
    out += fmt::format("lanes {} ", place.lanes);
    if (place.site >= p.sites.size()) {
      out += "have ended";
      continue;
    }
    const ir::Site& site = p.sites[place.site];
    out += fmt::format("are at '{}'", site.text);
    if (!site.source_file.empty())
      out += fmt::format(" [{}:{}]", site.source_file, site.source_line);
    else if (site.line != 0)
      out += fmt::format(" (line {})", site.line);
  }
  return out;
}

std::string sync_text(const ir::Program& p, const Sync& s) {
  const auto headline = [&]() -> std::string {
    switch (s.kind) {
      case SyncKind::divergent_barrier:
        return fmt::format(
            "lanes {} of one wave come to barrier {} apart from others of the wave, and the "
            "instruction demands that they come together",
            s.lanes, s.barrier);
      case SyncKind::barrier_count:
        return fmt::format("barrier {} is named with {} lanes: {}", s.barrier, s.wanted, s.what);
      case SyncKind::exited_lanes:
        return fmt::format(
            "barrier {} of all lanes of the group opens though lanes {} have ended; before sm_70 "
            "the result is undefined",
            s.barrier, s.lanes);
      case SyncKind::mask_without_lane:
        return fmt::format("lanes {} name a member mask in which they are not", s.lanes);
      case SyncKind::lanes_missing:
        return fmt::format(
            "the operation goes on without lanes {} of its member mask, which have not ended and "
            "are elsewhere",
            s.lanes);
      case SyncKind::mbarrier:
        return s.what;
      case SyncKind::deadlock:
        if (!s.what.empty()) return s.what;
        return fmt::format(
            "barrier divergence: barrier {} waits for {} lanes, {} have come, and the "
            "others never will",
            s.barrier, s.wanted, s.came);
    }
    return {};
  };
  std::string out = headline();
  if (!s.places.empty()) out += ": " + places_text(p, s);
  if (s.times > 1) out += fmt::format("; {} times", s.times);
  return out;
}

void add_memory(FaultReport& r, const ir::Program& p, const Fault& f, const FaultMemory& memory) {
  const ir::Space space = space_of(p, f, memory);
  // No buffer is near to a null pointer, whichever lies lowest.
  if (space == ir::Space::global && f.kind != FaultKind::null)
    add_nearest(r, f, memory);
  else if (space != ir::Space::global)
    add_space(r, p, space, memory);
  add_parameter(r, p, f, memory);
}

std::string remedy_of(const ir::Program& p, RaceRemedy remedy) {
  const bool ptx = p.isa == ir::Isa::ptx, gcn = p.isa == ir::Isa::gcn;
  switch (remedy) {
    case RaceRemedy::barrier:
      return gcn   ? "a barrier (s_barrier) between the two"
             : ptx ? "a barrier of the group (__syncthreads, bar.sync) between the two"
                   : "a barrier of the group (__syncthreads, BAR.SYNC) between the two";
    case RaceRemedy::wave:
      return "__syncwarp (bar.warp.sync) of both lanes, or a barrier, between the two";
    case RaceRemedy::one_lane:
      return "one lane alone that stores, or an atomic: the wave's lanes do this in one step";
    case RaceRemedy::atomic:
      return "atomics on both sides, or a barrier between the two";
    case RaceRemedy::release:
      return "nothing orders groups of a launch but release and acquire of scope gpu (a fence and "
             "an "
             "atomic on each side); or two launches";
    case RaceRemedy::scope:
      return "the scope gpu on both sides: that of one of them does not hold the other's group";
    case RaceRemedy::copy_group:
      return "a wait of the copy's lane for its group (cp.async.commit_group, then "
             "cp.async.wait_group, or cp.async.wait_all), and a barrier behind it for other lanes";
    case RaceRemedy::bulk_group:
      return "a wait of the copy's lane for its group (cp.async.bulk.commit_group, then "
             "cp.async.bulk.wait_group), and a barrier behind it for other lanes";
    case RaceRemedy::bulk_read:
      return "a wait of the copy's lane until the source has been read "
             "(cp.async.bulk.commit_group, then cp.async.bulk.wait_group.read), and a barrier "
             "behind it for other lanes";
    case RaceRemedy::phase:
      return "a wait for the phase of the copy's mbarrier (mbarrier.try_wait or test_wait until it "
             "is true)";
    case RaceRemedy::behind_wait:
      return "the copy has been waited for; a barrier between that wait and this access, or a wait "
             "of this lane";
  }
  return {};
}

std::string_view name_of(RaceAccess access) {
  constexpr std::string_view kNames[] = {"load", "store", "atomic", "asynchronous copy",
                                         "asynchronous copy"};
  return kNames[static_cast<size_t>(access)];
}

void set_other_site(FaultReport& r, const ir::Program& p, uint32_t at) {
  if (at >= p.sites.size()) return;
  const ir::Site& site = p.sites[at];
  r.other_text = site.text;
  r.other_pc = site.pc;
  r.other_line = site.line;
  if (!site.source_file.empty())
    r.other_source = fmt::format("{}:{}", site.source_file, site.source_line);
}

void set_other_lane(FaultReport& r, const ir::Program& p, const uint32_t (&group)[3],
                    uint32_t lane) {
  r.other_group = {group[0], group[1], group[2]};
  r.other_wave = lane / p.wave_lanes;
  r.other_lane = lane % p.wave_lanes;
}

void add_race(FaultReport& r, const ir::Program& p, const Race& race) {
  r.access = name_of(race.access);
  r.other_access = name_of(race.other_access);
  set_other_site(r, p, race.other_site);
  set_other_lane(r, p, race.other_group, race.other_lane);
  r.value_before = race.before;
  r.value_after = race.after;
  r.times = race.times;
  r.remedy = remedy_of(p, race.remedy);
  if (is_of_copy(race.other_access))
    r.reason = race.other_access == RaceAccess::copy_write
                   ? "an asynchronous copy may write these bytes later"
                   : "an asynchronous copy may read these bytes later";
  if (race.same_value) r.remedy += "; each store found its own value there";
}

/// Bits of a register: "bits 8 to 31" or their mask.
std::string bits_text(uint64_t bits) {
  const auto first = static_cast<unsigned>(std::countr_zero(bits));
  const auto count = static_cast<unsigned>(std::popcount(bits));
  const bool together = count == 64 || (bits >> first) == (uint64_t{1} << count) - 1;
  if (!together) return fmt::format("the bits {:#x}", bits);
  if (count == 1) return fmt::format("bit {}", first);
  return fmt::format("bits {} to {}", first, first + count - 1);
}

void add_undefined(FaultReport& r, const ir::Program& p, const Fault& f) {
  constexpr std::string_view kUses[] = {"branch", "guard", "address", "store", "atomic", "operand"};
  const UndefinedValue& u = *f.undefined;
  r.access = kUses[static_cast<size_t>(u.use)];
  r.other_access = "load";
  set_other_site(r, p, u.load_site);
  set_other_lane(r, p, f.group, f.lane);
  r.times = 1;
  const bool one = std::popcount(u.bits) == 1;
  const bool condition = u.use == UndefinedUse::branch || u.use == UndefinedUse::guard;
  r.reason =
      condition
          ? fmt::format("the condition depends on what it loaded, of which {} {} never written",
                        bits_text(u.bits), one ? "was" : "were")
          : fmt::format("{} of the value {} on bytes that were never written", bits_text(u.bits),
                        one ? "depends" : "depend");
  if (u.computed && !condition) r.reason += "; it was computed of them";
  if (u.stored_by >= p.sites.size()) return;
  const ir::Site& by = p.sites[u.stored_by];
  r.reason += fmt::format("; they were copied there by {}", by.text);
  if (!by.source_file.empty())
    r.reason += fmt::format(" [{}:{}]", by.source_file, by.source_line);
  else if (by.line != 0)
    r.reason += fmt::format(" (line {})", by.line);
}

void add_order(FaultReport& r, const ir::Program& p, const Fault& f) {
  const OrderDependence& order = *f.order;
  r.schedule = order.schedule;
  r.other_schedule = order.first;
  if (f.kind != FaultKind::order_dependent) return;
  r.access = name_of(order.access);
  r.value_before = order.before;
  r.value_after = order.after;
  r.times = 1;
  r.reason = fmt::format(
      "memory differs in {} at the end of the launch between the two orders (--schedule {} and "
      "--schedule {} repeat them), found in order {} of the search",
      bytes_text(order.bytes), order.first, order.schedule, order.orders);
  if (!order.has_other) return;
  r.other_access = name_of(order.other_access);
  set_other_site(r, p, order.other_site);
  set_other_lane(r, p, order.other_group, order.other_lane);
}

}  // namespace

FaultReport report(const ir::Program& p, const Fault& f, const FaultMemory& memory) {
  FaultReport r;
  r.kind = f.kind;
  r.kernel = p.name;
  if (f.site < p.sites.size()) {
    const ir::Site& site = p.sites[f.site];
    r.pc = site.pc;
    r.line = site.line;
    r.text = site.text;
    r.assertion = site.assertion;
    r.function = site.function;
    if (const auto inside = isa::FunctionSite::of(site.function)) {
      r.function = inside->name;
      r.called_from = inside->callers_text();
      r.pc -= inside->begin;
    }
    if (!site.source_file.empty()) {
      r.source = fmt::format("{}:{}", site.source_file, site.source_line);
    }
  }
  r.group = {f.group[0], f.group[1], f.group[2]};
  r.wave = f.lane / p.wave_lanes;
  r.lane = f.lane % p.wave_lanes;
  r.address = f.address;
  r.size = f.size;
  if (f.kind == FaultKind::trap && r.assertion.empty()) r.reason = reason_of(p, f);
  if (f.kind == FaultKind::illegal_instruction) r.reason = reason_of_illegal(p, f);
  if (f.sync != nullptr) r.reason = sync_text(p, *f.sync);
  if (f.race != nullptr) add_race(r, p, *f.race);
  if (f.order != nullptr) add_order(r, p, f);
  if (f.undefined != nullptr) add_undefined(r, p, f);
  if (f.size != 0) add_memory(r, p, f, memory);
  r.rule = rule_of(r, f);
  return r;
}

}  // namespace lanewise::host
