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
  .reg .f32 %f<4>;
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

/// Reads by themselves, as devices report them.
const std::string kReads = "--check init --policy init.report=read";

json checked(const std::string& body, const std::string& how = kReads) {
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

void check_three_cases(const std::string& script) {
  const Output o = program_as_is("run " + script + " --device reference");
  CAPTURE(o.out);
  CAPTURE(o.err);
  CHECK(o.code == 0);
  CHECK(contains(o.out, "3 of 3 cases passed"));
}

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

TEST_CASE("the check of races beside it changes nothing") {
  const auto both = [](const std::string& body) {
    return checked(body, "--check init,race --policy init.report=read")["fault_count"].get<int>();
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
    const Output o = run(kernel(body) + " --grid 2 --block 64 --json " + kReads + " --arg " + arg);
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
  const Output o = run(kernel(body) + " --block 64 " + kReads + " --arg out:" + out + ":u32[64]");
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
policy init.report read
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

namespace {

/// On the reference engine: unwritten values are followed to their use.
json followed(const std::string& body, const std::string& more = "") {
  const Output o = program_as_is("run " + kernel(body) +
                                 " --device reference --grid 1 --block 32 --json --check init " +
                                 (more.empty() ? "--arg zero:u32[256]" : more));
  CAPTURE(body);
  CAPTURE(o.err);
  json j = json::parse(o.out);
  REQUIRE(j.contains("fault_count"));
  return j;
}

struct Use {
  const char* name;
  std::string body;
  const char* how;  ///< what depends on it; "" = nothing does
};

/// %r3: the lane's own unwritten word of shared memory, of which st.shared.u8 writes one byte.
std::vector<Use> uses() {
  const std::string byte = "st.shared.u8 [%r3], %r5;\n", load = "ld.shared.u32 %r6, [%r3];\n";
  const std::string branch =
      "setp.lt.u32 %p1, %r6, 7;\n@%p1 bra there;\nadd.u32 %r7, %r1, 1;\nthere:\n";
  const std::string out = "st.global.u32 [%rd1], %r6;\n", own = "st.local.u32 [own], %r6;\n";
  const auto changed = [&](const std::string& how) { return byte + load + how + branch; };
  return {
      {"a branch", load + branch, "branch"},
      {"a copy", load + own + "st.shared.u32 [%r3+128], %r6;\n" + out, ""},
      {"a copy of a copy, and a branch", load + own + "ld.local.u32 %r6, [own];\n" + branch,
       "branch"},
      {"a copy, then the own value",
       load + own + "st.local.u32 [own], %r5;\nld.local.u32 %r6, [own];\n" + branch, ""},
      {"the byte that was written", changed("and.b32 %r6, %r6, 255;\n"), ""},
      {"a bit more", changed("and.b32 %r6, %r6, 511;\n"), "branch"},
      {"the written byte by a shift", changed("shl.b32 %r6, %r6, 24;\n"), ""},
      {"another byte by a shift", changed("shr.u32 %r6, %r6, 8;\n"), "branch"},
      {"the written byte by a field", changed("bfe.u32 %r6, %r6, 3, 5;\n"), ""},
      {"a field across its end", changed("bfe.u32 %r6, %r6, 3, 6;\n"), "branch"},
      {"the written byte by a permutation", changed("prmt.b32 %r6, %r6, 0, 0x4440;\n"), ""},
      {"another byte by a permutation", changed("prmt.b32 %r6, %r6, 0, 0x4441;\n"), "branch"},
      {"bits that are set whatever they were", changed("or.b32 %r6, %r6, 0xffffff00;\n"), ""},
      {"bits that a table ignores", changed("lop3.b32 %r6, %r6, 255, 0, 0xc0;\n"), ""},
      {"bits that a table keeps", changed("lop3.b32 %r6, %r6, 255, 0, 0x3c;\n"), "branch"},
      {"the low bits of a sum", changed("add.u32 %r6, %r6, %r6;\nand.b32 %r6, %r6, 255;\n"), ""},
      {"carried bits of a sum", changed("add.u32 %r6, %r6, %r6;\nand.b32 %r6, %r6, 0x1ff;\n"),
       "branch"},
      {"a product with 0", changed("mul.lo.u32 %r6, %r6, 0;\n"), ""},
      {"a register and itself", changed("xor.b32 %r6, %r6, %r6;\n"), ""},
      {"a comparison that is decided",
       "mov.u32 %r6, 9;\nst.shared.u8 [%r3], %r6;\n" + load +
           "setp.eq.u32 %p1, %r6, 7;\n@%p1 bra there;\nadd.u32 %r7, %r1, 1;\nthere:\n",
       ""},
      {"a select that takes the other",
       load + "setp.eq.u32 %p2, %r1, 99;\nselp.u32 %r6, %r6, 3, %p2;\n" + branch, ""},
      {"a select that takes it",
       load + "setp.ne.u32 %p2, %r1, 99;\nselp.u32 %r6, %r6, 3, %p2;\n" + branch, "branch"},
      {"a float sum that is stored",
       "ld.shared.f32 %f1, [%r3];\nadd.f32 %f1, %f1, 0f3F800000;\nst.global.f32 [%rd1], %f1;\n",
       "store"},
      {"a float sum that nobody needs",
       "ld.shared.f32 %f1, [%r3];\nadd.f32 %f1, %f1, 0f3F800000;\nst.shared.f32 [%r3], %f1;\n", ""},
      {"the same, copied out later",
       "ld.shared.f32 %f1, [%r3];\nadd.f32 %f1, %f1, 0f3F800000;\nst.shared.f32 [%r3], %f1;\n" +
           load + "add.u32 %r6, %r6, 0;\n" + out,
       "store"},
      {"an address",
       "ld.shared.u32 %r6, [%r3];\nand.b32 %r6, %r6, 12;\ncvt.u64.u32 %rd3, %r6;\nadd.u64 %rd3, "
       "%rd3, %rd1;\nst.global.u32 [%rd3], %r5;\n",
       "address"},
      {"an address that was written",
       byte + load +
           "and.b32 %r6, %r6, 12;\ncvt.u64.u32 %rd3, %r6;\nadd.u64 %rd3, %rd3, "
           "%rd1;\nst.global.u32 [%rd3], %r5;\n",
       ""},
      {"a guard of a store", load + "setp.eq.u32 %p1, %r6, 1;\n@%p1 st.global.u32 [%rd1], %r5;\n",
       "guard"},
      {"a guard of a move that is not used",
       load + "setp.eq.u32 %p1, %r6, 1;\n@%p1 mov.u32 %r7, 1;\nmov.u32 %r7, 2;\n", ""},
      {"a guard of a move that is",
       load + "setp.eq.u32 %p1, %r6, 1;\nmov.u32 %r6, 2;\n@%p1 mov.u32 %r6, 1;\n" + branch,
       "branch"},
      {"an atomic on it", "red.shared.add.u32 [%r3], 1;\n", "atomic"},
      {"an exchange", "atom.shared.exch.b32 %r6, [%r3], 1;\n", ""},
      {"an exchange, and the old value", "atom.shared.exch.b32 %r6, [%r3], 1;\n" + branch,
       "branch"},
      {"an atomic with it", load + "red.global.add.u32 [%rd1], %r6;\n", "atomic"},
      {"a shuffle that brings it",
       load +
           "setp.ne.u32 %p2, %r1, 3;\n@%p2 mov.u32 %r6, 1;\nshfl.sync.idx.b32 %r6, %r6, 3, 31, "
           "-1;\n" +
           branch,
       "branch"},
      {"a shuffle that leaves it",
       load +
           "setp.ne.u32 %p2, %r1, 3;\n@%p2 mov.u32 %r6, 1;\nshfl.sync.idx.b32 %r6, %r6, 4, 31, "
           "-1;\n" +
           branch,
       ""},
      {"one bit of a ballot",
       load +
           "setp.eq.u32 %p1, %r6, 1;\nsetp.lt.u32 %p2, %r1, 4;\nand.pred %p1, %p1, "
           "%p2;\nvote.sync.ballot.b32 %r6, %p1, -1;\nand.b32 %r6, %r6, 16;\n" +
           branch,
       ""},
      {"another bit of it",
       load +
           "setp.eq.u32 %p1, %r6, 1;\nsetp.lt.u32 %p2, %r1, 4;\nand.pred %p1, %p1, "
           "%p2;\nvote.sync.ballot.b32 %r6, %p1, -1;\nand.b32 %r6, %r6, 8;\n" +
           branch,
       "branch"},
  };
}

}  // namespace

TEST_CASE("unwritten values are reported where something depends on them" * kHostCase) {
  for (const Use& u : uses()) {
    CAPTURE(std::string(u.name));
    const json j = followed(u.body);
    CAPTURE(j.dump(1));
    const std::string how = j["faults"].empty() ? "" : j["faults"][0]["access"].get<std::string>();
    CHECK(how == u.how);
    for (const json& f : j["faults"]) CHECK(f["kind"] == "uninitialised");
  }
}

TEST_CASE("unwritten values: a report has the use, the load, the copy and the bits" * kHostCase) {
  const json j = followed(
      "st.shared.u8 [%r3], %r5;\nld.shared.u32 %r6, [%r3];\nst.local.u32 [own], %r6;\n"
      "ld.local.u32 %r6, [own];\nsetp.eq.u32 %p1, %r6, 7;\n@%p1 bra there;\nthere:\n");
  REQUIRE(j["fault_count"] == 32);
  const json f = j["faults"][0];
  CHECK(contains(f["text"], "bra there"));
  CHECK(f["other"]["access"] == "load");
  CHECK(contains(f["other"]["text"], "ld.local.u32 %r6, [own]"));
  CHECK(f["space"] == "local");
  CHECK(contains(f["reason"], "copied there by st.local.u32 [own], %r6"));
  const json sum = followed(
      "ld.global.u16 %h1, [%rd1+8];\ncvt.u32.u16 %r6, %h1;\nadd.u32 %r6, %r6, 1;\n"
      "st.global.u32 [%rd1], %r6;\n",
      "--arg out:" + scratch() + "/followed.npy:u32[8]");
  const json g = sum["faults"][0];
  CHECK(g["access"] == "store");
  CHECK(contains(g["nearest_allocation"], "followed.npy' (offset 8 of 32 bytes)"));
  CHECK(contains(g["reason"], "it was computed of them"));
}

TEST_CASE("unwritten values: a copy by one launch is found by the next" * kHostCase) {
  // The second case's branch depends on what the first one copied.
  const std::string script = write("followed.lw", R"(
isa gcn
target gfx803
policy check init
shared 256
waves 1
case "a copy is no use" {
  reg v0 = 4 * (lane & 31)
  code """
    s_mov_b32 m0, -1
    ds_read_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    ds_write_b32 v0, v1 offset:128
    s_waitcnt lgkmcnt(0)
  """
  expect no fault
}
case "a branch is" {
  reg v0 = 4 * (lane & 31)
  code """
    s_mov_b32 m0, -1
    ds_read_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    ds_write_b32 v0, v1 offset:128
    ds_read_b32 v2, v0 offset:128
    s_waitcnt lgkmcnt(0)
    v_cmp_eq_u32 vcc, 5, v2
    s_cbranch_vccz there
    v_mov_b32 v3, 1
  there:
    v_mov_b32 v3, 2
  """
  expect fault uninitialised
}
case "of what was written it is none" {
  reg v0 = 4 * (lane & 31)
  code """
    s_mov_b32 m0, -1
    ds_write_b32 v0, v0
    ds_read_b32 v2, v0
    s_waitcnt lgkmcnt(0)
    v_cmp_eq_u32 vcc, 5, v2
    s_cbranch_vccz there
    v_mov_b32 v3, 1
  there:
    v_mov_b32 v3, 2
  """
  expect no fault
}
)");
  check_three_cases(script);
  const std::string sass = write("followed_sass.lw", R"(
isa sass
target sm_50
policy check init
shared 256
waves 1
case "a copy" {
  code """
    S2R R0, SR_TID.X ;
    SHL R0, R0, 0x2 ;
    LDS R1, [R0] ;
    STS [R0+0x80], R1 ;
  """
  expect no fault
}
case "a branch" {
  code """
    S2R R0, SR_TID.X ;
    SHL R0, R0, 0x2 ;
    LDS R1, [R0] ;
    ISETP.EQ.AND P0, PT, R1, 0x5, PT ;
    @P0 BRA `(.L_there) ;
    MOV R2, R0 ;
    .L_there:
    MOV R3, R0 ;
  """
  expect fault uninitialised
}
case "the byte that was written" {
  code """
    S2R R0, SR_TID.X ;
    SHL R0, R0, 0x2 ;
    STS.U8 [R0], R0 ;
    LDS R1, [R0] ;
    LOP.AND R1, R1, 0xff ;
    ISETP.EQ.AND P0, PT, R1, 0x5, PT ;
    @P0 BRA `(.L_there) ;
    MOV R2, R0 ;
    .L_there:
    MOV R3, R0 ;
  """
  expect no fault
}
)");
  check_three_cases(sass);
}
