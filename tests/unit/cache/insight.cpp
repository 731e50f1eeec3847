// What analyses say beyond counters, against literal models and cases worked out by hand.
#include <list>
#include <random>

#include "runtime/cache/analysis/hints.hpp"
#include "runtime/cache/reports/report_data.hpp"
#include "tests/unit/cache/support.hpp"

namespace lanewise::cache {
namespace {

using trace::Dialect;

/// The definition itself: a list of lines, the latest first.
struct LiteralStack {
  std::list<uint64_t> lines;
  uint64_t use(uint64_t line) {
    uint64_t distance = 0;
    for (auto it = lines.begin(); it != lines.end(); ++it, ++distance)
      if (*it == line) {
        lines.erase(it);
        lines.push_front(line);
        return distance;
      }
    lines.push_front(line);
    return ReuseStack::kFirstUse;
  }
};

/// Lines of a loop, of a random working set, and of a stream, mixed.
std::vector<uint64_t> some_lines(unsigned seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<uint64_t> lines;
  uint64_t stream = 1 << 20;
  for (size_t i = 0; i < count; ++i) {
    const unsigned kind = random() % 4;
    lines.push_back(kind == 0   ? i % 200
                    : kind == 1 ? 1000 + random() % 900
                    : kind == 2 ? 5000 + random() % 7
                                : stream++);
  }
  return lines;
}

TEST_CASE("reuse distances are those of a list of lines, whenever times are numbered anew") {
  ReuseStack stack;
  LiteralStack model;
  size_t i = 0;
  for (const uint64_t line : some_lines(1, 12000)) {
    CAPTURE(i++);
    REQUIRE_EQ(stack.use(line).distance, model.use(line));
  }
  CHECK_EQ(stack.lines(), model.lines.size());
}

TEST_CASE("one pass gives the misses of an LRU cache of every size") {
  const std::vector<uint64_t> lines = some_lines(2, 6000);
  ReuseStack stack;
  ReuseCurve curve;
  for (const uint64_t line : lines) curve.add(stack.use(line).distance);
  CHECK_EQ(curve.uses(), lines.size());
  for (const size_t capacity : {1, 2, 7, 16, 63, 64, 68, 128, 248, 1024, 1088, 4096}) {
    CAPTURE(capacity);
    std::list<uint64_t> cache;
    uint64_t misses = 0;
    for (const uint64_t line : lines) {
      const auto it = std::find(cache.begin(), cache.end(), line);
      if (it != cache.end()) {
        cache.erase(it);
      } else {
        ++misses;
        if (cache.size() == capacity) cache.pop_back();
      }
      cache.push_front(line);
    }
    CHECK_EQ(curve.misses(capacity), misses);
  }
  CHECK_EQ(curve.misses(0), lines.size());
  CHECK_EQ(curve.misses(~uint64_t{0}), curve.first_uses());
  const auto points = curve.points();
  CHECK_EQ(points.front().misses, lines.size());
  CHECK_EQ(points.back().misses, curve.first_uses());
  for (const auto& p : points) CHECK_EQ(curve.misses(p.lines), p.misses);
}

Preset small(const std::string& l1, const std::string& l2, const std::string& more = "",
             unsigned sms = 2) {
  return parse_preset(R"({"name": "small", "sms": )" + std::to_string(sms) + R"(, "l1": {)" + l1 +
                          R"(}, "l2": {)" + l2 + "}" + more + "}",
                      "small");
}

/// A trace to two trackers of one preset: as it is, and without hints.
class Pair {
 public:
  Pair(Dialect dialect, const Preset& preset)
      : dialect_(dialect), kept(preset, options()), ignored(preset, options()), filter_(ignored) {
    kept.set_without_hints(&ignored);
    trace::Kernel k;
    k.name = "k";
    k.dialect = dialect;
    for (trace::Sink* s : sinks()) s->kernel(k);
    trace::Event e;
    e.kind = trace::EventKind::kernel_begin;
    for (trace::Sink* s : sinks()) s->event(e);
  }
  Pair& op(unsigned sm, const std::string& text, uint64_t address, unsigned lanes = 32) {
    uint32_t index = 0;
    while (index < texts_.size() && texts_[index] != text) ++index;
    if (index == texts_.size()) {
      texts_.push_back(text);
      for (trace::Sink* s : sinks()) s->site(trace::site_from_text(dialect_, text));
    }
    trace::Event e;
    e.wave.site = index;
    e.wave.sm = static_cast<uint16_t>(sm);
    e.wave.mask = lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1;
    std::vector<uint64_t> at;
    for (unsigned i = 0; i < lanes; ++i) at.push_back(address + 4 * i);
    trace::pack(e.wave, at);
    for (trace::Sink* s : sinks()) s->event(e);
    return *this;
  }
  const LevelCounters& l2(const Tracker& t) const { return t.engine().counters(Cache::l2); }

