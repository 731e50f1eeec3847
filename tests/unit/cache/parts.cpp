// Parts of L2 (--shard) put together against the whole run, on random traces: every report, byte
// for byte. And what the parts refuse.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "runtime/cache/dialects/policy_word.hpp"
#include "runtime/cache/parts/merge.hpp"
#include "runtime/cache/reports/report.hpp"
#include "runtime/support/error.hpp"
#include "tests/support/shares.hpp"
#include "tests/unit/cache/script.hpp"

namespace lanewise::cache {
namespace parts_test {
namespace {

/// What lets lines leave early, late and in order, loses them, and is reported by their past.
std::vector<trace::Site> special_sites(Dialect d) {
  std::vector<trace::Site> all;
  const auto add = [&](std::initializer_list<const char*> texts) {
    for (const char* text : texts) all.push_back(trace::site_from_text(d, text));
  };
  switch (d) {
    case Dialect::ptx:
      add({"ld.global.L2::evict_first.u32", "st.global.L2::evict_first.v8.b32", "ld.global.lu.b32",
           "ld.global.L1::evict_last.L2::256B.u32", "prefetch.global.L2",
           "prefetch.global.L2::evict_normal", "red.global.add.u32", "ld.volatile.global.b32",
           "st.global.wt.b32"});
      all.push_back(trace::site_from_text(d, "ld.global.L2::cache_hint.u32"));
      all.back().hinted = true;
      all.back().policy = fractional_policy(Class::first, Class::normal, 8);
      break;
    case Dialect::sass:
      add({"LDG.E.EF", "LDG.E.LU", "CCTL.E.PF2", "CCTL.E.PF1", "CCTL.E.IV", "CCTLL.IVALL",
           "RED.E.ADD"});
      break;
    case Dialect::gcn:
      add({"buffer_load_dword v0 slc", "global_store_dword v[2:3], v1, off glc", "s_dcache_wb",
           "buffer_load_dwordx4 v0 glc slc", "s_buffer_load_dword s0, s[4:7], 0x0"});
      break;
  }
  return all;
}

Part part_of(const Tracker& t) {
  const Tracker* const one[] = {&t};
  trace::ReadResult read;
  read.content = 77;
  return cache::part_of(one, read);
}

/// Through the file, as merge gets it.
NamedPart named(const Part& p) {
  const std::string name = fmt::format("part{}.json", p.index);
  return {name, parse_part(to_text(p), name)};
}

std::unique_ptr<Tracker> together(std::span<const NamedPart> parts) {
  return std::move(merged_trackers(parts).at(0));
}

struct Trackers {
  std::unique_ptr<Tracker> whole;
  std::vector<std::unique_ptr<Tracker>> parts;
};
Trackers run(const Preset& preset, Dialect dialect, uint64_t seed, uint32_t count,
             bool special = true, size_t rounds = 50) {
  TrackerOptions options;
  options.kept_contexts = seed % 5 == 0 ? 300 : 1 << 20;
  if (seed % 3 == 1) options.watched_sectors = 12;  // fewer than there are to watch
  Trackers t;
  t.whole = std::make_unique<Tracker>(preset, options);
  std::vector<Tracker*> all{t.whole.get()};
  options.parts = count;
  for (options.part = 0; options.part < count; ++options.part)
    all.push_back(t.parts.emplace_back(std::make_unique<Tracker>(preset, options)).get());
  const auto more = special ? special_sites(dialect) : std::vector<trace::Site>{};
  Script(dialect, seed, special, more).run({}, all, rounds);
  return t;
}

void compare(const Preset& preset, Dialect dialect, uint64_t seed, uint32_t count,
             bool special = true) {
  CAPTURE(preset.name);
  CAPTURE(seed);
  CAPTURE(count);
  const Trackers t = run(preset, dialect, seed, count, special);
  std::vector<NamedPart> parts;
  for (const auto& p : t.parts) parts.insert(parts.begin(), named(part_of(*p)));  // in any order
  const auto merged = together(parts);
  const Tracker* const a[] = {t.whole.get()};
  const Tracker* const b[] = {merged.get()};
  REQUIRE_EQ(text_report(a), text_report(b));
  CHECK_EQ(csv_report(a), csv_report(b));
  CHECK_EQ(sarif_report(a), sarif_report(b));
  REQUIRE_EQ(without_bytes(json_report(a)), without_bytes(json_report(b)));
}

constexpr uint32_t kCounts[] = {1, 2, 3, 7};

const char* const kShapes[] = {
    R"({"name": "small", "sms": 3, "l1": {"sets": 2, "ways": 3, "line": 128, "sector": 32},
        "l2": {"sets": 14, "ways": 5, "line": 128, "sector": 32},
        "knobs": {"l1_store": "update", "partial_write_limit": 3, "false_sharing_limit": 2,
                  "evict_first_window": 5}})",
    R"({"name": "write back", "sms": 5, "l1": {"sets": 4, "ways": 4, "line": 128, "sector": 32},
        "l2": {"slices": 4, "sets": 4, "ways": 2, "line": 128, "sector": 32, "hash": "ipoly"},
        "constant": {"sets": 2, "ways": 2, "line": 64, "sector": 64},
        "constant15": {"sets": 2, "ways": 2, "line": 256, "sector": 256},
        "knobs": {"l1_store": "write_back", "l2_written_back_at_kernel_end": true,
                  "partial_write_limit": 3, "false_sharing_limit": 2, "evict_first_window": 40}})",
    R"({"name": "short lines", "sms": 4, "l1": {"sets": 2, "ways": 4, "line": 64, "sector": 64},
        "scalar": {"sets": 2, "ways": 2, "line": 64, "sector": 64, "shared_by": 2},
        "l2": {"slices": 6, "sets": 3, "ways": 3, "line": 64, "sector": 64},
        "knobs": {"l1_store": "update", "l2_written_back_at_kernel_end": true,
                  "partial_write_limit": 2, "false_sharing_limit": 2, "evict_first_window": 16}})",
    R"({"name": "shortest lines", "sms": 2, "l1": {"sets": 2, "ways": 4, "line": 32, "sector": 32},
        "l2": {"slices": 8, "sets": 8, "ways": 3, "line": 32, "sector": 32, "hash": "fold",
               "set_hash": "ipoly"}, "knobs": {"l1_store": "allocate", "partial_write_limit": 2}})",
    R"({"name": "policies", "sms": 70,
        "l1": {"sets": 4, "ways": 4, "line": 128, "sector": 128, "replacement": "random"},
        "l2": {"sets": 64, "ways": 4, "line": 128, "sector": 32, "replacement": "tree_plru",
               "hash": "fermi"},
        "knobs": {"fill": "line", "fetch_on_write": true, "cg_on_l1_line": "hit",
                  "glc_on_l1_line": "leave", "prefetch_fill": "sector"}})",
    R"({"name": "srrip", "sms": 2, "l1": {"sets": 4, "ways": 4, "line": 64, "sector": 32},
        "l2": {"sets": 10, "ways": 4, "line": 128, "sector": 32, "replacement": "srrip"},
        "knobs": {"write_allocate_l2": false, "cg_on_l1_line": "evict", "global_in_l1": false}})",
    R"({"name": "lone", "sms": 1, "l1": {"sets": 4, "ways": 4, "line": 128, "sector": 32},
        "l2": {"sets": 8, "ways": 3, "line": 128, "sector": 32, "replacement": "lfu"},
        "knobs": {"l1_invalidated_at_kernel_begin": false, "evict_first_window": 3}})"};

