#include "runtime/ir/passes/pipeline.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/ir/random.hpp"

using namespace lanewise::ir;
using namespace lanewise::ir::testing;

namespace {

struct Observed {
  std::vector<uint64_t> barriers;
  bool ended;
};

/// Barriers are the only effects that the passes may not touch: their operands are what is seen.
Observed observe(const Program& p, uint64_t seed) {
  Machine m(p, 0, 400, 4000);
  m.regs[0] = seed;
  m.run_blocks();
  Observed o{{}, !m.spent()};
  for (const Event& e : m.trace) o.barriers.push_back(e.value);
  return o;
}

size_t instructions(const Program& p) {
  size_t n = 0;
  for (const Block& b : p.blocks) n += b.insts.size();
  return n;
}

}  // namespace

TEST_CASE("the passes keep every effect") {
  std::mt19937 rng(12);
  size_t before = 0, after = 0, seen = 0;
  for (uint32_t i = 0; i < lanewise::test::rounds(3000); ++i) {
    RandomOptions o;
    o.blocks = 2 + static_cast<uint32_t>(rng() % 14);
    o.shape = static_cast<Shape>(rng() % 3);
    o.moves = true;
    o.arithmetic = i % 2 == 0;
    const Program p = random_program(rng, o);
    Program q = p;
    optimise(q, {}, [&](const Pass& pass, const Program& now) {
      CAPTURE(pass.name);
      CAPTURE(print(now));
      REQUIRE(verify(now).empty());
    });
    CAPTURE(print(p));
    CAPTURE(print(q));
    REQUIRE(verify(p).empty());
    REQUIRE(verify(q).empty());
    before += instructions(p);
    after += instructions(q);
    const uint64_t seed = rng();
    const Observed x = observe(p, seed), y = observe(q, seed);
    seen += x.barriers.size();
    if (x.ended) {
      REQUIRE(y.ended);
      REQUIRE(x.barriers == y.barriers);
    } else {
      const size_t n = std::min(x.barriers.size(), y.barriers.size());
      REQUIRE(std::equal(x.barriers.begin(), x.barriers.begin() + static_cast<ptrdiff_t>(n),
                         y.barriers.begin()));
      REQUIRE(y.barriers.size() >= x.barriers.size());
      REQUIRE(!y.ended);
    }
  }
  CHECK(seen > 10000);
  CHECK(after * 10 < before * 9);
}

TEST_CASE("passes: constants, copies, dead code, blocks") {
  const auto simplified = [](const std::string& body) {
    Program p = parse_program(
        "program \"k\" ptx wave 32\nreg r0 b32\nreg r1 b32\nreg p2 pred\n"
        "reg d3 b64\nreg r4 b32\n" +
        body);
    REQUIRE(verify(p).empty());
    optimise(p);
    REQUIRE(verify(p).empty());
    const std::string text = print(p);
    return text.substr(text.find("block b0"));
  };
  // A constant reaches its use through a copy; a decided branch and the block behind it go.
  CHECK(simplified("block b0\n r0 = mov.u32 7\n p2 = mov.pred 1\n branch @p2 b1 b2\n"
                   "block b1\n r1 = mov.u32 r0\n jump b3\nblock b2\n trap\n jump b3\n"
                   "block b3\n store d3, r1 {global u32}\n exit\n") ==
        "block b0\n  store d3, 7 {global u32}\n  exit\n");
  // A guarded write keeps the register from being a constant.
  CHECK(simplified("block b0\n r0 = mov.u32 7\n @p2 r0 = mov.u32 8\n store d3, r0 {global u32}\n"
                   " exit\n") ==
        "block b0\n  r0 = mov.u32 7\n  @p2 r0 = mov.u32 8\n  store d3, r0 {global u32}\n  exit\n");
  // A use that the definition does not dominate keeps the register.
  CHECK(simplified("block b0\n branch @p2 b1 b2\nblock b1\n r0 = mov.u32 7\n jump b2\n"
                   "block b2\n store d3, r0 {global u32}\n exit\n")
            .find("store d3, r0") != std::string::npos);
  // The width of an address is in its register: the offset wraps there before both are a number.
  CHECK(simplified("block b0\n r0 = mov.u32 0xfffffff0\n r1 = load r0 {global u32 offset=24}\n"
                   " store d3, r1 {global u32}\n exit\n")
            .find("load 8 {global u32}") != std::string::npos);
  // Loads may fault: they stay even when nobody reads the result. So does an empty endless loop.
  CHECK(simplified("block b0\n r0 = load d3 {global u32}\n r1 = add.u32 r0, 1\n jump b1\n"
                   "block b1\n jump b2\nblock b2\n jump b1\n") ==
        "block b0\n  r0 = load d3 {global u32}\n  jump b2\nblock b1\n  jump b2\nblock b2\n  jump "
        "b1\n");
}
