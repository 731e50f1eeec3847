// What the cache tracker needs of an instruction travels in the IR: the text of a site may say
// anything.
#include <doctest/doctest.h>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/unit/site_support.hpp"

// Names of its own: these files are compiled together.
namespace cache_facts {
namespace {

using namespace lanewise;
using trace::ControlOp;
using trace::OpKind;

std::vector<trace::Site> sites_of(const std::string& text) {
  const ptx::ParseResult parsed = ptx::parse(text, 0);
  REQUIRE(parsed.ok());
  return sites_without_text(ptx::lower(parsed.module));
}

}  // namespace

TEST_CASE("PTX: hints, orders and controls come from the IR") {
  const auto sites = sites_of(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
      ".reg .b64 %rd<3>;\n.reg .b32 %r<3>;\nld.param.u64 %rd1, [p];\n"
      "ld.global.L1::evict_last.L2::128B.b32 %r1, [%rd1];\nst.global.cs.b32 [%rd1], %r1;\n"
      "fence.acq_rel.gpu;\nprefetch.global.L2::evict_last [%rd1];\ndiscard.global.L2 [%rd1], 128;\n"
      "ld.relaxed.sys.global.b32 %r2, [%rd1];\nret;\n}\n");
  REQUIRE(sites.size() == 6);
  CHECK(sites[0].kind == OpKind::load);
  CHECK(sites[0].l1 == ir::EvictPriority::last);
  CHECK(sites[0].prefetch_bytes == 128);
  CHECK(sites[0].order == ir::Order::weak);
  CHECK(sites[1].op == ir::CacheOp::cs);
  CHECK(sites[1].order == ir::Order::weak);
  CHECK(sites[2].kind == OpKind::fence);
  CHECK(sites[2].space == trace::Space::generic);
  CHECK(sites[2].scope == ir::Scope::gpu);
  CHECK(sites[3].control == ControlOp::prefetch_l2_evict_last);
  CHECK(sites[4].control == ControlOp::discard);
  CHECK(sites[5].scope == ir::Scope::sys);
}

}  // namespace cache_facts
