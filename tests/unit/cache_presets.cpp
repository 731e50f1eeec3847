// Presets as data: shown whole, with a source for every cache, and documented knob by knob.
#include <fstream>
#include <sstream>

#include "runtime/cache/presets/knobs.hpp"
#include "runtime/cache/presets/preset_text.hpp"
#include "tests/unit/cache_support.hpp"

using namespace lanewise;
using namespace lanewise::cache;

namespace {

/// The rows of docs/cache.md's table of knobs, as that page writes them.
class DocumentedRows {
 public:
  void flag(const char* name, bool value, const char* meaning) {
    row(name, value ? "true" : "false", meaning);
  }
  template <class E, size_t N>
  void choice(const char* name, E value, const char* const (&names)[N], const char* meaning) {
    row(name, names[static_cast<size_t>(value)], meaning);
  }
  void number(const char* name, uint32_t value, uint32_t, uint32_t, const char* meaning) {
    row(name, std::to_string(value), meaning);
  }
  std::vector<std::string> rows;

 private:
  void row(const std::string& name, const std::string& value, const std::string& meaning) {
    rows.push_back("| `" + name + "` | " + value + " | " + meaning);
  }
};

bool says_how_sure(const std::string& text) {
  for (const char* word : {"high", "medium", "low"})
    if (text.find('(' + std::string(word)) != text.npos ||
        text.find(std::string(word) + ')') != text.npos)
      return true;
  return false;
}

}  // namespace

TEST_CASE("presets: every cache of every shipped preset has a source and says how sure it is") {
  for (const std::string& name : preset_names()) {
    CAPTURE(name);
    const Preset p = load_preset(name);
    each_cache(p, [&](const char* cache, const Geometry& g) {
      if (!g.present) return;
      CAPTURE(std::string(cache));
      bool found = false;
      for (const Preset::Source& s : p.sources)
        found = found || (s.of == cache && says_how_sure(s.text));
      CHECK(found);
    });
    CHECK(preset_text(p).find("names no source") == std::string::npos);
  }
}

TEST_CASE("presets: what `preset show --json` prints is a preset file of the same meaning") {
  for (const std::string& name : preset_names()) {
    CAPTURE(name);
    const Preset p = load_preset(name);
    const Preset again = parse_preset(preset_json(p), "shown");
    CHECK_EQ(preset_text(again), preset_text(p));
    CHECK_EQ(preset_json(again), preset_json(p));
  }
  // What the defaults hide is shown, too.
  const Preset small = parse_preset(
      R"({"name": "x", "l1": {"sets": 3, "hash": "fold"}, "l2": {"replacement": "srrip"},
          "knobs": {"fill": "line", "request_lanes": 7}})",
      "text");
  const std::string text = preset_text(small);
  for (const char* part : {"3 x 1", "fold", "srrip", "l1: the file names no source",
                           "request_lanes                   7           32"})
    CHECK_MESSAGE(text.find(part) != text.npos, part, " in\n", text);
  CHECK_EQ(preset_text(parse_preset(preset_json(small), "again")), text);
}

TEST_CASE("presets: docs/cache.md lists every knob with its default and meaning") {
  std::ifstream in(std::string(LANEWISE_TEST_DATA) + "/../docs/cache.md");
  std::stringstream page;
  page << in.rdbuf();
  const Knobs usual;
  DocumentedRows documented;
  each_knob(usual, documented);
  for (const std::string& row : documented.rows)
    CHECK_MESSAGE(page.str().find(row) != std::string::npos, row);
}

TEST_CASE("presets: what the infinite one takes grows with the lines, not with their distance") {
  // The groups of one SM read lines a power of two apart, as in every streaming kernel.
  Stream s(trace::Dialect::ptx, "infinite");
  constexpr uint32_t kLines = 40'000;
  for (uint32_t i = 0; i < kLines; ++i)
    s.op(i % 8, "ld.global.u32", {.address = kA + uint64_t{i} * 1024});
  CHECK_EQ(s.counters(Cache::l1).fills, kLines);
  CHECK_EQ(s.counters(Cache::l2).evictions, 0);
  CHECK(s.tracker().memory_bytes() < kLines * 4096);
}
