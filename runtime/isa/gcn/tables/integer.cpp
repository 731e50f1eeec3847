// Rows of integer vector instructions beyond everyday sums and shifts, and of the scalar ones.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

using E = Encoding;
using S = Slot;

const std::vector<SlotSpec> kTwo = {{S::vdst}, {S::src0}, {S::src1}};

Meaning counted(Meaning m, uint8_t count) {
  m.count = count;
  return m;
}

void bit_rows(TableBuilder& t) {
  t.vop1("v_ffbh_u32", {57, 45}, lower_v_first_bit, op(Op::clz));
  t.vop1("v_ffbl_b32", {58, 46}, lower_v_first_bit, op(Op::brev));
  t.vop1("v_ffbh_i32", {59, 47}, lower_v_first_bit, op(Op::clz, Type::s32));
  t.vop2("v_bfm_b32", {30, -1}, lower_v_mask, {});
  t.vop3("v_bfm_b32", {-1, 659}, kTwo, lower_v_mask);
  t.vop2("v_bcnt_u32_b32", {34, -1}, lower_v_count, {});
  t.vop3("v_bcnt_u32_b32", {-1, 651}, kTwo, lower_v_count);
  t.vop2("v_mul_hi_i32_i24", {10, 7}, lower_mulhi24, op(Op::mulhi, Type::s32));
  t.vop2("v_mul_hi_u32_u24", {12, 9}, lower_mulhi24, op(Op::mulhi));
  t.vop3("v_alignbyte_b32", {335, 463}, kThreeSources, lower_alignbyte);
  t.vop3("v_perm_b32", {-1, 493}, kThreeSources, lower_perm);
  t.vop3("v_lerp_u8", {333, 461}, kThreeSources, lower_lerp);
  const struct {
    const char* name;
    int code;
    Op op;
    Type type;
  } three[] = {{"v_min3_i32", 338, Op::min, Type::s32}, {"v_min3_u32", 339, Op::min, Type::u32},
               {"v_max3_i32", 341, Op::max, Type::s32}, {"v_max3_u32", 342, Op::max, Type::u32},
               {"v_med3_i32", 344, Op::mov, Type::s32}, {"v_med3_u32", 345, Op::mov, Type::u32}};
  for (const auto& r : three)
    t.vop3(r.name, {r.code, r.code + 127}, kThreeSources,
           r.op == Op::mov ? lower_v_median : lower_v_extremes, op(r.op, r.type));
}

/// Sums of differences: `count` is the width of a part in bits.
void difference_rows(TableBuilder& t) {
  t.vop3("v_sad_u8", {346, 473}, kThreeSources, lower_sad, counted({}, 8), kClampsInteger);
  t.vop3("v_sad_hi_u8", {347, 474}, kThreeSources, lower_sad, counted(op(Op::shl), 8),
         kClampsInteger);
  t.vop3("v_sad_u16", {348, 475}, kThreeSources, lower_sad, counted({}, 16), kClampsInteger);
  t.vop3("v_sad_u32", {349, 476}, kThreeSources, lower_sad, counted({}, 32), kClampsInteger);
  t.vop3("v_msad_u8", {369, 484}, kThreeSources, lower_sad, counted(op(Op::select), 8),
         kClampsInteger);
  const std::vector<SlotSpec> four = {{S::vdst, 2}, {S::src0, 2}, {S::src1}, {S::src2, 2}};
  t.vop3("v_qsad_pk_u16_u8", {-1, 370, 485}, four, lower_sad_wide, counted({}, 16), kClampsInteger);
  t.vop3("v_mqsad_pk_u16_u8", {371, 486}, four, lower_sad_wide, counted(op(Op::select), 16),
         kClampsInteger);
  t.vop3("v_mqsad_u32_u8", {-1, 373, 487}, {{S::vdst, 4}, {S::src0, 2}, {S::src1}, {S::src2, 4}},
         lower_sad_wide, counted(op(Op::select), 32), kClampsInteger);
}

