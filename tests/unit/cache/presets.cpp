// Presets as data: shown whole, with a source for every cache, and documented knob by knob.
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/cache/presets/knobs.hpp"
#include "runtime/cache/presets/preset_text.hpp"
#include "tests/unit/cache/support.hpp"

using namespace lanewise;
using namespace lanewise::cache;

namespace {

/// The rows of docs/presets.md's table of knobs, as that page writes them.
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

/// Every shipped preset and variant.
std::vector<std::string> all_presets() {
  std::vector<std::string> names = preset_names();
  for (const std::string& name : preset_variants()) names.push_back(name);
  return names;
}

TEST_CASE("presets: every figure of every shipped preset has a source and says how sure it is") {
  for (const std::string& name : all_presets()) {
    CAPTURE(name);
    const Preset p = load_preset(name);
    const auto sourced = [&](const std::string& cache, const std::string& field) {
      for (const Preset::Source& s : p.sources) {
        // "l1", or "l1.sets,ways".
        const std::string fields = s.of == cache                   ? field
                                   : s.of.starts_with(cache + ".") ? s.of.substr(cache.size() + 1)
                                                                   : "";
        if (("," + fields + ",").find("," + field + ",") != std::string::npos &&
            says_how_sure(s.text))
          return true;
      }
      return false;
    };
    const auto check = [&](const std::string& cache, const std::string& field) {
      CHECK_MESSAGE(sourced(cache, field), cache, ".", field);
    };
    bool sms = false;
    for (const Preset::Source& s : p.sources) sms = sms || (s.of == "sms" && says_how_sure(s.text));
    CHECK(sms);
    each_cache(p, [&](const char* cache, const Geometry& g) {
      if (!g.present) return;
      for (const char* field : {"sets", "ways", "line", "sector", "replacement", "hash"})
        check(cache, field);
      if (g.slices > 1) check(cache, "slices");
      if (g.shared_by > 1) check(cache, "shared_by");
      if (g.set_hash != IndexHash::linear) check(cache, "set_hash");
    });
    // Knobs that the file sets.
    std::ifstream in(std::string(LANEWISE_TEST_DATA) + "/../runtime/cache/presets/" +
                     name.substr(0, name.find('+')) + ".json");
    const nlohmann::json file = nlohmann::json::parse(in);
    const nlohmann::json knobs = file.value("knobs", nlohmann::json::object());
    for (const auto& item : knobs.items()) check("knobs", item.key());
    CHECK(preset_text(p).find("names no source") == std::string::npos);
  }
}

TEST_CASE("presets: variants change what they say, and nothing else") {
  const Preset plain = load_preset("gm204"), lines = load_preset("gm204+lines32");
  CHECK_EQ(lines.name, "gm204+lines32");
  CHECK_EQ(lines.l1.line, 32);
  CHECK_EQ(lines.l1.sets * lines.l1.ways * lines.l1.line, plain.l1.bytes());
  CHECK_EQ(lines.l2.bytes(), plain.l2.bytes());
  CHECK_EQ(load_preset("tahiti+channels12").l2.bytes(), load_preset("tahiti").l2.bytes());
  CHECK_EQ(load_preset("gv100+write-allocate").knobs.l1_store, L1Store::allocate);
  CHECK_THROWS_WITH(load_preset("gm204+nothing"),
                    "preset gm204 has no variant 'nothing', expected one of lines32");
  CHECK_THROWS_WITH(load_preset("fiji+x"), "preset fiji has no variant 'x', expected none");
  const std::string text =
      R"({"name": "n", "l1": {}, "l2": {}, "variants": {"v": {"l2": {"ways": 3}}}})";
  CHECK_EQ(parse_preset(text, "t").l2.ways, 1);
  CHECK_EQ(parse_preset(text, "t", "v").l2.ways, 3);
  CHECK_EQ(parse_preset(text, "t", "v").name, "n+v");
  CHECK_THROWS_WITH(parse_preset(R"({"name": "n", "l1": {}, "l2": {}, "variants": {"v": 1}})", "t"),
                    "preset t.variants.v must be an object");
  CHECK_THROWS_WITH(
      parse_preset(R"({"name": "n", "l1": {}, "l2": {"set_hash": "ipoly"}})", "t"),
      "preset t.l2: set_hash chooses the set inside a slice; with one slice, hash does");
}

TEST_CASE("presets: a file that extends a shipped one says what is different") {
  const Preset base = load_preset("gv100"),
               own = parse_preset(
                   R"({"name": "n", "extends": "gv100", "l1": {"ways": 7},
                       "knobs": {"l1_store": null}, "variants": {"v": {"title": "; V"}}})",
                   "t");
  CHECK_EQ(own.name, "n");
  CHECK_EQ(own.title, base.title);
  CHECK_EQ(own.l1.ways, 7);
  CHECK_EQ(own.l1.sets, base.l1.sets);
  CHECK_EQ(own.knobs.l1_store, Knobs().l1_store);
  const std::string text = R"({"name": "n", "extends": "gv100", "title": "T",
                               "variants": {"v": {"title": "; V"}}})";
  CHECK_EQ(parse_preset(text, "t", "v").title, "T; V");
  CHECK_EQ(parse_preset(text, "t", "write-allocate").title, "T; stores allocate in L1");
  CHECK_EQ(load_preset("gh100+write-allocate").title,
           "GH100 (H100 SXM), 132 SMs; stores allocate in L1");
  CHECK_THROWS_WITH(load_preset("ga100+hashed-sets"),
                    "preset ga100 has no variant 'hashed-sets', expected one of write-allocate");
  CHECK_THROWS_WITH(parse_preset(R"({"extends": "gv100"})", "t"),
                    "preset t: field 'name' is missing");
  CHECK_THROWS_WITH(parse_preset(R"({"extends": 3})", "t"), "preset t.extends must be a text");
  CHECK_THROWS(parse_preset(R"({"name": "n", "extends": "n"})", "t"));
  std::string deep = R"({"name": "n", "extends": "gv100", "variants": )";
  for (int n = 0; n < 100000; ++n) deep += R"({"v":)";
  CHECK_THROWS_WITH(parse_preset(deep, "t"), "preset t: more than 64 objects in each other");
}

TEST_CASE("presets: what `preset show --json` prints is a preset file of the same meaning") {
  for (const std::string& name : all_presets()) {
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

TEST_CASE("presets: docs/presets.md lists every knob with its default and meaning") {
  std::ifstream in(std::string(LANEWISE_TEST_DATA) + "/../docs/presets.md");
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
  CHECK(s.tracker().memory_bytes() < kLines * 700);
}
