// What the rarer memory instructions do, run on the reference engine against plain C++, and what
// accesses report to the cache tracker.
#include <bit>
#include <cmath>

#include "runtime/ir/passes/passes.hpp"
#include "tests/unit/ptx/lower_support.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using ptx::test::lower_text;

namespace {

std::string module_of(const std::string& lines) {
  return ".version 8.8\n.target sm_100\n.address_size 64\n.const .align 16 .b8 cbuf[64];\n"
         ".visible .entry k(.param .u64 data, .param .u64 word)\n{\n"
         ".reg .pred %p<4>; .reg .b16 %h<12>; .reg .b32 %r<12>; .reg .b64 %rd<16>;\n"
         ".reg .f32 %f<12>; .reg .b128 %q<4>; .shared .align 16 .b8 sbuf[64];\n"
         "ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [word];\n" +
         lines + "\nret;\n}\n";
}

/// Runs the lines with %rd1 = address of the data and %rd2 = a number; the data afterwards.
template <typename T>
std::vector<T> after(const std::string& lines, const std::vector<T>& data, uint64_t number = 0) {
  const ptx::LowerResult lowered = lower_text(module_of(lines));
  REQUIRE_MESSAGE(lowered.diagnostics.empty(), lines, "\n", ptx::test::text(lowered.diagnostics));
  test::Bench bench;
  const uint64_t at = bench.put(data);
  bench.arg(at).arg(number);
  ir::Program program = lowered.module.kernels.at(0);
  ir::bind_symbols(program, [](const ir::Symbol&) { return guest::kArenaBase + 0x800; });
  const auto run = bench.run(program, 1, 1);
  REQUIRE_MESSAGE(run.faults.empty(), lines);
  return bench.get<T>(at, data.size());
}

uint64_t word_of(const std::string& lines, uint64_t number = 0) {
  return after<uint64_t>(lines + " st.global.b64 [%rd1], %rd5;", {0}, number)[0];
}

uint16_t bf16(float x) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16);
}

/// The policy of the only memory instruction of the lines.
ir::Mem memory_of(const std::string& lines) {
  const ptx::LowerResult lowered = lower_text(module_of(lines));
  REQUIRE_MESSAGE(lowered.diagnostics.empty(), lines, "\n", ptx::test::text(lowered.diagnostics));
  ir::Mem found;
  for (const ir::Inst& inst : lowered.module.kernels.at(0).blocks.at(0).insts)
    if (inst.mem && inst.mem->space != ir::Space::param) found = *inst.mem;
  return found;
}

}  // namespace

TEST_CASE("policy words: fractions, constant and not") {
  const auto constant = [](const std::string& form) {
    return word_of("createpolicy.fractional." + form + ";");
  };
  CHECK(constant("L2::evict_last.b64 %rd5") == 0x14F0000000000000);
  CHECK(constant("L2::evict_first.b64 %rd5, 1.0") == 0x12F0000000000000);
  CHECK(constant("L2::evict_last.b64 %rd5, 0.5") == 0x1470000000000000);
  CHECK(constant("L2::evict_last.L2::evict_first.b64 %rd5, 0.5") == 0x1570000000000000);
  CHECK(constant("L2::evict_last.b64 %rd5, 0.25") == 0x1430000000000000);
  CHECK(constant("L2::evict_unchanged.b64 %rd5, 0.0625") == 0x1000000000000000);
  for (const float f : {1.0F, 0.75F, 0.5F, 0.3F, 0.0625F, 0.01F}) {
    CAPTURE(f);
    const uint64_t n = static_cast<uint64_t>(f * 15.99F);
    CHECK(word_of("cvt.u32.u64 %r1, %rd2; mov.b32 %f1, %r1; "
                  "createpolicy.fractional.L2::evict_normal.b64 %rd5, %f1;",
                  std::bit_cast<uint32_t>(f)) == (uint64_t{0x16000000} | n << 20) << 32);
  }
  CHECK(word_of("createpolicy.cvt.L2.b64 %rd5, %rd2;", 0x1234567800000000) == 0x1234567800000000);
}