void moving_rows(TableBuilder& t) {
  const auto moves = [](bool source, bool result) {
    Meaning m;
    m.moves_source = source;
    m.moves_result = result;
    return m;
  };
  const auto wide = [&](bool source, bool result) {
    Meaning m = moves(source, result);
    m.type = Type::u64;
    return m;
  };
  t.vop1("v_movreld_b32", {66, 54}, lower_movrel, moves(false, true), 1, 1, kReadsM0);
  t.vop1("v_movrels_b32", {67, 55}, lower_movrel, moves(true, false), 1, 1, kReadsM0);
  t.vop1("v_movrelsd_b32", {68, 56}, lower_movrel, moves(true, true), 1, 1, kReadsM0);
  t.sop1("s_movrels_b32", {46, 42}, 1, 1, lower_smovrel, moves(true, false), kReadsM0);
  t.sop1("s_movrels_b64", {47, 43}, 2, 2, lower_smovrel, wide(true, false), kReadsM0);
  t.sop1("s_movreld_b32", {48, 44}, 1, 1, lower_smovrel, moves(false, true), kReadsM0);
  t.sop1("s_movreld_b64", {49, 45}, 2, 2, lower_smovrel, wide(false, true), kReadsM0);
}

void narrow_rows(TableBuilder& t) {
  const struct {
    const char* name;
    int code;
    Op op;
    Type type;
  } rows[] = {{"v_max_u16", 47, Op::max, Type::u16},
              {"v_max_i16", 48, Op::max, Type::s16},
              {"v_min_u16", 49, Op::min, Type::u16},
              {"v_min_i16", 50, Op::min, Type::s16}};
  for (const auto& r : rows) t.vop2(r.name, {-1, r.code}, lower_v_integer, op(r.op, r.type));
  t.vop3("v_mad_u16", {-1, 491}, kThreeSources, lower_mad16, op(Op::mul, Type::u16),
         kClampsInteger);
  t.vop3("v_mad_i16", {-1, 492}, kThreeSources, lower_mad16, op(Op::mul, Type::s16),
         kClampsInteger);
}

