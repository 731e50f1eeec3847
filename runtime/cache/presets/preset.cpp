#include "runtime/cache/presets/preset.hpp"

#include <fmt/format.h>

#include <bit>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "runtime/cache/presets/embedded_presets.hpp"
#include "runtime/cache/presets/knobs.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::cache {
namespace {

using Json = nlohmann::json;

/// Reads the fields of one object and remembers which it knows, so that none is ignored.
class Fields {
 public:
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("must be an object");
  }
  void number(const char* name, uint32_t& value, uint32_t low, uint32_t high,
              const char* /*meaning*/ = nullptr) {
    const Json* field = take(name);
    if (field == nullptr) return;
    if (!field->is_number_unsigned() || field->get<uint64_t>() < low ||
        field->get<uint64_t>() > high)
      fail(fmt::format(".{} must be a whole number from {} to {}", name, low, high));
    value = field->get<uint32_t>();
  }
  void flag(const char* name, bool& value, const char* /*meaning*/ = nullptr) {
    const Json* field = take(name);
    if (field == nullptr) return;
    if (!field->is_boolean()) fail(fmt::format(".{} must be true or false", name));
    value = field->get<bool>();
  }
  void text(const char* name, std::string& value) {
    const Json* field = take(name);
    if (field == nullptr) return;
    if (!field->is_string()) fail(fmt::format(".{} must be a text", name));
    value = field->get<std::string>();
  }
  template <class E, size_t N>
  void choice(const char* name, E& value, const char* const (&names)[N],
              const char* /*meaning*/ = nullptr) {
    std::string chosen;
    text(name, chosen);
    if (chosen.empty()) return;
    std::string all;
    for (size_t i = 0; i < N; ++i) {
      if (chosen == names[i]) {
        value = static_cast<E>(i);
        return;
      }
      all += std::string(i == 0 ? "" : ", ") + names[i];
    }
    fail(fmt::format(".{} is '{}', expected one of {}", name, chosen, all));
  }
  const Json* take(const char* name) {
    known_.emplace_back(name);
    const auto it = json_.find(name);
    return it == json_.end() ? nullptr : &*it;
  }
  void finish() const {
    for (const auto& item : json_.items())
      if (std::find(known_.begin(), known_.end(), item.key()) == known_.end())
        fail(fmt::format(" has an unknown field '{}'", item.key()));
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::usage, fmt::format("preset {}{}", where_, why));
  }

 private:
  const Json& json_;
  std::string where_;
  std::vector<std::string> known_;
};

void read_geometry(Fields& parent, const char* name, const std::string& where, Geometry& g) {
  const Json* json = parent.take(name);
  if (json == nullptr) return;
  Fields f(*json, where + "." + name);
  g.present = true;
  f.flag("infinite", g.infinite);
  f.number("slices", g.slices, 1, 1024);
  f.number("sets", g.sets, 1, 1 << 20);
  f.number("ways", g.ways, 1, 1024);
  f.number("line", g.line, 4, 256);
  g.sector = std::min(g.sector, g.line);
  f.number("sector", g.sector, 4, 256);
  f.number("shared_by", g.shared_by, 1, 1024);
  f.choice("replacement", g.replacement, kReplacementNames);
  f.choice("hash", g.hash, kHashNames);
  f.choice("set_hash", g.set_hash, kHashNames);
  f.finish();
  if (!std::has_single_bit(g.line) || !std::has_single_bit(g.sector) || g.sector > g.line)
    f.fail(": line and sector must be powers of two, the sector not larger than the line");
  if (g.line > 128 && g.sector != g.line)
    f.fail(": a line of more than 128 bytes is filled as a whole, so its sector is the line");
  if (g.set_hash != IndexHash::linear && g.slices == 1)
    f.fail(": set_hash chooses the set inside a slice; with one slice, hash does");
  if (g.replacement == Replacement::tree_plru && (!std::has_single_bit(g.ways) || g.ways > 64))
    f.fail(": tree_plru needs 2, 4, ... 64 ways");
  if (g.bytes() > (uint64_t{1} << 32)) f.fail(": more than 4 GiB of cache");
}

void read_knobs(Fields& parent, const std::string& where, Knobs& k) {
  const Json* json = parent.take("knobs");
  if (json == nullptr) return;
  Fields f(*json, where + ".knobs");
  each_knob(k, f);
  f.finish();
}

