#include "runtime/cache/presets/preset.hpp"

#include <fmt/format.h>

#include <bit>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "runtime/cache/presets/embedded_presets.hpp"
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
  void number(const char* name, uint32_t& value, uint32_t low, uint32_t high) {
    const Json* field = take(name);
    if (field == nullptr) return;
    if (!field->is_number_unsigned() || field->get<uint64_t>() < low ||
        field->get<uint64_t>() > high)
      fail(fmt::format(".{} must be a whole number from {} to {}", name, low, high));
    value = field->get<uint32_t>();
  }
  void flag(const char* name, bool& value) {
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
  void choice(const char* name, E& value, const char* const (&names)[N]) {
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

constexpr const char* kReplacement[] = {"lru", "fifo",      "random",   "mru",
                                        "lfu", "tree_plru", "bit_plru", "srrip"};
constexpr const char* kHash[] = {"linear", "fold", "fermi", "ipoly"};

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
  f.choice("replacement", g.replacement, kReplacement);
  f.choice("hash", g.hash, kHash);
  f.finish();
  if (!std::has_single_bit(g.line) || !std::has_single_bit(g.sector) || g.sector > g.line)
    f.fail(": line and sector must be powers of two, the sector not larger than the line");
  if (g.line > 128 && g.sector != g.line)
    f.fail(": a line of more than 128 bytes is filled as a whole, so its sector is the line");
  if (g.replacement == Replacement::tree_plru && (!std::has_single_bit(g.ways) || g.ways > 64))
    f.fail(": tree_plru needs 2, 4, ... 64 ways");
  if (g.bytes() > (uint64_t{1} << 32)) f.fail(": more than 4 GiB of cache");
}

void read_knobs(Fields& parent, const std::string& where, Knobs& k) {
  const Json* json = parent.take("knobs");
  if (json == nullptr) return;
  Fields f(*json, where + ".knobs");
  static constexpr const char* kStore[] = {"evict", "update", "write_back"};
  static constexpr const char* kPass[] = {"leave", "evict", "hit"};
  static constexpr const char* kU[] = {"data", "constant", "both"};
  static constexpr const char* kGranule[] = {"sector", "line"};
  f.flag("global_in_l1", k.global_in_l1);
  f.flag("local_in_l1", k.local_in_l1);
  f.flag("nc_in_l1", k.nc_in_l1);
  f.choice("l1_store", k.l1_store, kStore);
  f.choice("cg_on_l1_line", k.cg_on_l1_line, kPass);
  f.choice("glc_on_l1_line", k.glc_on_l1_line, kPass);
  f.flag("atomic_invalidates_l1", k.atomic_invalidates_l1);
  f.choice("fill", k.fill, kGranule);
  f.choice("prefetch_fill", k.prefetch_fill, kGranule);
  f.flag("fetch_on_write", k.fetch_on_write);
  f.flag("write_allocate_l2", k.write_allocate_l2);
  f.choice("cctl_u", k.cctl_u, kU);
  f.flag("ivall_reaches_l15", k.ivall_reaches_l15);
  f.flag("unchanged_fills_at_lru_end", k.unchanged_fills_at_lru_end);
  f.number("persisting_percent", k.persisting_percent, 0, 100);
  f.number("dirty_limit_percent", k.dirty_limit_percent, 0, 100);
  f.flag("wbinvl1_all_lines", k.wbinvl1_all_lines);
  f.flag("slc_stays_in_l2", k.slc_stays_in_l2);
  f.flag("l1_invalidated_at_kernel_begin", k.l1_invalidated_at_kernel_begin);
  f.flag("l2_written_back_at_kernel_end", k.l2_written_back_at_kernel_end);
  f.number("request_lanes", k.request_lanes, 1, 64);
  f.number("false_sharing_limit", k.false_sharing_limit, 1, 1 << 30);
  f.number("evict_first_window", k.evict_first_window, 1, 1 << 30);
  f.number("partial_write_limit", k.partial_write_limit, 1, 1 << 30);
  f.finish();
}

}  // namespace

Preset parse_preset(const std::string& text, const std::string& origin) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& e) {
    throw Error(ErrorKind::usage, fmt::format("preset {}: {}", origin, e.what()));
  }
  Preset p;
  Fields f(json, origin);
  f.text("name", p.name);
  f.text("title", p.title);
  f.take("sources");  // where the figures come from; for readers, checked by no one
  f.number("sms", p.sms, 1, 1024);
  read_geometry(f, "l1", origin, p.l1);
  read_geometry(f, "constant", origin, p.constant);
  read_geometry(f, "constant15", origin, p.constant15);
  read_geometry(f, "instruction", origin, p.instruction);
  read_geometry(f, "instruction15", origin, p.instruction15);
  read_geometry(f, "scalar", origin, p.scalar);
  read_geometry(f, "l2", origin, p.l2);
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
  if (name.rfind("file:", 0) == 0) {
    const std::string path = name.substr(5);
    std::ifstream in(path);
    if (!in) throw Error(ErrorKind::usage, fmt::format("cannot read preset {}", path));
    return parse_preset({std::istreambuf_iterator<char>(in), {}}, path);
  }
  std::string all;
  for (const EmbeddedPreset& e : embedded_presets()) {
    if (e.name == name) return parse_preset(std::string(e.json), name);
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

}  // namespace lanewise::cache
