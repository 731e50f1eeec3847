// A mask of compares whose lower half is overwritten with a number: its bits are made of both
// halves only where somebody reads them. One case for each kind of reader.
#include <bit>
#include <functional>
#include <span>

#include "tests/kernels/support.hpp"

using namespace kernels;

namespace {

/// `mask` is what s[12:13] hold, `exec` what s[10:11] do; the text leaves its result in v2.
struct Reader {
  const char* text;
  std::function<uint32_t(uint64_t mask, uint64_t exec, int lane)> value;
};

constexpr uint64_t kCompared = ~uint64_t{0} << 41;  // v_cmp_lt_u32 40, v0

uint32_t bit(uint64_t mask, int lane) {
  return static_cast<uint32_t>(mask >> lane & 1);
}
uint32_t low(uint64_t mask) {
  return static_cast<uint32_t>(mask);
}
uint32_t high(uint64_t mask) {
  return static_cast<uint32_t>(mask >> 32);
}

/// Readers of the lanes' own bits.
const std::vector<Reader>& own_readers() {
  static const std::vector<Reader> readers = {
      {"v_cndmask_b32 v2, 0, 1, s[12:13]", [](auto m, auto, int lane) { return bit(m, lane); }},
      {"s_mov_b64 vcc, s[12:13]\nv_addc_u32 v2, vcc, 0, v2, vcc",
       [](auto m, auto, int lane) { return bit(m, lane); }},
      {"v_addc_u32 v2, s[14:15], 0, v2, s[12:13]",
       [](auto m, auto, int lane) { return bit(m, lane); }},
      {"s_not_b64 s[14:15], s[12:13]\nv_cndmask_b32 v2, 0, 1, s[14:15]",
       [](auto m, auto, int lane) { return bit(~m, lane); }},
      {"s_xnor_b64 s[14:15], s[10:11], s[12:13]\nv_cndmask_b32 v2, 0, 1, s[14:15]",
       [](auto m, auto e, int lane) { return bit(~(m ^ e), lane); }},
      {"s_and_saveexec_b64 s[14:15], s[12:13]\nv_mov_b32 v2, 1",
       [](auto m, auto, int lane) { return bit(m, lane); }},
      {"s_mov_b64 exec, s[12:13]\nv_mov_b32 v2, 1",
       [](auto m, auto, int lane) { return bit(m, lane); }},
      // Lanes that are off keep what they have.
      {"s_mov_b64 exec, s[10:11]\ns_andn2_b64 s[12:13], s[12:13], exec\ns_mov_b64 exec, s[20:21]\n"
       "v_cndmask_b32 v2, 0, 1, s[12:13]",
       [](auto m, auto e, int lane) { return bit(m & ~e, lane); }},
      {"s_mov_b64 exec, s[10:11]\nv_cndmask_b32 v2, 0, 1, s[12:13]",
       [](auto m, auto e, int lane) { return bit(m & e, lane); }},
      {"s_mov_b64 exec, s[10:11]\ns_or_b64 s[12:13], s[12:13], exec\ns_mov_b64 exec, s[20:21]\n"
       "v_cndmask_b32 v2, 0, 1, s[12:13]",
       [](auto m, auto e, int lane) { return bit(m | e, lane); }},
      // The halves change their places.
      {"s_mov_b32 s14, s13\ns_mov_b32 s15, s12\nv_cndmask_b32 v2, 0, 1, s[14:15]",
       [](auto m, auto, int lane) { return bit(m, lane ^ 32); }},
      {"s_mov_b64 s[14:15], s[12:13]\ns_mov_b32 s14, s15\nv_cndmask_b32 v2, 0, 1, s[14:15]",
       [](auto m, auto, int lane) { return bit(m, lane | 32); }},
      {"s_mov_b64 exec, s[10:11]\ns_andn2_b64 s[14:15], s[12:13], exec\ns_mov_b32 s14, s15\n"
       "s_mov_b64 exec, s[20:21]\nv_cndmask_b32 v2, 0, 1, s[14:15]",
       [](auto m, auto e, int lane) { return bit(m & ~e, lane | 32); }},
      // Of the second iteration.
      {"s_mov_b32 s14, 0\nL$:\ns_cmp_eq_u32 s14, 0\ns_cbranch_scc1 M$\n"
       "v_cndmask_b32 v2, 0, 1, s[12:13]\nM$:\ns_add_u32 s14, s14, 1\ns_cmp_lt_u32 s14, 2\n"
       "s_cbranch_scc1 L$",
       [](auto m, auto, int lane) { return bit(m, lane); }},
      // Where two ways come together, one of which gives the pair a mask.
      {"s_cmp_eq_u32 s10, 0\ns_cbranch_scc0 L$\nv_cmp_gt_u32 s[12:13], 9, v0\nL$:\n"
       "v_cndmask_b32 v2, 0, 1, s[12:13]",
       [](auto m, auto e, int lane) { return bit(low(e) == 0 ? 0x1ff : m, lane); }},
      // Where two ways come together, of which each leaves another pair without meaning.
      {"s_cmp_eq_u32 s10, -1\ns_cbranch_scc1 L$\ns_mov_b64 s[14:15], s[12:13]\n"
       "v_cmp_gt_u32 s[12:13], 9, v0\ns_branch M$\nL$:\nv_cmp_gt_u32 s[14:15], 7, v0\nM$:\n"
       "v_cndmask_b32 v2, 0, 1, s[14:15]",
       [](auto m, auto e, int lane) { return bit(low(e) == ~0U ? 0x7f : m, lane); }},
      {"s_cmp_eq_u32 s10, -1\ns_cbranch_scc1 L$\ns_mov_b64 s[14:15], s[12:13]\n"
       "v_cmp_gt_u32 s[12:13], 9, v0\ns_branch M$\nL$:\nv_cmp_gt_u32 s[14:15], 7, v0\nM$:\n"
       "v_cndmask_b32 v2, 0, 1, s[12:13]",
       [](auto m, auto e, int lane) { return bit(low(e) == ~0U ? m : 0x1ff, lane); }},
      // Half of what is made of it is a number again.
      {"s_and_b64 s[14:15], s[12:13], exec\ns_mov_b32 s15, 0x55\nv_cndmask_b32 v2, 0, 1, s[14:15]",
       [](auto m, auto, int lane) { return bit(low(m) | 0x55ULL << 32, lane); }},
      // A function reads it.
      {"s_getpc_b64 s[14:15]\ns_add_u32 s14, s14, half@rel32@lo+4\n"
       "s_addc_u32 s15, s15, half@rel32@hi+12\ns_swappc_b64 s[22:23], s[14:15]",
       [](auto m, auto, int lane) { return bit(m, lane); }}};
  return readers;
}

/// Readers of other lanes' bits, of s[14:15] or VCC = mask & exec: those have no bits of lanes that
/// do not exist, so they are made of the lanes' own bits, and not of the numbers of their sources.
const std::vector<Reader>& wave_readers() {
  static const std::vector<Reader> readers = {
      {"s_and_b64 vcc, exec, s[12:13]\ns_cbranch_vccz L$\nv_mov_b32 v2, 1\nL$:",
       [](auto m, auto, int) { return m != 0 ? 1U : 0U; }},
      {"s_mov_b64 exec, s[10:11]\ns_and_b64 vcc, s[12:13], exec\ns_mov_b64 exec, s[20:21]\n"
       "s_cbranch_vccnz L$\nv_mov_b32 v2, 1\nL$:",
       [](auto m, auto e, int) { return (m & e) == 0 ? 1U : 0U; }},
      {"s_mov_b64 exec, 31\ns_and_b64 vcc, exec, s[12:13]\ns_mov_b64 exec, s[20:21]\n"
       "s_add_u32 s14, vccz, 3\nv_mov_b32 v2, s14",
       [](auto m, auto, int) { return (m & 31) == 0 ? 4U : 3U; }},
      {"s_mov_b64 exec, s[12:13]\ns_cbranch_execz L$\ns_mov_b64 exec, s[20:21]\nv_mov_b32 v2, 1\n"
       "L$:",
       [](auto m, auto, int) { return m != 0 ? 1U : 0U; }},
      {"s_mov_b64 exec, s[10:11]\ns_and_b64 s[14:15], s[12:13], exec\ns_cselect_b32 s16, 7, 9\n"
       "s_mov_b64 exec, s[20:21]\nv_mov_b32 v2, s16",
       [](auto m, auto e, int) { return (m & e) != 0 ? 7U : 9U; }},
      {"s_mov_b64 exec, s[10:11]\ns_and_b64 s[14:15], s[12:13], exec\ns_cbranch_scc0 L$\n"
       "s_mov_b64 exec, s[20:21]\nv_mov_b32 v2, 1\nL$:",
       [](auto m, auto e, int) { return (m & e) != 0 ? 1U : 0U; }},
      {"s_mov_b64 exec, s[10:11]\ns_and_saveexec_b64 s[14:15], s[12:13]\n"
       "s_cselect_b32 s16, 7, 9\ns_mov_b64 exec, s[20:21]\nv_mov_b32 v2, s16",
       [](auto m, auto e, int) { return (m & e) != 0 ? 7U : 9U; }},
      {"s_and_b64 s[14:15], s[12:13], exec\ns_cmp_eq_u32 s14, 0\ns_cselect_b32 s16, 7, 9\n"
       "v_mov_b32 v2, s16",
       [](auto m, auto, int) { return low(m) == 0 ? 7U : 9U; }},
      {"s_and_b64 s[14:15], s[12:13], exec\ns_bcnt1_i32_b64 s16, s[14:15]\nv_mov_b32 v2, s16",
       [](auto m, auto, int) { return static_cast<uint32_t>(std::popcount(m)); }},
      {"s_and_b64 s[14:15], s[12:13], exec\ns_mov_b32 s17, s14\ns_bcnt1_i32_b32 s16, s17\n"
       "v_mov_b32 v2, s16",
       [](auto m, auto, int) { return static_cast<uint32_t>(std::popcount(low(m))); }},
      {"s_and_b64 s[14:15], s[12:13], exec\ns_ff1_i32_b64 s16, s[14:15]\nv_mov_b32 v2, s16",
       [](auto m, auto, int) { return m == 0 ? ~0U : static_cast<uint32_t>(std::countr_zero(m)); }},
      {"s_and_b64 s[14:15], s[12:13], exec\ns_lshr_b64 s[16:17], s[14:15], 7\nv_mov_b32 v2, s16\n"
       "v_xor_b32 v2, s17, v2",
       [](auto m, auto, int) { return low(m >> 7) ^ high(m >> 7); }},
      {"s_mov_b64 exec, s[10:11]\ns_and_b64 s[14:15], s[12:13], exec\ns_mov_b64 exec, s[20:21]\n"
       "v_mov_b32 v2, s15\nv_add_u32 v2, vcc, s14, v2",
       [](auto m, auto e, int) { return low(m & e) + high(m & e); }},
      {"s_and_b64 s[14:15], s[12:13], exec\ns_ff1_i32_b32 s14, s14\nv_readlane_b32 s16, v0, s14\n"
       "v_mov_b32 v2, s16",
       [](auto m, auto, int) { return low(m) == 0 ? 63U : low(std::countr_zero(low(m))); }},
      {"s_and_b64 s[14:15], s[12:13], exec\nv_readlane_b32 s16, v0, s14\nv_mov_b32 v2, s16",
       [](auto m, auto, int) { return low(m) & 63; }},
      {"s_and_b64 s[14:15], s[12:13], exec\nv_writelane_b32 v2, s15, 5\nv_writelane_b32 v2, s14, 6",
       [](auto m, auto, int lane) { return lane == 5   ? high(m)
                                           : lane == 6 ? low(m)
                                                       : 0U; }},
      {"s_and_b64 s[14:15], s[12:13], exec\ns_mov_b64 exec, 0\nv_writelane_b32 v2, s14, 6",
       [](auto m, auto, int lane) { return lane == 6 ? low(m) : 0U; }},
      // Into lanes that are on and off, of bits of lanes that are off.
      {"s_and_b64 s[14:15], s[12:13], exec\ns_mov_b64 exec, s[10:11]\nv_writelane_b32 v2, s15, 3\n"
       "v_writelane_b32 v2, s14, 62",
       [](auto m, auto, int lane) { return lane == 3    ? high(m)
                                           : lane == 62 ? low(m)
                                                        : 0U; }},
      {"s_and_b64 s[14:15], s[12:13], exec\nv_mbcnt_lo_u32_b32 v2, s14, 0\n"
       "v_mbcnt_hi_u32_b32 v2, s15, v2",
       [](auto m, auto, int lane) {
         return static_cast<uint32_t>(std::popcount(m & ((uint64_t{1} << lane) - 1)));
       }},
      {"s_and_b64 s[14:15], s[12:13], exec\ns_mov_b32 m0, s14\ns_nop 0\ns_mov_b32 s16, m0\n"
       "v_mov_b32 v2, s16",
       [](auto m, auto, int) { return low(m); }},
      // The halves change their places, under bits of lanes that are off.
      {"s_and_b64 s[14:15], s[12:13], exec\ns_mov_b32 s15, s14\nv_cndmask_b32 v2, 0, 1, s[14:15]",
       [](auto m, auto, int lane) { return bit(m, lane & 31); }},
      // The argument block again, by an offset of the mask: the words of EXEC.
      {"s_and_b64 s[14:15], s[12:13], exec\ns_and_b32 s14, s14, 4\ns_add_u32 s14, s14, 8\n"
       "s_load_dword s16, s[0:1], s14\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, s16",
       [](auto m, auto e, int) { return (m & 4) != 0 ? high(e) : low(e); }}};
  return readers;
}

std::string numbered(std::string text, size_t number) {
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at))
    text.replace(at, 1, std::to_string(number));
  return text;
}

