// What a fault report says: who, where in the guest's text and source, and next to which buffer.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

// Thread 33 of group (1,0) reads `bytes` at `place`.
std::string with_access(const std::string& access, const std::string& header = kHeader) {
  return write("where.ptx", header + R"(
.visible .entry where(.param .u64 place)
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .shared .align 16 .b8 cells[64]; .local .align 4 .b8 own[4];
  .loc 1 7 0
  ld.param.u64 %rd1, [place];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, 1000, %r1;
  setp.ne.u32 %p1, %r1, 1033;
  @%p1 bra done;
  .loc 1 12 3
  )" + access + R"(
done:
  ret;
}
.file 1 "where.cu"
)");
}

Output where(const std::string& access, const std::string& arguments) {
  return run(with_access(access) + " --grid 2 --block 64 --json " + arguments);
}

const std::string kLoadWord = "ld.global.u32 %r3, [%rd1];";

/// The one fault of a run.
json fault_of(const Output& o) {
  CHECK(o.code == 1);
  const json j = json::parse(o.out);
  CHECK(j["fault_count"] == 1);
  REQUIRE(j["faults"].size() == 1);
  return j["faults"][0];
}

}  // namespace

TEST_CASE("a fault names kernel, instruction, source line, lane, wave and group") {
  const Output o = where(kLoadWord, "--arg u64:0x10");
  const json f = fault_of(o);
  CHECK(f["kind"] == "null");
  CHECK(f["kernel"] == "where");
  CHECK(contains(f["text"].get<std::string>(), "ld.global.u32 %r3, [%rd1]"));
  CHECK(f["source"] == "where.cu:12");
  CHECK(f["line"] == 19);
  CHECK(f["lane"] == 1);
  CHECK(f["wave"] == 1);
  CHECK(f["group"] == json({1, 0, 0}));
  CHECK(f["address"] == 0x10);
  CHECK(f["size"] == 4);
  CHECK(contains(o.err, "fault: null-page access of 4 bytes at 0x10\n"));
  CHECK(contains(o.err, "ld.global.u32 %r3, [%rd1]"));
  CHECK(contains(o.err, "(line 19)  [where.cu:12]\n"));
  CHECK(contains(o.err, "by lane 1 of wave 1 in group (1,0,0)\n"));
}

TEST_CASE("the nearest allocation, by name and distance") {
  struct Row {
    std::string access, arguments, text;
    int64_t offset;
  };
  // The buffer of 10 bytes lies at 0x10000000; what the parameters need comes behind it.
  const Row rows[] = {
      {"ld.global.u8 %r3, [%rd1+10];", "--memcheck alloc", "'{}' (10 bytes; right behind its end)",
       10},
      {"ld.global.u8 %r3, [%rd1+11];", "--memcheck alloc", "'{}' (10 bytes; 1 byte past its end)",
       11},
      {"ld.global.u32 %r3, [%rd1+8];", "--memcheck alloc",
       "'{}' (offset 8 of 10 bytes, 2 bytes past its end)", 8},
      {"ld.global.u16 %r3, [%rd1+-2];", "", "'{}' (10 bytes; 2 bytes before its start)", -2},
      {"ld.global.u32 %r3, [%rd1+1];", "", "'{}' (offset 1 of 10 bytes)", 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.access);
    const std::string out = scratch() + "/ten.bin";
    const Output o = where(row.access, fmt::format("{} --arg out:{}:u8[10]", row.arguments, out));
    const json f = fault_of(o);
    CHECK(f["nearest_allocation"] == fmt::format(fmt::runtime(row.text), out));
    CHECK(f["allocation"]["name"] == out);
    CHECK(f["allocation"]["address"] == 0x10000000);
    CHECK(f["allocation"]["size"] == 10);
    CHECK(f["allocation"]["offset"] == row.offset);
    CHECK(contains(o.err, "nearest allocation: " + fmt::format(fmt::runtime(row.text), out)));
  }
  CHECK(where("ld.global.u8 %r3, [%rd1+10];", "--memcheck arena --arg zero:u8[10]").code == 0);
  CHECK(where("ld.global.u8 %r3, [%rd1+9];", "--memcheck alloc --arg zero:u8[10]").code == 0);
}

TEST_CASE("a null pointer is near to no buffer, and is no parameter's") {
  const Output o = where("mov.u64 %rd2, 16;\n  ld.global.u32 %r3, [%rd2];", "--arg zero:u8[10]");
  const json f = fault_of(o);
  CHECK(f["kind"] == "null");
  CHECK(f["nearest_allocation"].is_null());
  CHECK(!f.contains("parameter"));
  CHECK(contains(o.err, "null-page access of 4 bytes at 0x10\n"));
  CHECK(!contains(o.err, "nearest"));
  CHECK(!contains(o.err, "pointer parameter"));
}