 private:
  static TrackerOptions options() {
    TrackerOptions o;
    o.compare = o.reuse = o.sets = true;
    return o;
  }
  std::array<trace::Sink*, 2> sinks() { return {&kept, &filter_}; }
  Dialect dialect_;
  std::vector<std::string> texts_;

 public:
  Tracker kept, ignored;

 private:
  WithoutHints filter_;
};

TEST_CASE("evict_first on a streaming store keeps the lines that are written again and again") {
  // L2 of four lines in one set. A line is written over and over between three others of a stream
  // that nobody reads.
  const Preset p = small(R"("sets": 1, "ways": 4)", R"("sets": 1, "ways": 4)");
  Pair pair(Dialect::sass, p);
  const unsigned turns = 10;
  for (unsigned i = 0; i < turns; ++i) {
    pair.op(0, "STG.E", kA);
    for (unsigned k = 0; k < 4; ++k) pair.op(0, "STG.E.EF", kB + 128 * (4 * i + k));
  }
  // Ignored: LRU of four lines, five different ones between two uses of A: A goes down each turn
  // but the last, and so do all of the stream but the last four.
  CHECK_EQ(pair.l2(pair.ignored).write_backs, (turns * 5) - 4);
  const SiteInsight& plain = pair.ignored.insight()->of_site(0);
  CHECK_EQ(plain.write_backs[1], turns);
  // Kept: A is never the first to go.
  CHECK_EQ(pair.kept.insight()->of_site(0).write_backs[1], 0);
  CHECK_EQ(pair.l2(pair.kept).write_backs, turns * 4 - 3);
  // Who evicted whom: the stream itself, as long as there is a line of it.
  const auto& matrix = pair.kept.insight()->evictions(Cache::l2);
  CHECK_EQ(matrix.size(), 1);
  CHECK_EQ(matrix.at({1, 1}), turns * 4 - 3);
  const auto& before = pair.ignored.insight()->evictions(Cache::l2);
  CHECK_EQ(before.at({1, 0}), turns);
  CHECK_EQ(before.at({0, 1}), turns - 1);
  CHECK_EQ(before.at({1, 1}), turns * 5 - 4 - turns - (turns - 1));
  // In words.
  const Json j = insight_data(pair.kept)["hints"];
  CHECK_EQ(j["instructions"][0]["hints"], "L1 evict_first");
  CHECK_EQ(j["totals"]["L2 write-backs"], Json({{"kept", 37}, {"ignored", 46}}));
  const std::string text = insight_text(pair.kept);
  CHECK(text.find("which has no hint: others' hints cut L2 sector misses from 40 to 4") !=
        std::string::npos);
  CHECK(text.find("cut L2 write-backs from 10 to 0") != std::string::npos);
  CHECK(text.find("L2 write-backs                               37             46") !=
        std::string::npos);
}

TEST_CASE("a discard gives up bytes, and only where it is honoured") {
  Pair pair(Dialect::ptx, small(R"("sets": 1, "ways": 4)", R"("sets": 1, "ways": 4)"));
  pair.op(0, "st.global.u32", kA, 32).op(0, "discard.global.L2 [a], 128", kA, 1);
  CHECK_EQ(pair.kept.insight()->discarded_bytes(Cache::l2), 128);
  CHECK_EQ(pair.kept.insight()->of_site(1).discarded[1], 128);
  CHECK_EQ(pair.kept.engine().dirty(Cache::l2).bytes, 0);
  CHECK_EQ(pair.ignored.insight()->discarded_bytes(Cache::l2), 0);
  CHECK_EQ(pair.ignored.engine().dirty(Cache::l2).bytes, 128);
  CHECK_EQ(pair.kept.records(), pair.ignored.records());
}

TEST_CASE("why lines are missing") {
  SUBCASE("two lines of one set of a cache that is otherwise empty: conflicts") {
    Pair pair(Dialect::sass, small(R"("sets": 4, "ways": 1)", R"("sets": 64, "ways": 4)"));
    for (int i = 0; i < 5; ++i) pair.op(0, "LDG.E", kA).op(0, "LDG.E", kA + 4 * 128);
    CHECK_EQ(pair.kept.insight()->causes(Cache::l1), MissCauses{2, 0, 8, 0});
    CHECK_EQ(pair.kept.insight()->causes(Cache::l2), MissCauses{2, 0, 0, 0});
    const SetUse& set = pair.kept.insight()->sets(Cache::l1).at(0);
    CHECK_EQ(set.requests, 10);
    CHECK_EQ(set.misses, 10);
    CHECK_EQ(set.conflicts, 8);
    CHECK_EQ(set.evictions, 9);
    CHECK_EQ(pair.kept.insight()->sets(Cache::l1).at(1).requests, 0);
  }
  SUBCASE("five lines in turn through four: capacity") {
    Pair pair(Dialect::sass, small(R"("sets": 1, "ways": 4)", R"("sets": 64, "ways": 4)"));
    for (unsigned i = 0; i < 15; ++i) pair.op(0, "LDG.E", kA + 128 * (i % 5));
    CHECK_EQ(pair.kept.insight()->causes(Cache::l1), MissCauses{5, 10, 0, 0});
    CHECK_EQ(pair.kept.insight()->of_site(0).causes[0], MissCauses{5, 10, 0, 0});
  }
  SUBCASE("an invalidation between two uses") {
    Pair pair(Dialect::sass, small(R"("sets": 1, "ways": 4)", R"("sets": 64, "ways": 4)"));
    pair.op(0, "LDG.E", kA).op(0, "CCTL.IVALL", 0, 1).op(0, "LDG.E", kA);
    CHECK_EQ(pair.kept.insight()->causes(Cache::l1), MissCauses{1, 0, 0, 1});
  }
  SUBCASE("L1s are apart, and the curve of all SMs has neither") {
    Pair pair(Dialect::sass, small(R"("sets": 1, "ways": 4)", R"("sets": 64, "ways": 4)"));
    for (unsigned i = 0; i < 4; ++i) pair.op(i % 2, "LDG.E", kA);
    CHECK_EQ(pair.kept.insight()->causes(Cache::l1), MissCauses{2, 0, 0, 0});
    CHECK_EQ(pair.kept.insight()->reuse(Asked::l1).first_uses(), 2);
    CHECK_EQ(pair.kept.insight()->reuse(Asked::all).first_uses(), 1);
    CHECK_EQ(pair.kept.insight()->reuse(Asked::all).uses(), 4);
    CHECK_EQ(pair.kept.insight()->reuse(Asked::l2).uses(), 2);
  }
}

TEST_CASE("what L2 holds of each class, against the set-aside") {
  // Half of eight lines may be evict_last.
  const Preset p = small(R"("sets": 1, "ways": 4)", R"("sets": 1, "ways": 8)",
                         R"(, "knobs": {"persisting_percent": 50})");
  Pair pair(Dialect::ptx, p);
  for (unsigned i = 0; i < 6; ++i) pair.op(0, "ld.global.L2::evict_last.u32", kA + 128 * i);
  pair.op(0, "ld.global.L2::evict_first.u32", kB).op(0, "ld.global.u32", kC);
  const std::vector<Occupancy>& o = pair.kept.insight()->occupancy();
  REQUIRE_EQ(o.size(), 8);  // before each wave instruction
  CHECK_EQ(pair.kept.insight()->sample_width(), 1);
  CHECK_EQ(o[3].last, 3);
  CHECK_EQ(o[6].last, 4);
  CHECK_EQ(o[6].normal, 2);
  CHECK_EQ(o[7].first, 1);
  for (const Occupancy& x : pair.ignored.insight()->occupancy()) CHECK_EQ(x.first + x.last, 0);
  CHECK_EQ(pair.kept.engine().persisting_limit(), 4);
  // A long trace keeps a bounded number of samples, evenly apart.
  for (unsigned i = 0; i < 1000; ++i) pair.op(0, "ld.global.u32", kC);
  CHECK_LE(o.size(), Insight::kSamples);
  CHECK_EQ(pair.kept.insight()->sample_width(), 16);
}

TEST_CASE("what counts as a hint") {
  const auto hints = [](Dialect d, const char* text) {
    return hints_of(trace::site_from_text(d, text));
  };
  CHECK_EQ(hints(Dialect::ptx, "ld.global.cg.u32"), ".cg");
  CHECK_EQ(hints(Dialect::ptx, "ld.global.L1::evict_last.L2::128B.u32"),
           "L1 evict_last L2 prefetch 128 B");
  CHECK_EQ(hints(Dialect::ptx, "prefetch.global.L2"), "prefetch");
  CHECK_EQ(hints(Dialect::ptx, "ld.relaxed.gpu.global.u32"), "");
  CHECK_EQ(hints(Dialect::ptx, "fence.acq_rel.gpu"), "");
  CHECK_EQ(hints(Dialect::sass, "CCTL.IVALL"), "");
  CHECK_EQ(hints(Dialect::sass, "CCTL.PF1"), "prefetch");
  CHECK_EQ(hints(Dialect::gcn, "buffer_load_dword v1, v0, s[4:7], 0 offen glc slc"), "glc slc");
  CHECK_EQ(hints(Dialect::gcn, "buffer_atomic_add v1, v0, s[4:7], 0 offen glc"), "");
  CHECK_EQ(hints(Dialect::gcn, "buffer_wbinvl1"), "");
  for (const char* text : {"ld.global.cg.u32", "st.global.cs.u32", "prefetch.global.L1",
                           "ld.global.L1::evict_last.L2::128B.u32", "ld.relaxed.gpu.global.u32"}) {
    const trace::Site s = without_hints(trace::site_from_text(Dialect::ptx, text));
    CHECK_EQ(hints_of(s), "");
    CHECK_EQ(s.order, trace::site_from_text(Dialect::ptx, text).order);
  }
}

TEST_CASE("an insight changes no counter") {
  for (const char* name : {"gv100", "gm204", "tahiti", "infinite"}) {
    const Preset p = load_preset(name);
    TrackerOptions o;
    o.reuse = true;
    Tracker with(p, o), without(p);
    std::mt19937 random(7);
    const auto both = [&](auto f) {
      f(with);
      f(without);
    };
    trace::Kernel k;
    k.dialect = Dialect::sass;
    both([&](Tracker& t) {
      t.kernel(k);
      for (const char* text : {"LDG.E", "STG.E", "LDG.E.CG", "ATOMG.E.ADD"})
        t.site(trace::sass_site(text));
    });
    for (unsigned i = 0; i < 4000; ++i) {
      trace::Event e;
      e.wave.site = random() % 4;
      e.wave.sm = static_cast<uint16_t>(random() % p.sms);
      e.wave.mask = 0xffff'ffff;
      std::vector<uint64_t> at;
      const uint64_t base = kA + random() % 4096 * 64;
      for (unsigned lane = 0; lane < 32; ++lane) at.push_back(base + 4 * lane);
      trace::pack(e.wave, at);
      both([&](Tracker& t) { t.event(e); });
    }
    CAPTURE(std::string(name));
    for (const Cache c : {Cache::l1, Cache::l2})
      CHECK(with.engine().counters(c) == without.engine().counters(c));
    for (size_t i = 0; i < 4; ++i) CHECK(with.site_counters()[i] == without.site_counters()[i]);
  }
}

}  // namespace
}  // namespace lanewise::cache
