// --check init: who reads memory that nobody wrote, and who does not.
#include <nlohmann/json.hpp>

#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

/// 64 threads in each group; thread %r1 of group %r2 has its own cells at %r3 (4 bytes) and %rd2
/// (generic, of the same).
std::string kernel(const std::string& body) {
  return write("init.ptx", kHeader + R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b16 %h<4>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<6>;
  .shared .align 16 .b8 cells[512];
  .local .align 16 .b8 own[32];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, cells;
  add.u32 %r3, %r3, %r4;
  mov.u32 %r5, 7;
  cvt.u64.u32 %rd2, %r3;
  cvta.shared.u64 %rd2, %rd2;
)" + body + R"(
  ret;
}
)");
}

json checked(const std::string& body, const std::string& how = "--check init") {
  const Output o = run(kernel(body) + " --grid 2 --block 64 --json --arg zero:u32[256] " + how);
  CAPTURE(body);
  CAPTURE(o.err);
  const json j = json::parse(o.out);
  REQUIRE(j.contains("fault_count"));
  CHECK(o.code == (j["fault_count"] == 0 ? 0 : 1));
  return j;
}

int faults(const std::string& body) {
  const json j = checked(body);
  for (const json& f : j["faults"]) CHECK(f["kind"] == "uninitialised");
  return j["fault_count"];
}

const std::string kAll = "st.shared.u32 [%r3], %r5;\n  bar.sync 0;\n";

}  // namespace

TEST_CASE("shared memory: read before it is written, by anybody of the group") {
  CHECK(faults("ld.shared.u32 %r6, [%r3];") == 128);
  CHECK(faults(kAll + "ld.shared.u32 %r6, [cells+128];") == 0);
  // Thread 0 writes in group 0 alone: group 1 finds nothing of it.
  const std::string first =
      "setp.ne.u32 %p1, %r2, 0;\n  @!%p1 st.shared.u32 [%r3], %r5;\n"
      "  bar.sync 0;\n  ld.shared.u32 %r6, [%r3];";
  const json j = checked(first);
  CHECK(j["fault_count"] == 64);
  CHECK(j["faults"][0]["group"] == json({1, 0, 0}));
  CHECK(j["faults"][3]["address"] == 12);
  CHECK(j["faults"][3]["size"] == 4);
  CHECK(contains(j["faults"][0]["text"], "ld.shared.u32 %r6, [%r3]"));
  CHECK(j["faults"][0]["nearest_allocation"].is_null());
  // Beyond what the 64 threads wrote.
  CHECK(faults(kAll + "ld.shared.u32 %r6, [cells+256];") == 128);
}

TEST_CASE("the check of races beside it changes nothing" * kHostCase) {
  const auto both = [](const std::string& body) {
    return checked(body, "--check init,race")["fault_count"].get<int>();
  };
  CHECK(both(kAll + "ld.shared.u32 %r6, [cells+128];") == 0);
  CHECK(both(kAll + "ld.shared.u32 %r6, [cells+256];") == 128);
  CHECK(both("st.shared.u32 [%r3], %r5;\n  atom.shared.add.u32 %r6, [%r3], 1;") == 0);
  CHECK(both("ld.shared.v2.u32 {%r6, %r7}, [cells+256];") == 128);
}

TEST_CASE("every byte counts, in vectors, parts and through generic addresses") {
  CHECK(faults("st.shared.u8 [%r3], %r5;\n  ld.shared.u8 %r6, [%r3];") == 0);
  CHECK(faults("st.shared.u8 [%r3], %r5;\n  ld.shared.u16 %r6, [%r3];") == 128);
  CHECK(
      faults("setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra done;\n  st.shared.v2.u32 [cells], {%r5, %r5};\n"
             "  ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [cells];\ndone:") == 2);
  CHECK(faults("setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra done;\n"
               "  st.shared.v4.u32 [cells], {%r5, %r5, %r5, %r5};\n"
               "  ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [cells];\ndone:") == 0);
  CHECK(faults("ld.u32 %r6, [%rd2];") == 128);
  CHECK(faults("st.u32 [%rd2], %r5;\n  ld.shared.u32 %r6, [%r3];") == 0);
  CHECK(faults("st.shared.u32 [%r3], %r5;\n  ld.u32 %r6, [%rd2];") == 0);
}

TEST_CASE("bytes that a pragma says are not used may be unwritten: copies of padding") {
  const std::string byte = "st.shared.u8 [%r3], %r5;\n  ";
  const auto used = [](const std::string& mask) {
    return ".pragma \"used_bytes_mask " + mask + "\";\n  ";
  };
  const std::string load = "ld.shared.u32 %r6, [%r3];\n";
  CHECK(faults(byte + used("1") + load) == 0);
  CHECK(faults(byte + used("0x3") + load) == 128);
  // For the next load alone.
  CHECK(faults(byte + used("1") + load + "  ld.shared.u32 %r6, [%r3];") == 128);
  CHECK(faults(byte + used("1") + "ld.u32 %r6, [%rd2];") == 0);
  const std::string vector = "ld.local.v4.u32 {%r6, %r7, %r8, %r9}, [own];";
  const std::string part = "st.local.u8 [own], %r5;\n  st.local.u32 [own+8], %r5;\n  ";
  CHECK(faults(part + used("0xf01") + vector) == 0);
  CHECK(faults(part + used("0xf11") + vector) == 128);
}

