#include "runtime/cache/presets/preset.hpp"

#include <fmt/format.h>

#include <bit>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "runtime/cache/presets/embedded_presets.hpp"
#include "runtime/cache/presets/knobs.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::cache {
namespace {

using Parsed = nlohmann::json;

constexpr int kMostNested = 64;

/// Reads the fields of one object and remembers which it knows, so that none is ignored.
class Fields {
 public:
  Fields(const Parsed& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("must be an object");
  }
  void number(const char* name, uint32_t& value, uint32_t low, uint32_t high,
              const char* /*meaning*/ = nullptr) {
    const Parsed* field = take(name);
    if (field == nullptr) return;
    if (!field->is_number_unsigned() || field->get<uint64_t>() < low ||
        field->get<uint64_t>() > high)
      fail(fmt::format(".{} must be a whole number from {} to {}", name, low, high));
    value = field->get<uint32_t>();
  }
  void flag(const char* name, bool& value, const char* /*meaning*/ = nullptr) {
    const Parsed* field = take(name);
    if (field == nullptr) return;
    if (!field->is_boolean()) fail(fmt::format(".{} must be true or false", name));
    value = field->get<bool>();
  }
  void text(const char* name, std::string& value) {
    const Parsed* field = take(name);
    if (field == nullptr) return;
    if (!field->is_string()) fail(fmt::format(".{} must be a text", name));
    value = field->get<std::string>();
  }
  template <class E, size_t N>
  void choice(const char* name, E& value, const char* const (&names)[N],
              const char* /*meaning*/ = nullptr) {
    if (const auto index = chosen(name, std::span(names))) value = static_cast<E>(*index);
  }
  void policy(const char* name, const Policy*& value) {
    std::vector<std::string_view> names;
    for (const Policy* p : policies()) names.push_back(p->name);
    if (const auto index = chosen(name, std::span(names))) value = policies()[*index];
  }
  const Parsed* take(const char* name) {
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
  /// Which of the names it is; nothing where the field is missing.
  template <class Names>
  std::optional<size_t> chosen(const char* name, Names names) {
    std::string chosen, all;
    text(name, chosen);
    if (chosen.empty()) return std::nullopt;
    for (size_t i = 0; i < names.size(); ++i) {
      if (chosen == names[i]) return i;
      all += fmt::format("{}{}", i == 0 ? "" : ", ", names[i]);
    }
    fail(fmt::format(".{} is '{}', expected one of {}", name, chosen, all));
  }

  const Parsed& json_;
  std::string where_;
  std::vector<std::string> known_;
};

void read_geometry(Fields& parent, const char* name, const std::string& where, Geometry& g) {
  const Parsed* json = parent.take(name);
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
  f.policy("replacement", g.replacement);
  f.choice("hash", g.hash, kHashNames);
  f.choice("set_hash", g.set_hash, kHashNames);
  f.finish();
  if (!std::has_single_bit(g.line) || !std::has_single_bit(g.sector) || g.sector > g.line)
    f.fail(": line and sector must be powers of two, the sector not larger than the line");
  if (g.line > 128 && g.sector != g.line)
    f.fail(": a line of more than 128 bytes is filled as a whole, so its sector is the line");
  if (g.set_hash != IndexHash::linear && g.slices == 1)
    f.fail(": set_hash chooses the set inside a slice; with one slice, hash does");
  if (const Policy& p = *g.replacement; p.takes != nullptr && !p.takes(g.ways))
    f.fail(fmt::format(": {} needs {} ways", p.name, p.needs));
  if (g.bytes() > (uint64_t{1} << 32)) f.fail(": more than 4 GiB of cache");
}

void read_knobs(Fields& parent, const std::string& where, Knobs& k) {
  const Parsed* json = parent.take("knobs");
  if (json == nullptr) return;
  Fields f(*json, where + ".knobs");
  each_knob(k, f);
  f.finish();
}

/// Where the figures come from: for readers, so any shape will do.
void read_sources(const Parsed& json, Preset& p) {
  const auto text = [](const Parsed& j) { return j.is_string() ? j.get<std::string>() : j.dump(); };
  if (!json.is_object()) return p.sources.push_back({"all", text(json)});
  for (const auto& item : json.items()) p.sources.push_back({item.key(), text(item.value())});
}

Parsed parse_json(const std::string& text, const std::string& origin) {
  try {
    return Parsed::parse(text, [&](int depth, Parsed::parse_event_t, const Parsed&) {
      if (depth > kMostNested)
        throw Error(ErrorKind::usage, fmt::format("preset {}: more than {} objects in each other",
                                                  origin, kMostNested));
      return true;
    });
  } catch (const Parsed::exception& e) {
    throw Error(ErrorKind::usage, fmt::format("preset {}: {}", origin, e.what()));
  }
}

const EmbeddedPreset& shipped(std::string_view name, const std::string& asked) {
  std::string all;
  for (const EmbeddedPreset& e : embedded_presets()) {
    if (e.name == name) return e;
    all += (all.empty() ? "" : ", ") + std::string(e.name);
  }
  throw Error(ErrorKind::usage,
              fmt::format("unknown cache preset '{}', expected one of {}, or file:PRESET.json",
                          asked, all));
}

/// A preset's file; where it extends a shipped preset, merged into that one's.
Parsed whole_json(const std::string& text, const std::string& origin) {
  Parsed own = parse_json(text, origin);
  if (!own.is_object() || !own.contains("extends")) return own;
  const Parsed base = own["extends"];
  if (!base.is_string())
    throw Error(ErrorKind::usage, fmt::format("preset {}.extends must be a text", origin));
  const std::string name = base.get<std::string>();
  Parsed json = whole_json(std::string(shipped(name, name).json), name);
  json.erase("name");
  own.erase("extends");
  json.merge_patch(own);
  return json;
}

/// The variants that a preset's file has, or an empty object.
Parsed variants_of(const Parsed& json, const std::string& origin) {
  if (!json.is_object() || !json.contains("variants")) return Parsed::object();
  const Parsed& all = json["variants"];
  if (!all.is_object())
    throw Error(ErrorKind::usage, fmt::format("preset {}.variants must be an object", origin));
  for (const auto& item : all.items())
    if (!item.value().is_object())
      throw Error(ErrorKind::usage,
                  fmt::format("preset {}.variants.{} must be an object", origin, item.key()));
  return all;
}

/// What a variant changes. Its title can be one that continues the preset's: "; L2 of 12 channels".
void merge_variant(Parsed& json, const Parsed& variant, const std::string& name) {
  const auto text = [&](const char* field) {
    return json.contains(field) && json[field].is_string() ? json[field].get<std::string>() : "";
  };
  const std::string title = text("title");
  json.merge_patch(variant);
  if (text("title").starts_with(';')) json["title"] = title + text("title");
  if (const std::string own = text("name"); !own.empty()) json["name"] = own + "+" + name;
}

}  // namespace

Preset parse_preset(const std::string& text, const std::string& origin,
                    const std::string& variant) {
  Parsed json = whole_json(text, origin);
  const Parsed variants = variants_of(json, origin);
  if (json.is_object())
    for (const char* other : {"variants", "lanewise"}) json.erase(other);  // the latter: versions
  if (!variant.empty()) {
    if (!variants.contains(variant)) {
      std::string all;
      for (const auto& item : variants.items()) all += (all.empty() ? "" : ", ") + item.key();
      throw Error(ErrorKind::usage,
                  fmt::format("preset {} has no variant '{}', expected {}", origin, variant,
                              all.empty() ? "none" : "one of " + all));
    }
    merge_variant(json, variants[variant], variant);
  }
  Preset p;
  Fields f(json, origin);
  f.text("name", p.name);
  f.text("title", p.title);
  if (const Parsed* sources = f.take("sources")) read_sources(*sources, p);
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
  return parse_preset(std::string(shipped(base, name).json), base, variant);
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
    const Parsed variants = variants_of(whole_json(std::string(e.json), name), name);
    for (const auto& item : variants.items()) names.push_back(name + "+" + item.key());
  }
  return names;
}

}  // namespace lanewise::cache
