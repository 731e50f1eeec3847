#include "runtime/cache/presets/preset_text.hpp"
#include "runtime/support/json_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "runtime/cache/presets/knobs.hpp"

namespace lanewise::cache {
namespace {

using Json = nlohmann::ordered_json;

/// A knob's value, the one it has where a file does not set it, and its meaning.
struct KnobText {
  std::string name, value, usual, meaning;
};

class KnobTexts {
 public:
  void flag(const char* name, bool value, const char* meaning) {
    add(name, value ? "true" : "false", meaning);
  }
  template <class E, size_t N>
  void choice(const char* name, E value, const char* const (&names)[N], const char* meaning) {
    // A span: of the array itself g++ 12 believes that it is one of the shorter ones.
    const std::span<const char* const> all_names(names);
    add(name, all_names[static_cast<size_t>(value)], meaning);
  }
  void number(const char* name, uint32_t value, uint32_t, uint32_t, const char* meaning) {
    add(name, std::to_string(value), meaning);
  }
  std::vector<KnobText> all;

 private:
  void add(const char* name, std::string value, const char* meaning) {
    all.push_back({name, std::move(value), {}, meaning});
  }
};

std::vector<KnobText> knob_texts(const Knobs& knobs) {
  KnobTexts set, usual;
  const Knobs none;
  each_knob(knobs, set);
  each_knob(none, usual);
  for (size_t i = 0; i < set.all.size(); ++i) set.all[i].usual = usual.all[i].value;
  return set.all;
}

class KnobValues {
 public:
  void flag(const char* name, bool value, const char*) { json[name] = value; }
  template <class E, size_t N>
  void choice(const char* name, E value, const char* const (&names)[N], const char*) {
    json[name] = names[static_cast<size_t>(value)];
  }
  void number(const char* name, uint32_t value, uint32_t, uint32_t, const char*) {
    json[name] = value;
  }
  Json json = Json::object();
};

std::string size_text(const Geometry& g) {
  if (g.infinite) return "grows";
  const uint64_t bytes = g.bytes();
  if (bytes % (1U << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

std::string ways_text(const Geometry& g) {
  if (g.infinite) return "-";
  const std::string sets = fmt::format("{} x {}", g.sets, g.ways);
  return g.slices == 1 ? sets : fmt::format("{} x {}", g.slices, sets);
}

bool has_source(const Preset& p, const std::string& name) {
  return std::ranges::any_of(p.sources, [&](const Preset::Source& s) {
    return s.of == name || s.of.starts_with(name + ".") || s.of == "all";
  });
}

/// "ipoly", or "ipoly, fold": of the slice, and of the set inside it.
std::string index_text(const Geometry& g) {
  const std::string hash = kHashNames[static_cast<size_t>(g.hash)];
  if (g.set_hash == IndexHash::linear) return hash;
  return hash + ", " + kHashNames[static_cast<size_t>(g.set_hash)];
}

}  // namespace

std::string preset_text(const Preset& p) {
  std::string out = fmt::format("{}: {}\n{} SMs or CUs\n\n", p.name, p.title, p.sms);
  out += fmt::format("{:14} {:>9} {:>18} {:>5} {:>7}  {:12} {:7} {}\n", "cache", "size",
                     "slices, sets, ways", "line", "sector", "replacement", "index", "shared by");
  each_cache(p, [&](const char* name, const Geometry& g) {
    if (!g.present) return;
    out += fmt::format("{:14} {:>9} {:>18} {:>5} {:>7}  {:12} {:7} {}\n", name, size_text(g),
                       ways_text(g), g.line, g.sector, g.replacement->name, index_text(g),
                       g.shared_by);
  });
  out += "\nknob                            value       usual       meaning\n";
  for (const KnobText& k : knob_texts(p.knobs))
    out += fmt::format("{:31} {:11} {:11} {}\n", k.name, k.value, k.value == k.usual ? "" : k.usual,
                       k.meaning);
  out += "\nwhere the figures come from, and how sure that is\n";
  for (const Preset::Source& s : p.sources) out += fmt::format("  {}: {}\n", s.of, s.text);
  each_cache(p, [&](const char* name, const Geometry& g) {
    if (g.present && !has_source(p, name))
      out += fmt::format("  {}: the file names no source\n", name);
  });
  return out;
}

std::string preset_json(const Preset& p) {
  Json json{{"name", p.name}, {"title", p.title}, {"sms", p.sms}};
  each_cache(p, [&](const char* name, const Geometry& g) {
    if (!g.present) return;
    json[name] = {{"infinite", g.infinite},
                  {"slices", g.slices},
                  {"sets", g.sets},
                  {"ways", g.ways},
                  {"line", g.line},
                  {"sector", g.sector},
                  {"shared_by", g.shared_by},
                  {"replacement", g.replacement->name},
                  {"hash", kHashNames[static_cast<size_t>(g.hash)]},
                  {"set_hash", kHashNames[static_cast<size_t>(g.set_hash)]}};
  });
  KnobValues knobs;
  each_knob(p.knobs, knobs);
  json["knobs"] = knobs.json;
  json["sources"] = Json::object();
  for (const Preset::Source& s : p.sources) json["sources"][s.of] = s.text;
  return json_document(std::move(json));
}

}  // namespace lanewise::cache
