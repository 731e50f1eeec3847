#include "tests/fuzz/streams/model.hpp"

#include <algorithm>

namespace lanewise::fuzz {

FaultKind Memory::verdict(uint64_t address) {
  if (address < guest::kNullPageEnd) return FaultKind::null;
  if (address < guest::kArenaBase || address >= kUnallocated) return FaultKind::out_of_range;
  return FaultKind::none;
}

void Memory::fault(FaultKind k, uint64_t address) {
  unallocated = unallocated || (address >= kUnallocated && address < kFar);
  if (kind != FaultKind::none) return;
  kind = k;
  fault_address = address;
}

bool Memory::enter(uint64_t address, unsigned bytes) {
  const FaultKind found = verdict(address);
  if (found != FaultKind::none) {
    fault(found, address);
    return false;
  }
  touches.push_back({address, bytes});
  return true;
}

Bytes Memory::load(uint64_t address, unsigned bytes) {
  Bytes data{};
  if (!enter(address, bytes)) return data;
  for (unsigned n = 0; n < bytes; ++n) data[n] = image_(address + n);
  return data;
}

void Memory::store(uint64_t address, const Bytes& data, unsigned bytes, uint32_t which) {
  if (!enter(address, bytes)) return;
  for (unsigned n = 0; n < bytes; ++n)
    if ((which >> n & 1) != 0) written[address + n] = data[n];
}

Effect effect(const Instruction& i, const Lane& lane, const Memory::Image& image) {
  Effect e{{lane.in.end() - i.outputs(), lane.in.end()}, Memory(image)};
  if (lane.active) i.run(lane, e.memory, e.out);
  return e;
}

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"sass", 6, sass_setting, make_sass},
      {"sass-atomic", 4, sass_setting, make_sass_atomic},
      {"ptx", 6, ptx_setting, make_ptx},
      {"gcn", 3, gcn_setting, make_gcn},
      {"gcn-format", 2, gcn_setting, make_gcn_format},
  };
  return all;
}

}  // namespace lanewise::fuzz
