// Launches of one kernel after another: what was made for one of them is kept for the next, and
// must never be taken for a launch that wants something else.
#include <cstdlib>
#include <map>

#include "tests/unit/api/support.hpp"

using namespace lanewise;
using namespace api_test;

namespace {

/// o[i] = the word at a + off, or a fault where that is no multiple of 4 and the policy says so.
const std::string kLoad = kHeader + R"(
.visible .entry load(.param .u64 a, .param .u64 o, .param .u32 off)
{
  .reg .b32 %r<5>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [a];
  ld.param.u64 %d2, [o];
  ld.param.u32 %r1, [off];
  cvt.u64.u32 %d3, %r1;
  add.u64 %d3, %d1, %d3;
  ld.global.u32 %r2, [%d3];
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ntid.x;
  add.u32 %r2, %r2, %r4;
  mul.wide.u32 %d4, %r3, 4;
  add.u64 %d5, %d2, %d4;
  st.global.u32 [%d5], %r2;
  ret;
}
)";

uint64_t faults(const Kernel& kernel, const LaunchOptions& options, const Buffer& a,
                const Buffer& o, uint32_t offset) {
  return kernel.launch(options, a, o, offset).fault_count;
}

}  // namespace

TEST_CASE("launches in turn keep to their own policies, checks and shapes") {
  Device device = Device::open(selector());
  const Buffer a = device.buffer(std::vector<uint32_t>{5, 6, 7, 8}, "a"),
               o = device.allocate(4 * 64, "o");
  const Kernel kernel = device.load_text(kLoad, Isa::ptx).kernel("load");
  const std::map<std::string, std::string> force = {{"ptx.align", "force"}};
  for (int turn = 0; turn < 3; ++turn) {
    CAPTURE(turn);
    CHECK(faults(kernel, {.grid = {1}, .block = {32}}, a, o, 2) == 32);
    CHECK(faults(kernel, {.grid = {1}, .block = {32}, .policies = force}, a, o, 2) == 0);
    CHECK(o.read<uint32_t>()[31] == 5 + 32);
    CHECK(faults(kernel, {.grid = {1}, .block = {64}}, a, o, 4) == 0);
    CHECK(o.read<uint32_t>()[63] == 6 + 64);
    // Behind a's end: another allocation's bytes, or nobody's, as the check has it.
    CHECK(faults(kernel, {.grid = {1}, .block = {8}}, a, o, 1 << 16) == 8);
    CHECK(faults(kernel, {.grid = {1}, .block = {8}}, a, o, 12) == 0);
    CHECK(o.read<uint32_t>()[7] == 8 + 8);
  }
}

TEST_CASE("a pointer that points nowhere asks for another form of the kernel each time") {
  Device device = Device::open(selector());
  const Buffer a = device.buffer(std::vector<uint32_t>{5, 6, 7, 8}, "a"),
               o = device.allocate(4 * 64, "o");
  const Kernel kernel = device.load_text(kLoad, Isa::ptx).kernel("load");
  const LaunchOptions options{.grid = {1}, .block = {16}};
  for (int turn = 0; turn < 3; ++turn) {
    CAPTURE(turn);
    CHECK(kernel.launch(options, uint64_t{64}, o, 0).fault_count == 16);
    // The address is a's, though no parameter is.
    CHECK(kernel.launch(options, a.address() - 8192, o, 8192 + 4).fault_count == 0);
    CHECK(o.read<uint32_t>()[15] == 6 + 16);
    CHECK(kernel.launch(options, a, o, 8).fault_count == 0);
    CHECK(o.read<uint32_t>()[15] == 7 + 16);
  }
}

TEST_CASE("modules of one name and one text stay apart") {
  Device device = Device::open(selector());
  const Buffer p = device.buffer(std::vector<float>(4, 1.0F), "p");
  const auto with = [&](const char* sum) {
    std::string text = kScale;
    const std::string fused = "fma.rn.f32 %f4, %f2, %f1, %f3;";
    return device.load_text(text.replace(text.find(fused), fused.size(), sum), Isa::ptx)
        .kernel("scale");
  };
  const LaunchOptions options{.grid = {1}, .block = {4}};
  for (int turn = 0; turn < 3; ++turn) {
    with("mov.f32 %f4, 0f40000000;").launch(options, p, 3.0F, 4).check();
    CHECK(p.read<float>() == std::vector<float>(4, 2.0F));
    with("mov.f32 %f4, 0f40800000;").launch(options, p, 3.0F, 4).check();
    CHECK(p.read<float>() == std::vector<float>(4, 4.0F));
  }
}

TEST_CASE("launches that are alike, while the list of allocations outgrows its buffer") {
  Device device = Device::open(selector());
  // The arena has capacity, so that nothing but the list changes.
  device.allocate(1 << 20, "more");
  const Buffer a = device.buffer(std::vector<uint32_t>{5, 6, 7, 8}, "a"),
               o = device.allocate(4 * 64, "o");
  const Kernel kernel = device.load_text(kLoad, Isa::ptx).kernel("load");
  const LaunchOptions options{.grid = {1}, .block = {16}};
  const auto launch = [&](uint32_t offset) {
    // The address is a's, though no parameter is: it is looked up.
    kernel.launch(options, a.address() - 8192, o, 8192 + offset).check();
    return o.read<uint32_t>()[15];
  };
  CHECK(launch(4) == 6 + 16);
  CHECK(launch(4) == 6 + 16);
  std::vector<Buffer> more;
  for (int i = 0; i < 1000; ++i) more.push_back(device.allocate(4, "more"));
  CHECK(launch(4) == 6 + 16);
  CHECK(launch(8) == 7 + 16);
  more.clear();
  CHECK(launch(8) == 7 + 16);
}

TEST_CASE("LANEWISE_WAVE counts as it was when the device was opened") {
  const char* const set = std::getenv("LANEWISE_WAVE");
  const std::string before = set != nullptr ? set : "";
  const LaunchOptions options{.grid = {1}, .block = {4}};
  const auto mode = [&](Device& device) {
    const Buffer p = device.buffer(std::vector<float>(4, 1.0F), "p");
    return device.load_text(kScale, Isa::ptx).kernel().launch(options, p, 3.0F, 4).wave_mode;
  };
  setenv("LANEWISE_WAVE", "", 1);
  Device as_it_likes = Device::open(selector());
  setenv("LANEWISE_WAVE", "serial", 1);
  Device serial = Device::open(selector());
  setenv("LANEWISE_WAVE", "slow", 1);
  Device wrong = Device::open(selector());
  setenv("LANEWISE_WAVE", before.c_str(), 1);
  CHECK(mode(as_it_likes) == "lane");
  CHECK(mode(serial) == (selector() == "reference" ? "lane" : "serial"));
  CHECK_THROWS_WITH_AS(mode(wrong),
                       "LANEWISE_WAVE is 'slow'; auto, lane, packed or serial was expected", Error);
}
