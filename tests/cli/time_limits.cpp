// --timeout holds whatever the program is waiting for, a driver's compiler too.
#include <chrono>
#include <cstring>

#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

/// A kernel that no device has compiled within seconds: every fused multiply-add is one in
/// integers.
std::string slow_to_compile(const std::string& name, unsigned operations) {
  std::string text = kHeader +
                     ".visible .entry slow(.param .u64 p)\n{\n  .reg .b64 %rd<2>;\n"
                     "  .reg .f64 %f<3>;\n  ld.param.u64 %rd1, [p];\n"
                     "  ld.global.f64 %f1, [%rd1];\n  mov.f64 %f2, 0d3FF8000000000000;\n";
  for (unsigned i = 0; i < operations; ++i) text += "  fma.rn.f64 %f1, %f2, %f1, %f2;\n";
  return write(name, text + "  st.global.f64 [%rd1], %f1;\n  ret;\n}\n");
}

}  // namespace

TEST_CASE("a time limit ends the program while the kernel is being compiled") {
  const bool compiled = std::strcmp(device(), "reference") != 0;
  const std::string file = slow_to_compile("slow.ptx", 400);
  const std::string in = write("slow_in.bin", std::string(8, '\0'));
  const auto start = std::chrono::steady_clock::now();
  const Output o = run(file + " --timeout 1 --arg inout:" + in);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CAPTURE(o.err);
  if (!compiled) {
    CHECK(o.code == 0);
    CHECK(slurp(in) != std::string(8, '\0'));
    return;
  }
  CHECK(o.code == 4);
  CHECK(seconds < 10);
  CHECK(o.out.empty());
  CHECK(lines_of(o.err) == 1);
  CHECK(contains(o.err, "lanewise: error: "));
  CHECK(contains(o.err, "kernel 'slow' when its 1 s were over") !=
        contains(o.err, "kernel 'slow' was still being translated when its 1 s were over"));
  CHECK(slurp(in) == std::string(8, '\0'));
}

TEST_CASE("without a step budget a time limit still ends an endless loop") {
  const std::string file = write("unlimited.ptx", kHeader + R"(
.visible .entry endless()
{
L:
  bra L;
}
)");
  const Output limited = run(file + " --max-steps 5000");
  CHECK(limited.code == 4);
  CHECK(contains(limited.err, "step budget used up"));
  const Output o = run(file + " --max-steps unlimited --timeout 1");
  CAPTURE(o.err);
  CHECK(o.code == 4);
  // llvmpipe of Mesa 22.3 leaves loops by itself.
  const bool cut = contains(o.err, "step budget of the device");
  if (cut) CHECK(contains(device(), "llvmpipe"));
  if (!cut) CHECK(contains(o.err, "did not end within 1 s"));
  const Output wrong = run(file + " --max-steps none");
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.err, "expected a number of at least 1|unlimited"));
}
