#include "runtime/isa/gcn/objects/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/isa/gcn/objects/yaml.hpp"
#include "runtime/layout/launch_block.hpp"

namespace lanewise::gcn {
namespace {

uint64_t value_of(const AmdhsaValues& values, const char* key, uint64_t otherwise = 0) {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : found->second;
}

/// The type of a value. Of a name that the file's author gave (a typedef, a struct, an enumeration)
/// nothing is known but the size.
ir::Type type_named(const std::string& name, uint32_t size) {
  static const std::map<std::string, ir::Type> types = {
      {"float", ir::Type::f32},  {"double", ir::Type::f64}, {"half", ir::Type::f16},
      {"char", ir::Type::s8},    {"uchar", ir::Type::u8},   {"short", ir::Type::s16},
      {"ushort", ir::Type::u16}, {"int", ir::Type::s32},    {"uint", ir::Type::u32},
      {"long", ir::Type::s64},   {"ulong", ir::Type::u64}};
  const auto found = types.find(name);
  const bool fits = found != types.end() && ir::size_of(found->second) == size;
  return fits ? found->second : ir::Type::none;
}
/// Of what is no value: addresses, and offsets in LDS.
ir::Type address_type(uint32_t size) {
  return size == 4 ? ir::Type::u32 : size == 8 ? ir::Type::u64 : ir::Type::none;
}

uint32_t number(const std::map<std::string, std::string>& fields, const char* key) {
  const auto found = fields.find(key);
  if (found == fields.end()) return 0;
  const uint64_t value = std::strtoull(found->second.c_str(), nullptr, 0);
  return static_cast<uint32_t>(std::min<uint64_t>(value, 0xffffffff));
}
std::string text(const std::map<std::string, std::string>& fields, const char* key) {
  const auto found = fields.find(key);
  return found == fields.end() ? "" : found->second;
}

}  // namespace

/// User SGPRs are packed from s0 in this order, each only if enabled; the system ones follow.
void apply_amdhsa(const AmdhsaValues& v, Kernel& k) {
  InitialState s;
  int next = 0;
  const auto user = [&](const char* key, int size) {
    if (value_of(v, key) == 0) return -1;
    const int at = next;
    next += size;
    return at;
  };
  s.private_segment_buffer = user("user_sgpr_private_segment_buffer", 4);
  s.dispatch_ptr = user("user_sgpr_dispatch_ptr", 2);
  s.queue_ptr = user("user_sgpr_queue_ptr", 2);
  s.kernarg_ptr = user("user_sgpr_kernarg_segment_ptr", 2);
  s.dispatch_id = user("user_sgpr_dispatch_id", 2);
  s.flat_scratch = user("user_sgpr_flat_scratch_init", 2);
  s.private_segment_size = user("user_sgpr_private_segment_size", 1);
  next = std::max(next, static_cast<int>(value_of(v, "user_sgpr_count")));
  const auto system = [&](const char* key, bool by_default) {
    return value_of(v, key, by_default ? 1 : 0) != 0 ? next++ : -1;
  };
  s.workgroup_id[0] = system("system_sgpr_workgroup_id_x", true);
  s.workgroup_id[1] = system("system_sgpr_workgroup_id_y", false);
  s.workgroup_id[2] = system("system_sgpr_workgroup_id_z", false);
  s.workgroup_info = system("system_sgpr_workgroup_info", false);
  s.private_segment_offset = system("system_sgpr_private_segment_wavefront_offset", false);
  s.workitem_ids = static_cast<unsigned>(value_of(v, "system_vgpr_workitem_id")) + 1;
  k.state = s;
  k.kernarg_bytes = static_cast<uint32_t>(value_of(v, "kernarg_size"));
  k.group_bytes = static_cast<uint32_t>(value_of(v, "group_segment_fixed_size"));
  k.private_bytes = static_cast<uint32_t>(value_of(v, "private_segment_fixed_size"));
  // Waves get vector registers four at a time.
  const uint64_t vectors = std::clamp<uint64_t>(value_of(v, "next_free_vgpr"), 1, 256);
  k.allocated_vgprs = static_cast<unsigned>(vectors + 3) / 4 * 4;
  k.denorm_f32 = value_of(v, "float_denorm_mode_32") & 3;
  k.round_f32 = value_of(v, "float_round_mode_32") & 3;
  k.denorm_wide = value_of(v, "float_denorm_mode_16_64", 3) & 3;
  k.round_wide = value_of(v, "float_round_mode_16_64") & 3;
  k.ieee = value_of(v, "ieee_mode", 1) != 0;
  k.dx10_clamp = value_of(v, "dx10_clamp", 1) != 0;
}

namespace {

/// One argument of the metadata.
void add_parameter(Kernel& kernel, const std::string& name, uint32_t offset, uint32_t size,
                   const std::string& kind, const std::string& type_name) {
  const bool hidden = kind.starts_with("hidden_");
  ir::Param p;
  p.name = hidden ? kind : name;
  p.offset = offset;
  p.size = size;
  p.align = size >= 8 ? 8 : size >= 4 ? 4 : std::max(size, 1U);
  p.pointer = kind == "global_buffer";
  p.type = p.pointer            ? ir::Type::u64
           : kind == "by_value" ? type_named(type_name, size)
                                : address_type(size);
  if (kind == guest::kDynamicShared) {
    ir::Param filled = p;
    filled.name = kind;
    kernel.hidden.push_back(std::move(filled));
  }
  (hidden ? kernel.hidden : kernel.params).push_back(std::move(p));
}

/// The words of version 2 are those of later ones in another spelling: "ValueKind", "GlobalBuffer".
std::string in_snake_case(std::string_view word) {
  std::string out;
  for (const char c : word) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !out.empty()) out += '_';
    out += static_cast<char>(capital ? c - 'A' + 'a' : c);
  }
  return out;
}

}  // namespace

