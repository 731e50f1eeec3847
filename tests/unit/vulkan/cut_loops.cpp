// Random nests of loops, some of whose lanes make more iterations than drivers that cut loops allow
// in all: whatever a lane without a fault has stored is right, and lanes without long loops near
// them have none.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <random>

#include "runtime/ir/text.hpp"
#include "runtime/spirv/translate.hpp"
#include "runtime/vulkan/launch/dispatch.hpp"
#include "tests/unit/vulkan/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using guest::kArenaBase;

namespace cut_loops {
namespace {

constexpr uint32_t kLanes = 64, kDepth = 3, kLimit = 65535, kTable = 4096, kOut = 1 << 16;
constexpr uint32_t kFactor = 747796405;

/// What a lane does when it leaves a loop early.
enum class Early : uint8_t { goes_on, goes_to_the_end, ends };

/// A loop makes as many iterations as its word says; where it is left early, as the next word says.
struct Loop {
  uint32_t word = 0;
  bool leaves = false;
  Early early = Early::goes_on;
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
      loop.word = words;
      words += 2;
      loop.leaves = random() % 2 == 0;
      loop.early = static_cast<Early>(random() % 3);
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
    const std::string store = "  store d2, r5 {global u32}\n  exit\n";
    body_ += fmt::format("  jump b{}\n", block_ + 1);
    number(kEnd, begin_block());
    body_ += store;
    for (size_t i = 0; i < ends_; ++i) {
      number(fmt::format("END{}.", i), begin_block());
      body_ += store;
    }
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
      const uint32_t go_on = loop.leaves ? ++block_ : 0;
      const uint32_t behind = block_ + 1;
      if (loop.leaves) {
        std::string to = fmt::format("b{}", behind);
        if (loop.early == Early::goes_to_the_end) to = kEnd;
        if (loop.early == Early::ends) to = fmt::format("END{}.", ends_++);
        load(loop.word + 1);
        body_ += fmt::format("  p4 = icmp.u32.eq r{}, r3\n", counter);
        body_ += fmt::format("  branch @p4 {} b{}\nblock b{}\n", to, go_on, go_on);
      }
      load(loop.word);
      body_ += fmt::format("  p4 = icmp.u32.lt r{}, r3\n", counter);
      body_ += fmt::format("  branch @p4 b{} b{}\n", head, behind);
      begin_block();
    }
  }

  void load(uint32_t word) {
    body_ += fmt::format("  r3 = load d1 {{global u32 offset={}}}\n", 4 * word);
  }
  /// Blocks whose number is known only now.
  void number(const std::string& name, uint32_t block) {
    for (size_t at = body_.find(name); at != std::string::npos; at = body_.find(name))
      body_.replace(at, name.size(), fmt::format("b{}", block));
  }

  static constexpr const char* kEnd = "THE_END";
  std::string body_;
  uint32_t block_ = 0;
  size_t ends_ = 0;  ///< blocks in which lanes store and end
};

/// What the lane stores and how many iterations it makes; gives up far beyond the limit.
struct Lane {
  const uint32_t* words;
  uint32_t sum = 1;
  uint64_t iterations = 0;

  /// False when the lane is done.
  bool run(const std::vector<Loop>& loops) {
    for (const Loop& loop : loops) {
      uint32_t counter = 0;
      do {
        if (++iterations > 4 * uint64_t{kLimit}) return false;
        sum = sum * kFactor + counter++;
        if (!run(loop.inner)) return false;
        if (loop.leaves && counter == words[loop.word + 1]) {
          if (loop.early == Early::goes_on) break;
          return false;
        }
      } while (counter < words[loop.word]);
    }
    return true;
  }
};

