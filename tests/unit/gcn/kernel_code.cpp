// Kernels as the assembler writes them for Mesa and before version 3 of code objects: a header of
// fields between label and code, the target and the metadata in directives of their own.
#include <doctest/doctest.h>

#include <string>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/layout/launch_block.hpp"

using namespace lanewise;

namespace {

const std::string kHeader =
    ".amdgpu_hsa_kernel k\nk:\n\t.amd_kernel_code_t\n"
    "\t\tamd_machine_version_major = 7\n"
    "\t\tgranulated_workitem_vgpr_count = 2\n\t\tfloat_mode = 192 ; f64 keeps subnormals\n"
    "\t\tenable_ieee_mode = 1\n\t\tenable_dx10_clamp = 1\n\t\tuser_sgpr_count = 8\n"
    "\t\tenable_sgpr_workgroup_id_x = 1\n\t\tenable_sgpr_workgroup_id_z = 1\n"
    "\t\tenable_vgpr_workitem_id = 2\n\t\tenable_sgpr_private_segment_buffer = 1\n"
    "\t\tenable_sgpr_dispatch_ptr = 1\n\t\tenable_sgpr_kernarg_segment_ptr = 1\n"
    "\t\tworkgroup_group_segment_byte_size = 4*16\n"
    "\t\tworkitem_private_segment_byte_size = 0x20\n"
    "\t\tkernarg_segment_byte_size = 44\n\t\tcall_convention = -1\n"
    "\t.end_amd_kernel_code_t\n s_endpgm\n";

void check_header(const gcn::Kernel& k) {
  CHECK(k.name == "k");
  CHECK(k.allocated_vgprs == 12);
  CHECK(k.denorm_f32 == 0);
  CHECK(k.denorm_wide == 3);
  CHECK(k.ieee);
  CHECK(k.dx10_clamp);
  CHECK(k.state.private_segment_buffer == 0);
  CHECK(k.state.dispatch_ptr == 4);
  CHECK(k.state.kernarg_ptr == 6);
  CHECK(k.state.workgroup_id[0] == 8);
  CHECK(k.state.workgroup_id[1] == -1);
  CHECK(k.state.workgroup_id[2] == 9);
  CHECK(k.state.workitem_ids == 3);
  CHECK(k.group_bytes == 64);
  CHECK(k.private_bytes == 32);
  CHECK(k.kernarg_bytes == 44);
}

std::string header_complaint(const std::string& field) {
  const gcn::Listing l =
      gcn::parse("k:\n.amd_kernel_code_t\n " + field + "\n.end_amd_kernel_code_t\ns_endpgm\n");
  return l.diagnostics.empty() ? "" : l.diagnostics[0].message;
}

}  // namespace

TEST_CASE("gcn header: Mesa's text") {
  const gcn::Listing l =
      gcn::parse("\t.section\t.AMDGPU.config\n\t.long\t47176\n\t.text\n" + kHeader);
  REQUIRE_MESSAGE(l.ok(), l.diagnostics[0].message);
  CHECK(l.gen == gcn::Gen::gfx7);
  REQUIRE(l.kernels.size() == 1);
  check_header(l.kernels[0]);
  CHECK_FALSE(l.kernels[0].unaligned);
  REQUIRE(l.kernels[0].hidden.size() == 1);
  CHECK(l.kernels[0].hidden[0].name == guest::kMesaValues);
  CHECK(l.kernels[0].hidden[0].offset == 44);
}

TEST_CASE("gcn header: version 2 with its metadata") {
  const gcn::Listing l = gcn::parse(
      "\t.text\n\t.hsa_code_object_version 2,1\n\t.hsa_code_object_isa 8,0,3,\"AMD\",\"AMDGPU\"\n" +
      kHeader.substr(0, kHeader.find("\t\tamd_machine")) +
      kHeader.substr(kHeader.find("\t\tgranulated")) +
      "\t.amd_amdgpu_hsa_metadata\n---\nVersion: [ 1, 0 ]\nKernels:\n  - Name: k\n"
      "    SymbolName: 'k@kd'\n    Args:\n      - Name: out\n        TypeName: 'uint*'\n"
      "        Size: 8\n        Align: 8\n        ValueKind: GlobalBuffer\n"
      "      - Name: n\n        TypeName: int\n        Size: 4\n        Align: 4\n"
      "        ValueKind: ByValue\n...\n\n\t.end_amd_amdgpu_hsa_metadata\n");
  REQUIRE_MESSAGE(l.ok(), l.diagnostics[0].message);
  CHECK(l.gen == gcn::Gen::gfx8);
  REQUIRE(l.kernels.size() == 1);
  check_header(l.kernels[0]);
  CHECK(l.kernels[0].unaligned);
  CHECK(l.kernels[0].hidden.empty());
  REQUIRE(l.kernels[0].params.size() == 2);
  CHECK(l.kernels[0].params[0].pointer);
  CHECK(l.kernels[0].params[1].offset == 8);
}

