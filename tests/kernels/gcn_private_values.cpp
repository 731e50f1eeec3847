// Half of the number of a mask lies in private memory: it is made only where some lane reads it.
// A counter lies there, of a loop around a barrier: lanes ask their own bit where all agree.
#include <span>

#include "tests/kernels/support.hpp"
#include "tests/support/even_loops.hpp"
#include "tests/support/private_readers.hpp"

using namespace kernels;

namespace {

void check_readers(std::span<const lanewise::test::PrivateReader> readers) {
  const std::string text = lanewise::test::private_reader_text(readers.data(), readers.size());
  const lanewise::Kernel kernel =
      device().load_text(text, lanewise::Isa::gcn, "values").kernel("values");
  for (const uint32_t limit : {40U, 9U, 63U}) {
    CAPTURE(limit);
    const auto number = static_cast<uint32_t>((limit < 63 ? ~uint64_t{0} << (limit + 1) : 0) >> 32);
    std::vector<uint32_t> want;
    for (const auto& r : readers)
      for (unsigned lane = 0; lane < 64; ++lane) want.push_back(r.value(number, lane));
    auto out = device().buffer(std::vector<uint32_t>(want.size()), "out");
    kernel.launch({.grid = {1}, .block = {64}}, out, limit, uint32_t{256}).check();
    check_equal(out.read<uint32_t>(), want);
  }
}

}  // namespace

// Few to a kernel, as drivers take long where an invocation carries the wave. What devices run is
// the same IR: some are enough.
TEST_CASE("gcn private memory: lanes read the number of a mask") {
  constexpr size_t kInKernel = 4;
  std::span<const lanewise::test::PrivateReader> readers = lanewise::test::private_readers();
  if (device().info().type != "reference") readers = readers.last(kInKernel);
  for (; !readers.empty(); readers = readers.subspan(std::min(kInKernel, readers.size())))
    check_readers(readers.first(std::min(kInKernel, readers.size())));
}

TEST_CASE("gcn private memory: loops around barriers, of one wave and of two") {
  size_t number = 0;
  for (const lanewise::test::EvenLoop& loop : lanewise::test::even_loops()) {
    const size_t own = number++;
    // One of each kind is enough where drivers take seconds to compile.
    if (device().info().type != "reference" && own != 3) continue;
    CAPTURE(loop.step);
    const lanewise::Kernel kernel =
        device()
            .load_text(lanewise::test::even_loop_text(loop, own), lanewise::Isa::gcn, "values")
            .kernel("values");
    for (const uint32_t lanes : {64U, 128U, 40U}) {
      CAPTURE(lanes);
      std::vector<uint32_t> want(lanes);
      for (uint32_t n = 0; n < lanes; ++n) want[n] = n;
      for (int iteration = 0; iteration < 6; ++iteration) {
        const std::vector<uint32_t> before = want;
        for (uint32_t n = 0; n < lanes; ++n) want[n] = before[n] + before[n ^ 1] + n;
      }
      auto out = device().buffer(std::vector<uint32_t>(lanes), "out");
      kernel.launch({.grid = {1}, .block = {lanes}}, out).check();
      check_equal(out.read<uint32_t>(), want);
    }
  }
}
