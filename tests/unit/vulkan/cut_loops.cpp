// Random nests of loops, some of whose lanes make more iterations than drivers that cut loops allow
// in all: whatever a lane without a fault has stored is right, and lanes without long loops near
// them have none.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <random>

#include "runtime/ir/text.hpp"
#include "runtime/spirv/translate.hpp"
#include "tests/unit/vulkan/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using guest::kArenaBase;

namespace cut_loops {
namespace {

constexpr uint32_t kLanes = 64, kDepth = 3, kLimit = 65535, kTable = 4096, kOut = 1 << 16;
constexpr uint32_t kFactor = 747796405;

/// A loop makes as many iterations as its word says, less when the sum has `mask`'s bits clear.
struct Loop {
  uint32_t word = 0, mask = 0;
  std::vector<Loop> inner;
};

struct Nest {
  std::vector<Loop> loops;
  uint32_t words = 0;
  std::mt19937 random;

  explicit Nest(uint32_t seed) : random(seed) { loops = some(0); }

  std::vector<Loop> some(uint32_t depth) {
    std::vector<Loop> made;
    const uint32_t count = depth == 0 ? random() % 2 + 1 : depth < kDepth ? random() % 3 : 0;
    for (uint32_t i = 0; i < count; ++i) {
      Loop loop;
      loop.word = words++;
      loop.mask = random() % 3 == 0 ? 0x7000'0000U << random() % 2 : 0;
      loop.inner = some(depth + 1);
      made.push_back(std::move(loop));
    }
    return made;
  }
};

/// r5 is the sum, d1 the lane's words, one counter for each loop.
class Printer {
 public:
  std::string print(const Nest& nest) {
    body_ = fmt::format("  r0 = sreg.u32.linear_tid\n  d1 = mulwide.u32 r0, {}\n", 4 * nest.words);
    body_ += fmt::format("  d1 = add.u64 d1, {}\n  d2 = mulwide.u32 r0, 4\n", kArenaBase + kTable);
    body_ += fmt::format("  d2 = add.u64 d2, {}\n  r5 = mov.u32 1\n", kArenaBase + kOut);
    loops(nest.loops);
    body_ += "  store d2, r5 {global u32}\n  exit\n";
    std::string text =
        "program \"nest\" ptx wave 32\nreg r0 b32\nreg d1 b64\nreg d2 b64\n"
        "reg r3 b32\nreg p4 pred\nreg r5 b32\n";
    for (uint32_t i = 0; i < nest.words; ++i) text += fmt::format("reg r{} b32\n", 6 + i);
    return text + "block b0\n" + body_;
  }

 private:
  uint32_t begin_block() {
    body_ += fmt::format("block b{}\n", ++block_);
    return block_;
  }
  void loops(const std::vector<Loop>& list) {
    for (const Loop& loop : list) {
      const uint32_t counter = 6 + loop.word;
      body_ += fmt::format("  r{} = mov.u32 0\n  jump b{}\n", counter, block_ + 1);
      const uint32_t head = begin_block();
      body_ += fmt::format("  r5 = mul.u32 r5, {}\n  r5 = add.u32 r5, r{}\n", kFactor, counter);
      body_ += fmt::format("  r{} = add.u32 r{}, 1\n", counter, counter);
      loops(loop.inner);
      const size_t way_out = body_.size();
      std::string early;
      if (loop.mask != 0) {
        early = fmt::format("  r3 = and.u32 r5, {}\n  p4 = icmp.u32.eq r3, 0\n", loop.mask);
        const uint32_t go_on = ++block_;
        early += fmt::format("  branch @p4 b{{}} b{}\nblock b{}\n", go_on, go_on);
      }
      const std::string test =
          fmt::format("  r3 = load d1 {{global u32 offset={}}}\n  p4 = icmp.u32.lt r{}, r3\n",
                      4 * loop.word, counter);
      const uint32_t behind = block_ + 1;
      if (loop.mask != 0) early = fmt::format(fmt::runtime(early), behind);
      body_.insert(way_out, early);
      body_ += test + fmt::format("  branch @p4 b{} b{}\n", head, behind);
      begin_block();
    }
  }

