// Each hazard as a program that has it, and its corrected twin that has not.
#include "tests/unit/cache/pairs.hpp"

namespace lanewise::cache {
namespace {

const Pair kPairs[] = {
    // H1
    {"polling with a cached load", kSass, "gm204", "H1e",
     [](Stream& s) { s.op(2, "LDG.E", kFlag).op(0, "STG.E", kFlag).op(2, "LDG.E", kFlag); },
     [](Stream& s) { s.op(2, "LDG.E.CG", kFlag).op(0, "STG.E", kFlag).op(2, "LDG.E.CG", kFlag); }},
    {"volatile poll", kSass, "gm204", "H1e",
     [](Stream& s) { s.op(2, "LDG.E", kFlag).op(0, "STG.E", kFlag).op(2, "LDG.E", kFlag); },
     [](Stream& s) { s.op(2, "LDG.E", kFlag).op(0, "STG.E", kFlag).op(2, "LDG.E.CV", kFlag); }},
    {"data behind a flag, no invalidation", kSass, "gm204", "H1e",
     [](Stream& s) {
       s.op(1, "LDG.E", kWarp).op(0, "STG.E", kWarp).op(0, "STG.E", {kB});
       s.op(1, "LDG.E.CG", {kB}).op(1, "LDG.E", kWarp);
     },
     [](Stream& s) {
       s.op(1, "LDG.E", kWarp).op(0, "STG.E", kWarp).op(0, "STG.E", {kB});
       s.op(1, "LDG.E.CG", {kB}).op(1, "CCTL.IVALL").op(1, "LDG.E", kWarp);
     }},
    {"fence without the invalidation", kSass, "gm204", "H1e",
     [](Stream& s) {
       s.op(1, "LDG.E", kFlag).op(0, "STG.E", kFlag).op(1, "MEMBAR.GL").op(1, "LDG.E", kFlag);
     },
     [](Stream& s) {
       s.op(1, "LDG.E", kFlag).op(0, "STG.E", kFlag);
       s.op(1, "MEMBAR.GL.IVALLD").op(1, "LDG.E", kFlag);
     }},
    {"one line instead of all", kSass, "gm204", "H1e",
     [](Stream& s) {
       s.op(1, "LDG.E", kFlag).op(1, "LDG.E", {kB}).op(0, "STG.E", kFlag);
       s.op(1, "CCTL.E.IV [R2]", {kB}).op(1, "LDG.E", kFlag);
     },
     [](Stream& s) {
       s.op(1, "LDG.E", kFlag).op(1, "LDG.E", {kB}).op(0, "STG.E", kFlag);
       s.op(1, "CCTL.E.IV [R2]", kFlag).op(1, "LDG.E", kFlag);
     }},
    {"ptx weak load after another SM's store", kPtx, "ga100", "H1e",
     [](Stream& s) {
       s.op(5, "ld.global.u32", kFlag).op(3, "st.global.u32", kFlag).op(5, "ld.global.u32", kFlag);
     },
     [](Stream& s) {
       s.op(5, "ld.global.u32", kFlag).op(3, "st.global.u32", kFlag);
       s.op(5, "ld.relaxed.gpu.global.u32", kFlag);
     }},
    {"ptx acquire cures", kPtx, "gh100", "H1e",
     [](Stream& s) {
       s.op(9, "ld.global.v4.u32", {kA, 32, 16}).op(3, "st.global.v4.u32", {kA, 32, 16});
       s.op(9, "ld.relaxed.gpu.global.u32", {kB}).op(9, "ld.global.v4.u32", {kA, 32, 16});
     },
     [](Stream& s) {
       s.op(9, "ld.global.v4.u32", {kA, 32, 16}).op(3, "st.global.v4.u32", {kA, 32, 16});
       s.op(9, "ld.acquire.gpu.global.u32", {kB}).op(9, "ld.global.v4.u32", {kA, 32, 16});
     }},
    {"atomic result, cached read", kPtx, "infinite", "H1e",
     [](Stream& s) {
       s.op(1, "ld.global.u32", kFlag).op(0, "atom.global.add.u32", kFlag);
       s.op(1, "ld.global.u32", kFlag);
     },
     [](Stream& s) {
       s.op(1, "ld.global.u32", kFlag).op(0, "atom.global.add.u32", kFlag);
       s.op(1, "fence.acq_rel.gpu").op(1, "ld.global.u32", kFlag);
     }},
    {"other bytes of the sector are no hazard", kPtx, "infinite", "H1e",
     [](Stream& s) {
       s.op(1, "ld.global.u32", {kA}).op(0, "st.global.u32", {kA}).op(1, "ld.global.u32", {kA});
     },
     [](Stream& s) {
       s.op(1, "ld.global.u32", {kA}).op(0, "st.global.u32", {kA + 4});
       s.op(1, "ld.global.u32", {kA});
     }},
    {"gcn: no glc", kGcn, "tahiti", "H1e",
     [](Stream& s) {
       s.op(1, "buffer_load_dword", kFlag).op(0, "buffer_store_dword", kFlag);
       s.op(1, "buffer_load_dword", kFlag);
     },
     [](Stream& s) {
       s.op(1, "buffer_load_dword", kFlag).op(0, "buffer_store_dword", kFlag);
       s.op(1, "buffer_load_dword v0, v1, s[0:3], 0 offen glc", kFlag);
     }},
    {"gcn: no wbinvl1", kGcn, "fiji", "H1e",
     [](Stream& s) {
       s.op(1, "flat_load_dwordx2", {kA, 64, 8}).op(0, "flat_store_dwordx2", {kA, 64, 8});
       s.op(1, "flat_load_dwordx2", {kA, 64, 8});
     },
     [](Stream& s) {
       s.op(1, "flat_load_dwordx2", {kA, 64, 8}).op(0, "flat_store_dwordx2", {kA, 64, 8});
       s.op(1, "buffer_wbinvl1_vol").op(1, "flat_load_dwordx2", {kA, 64, 8});
     }},
    {"host memory cached in L2", kPtx, "gh100", "H1e",
     [](Stream& s) {
       s.buffer({"mailbox", kC, 4096, true, false}).op(1, "ld.global.cg.u32", {kC});
       s.host_write(kC, 4).op(1, "ld.global.cg.u32", {kC});
     },
     [](Stream& s) {
       s.buffer({"mailbox", kC, 4096, true, false}).op(1, "ld.global.cg.u32", {kC});
       s.host_write(kC, 4).op(1, "ld.global.cv.u32", {kC});
     }},
    {"stale within one kernel, not across", kPtx, "infinite", "H1e",
     [](Stream& s) {
       s.op(1, "ld.global.u32", kFlag).op(0, "st.global.u32", kFlag).op(1, "ld.global.u32", kFlag);
     },
     [](Stream& s) {
       s.op(1, "ld.global.u32", kFlag).op(0, "st.global.u32", kFlag).next_kernel();
       s.op(1, "ld.global.u32", kFlag);
     }},
    // H2
    {"reset of a dirty local line", kSass, "sm50-spec", "H2w",
     [](Stream& s) { s.op(0, "STL", kStack).op(0, "CCTLL.RS [R2]", kStack); },
     [](Stream& s) {
       s.op(0, "STL", kStack).op(0, "CCTLL.WB [R2]", kStack).op(0, "CCTLL.RS [R2]", kStack);
     }},
    {"reset, then read", kSass, "sm50-spec", "H2e",
     [](Stream& s) { s.op(0, "STL", kStack).op(0, "CCTLL.RS [R2]", kStack).op(0, "LDL", kStack); },
     [](Stream& s) { s.op(0, "STL", kStack).op(0, "CCTLL.IV [R2]", kStack).op(0, "LDL", kStack); }},
    {"scalar stores never written back", kGcn, "fiji", "H2w",
     [](Stream& s) { s.op(0, "s_store_dword", kFlag).op(0, "s_dcache_inv"); },
     [](Stream& s) { s.op(0, "s_store_dword", kFlag).op(0, "s_dcache_wb").op(0, "s_dcache_inv"); }},
    {"scalar stores lost, then read", kGcn, "fiji", "H2e",
     [](Stream& s) {
       s.op(0, "s_store_dword", kFlag).op(0, "s_dcache_inv").op(0, "s_load_dword", kFlag);
     },
     [](Stream& s) {
       s.op(0, "s_store_dword", kFlag).op(0, "s_dcache_wb").op(0, "s_dcache_inv");
       s.op(0, "s_load_dword", kFlag);
     }},
    // H3
    {"ldg of data that another SM changes", kSass, "sm50-silicon", "H3e H3w",
     [](Stream& s) { s.op(1, "LDG.E.CI", kFlag).op(0, "STG.E", kFlag).op(1, "LDG.E.CI", kFlag); },
     [](Stream& s) { s.op(1, "LDG.E", kFlag).op(0, "STG.E", kFlag).op(1, "LDG.E", kFlag); }},
    {"nc load of data written in the same kernel", kPtx, "ga100", "H3w",
     [](Stream& s) {
       s.op(0, "ld.global.nc.u32", {kB}).op(0, "st.global.u32", kFlag);
       s.op(0, "ld.global.nc.u32", kFlag);
     },
     [](Stream& s) {
       s.op(0, "st.global.u32", kFlag).next_kernel().op(0, "ld.global.nc.u32", kFlag);
     }},
    {"nc data overwritten later", kPtx, "ga100", "H3w",
     [](Stream& s) { s.op(0, "ld.global.nc.u32", kFlag).op(0, "st.global.u32", kFlag); },
     [](Stream& s) { s.op(0, "ld.global.nc.u32", kFlag).op(0, "st.global.u32", {kA + 4}); }},
    // H4
    {"no_allocate hits an older line", kPtx, "ga100", "H4e",
     [](Stream& s) {
       s.op(1, "ld.global.u32", kFlag).op(0, "st.global.u32", kFlag);
       s.op(1, "ld.global.L1::no_allocate.u32", kFlag);
     },
     [](Stream& s) {
       s.op(1, "ld.global.L1::no_allocate.u32", kFlag).op(0, "st.global.u32", kFlag);
       s.op(1, "ld.global.L1::no_allocate.u32", kFlag);
     }},
    {"no_allocate in SASS", kSass, "gv100", "H4e",
     [](Stream& s) { s.op(1, "LDG.E", kFlag).op(0, "STG.E", kFlag).op(1, "LDG.E.NA", kFlag); },
     [](Stream& s) {
       s.op(1, "LDG.E", kFlag).op(0, "STG.E", kFlag).op(1, "CCTL.IVALL").op(1, "LDG.E.NA", kFlag);
     }},
    // H5
    {"fence.cta between SMs", kPtx, "infinite", "H5e",
     [](Stream& s) {
       s.op(1, "ld.global.u32", kFlag).op(0, "st.global.u32", kFlag);
       s.op(1, "fence.acq_rel.cta").op(1, "ld.global.u32", kFlag);
     },
     [](Stream& s) {
       s.op(1, "ld.global.u32", kFlag).op(0, "st.global.u32", kFlag);
       s.op(1, "fence.acq_rel.gpu").op(1, "ld.global.u32", kFlag);
     }},
    {"relaxed.cta across SMs", kPtx, "infinite", "H5e",
     [](Stream& s) {
       s.op(1, "ld.relaxed.cta.global.u32", kFlag).op(0, "st.relaxed.cta.global.u32", kFlag);
       s.op(1, "ld.relaxed.cta.global.u32", kFlag);
     },
     [](Stream& s) {
       s.op(1, "ld.relaxed.gpu.global.u32", kFlag).op(0, "st.relaxed.gpu.global.u32", kFlag);
       s.op(1, "ld.relaxed.gpu.global.u32", kFlag);
     }},
    {"membar.cta on Maxwell", kSass, "gm204", "H5e",
     [](Stream& s) {
       s.op(1, "LDG.E", kFlag).op(0, "STG.E", kFlag).op(1, "MEMBAR.CTA").op(1, "LDG.E", kFlag);
     },
     [](Stream& s) {
       s.op(1, "LDG.E", kFlag).op(1, "STG.E", kFlag).op(1, "MEMBAR.CTA").op(1, "LDG.E", kFlag);
     }},
    // H6
    {"read after discard", kPtx, "ga100", "H6e",
     [](Stream& s) {
       s.op(0, "st.global.u32", kWarp).op(0, "discard.global.L2", kFlag);
       s.op(0, "ld.global.u32", kFlag);
     },
     [](Stream& s) {
       s.op(0, "st.global.u32", kWarp).op(0, "discard.global.L2", kFlag);
       s.op(0, "st.global.u32", kFlag).op(0, "ld.global.u32", kFlag);
     }},
    {"copied to the host after discard", kPtx, "ga100", "H6e",
     [](Stream& s) { s.op(0, "discard.global.L2", kFlag).end().host_read(kA, 4); },
     [](Stream& s) { s.op(0, "discard.global.L2", kFlag).end().host_read(kB, 4); }},
    {"never written", kPtx, "ga100", "H6e",
     [](Stream& s) {
       s.buffer({"tmp", kC, 4096, false, true}).op(0, "st.global.u32", {kC, 31});
       s.op(1, "ld.relaxed.gpu.global.u32", {kC, 32});
     },
     [](Stream& s) {
       s.buffer({"tmp", kC, 4096, false, true}).op(0, "st.global.u32", {kC, 32});
       s.op(1, "ld.relaxed.gpu.global.u32", {kC, 32});
     }},
    // H7
    {"lu, then read again", kPtx, "sm50-spec", "H7w",
     [](Stream& s) {
       s.op(0, "st.local.u32", kStack).op(0, "ld.local.lu.u32", kStack);
       s.op(0, "ld.local.u32", kStack);
     },
     [](Stream& s) {
       s.op(0, "st.local.u32", kStack).op(0, "ld.local.u32", kStack);
       s.op(0, "ld.local.lu.u32", kStack);
     }},
    {"lu, store, read", kPtx, "sm50-spec", "H7w",
     [](Stream& s) {
       s.op(0, "st.local.u32", kStack).op(0, "ld.local.lu.u32", kStack);
       s.op(0, "ld.local.u32", kStack);
     },
     [](Stream& s) {
       s.op(0, "st.local.u32", kStack).op(0, "ld.local.lu.u32", kStack);
       s.op(0, "st.local.u32", kStack).op(0, "ld.local.u32", kStack);
     }},
    // H8
    {"a set full of evict_last", kPtx, "tiny", "H8a",
     [](Stream& s) {
       for (uint64_t i = 0; i < 5; ++i)
         s.op(0,
              hinted("ld.global.L2::cache_hint.u32",
                     fractional_policy(Class::last, Class::unchanged, 1.0)),
              {kA + i * 128});
     },
     [](Stream& s) {
       for (uint64_t i = 0; i < 4; ++i)
         s.op(0,
              hinted("ld.global.L2::cache_hint.u32",
                     fractional_policy(Class::last, Class::unchanged, 1.0)),
              {kA + i * 128});
       s.op(0, "ld.global.u32", {kA});
     }},
    {"evict_first on data that is used again", kPtx, "tiny", "H8a",
     [](Stream& s) {
       s.op(0, "ld.global.cs.u32", {kA});
       for (uint64_t i = 1; i < 5; ++i) s.op(0, "ld.global.u32", {kA + i * 128});
       s.op(0, "ld.global.cs.u32", {kA});
     },
     [](Stream& s) {
       s.op(0, "ld.global.cs.u32", {kA});
       for (uint64_t i = 1; i < 5; ++i) s.op(0, "ld.global.u32", {kA + i * 128});
       s.op(0, "ld.global.u32", {kA + 4 * 128});
     }},
    // H9
    {"bytes scattered over sectors", kPtx, "tiny", "H9a",
     [](Stream& s) {
       for (uint64_t i = 0; i < 80; ++i) s.op(0, "st.global.u8", {kA + i * 128});
       s.op(0, "st.global.u8", {kA, 1});
     },
     [](Stream& s) {
       for (uint64_t i = 0; i < 80; ++i) s.op(0, "st.global.u8", {kA + i * 128, 32, 1});
     }},
    // H10
    {"hint on local memory", kPtx, "ga100", "H10w",
     [](Stream& s) {
       s.op(0,
            hinted("ld.local.L2::cache_hint.u32", fractional_policy(Class::last, Class::first, 1)),
            kStack);
     },
     [](Stream& s) {
       s.op(0,
            hinted("ld.global.L2::cache_hint.u32", fractional_policy(Class::last, Class::first, 1)),
            kWarp);
     }},
    {"a policy word nobody made", kPtx, "ga100", "H10w",
     [](Stream& s) { s.op(0, hinted("ld.global.L2::cache_hint.u32", 0x1234), kWarp); },
     [](Stream& s) { s.op(0, hinted("ld.global.L2::cache_hint.u32", 0), kWarp); }},
    {"unaligned discard", kPtx, "ga100", "H10w",
     [](Stream& s) { s.op(0, "discard.global.L2", {kA + 64}); },
     [](Stream& s) { s.op(0, "discard.global.L2", {kA + 128}); }},
    {"L2 priority on a narrow store", kPtx, "gh100", "H10w",
     [](Stream& s) { s.op(0, "st.global.L2::evict_last.u32", kWarp); },
     [](Stream& s) {
       s.op(0, "st.global.L2::evict_last.v8.b32", {kA, 32, 32});
     }},
    // H11
    {"write back of a clean line", kSass, "sm50-spec", "H11a",
     [](Stream& s) { s.op(0, "LDL", kStack).op(0, "CCTLL.WB [R2]", kStack); },
     [](Stream& s) { s.op(0, "STL", kStack).op(0, "CCTLL.WB [R2]", kStack).op(0, "LDL", kStack); }},
    {"invalidation of an empty cache", kSass, "gm204", "H11a",
     [](Stream& s) { s.op(0, "CCTL.IVALL"); },
     [](Stream& s) { s.op(0, "LDG.E", kWarp).op(0, "CCTL.IVALL"); }},
    {"prefetch never used", kPtx, "ga100", "H11a",
     [](Stream& s) { s.op(0, "prefetch.global.L1", kFlag).op(0, "ld.global.u32", {kB}).end(); },
     [](Stream& s) { s.op(0, "prefetch.global.L1", kFlag).op(0, "ld.global.u32", {kA}).end(); }},
    {"prefetch of what is there", kPtx, "ga100", "H11a",
     [](Stream& s) { s.op(0, "ld.global.u32", kWarp).op(0, "prefetch.global.L1", kFlag); },
     [](Stream& s) { s.op(0, "prefetch.global.L1", kFlag).op(0, "ld.global.u32", kWarp); }},
    {"scalar write back with nothing dirty", kGcn, "fiji", "H11a",
     [](Stream& s) { s.op(0, "s_load_dword", kFlag).op(0, "s_dcache_wb"); },
     [](Stream& s) { s.op(0, "s_store_dword", kFlag).op(0, "s_dcache_wb"); }},
    // H12
    {"IVALL with an address", kSass, "gm204", "H12e",
     [](Stream& s) { s.op(0, "LDG.E").op(0, "CCTL.IVALL [R2]"); },
     [](Stream& s) { s.op(0, "LDG.E").op(0, "CCTL.IVALL [RZ]"); }},
    {"IVALL with .E", kSass, "gm204", "H12e",
     [](Stream& s) { s.op(0, "LDG.E").op(0, "CCTL.E.IVALL"); },
     [](Stream& s) { s.op(0, "LDG.E").op(0, "CCTL.D.IVALL"); }},
    {"constant IVALL with a scoreboard", kSass, "gm204", "H12e",
     [](Stream& s) { s.op(0, "LDC", {0x100}).op(0, "CCTL.C.IVALL &rd=0"); },
     [](Stream& s) { s.op(0, "LDC", {0x100}).op(0, "CCTL.C.IVALL &req=1"); }},
    {"instruction IVALL without the wait", kSass, "gm204", "H12e",
     [](Stream& s) { s.op(0, "CCTL.I.IVALL ?WAIT4"); },
     [](Stream& s) {
       trace::Site f = trace::sass_site("NOP");
       f.kind = trace::OpKind::fetch;
       f.space = trace::Space::instruction;
       s.op(0, f, {kB}).op(0, "CCTL.I.IVALL ?WAIT5");
     }},
    {"QRY1", kSass, "gm204", "H12e", [](Stream& s) { s.op(0, "CCTL.QRY1 [R2]"); },
     [](Stream& s) { s.op(0, "CCTL.PF2 [R2]").op(0, "LDG.E"); }},
    {"CRS outside WBALL", kSass, "gm204", "H12e", [](Stream& s) { s.op(0, "CCTL.CRS.IVALL"); },
     [](Stream& s) { s.op(0, "LDG.E").op(0, "CCTL.IVALL"); }},
    {"prefetch into the constant cache", kSass, "gm204", "H12e",
     [](Stream& s) { s.op(0, "CCTL.C.PF1 [R2]"); },
     [](Stream& s) { s.op(0, "CCTL.D.PF1 [R2]").op(0, "LDG.E"); }},
    // H13
    {"call stack left in L1", kSass, "sm50-spec", "H13w",
     [](Stream& s) {
       trace::Site push = trace::sass_site("ST");
       push.space = trace::Space::crs;
       s.op(0, push, {kLocalBase}).op(0, "CCTLL.CRS.WBALL").end();
     },
     [](Stream& s) {
       trace::Site push = trace::sass_site("ST");
       push.space = trace::Space::crs;
       s.op(0, push, {kLocalBase}).op(0, "CCTLL.CRS.WBALL").op(0, "CCTLL.IVALL").end();
     }},
    {"store after the write back", kSass, "sm50-spec", "H13w",
     [](Stream& s) {
       s.op(0, "STL", kStack).op(0, "CCTLL.WB [R2]", kStack).op(0, "STL", kStack).end();
     },
     [](Stream& s) {
       s.op(0, "STL", kStack).op(0, "STL", kStack).op(0, "CCTLL.WB [R2]", kStack).end();
     }},
    // H14
    {"two SMs in one sector", kPtx, "ga100", "H14a",
     [](Stream& s) {
       for (unsigned i = 0; i < 12; ++i) s.op(i % 2, "st.global.u32", {kA + 4 * (i % 2)});
     },
     [](Stream& s) {
       for (unsigned i = 0; i < 12; ++i) s.op(i % 2, "st.global.u32", {kA + 128 * (i % 2)});
     }},
    // H15
    {"constant changed under the cache", kSass, "gm204", "H15e",
     [](Stream& s) { s.op(1, "LDC", kFlag).op(0, "STG.E", kFlag).op(1, "LDC", kFlag); },
     [](Stream& s) {
       s.op(1, "LDC", kFlag).op(0, "STG.E", kFlag).op(1, "CCTL.C.IVALL").op(1, "LDC", {kB});
     }},
    {"code changed under the cache", kGcn, "fiji", "H15e",
     [](Stream& s) {
       trace::Site f = trace::gcn_site("s_nop 0");
       f.kind = trace::OpKind::fetch;
       f.space = trace::Space::instruction;
       s.op(0, f, kFlag).op(0, "flat_store_dword", kFlag).op(0, f, kFlag);
     },
     [](Stream& s) {
       trace::Site f = trace::gcn_site("s_nop 0");
       f.kind = trace::OpKind::fetch;
       f.space = trace::Space::instruction;
       s.op(0, f, kFlag).op(0, "flat_store_dword", kFlag).op(0, "s_icache_inv").op(0, f, kFlag);
     }},
    // H16
    {"scalar load of a vector store's bytes", kGcn, "tahiti", "H16e",
     [](Stream& s) {
       s.op(0, "s_load_dword", kFlag)
           .op(0, "buffer_store_dword", kFlag)
           .op(0, "s_load_dword", kFlag);
     },
     [](Stream& s) {
       s.op(0, "s_load_dword", kFlag).op(0, "buffer_store_dword", kFlag).op(0, "s_dcache_inv");
       s.op(0, "s_load_dword", kFlag);
     }},
    {"scalar line, other CU writes", kGcn, "hawaii", "H16e",
     [](Stream& s) {
       s.op(8, "s_buffer_load_dwordx4", kFlag).op(0, "buffer_store_dwordx4", kFlag);
       s.op(8, "s_buffer_load_dwordx4", kFlag);
     },
     [](Stream& s) {
       s.op(8, "s_buffer_load_dwordx4", kFlag).op(0, "buffer_store_dwordx4", {kA + 16});
       s.op(8, "s_buffer_load_dwordx4", kFlag);
     }},
    // H17
    {"CCTL.D in the shared window", kSass, "gm204", "H17w",
     [](Stream& s) { s.op(0, "CCTL.E.IV [R2]", {0x0100'0040}); },
     [](Stream& s) { s.op(0, "LDG.E", kFlag).op(0, "CCTL.E.IV [R2]", kFlag); }},
    {"CCTL.D in the local window", kSass, "sm50-spec", "H17w",
     [](Stream& s) {
       s.op(0, "STL", kStack).op(0, "CCTL.E.WB [R2]", {0x0200'0040, 32, 0});
     },
     [](Stream& s) { s.op(0, "STL", kStack).op(0, "CCTLL.WB [R2]", kStack); }},
    // H18
    {"volatile load emitted as plain", kPtx, "infinite", "H18e",
     [](Stream& s) {
       s.op(0, emitted(kPtx, "ld.volatile.global.u32", trace::Emitted::plain), kFlag);
     },
     [](Stream& s) {
       s.op(0, emitted(kPtx, "ld.volatile.global.u32", trace::Emitted::atomic), kFlag);
     }},
    {"glc load emitted as Volatile", kGcn, "fiji", "H18e",
     [](Stream& s) {
       s.op(0, emitted(kGcn, "buffer_load_dword v0 glc", trace::Emitted::volatile_), kFlag);
     },
     [](Stream& s) {
       s.op(0, emitted(kGcn, "buffer_load_dword v0", trace::Emitted::volatile_), kFlag);
     }},
};

}  // namespace

std::span<const Pair> first_pairs() {
  return kPairs;
}

}  // namespace lanewise::cache
