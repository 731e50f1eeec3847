// Memory that a launch must not reach, and what reports say of it; buffers where numbers belong.
#include "tests/support/contains.hpp"
#include "tests/unit/api/support.hpp"

using namespace api_test;
using lanewise::Arg;
using lanewise::Buffer;
using lanewise::Device;
using lanewise::ErrorDetail;
using lanewise::FaultReport;
using lanewise::Memcheck;

namespace {

/// Reads 4 bytes at `from`, writes 7 behind them and says what is there, and what `n` is.
const std::string kStale = kHeader + R"(
.visible .entry stale(.param .u64 from, .param .u64 out, .param .u32 n)
{
  .reg .b64 %d<2>; .reg .b32 %r<4>;
  ld.param.u64 %d0, [from];
  ld.param.u64 %d1, [out];
  ld.u32 %r1, [%d0];
  st.u32 [%d1], %r1;
  st.u32 [%d0+16], 7;
  membar.gl;
  ld.volatile.u32 %r3, [%d0+16];
  st.u32 [%d1+8], %r3;
  ld.param.u32 %r2, [n];
  st.u32 [%d1+4], %r2;
  ret;
}
)";

using Words = std::vector<uint32_t>;

}  // namespace

TEST_CASE("a released buffer's address is a fault that says so, and no parameter") {
  Device device = Device::open(selector());
  const auto kernel = device.load_text(kStale, lanewise::Isa::ptx).kernel();
  Buffer out = device.allocate(64, "out");
  Buffer gone = device.allocate(4096, "gone");
  const uint64_t address = gone.address();
  gone = Buffer();
  for (const uint64_t at : {address, address + 2048}) {
    const auto result = kernel.launch({.grid = {1}, .block = {1}}, at, out, 42);
    REQUIRE(result.faults.size() == 1);
    const FaultReport& f = result.faults[0];
    CHECK(f.kind == lanewise::FaultKind::out_of_range);
    CHECK(f.allocation == "gone");
    CHECK(f.allocation_freed);
    CHECK(f.allocation_address == address);
    CHECK(f.allocation_size == 4096);
    CHECK(f.parameter == "from");
    CHECK(f.parameter_allocation == "gone");
    CHECK(has(format(f), "which is freed"));
    CHECK(has(format(f), "'gone' (freed; offset "));
    Words seen = out.read<uint32_t>();
    seen.resize(3);
    CHECK(seen == Words{0, 42, 0});
  }
  // Memory that is allocated next lies elsewhere, so an old pointer does not lead there.
  const Buffer next = device.allocate(4096, "next");
  CHECK(next.address() != address);
  const auto stale = kernel.launch({.grid = {1}, .block = {1}}, address, out, 42);
  REQUIRE(stale.faults.size() == 1);
  CHECK(stale.faults[0].allocation == "gone");
  // Where only the arena is checked nobody notices, but the parameters are not there either.
  CHECK(kernel.launch({.grid = {1}, .block = {1}, .memcheck = Memcheck::arena}, address, out, 42)
            .ok());
  Words seen = out.read<uint32_t>();
  seen.resize(3);
  CHECK(seen == Words{0, 42, 7});
}

TEST_CASE("whoever gets a released buffer's memory is the one that reports name") {
  Device device = Device::open(selector());
  const auto kernel = device.load_text(kStale, lanewise::Isa::ptx).kernel();
  Buffer out = device.allocate(64, "out");
  Buffer gone = device.allocate(4096, "gone");
  const Buffer fence = device.allocate(64, "fence");
  const uint64_t address = gone.address();
  gone = Buffer();
  // Released memory is given out again when 16 MiB more were released.
  const auto release_more = [&] { device.allocate(16 << 20, "other"); };
  release_more();
  Buffer next = device.allocate(20, "next");
  REQUIRE(next.address() == address);
  CHECK(kernel.launch({.grid = {1}, .block = {1}}, address, out, 1).ok());
  // An overrun of the new one is its own, whatever lay there before.
  const auto over = kernel.launch({.grid = {1}, .block = {1}}, Arg(next, 8), out, 1);
  REQUIRE(over.faults.size() == 1);
  CHECK(over.faults[0].allocation == "next");
  CHECK(!over.faults[0].allocation_freed);
  // Behind it the old buffer's memory is free still.
  const auto behind = kernel.launch({.grid = {1}, .block = {1}}, address + 1024, out, 1);
  REQUIRE(behind.faults.size() == 1);
  CHECK(behind.faults[0].allocation == "gone");
  CHECK(behind.faults[0].allocation_freed);
  next = Buffer();
  release_more();
  next = device.allocate(4096, "all of it");
  CHECK(kernel.launch({.grid = {1}, .block = {1}}, address + 1024, out, 1).ok());
}