/// Arguments: the output, a number that is also an EXEC. Each case stores one dword a lane.
std::string kernel_text(std::span<const Reader> readers) {
  std::string text =
      ".amdgcn_target \"amdgcn--amdhsa--gfx803\"\nmasks:\ns_load_dwordx4 s[8:11], s[0:1], 0x0\n"
      "s_waitcnt lgkmcnt(0)\ns_mov_b32 s4, s8\ns_mov_b32 s5, s9\ns_mov_b32 s6, -1\n"
      "s_mov_b32 s7, 0xf000\nv_lshlrev_b32 v5, 2, v0\ns_mov_b64 s[20:21], exec\n";
  for (size_t n = 0; n < readers.size(); ++n)
    text +=
        numbered(std::string("v_mov_b32 v2, 0\nv_cmp_lt_u32 s[12:13], 40, v0\n"
                             "s_lshl_b32 s12, s10, 1\n") +
                     readers[n].text + "\ns_mov_b64 exec, s[20:21]\ns_movk_i32 s24, " +
                     std::to_string(256 * n) + "\nbuffer_store_dword v2, v5, s[4:7], s24 offen\n",
                 n);
  return text + R"(s_endpgm
half:
  v_cndmask_b32 v2, 0, 1, s[12:13]
  s_setpc_b64 s[22:23]
.section .rodata
.amdhsa_kernel masks
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 16
.amdhsa_next_free_vgpr 6
.amdhsa_next_free_sgpr 33
.end_amdhsa_kernel
)";
}

