// Rows of calls, hardware registers, messages and what the hardware does beside computing.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {

using E = Encoding;
using S = Slot;

namespace {

const std::vector<SlotSpec> kNumber = {{S::simm16}};

void address_rows(TableBuilder& t) {
  t.kind(Kind::address, "s_getpc_b64", E::sop1, {31, 28}, {{S::sdst, 2}}, lower_nothing);
  t.kind(Kind::jump, "s_setpc_b64", E::sop1, {32, 29}, {{S::ssrc0, 2}}, lower_nothing);
  t.kind(Kind::call, "s_swappc_b64", E::sop1, {33, 30}, {{S::sdst, 2}, {S::ssrc0, 2}},
         lower_nothing);
}

void register_rows(TableBuilder& t) {
  t.kind(Kind::mode, "s_getreg_b32", E::sopk, {18, 17}, {{S::sdst}, {S::hwreg}}, lower_getreg, {},
         kReadsMode);
  t.kind(Kind::mode, "s_setreg_b32", E::sopk, {19, 18}, {{S::hwreg}, {S::ksrc}}, lower_setreg, {},
         kWritesMode | kReadsMode);
  t.kind(Kind::mode, "s_setreg_imm32_b32", E::sopk, {21, 20}, {{S::hwreg}, {S::literal}},
         lower_setreg, {}, kWritesMode | kReadsMode);
}

void clock_rows(TableBuilder& t) {
  t.kind(Kind::clock, "s_memtime", E::smrd, {30, 36}, {{S::sdst, 2}}, lower_clock,
         op(Op::sreg, Type::u64));
  Meaning real = op(Op::sreg, Type::u64);
  real.count = 2;
  t.kind(Kind::clock, "s_memrealtime", E::smrd, {-1, 37}, {{S::sdst, 2}}, lower_clock, real);
}

/// Nothing that a program can see: times, priorities, counters.
void quiet_rows(TableBuilder& t) {
  for (const auto& [name, code] : {std::pair{"s_sleep", 14},
                                   {"s_setprio", 15},
                                   {"s_incperflevel", 20},
                                   {"s_decperflevel", 21}})
    t.kind(Kind::nothing, name, E::sopp, code, kNumber, lower_nothing);
  t.kind(Kind::nothing, "s_icache_inv", E::sopp, 19, {}, lower_nothing);
  t.kind(Kind::nothing, "s_ttracedata", E::sopp, 22, {}, lower_nothing);
  t.kind(Kind::nothing, "s_wakeup", E::sopp, {-1, 3}, {}, lower_nothing);
  t.kind(Kind::cache, "s_dcache_wb_vol", E::smrd, {-1, 35}, {}, lower_invalidate);
  // Looks an address up and loads nothing.
  t.kind(Kind::nothing, "s_atc_probe", E::smrd, {-1, 38}, {{S::probe}, {S::sbase, 2}, {S::soff}},
         lower_nothing);
  t.kind(Kind::nothing, "s_atc_probe_buffer", E::smrd, {-1, 39},
         {{S::probe}, {S::sbase, 4}, {S::soff}}, lower_nothing);
  t.kind(Kind::nothing, "v_nop", E::vop1, 0, {}, lower_nothing);
  t.kind(Kind::nothing, "v_nop", E::vop3, {384, 320}, {}, lower_nothing).e64 = true;
  t.kind(Kind::nothing, "v_clrexcp", E::vop1, {65, 53}, {}, lower_nothing);
  t.kind(Kind::nothing, "v_clrexcp", E::vop3, {449, 373}, {}, lower_nothing).e64 = true;
}

void trap_rows(TableBuilder& t) {
  t.kind(Kind::trap, "s_trap", E::sopp, 18, kNumber, lower_trap);
  Meaning halt;
  halt.count = 1;
  t.kind(Kind::trap, "s_sethalt", E::sopp, 13, kNumber, lower_trap, halt);
}

/// Each writes a part of M0, or bit 27 of MODE, and leaves the rest.
void index_mode_rows(TableBuilder& t) {
  const uint16_t m0 = kReadsM0 | kWritesM0;
  Meaning on, off;
  on.indexing = Indexing::enters;
  off.indexing = Indexing::leaves;
  t.row("s_set_gpr_idx_on", E::sopc, {-1, 17}, {{S::ssrc0}, {S::gpr_idx}}, lower_index_mode, on,
        m0 | kWritesMode);
  t.row("s_set_gpr_idx_off", E::sopp, {-1, 28}, {}, lower_index_mode, off, kWritesMode);
  t.row("s_set_gpr_idx_mode", E::sopp, {-1, 29}, {{S::gpr_idx}}, lower_index_mode, {}, m0);
  t.row("s_set_gpr_idx_idx", E::sop1, {-1, 50}, {{S::ssrc0}}, lower_index_mode, {}, m0);
}

void unexecuted_control(TableBuilder& t) {
  t.absent("s_setkill", E::sopp, 11, kNumber);
  t.absent("s_sendmsg", E::sopp, 16, {{S::message}}, kReadsM0 | kSendsMessage);
  t.absent("s_sendmsghalt", E::sopp, 17, {{S::message}}, kReadsM0);
  t.absent("s_cbranch_cdbgsys", E::sopp, 23, {{S::label}});
  t.absent("s_cbranch_cdbguser", E::sopp, 24, {{S::label}});
  t.absent("s_cbranch_cdbgsys_or_user", E::sopp, 25, {{S::label}});
  t.absent("s_cbranch_cdbgsys_and_user", E::sopp, 26, {{S::label}});
  t.absent("s_endpgm_saved", E::sopp, {-1, 27}, {});
  t.absent("s_rfe_b64", E::sop1, {34, 31}, {{S::ssrc0, 2}});
  t.absent("s_rfe_restore_b64", E::sop2, {-1, 43}, {{S::ssrc0, 2}, {S::ssrc1}});
  t.absent("s_cbranch_join", E::sop1, {50, 46}, {{S::ssrc0}});
  t.absent("s_cbranch_g_fork", E::sop2, {43, 41}, {{S::ssrc0, 2}, {S::ssrc1, 2}});
  t.absent("s_cbranch_i_fork", E::sopk, {17, 16}, {{S::ksrc, 2}, {S::label}});
  t.absent("s_setvskip", E::sopc, 16, {{S::ssrc0}, {S::ssrc1}});
}

}  // namespace

void more_control_rows(TableBuilder& t) {
  address_rows(t);
  register_rows(t);
  clock_rows(t);
  quiet_rows(t);
  trap_rows(t);
  index_mode_rows(t);
  unexecuted_control(t);
}

}  // namespace lanewise::gcn
