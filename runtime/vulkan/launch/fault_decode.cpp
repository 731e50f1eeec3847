#include "runtime/vulkan/launch/fault_decode.hpp"

#include <algorithm>
#include <tuple>

#include "runtime/guest/allocation_at.hpp"
#include "runtime/guest/extent.hpp"
#include "runtime/guest/validate.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::vulkan {
namespace {

uint32_t stored(std::span<const uint32_t> words) {
  const auto capacity =
      static_cast<uint32_t>((words.size() - kFaultHeaderWords) / kFaultRecordWords);
  return std::min({words[kFaultCountWord], kMaxFaults, capacity});
}

const uint32_t* record(std::span<const uint32_t> words, uint32_t i) {
  return words.data() + kFaultHeaderWords + i * kFaultRecordWords;
}

using guest::inside;

FaultKind kind_in_arena(const spirv::FaultPoint& access, uint64_t address,
                        const MemoryMap& memory) {
  if (address < guest::kNullPageEnd) return FaultKind::null;
  if (!inside(address - guest::kArenaBase, access.bytes, memory.arena))
    return FaultKind::out_of_range;
  const uint64_t offset = address - guest::kArenaBase;
  if (memory.memcheck == Memcheck::arena && access.write &&
      !inside(offset, access.bytes, memory.writable))
    return FaultKind::write_to_read_only;
  if (memory.memcheck == Memcheck::alloc) {
    const Allocation* found = guest::allocation_at(memory.allocations, address, access.bytes);
    if (found == nullptr) return FaultKind::out_of_range;
    if (access.write && found->read_only) return FaultKind::write_to_read_only;
    if (access.pointer < memory.bounds.size() &&
        !memory.bounds[access.pointer].allows(address, access.bytes, access.write))
      return FaultKind::out_of_range;
  }
  return FaultKind::misaligned;
}

Fault decode(const uint32_t* r, std::span<const spirv::FaultPoint> points,
             const MemoryMap& memory) {
  Fault fault;
  const uint32_t number = r[0] & ~spirv::kEndsLaunch;
  std::copy_n(r + 1, 3, fault.group);
  fault.lane = r[4];
  fault.address = r[5] | uint64_t{r[6]} << 32;
  if (number == 0 || number > points.size()) return fault;
  const spirv::FaultPoint& point = points[number - 1];
  fault.site = point.site;
  fault.size = point.bytes;
  if (point.pointer < memory.pointers.size()) fault.parameter = memory.pointers[point.pointer];
  fault.kind = point.kind != FaultKind::none ? point.kind : kind_of(point, fault.address, memory);
  return fault;
}

/// Groups in launch order: x fastest.
auto order(const Fault& f) {
  return std::tuple(f.group[2], f.group[1], f.group[0], f.lane);
}

bool same_group(const Fault& a, const Fault& b) {
  return std::ranges::equal(a.group, b.group);
}

/// A lane that waits at a barrier for one whose steps are used up is not at fault. The kernel
/// itself does not always know: on drivers that cut long loops nobody ends the launch.
bool waits_for_spent(const Fault& f, const std::vector<Fault>& all) {
  return f.kind == FaultKind::barrier_divergence && std::ranges::any_of(all, [&](const Fault& o) {
           return o.kind == FaultKind::step_budget && same_group(f, o);
         });
}

/// The driver has cut a loop, nobody knows which.
bool cut_anywhere(const Fault& f) {
  return f.kind == FaultKind::step_budget && f.address == spirv::kCutAnywhere;
}

/// That is reported once for a launch, and not at all where a lane says which of the guest's loops
/// it was. First, since what else went wrong may follow from it.
void arrange(LaunchResult& result) {
  std::vector<Fault>& faults = result.faults;
  std::ranges::sort(faults, {}, order);
  const auto known = [](const Fault& f) {
    return f.kind == FaultKind::step_budget && f.address == spirv::kCutHere;
  };
  if (std::ranges::any_of(faults, known)) result.fault_count -= std::erase_if(faults, cut_anywhere);
  const auto others = std::stable_partition(faults.begin(), faults.end(), cut_anywhere);
  std::for_each(faults.begin(), others, [](Fault& f) { f.address = spirv::kCutHere; });
}

}  // namespace

MemoryMap memory_map(const LaunchRequest& request, uint64_t arena_bytes) {
  MemoryMap map;
  map.arena = guest::extent(request, arena_bytes);
  map.writable = guest::writable_extent(request, arena_bytes);
  map.params = request.params.size();
  map.shared = guest::shared_bytes(*request.program, request.dynamic_shared);
  map.local = (uint64_t{request.program->local_bytes} + 3) / 4 * 4;
  map.memcheck = request.memcheck;
  map.allocations = request.allocations;
  return map;
}

FaultKind kind_of(const spirv::FaultPoint& access, uint64_t address, const MemoryMap& memory) {
  const auto small = [&](uint64_t offset, uint64_t size) {
    return inside(offset, access.bytes, size) ? FaultKind::misaligned : FaultKind::out_of_range;
  };
  switch (access.space) {
    case ir::Space::shared:
      return small(address, memory.shared);
    case ir::Space::local:
      return small(address, memory.local);
    case ir::Space::param: {
      const FaultKind kind = small(address, memory.params);
      return kind == FaultKind::misaligned && access.write ? FaultKind::write_to_read_only : kind;
    }
    case ir::Space::generic:
      if (address - guest::kSharedWindow < guest::kWindowSize)
        return small(address - guest::kSharedWindow, memory.shared);
      if (address - guest::kLocalWindow < guest::kWindowSize)
        return small(address - guest::kLocalWindow, access.atomic ? 0 : memory.local);
      break;
    case ir::Space::global:
    case ir::Space::constant:
    case ir::Space::code:
      break;
  }
  return kind_in_arena(access, address, memory);
}

void decode_faults(std::span<const uint32_t> words, std::span<const spirv::FaultPoint> points,
                   const MemoryMap& memory, LaunchResult& result) {
  result.fault_count = words[kFaultCountWord];
  result.faults.clear();
  for (uint32_t i = 0; i < stored(words); ++i)
    result.faults.push_back(decode(record(words, i), points, memory));
  result.fault_count -= static_cast<uint32_t>(std::erase_if(
      result.faults, [all = result.faults](const Fault& f) { return waits_for_spent(f, all); }));
  arrange(result);
}

bool ends_launch(std::span<const uint32_t> words) {
  for (uint32_t i = 0; i < stored(words); ++i) {
    if ((record(words, i)[0] & spirv::kEndsLaunch) != 0) return true;
  }
  return false;
}

}  // namespace lanewise::vulkan
