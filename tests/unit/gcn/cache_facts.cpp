// What the cache tracker needs of an instruction travels in the IR: the text of a site may say
// anything.
#include "runtime/isa/gcn/gcn.hpp"
#include "tests/unit/site_support.hpp"

namespace cache_facts {
namespace {

using namespace lanewise;
using trace::ControlOp;
using trace::OpKind;
using trace::Target;

std::vector<trace::Site> sites_of(const std::string& text) {
  const gcn::Listing listing = gcn::parse(text, {gcn::Gen::gfx8, 0, std::nullopt});
  for (const Diagnostic& d : listing.diagnostics) FAIL_CHECK(d.line, ": ", d.message);
  return sites_without_text(gcn::lower(listing));
}

}  // namespace

TEST_CASE("GCN: scalar memory, bits beside accesses, lines of a kind") {
  const auto sites = sites_of(
      ".amdgcn_target \"amdgcn-amd-amdhsa--gfx803\"\nk:\n"
      "s_load_dword s4, s[2:3], 0x0\nbuffer_load_dword v1, off, s[8:11], 0 glc slc\n"
      "buffer_atomic_add v1, off, s[8:11], 0 glc\nbuffer_wbinvl1_vol\ns_dcache_wb\n"
      "s_dcache_inv_vol\ns_endpgm\n");
  REQUIRE(sites.size() == 6);
  CHECK(sites[0].scalar);
  CHECK(sites[1].glc);
  CHECK(sites[1].slc);
  CHECK_FALSE(sites[1].scalar);
  CHECK(sites[2].kind == OpKind::atomic);
  CHECK(sites[2].glc);
  CHECK(sites[3].control == ControlOp::invalidate_all);
  CHECK(sites[3].volatile_lines);
  CHECK(sites[4].control == ControlOp::write_back_all);
  CHECK(sites[4].target == Target::scalar);
  CHECK(sites[5].control == ControlOp::reset);
  CHECK(sites[5].volatile_lines);
}

}  // namespace cache_facts
