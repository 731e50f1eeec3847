#include "runtime/api/fault_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/guest/allocator.hpp"
#include "runtime/guest/layout.hpp"
#include "runtime/guest/pointer_bounds.hpp"

namespace lanewise::host::detail {
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

/// Shared, local and parameter space have addresses of their own, which no allocation is near to.
bool in_guest_memory(const ir::Program& p, const Fault& f) {
  for (const ir::Block& b : p.blocks)
    for (const ir::Inst& i : b.insts)
      if (i.site == f.site && i.mem && ir::info(i.op).trait == ir::OpTrait::mem &&
          (i.mem->space == ir::Space::shared || i.mem->space == ir::Space::local ||
           i.mem->space == ir::Space::param))
        return false;
  return true;
}

void add_nearest(FaultReport& r, std::span<const Allocation> allocations) {
  const auto nearest = guest::nearest_allocation(allocations, r.address);
  if (!nearest) return;
  r.nearest_allocation = describe_nearest(*nearest, r.address, r.size);
  r.allocation = nearest->allocation->name;
  r.allocation_address = nearest->allocation->address;
  r.allocation_size = nearest->allocation->size;
}

void add_parameter(FaultReport& r, const ir::Program& p, const Fault& f,
                   std::span<const Allocation> allocations, std::span<const std::byte> params) {
  const auto named = std::ranges::find(p.params, f.parameter, &ir::Param::offset);
  if (f.parameter == ir::kNone) return;
  r.parameter = named != p.params.end() && !named->name.empty()
                    ? named->name
                    : fmt::format("at byte {} of the parameters", f.parameter);
  if (const Allocation* into =
          guest::pointed_at(allocations, guest::pointer_at(params, f.parameter))) {
    r.parameter_allocation = into->name;
    r.parameter_allocation_address = into->address;
  }
}

}  // namespace

FaultReport report(const ir::Program& p, const Fault& f, std::span<const Allocation> allocations,
                   std::span<const std::byte> params) {
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
    if (!site.source_file.empty()) {
      r.source = fmt::format("{}:{}", site.source_file, site.source_line);
    }
  }
  r.group = {f.group[0], f.group[1], f.group[2]};
  r.wave = f.lane / p.wave_lanes;
  r.lane = f.lane % p.wave_lanes;
  r.address = f.address;
  r.size = f.size;
  // Generic addresses of shared and local memory are right where they should be.
  const bool unwritten = f.kind == FaultKind::uninitialised && f.address < guest::kArenaBase;
  if (f.size != 0 && !unwritten && in_guest_memory(p, f)) add_nearest(r, allocations);
  add_parameter(r, p, f, allocations, params);
  return r;
}

}  // namespace lanewise::host::detail