TEST_CASE("local memory belongs to a thread") {
  CHECK(faults("ld.local.u32 %r6, [own+4];") == 128);
  CHECK(faults("st.local.u32 [own+4], %r5;\n  ld.local.u32 %r6, [own+4];") == 0);
  const json j = checked(
      "setp.ne.u32 %p1, %r1, 5;\n  @%p1 st.local.u32 [own], %r5;\n"
      "  bar.sync 0;\n  ld.local.u32 %r6, [own];");
  CHECK(j["fault_count"] == 2);
  CHECK(j["faults"][0]["lane"] == 5);
}

TEST_CASE("atomics read what they change, and leave it written") {
  CHECK(faults("atom.shared.add.u32 %r6, [%r3], 1;") == 128);
  CHECK(faults(kAll + "atom.shared.add.u32 %r6, [%r3], 1;") == 0);
  // One thread initialises by accident; the next one finds it written.
  CHECK(faults("red.shared.add.u32 [cells], 1;") == 2);
}

TEST_CASE("global memory: out: is unwritten, zero: and files are not") {
  const std::string read = "ld.global.u32 %r6, [%rd1+16];";
  CHECK(faults(read) == 0);
  const std::string file = write("init_in.bin", std::string(1024, 'x'));
  const auto with = [&](const std::string& body, const std::string& arg) {
    const Output o = run(kernel(body) + " --grid 2 --block 64 --json --check init --arg " + arg);
    CAPTURE(o.err);
    return json::parse(o.out);
  };
  const std::string out = "out:" + scratch() + "/init_out.npy:u32[256]";
  CHECK(with(read, "in:" + file)["fault_count"] == 0);
  const json j = with(read, out);
  CHECK(j["fault_count"] == 128);
  const json& f = j["faults"][0];
  CHECK(f["kind"] == "uninitialised");
  CHECK(f["size"] == 4);
  CHECK(f["allocation"]["offset"] == 16);
  CHECK(contains(f["nearest_allocation"], "init_out.npy' (offset 16 of 1024 bytes)"));
  CHECK(contains(f["text"], "ld.global.u32 %r6"));
  // Written by the kernel itself, by its own lane; the word behind it is not.
  const std::string own =
      "shl.b32 %r7, %r2, 6;\n  add.u32 %r7, %r7, %r1;\n  mul.wide.u32 %rd3, %r7, 8;\n"
      "  add.u64 %rd3, %rd3, %rd1;\n  st.global.u32 [%rd3], %r5;\n  ";
  CHECK(with(own + "ld.global.u32 %r6, [%rd3];", out)["fault_count"] == 0);
  CHECK(with(own + "ld.global.v2.u32 {%r6, %r8}, [%rd3];", out)["fault_count"] == 128);
  // One of all lanes finds the counter unwritten.
  CHECK(with("atom.global.add.u32 %r6, [%rd1], 1;", out)["fault_count"] == 1);
  const Output off =
      run(kernel(read) + " --grid 1 --block 64 --check init --memcheck off --arg " + out);
  CHECK(off.code == 2);
  CHECK(contains(off.err, "memcheck off"));
}

TEST_CASE("the check changes no value and is only made when it is asked for") {
  const std::string body =
      "ld.shared.u32 %r6, [%r3];\n  add.u32 %r6, %r6, %r1;\n"
      "  cvt.u64.u32 %rd3, %r1;\n  shl.b64 %rd3, %rd3, 2;\n"
      "  add.u64 %rd3, %rd1, %rd3;\n  st.global.u32 [%rd3], %r6;";
  CHECK(checked(body, "")["fault_count"] == 0);
  CHECK(checked(body, "--check none")["policies"]["check"] == "none");
  const std::string out = scratch() + "/init.bin";
  const Output o = run(kernel(body) + " --block 64 --check init --arg out:" + out + ":u32[64]");
  CHECK(o.code == 1);
  CHECK(contains(o.err, "fault: read of 4 bytes not all of which were written, at 0x0 in shared "));
  CHECK(contains(o.err, " bytes (a mere copy counts as a read, of padding too)\n"));
  const auto values = read_bin<uint32_t>(out);
  REQUIRE(values.size() == 64);
  for (uint32_t n = 0; n < 64; ++n) CHECK(values[n] == n);
}

TEST_CASE("LDS of GCN, and stream scripts") {
  const std::string script = write("init.lw", R"(
isa gcn
target gfx803
policy check init
shared 256
waves 1
case "read before written" {
  reg v0 = 4 * (lane & 31)
  code """
    s_mov_b32 m0, -1
    ds_read_b32 v1, v0
    s_waitcnt lgkmcnt(0)
  """
  expect v1 == 0
  expect fault uninitialised
}
case "written before read" {
  reg v0 = 4 * (lane & 31)
  code """
    s_mov_b32 m0, -1
    ds_write_b32 v0, v0
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v1, v0
    s_waitcnt lgkmcnt(0)
  """
  expect v1 == 4 * (lane & 31)
  expect no fault
}
)");
  const Output o = run(script);
  CAPTURE(o.err);
  CHECK(o.code == 0);
  CHECK(contains(o.out, "2 of 2 cases passed"));
}