/// Long loops only in the second half, or only in the last lane.
std::vector<uint32_t> iterations_of(const Nest& nest, std::mt19937& random) {
  std::vector<uint32_t> words;
  const bool last = random() % 2 == 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (uint32_t loop = 0; loop < nest.words / 2; ++loop) {
      const bool far = last ? lane == kLanes - 1 : lane >= kLanes / 2 && random() % nest.words == 0;
      words.push_back(far ? 30'000 + random() % 80'000 : random() % 5);
      words.push_back(far && random() % 4 != 0 ? ~0U : random() % 6);
    }
  }
  return words;
}

/// One group, with the words in the table.
LaunchResult run(Engine& engine, const ir::Program& program, const std::vector<uint32_t>& table,
                 WaveMode mode) {
  engine.write(kArenaBase + kTable, std::as_bytes(std::span(table)));
  LaunchRequest request;
  request.program = &program;
  request.grid = {1, 1, 1};
  request.block = {kLanes, 1, 1};
  request.wave = mode;
  return engine.launch(request);
}

/// The host looks every so often for a lane without steps, and then ends the others, too. On a busy
/// machine it may come before they are done.
bool others_were_ended(const LaunchResult& result) {
  using milliseconds = std::chrono::duration<double, std::milli>;
  return result.fault_count > 0 && result.times.dispatch_ms >= milliseconds(vulkan::kPoll).count();
}

void check(Engine& engine, uint32_t seed, WaveMode mode) {
  CAPTURE(seed);
  CAPTURE(static_cast<int>(mode));
  Nest nest(seed);
  const std::vector<uint32_t> words = iterations_of(nest, nest.random);
  const ir::Program program = ir::parse_program(Printer().print(nest));
  LaunchResult result = run(engine, program, words, mode);
  for (int tries = 0; tries < 50 && others_were_ended(result); ++tries)
    result = run(engine, program, words, mode);
  const std::vector<uint32_t> got = read_words(engine, kOut, kLanes);
  std::vector<bool> faulted(kLanes);
  for (const Fault& fault : result.faults) {
    CHECK(fault.kind == FaultKind::step_budget);
    REQUIRE(fault.lane < kLanes);
    faulted[fault.lane] = true;
  }
  // Elsewhere a wave ends with the first lane that is cut.
  const bool alone = mode == WaveMode::lane && !others_were_ended(result);
  uint64_t all = 0;
  for (uint32_t n = 0; n < kLanes; ++n) {
    CAPTURE(n);
    Lane lane{&words[n * nest.words]};
    lane.run(nest.loops);
    all += lane.iterations;
    const bool reported = alone ? faulted[n] : result.fault_count > 0;
    if (lane.iterations > kLimit) CHECK(reported);
    const bool too_long = lane.iterations > 4 * uint64_t{kLimit};
    if (!reported && !too_long) CHECK(got[n] == lane.sum);
  }
  if (all < kLimit) CHECK(result.fault_count == 0);
}

}  // namespace
}  // namespace cut_loops

TEST_CASE("cut loops: lanes that a driver cut fault, and what others store is right") {
  const char* asked = std::getenv("LANEWISE_CUT_PROGRAMS");
  const char* first = std::getenv("LANEWISE_CUT_SEED");
  const bool all = asked != nullptr;  // modes for each program
  const uint32_t programs = asked != nullptr ? std::atoi(asked) : 12;
  const uint32_t seed = first != nullptr ? std::atoi(first) : 1;
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = vulkan::make_engine_with(driver.part, checked_options(), spirv::translate);
    engine->reserve(1 << 17);
    if (!vulkan::target_of(*engine)->quirks.cuts_loops) continue;  // others would never end
    for (uint32_t n = 0; n < programs; ++n) {
      cut_loops::check(*engine, seed + n, WaveMode::lane);
      if (all || n % 4 == 0) cut_loops::check(*engine, seed + n, WaveMode::packed);
      if (all || n % 4 == 1) cut_loops::check(*engine, seed + n, WaveMode::serial);
    }
  }
}

