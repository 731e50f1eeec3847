// Parts of L2 (--shard) put together against the whole run, on random traces: every report, byte
// for byte. And what the parts refuse.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <regex>

#include "runtime/cache/dialects/policy_word.hpp"
#include "runtime/cache/parts/merge.hpp"
#include "runtime/cache/reports/report.hpp"
#include "runtime/support/error.hpp"
#include "tests/unit/cache_script.hpp"

namespace lanewise::cache {
namespace parts_test {
namespace {

/// What lets lines leave early, late and in order, loses them, and is told of by their past.
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

std::string without_bytes(const std::string& json) {
  return std::regex_replace(json, std::regex("\"tracker_bytes\": *[0-9]+"), "");
}

Part part_of(const Tracker& t) {
  Part p;
  p.index = t.options().part;
  p.count = t.options().parts;
  p.content = 77;
  p.kernels = t.kernels();
  p.sites = t.sites();
  p.buffers = t.buffers();
  p.runs.push_back(part_run(t));
  return p;
}

/// Through the file, as merge gets it.
NamedPart named(const Part& p) {
  const std::string name = fmt::format("part{}.json", p.index);
  return {name, parse_part(to_text(p), name)};
}

/// A tracker for the reports.
std::unique_ptr<Tracker> together(std::span<const NamedPart> parts) {
  check_parts(parts);
  const Part& first = parts.front().part;
  auto t = std::make_unique<Tracker>(parse_preset(first.runs[0].preset, "part"));
  for (const auto& k : first.kernels) t->kernel(k);
  for (const auto& s : first.sites) t->site(s);
  for (const auto& b : first.buffers) t->buffer(b);
  t->hold(merge(parts, 0));
  return t;
}

struct Trackers {
  std::unique_ptr<Tracker> whole;
  std::vector<std::unique_ptr<Tracker>> parts;
};
Trackers run(const Preset& preset, Dialect dialect, uint64_t seed, uint32_t count,
             bool special = true, size_t rounds = 50) {
  TrackerOptions options;
  options.kept_contexts = seed % 5 == 0 ? 300 : 1 << 20;
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
  for (const std::string& name : names)
    for (const Dialect d : {Dialect::ptx, Dialect::sass, Dialect::gcn})
      compare(load_preset(name), d, seed, kCounts[seed % 4], seed % 3 != 0), ++seed;
}

TEST_CASE("cache parts: together they are the run without parts, on small caches") {
  for (const char* text : kShapes)
    for (const Dialect d : {Dialect::ptx, Dialect::sass, Dialect::gcn})
      for (uint64_t seed = 100; seed < 112; ++seed)
        compare(parse_preset(text, "test"), d, seed, kCounts[seed % 4]);
}

}  // namespace
}  // namespace parts_test
}  // namespace lanewise::cache
