// A sample of L2's sets (--sample) against the whole run on random traces.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "runtime/cache/parts/sample.hpp"
#include "runtime/cache/reports/report.hpp"
#include "runtime/support/error.hpp"
#include "tests/unit/cache/script.hpp"

namespace lanewise::cache {
namespace sample_test {
namespace {

Preset shape(uint32_t sets, const char* more = "", unsigned line = 128) {
  return parse_preset(fmt::format(R"({{"name": "shape", "sms": 3,
                       "l1": {{"sets": 2, "ways": 2, "line": {1}, "sector": 32}},
                       "l2": {{"sets": {0}, "ways": 2, "line": {1}, "sector": 32}}{2}}})",
                                  sets, line, more),
                      "test");
}

struct Pair {
  std::unique_ptr<Tracker> whole, sample;
};
Pair run(const Preset& preset, Dialect dialect, uint32_t rate, uint64_t seed, size_t rounds = 40) {
  TrackerOptions options;
  Pair p;
  p.whole = std::make_unique<Tracker>(preset, options);
  options.sample = rate;
  p.sample = std::make_unique<Tracker>(preset, options);
  Tracker* const both[] = {p.whole.get(), p.sample.get()};
  Script(dialect, seed, true).run({}, both, rounds);
  p.sample->settle();
  return p;
}

/// All counters of L2 with what is left dirty, in the order of a sample's.
std::vector<uint64_t> l2_counters(const Tracker& t) {
  const auto list = std::bit_cast<CounterList>(t.counters(Cache::l2));
  std::vector<uint64_t> all(list.begin(), list.end());
  all.push_back(t.dirty(Cache::l2).lines);
  all.push_back(t.dirty(Cache::l2).bytes);
  return all;
}

TEST_CASE("cache sample: one set in one is the run without a sample, and sure") {
  for (const char* preset : {"gv100", "tahiti", "sm50-spec"})
    for (const Dialect d : {Dialect::ptx, Dialect::gcn}) {
      const Pair p = run(load_preset(preset), d, 1, 7);
      const auto exact = l2_counters(*p.whole);
      const Sample& s = *p.sample->sample();
      CHECK_EQ(s.units, s.of);
      REQUIRE_EQ(s.counters.size(), exact.size());
      for (size_t i = 0; i < exact.size(); ++i) {
        CAPTURE(s.counters[i].counter);
        CHECK_EQ(s.counters[i].value, static_cast<double>(exact[i]));
        CHECK_EQ(s.counters[i].low, s.counters[i].high);
      }
      CHECK_EQ(l2_counters(*p.sample), exact);
      CHECK((p.sample->site_counters() == p.whole->site_counters()));
      // The report says more, and nothing else.
      const Tracker* const a[] = {p.whole.get()};
      const Tracker* const b[] = {p.sample.get()};
      CHECK_EQ(csv_report(a), csv_report(b));
      CHECK_EQ(sarif_report(a), sarif_report(b));
      CHECK(text_report(b).find("is estimated from") != std::string::npos);
    }
}

TEST_CASE("cache sample: above L2 everything is exact") {
  for (const Dialect d : {Dialect::ptx, Dialect::sass, Dialect::gcn})
    for (uint64_t seed = 1; seed < 5; ++seed) {
      const Pair p = run(shape(64), d, 16, seed);
      for (size_t i = 0; i < kCaches; ++i)
        if (const auto c = static_cast<Cache>(i); c != Cache::l2) {
          CHECK((p.whole->counters(c) == p.sample->counters(c)));
          CHECK_EQ(p.whole->dirty(c).bytes, p.sample->dirty(c).bytes);
        }
      CHECK_EQ(p.sample->sample()->units, 4);
    }
}

TEST_CASE("cache sample: intervals hold what the whole run counts, 95 times of 100 or so") {
  size_t held = 0, all = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    // Sets are drawn once for all: other sets are the traces' part.
    const Pair p = run(shape(128 + 2 * static_cast<uint32_t>(seed), "", seed % 2 == 0 ? 64 : 128),
                       seed % 3 == 0 ? Dialect::gcn : Dialect::ptx, 8, seed, 60);
    const auto exact = l2_counters(*p.whole);
    const Sample& s = *p.sample->sample();
    for (size_t i = 0; i < exact.size(); ++i) {
      // Of what hardly ever happens a few sets know nothing.
      if (exact[i] < 20 * s.of) continue;
      ++all;
      const auto v = static_cast<double>(exact[i]);
      held += s.counters[i].low <= v && v <= s.counters[i].high ? 1 : 0;
    }
  }
  CAPTURE(all);
  CAPTURE(held);
  CHECK_GT(all, 200);
  CHECK_GE(held * 100, all * 88);
  CHECK_LE(held * 1000, all * 999);  // not so wide that they say nothing
}

TEST_CASE("cache sample: the estimate by its formula") {
  // 2, 4 and 9 of 10 sets: mean 5, s^2 = 13; 50 and 4.303 * sqrt(100 * 0.7 * 13 / 3).
  const uint64_t counts[] = {2, 4, 9};
  const Estimate e = estimate(counts, 10);
  CHECK_EQ(e.value, 50);
  CHECK_LT(std::abs(e.high - 50 - 74.94), 0.01);
  CHECK_EQ(e.low, 15);  // no less than was seen
  const uint64_t two[] = {5, 5};
  CHECK_EQ(estimate(two, 7).low, estimate(two, 7).high);
}

TEST_CASE("cache sample: what it refuses, by the knob") {
  const auto refusal = [](const Preset& preset) -> std::string {
    try {
      TrackerOptions options;
      options.sample = 4;
      Tracker t(preset, options);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  const auto says = [&](const Preset& preset, const char* part) {
    const std::string why = refusal(preset);
    CAPTURE(why);
    CHECK(why.find(part) != std::string::npos);
  };
  says(load_preset("infinite"), "l2.infinite");
  says(shape(8, R"(, "knobs": {"dirty_limit_percent": 10})"), "dirty_limit_percent 10");
  says(shape(1), "takes two of its 1 sets");
  CHECK_EQ(refusal(shape(2)), "");
  // A quota that lines of all sets share.
  TrackerOptions options;
  options.sample = 2;
  Tracker t(shape(8, R"(, "knobs": {"persisting_percent": 50})"), options);
  const trace::Site last[] = {trace::site_from_text(Dialect::ptx, "ld.global.L2::evict_last.u32")};
  Tracker* const one[] = {&t};
  Script(Dialect::ptx, 3, true, last).run({}, one, 20);
  CHECK_THROWS_WITH_AS(t.settle(), doctest::Contains("persisting_percent 50"), Error);
}

}  // namespace
}  // namespace sample_test
}  // namespace lanewise::cache
