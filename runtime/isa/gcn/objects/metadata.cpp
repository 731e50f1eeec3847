#include "runtime/isa/gcn/objects/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "runtime/guest/launch_layout.hpp"
#include "runtime/support/message.hpp"

namespace lanewise::gcn {
namespace {

uint64_t value_of(const AmdhsaValues& values, const char* key, uint64_t otherwise = 0) {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : found->second;
}

std::string trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
    s.remove_suffix(1);
  if (s.size() >= 2 && s.front() == '\'' && s.back() == '\'') s = s.substr(1, s.size() - 2);
  return std::string(s);
}

/// The text behind `!str`, which compilers write before what a reader would take for something else
/// (an argument that is called n, or 1); else the text itself.
std::string_view without_tag(std::string_view text) {
  const size_t at = std::min(text.find_first_not_of(" \t"), text.size());
  for (const std::string_view tag : {"!str ", "!!str "})
    if (text.substr(at).starts_with(tag)) return text.substr(at + tag.size());
  return text;
}

/// A YAML scalar: plain, 'with '' for a quote', or "with \\ for a backslash".
std::string unquoted(std::string_view text) {
  text = without_tag(text);
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\r')) text.remove_suffix(1);
  const char quote = text.size() >= 2 && text.front() == text.back() ? text.front() : '\0';
  if (quote != '\'' && quote != '"') return std::string(text);
  const char escape = quote == '"' ? '\\' : '\'';
  std::string out;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == escape && i + 2 < text.size()) ++i;
    out += text[i];
  }
  return out;
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
  return found == fields.end()
             ? 0
             : static_cast<uint32_t>(std::strtoul(found->second.c_str(), nullptr, 0));
}
std::string text(const std::map<std::string, std::string>& fields, const char* key) {
  const auto found = fields.find(key);
  return found == fields.end() ? "" : found->second;
}

}  // namespace

bool known_amdhsa(const std::string& key) {
  static const std::set<std::string> keys = {"group_segment_fixed_size",
                                             "private_segment_fixed_size",
                                             "kernarg_size",
                                             "user_sgpr_count",
                                             "user_sgpr_private_segment_buffer",
                                             "user_sgpr_dispatch_ptr",
                                             "user_sgpr_queue_ptr",
                                             "user_sgpr_kernarg_segment_ptr",
                                             "user_sgpr_dispatch_id",
                                             "user_sgpr_flat_scratch_init",
                                             "user_sgpr_private_segment_size",
                                             "system_sgpr_private_segment_wavefront_offset",
                                             "system_sgpr_workgroup_id_x",
                                             "system_sgpr_workgroup_id_y",
                                             "system_sgpr_workgroup_id_z",
                                             "system_sgpr_workgroup_info",
                                             "system_vgpr_workitem_id",
                                             "next_free_vgpr",
                                             "next_free_sgpr",
                                             "reserve_vcc",
                                             "reserve_flat_scratch",
                                             "reserve_xnack_mask",
                                             "float_round_mode_32",
                                             "float_round_mode_16_64",
                                             "float_denorm_mode_32",
                                             "float_denorm_mode_16_64",
                                             "dx10_clamp",
                                             "ieee_mode",
                                             "exception_fp_ieee_invalid_op",
                                             "exception_fp_denorm_src",
                                             "exception_fp_ieee_div_zero",
                                             "exception_fp_ieee_overflow",
                                             "exception_fp_ieee_underflow",
                                             "exception_fp_ieee_inexact",
                                             "exception_int_div_zero",
                                             "uses_dynamic_stack"};
  return keys.count(key) != 0;
}

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
  k.allocated_vgprs =
      static_cast<unsigned>(std::min<uint64_t>(value_of(v, "next_free_vgpr"), 256) + 3) / 4 * 4;
  k.denorm_f32 = value_of(v, "float_denorm_mode_32") & 3;
  k.round_f32 = value_of(v, "float_round_mode_32") & 3;
  k.denorm_wide = value_of(v, "float_denorm_mode_16_64", 3) & 3;
  k.round_wide = value_of(v, "float_round_mode_16_64") & 3;
  k.ieee = value_of(v, "ieee_mode", 1) != 0;
  k.dx10_clamp = value_of(v, "dx10_clamp", 1) != 0;
}

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

