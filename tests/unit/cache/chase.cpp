// The pointer chase against what it cannot see: the geometry of every preset, and of caches of all
// shapes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "runtime/cache/chase/method.hpp"
#include "tests/support/shares.hpp"

using namespace lanewise;
using namespace lanewise::cache;

namespace {

ChaseResult chased(const Preset& preset) {
  const auto target = modelled_target(preset);
  return chase(*target);
}

/// All that a chase can find out about a cache.
void matches(const ChasedCache& c, const Geometry& g, bool whole_lines) {
  REQUIRE(c.found);
  CHECK(c.evicts);
  CHECK_EQ(c.ways, g.ways);
  CHECK_EQ(c.line, g.line);
  CHECK_EQ(c.fetch, whole_lines ? g.line : std::max(32U, g.sector));
  CHECK_EQ(c.lines, uint64_t{g.slices} * g.sets * g.ways);
  CHECK_EQ(c.sets, uint64_t{g.slices} * g.sets);
  CHECK_EQ(c.bytes(), g.bytes());
  CHECK_EQ(c.modulo.value_or(false),
           g.hash == IndexHash::linear && g.set_hash == IndexHash::linear);
}

Preset with_l2(const std::string& l2, const std::string& knobs = "{}") {
  return parse_preset(
      R"({"name": "x", "l1": {"sets": 2, "ways": 4}, "l2": )" + l2 + R"(, "knobs": )" + knobs + "}",
      "text");
}

}  // namespace

TEST_CASE("chase: the geometry and the policy of every preset and variant, from times alone") {
  std::vector<std::string> names = preset_names();
  // Loads see a variant only by its shape.
  for (const std::string& name : preset_variants()) {
    const Preset variant = load_preset(name), preset = load_preset(name.substr(0, name.find('+')));
    const auto shape = [](const Geometry& g) {
      return std::tuple(g.slices, g.sets, g.ways, g.line, g.sector, g.hash, g.set_hash,
                        g.replacement);
    };
    if (shape(variant.l1) != shape(preset.l1) || shape(variant.l2) != shape(preset.l2))
      names.push_back(name);
  }
  for (const std::string& name : names) {
    CAPTURE(name);
    Preset p = load_preset(name);
    // The time of a chase grows with the cache; sets that are left out are like those that stay.
    if (!lanewise::test::whole_tests())
      while (!p.l2.infinite && p.l2.bytes() > (2U << 20) && p.l2.sets % 2 == 0) p.l2.sets /= 2;
    const ChaseResult r = chased(p);
    if (p.l2.infinite) {
      // What never evicts shows nothing but that.
      for (const ChasedCache* c : {&r.l1, &r.l2}) {
        CHECK(c->found);
        CHECK_FALSE(c->evicts);
        CHECK_EQ(c->lines, 0);
        CHECK(c->tried > (100U << 20));
      }
      continue;
    }
    matches(r.l1, p.l1, p.knobs.fill == Granule::line);
    matches(r.l2, p.l2, p.knobs.fill == Granule::line);
    CHECK_EQ(r.l1.way, p.knobs.global_in_l1 ? ChaseWay::l1 : ChaseWay::read_only);
    CHECK_EQ(r.l1.policies, std::vector{p.l1.replacement});
    CHECK_EQ(r.l2.policies, std::vector{p.l2.replacement});
  }
}

TEST_CASE("chase: every replacement policy is distinguished from the others") {
  for (const Policy* policy : policies())
    for (const unsigned ways : {4U, 8U, 16U}) {
      if (policy->word == Policy::Word::of_cache) continue;
      CAPTURE(policy->name);
      CAPTURE(ways);
      const Preset p = with_l2(
          fmt::format(R"({{"sets": 64, "ways": {}, "replacement": "{}"}})", ways, policy->name));
      const ChaseResult r = chased(p);
      matches(r.l2, p.l2, false);
      CHECK_EQ(r.l2.policies, std::vector{p.l2.replacement});
    }
  const ChaseResult random = chased(with_l2(R"({"sets": 64, "ways": 8, "replacement": "random"})"));
  CHECK_EQ(random.l2.ways, 8);
  CHECK_EQ(random.l2.line, 128);
  CHECK(random.l2.policies.empty());
}

TEST_CASE("chase: lines, sectors, odd shapes and hashes") {
  struct Shape {
    const char *l2, *knobs;
  };
  for (const Shape& shape :
       {Shape{R"({"sets": 1, "ways": 12})", "{}"},
        Shape{R"({"sets": 48, "ways": 3, "line": 64, "sector": 64})", "{}"},
        Shape{R"({"sets": 128, "ways": 2, "line": 128, "sector": 128})", "{}"},
        Shape{R"({"sets": 64, "ways": 6, "line": 128, "sector": 64})", "{}"},
        Shape{R"({"sets": 64, "ways": 8, "hash": "ipoly"})", "{}"},
        Shape{R"({"slices": 6, "sets": 32, "ways": 8, "hash": "ipoly", "set_hash": "fold"})", "{}"},
        Shape{R"({"slices": 4, "sets": 64, "ways": 5, "set_hash": "ipoly"})", "{}"},
        Shape{R"({"sets": 32, "ways": 8})", R"({"fill": "line"})"}}) {
    CAPTURE(std::string(shape.l2));
    const Preset p = with_l2(shape.l2, shape.knobs);
    matches(chased(p).l2, p.l2, p.knobs.fill == Granule::line);
  }
}

TEST_CASE("chase: no L1 in the way of loads is reported") {
  const Preset p =
      parse_preset(R"({"name": "x", "l1": {"sets": 2, "ways": 4}, "l2": {"sets": 64, "ways": 8},
                                    "knobs": {"global_in_l1": false, "nc_in_l1": false}})",
                   "text");
  const ChaseResult r = chased(p);
  CHECK_FALSE(r.l1.found);
  CHECK_EQ(r.l2.ways, 8);
  const auto target = modelled_target(p);
  CHECK(chase_text(r, *target).find("no cache answers") != std::string::npos);
}

TEST_CASE("chase: the policies it compares with, by hand") {
  const auto misses = [](const char* policy, std::vector<uint32_t> round) {
    return policy_misses(*policy_named(policy), 2, round, 0, 1);
  };
  // a b a c a: LRU keeps a, FIFO gives it up for c.
  CHECK_EQ(misses("lru", {0, 1, 0, 2, 0}), 3);
  CHECK_EQ(misses("fifo", {0, 1, 0, 2, 0}), 4);
  // MRU gives up the latest: of a b a it is a.
  CHECK_EQ(misses("mru", {0, 1, 0, 2, 1}), 3);
  CHECK_EQ(misses("lfu", {0, 0, 0, 1, 2, 0}), 3);
  CHECK_EQ(misses("bit_plru", {0, 1, 0, 2, 0}), 3);
  CHECK_EQ(misses("tree_plru", {0, 1, 0, 2, 0}), 3);
  CHECK_EQ(misses("srrip", {0, 0, 1, 2, 0}), 3);
}
