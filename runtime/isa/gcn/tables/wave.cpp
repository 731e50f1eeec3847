// Instructions between the lanes of a wave. GCN3 has most of them in the long encoding only, and
// the two permutes of any lane to any lane are new there.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {

void wave_rows(TableBuilder& t) {
  using E = Encoding;
  using S = Slot;
  const std::vector<SlotSpec> reads = {{S::sdst}, {S::src0}, {S::ssrc1}};
  const std::vector<SlotSpec> writes = {{S::vdst}, {S::ssrc0}, {S::ssrc1}};
  t.kind(Kind::across, "v_readlane_b32", E::vop2, {1, -1}, reads, lower_readlane);
  t.kind(Kind::across, "v_readlane_b32", E::vop3, {-1, 649}, reads, lower_readlane);
  t.kind(Kind::across, "v_writelane_b32", E::vop2, {2, -1}, writes, lower_writelane);
  t.kind(Kind::across, "v_writelane_b32", E::vop3, {-1, 650}, writes, lower_writelane);

  const std::vector<SlotSpec> counts = {{S::vdst}, {S::src0}, {S::src1}};
  const char* names[] = {"v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32"};
  for (uint8_t upper = 0; upper < 2; ++upper) {
    Meaning half;
    half.count = upper;
    t.vop2(names[upper], {35 + upper, -1}, lower_mbcnt, half);
    t.row(names[upper], E::vop3, {-1, 652 + upper}, counts, lower_mbcnt, half);
  }

  Meaning swizzle;
  swizzle.swizzle = true;
  const std::vector<SlotSpec> permutes = {{S::vdst}, {S::ds_addr}, {S::data0}};
  t.kind(Kind::across, "ds_swizzle_b32", E::ds, {53, 61}, {{S::vdst}, {S::ds_addr}}, lower_swizzle,
         swizzle);
  t.kind(Kind::across, "ds_permute_b32", E::ds, {-1, 62}, permutes, lower_permute);
  t.kind(Kind::across, "ds_bpermute_b32", E::ds, {-1, 63}, permutes, lower_bpermute);
}

}  // namespace lanewise::gcn
