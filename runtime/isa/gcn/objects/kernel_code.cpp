#include "runtime/isa/gcn/objects/kernel_code.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/gcn/text/operands/number_text.hpp"

namespace lanewise::gcn {
namespace {

/// A field under both of its names; `value` is what it says in the words of .amdhsa_ directives,
/// empty for what says nothing about execution. Of some only these values can be carried out.
struct Field {
  std::string_view name, other, value;
  unsigned bits = 32;
  uint64_t least = 0, most = ~uint64_t{0};
};
constexpr Field kFields[] = {
    {"granulated_workitem_vgpr_count", "compute_pgm_rsrc1_vgprs", "next_free_vgpr", 6},
    {"float_mode", "compute_pgm_rsrc1_float_mode", "float_mode", 8},
    {"enable_dx10_clamp", "compute_pgm_rsrc1_dx10_clamp", "dx10_clamp", 1},
    {"enable_ieee_mode", "compute_pgm_rsrc1_ieee_mode", "ieee_mode", 1},
    {"enable_sgpr_private_segment_wave_byte_offset", "compute_pgm_rsrc2_scratch_en",
     "system_sgpr_private_segment_wavefront_offset", 1},
    {"user_sgpr_count", "compute_pgm_rsrc2_user_sgpr", "user_sgpr_count", 5},
    {"enable_sgpr_workgroup_id_x", "compute_pgm_rsrc2_tgid_x_en", "system_sgpr_workgroup_id_x", 1},
    {"enable_sgpr_workgroup_id_y", "compute_pgm_rsrc2_tgid_y_en", "system_sgpr_workgroup_id_y", 1},
    {"enable_sgpr_workgroup_id_z", "compute_pgm_rsrc2_tgid_z_en", "system_sgpr_workgroup_id_z", 1},
    {"enable_sgpr_workgroup_info", "compute_pgm_rsrc2_tg_size_en", "system_sgpr_workgroup_info", 1},
    {"enable_vgpr_workitem_id", "compute_pgm_rsrc2_tidig_comp_cnt", "system_vgpr_workitem_id", 2},
    {"enable_sgpr_private_segment_buffer", "", "user_sgpr_private_segment_buffer", 1},
    {"enable_sgpr_dispatch_ptr", "", "user_sgpr_dispatch_ptr", 1},
    {"enable_sgpr_queue_ptr", "", "user_sgpr_queue_ptr", 1},
    {"enable_sgpr_kernarg_segment_ptr", "", "user_sgpr_kernarg_segment_ptr", 1},
    {"enable_sgpr_dispatch_id", "", "user_sgpr_dispatch_id", 1},
    {"enable_sgpr_flat_scratch_init", "", "user_sgpr_flat_scratch_init", 1},
    {"enable_sgpr_private_segment_size", "", "user_sgpr_private_segment_size", 1},
    {"workitem_private_segment_byte_size", "", "private_segment_fixed_size"},
    {"workgroup_group_segment_byte_size", "", "group_segment_fixed_size"},
    {"kernarg_segment_byte_size", "", "kernarg_size", 64},
    {"amd_machine_version_major", "machine_version_major", "machine", 16},
    {"amd_code_version_major", "kernel_code_version_major", ""},
    {"amd_code_version_minor", "kernel_code_version_minor", ""},
    {"amd_machine_kind", "machine_kind", "", 16},
    {"amd_machine_version_minor", "machine_version_minor", "", 16},
    {"amd_machine_version_stepping", "machine_version_stepping", "", 16},
    {"kernel_code_entry_byte_offset", "", "", 64},
    {"kernel_code_prefetch_byte_size", "", "", 64},
    {"max_scratch_backing_memory_byte_size", "", "", 64},
    {"granulated_wavefront_sgpr_count", "compute_pgm_rsrc1_sgprs", "", 4},
    {"priority", "compute_pgm_rsrc1_priority", "", 2},
    {"priv", "compute_pgm_rsrc1_priv", "", 1},
    {"enable_trap_handler", "compute_pgm_rsrc2_trap_handler", "", 1},
    {"debug_mode", "compute_pgm_rsrc1_debug_mode", "", 1},
    {"enable_wgp_mode", "compute_pgm_rsrc1_wgp_mode", "", 1, 0, 0},
    {"enable_mem_ordered", "compute_pgm_rsrc1_mem_ordered", "", 1, 0, 0},
    {"enable_fwd_progress", "compute_pgm_rsrc1_fwd_progress", "", 1, 0, 0},
    {"enable_exception_msb", "compute_pgm_rsrc2_excp_en_msb", "", 2},
    {"granulated_lds_size", "compute_pgm_rsrc2_lds_size", "", 9},
    {"enable_exception", "compute_pgm_rsrc2_excp_en", "", 7},
    {"enable_sgpr_grid_workgroup_count_x", "", "=", 1},
    {"enable_sgpr_grid_workgroup_count_y", "", "=", 1},
    {"enable_sgpr_grid_workgroup_count_z", "", "=", 1},
    {"enable_ordered_append_gds", "", "=", 1},
    {"enable_wavefront_size32", "", "", 1, 0, 0},
    {"private_element_size", "", "", 2, 0, 1},  // scratch is interleaved by words
    {"is_ptr64", "", "", 1, 1, 1},
    {"is_dynamic_callstack", "", "", 1},
    {"is_debug_enabled", "", "", 1},
    {"is_xnack_enabled", "", "", 1},
    {"gds_segment_byte_size", "", "="},
    {"workgroup_fbarrier_count", "", ""},
    {"wavefront_sgpr_count", "", "", 16},
    {"workitem_vgpr_count", "", "", 16},
    {"reserved_vgpr_first", "", "", 16},
    {"reserved_vgpr_count", "", "", 16},
    {"reserved_sgpr_first", "", "", 16},
    {"reserved_sgpr_count", "", "", 16},
    {"debug_wavefront_private_segment_offset_sgpr", "", "", 16},
    {"debug_private_segment_buffer_sgpr", "", "", 16},
    {"kernarg_segment_alignment", "", "", 8},
    {"group_segment_alignment", "", "", 8},
    {"private_segment_alignment", "", "", 8},
    {"wavefront_size", "", "", 8, 6, 6},  // a power of two
    {"call_convention", "", ""},
    {"runtime_loader_kernel_symbol", "", "", 64}};
/// Registers and memory that no launch here supplies.
constexpr std::string_view kUnsupplied = "=";

const Field* field_named(std::string_view name) {
  const auto* found = std::ranges::find_if(
      kFields, [&](const Field& f) { return f.name == name || f.other == name; });
  return found == std::end(kFields) ? nullptr : found;
}

/// Assemblers refuse these themselves: modes that came with GFX10, waves of 32 lanes among them.
bool is_of_later_target(const Field& f, uint64_t value) {
  constexpr uint64_t kLanes32 = 5;
  return value != 0 && (f.most == 0 || (f.name == "wavefront_size" && value == kLanes32));
}

/// A word may follow decimal digits without a blank, unless the letters are a number's own.
int64_t read_value(Cursor& in) {
  const auto count = [&](std::string_view of, size_t from) {
    return std::min(in.rest().find_first_not_of(of, from), in.rest().size());
  };
  const size_t digits = count("0123456789", 0);
  const size_t letters = count("abcdefghijklmnopqrstuvwxyz", digits) - digits;
  const bool own = in.peek(digits) == 'e' || in.peek() == '0' || in.peek(digits + letters) == '.';
  if (digits == 0 || letters < 2 || own) return read_bits(in, "a number");
  Cursor number(in.rest().substr(0, digits));
  in.seek(in.at() + digits);
  return read_bits(number, "a number");
}

std::string allowed(const Field& f) {
  const std::string least = std::to_string(f.least);
  return f.least == f.most ? least : least + " to " + std::to_string(f.most);
}

}  // namespace

KernelCodeBlock::KernelCodeBlock() {
  for (const Field& f : kFields)
    if (!f.value.empty() && f.value != kUnsupplied && f.value != "machine" &&
        f.value != "float_mode")
      values_[std::string(f.value)] = 0;
  for (const char* part : {"float_round_mode_32", "float_round_mode_16_64", "float_denorm_mode_32",
                           "float_denorm_mode_16_64"})
    values_[part] = 0;
  values_["next_free_vgpr"] = 4;
}

std::string KernelCodeBlock::line(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  const std::string name(in.word());
  const Field* field = name.empty() ? nullptr : field_named(name);
  if (field == nullptr) {
    in.seek(at);
    in.fail("expected a field of the kernel's header" + in.found());
  }
  if (name == "max_scratch_backing_memory_byte_size") return {};  // of old files: no such field
  in.expect('=', "behind the field's name");
  in.skip_blanks();
  const size_t value_at = in.at();
  const int64_t written = read_value(in);
  // LLVM's assembler passes over one word, whatever it is.
  std::string_view ignored;
  if (!in.done()) {
    ignored = in.word();
    if (ignored.empty() && in.take(',')) ignored = ",";
  }
  if (!in.done()) in.fail("unexpected text behind the number" + in.found());
  const uint64_t value = static_cast<uint64_t>(written) & (~uint64_t{0} >> (64 - field->bits));
  const auto cannot_run = [&](std::string reason) {
    if (problem_.empty()) problem_ = fmt::format("{} = {}: {}", name, value, reason);
    return reason;
  };
  if (is_of_later_target(*field, value))
    Cursor::fail_value(value_at, fmt::format("only {} before GFX10", field->least));
  if (value < field->least || value > field->most)
    return cannot_run("only " + allowed(*field) + " can be carried out");
  if (field->value == kUnsupplied) {
    if (value != 0) return cannot_run("launches do not supply what this asks for");
  } else if (field->value == "machine") {
    machine_ = value;
  } else if (field->value == "float_mode") {
    values_["float_round_mode_32"] = value & 3;
    values_["float_round_mode_16_64"] = value >> 2 & 3;
    values_["float_denorm_mode_32"] = value >> 4 & 3;
    values_["float_denorm_mode_16_64"] = value >> 6 & 3;
  } else if (field->value == "next_free_vgpr") {
    values_["next_free_vgpr"] = 4 * (value + 1);
  } else if (!field->value.empty()) {
    values_[std::string(field->value)] = value;
  }
  const bool is_cut = written >> (field->bits - 1) != -1 && static_cast<int64_t>(value) != written;
  if (!ignored.empty()) return fmt::format("'{}' behind the number says nothing", ignored);
  return is_cut ? fmt::format("{} has {} bits: {} becomes {}, as assemblers have it", name,
                              field->bits, written, value)
                : std::string();
}

}  // namespace lanewise::gcn
