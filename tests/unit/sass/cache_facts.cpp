// What the cache tracker needs of an instruction travels in the IR: the text of a site may say
// anything.
#include <doctest/doctest.h>

#include "runtime/isa/sass/sass.hpp"
#include "tests/unit/site_support.hpp"

// Names of its own: these files are compiled together.
namespace cache_facts {
namespace {

using namespace lanewise;
using trace::ControlOp;
using trace::OpKind;
using trace::Target;

std::vector<trace::Site> sites_of(const std::string& text) {
  const sass::Listing listing = sass::parse(text, 50, 0);
  for (const Diagnostic& d : listing.diagnostics) FAIL_CHECK(d.line, ": ", d.message);
  return sites_without_text(sass::lower(listing));
}

}  // namespace

TEST_CASE("SASS: caches and encodings of controls, fences that invalidate") {
  const auto sites = sites_of(
      ".headerflags @\"EF_CUDA_SM50\"\n.text.k:\nCCTL.E.PF2 [R2+0x800] ;\nCCTL.I.IVALL ?WAIT6 ;\n"
      "CCTLL.CRS.WBALL ?WAIT7 ;\nCCTL.U.IVALL ;\nMEMBAR.SYS.IVALLD ;\nMEMBAR.GL ;\nEXIT ;\n");
  REQUIRE(sites.size() == 6);
  CHECK(sites[0].control == ControlOp::prefetch_l2);
  CHECK(sites[0].encoding.register_address);
  CHECK(sites[0].encoding.nonzero_immediate);
  CHECK(sites[0].encoding.extended);
  CHECK(sites[1].target == Target::instruction);
  CHECK(sites[1].encoding.wait == 6);
  CHECK(sites[2].target == Target::crs);
  CHECK(sites[2].encoding.wait == 7);
  CHECK(sites[3].target == Target::deprecated_u);
  // One event, though lowering makes a fence and a control of it.
  CHECK(sites[4].kind == OpKind::fence);
  CHECK(sites[4].invalidates);
  CHECK(sites[5].kind == OpKind::fence);
  CHECK_FALSE(sites[5].invalidates);
}

}  // namespace cache_facts
