#include "runtime/vulkan/probe/loop_value_probe.hpp"

#include <fmt/format.h>

#include "runtime/guest/layout.hpp"
#include "runtime/vulkan/launch/dispatch.hpp"

namespace lanewise::vulkan {
namespace {

constexpr uint32_t kLanes = 64, kWords = 256, kTail = 8, kResults = 4;
constexpr uint64_t kTable = guest::kArenaBase, kOut = guest::kArenaBase + 4096;
constexpr uint32_t kSmall = 1000, kGoOn = 3000;

/// The inner loop skips zeros and hands out the first other word; what comes of it depends on that
/// word; the outer loop goes on while the word behind it is small.
ir::Program program() {
  return ir::parse_program(fmt::format(R"(program "loop_values" ptx wave 32
reg r0 b32
reg d1 b64
reg d2 b64
reg r3 b32
reg r4 b32
reg r5 b32
reg r6 b32
reg p7 pred
block b0
  r0 = sreg.u32.linear_tid
  d1 = mulwide.u32 r0, 4
  d1 = add.u64 d1, {table}
  d2 = mulwide.u32 r0, {stride}
  d2 = add.u64 d2, {out}
  r5 = mov.u32 0
  r6 = mov.u32 0
  jump b1
block b1
  r4 = mov.u32 0
  jump b2
block b2
  r3 = load d1 {{global u32}}
  d1 = add.u64 d1, 4
  r4 = add.u32 r4, 1
  p7 = icmp.u32.eq r3, 0
  branch @p7 b2 b3
block b3
  p7 = icmp.u32.lt r3, {small}
  branch @p7 b4 b5
block b4
  r5 = add.u32 r5, r3
  jump b6
block b5
  r5 = xor.u32 r5, r3
  r5 = add.u32 r5, r4
  jump b6
block b6
  r6 = load d1 {{global u32}}
  d1 = add.u64 d1, 4
  p7 = icmp.u32.lt r6, {go_on}
  branch @p7 b1 b7
block b7
  store d2, r3 {{global u32}}
  store d2, r4 {{global u32 offset=4}}
  store d2, r5 {{global u32 offset=8}}
  store d2, r6 {{global u32 offset=12}}
  exit
)",
                                       fmt::arg("table", kTable), fmt::arg("out", kOut),
                                       fmt::arg("stride", 4 * kResults), fmt::arg("small", kSmall),
                                       fmt::arg("go_on", kGoOn)));
}

/// Six words in ten are zero; the last ones end both loops.
std::vector<uint32_t> table() {
  std::vector<uint32_t> words(kWords, ~0U);
  uint32_t state = 12345;
  for (uint32_t i = 0; i < kWords - kTail; ++i) {
    state = state * 747796405U + 2891336453U;
    const uint32_t word = state >> 16;
    words[i] = word % 10 < 6 ? 0 : word % 4096 + 1;
  }
  return words;
}

std::vector<uint32_t> expected(const std::vector<uint32_t>& words) {
  std::vector<uint32_t> out;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint32_t at = lane, found = 0, count = 0, sum = 0, next = 0;
    do {
      count = 0;
      do {
        found = words[at++];
        ++count;
      } while (found == 0);
      sum = found < kSmall ? sum + found : (sum ^ found) + count;
      next = words[at++];
    } while (next < kGoOn);
    out.insert(out.end(), {found, count, sum, next});
  }
  return out;
}

bool right_in(Device& device, Pipelines& pipelines, DiskCache& disk, const spirv::Target& target,
              WaveMode mode) {
  Arena arena(device);
  Windows windows(device);
  Dispatcher dispatcher(device, arena, windows, pipelines);
  KernelCache kernels(pipelines, disk, target, spirv::translate);
  arena.reserve(kOut - kTable + 4 * kResults * kLanes);
  const std::vector<uint32_t> words = table();
  arena.write(kTable, std::as_bytes(std::span(words)));

  const ir::Program code = program();
  LaunchRequest request;
  request.memcheck = Memcheck::arena;
  request.program = &code;
  request.grid = {1, 1, 1};
  request.block = {kLanes, 1, 1};
  request.wave = mode;
  LaunchResult result;
  const auto no_limit = Clock::time_point::max();
  dispatcher.run(request, kernels.get(request, true, result.times, no_limit), {}, no_limit, result);
  std::vector<uint32_t> got(size_t{kResults} * kLanes);
  arena.read(kOut, std::as_writable_bytes(std::span(got)));
  return result.fault_count == 0 && got == expected(words);
}

}  // namespace

LoopValues probe_loop_values(Device& device, Pipelines& pipelines, DiskCache& disk,
                             const spirv::Target& target) {
  const auto right = [&](bool closed) {
    spirv::Target tried = target;
    tried.quirks.loses_loop_values = closed;
    return right_in(device, pipelines, disk, tried, WaveMode::lane) &&
           right_in(device, pipelines, disk, tried, WaveMode::serial);
  };
  if (right(false)) return LoopValues::kept;
  return right(true) ? LoopValues::kept_when_closed : LoopValues::lost;
}

}  // namespace lanewise::vulkan
