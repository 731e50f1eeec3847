// Buffers of one launch are apart: what runs over the end of one is a fault, however far it goes.
#include <algorithm>

#include "tests/kernels/support.hpp"

using namespace kernels;
using lanewise::Buffer;
using lanewise::LaunchOptions;
using lanewise::Result;

namespace {

constexpr uint32_t kWords = 64;

struct Form {
  const char* file;
  const char* kernel;
  bool pointers_first;
};
constexpr Form kForms[] = {{"ptx/saxpy.sm75.ptx", "saxpy", false},
                           {"ptx/saxpy.clang.ptx", "saxpy", false},
                           {"sass/k01_saxpy.cubin", "saxpy", false},
                           {"gcn/k01_saxpy.gfx600.s", "saxpy", true}};

/// y[0, n) of buffers with kWords each; a third buffer lies behind.
Result saxpy(const Form& form, uint32_t n, std::vector<float>& behind) {
  lanewise::Kernel kernel = device().load_file(corpus(form.file)).kernel(form.kernel);
  const std::vector<float> ones(kWords, 1.0F), nines(4 * kWords, 9.0F);
  Buffer x = device().buffer(std::vector<float>(8 * kWords, 1.0F));
  Buffer y = device().buffer(ones);
  Buffer neighbour = device().buffer(nines);
  const uint32_t block = form.pointers_first ? 256 : 64;
  const LaunchOptions options{.grid = {(n + block - 1) / block}, .block = {block}};
  const Result result = form.pointers_first
                            ? kernel.launch(options, y, x, 2.0F, static_cast<int>(n))
                            : kernel.launch(options, static_cast<int>(n), 2.0F, x, y);
  behind = neighbour.read<float>();
  return result;
}

lanewise::Kernel from_ptx(const std::string& body) {
  return device()
      .load_text(
          ".version 7.8\n.target sm_75\n.address_size 64\n"
          ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
          "  .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
          "  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];\n" +
              body + "  ret;\n}\n",
          lanewise::Isa::ptx)
      .kernel();
}

}  // namespace

TEST_CASE("neighbours: one word, 300 bytes and a whole buffer too far") {
  for (const Form& form : kForms) {
    for (const uint32_t over : {0U, 1U, 75U, 4 * kWords}) {
      CAPTURE(form.file);
      CAPTURE(over);
      std::vector<float> behind;
      const Result result = saxpy(form, kWords + over, behind);
      CHECK(result.fault_count == over);
      check_equal(behind, std::vector<float>(4 * kWords, 9.0F));
      if (over == 0) continue;
      REQUIRE(!result.faults.empty());
      CHECK(result.faults[0].kind == lanewise::FaultKind::out_of_range);
    }
  }
}

TEST_CASE("neighbours: a fault inside another buffer names the pointer that it came through") {
  Buffer a = device().allocate(256), b = device().allocate(4096), c = device().allocate(16);
  const std::string apart = std::to_string(static_cast<int64_t>(b.address() - a.address()) + 1024);
  lanewise::Kernel kernel =
      from_ptx("  ld.global.u32 %r1, [%rd1+" + apart + "]; st.global.u32 [%rd2], %r1;\n");
  const Result result = kernel.launch({}, a, b, c);
  REQUIRE(result.fault_count == 1);
  CHECK(result.faults[0].parameter == "a");
  CHECK(result.faults[0].allocation_address == b.address());
  CHECK(result.faults[0].parameter_allocation_address == a.address());
  const std::string report = lanewise::format(result.faults[0]);
  CHECK(report.find("through the pointer parameter a") != std::string::npos);
  CHECK(report.find("--memcheck arena allows it") != std::string::npos);
}