void scalar_bits(TableBuilder& t) {
  const auto two = [](Op o) {
    Meaning m = op(o);
    m.invert_result = true;
    return m;
  };
  t.sop2("s_nand_b32", {24, 22}, 1, lower_slogic32, two(Op::and_), kWritesScc);
  t.sop2("s_nor_b32", {26, 24}, 1, lower_slogic32, two(Op::or_), kWritesScc);
  t.sop2("s_xnor_b32", {28, 26}, 1, lower_slogic32, two(Op::xor_), kWritesScc);
  const struct {
    const char* name;
    Codes codes;
    Op op;
    bool invert, invert_result;
  } saves[] = {{"s_orn2_saveexec_b64", {40, 36}, Op::or_, true, false},
               {"s_nand_saveexec_b64", {41, 37}, Op::and_, false, true},
               {"s_nor_saveexec_b64", {42, 38}, Op::or_, false, true},
               {"s_xnor_saveexec_b64", {43, 39}, Op::xor_, false, true}};
  for (const auto& s : saves) {
    Meaning m = op(s.op);
    m.invert = s.invert;
    m.invert_result = s.invert_result;
    t.sop1(s.name, s.codes, 2, 2, lower_saveexec, m,
           kWritesScc | kWritesExec | kReadsExec | kMaskLogic);
  }
  t.sop1("s_cmov_b32", {5, 2}, 1, 1, lower_scmov, {}, kReadsScc | kReadsDst);
  t.sop1("s_cmov_b64", {6, 3}, 2, 2, lower_scmov, {}, kReadsScc | kReadsDst);
  t.row("s_cmovk_i32", E::sopk, {2, 1}, {{S::sdst}, {S::simm16}}, lower_scmov, {},
        kReadsScc | kReadsDst);
  t.sop1("s_wqm_b32", {9, 6}, 1, 1, lower_squads, op(Op::or_), kWritesScc);
  t.sop1("s_wqm_b64", {10, 7}, 2, 2, lower_squads, op(Op::or_, Type::u64), kWritesScc);
  t.sop1("s_quadmask_b32", {44, 40}, 1, 1, lower_squads, op(Op::mov), kWritesScc);
  t.sop1("s_quadmask_b64", {45, 41}, 2, 2, lower_squads, op(Op::mov, Type::u64), kWritesScc);
  t.sop1("s_brev_b64", {12, 9}, 2, 2, lower_sbits, op(Op::brev, Type::u64));
  t.sop1("s_bcnt0_i32_b32", {13, 10}, 1, 1, lower_sbits, inverted(op(Op::popc)), kWritesScc);
  t.sop1("s_bcnt0_i32_b64", {14, 11}, 1, 2, lower_sbits, inverted(op(Op::popc, Type::u64)),
         kWritesScc);
  t.sop1("s_sext_i32_i8", {25, 22}, 1, 1, lower_sbits, op(Op::sext8));
  t.sop1("s_sext_i32_i16", {26, 23}, 1, 1, lower_sbits, op(Op::sext16));
  t.sop1("s_ff0_i32_b32", {17, 14}, 1, 1, lower_sfirst_bit, inverted(op(Op::brev)));
  t.sop1("s_ff0_i32_b64", {18, 15}, 1, 2, lower_sfirst_bit, inverted(op(Op::brev, Type::u64)));
  t.sop1("s_ff1_i32_b32", {19, 16}, 1, 1, lower_sfirst_bit, op(Op::brev));
  t.sop1("s_flbit_i32_b32", {21, 18}, 1, 1, lower_sfirst_bit, op(Op::clz));
  t.sop1("s_flbit_i32_b64", {22, 19}, 1, 2, lower_sfirst_bit, op(Op::clz, Type::u64));
  t.sop1("s_flbit_i32", {23, 20}, 1, 1, lower_sfirst_bit, op(Op::clz, Type::s32));
  t.sop1("s_flbit_i32_i64", {24, 21}, 1, 2, lower_sfirst_bit, op(Op::clz, Type::s64));
  t.sop1("s_bitset0_b32", {27, 24}, 1, 1, lower_sbitset, inverted(op(Op::and_)), kReadsDst);
  t.sop1("s_bitset0_b64", {28, 25}, 2, 1, lower_sbitset, inverted(op(Op::and_, Type::u64)),
         kReadsDst);
  t.sop1("s_bitset1_b32", {29, 26}, 1, 1, lower_sbitset, op(Op::or_), kReadsDst);
  t.sop1("s_bitset1_b64", {30, 27}, 2, 1, lower_sbitset, op(Op::or_, Type::u64), kReadsDst);
  t.sop1("s_abs_i32", {52, 48}, 1, 1, lower_sabs, {}, kWritesScc);
  t.sop2("s_absdiff_i32", {44, 42}, 1, lower_sabs, op(Op::sub), kWritesScc);
  t.row("s_bfm_b64", E::sop2, {37, 35}, {{S::sdst, 2}, {S::ssrc0}, {S::ssrc1}}, lower_sbfm64);
  t.sop2("s_bfe_u64", {41, 39}, 2, lower_sbfe64, op(Op::bfe, Type::u64), kWritesScc, 1);
  t.sop2("s_bfe_i64", {42, 40}, 2, lower_sbfe64, op(Op::bfe, Type::s64), kWritesScc, 1);
  const auto test = [&](const char* name, int code, Cond c, uint8_t dwords) {
    t.row(name, E::sopc, code, {{S::ssrc0, dwords}, {S::ssrc1}}, lower_sbitcmp,
          compare(c, dwords == 2 ? Type::u64 : Type::u32), kWritesScc);
  };
  test("s_bitcmp0_b32", 12, Cond::eq, 1);
  test("s_bitcmp1_b32", 13, Cond::ne, 1);
  test("s_bitcmp0_b64", 14, Cond::eq, 2);
  test("s_bitcmp1_b64", 15, Cond::ne, 2);
  t.row("s_cmp_eq_u64", E::sopc, {-1, 18}, {{S::ssrc0, 2}, {S::ssrc1, 2}}, lower_scmp64,
        compare(Cond::eq, Type::u64), kWritesScc);
  t.row("s_cmp_lg_u64", E::sopc, {-1, 19}, {{S::ssrc0, 2}, {S::ssrc1, 2}}, lower_scmp64,
        compare(Cond::ne, Type::u64), kWritesScc);
}

}  // namespace

void integer_rows(TableBuilder& t) {
  bit_rows(t);
  difference_rows(t);
  moving_rows(t);
  narrow_rows(t);
  scalar_bits(t);
}

}  // namespace lanewise::gcn
