// `run --target` and `check --target`: in place of what the file says; of PTX, what it is compiled
// for.
#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

// buffer_load with a mnemonic that only GCN3 has.
const std::string kStoreLane =
    "v_lshlrev_b32_e32 v1, 2, v0\ns_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
    "s_mov_b32 s6, 256\ns_mov_b32 s7, 0\nbuffer_store_dword v0, v1, s[4:7], 0 offen\ns_endpgm\n";

}  // namespace

TEST_CASE("GCN text runs for the target that is asked for") {
  // s_load counts dwords on gfx600 and bytes on gfx803; 0 is both.
  const std::string file = write("store.s", kStoreLane), out = scratch() + "/lanes.bin";
  for (const char* target : {"gfx600", "gfx700", "gfx803"}) {
    CAPTURE(target);
    const Output o =
        run(file + " --isa gcn --target " + target + " --block 64 --arg out:" + out + ":u32[64]");
    CHECK(o.code == 0);
    CHECK(o.err.empty());
    const auto lanes = read_bin<uint32_t>(out);
    REQUIRE(lanes.size() == 64);
    CHECK(lanes[63] == 63);
  }
  const Output wrong =
      run(file + " --isa gcn --target sm_50 --block 64 --arg out:" + out + ":u32[64]");
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.err, "gfx600, gfx700 or gfx803"));
  CHECK(program("check --target gfx700 " + file).code == 0);
  CHECK(program("check --target gfx900 " + file).code == 2);
  CHECK(program("check --strict manual " + file).code == 2);
}

TEST_CASE("an instruction of another generation is refused for the target") {
  const std::string file = write("gcn3.s", "v_add_f16_e32 v1, v1, v2\ns_endpgm\n");
  const Output older = program("check --target gfx600 " + file);
  CHECK(older.code == 1);
  CHECK(contains(older.err, "gcn3.s:1:"));
}

TEST_CASE("a cubin of CUDA 13 says what it is for") {
  const Output o = program("check " + std::string(LANEWISE_TEST_DATA) + "/pairs/data/sm_75.cubin");
  CHECK(o.code == 1);
  CHECK(contains(o.err, "sm_75 machine code is not supported: give its PTX, or code for sm_50,"));
}

TEST_CASE("SASS text for sm_52, a cubin for what it is") {
  const std::string cubin = LANEWISE_TEST_DATA "/kernels/data/sass/k01_saxpy.cubin";
  const Output wrong = run(cubin + " --target sm_53");
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.err, "--target sm_53: the cubin is for sm_5"));
  CHECK(contains(run(cubin + " --target sm_80").err,
                 "SASS is for sm_50, sm_52, sm_53, sm_60, sm_61 or sm_62"));
  CHECK(program("check --target sm_52 " + write("nop.sass", "NOP ;\nEXIT ;\n")).code == 0);
}

TEST_CASE("PTX must be legal for the target it is run for") {
  const std::string file = write("cluster.ptx",
                                 ".version 9.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry k(.param .u64 p)\n{\n"
                                 "  .reg .b64 %rd<3>;\n  .reg .b32 %r<2>;\n"
                                 "  ld.param.u64 %rd1, [p];\n  mov.u32 %r1, 7;\n"
                                 "  st.global.relaxed.cluster.u32 [%rd1], %r1;\n  ret;\n}\n");
  const std::string out = scratch() + "/one.bin";
  const Output good = run(file + " --target sm_100 --arg out:" + out + ":u32[1]");
  CHECK(good.code == 0);
  CHECK(read_bin<uint32_t>(out) == std::vector<uint32_t>{7});
  const Output older = run(file + " --target sm_80 --arg out:" + out + ":u32[1]");
  CHECK(older.code == 1);
  CHECK(contains(older.err, "the file is for sm_90, which is a later target than sm_80"));
  CHECK(run(file + " --target sm_1 --arg out:" + out + ":u32[1]").code == 2);
}