namespace {

/// What is said of a value in a style of YAML that is not read.
std::string unread(std::string_view value) {
  constexpr std::string_view kStyles = "{[&*|>!?%@`";
  value = without_tag(value);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  if (value.empty() || value == "[]" || value == "{}" ||
      kStyles.find(value[0]) == std::string_view::npos)
    return "";
  return fmt::format(
      "metadata in this style of YAML is not read: '{}'; one field a line, as "
      "compilers write it, is",
      cut_long_words(value));
}

}  // namespace

namespace {

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

std::string MetadataReader::line(std::string_view raw) {
  const size_t indent = raw.find_first_not_of(" \t");
  if (indent == std::string_view::npos || raw[indent] == '#') return "";
  std::string_view body = raw.substr(indent);
  const bool item = body.substr(0, 2) == "- ";
  if (indent == 0 && !item) {
    version_2_ = body.starts_with("Kernels:") || body.starts_with("Printf:");
    in_kernels_ = body.starts_with("amdhsa.kernels:") || body.starts_with("Kernels:");
    in_formats_ = body.starts_with("amdhsa.printf:") || body.starts_with("Printf:");
    in_args_ = false;
    first_item_.reset();
    return in_kernels_ || in_formats_ ? unread(body.substr(body.find(':') + 1)) : "";
  }
  if (in_formats_ && item) {
    print_formats_.push_back(unquoted(body.substr(2)));
    return "";
  }
  if (!in_kernels_) return "";
  if (item) body.remove_prefix(2);
  if (item && indent == first_item_.value_or(indent)) {
    first_item_ = indent;
    entries_.emplace_back();
    in_args_ = false;
  }
  if (entries_.empty()) return "";
  // Fields of a kernel stand behind its dash; what belongs to an argument stands further in.
  if (!item && indent <= *first_item_ + 2) in_args_ = false;
  if (item && in_args_) entries_.back().args.emplace_back();
  if (std::string bad = unread(body); !bad.empty()) return bad;
  const size_t colon = body.find(':');
  if (colon == std::string_view::npos) return "";
  std::string key = trimmed(body.substr(0, colon)),
              value = trimmed(without_tag(body.substr(colon + 1)));
  if (version_2_) {
    // "LanguageVersion: [ 1, 2 ]" and the like say nothing of the arguments.
    constexpr std::string_view kRead[] = {"Name",   "Args",      "Size",     "Align",
                                          "Offset", "ValueKind", "TypeName", "KernargSegmentSize"};
    if (std::ranges::find(kRead, key) == std::end(kRead)) key = "CodeProps";
    key = "." + in_snake_case(key);
    if (key == ".code_props") return "";
    if (key == ".value_kind") value = in_snake_case(value);
  }
  if (std::string bad = unread(body.substr(colon + 1)); !bad.empty()) return bad;
  if (in_args_ && !entries_.back().args.empty())
    entries_.back().args.back().fields[key] = value;
  else if (!in_args_)
    entries_.back().fields[key] = value;
  if (key == ".args") in_args_ = true;
  return "";
}

std::string MetadataReader::apply(std::vector<Kernel>& kernels) const {
  for (const Entry& e : entries_) {
    for (Kernel& k : kernels) {
      if (k.name != text(e.fields, ".name")) continue;
      k.kernarg_bytes = std::max(k.kernarg_bytes, number(e.fields, ".kernarg_segment_size"));
      uint64_t end = 0;
      for (Argument a : e.args) {
        // Version 2 says how arguments are aligned, and they follow each other.
        if (const uint32_t align = number(a.fields, ".align"); align != 0) {
          end = (end + align - 1) / align * align;
          a.fields.try_emplace(".offset", std::to_string(end));
          end += number(a.fields, ".size");
        }
        for (const char* field : {".offset", ".size", ".value_kind"})
          if (!a.fields.contains(field))
            return fmt::format("metadata: an argument of kernel '{}' has no {}", k.name, field);
        add_parameter(k, text(a.fields, ".name"), number(a.fields, ".offset"),
                      number(a.fields, ".size"), text(a.fields, ".value_kind"),
                      text(a.fields, ".type_name"));
      }
    }
  }
  return "";
}

}  // namespace lanewise::gcn
