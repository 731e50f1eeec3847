// What is known of private memory: where the number of a mask lies there, and whether it is made;
// which loops all lanes leave together.
#include <doctest/doctest.h>

#include "runtime/isa/gcn/gcn.hpp"
#include "tests/support/even_loops.hpp"
#include "tests/support/private_readers.hpp"

using namespace lanewise;

namespace {

size_t ballots(const std::string& text, bool by_lane) {
  const gcn::Listing listing = gcn::parse(text);
  for (const Diagnostic& d : listing.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  gcn::LowerOptions options;
  options.by_lane = by_lane;
  const gcn::LowerResult r = gcn::lower(listing, options);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  REQUIRE(r.module.kernels.size() == 1);
  for (const std::string& defect : ir::verify(r.module.kernels[0])) FAIL_CHECK(defect);
  size_t n = 0;
  for (const ir::Block& b : r.module.kernels[0].blocks)
    for (const ir::Inst& i : b.insts) n += i.op == ir::Op::ballot;
  return n;
}

}  // namespace

TEST_CASE("the number of a mask in private memory is made where a lane reads it") {
  for (const test::PrivateReader& r : test::private_readers()) {
    CAPTURE(std::string(r.text));
    CHECK((ballots(test::private_reader_text(&r, 1), true) != 0) == r.reads);
  }
}

TEST_CASE("a loop around a barrier is left by each lane itself where all of them agree") {
  for (const test::EvenLoop& loop : test::even_loops()) {
    CAPTURE(loop.before);
    CAPTURE(loop.step);
    CHECK((ballots(test::even_loop_text(loop, 0), true) == 0) == loop.even);
  }
}
