// Instructions between the lanes of a wave. GCN3 has most of them in the long encoding only, and
// the two permutes of any lane to any lane are new there.
#include "runtime/isa/gcn/table_builder.hpp"

namespace lanewise::gcn {

void wave_rows(TableBuilder& t) {
  using E = Encoding;
  using S = Slot;
  const std::vector<SlotSpec> reads = {{S::sdst}, {S::src0}, {S::ssrc1}};
  const std::vector<SlotSpec> writes = {{S::vdst}, {S::ssrc0}, {S::ssrc1}};
  t.row("v_readlane_b32", E::vop2, 1, -1, reads, lower_readlane);
  t.row("v_readlane_b32", E::vop3, -1, 649, reads, lower_readlane);
  t.row("v_writelane_b32", E::vop2, 2, -1, writes, lower_writelane);
  t.row("v_writelane_b32", E::vop3, -1, 650, writes, lower_writelane);

  Meaning half;
  const std::vector<SlotSpec> counts = {{S::vdst}, {S::src0}, {S::src1}};
  for (const char* name : {"v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32"}) {
    half.count = name[8] == 'h' ? 1 : 0;
    t.vop2(name, 35 + half.count, lower_mbcnt, half);
    t.row(name, E::vop3, -1, 652 + half.count, counts, lower_mbcnt, half);
  }

  const std::vector<SlotSpec> permutes = {{S::vdst}, {S::ds_addr}, {S::data0}};
  t.row("ds_swizzle_b32", E::ds, 53, 61, {{S::vdst}, {S::ds_addr}}, lower_swizzle);
  t.row("ds_permute_b32", E::ds, -1, 62, permutes, lower_permute);
  t.row("ds_bpermute_b32", E::ds, -1, 63, permutes, lower_bpermute);
}

}  // namespace lanewise::gcn