void check_readers(std::span<const Reader> readers) {
  const lanewise::Kernel kernel =
      device().load_text(kernel_text(readers), lanewise::Isa::gcn, "masks").kernel("masks");
  for (const uint64_t exec : {0xf0f13579ace0ff3cULL, 0x8000000000000000ULL, ~0ULL}) {
    CAPTURE(exec);
    const uint64_t mask = kCompared | static_cast<uint32_t>(exec << 1);
    std::vector<uint32_t> want;
    for (const Reader& r : readers)
      for (int lane = 0; lane < 64; ++lane) want.push_back(r.value(mask, exec, lane));
    auto out = device().buffer(std::vector<uint32_t>(want.size()), "out");
    kernel.launch({.grid = {1}, .block = {64}}, out, exec).check();
    check_equal(out.read<uint32_t>(), want);
  }
}

// Few readers to a kernel: where one invocation carries the wave, drivers take the longer the more
// there are, and more than in proportion. What devices run is the same IR: the first are enough.
void check_in_parts(std::span<const Reader> readers) {
  constexpr size_t kInKernel = 4;
  if (device().info().type != "reference") readers = readers.first(kInKernel);
  for (; !readers.empty(); readers = readers.subspan(std::min(kInKernel, readers.size())))
    check_readers(readers.first(std::min(kInKernel, readers.size())));
}

}  // namespace

TEST_CASE("gcn masks: lanes read their own bits of a mask that is half of a number") {
  check_in_parts(own_readers());
}

TEST_CASE("gcn masks: a wave reads all lanes' bits of a mask that is half of a number") {
  check_in_parts(wave_readers());
}