TEST_CASE("cache parts: together they are the run without parts, on every preset") {
  std::vector<std::string> names = preset_names();
  for (const std::string& variant : preset_variants()) names.push_back(variant);
  uint64_t seed = 1;
  // The engine sees a preset's shape, a part its instruction set: they take turns.
  for (size_t n = 0; n < names.size(); ++n)
    for (const Dialect d : {Dialect::ptx, Dialect::sass, Dialect::gcn}) {
      if (lanewise::test::whole_tests() || n % 3 == static_cast<size_t>(d))
        compare(load_preset(names[n]), d, seed, kCounts[seed % 4], seed % 3 != 0);
      ++seed;
    }
}

TEST_CASE("cache parts: together they are the run without parts, on small caches") {
  for (const char* text : kShapes)
    for (const Dialect d : {Dialect::ptx, Dialect::sass, Dialect::gcn})
      for (uint64_t seed = 101; seed < (lanewise::test::whole_tests() ? 107 : 103); ++seed)
        compare(parse_preset(text, "test"), d, seed, kCounts[seed % 4]);
}

/// What check_parts() or merge() says.
std::string refusal(const std::vector<NamedPart>& parts) {
  try {
    check_parts(parts);
    merge(parts, 0);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST_CASE("cache parts: parts of other runs, twice or missing are reported by name") {
  const Preset preset = parse_preset(kShapes[0], "test");
  const auto made = [&](const Preset& p, uint32_t count) {
    std::vector<NamedPart> all;
    for (const auto& t : run(p, Dialect::ptx, 1, count, true, 3).parts)
      all.push_back(named(part_of(*t)));
    return all;
  };
  const auto says = [](const std::vector<NamedPart>& parts, const char* what) {
    const std::string why = refusal(parts);
    CAPTURE(why);
    CHECK(why.find(what) != std::string::npos);
  };
  const std::vector<NamedPart> good = made(preset, 3);
  CHECK_EQ(refusal(good), "");
  says({}, "no parts");
  says({good[0], good[2]}, "part 1 of 3 is missing");
  says({good[1]}, "parts 0, 2 of 3 are missing");
  says({good[0], good[1], good[1], good[2]}, "part1.json and part1.json are both part 1 of 3");
  auto bad = good;
  bad[1].part.read.content = 78;
  says(bad, "part0.json and part1.json do not belong together: another trace");
  bad = good;
  bad[2].part.policies = {{"trace.interleave", "serial"}};
  says(bad, "other policies");
  bad = good;
  bad[1] = made(preset, 2)[1];
  says(bad, "another number of parts");
  bad = good;
  Preset other = preset;
  other.knobs.partial_write_limit = 4;
  bad[1] = made(other, 3)[1];
  says(bad, "other presets");
  bad = good;
  ++bad[1].part.runs[0].counters[0].reads;
  says(bad, "part0.json and part1.json do not agree on what happened above L2");
}

TEST_CASE("cache parts: files that are none, of another version, or damaged") {
  const Preset preset = parse_preset(kShapes[0], "test");
  const std::string text = to_text(part_of(*run(preset, Dialect::ptx, 1, 2, true, 3).parts[1]));
  const auto says = [](const std::string& file, const char* what) {
    CHECK_THROWS_WITH_AS(parse_part(file, "p.json"), doctest::Contains(what), Error);
  };
  says("", "p.json: not a part");
  says("[1]", "not a part");
  says(R"({"format": "something else"})", "not a part");
  const std::string version = "\"version\": 1";
  std::string newer = text;
  newer.replace(newer.find(version), version.size(), "\"version\": 2");
  says(newer, "version 2");
  for (size_t at = text.find("\"data\"") + 9; at + 4 < text.size(); at += text.size() / 50) {
    std::string broken = text;
    broken[at] = broken[at] == '0' ? '1' : '0';
    says(broken, "is damaged");
  }
  for (size_t size = 0; size + 3 < text.size(); size += text.size() / 20)
    CHECK_THROWS_AS(parse_part(text.substr(0, size), "p.json"), Error);
  CHECK_EQ(parse_part(text, "p.json").runs[0].preset,
           part_of(*run(preset, Dialect::ptx, 1, 2, true, 3).parts[1]).runs[0].preset);
}

TEST_CASE("cache parts: presets whose L2 is more than its sets are refused by the knob") {
  const auto with = [](const char* l2, const char* knobs) {
    return parse_preset(fmt::format(R"({{"name": "x", "l1": {{"line": 64, "sector": 32}},
                                         "l2": {{{}}}, "knobs": {{{}}}}})",
                                    l2, knobs),
                        "test");
  };
  const auto says = [](const Preset& p, const char* what, uint32_t count = 2) {
    CHECK_THROWS_WITH_AS(Share::part(p, 0, count), doctest::Contains(what), Error);
  };
  const char* plain = R"("sets": 8, "line": 128, "sector": 32)";
  says(with(R"("sets": 8, "line": 128, "sector": 32, "replacement": "random")", ""),
       "l2.replacement random");
  says(with(plain, R"("dirty_limit_percent": 30)"), "dirty_limit_percent 30");
  says(with(R"("sets": 9, "line": 64, "sector": 32)", ""), "l2.sets: no multiple of the 2 lines");
  says(with(R"("slices": 3, "sets": 8, "line": 64, "sector": 32, "hash": "ipoly")", ""),
       "l2.slices: no multiple");
  says(with(R"("infinite": true, "line": 128, "sector": 32)",
            R"("l2_written_back_at_kernel_end": true)"),
       "l2_written_back_at_kernel_end");
  says(with(plain, ""), "can be divided into 8", 9);
  CHECK_NOTHROW(Share::part(with(plain, ""), 7, 8));
}

