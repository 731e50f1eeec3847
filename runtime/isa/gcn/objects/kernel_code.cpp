#include "runtime/isa/gcn/objects/kernel_code.hpp"

#include <algorithm>

#include "runtime/isa/gcn/text/expression.hpp"

namespace lanewise::gcn {
namespace {

/// A field under both of its names; `value` is what it says in the words of .amdhsa_ directives,
/// empty for what says nothing about execution. Of some only these values can be carried out.
struct Field {
  std::string_view name, other, value;
  int64_t least = INT64_MIN, most = INT64_MAX;
};
constexpr Field kFields[] = {
    {"granulated_workitem_vgpr_count", "compute_pgm_rsrc1_vgprs", "next_free_vgpr"},
    {"float_mode", "compute_pgm_rsrc1_float_mode", "float_mode"},
    {"enable_dx10_clamp", "compute_pgm_rsrc1_dx10_clamp", "dx10_clamp"},
    {"enable_ieee_mode", "compute_pgm_rsrc1_ieee_mode", "ieee_mode"},
    {"enable_sgpr_private_segment_wave_byte_offset", "compute_pgm_rsrc2_scratch_en",
     "system_sgpr_private_segment_wavefront_offset"},
    {"user_sgpr_count", "compute_pgm_rsrc2_user_sgpr", "user_sgpr_count"},
    {"enable_sgpr_workgroup_id_x", "compute_pgm_rsrc2_tgid_x_en", "system_sgpr_workgroup_id_x"},
    {"enable_sgpr_workgroup_id_y", "compute_pgm_rsrc2_tgid_y_en", "system_sgpr_workgroup_id_y"},
    {"enable_sgpr_workgroup_id_z", "compute_pgm_rsrc2_tgid_z_en", "system_sgpr_workgroup_id_z"},
    {"enable_sgpr_workgroup_info", "compute_pgm_rsrc2_tg_size_en", "system_sgpr_workgroup_info"},
    {"enable_vgpr_workitem_id", "compute_pgm_rsrc2_tidig_comp_cnt", "system_vgpr_workitem_id"},
    {"enable_sgpr_private_segment_buffer", "", "user_sgpr_private_segment_buffer"},
    {"enable_sgpr_dispatch_ptr", "", "user_sgpr_dispatch_ptr"},
    {"enable_sgpr_queue_ptr", "", "user_sgpr_queue_ptr"},
    {"enable_sgpr_kernarg_segment_ptr", "", "user_sgpr_kernarg_segment_ptr"},
    {"enable_sgpr_dispatch_id", "", "user_sgpr_dispatch_id"},
    {"enable_sgpr_flat_scratch_init", "", "user_sgpr_flat_scratch_init"},
    {"enable_sgpr_private_segment_size", "", "user_sgpr_private_segment_size"},
    {"workitem_private_segment_byte_size", "", "private_segment_fixed_size"},
    {"workgroup_group_segment_byte_size", "", "group_segment_fixed_size"},
    {"kernarg_segment_byte_size", "", "kernarg_size"},
    {"amd_machine_version_major", "", "machine"},
    {"amd_code_version_major", "amd_kernel_code_version_major", ""},
    {"amd_code_version_minor", "amd_kernel_code_version_minor", ""},
    {"amd_machine_kind", "", ""},
    {"amd_machine_version_minor", "", ""},
    {"amd_machine_version_stepping", "", ""},
    {"kernel_code_entry_byte_offset", "", ""},
    {"kernel_code_prefetch_byte_size", "", ""},
    {"max_scratch_backing_memory_byte_size", "", ""},
    {"granulated_wavefront_sgpr_count", "compute_pgm_rsrc1_sgprs", ""},
    {"priority", "compute_pgm_rsrc1_priority", ""},
    {"priv", "compute_pgm_rsrc1_priv", ""},
    {"debug_mode", "compute_pgm_rsrc1_debug_mode", ""},
    {"enable_wgp_mode", "compute_pgm_rsrc1_wgp_mode", ""},
    {"enable_mem_ordered", "compute_pgm_rsrc1_mem_ordered", ""},
    {"enable_fwd_progress", "compute_pgm_rsrc1_fwd_progress", ""},
    {"enable_trap_handler", "compute_pgm_rsrc2_trap_handler", ""},
    {"enable_exception_msb", "compute_pgm_rsrc2_excp_en_msb", ""},
    {"granulated_lds_size", "compute_pgm_rsrc2_lds_size", ""},
    {"enable_exception", "compute_pgm_rsrc2_excp_en", ""},
    {"enable_sgpr_grid_workgroup_count_x", "", "="},
    {"enable_sgpr_grid_workgroup_count_y", "", "="},
    {"enable_sgpr_grid_workgroup_count_z", "", "="},
    {"enable_ordered_append_gds", "", "="},
    {"enable_wavefront_size32", "", "="},
    {"private_element_size", "", "", 0, 1},  // scratch is interleaved by words
    {"is_ptr64", "", "", 1, 1},
    {"is_dynamic_callstack", "", ""},
    {"is_debug_enabled", "", ""},
    {"is_xnack_enabled", "", ""},
    {"gds_segment_byte_size", "", "="},
    {"workgroup_fbarrier_count", "", ""},
    {"wavefront_sgpr_count", "", ""},
    {"workitem_vgpr_count", "", ""},
    {"reserved_vgpr_first", "", ""},
    {"reserved_vgpr_count", "", ""},
    {"reserved_sgpr_first", "", ""},
    {"reserved_sgpr_count", "", ""},
    {"debug_wavefront_private_segment_offset_sgpr", "", ""},
    {"debug_private_segment_buffer_sgpr", "", ""},
    {"kernarg_segment_alignment", "", ""},
    {"group_segment_alignment", "", ""},
    {"private_segment_alignment", "", ""},
    {"wavefront_size", "", "", 6, 6},  // a power of two
    {"call_convention", "", ""},
    {"runtime_loader_kernel_symbol", "", ""}};
/// Registers and memory that no launch here supplies.
constexpr std::string_view kUnsupplied = "=";

const Field* field_named(std::string_view name) {
  const auto* found = std::ranges::find_if(
      kFields, [&](const Field& f) { return f.name == name || f.other == name; });
  return found == std::end(kFields) ? nullptr : found;
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

void KernelCodeBlock::line(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  const std::string name(in.word());
  const Field* field = name.empty() ? nullptr : field_named(name);
  if (field == nullptr) {
    in.seek(at);
    in.fail("expected a field of the kernel's header" + in.found());
  }
  in.expect('=', "behind the field's name");
  in.skip_blanks();
  const size_t value_at = in.at();
  const int64_t written = read_constant(in, "a number");
  if (!in.done()) in.fail("unexpected text behind the number" + in.found());
  const auto value = static_cast<uint64_t>(written);
  if (written < field->least || written > field->most)
    Cursor::fail_value(value_at, "only " + allowed(*field) + " can be carried out");
  if (field->value.empty()) return;
  if (written < 0 || written > 0xffffffff)
    Cursor::fail_value(value_at, "expected a number of 0 to 0xffffffff");
  if (field->value == kUnsupplied) {
    if (value != 0) Cursor::fail_value(value_at, "launches do not supply what this asks for");
  } else if (field->value == "machine") {
    machine_ = value;
  } else if (field->value == "float_mode") {
    values_["float_round_mode_32"] = value & 3;
    values_["float_round_mode_16_64"] = value >> 2 & 3;
    values_["float_denorm_mode_32"] = value >> 4 & 3;
    values_["float_denorm_mode_16_64"] = value >> 6 & 3;
  } else if (field->value == "next_free_vgpr") {
    values_["next_free_vgpr"] = 4 * ((value & 63) + 1);
  } else {
    values_[std::string(field->value)] = value;
  }
}

}  // namespace lanewise::gcn