TEST_CASE("shared memory is near to no buffer: the report has its size and the option") {
  // Directly, and by a generic address.
  for (const auto& [access, address] :
       {std::pair("mov.u32 %r3, 0x1000;\n  st.shared.u32 [%r3], %r1;", 0x1000),
        std::pair("mov.u64 %rd2, 0x1001000;\n  ld.u32 %r3, [%rd2];", 0x1001000)}) {
    CAPTURE(access);
    const Output o = where(access, "--dyn-shared 16 --arg zero:u8[10]");
    const json f = fault_of(o);
    CHECK(f["kind"] == "out_of_range");
    CHECK(f["address"] == address);
    CHECK(f["nearest_allocation"].is_null());
    CHECK(f["space"] == "shared");
    CHECK(f["space_size"] == 80);
    CHECK(contains(o.err, fmt::format("out-of-range access of 4 bytes at {:#x} in shared memory of "
                                      "80 bytes\n",
                                      address)));
    CHECK(contains(o.err, "--dyn-shared BYTES"));
  }
}

TEST_CASE("a copy's fault names the side that is out of range") {
  const auto fault = [](const std::string& copy) {
    const std::string header = ".version 7.5\n.target sm_80\n.address_size 64\n";
    return fault_of(run(with_access("st.local.u32 [own], %r1;\n  " + copy, header) +
                        " --grid 2 --block 64 --json --arg zero:u8[64]"));
  };
  const json from = fault("mov.u32 %r3, cells; cp.async.ca.shared.global [%r3], [%rd1+64], 16;");
  CHECK(from["address"] == 0x10000040);
  CHECK(from["nearest_allocation"] == "'zero:u8[64]' (64 bytes; right behind its end)");
  const json null = fault("mov.u64 %rd1, 16; cp.async.ca.shared.global [cells], [%rd1], 16;");
  CHECK(null["kind"] == "null");
  CHECK(!null.contains("space"));
  const json to = fault("cp.async.ca.shared.global [cells+64], [%rd1], 16;");
  CHECK(to["address"] == 64);
  CHECK(to["space"] == "shared");
  CHECK(to["space_size"] == 64);
}

TEST_CASE("the report of a launch without shared memory says so") {
  const std::string file = write("extern.ptx", kHeader + R"(
.extern .shared .align 16 .b8 s[];
.visible .entry rev(.param .u64 p)
{
  .reg .b32 %r<3>;
  mov.u32 %r1, s;
  ld.shared.u32 %r2, [%r1];
  ret;
}
)");
  const Output o = run(file + " --arg zero:f32[8]");
  CHECK(o.code == 1);
  CHECK(contains(o.err, "at 0x0 in shared memory of 0 bytes\n"));
  CHECK(contains(o.err, "a launch gives a group more shared memory with --dyn-shared BYTES"));
  CHECK(run(file + " --dyn-shared 32 --arg zero:f32[8]").code == 0);
}

TEST_CASE("the parameter of a pointer, by name, however buffers are called") {
  const std::string file = write("two.ptx", kHeader + R"(
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 sum)
{
  .reg .b32 %r<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [sum];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd5, %rd1, %rd4;
  add.u64 %rd6, %rd2, %rd4;
  add.u64 %rd7, %rd3, %rd4;
  ld.global.u32 %r2, [%rd5];
  ld.global.u32 %r3, [%rd6];
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd7], %r2;
  ret;
}
)");
  const std::string large = " --arg zero:u32[65]", small = " --arg zero:u32[64]";
  for (const auto& [arguments, name] :
       {std::pair(small + large + large, "a"), std::pair(large + small + large, "b"),
        std::pair(large + large + small, "sum")}) {
    CAPTURE(arguments);
    const Output o = run(file + " --block 65 --json" + arguments);
    const json f = fault_of(o);
    CHECK(f["parameter"] == name);
    CHECK(contains(o.err, fmt::format("through the pointer parameter {}\n", name)));
  }
}