void add_mesa_values(Kernel& k) {
  ir::Param values;
  values.name = guest::kMesaValues;
  values.offset = k.kernarg_bytes;
  k.hidden.push_back(values);
}

bool Metadata::key(const std::string& name) {
  std::string& key = levels_.back().key;
  key = name;
  if (levels_.size() == 1) version_2_ = name == "Kernels" || name == "Printf";
  if (version_2_ && levels_.size() > 1) key = "." + in_snake_case(name);
  if (version_2_ && levels_.size() == 1) key = "amdhsa." + in_snake_case(name);
  return true;
}

/// The keys of the maps from the outermost one on; a list has none.
bool Metadata::stands_in(std::initializer_list<std::string_view> keys) const {
  return std::ranges::equal(levels_, keys, [](const Level& level, std::string_view key) {
    return level.is_map == !key.empty() && level.key == key;
  });
}

bool Metadata::open(bool map) {
  if (map && in_arguments()) args_.emplace_back();
  levels_.push_back({map, {}});
  return is_shallow();
}

bool Metadata::close() {
  levels_.pop_back();
  if (!stands_in({"amdhsa.kernels", ""})) return true;
  kernels_[text(fields_, ".name")].emplace_back(std::move(fields_), std::move(args_));
  fields_.clear();
  args_.clear();
  return true;
}

bool Metadata::value(const std::string& text) {
  if (levels_.empty()) return true;
  const Level own = levels_.back();
  if (stands_in({"amdhsa.printf", ""})) print_formats_.push_back(text);
  if (!own.is_map) return true;
  levels_.pop_back();
  Fields* const fields = stands_in({"amdhsa.kernels", ""}) ? &fields_
                         : in_arguments()                  ? &args_.back()
                                                           : nullptr;
  levels_.push_back(own);
  if (fields != nullptr)
    (*fields)[own.key] = version_2_ && own.key == ".value_kind" ? in_snake_case(text) : text;
  return true;
}

std::string Metadata::apply(Kernel& k) const {
  const auto own = kernels_.find(k.name);
  if (own == kernels_.end()) return {};
  for (const auto& [fields, args] : own->second) {
    k.kernarg_bytes = std::max(k.kernarg_bytes, number(fields, ".kernarg_segment_size"));
    if (const uint32_t lanes = number(fields, ".max_flat_workgroup_size"); lanes != 0)
      k.max_block = lanes;
    uint64_t end = 0;
    for (Fields a : args) {
      // Version 2 says how arguments are aligned, and they follow each other.
      if (const uint32_t align = number(a, ".align"); align != 0) {
        end = (end + align - 1) / align * align;
        a.try_emplace(".offset", std::to_string(end));
        end += number(a, ".size");
      }
      for (const char* field : {".offset", ".size", ".value_kind"})
        if (!a.contains(field))
          return fmt::format("metadata: an argument of kernel '{}' has no {}", k.name, field);
      add_parameter(k, text(a, ".name"), number(a, ".offset"), number(a, ".size"),
                    text(a, ".value_kind"), text(a, ".type_name"));
    }
  }
  return {};
}

void MetadataText::line(std::string_view text, uint32_t number) {
  text_ += text;
  text_ += '\n';
  lines_.push_back(number);
}

std::optional<Diagnostic> MetadataText::read(Metadata& to) {
  std::optional<Diagnostic> bad;
  try {
    read_yaml(text_, to);
  } catch (const YamlError& e) {
    bad = {e.line < lines_.size() ? lines_[e.line] : 1, 1, e.message, false};
  }
  text_.clear();
  lines_.clear();
  return bad;
}

}  // namespace lanewise::gcn