// As by hand: the assembler's older names; what nobody writes is 0, the workgroup's number as well.
TEST_CASE("gcn header: few fields, older names") {
  const gcn::Listing l = gcn::parse(
      ".hsa_code_object_version 2,0\n.hsa_code_object_isa 7, 0, 0, \"AMD\", \"AMDGPU\"\n.text\n"
      ".p2align 8\n.amdgpu_hsa_kernel k\nk:\n .amd_kernel_code_t\n"
      "  enable_sgpr_kernarg_segment_ptr = 1\n  is_ptr64 = 1\n  compute_pgm_rsrc1_vgprs = 1\n"
      "  compute_pgm_rsrc2_user_sgpr = 2\n  kernarg_segment_byte_size = 8\n"
      " .end_amd_kernel_code_t\n s_load_dwordx2 s[0:1], s[0:1], 0x0\n s_endpgm\n");
  REQUIRE_MESSAGE(l.ok(), l.diagnostics[0].message);
  REQUIRE(l.kernels.size() == 1);
  CHECK(l.gen == gcn::Gen::gfx7);
  CHECK(l.kernels[0].state.kernarg_ptr == 0);
  CHECK(l.kernels[0].state.workgroup_id[0] == -1);
  CHECK(l.kernels[0].state.workitem_ids == 1);
  CHECK(l.kernels[0].allocated_vgprs == 8);
  CHECK_FALSE(l.kernels[0].ieee);
  CHECK(l.kernels[0].denorm_wide == 0);
}

TEST_CASE("gcn header: what is refused") {
  CHECK(header_complaint("wavefront_size = 5") == "only 6 before GFX10");
  CHECK(header_complaint("wavefront_size = 6").empty());
  CHECK(header_complaint("is_ptr64 = 0") == "only 1 can be carried out");
  CHECK(header_complaint("private_element_size = 2") == "only 0 to 1 can be carried out");
  CHECK(header_complaint("kernarg_segment_byte_size = 8") == "");
  CHECK(header_complaint("kernarg_bytes = 8")
            .find("expected a field of the kernel's header, found "
                  "'kernarg_bytes'") == 0);
  CHECK(header_complaint("user_sgpr_count 8").find("expected '='") == 0);
  CHECK(header_complaint("user_sgpr_count = s8").find("expected a number") == 0);
  // As in LLVM a value is cut to its field, which is reported.
  CHECK(header_complaint("user_sgpr_count = 33") ==
        "user_sgpr_count has 5 bits: 33 becomes 1, as assemblers have it");
  CHECK(header_complaint("user_sgpr_count = -1") == "");
  CHECK(header_complaint("kernel_code_version_major = 1") == "");
  CHECK(header_complaint("amd_kernel_code_version_major = 1").find("expected a field") == 0);
  CHECK(header_complaint("workitem_vgpr_count = 0.0") == "");
  CHECK(header_complaint("enable_wavefront_size32 = 1") == "only 0 before GFX10");
  CHECK(header_complaint("enable_sgpr_grid_workgroup_count_x = 1").find("launches do not supply") ==
        0);
  const gcn::Listing narrow =
      gcn::parse("k:\n.amd_kernel_code_t\n wavefront_size = 7\n.end_amd_kernel_code_t\ns_endpgm\n");
  CHECK(narrow.ok());  // as for the assembler; it does not run
  REQUIRE(gcn::lower(narrow).rejected.size() == 1);
  CHECK(gcn::lower(narrow).module.kernels.empty());
  const gcn::Listing open = gcn::parse("k:\ns_endpgm\n.amd_kernel_code_t\n user_sgpr_count = 2\n");
  REQUIRE_FALSE(open.ok());
  CHECK(open.diagnostics[0].message == ".end_amd_kernel_code_t is missing");
}

TEST_CASE("gcn text: the version that newer compilers put in front") {
  const gcn::Listing l = gcn::parse(
      "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx803\"\n\t.amdhsa_code_object_version 5\n"
      "\t.text\nk:\n s_endpgm\n.amdhsa_kernel k\n .amdhsa_next_free_vgpr 1\n"
      " .amdhsa_next_free_sgpr 8\n.end_amdhsa_kernel\n");
  CHECK_MESSAGE(l.ok(), l.diagnostics[0].message);
}