TEST_CASE("policy words: ranges") {
  struct Case {
    uint64_t address;
    uint32_t primary, total;
  };
  for (const Case& c : {Case{0x10000000, 4096, 8192}, Case{0x10012345, 1 << 20, 1 << 21},
                        Case{0x7fff1234500, 3000, 3001}, Case{0x20000000, 1U << 31, 1U << 31},
                        Case{0x12345678, 1, 1 << 25}}) {
    CAPTURE(c.address);
    CAPTURE(c.total);
    const unsigned log = static_cast<unsigned>(std::ceil(std::log2(double(c.total))));
    const unsigned s = std::max(log < 7 ? 0U : log - 7, 12U);
    const uint64_t start = c.address >> s;
    const uint64_t end = (c.address + c.primary + (uint64_t{1} << s) - 1) >> s;
    const uint64_t high = 0x1D000000 | (s - 12) << 20 | (start & 127) << 12 |
                          std::min<uint64_t>(127, end - start) << 5;
    const std::string sizes = std::to_string(c.primary) + ", " + std::to_string(c.total);
    CHECK(word_of(
              "createpolicy.range.L2::evict_last.L2::evict_first.b64 %rd5, [%rd2], " + sizes + ";",
              c.address) == high << 32);
    CHECK(word_of("mov.u32 %r1, " + std::to_string(c.primary) + "; mov.u32 %r2, " +
                      std::to_string(c.total) +
                      "; createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd5, "
                      "[%rd2], %r1, %r2;",
                  c.address) == high << 32);
  }
}

TEST_CASE("128-bit atomics exchange all or nothing") {
  const std::string make =
      "mov.b64 %rd3, 7; mov.b64 %rd4, 8; mov.b128 %q1, {%rd3, %rd4}; mov.b64 %rd5, 1; mov.b64 "
      "%rd6, "
      "2; mov.b128 %q2, {%rd5, %rd6};\n";
  const std::string old = " mov.b128 {%rd7, %rd8}, %q3; st.global.v2.b64 [%rd1+16], {%rd7, %rd8};";
  using V = std::vector<uint64_t>;
  CHECK(after<uint64_t>(make + "atom.global.exch.b128 %q3, [%rd1], %q1;" + old, {1, 2, 0, 0}) ==
        V{7, 8, 1, 2});
  CHECK(after<uint64_t>(make + "atom.global.cas.b128 %q3, [%rd1], %q2, %q1;" + old, {1, 2, 0, 0}) ==
        V{7, 8, 1, 2});
  CHECK(after<uint64_t>(make + "atom.global.cas.b128 %q3, [%rd1], %q2, %q1;" + old, {1, 3, 0, 0}) ==
        V{1, 3, 1, 3});
  CHECK(after<uint64_t>("ld.global.b128 %q1, [%rd1]; st.global.b128 [%rd1+16], %q1;",
                        {5, 6, 0, 0}) == V{5, 6, 5, 6});
  CHECK(after<uint64_t>("st.global.b128 [%rd1], -5;", {9, 9}) == V{~uint64_t{4}, 0});
}

TEST_CASE("atomics on halves and vectors") {
  using H = std::vector<uint16_t>;
  CHECK(after<uint16_t>("mov.b16 %h1, 0x3f80; atom.global.add.noftz.bf16 %h2, [%rd1], %h1; "
                        "st.global.b16 [%rd1+2], %h2;",
                        {bf16(2.5F), 0}) == H{bf16(3.5F), bf16(2.5F)});
  // 256 + 1 is halfway between two bf16 numbers: to the even one.
  CHECK(after<uint16_t>("mov.b16 %h1, 0x3f80; red.global.add.noftz.bf16 [%rd1], %h1;",
                        {bf16(256.0F), 1}) == H{bf16(256.0F), 1});
  CHECK(after<uint16_t>("mov.b16 %h1, 0x7fc0; red.global.add.noftz.bf16 [%rd1], %h1;",
                        {bf16(1.0F), 1}) == H{0x7fff, 1});
  CHECK(after<uint16_t>("mov.b16 %h1, 0x4000; mov.b16 %h2, 0xc000;"
                        "red.global.v2.max.noftz.bf16 [%rd1], {%h1, %h2};",
                        {bf16(1.0F), bf16(-1.0F)}) == H{bf16(2.0F), bf16(-1.0F)});
  CHECK(after<uint16_t>("mov.b16 %h1, 0x3c00; mov.b16 %h2, 5; mov.b16 %h3, 6;"
                        "red.global.add.noftz.f16 [%rd1], %h1; atom.global.cas.b16 %h4, [%rd1+2], "
                        "%h2, %h3; st.global.b16 [%rd1+4], %h4;",
                        {0x3c00, 5, 0}) == H{0x4000, 6, 5});
  CHECK(after<float>("mov.f32 %f1, 1.0; mov.f32 %f2, 2.0; atom.global.add.v2.f32 {%f3, %f4}, "
                     "[%rd1], {%f1, %f2}; st.global.v2.f32 [%rd1+8], {%f4, %f3};",
                     {0.5F, 0.25F, 0, 0}) == std::vector<float>{1.5F, 2.25F, 0.25F, 0.5F});
}

