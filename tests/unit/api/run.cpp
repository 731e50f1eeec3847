// run(): a kernel on memory of the host, in one call; what a kernel asks of its launches.
#include "lanewise/run.hpp"

#include <utility>

#include "tests/unit/api/support.hpp"

using namespace api_test;
using lanewise::Device;

namespace {

/// y[i] = a * x[i] for i < n.
const std::string kTimes = kHeader + R"(
.visible .entry times(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
  .reg .b64 %d<4>; .reg .b32 %r<3>; .reg .f32 %f<3>; .reg .pred %p<2>;
  .shared .align 4 .b8 unused[64];
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [y];
  ld.param.f32 %f0, [a];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p0, %r1, %r0;
  @%p0 ret;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d0, %d0, %d2;
  add.u64 %d1, %d1, %d2;
  ld.f32 %f1, [%d0];
  mul.f32 %f1, %f1, %f0;
  st.f32 [%d1], %f1;
  ret;
}
)";

}  // namespace

TEST_CASE("run: vectors, arrays and spans are memory of the host, constant ones are only read") {
  const lanewise::HostProgram program{.text = kTimes, .device = Device::open(selector())};
  const lanewise::LaunchOptions options{.grid = {1}, .block = {8}};
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  lanewise::run(program, options, std::as_const(x), y, 2.0f, 4).check();
  CHECK(y == std::vector<float>{2, 4, 6, 8});
  std::array<float, 4> z{};
  lanewise::run(program, options, x, std::span(z).subspan(1), 3.0f, 3).check();
  CHECK(z == std::array<float, 4>{0, 3, 6, 9});
  float own[4] = {1, 1, 1, 1};
  lanewise::run(program, options, own, own, 5.0f, 4).check();  // one memory
  CHECK(own[3] == 5);
  // A store to what was given as constant changes nothing, and is an error.
  CHECK_THROWS_WITH_AS(
      static_cast<void>(lanewise::run(program, options, x, std::as_const(y), 9.0f, 4)),
      doctest::Contains("which was given to be read only; it was not changed"), lanewise::Error);
  CHECK(y[0] == 2);
  // Nothing is in an empty range: an access would be one of address 0.
  std::vector<float> none;
  lanewise::run(program, options, none, none, 1.0f, 0).check();
  CHECK(lanewise::run(program, options, none, none, 1.0f, 1).faults.at(0).kind ==
        lanewise::FaultKind::null);
  lanewise::Buffer buffer = Device(*program.device).allocate(16, "b");
  lanewise::run(program, options, x, buffer, 1.0f, 4).check();
  CHECK(buffer.read<float>() == x);
}

TEST_CASE("run: what is wrong with a call is one exception with one line") {
  const auto message = [](const lanewise::HostProgram& program) {
    std::vector<float> x(4), y(4);
    try {
      static_cast<void>(lanewise::run(program, {.grid = {1}, .block = {4}}, x, y, 2.0f));
    } catch (const lanewise::Error& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  const Device device = Device::open(selector());
  CHECK(message({.text = kTimes, .device = device}).find("argument") != std::string::npos);
  CHECK(message({.text = kTimes, .kernel = "time", .device = device}).find("there are: times") !=
        std::string::npos);
  CHECK(message({.text = "frob", .device = device}).find("language") != std::string::npos);
}

TEST_CASE("a kernel says what it asks of its launches") {
  const Device device = Device::open(selector());
  const lanewise::KernelInfo info =
      Device(device).load_text(kTimes, lanewise::Isa::ptx).kernel().info();
  CHECK(info.static_shared == 64);
  CHECK(info.param_bytes == 24);
  CHECK(info.max_threads == 0);
  CHECK(info.isa == "ptx");
}