TEST_CASE(
    "cache parts: a quota that evict_last lines may have reached is refused, one that they "
    "cannot is not") {
  const trace::Site last[] = {trace::site_from_text(Dialect::ptx, "ld.global.L2::evict_last.u32")};
  const auto merged = [&](uint32_t percent, size_t rounds) -> std::string {
    const Preset p = parse_preset(
        fmt::format(R"({{"name": "quota", "sms": 2, "l1": {{"line": 128, "sector": 32}},
                         "l2": {{"sets": 64, "ways": 64, "line": 128, "sector": 32}},
                         "knobs": {{"persisting_percent": {}}}}})",
                    percent),
        "test");
    TrackerOptions options;
    options.parts = 2;
    std::vector<std::unique_ptr<Tracker>> all;
    std::vector<Tracker*> takers;
    all.push_back(std::make_unique<Tracker>(p));
    for (options.part = 0; options.part < 2; ++options.part)
      all.push_back(std::make_unique<Tracker>(p, options));
    takers.reserve(all.size());
    for (const auto& t : all) takers.push_back(t.get());
    Script(Dialect::ptx, 4, false, last).run({}, takers, rounds);
    try {
      const NamedPart parts[] = {named(part_of(*all[1])), named(part_of(*all[2]))};
      const auto one = together(parts);
      const Tracker* const a[] = {all[0].get()};
      const Tracker* const b[] = {one.get()};
      CHECK_EQ(text_report(a), text_report(b));
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  CHECK_EQ(merged(100, 40), "");
  CHECK_EQ(merged(90, 6), "");
  CHECK(merged(1, 40).find("persisting_percent 1") != std::string::npos);
}

