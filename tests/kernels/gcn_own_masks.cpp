// Own GCN kernels with more masks than there are scalar registers.
#include <array>

#include "tests/kernels/gcn_support.hpp"

using namespace kernels;
using namespace kernels::gcn;

namespace {

using Words = std::vector<uint32_t>;

uint32_t twiddle(uint32_t k) {
  return (k * 2654435761U ^ k >> 3) | 1;
}

void transform(std::array<uint32_t, 8>& a) {
  std::array<uint32_t, 4> even{}, odd{};
  for (size_t i = 0; i < 4; ++i) {
    even[i] = a[2 * i];
    odd[i] = a[2 * i + 1];
  }
  for (const size_t step : {2, 1})
    for (uint32_t i = 0; i < 4; ++i) {
      if ((i & step) != 0) continue;
      const uint32_t x = even[i], y = odd[i];
      even[i] = x + even[i + step];
      even[i + step] = (x - even[i + step]) * twiddle(i);
      odd[i] = y + odd[i + step];
      if ((y & 1) != 0) odd[i + step] = (y - odd[i + step]) * twiddle(i + 4);
    }
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t t = odd[i] * twiddle(i + 8);
    a[i] = even[i] + t;
    a[i + 4] = even[i] - t;
  }
}

/// What butterflies makes of the 512 words of a group.
Words butterflies(const Words& in) {
  std::vector<std::array<uint32_t, 8>> lanes(64);
  Words shared(size_t{8} * 66), out(512);
  for (uint32_t t = 0; t < 64; ++t) {
    for (uint32_t i = 0; i < 8; ++i) lanes[t][i] = in[t + i * 64];
    transform(lanes[t]);
    for (uint32_t i = 1; i < 8; ++i) lanes[t][i] *= twiddle(i * t);
    for (uint32_t i = 0; i < 8; ++i) shared[(t >> 3) * 8 + (t & 7) + i * 66] = lanes[t][i];
  }
  for (uint32_t t = 0; t < 64; ++t) {
    for (uint32_t i = 0; i < 8; ++i) lanes[t][i] = shared[(t & 7) * 66 + (t >> 3) + i * 8];
    transform(lanes[t]);
    for (uint32_t i = 0; i < 8; ++i) out[t + i * 64] = lanes[t][i];
  }
  return out;
}

}  // namespace

// More masks than there are scalar registers, kept in lanes of vector registers that functions save
// and restore: lavapipe took 98 s for such a kernel while its lanes had to look at each other.
TEST_CASE("gcn own: a transform with masks in lanes of vector registers") {
  const Words in = random_ints<uint32_t>(512, 77), want = butterflies(in);
  for (const char* gpu : {"gfx600", "gfx700", "gfx803"}) {
    CAPTURE(gpu);
    if (device().info().tier != "cpu" && std::string(gpu) != "gfx803") continue;
    const auto file =
        device().load_file(corpus("gcn/own/nested_O0." + std::string(gpu) + ".hsaco"));
    for (const char* name : {"butterflies", "butterflies_called"}) {
      auto data = buffer(in);
      const auto result = file.kernel(name).launch({.grid = {1}, .block = {64}}, data);
      result.check();
      CHECK(result.wave_mode != "packed");
      check_all(data.read<uint32_t>(), want);
    }
  }
}

// The store's address is computed once, under a mask, and used by three stores; nobody reads its
// halves any more when some lane's last load is out of range.
TEST_CASE("gcn own: an address that is used again where other lanes fault") {
  const lanewise::Kernel kernel = device()
                                      .load_text(R"(
.amdgcn_target "amdgcn--amdhsa--gfx700"
behind:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_cmp_gt_u32 vcc, 60, v0
  s_and_b64 exec, exec, vcc
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v2, 2, v0
  v_mov_b32 v5, s5
  v_add_i32 v4, vcc, s4, v2
  v_addc_u32 v5, vcc, 0, v5, vcc
  flat_load_dword v6, v[4:5]
  v_mov_b32 v8, s7
  v_add_i32 v2, vcc, s6, v2
  v_addc_u32 v3, vcc, 0, v8, vcc
  flat_store_dword v[2:3], v6
  flat_load_dword v6, v[4:5]
  flat_store_dword v[2:3], v6
  v_and_b32 v9, 1, v0
  v_cmp_eq_u32 vcc, 0, v9
  s_and_b64 exec, exec, vcc
  v_add_i32 v4, vcc, -12, v4
  v_addc_u32 v5, vcc, -1, v5, vcc
  flat_load_dword v6, v[4:5]
  flat_store_dword v[2:3], v6
  s_endpgm
.section .rodata
.amdhsa_kernel behind
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 16
.amdhsa_next_free_vgpr 10
.amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
)",
                                                 lanewise::Isa::gcn, "behind")
                                      .kernel("behind");
  Words in(64), want(64);
  for (uint32_t i = 0; i < 64; ++i) in[i] = 100 + i;
  for (uint32_t i = 0; i < 60; ++i) want[i] = i % 2 != 0 ? in[i] : i < 3 ? 0 : in[i - 3];
  auto from = buffer(in);
  auto to = buffer(Words(64));
  const auto result = kernel.launch({.grid = {1}, .block = {64}}, from, to);
  CHECK(result.fault_count == 2);
  check_all(to.read<uint32_t>(), want);
}
