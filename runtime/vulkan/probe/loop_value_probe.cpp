#include "runtime/vulkan/probe/loop_value_probe.hpp"

#include <fmt/format.h>

#include <numeric>

#include "runtime/layout/addresses.hpp"
#include "runtime/vulkan/launch/dispatch.hpp"

namespace lanewise::vulkan {
namespace {

constexpr uint32_t kLanes = 64, kWords = 256, kTail = 8, kResults = 4;
constexpr uint64_t kTable = guest::kArenaBase, kOut = guest::kArenaBase + 4096;
constexpr uint32_t kSmall = 1000, kGoOn = 3000;

/// d1 is where the lane's words begin, d2 where its results go.
std::string beginning(const char* name, uint32_t bytes) {
  return fmt::format(R"(program "{name}" ptx wave 32
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
  d1 = mulwide.u32 r0, {bytes}
  d1 = add.u64 d1, {table}
  d2 = mulwide.u32 r0, {stride}
  d2 = add.u64 d2, {out}
  r5 = mov.u32 0
  r6 = mov.u32 0
)",
                     fmt::arg("name", name), fmt::arg("bytes", bytes), fmt::arg("table", kTable),
                     fmt::arg("stride", 4 * kResults), fmt::arg("out", kOut));
}

/// The inner loop skips zeros and hands out the first other word; what comes of it depends on that
/// word; the outer loop goes on while the word behind it is small.
ir::Program search_program() {
  return ir::parse_program(beginning("loop_values", 4) + fmt::format(R"(  jump b1
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
                                                                     fmt::arg("small", kSmall),
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

std::vector<uint32_t> found_in(const std::vector<uint32_t>& words) {
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

/// What the loop computes in r3 never changes, and its second exit sets the register that r3 is
/// computed from. Where a compiler finds the second exit's condition true, r3 loses its OpPhi, and
/// lanes that have left get it from what that exit has set (lavapipe 25.0.7).
ir::Program unchanged_program() {
  return ir::parse_program(beginning("unchanged_values", 4) + R"(  r4 = load d1 {global u32}
  r5 = and.u32 r4, 1
  jump b1
block b1
  r3 = and.u32 r4, 15
  p7 = icmp.u32.eq r5, 0
  branch @p7 b4 b2
block b2
  r5 = sub.u32 r5, 1
  p7 = icmp.u32.ne r3, 3
  branch @p7 b1 b3
block b3
  r4 = shr.u32 r3, 2
  p7 = icmp.u32.eq r4, 0
  branch @p7 b4 b1
block b4
  store d2, r3 {global u32}
  store d2, r4 {global u32 offset=4}
  exit
)");
}

std::vector<uint32_t> unchanged_in(const std::vector<uint32_t>& words) {
  std::vector<uint32_t> out;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t low = words[lane] & 15;
    out.insert(out.end(), {low, low == 3 ? 0 : words[lane], 0, 0});
  }
  return out;
}

struct ValueTrial {
  ir::Program code;
  std::vector<uint32_t> words;
  bool passes = true;
};

struct Outcome {
  std::vector<uint32_t> words;  ///< kResults of each lane
  uint64_t faults = 0;
};

Outcome run(Device& device, Pipelines& pipelines, DiskCache& disk, const spirv::Target& target,
            const ValueTrial& trial, WaveMode mode) {
  Arena arena(device);
  ImportedMemory imported(device);
  Dispatcher dispatcher(device, arena, imported, pipelines);
  KernelCache kernels(pipelines, disk, target, spirv::translate);
  arena.reserve(kOut - kTable + uint64_t{4} * kResults * kLanes);
  arena.write(kTable, std::as_bytes(std::span(trial.words)));

  LaunchRequest request;
  request.memcheck = Memcheck::arena;
  request.program = &trial.code;
  request.grid = {1, 1, 1};
  request.block = {kLanes, 1, 1};
  request.wave = mode;
  request.policies = {{"passes", trial.passes ? "on" : "off"}};
  LaunchResult result;
  const auto no_limit = Clock::time_point::max();
  dispatcher.run(request, kernels.get(request, true, result.times, no_limit), {}, no_limit, result);
  Outcome outcome{std::vector<uint32_t>(size_t{kResults} * kLanes), result.fault_count};
  arena.read(kOut, std::as_writable_bytes(std::span(outcome.words)));
  return outcome;
}

bool keeps_values(Device& device, Pipelines& pipelines, DiskCache& disk,
                  const spirv::Target& target) {
  const auto gives = [&](const ValueTrial& trial, WaveMode mode,
                         const std::vector<uint32_t>& expected) {
    const Outcome got = run(device, pipelines, disk, target, trial, mode);
    return got.faults == 0 && got.words == expected;
  };
  const ValueTrial search{search_program(), table()};
  // Our passes would find that condition true themselves.
  ValueTrial unchanged{unchanged_program(), std::vector<uint32_t>(kLanes), false};
  std::iota(unchanged.words.begin(), unchanged.words.end(), 0U);
  return gives(unchanged, WaveMode::lane, unchanged_in(unchanged.words)) &&
         gives(search, WaveMode::lane, found_in(search.words)) &&
         gives(search, WaveMode::serial, found_in(search.words));
}

constexpr uint32_t kBeyond = 100'000;  ///< iterations: more than the driver makes

/// A loop runs twice, so often as the lane's two words say.
ir::Program cut_program() {
  return ir::parse_program(beginning("cut_loops", 8) + R"(  jump b1
block b1
  r3 = load d1 {global u32}
  d1 = add.u64 d1, 4
  r4 = mov.u32 0
  jump b2
block b2
  r4 = add.u32 r4, 1
  r5 = mul.u32 r5, 747796405
  r5 = add.u32 r5, r4
  p7 = icmp.u32.lt r4, r3
  branch @p7 b2 b3
block b3
  r6 = add.u32 r6, 1
  p7 = icmp.u32.lt r6, 2
  branch @p7 b1 b4
block b4
  store d2, r5 {global u32}
  exit
)");
}

/// Lanes of the second half are cut in their second loop, every other one.
bool is_cut(uint32_t lane) {
  return lane >= kLanes / 2 && lane % 2 != 0;
}

std::vector<uint32_t> iterations() {
  std::vector<uint32_t> words;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    words.insert(words.end(), {lane % 5 + 1, is_cut(lane) ? kBeyond : lane % 3 + 1});
  return words;
}

bool cuts_are_seen(const Outcome& got, const std::vector<uint32_t>& words) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (is_cut(lane)) continue;
    uint32_t sum = 0;
    for (uint32_t pass = 0; pass < 2; ++pass)
      for (uint32_t n = 1; n <= words[2 * lane + pass]; ++n) sum = sum * 747796405U + n;
    if (got.words[size_t{kResults} * lane] != sum) return false;
  }
  return got.faults == kLanes / 4;
}

/// NVIDIA's driver 580.159 passes the trial and loses values in larger programs, one random GCN
/// program in a thousand (the last of tests/conformance/programs/gcn_kept.lw).
bool known_to_lose(const Device& device) {
  return device.facts().info.driver.starts_with("NVIDIA ");
}

}  // namespace

LoopValues probe_loop_values(Device& device, Pipelines& pipelines, DiskCache& disk,
                             const spirv::Target& target) {
  const auto right = [&](bool closed) {
    spirv::Target tried = target;
    tried.quirks.loses_loop_values = closed;
    return keeps_values(device, pipelines, disk, tried);
  };
  if (!known_to_lose(device) && right(false)) return LoopValues::kept;
  return right(true) ? LoopValues::kept_when_closed : LoopValues::lost;
}

bool probe_loop_marks(Device& device, Pipelines& pipelines, DiskCache& disk,
                      const spirv::Target& target) {
  spirv::Target tried = target;
  tried.quirks.cuts_loops = tried.quirks.loses_loop_values = true;
  tried.quirks.loses_loop_marks = false;
  const ValueTrial trial{cut_program(), iterations()};
  return cuts_are_seen(run(device, pipelines, disk, tried, trial, WaveMode::lane), trial.words);
}

}  // namespace lanewise::vulkan
