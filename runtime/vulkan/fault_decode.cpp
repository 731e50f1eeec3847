#include "runtime/vulkan/fault_decode.hpp"

#include <algorithm>
#include <tuple>

namespace lanewise::vulkan {
namespace {

uint32_t stored(std::span<const uint32_t> words) {
  const auto room = static_cast<uint32_t>((words.size() - kFaultHeaderWords) / kFaultRecordWords);
  return std::min({words[kFaultCountWord], kMaxFaults, room});
}

const uint32_t* record(std::span<const uint32_t> words, uint32_t i) {
  return words.data() + kFaultHeaderWords + i * kFaultRecordWords;
}

Fault decode(const uint32_t* r) {
  Fault fault;
  fault.kind = static_cast<FaultKind>(r[0] & 0xff);
  fault.size = r[0] >> 24;
  fault.site = r[1];
  std::copy_n(r + 2, 3, fault.group);
  fault.lane = r[5];
  fault.address = r[6] | uint64_t{r[7]} << 32;
  return fault;
}

/// Groups in launch order: x fastest.
auto order(const Fault& f) {
  return std::tuple(f.group[2], f.group[1], f.group[0], f.lane);
}

}  // namespace

void decode_faults(std::span<const uint32_t> words, LaunchResult& result) {
  result.fault_count = words[kFaultCountWord];
  result.faults.clear();
  for (uint32_t i = 0; i < stored(words); ++i) result.faults.push_back(decode(record(words, i)));
  std::ranges::sort(result.faults, {}, order);
}

bool has_fault(std::span<const uint32_t> words, FaultKind kind) {
  for (uint32_t i = 0; i < stored(words); ++i) {
    if (decode(record(words, i)).kind == kind) return true;
  }
  return false;
}

}  // namespace lanewise::vulkan