TEST_CASE("partial asynchronous copies fill up with zeros") {
  const std::string lines =
      "cvt.u32.u64 %r1, %rd2; cp.async.cg.shared.global [sbuf], [%rd1], 16, %r1; "
      "ld.shared.v2.b64 {%rd5, %rd6}, [sbuf]; st.global.v2.b64 [%rd1+16], {%rd5, %rd6};";
  for (uint64_t size = 0; size <= 16; ++size) {
    std::vector<uint8_t> data(32, 0xee);
    for (uint8_t i = 0; i < 16; ++i) data[i] = i + 1;
    const auto got = after<uint8_t>(lines, data, size);
    CAPTURE(size);
    for (size_t i = 0; i < 16; ++i) CHECK(got[16 + i] == (i < size ? i + 1 : 0));
  }
}

TEST_CASE("spaces and clusters of one group") {
  const auto space = [](const std::string& lines) {
    return word_of(lines + " selp.b64 %rd5, 1, 0, %p1;");
  };
  const std::string constant =
      "mov.u64 %rd3, cbuf; cvta.const.u64 %rd3, %rd3; add.u64 %rd3, %rd3, 63;";
  CHECK(space(constant + "isspacep.const %p1, %rd3;") == 1);
  CHECK(space(constant + "isspacep.global %p1, %rd3;") == 0);
  CHECK(space(constant + "add.u64 %rd3, %rd3, 1; isspacep.const %p1, %rd3;") == 0);
  CHECK(space("isspacep.global %p1, %rd1;") == 1);
  CHECK(word_of("mov.u64 %rd3, 40; mapa.shared::cluster.u64 %rd5, %rd3, 0;") == 40);
  CHECK(word_of("mapa.u64 %rd5, sbuf, 0;") == guest::kSharedWindow);
  CHECK(word_of("mov.u32 %r1, %cluster_nctarank; cvt.u64.u32 %rd5, %r1;") == 1);
  CHECK(word_of("mov.u64 %rd5, 7; mov.u64 %rd5, %current_graph_exec;") == 0);
  CHECK(word_of("mov.u64 %rd5, 7; mov.u64 %rd5, %pm3_64;") == 0);
}

TEST_CASE("every access carries its policy to the tracker") {
  using ir::CacheOp;
  using ir::EvictPriority;
  CHECK(memory_of("ld.global.cv.u32 %r1, [%rd1];").cache.op == CacheOp::cv);
  CHECK(memory_of("ld.global.nc.u32 %r1, [%rd1];").cache.op == CacheOp::nc);
  CHECK(memory_of("ld.local.lu.u32 %r1, [%rd1];").cache.op == CacheOp::lu);
  CHECK(memory_of("st.global.wt.u32 [%rd1], %r1;").cache.op == CacheOp::wt);
  const ir::CachePolicy load =
      memory_of(
          "ld.relaxed.gpu.global.L1::no_allocate.L2::cache_hint.L2::256B.u32 %r1, [%rd1], "
          "%rd2;")
          .cache;
  CHECK(load.l1 == EvictPriority::no_allocate);
  CHECK(load.prefetch_bytes == 256);
  CHECK(load.hint.is_reg());
  const ir::Mem store = memory_of(
      "st.global.L1::evict_last.L2::evict_first.L2::cache_hint.v8.f32 [%rd1], {%f1, _, %f3, %f4, "
      "%f5, %f6, %f7, %f8}, 0x14F0000000000000;");
  CHECK(store.bytes() == 32);
  CHECK(store.cache.l1 == EvictPriority::last);
  CHECK(store.cache.l2 == EvictPriority::first);
  CHECK(store.cache.hint.imm == 0x14F0000000000000);
  const ir::Mem atom =
      memory_of("atom.acq_rel.sys.global.L2::cache_hint.add.u32 %r1, [%rd1], %r2, %rd2;");
  CHECK(atom.cache.hint.is_reg());
  CHECK(atom.order == ir::Order::acq_rel);
  CHECK(atom.scope == ir::Scope::sys);
  CHECK(memory_of("st.mmio.relaxed.sys.global.u32 [%rd1], %r1;").order == ir::Order::mmio);
}

TEST_CASE("sinks of a 256-bit store leave memory alone") {
  using V = std::vector<uint32_t>;
  CHECK(
      after<uint32_t>("mov.u32 %r1, 1; st.global.v8.b32 [%rd1], {%r1, _, %r1, _, _, %r1, %r1, _};",
                      {9, 9, 9, 9, 9, 9, 9, 9}) == V{1, 9, 1, 9, 9, 1, 1, 9});
}