namespace cut_loops {
namespace {

/// So many iterations, then atomics that try again until they come through: a sum of floats, and
/// one of 64 bits in shared memory. Each lane stores the sums that it found.
ir::Program loop_and_atomics() {
  return ir::parse_program(fmt::format(R"(program "tail" ptx wave 32
memory param 0 shared 8 local 0
reg r0 b32
reg d1 b64
reg r2 b32
reg r3 b32
reg p4 pred
reg r5 b32
reg r6 b32
reg d7 b64
reg d8 b64
block b0
  r0 = sreg.u32.linear_tid
  d1 = mulwide.u32 r0, 16
  d1 = add.u64 d1, {}
  d8 = mov.u64 {}
  r2 = load d8 {{global u32}}
  r3 = mov.u32 0
  r5 = mov.u32 1
  jump b1
block b1
  r5 = mul.u32 r5, {}
  r5 = add.u32 r5, r3
  r3 = add.u32 r3, 1
  p4 = icmp.u32.lt r3, r2
  branch @p4 b1 b2
block b2
  r6 = atom.f32 d8, 1065353216 {{global u32 offset=4 order=relaxed scope=gpu atom_type=f32}}
  d7 = atom.u64 0, 4294967297 {{shared u64 order=relaxed scope=cta atom_type=u64}}
  store d1, r5 {{global u32}}
  store d1, r6 {{global u32 offset=4}}
  store d1, d7 {{global u64 offset=8}}
  exit
)",
                                       kArenaBase + kOut, kArenaBase + kTable, kFactor));
}

/// What the lanes found are all of these sums. One that found another one's was not added.
void check_sums(const std::vector<uint32_t>& words, uint32_t iterations) {
  uint32_t sum = 1;
  for (uint32_t n = 0; n < iterations; ++n) sum = sum * kFactor + n;
  std::vector<float> floats;
  std::vector<uint64_t> wides;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    CHECK(words[4 * lane] == sum);
    floats.push_back(std::bit_cast<float>(words[4 * lane + 1]));
    wides.push_back(words[4 * lane + 2] | uint64_t{words[4 * lane + 3]} << 32);
  }
  std::ranges::sort(floats);
  std::ranges::sort(wides);
  for (uint32_t n = 0; n < kLanes; ++n) {
    CHECK(floats[n] == static_cast<float>(n));
    CHECK(wides[n] == n * 0x100000001);
  }
}

/// Whether it ran through; when not, the launch must have reported it, and of no instruction.
bool right_or_reported(Engine& engine, const ir::Program& program, uint32_t iterations,
                       WaveMode mode) {
  CAPTURE(iterations);
  CAPTURE(static_cast<int>(mode));
  const LaunchResult result = run(engine, program, {iterations, 0}, mode);
  if (result.fault_count == 0) {
    check_sums(read_words(engine, kOut, 4 * kLanes), iterations);
    return true;
  }
  REQUIRE(!result.faults.empty());
  for (const Fault& fault : result.faults) CHECK(fault.kind == FaultKind::step_budget);
  return false;
}

}  // namespace
}  // namespace cut_loops

TEST_CASE("cut loops: an atomic that a driver did not let try again is a fault") {
  const ir::Program program = cut_loops::loop_and_atomics();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = vulkan::make_engine_with(driver.part, checked_options(), spirv::translate);
    engine->reserve(1 << 17);
    const bool cuts = vulkan::target_of(*engine)->quirks.cuts_loops;
    for (const WaveMode mode : {WaveMode::lane, WaveMode::packed, WaveMode::serial}) {
      CHECK(cut_loops::right_or_reported(*engine, program, 100, mode));
      uint32_t through = 0, reported = 0;
      // In serial mode 32 lanes make iterations of one limit.
      const uint32_t limit = cut_loops::kLimit / (mode == WaveMode::serial ? 32 : 1);
      for (uint32_t n = limit - 80; n <= limit + 1; n += cuts ? 3 : 40)
        (cut_loops::right_or_reported(*engine, program, n, mode) ? through : reported) += 1;
      CHECK(through > 0);
      CHECK((reported > 0) == cuts);
    }
  }
}
