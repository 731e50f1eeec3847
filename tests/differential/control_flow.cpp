// Random control flow with lanes that part and meet, barriers included, compared bit for bit.
#include "tests/differential/engines.hpp"
#include "tests/unit/ir/bounded.hpp"
#include "tests/unit/ir/random.hpp"

namespace control_flow {

using namespace lanewise;
using namespace lanewise::test;

namespace {

void compare_graphs(ir::testing::RandomOptions options, uint32_t lanes, int count, uint32_t seed,
                    WaveMode wave = WaveMode::automatic) {
  std::mt19937 rng(seed);
  for (int i = 0; i < count; ++i) {
    CAPTURE(i);
    const ir::Program p = bounded(ir::testing::random_program(rng, options), 60, lanes);
    compare(p, {2, 1, 1}, {lanes, 1, 1}, {0}, size_t{2} * lanes * 2, {},
            [&](LaunchRequest& request) { request.wave = wave; });
  }
  CHECK(validation_messages() == 0);
}

}  // namespace

TEST_CASE("random graphs take the reference's paths") {
  ir::testing::RandomOptions options;
  compare_graphs(options, 48, 8, 11);
  options.blocks = 24;
  options.shape = ir::testing::Shape::nested;
  compare_graphs(options, 48, 6, 12);
  options.shape = ir::testing::Shape::local;
  compare_graphs(options, 48, 6, 13);
}

TEST_CASE("random graphs under the masks of waves") {
  ir::testing::RandomOptions options;
  compare_graphs(options, 48, 4, 14, WaveMode::packed);
  options.blocks = 24;
  options.shape = ir::testing::Shape::nested;
  compare_graphs(options, 72, 6, 15, WaveMode::packed);
  options.shape = ir::testing::Shape::local;
  compare_graphs(options, 48, 4, 16, WaveMode::packed);
}

TEST_CASE("random graphs in blocks beyond the device's limit") {
  ir::testing::RandomOptions options;
  options.shape = ir::testing::Shape::nested;
  compare_graphs(options, 600, 3, 21);
}

TEST_CASE("random graphs with barriers, met and missed") {
  ir::testing::RandomOptions options;
  options.shape = ir::testing::Shape::nested;
  options.barrier_percent = 20;
  compare_graphs(options, 64, 6, 31);
  compare_graphs(options, 300, 2, 32);
}

}  // namespace control_flow