TEST_CASE("cache parts: the lines of a 128-byte block are in one part, whatever the hash") {
  std::mt19937_64 random(3);
  for (const char* hash : {"linear", "fold", "fermi", "ipoly"})
    for (const char* set_hash : {"linear", "fold", "fermi", "ipoly"})
      for (const uint32_t slices : {1U, 2U, 4U, 6U, 8U, 12U, 20U})
        for (const uint32_t sets : {4U, 8U, 12U, 64U})
          for (const uint32_t line : {32U, 64U, 128U}) {
            if (slices == 1 && set_hash != std::string("linear")) continue;
            const Preset p = parse_preset(
                fmt::format(R"({{"name": "x", "l1": {{}}, "l2": {{"slices": {}, "sets": {},
                                 "line": {}, "sector": 32, "hash": "{}", "set_hash": "{}"}}}})",
                            slices, sets, line, hash, set_hash),
                "test");
            if (!crosses_sets(p).empty()) continue;
            const Level level(p.l2, 0, 100);
            for (int i = 0; i < 50; ++i) {
              const uint64_t block = (random() >> (random() % 50)) & ~uint64_t{127};
              const uint32_t unit = l2_unit_of(p.l2, level.set_of(block));
              REQUIRE_LT(unit, l2_units(p.l2));
              for (uint64_t at = block; at < block + 128; at += line)
                REQUIRE_EQ(l2_unit_of(p.l2, level.set_of(at)), unit);
            }
          }
}

}  // namespace
}  // namespace parts_test
}  // namespace lanewise::cache