TEST_CASE("neighbours: pointers may be taken out of memory, chosen, subtracted and missing") {
  const std::vector<uint32_t> words = {11, 12, 13, 14};
  Buffer a = device().buffer(words), b = device().buffer(words), c = device().allocate(16);
  // b, reached by the way from a to b.
  from_ptx(
      "  sub.s64 %rd4, %rd2, %rd1; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r1, [%rd5+4];\n"
      "  st.global.u32 [%rd3], %r1;\n")
      .launch({}, a, b, c)
      .check();
  CHECK(c.read<uint32_t>()[0] == 12);
  // The same where only the difference is known to come from b.
  from_ptx(
      "  add.s64 %rd4, %rd2, 0; shl.b64 %rd4, %rd4, 1; sub.s64 %rd4, %rd4, %rd2;\n"
      "  sub.s64 %rd4, %rd4, %rd1; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r1, [%rd5+8];\n"
      "  st.global.u32 [%rd3], %r1;\n")
      .launch({}, a, b, c)
      .check();
  CHECK(c.read<uint32_t>()[0] == 13);
  // One of two.
  from_ptx(
      "  mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; selp.b64 %rd4, %rd2, %rd1, %p1;\n"
      "  ld.global.u32 %r1, [%rd4+12]; st.global.u32 [%rd3], %r1;\n")
      .launch({}, a, b, c)
      .check();
  CHECK(c.read<uint32_t>()[0] == 14);
  // Down from the end, and up from before the begin.
  from_ptx(
      "  ld.global.u32 %r1, [%rd1+-4]; ld.global.u32 %r2, [%rd2+4]; add.u32 %r1, %r1, %r2;\n"
      "  st.global.u32 [%rd3], %r1;\n")
      .launch({}, a.address() + 16, b.address() - 4, c)
      .check();
  CHECK(c.read<uint32_t>()[0] == 25);
  // An optional one.
  from_ptx(
      "  setp.eq.u64 %p1, %rd2, 0; mov.u32 %r1, 5; @!%p1 ld.global.u32 %r1, [%rd2];\n"
      "  st.global.u32 [%rd3], %r1;\n")
      .launch({}, a, uint64_t{0}, c)
      .check();
  CHECK(c.read<uint32_t>()[0] == 5);
}

TEST_CASE("neighbours: a pointer between two words, whether it is declared as a pointer or not") {
  const lanewise::Kernel kernel = from_ptx(
      "  mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 8; add.s64 %rd5, %rd1, %rd4;\n"
      "  ld.global.u32 %r2, [%rd5]; ld.global.u64 %rd6, [%rd5+8]; add.s64 %rd7, %rd2, %rd4;\n"
      "  st.global.u32 [%rd7], %r2; st.global.u64 [%rd7], %rd6;\n");
  for (const lanewise::Memcheck memcheck : {lanewise::Memcheck::alloc, lanewise::Memcheck::arena}) {
    for (const uint32_t off : {0U, 1U, 4U, 8U}) {
      CAPTURE(off);
      Buffer a = device().buffer(std::vector<uint32_t>(64, 3)), b = device().allocate(256);
      const LaunchOptions options{.grid = {1}, .block = {16}, .memcheck = memcheck};
      const Result result = kernel.launch(options, a.address() + off, b, b);
      CHECK(result.fault_count == (off % 8 == 0 ? 0 : 16));
      if (result.faults.empty()) continue;
      CHECK(result.faults[0].kind == lanewise::FaultKind::misaligned);
      CHECK(result.faults[0].address == a.address() + (off == 1 ? 1 : 12));
    }
  }
}