TEST_CASE("a fault in a cubin names the line of its source, also in a function") {
  Device device = Device::open(selector());
  const auto kernel =
      device.load_file(LANEWISE_TEST_DATA "/kernels/data/sass/lines/lines.cubin").kernel("k");
  const auto fault_of = [&](uint64_t out_bytes, uint64_t in_offset) {
    const Buffer out = device.allocate(out_bytes, "out"), in = device.allocate(4, "in");
    const auto result = kernel.launch({.grid = {1}, .block = {1}}, out, Arg(in, in_offset));
    return result.faults.empty() ? std::string() : format(result.faults[0]);
  };
  CHECK(fault_of(68, 0).empty());
  CHECK(has(fault_of(68, 4), "[src/lines.cu:11]"));
  CHECK(has(fault_of(16, 0), "[src/step.h:5]"));
}

TEST_CASE("a buffer is no number") {
  Device device = Device::open("reference");
  const auto takes = [&](const std::string& type, const std::string& more = "") {
    return device
        .load_text(kHeader + ".visible .entry k(.param .u64 " + more + " p, .param " + type +
                       " v) { ret; }",
                   lanewise::Isa::ptx)
        .kernel();
  };
  Buffer b = device.allocate(16, "b");
  const auto launch = [&](const lanewise::Kernel& kernel, std::string* message = nullptr) {
    return refused([&] { kernel.launch({.grid = {1}, .block = {1}}, b, b); }, message);
  };
  for (const char* type : {".u8", ".s16", ".b16", ".u32", ".s32", ".b32", ".f16", ".f32", ".f64"}) {
    CAPTURE(type);
    std::string message;
    CHECK(launch(takes(type), &message) == ErrorDetail::argument_kind);
    CHECK(has(message, "argument 2 ('v') is declared as "));
    CHECK(has(message, "a buffer was given"));
  }
  // PTX does not say of 64 bits whether they are an address, unless it says so of others.
  for (const char* type : {".u64", ".s64", ".b64"}) {
    CAPTURE(type);
    CHECK(launch(takes(type)) == ErrorDetail::none);
  }
  for (const char* type : {".u64", ".s64"}) {
    CAPTURE(type);
    CHECK(launch(takes(type, ".ptr .global .align 4")) == ErrorDetail::argument_kind);
  }
  CHECK(launch(takes(".u64 .ptr .global .align 4", ".ptr .global .align 4")) == ErrorDetail::none);
  const auto structure = device
                             .load_text(kHeader +
                                            ".visible .entry k(.param .align 8 .b8 v[8], "
                                            ".param .u64 p) { ret; }",
                                        lanewise::Isa::ptx)
                             .kernel();
  CHECK(launch(structure) == ErrorDetail::none);
}

TEST_CASE("programs of 32-bit addresses take buffers for 32-bit parameters") {
  Device device = Device::open(selector());
  const auto kernel = device
                          .load_text(R"(
.version 6.0
.target sm_50
.address_size 32
.visible .entry k(.param .u32 p)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [p];
  ld.global.u32 %r2, [%r1];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%r1], %r2;
  ret;
}
)",
                                     lanewise::Isa::ptx)
                          .kernel();
  Buffer b = device.buffer(Words{41});
  kernel.launch({.grid = {1}, .block = {1}}, b).check();
  CHECK(b.read<uint32_t>() == Words{42});
}