/// Where the figures come from: for readers, so any shape will do.
void read_sources(const Json& json, Preset& p) {
  const auto text = [](const Json& j) { return j.is_string() ? j.get<std::string>() : j.dump(); };
  if (!json.is_object()) return p.sources.push_back({"all", text(json)});
  for (const auto& item : json.items()) p.sources.push_back({item.key(), text(item.value())});
}

Json parse_json(const std::string& text, const std::string& origin) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    throw Error(ErrorKind::usage, fmt::format("preset {}: {}", origin, e.what()));
  }
}

/// The variants that a preset's file has, or an empty object.
Json variants_of(const Json& json, const std::string& origin) {
  if (!json.is_object() || !json.contains("variants")) return Json::object();
  const Json& all = json["variants"];
  if (!all.is_object())
    throw Error(ErrorKind::usage, fmt::format("preset {}.variants must be an object", origin));
  for (const auto& item : all.items())
    if (!item.value().is_object())
      throw Error(ErrorKind::usage,
                  fmt::format("preset {}.variants.{} must be an object", origin, item.key()));
  return all;
}

}  // namespace

Preset parse_preset(const std::string& text, const std::string& origin,
                    const std::string& variant) {
  Json json = parse_json(text, origin);
  const Json variants = variants_of(json, origin);
  if (json.is_object()) json.erase("variants");
  if (!variant.empty()) {
    if (!variants.contains(variant)) {
      std::string all;
      for (const auto& item : variants.items()) all += (all.empty() ? "" : ", ") + item.key();
      throw Error(ErrorKind::usage,
                  fmt::format("preset {} has no variant '{}', expected {}", origin, variant,
                              all.empty() ? "none" : "one of " + all));
    }
    json.merge_patch(variants[variant]);
    if (json.contains("name") && json["name"].is_string())
      json["name"] = json["name"].get<std::string>() + "+" + variant;
  }
  Preset p;
  Fields f(json, origin);
  f.text("name", p.name);
  f.text("title", p.title);
  if (const Json* sources = f.take("sources")) read_sources(*sources, p);
  f.number("sms", p.sms, 1, 1024);
  each_cache(p, [&](const char* name, Geometry& g) { read_geometry(f, name, origin, g); });
  read_knobs(f, origin, p.knobs);
  f.finish();
  if (p.name.empty()) f.fail(": field 'name' is missing");
  if (!p.l1.present) f.fail(": field 'l1' is missing");
  if (!p.l2.present) f.fail(": field 'l2' is missing");
  if (p.l2.line > 128 || p.l1.line > 128 || (p.scalar.present && p.scalar.line > 128))
    f.fail(": only constant and instruction caches may have lines of more than 128 bytes");
  return p;
}

Preset load_preset(const std::string& name) {
  const size_t plus = name.rfind('+');
  const std::string base = name.substr(0, plus),
                    variant = plus == name.npos ? "" : name.substr(plus + 1);
  if (name.rfind("file:", 0) == 0) {
    const std::string whole = name.substr(5);
    std::ifstream in(whole);
    if (in) return parse_preset({std::istreambuf_iterator<char>(in), {}}, whole);
    const std::string path = base.substr(5);
    if (!variant.empty()) in.open(path);
    if (!in.is_open()) throw Error(ErrorKind::usage, fmt::format("cannot read preset {}", whole));
    return parse_preset({std::istreambuf_iterator<char>(in), {}}, path, variant);
  }
  std::string all;
  for (const EmbeddedPreset& e : embedded_presets()) {
    if (e.name == base) return parse_preset(std::string(e.json), base, variant);
    all += (all.empty() ? "" : ", ") + std::string(e.name);
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("unknown cache preset '{}', expected one of {}, or file:PRESET.json", name, all));
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const EmbeddedPreset& e : embedded_presets()) names.emplace_back(e.name);
  return names;
}

std::vector<std::string> preset_variants() {
  std::vector<std::string> names;
  for (const EmbeddedPreset& e : embedded_presets()) {
    const std::string name(e.name);
    const Json variants = variants_of(parse_json(std::string(e.json), name), name);
    for (const auto& item : variants.items()) names.push_back(name + "+" + item.key());
  }
  return names;
}

}  // namespace lanewise::cache
