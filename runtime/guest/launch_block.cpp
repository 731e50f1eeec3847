#include "runtime/guest/launch_block.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/guest/validate.hpp"

namespace lanewise::guest {
namespace {

class Writer {
 public:
  Writer(std::vector<std::byte>& bytes, uint64_t base) : bytes_(bytes), base_(base) {}

  template <typename T>
  void put(uint64_t at, T value) {
    put(at, value, sizeof(T));
  }
  void put(uint64_t at, uint64_t value, uint64_t size) {
    std::memcpy(bytes_.data() + base_ + at, &value, std::min<uint64_t>(size, 8));
  }

 private:
  std::vector<std::byte>& bytes_;
  uint64_t base_;
};

unsigned dimensions(Dim3 d) {
  return d.z > 1 ? 3 : d.y > 1 ? 2 : 1;
}

void put_packet(Writer out, const ir::Program& p, const LaunchFacts& f) {
  constexpr uint16_t kKernelDispatch = 2;
  const uint32_t block[3] = {f.block.x, f.block.y, f.block.z};
  const uint32_t grid[3] = {f.grid.x, f.grid.y, f.grid.z};
  out.put<uint16_t>(0, kKernelDispatch);
  out.put<uint16_t>(2, static_cast<uint16_t>(dimensions(f.grid)));
  for (unsigned n = 0; n < 3; ++n) {
    out.put<uint16_t>(4 + 2 * n, static_cast<uint16_t>(block[n]));
    out.put<uint32_t>(12 + 4 * n, grid[n] * block[n]);
  }
  out.put<uint32_t>(24, p.needs.scratch_bytes);
  out.put<uint32_t>(28, f.shared_bytes);
  out.put<uint64_t>(40, f.param_address);
}

void put_queue(Writer out) {
  out.put<uint32_t>(64, kSharedApertureHigh);
  out.put<uint32_t>(68, kPrivateApertureHigh);
}

void put_scratch(Writer out, const LaunchFacts& f) {
  out.put<uint32_t>(0, static_cast<uint32_t>(f.scratch_address));
  out.put<uint32_t>(
      4, static_cast<uint32_t>(f.scratch_address >> 32 & kScratchAddressHigh) | kScratchWord1);
  out.put<uint32_t>(8, kScratchRecords);
  out.put<uint32_t>(12, kScratchWord3);
}

/// Value of a hidden argument. Buffers that only an enqueueing kernel would use, and offsets that
/// no launch here has, are 0.
uint64_t hidden_value(const std::string& kind, const ir::Program& p, const LaunchFacts& f) {
  const uint32_t grid[3] = {f.grid.x, f.grid.y, f.grid.z};
  const uint32_t block[3] = {f.block.x, f.block.y, f.block.z};
  const size_t axis = kind.empty() ? 0 : static_cast<size_t>(kind.back() - 'x');
  if (kind.starts_with("hidden_block_count_") && axis < 3) return grid[axis];
  if (kind.starts_with("hidden_group_size_") && axis < 3) return block[axis];
  if (kind == "hidden_grid_dims") return dimensions(f.grid);
  if (kind == "hidden_printf_buffer") return f.print_address;
  if (kind == "hidden_hostcall_buffer") return f.hostcall_address;
  if (kind == "hidden_multigrid_sync_arg") return f.cooperative ? 1 : 0;
  if (kind == "hidden_private_base") return kPrivateApertureHigh;
  if (kind == "hidden_shared_base") return kSharedApertureHigh;
  if (kind == "hidden_dynamic_lds_size") return f.shared_bytes - p.shared_bytes;
  if (kind == "hidden_queue_ptr") return f.param_address + p.needs.block_offset + kQueueAt;
  return 0;
}

uint64_t waves_of(Dim3 d, uint32_t wave_lanes) {
  return (uint64_t{d.x} * d.y * d.z + wave_lanes - 1) / wave_lanes;
}

}  // namespace

uint64_t scratch_bytes(const ir::Program& p, Dim3 grid, Dim3 block) {
  uint64_t bytes = scratch_per_wave(p.needs.scratch_bytes, p.wave_lanes);
  for (const uint64_t factor :
       {waves_of(block, p.wave_lanes), uint64_t{grid.x}, uint64_t{grid.y}, uint64_t{grid.z}})
    if (__builtin_mul_overflow(bytes, factor, &bytes)) return ~uint64_t{0};
  return bytes;
}

Dim3 launched_block(const ir::Program& p, Dim3 asked) {
  const bool whole =
      std::ranges::any_of(p.needs.hidden, [](const ir::Param& h) { return h.name == kWholeWaves; });
  const uint64_t all = uint64_t{asked.x} * asked.y * asked.z;
  // Sizes that no engine takes are refused further on.
  if (!whole || all == 0 || all > 0xffffffff - p.wave_lanes) return asked;
  return {static_cast<uint32_t>((all + p.wave_lanes - 1) / p.wave_lanes * p.wave_lanes), 1, 1};
}

uint64_t bytes_with_launch_block(const ir::Program& p, uint64_t param_bytes) {
  // Drivers lay arguments down at multiples of 16 bytes, and compilers count on it: they read four
  // dwords where the last of them is no argument's.
  constexpr uint64_t kChunk = 16;
  if (p.needs.block_offset != 0) return p.needs.block_offset + kLaunchBlockBytes;
  return p.isa == ir::Isa::gcn ? (param_bytes + kChunk - 1) / kChunk * kChunk : param_bytes;
}

void add_launch_block(const ir::Program& p, const LaunchFacts& f, std::vector<std::byte>& params) {
  for (const ir::Param& h : p.needs.hidden) {
    if (uint64_t{h.offset} + h.size > params.size()) continue;
    uint64_t value = hidden_value(h.name, p, f);
    if (h.name == kDynamicShared) {
      std::memcpy(&value, params.data() + h.offset, std::min<uint64_t>(h.size, sizeof value));
      value += shared_bytes(p, 0);
    }
    Writer(params, h.offset).put(0, value, h.size);
  }
  params.resize(bytes_with_launch_block(p, params.size()));
  if (p.needs.block_offset == 0) return;
  const uint64_t base = p.needs.block_offset;
  put_packet(Writer(params, base + kPacketAt), p, f);
  put_queue(Writer(params, base + kQueueAt));
  put_scratch(Writer(params, base + kScratchAt), f);
  Writer(params, base + kFlatScratchAt).put<uint32_t>(4, p.needs.scratch_bytes);
}

}  // namespace lanewise::guest