TEST_CASE("neighbours: of several accesses in a row each lane reports the first that is wrong") {
  // Element 16 n + lane in the n-th iteration, loaded from a and from b and stored in c.
  const lanewise::Kernel kernel = from_ptx(
      "  mov.u32 %r1, %tid.x; mov.u32 %r4, 0;\n"
      "L: mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4;\n"
      "  add.s64 %rd7, %rd3, %rd4; ld.global.u32 %r2, [%rd5]; ld.global.u32 %r3, [%rd6];\n"
      "  add.u32 %r2, %r2, %r3; st.global.u32 [%rd7], %r2;\n"
      "  add.u32 %r1, %r1, 16; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 3; @%p1 bra L;\n");
  constexpr uint32_t kInA = 28, kInB = 24, kInC = 44;
  Buffer a = device().buffer(std::vector<uint32_t>(kInA, 1));
  Buffer b = device().buffer(std::vector<uint32_t>(kInB, 2));
  Buffer c = device().buffer(std::vector<uint32_t>(kInC, 9));
  const Result result = kernel.launch({.grid = {1}, .block = {16}}, a, b, c);
  CHECK(result.fault_count == 16);
  REQUIRE(!result.faults.empty());
  for (const lanewise::FaultReport& fault : result.faults) {
    CAPTURE(fault.lane);
    uint32_t element = fault.lane;
    while (element < std::min(kInA, kInB)) element += 16;
    const bool in_a = element >= kInA;
    CHECK(fault.parameter == (in_a ? "a" : "b"));
    CHECK(fault.address == (in_a ? a : b).address() + 4 * element);
  }
  // What is wrong is not loaded, nor stored, and the lane goes on.
  std::vector<uint32_t> want(kInC);
  for (uint32_t i = 0; i < kInC; ++i) want[i] = (i < kInA ? 1 : 0) + (i < kInB ? 2 : 0);
  check_equal(c.read<uint32_t>(), want);
}

TEST_CASE("neighbours: a pointer out of memory is held against the list of buffers") {
  Buffer a = device().allocate(256), b = device().allocate(256), c = device().allocate(16);
  a.write(std::vector<uint64_t>{b.address() + 252});
  lanewise::Kernel kernel = from_ptx(
      "  ld.global.u64 %rd4, [%rd1]; ld.global.u32 %r1, [%rd4]; st.global.u32 [%rd3], %r1;\n");
  kernel.launch({}, a, b, c).check();
  a.write(std::vector<uint64_t>{b.address() + 253});
  CHECK(kernel.launch({}, a, b, c).fault_count == 1);
}

TEST_CASE("neighbours: a module's variables are apart, too") {
  lanewise::Module module = device().load_text(
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".global .align 16 .u32 first[16] = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16};\n"
      ".global .align 16 .u32 second[64] = {70,71,72,73};\n"
      ".const .align 16 .u32 fixed[16] = {100,101};\n"
      ".visible .entry k(.param .u32 n, .param .u64 out)\n{\n"
      "  .reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
      "  ld.param.u32 %r1, [n]; ld.param.u64 %rd5, [out]; mul.wide.s32 %rd2, %r1, 4;\n"
      "  mov.u64 %rd1, first; mov.u64 %rd6, second; mov.u64 %rd7, fixed;\n"
      "  add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3]; st.global.u32 [%rd5], %r2;\n"
      "  cvta.global.u64 %rd4, %rd6; add.s64 %rd4, %rd4, %rd2; ld.u32 %r3, [%rd4+4];\n"
      "  st.global.u32 [%rd5+4], %r3;\n"
      "  add.s64 %rd7, %rd7, %rd2; ld.const.u32 %r4, [%rd7+-4]; st.global.u32 [%rd5+8], %r4;\n"
      "  ret;\n}\n",
      lanewise::Isa::ptx);
  lanewise::Kernel kernel = module.kernel("k");
  const auto run = [&](int n, std::vector<uint32_t>& words) {
    Buffer out = device().buffer(std::vector<uint32_t>(3, 5));
    const Result result = kernel.launch({}, n, out);
    words = out.read<uint32_t>();
    return result;
  };
  std::vector<uint32_t> words;
  CHECK(run(2, words).fault_count == 0);
  CHECK(words == std::vector<uint32_t>{3, 73, 101});
  CHECK(run(1, words).fault_count == 0);
  CHECK(words == std::vector<uint32_t>{2, 72, 100});
  // Variables lie 256 bytes apart or more: index 128 of the first lies in the second.
  for (const int n : {16, 17, 127, 128, 192, -1, -64}) {
    CAPTURE(n);
    const Result result = run(n, words);
    CHECK(result.fault_count == 1);
    REQUIRE(!result.faults.empty());
    CHECK(result.faults[0].kind == lanewise::FaultKind::out_of_range);
    CHECK(words[0] == 0);  // nothing of another variable
  }
}