  std::string body_;
  uint32_t block_ = 0;
};

/// What the lane stores and how many iterations it makes; gives up far beyond the limit.
struct Lane {
  const uint32_t* words;
  uint32_t sum = 1;
  uint64_t iterations = 0;

  void run(const std::vector<Loop>& loops) {
    for (const Loop& loop : loops) {
      uint32_t counter = 0;
      do {
        if (++iterations > 4 * uint64_t{kLimit}) return;
        sum = sum * kFactor + counter++;
        run(loop.inner);
        if (loop.mask != 0 && (sum & loop.mask) == 0) break;
      } while (counter < words[loop.word]);
    }
  }
};

std::vector<uint32_t> iterations_of(const Nest& nest, std::mt19937& random) {
  std::vector<uint32_t> words(size_t{kLanes} * nest.words);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (uint32_t w = 0; w < nest.words; ++w) {
      const bool far = lane >= kLanes / 2 && random() % (4 * nest.words) == 0;
      words[lane * nest.words + w] = far ? 30'000 + random() % 80'000 : random() % 5;
    }
  }
  return words;
}

void check(Engine& engine, uint32_t seed, WaveMode mode) {
  CAPTURE(seed);
  CAPTURE(static_cast<int>(mode));
  Nest nest(seed);
  const std::vector<uint32_t> words = iterations_of(nest, nest.random);
  const ir::Program program = ir::parse_program(Printer().print(nest));
  engine.write(kArenaBase + kTable, std::as_bytes(std::span(words)));
  LaunchRequest request;
  request.program = &program;
  request.grid = {1, 1, 1};
  request.block = {kLanes, 1, 1};
  request.wave = mode;
  const LaunchResult result = engine.launch(request);
  const std::vector<uint32_t> got = read_words(engine, kOut, kLanes);
  std::vector<bool> faulted(kLanes);
  for (const Fault& fault : result.faults) {
    CHECK(fault.kind == FaultKind::step_budget);
    REQUIRE(fault.lane < kLanes);
    faulted[fault.lane] = true;
  }
  // Elsewhere a wave ends with the first lane that is cut.
  const bool alone = mode == WaveMode::lane;
  uint64_t all = 0;
  for (uint32_t n = 0; n < kLanes; ++n) {
    CAPTURE(n);
    Lane lane{&words[n * nest.words]};
    lane.run(nest.loops);
    all += lane.iterations;
    const bool told = alone ? faulted[n] : result.fault_count > 0;
    if (lane.iterations > kLimit) CHECK(told);
    const bool too_long = lane.iterations > 4 * uint64_t{kLimit};
    if (!told && !too_long) CHECK(got[n] == lane.sum);
  }
  if (all < kLimit) CHECK(result.fault_count == 0);
}

}  // namespace
}  // namespace cut_loops

TEST_CASE("cut loops: lanes that a driver cut fault, and what others store is right") {
  const char* asked = std::getenv("LANEWISE_CUT_PROGRAMS");
  const char* first = std::getenv("LANEWISE_CUT_SEED");
  const uint32_t programs = asked != nullptr ? std::atoi(asked) : 12;
  const uint32_t seed = first != nullptr ? std::atoi(first) : 1;
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = vulkan::make_engine_with(driver.part, checked_options(), spirv::translate);
    engine->reserve(1 << 17);
    if (!vulkan::target_of(*engine)->quirks.cuts_loops) continue;  // others would never end
    for (uint32_t n = 0; n < programs; ++n) {
      cut_loops::check(*engine, seed + n, WaveMode::lane);
      if (n % 4 == 0) cut_loops::check(*engine, seed + n, WaveMode::packed);
      if (n % 4 == 1) cut_loops::check(*engine, seed + n, WaveMode::serial);
    }
  }
}