TEST_CASE("what no launch here gives is named, not a trap alone") {
  const auto headline = [](const std::string& declarations, const std::string& body) {
    const Output o = run(write("wants.ptx", kHeader + declarations + R"(
.visible .entry wants(.param .u64 p)
{
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
)" + body + "\n  ret;\n}\n") +
                         " --json --arg zero:u32[1]");
    const json f = fault_of(o);
    CHECK(f["kind"] == "trap");
    CHECK(contains(o.err, f["reason"].get<std::string>()));
    return f["reason"].get<std::string>();
  };
  CHECK(contains(headline("", R"(
  mov.u32 %r1, %envreg2;
  cvt.u64.u32 %rd1, %r1;
  mov.u32 %r2, %envreg1;
  cvt.u64.u32 %rd2, %r2;
  bfi.b64 %rd3, %rd2, %rd1, 32, 32;
  setp.ne.s64 %p1, %rd3, 0;
  @%p1 bra there;
  trap;
there:)"),
                 "cooperative launch"));
  const auto call = [&](const std::string& name) {
    return headline(".extern .func (.param .b64 r) " + name + "(.param .b64 a);\n",
                    "{ .param .b64 c; .param .b64 a; st.param.b64 [a], 64;\n  call.uni (c), " +
                        name + ", (a); }");
  };
  CHECK(
      contains(call("cudaMemcpyAsync"), "call of 'cudaMemcpyAsync': CUDA's runtime on the device"));
  CHECK(contains(call("cudaCGGetIntrinsicHandle"), "a cooperative launch"));
}

TEST_CASE("a kernel that launches kernels is refused when it is loaded, by the call's name") {
  const std::string file = write("launches.ptx", R"(.version 6.5
.target sm_50
.address_size 64
.extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 a, .param .b64 s);
.visible .entry nested() {
  .param .b32 r; .param .b64 a; .param .b64 s;
  st.param.b64 [a], 0; st.param.b64 [s], 0;
  call.uni (r), cudaLaunchDeviceV2, (a, s);
  ret;
}
)");
  const Output o = program("check " + file);
  CHECK(o.code == 1);
  CHECK(contains(o.out + o.err,
                 "'cudaLaunchDeviceV2' launches a kernel from a kernel (dynamic "
                 "parallelism)"));
}

// As nvcc -rdc links programs with cudadevrt, which has a table of its own kernels.
TEST_CASE("of a program with dynamic parallelism only kernels that launch are refused") {
  const std::string file = write("linked.ptx", R"(.version 7.8
.target sm_75
.address_size 64
.extern .func (.param .b64 r) cnpGetParameterBufferV2(.param .b64 f);
.visible .entry own(.param .u64 p) {
  .reg .b64 %p;
  ld.param.u64 %p, [p];
  st.global.u32 [%p], 7;
  ret;
}
.global .u64 own_kernels[2] = {own, own};
.visible .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f) {
  .param .b64 a; .param .b64 b; .reg .b64 %r;
  ld.param.b64 %r, [f];
  st.param.b64 [a], %r;
  call.uni (b), cnpGetParameterBufferV2, (a);
  ld.param.b64 %r, [b];
  st.param.b64 [r], %r;
  ret;
}
.visible .entry nested() {
  .param .b64 f; .param .b64 r; .reg .b64 %k;
  mov.u64 %k, own;
  st.param.b64 [f], %k;
  call.uni (r), __cudaCDP2GetParameterBufferV2, (f);
  ret;
}
)");
  const Output runs = program("run --device reference " + file +
                              " --kernel own --grid 1 --block 1 --arg zero:u32[1]");
  INFO(runs.out, runs.err);
  CHECK(runs.code == 0);
  const Output o =
      program("run --device reference " + file + " --kernel nested --grid 1 --block 1");
  INFO(o.out, o.err);
  CHECK(o.code == 1);
  CHECK(contains(o.err,
                 "the address of kernel 'own' launches a kernel from a "
                 "kernel (dynamic parallelism)"));
  CHECK(contains(o.err, "'__cudaCDP2GetParameterBufferV2' launches a kernel from a kernel"));
}

TEST_CASE("a fault names the device malloc that it is a call of") {
  const std::string header = kHeader;
  const std::string declared =
      header +
      "\n.extern .func (.param .b64 r) __nv_aligned_device_malloc(.param .b64 bytes, "
      ".param .b64 align);\n";
  const Output o = run(with_access(R"({ .param .b64 b; .param .b64 a; .param .b64 r;
  st.param.b64 [b], 64; st.param.b64 [a], 16;
  call.uni (r), __nv_aligned_device_malloc, (b, a); })",
                                   declared) +
                       " --grid 2 --block 64 --json --arg zero:u8[64]");
  const json f = fault_of(o);
  CHECK(f["kind"] == "trap");
  CHECK(f["source"] == "where.cu:12");
  CHECK(contains(o.err,
                 "call of '__nv_aligned_device_malloc': memory of the device heap (malloc, new) is "
                 "not supported\n"));
}

TEST_CASE("faults without an access have no address") {
  const json f = fault_of(where("trap;", "--arg u64:0"));
  CHECK(f["kind"] == "trap");
  CHECK(f["size"] == 0);
  CHECK(f["nearest_allocation"].is_null());
  CHECK(f["source"] == "where.cu:12");
}
