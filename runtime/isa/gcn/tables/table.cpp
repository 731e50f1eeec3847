// The instruction table: one row per name; VOP1, VOP2 and VOPC rows also give their VOP3 form. The
// buffer instructions are in table_buffer.cpp.
#include <iterator>
#include <unordered_map>

#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

using E = Encoding;
using S = Slot;

void scalar_rows(TableBuilder& t) {
  t.kind(Kind::move, "s_mov_b32", E::sop1, {3, 0}, {{S::sdst}, {S::ssrc0}}, lower_smov);
  t.kind(Kind::move, "s_mov_b64", E::sop1, {4, 1}, {{S::sdst, 2}, {S::ssrc0, 2}}, lower_slogic64,
         op(Op::mov), kMaskLogic);
  t.row("s_not_b32", E::sop1, {7, 4}, {{S::sdst}, {S::ssrc0}}, lower_snot, {}, kWritesScc);
  t.row("s_not_b64", E::sop1, {8, 5}, {{S::sdst, 2}, {S::ssrc0, 2}}, lower_slogic64, op(Op::not_),
        kWritesScc | kMaskLogic);
  const struct {
    const char* name;
    Codes code;
    Op op;
    bool invert;
  } saves[] = {{"s_and_saveexec_b64", {36, 32}, Op::and_, false},
               {"s_or_saveexec_b64", {37, 33}, Op::or_, false},
               {"s_xor_saveexec_b64", {38, 34}, Op::xor_, false},
               {"s_andn2_saveexec_b64", {39, 35}, Op::and_, true}};
  for (const auto& s : saves) {
    Meaning m = op(s.op);
    m.invert = s.invert;
    t.row(s.name, E::sop1, s.code, {{S::sdst, 2}, {S::ssrc0, 2}}, lower_saveexec, m,
          kWritesScc | kWritesExec | kReadsExec | kMaskLogic);
  }
  t.sop2("s_add_u32", 0, 1, lower_sadd, op(Op::add, Type::u32), kWritesScc);
  t.sop2("s_sub_u32", 1, 1, lower_sadd, op(Op::sub, Type::u32), kWritesScc);
  t.sop2("s_add_i32", 2, 1, lower_sadd, op(Op::add, Type::s32), kWritesScc);
  t.sop2("s_sub_i32", 3, 1, lower_sadd, op(Op::sub, Type::s32), kWritesScc);
  t.sop2("s_addc_u32", 4, 1, lower_saddc, op(Op::addc), kWritesScc | kReadsScc);
  t.sop2("s_subb_u32", 5, 1, lower_saddc, op(Op::subb), kWritesScc | kReadsScc);
  t.sop2("s_and_b32", {14, 12}, 1, lower_slogic32, op(Op::and_), kWritesScc);
  t.sop2("s_or_b32", {16, 14}, 1, lower_slogic32, op(Op::or_), kWritesScc);
  t.sop2("s_xor_b32", {18, 16}, 1, lower_slogic32, op(Op::xor_), kWritesScc);
  t.sop2("s_lshl_b32", {30, 28}, 1, lower_sshift, op(Op::shl), kWritesScc);
  t.sop2("s_lshr_b32", {32, 30}, 1, lower_sshift, op(Op::shr), kWritesScc);
  t.sop2("s_ashr_i32", {34, 32}, 1, lower_sshift, op(Op::shr, Type::s32), kWritesScc);
  t.sop2("s_mul_i32", {38, 36}, 1, lower_smul, op(Op::mul), 0);
  const uint16_t logic = kWritesScc | kMaskLogic;
  t.sop2("s_and_b64", {15, 13}, 2, lower_slogic64, op(Op::and_), logic);
  t.sop2("s_or_b64", {17, 15}, 2, lower_slogic64, op(Op::or_), logic);
  t.sop2("s_xor_b64", {19, 17}, 2, lower_slogic64, op(Op::xor_), logic);
  t.sop2("s_andn2_b64", {21, 19}, 2, lower_slogic64, inverted(op(Op::and_)), logic);
  t.sop2("s_orn2_b64", {23, 21}, 2, lower_slogic64, inverted(op(Op::or_)), logic);
  t.kind(Kind::move, "s_movk_i32", E::sopk, 0, {{S::sdst}, {S::simm16}}, lower_smovk);
  static constexpr Cond kConds[] = {Cond::eq, Cond::ne, Cond::gt, Cond::ge, Cond::lt, Cond::le};
  static constexpr const char* kNames[] = {"eq", "lg", "gt", "ge", "lt", "le"};
  for (int n = 0; n < 12; ++n)
    t.row(std::string("s_cmp_") + kNames[n % 6] + (n < 6 ? "_i32" : "_u32"), E::sopc, n,
          {{S::ssrc0}, {S::ssrc1}}, lower_scmp,
          compare(kConds[n % 6], n < 6 ? Type::s32 : Type::u32), kWritesScc);
  static constexpr const char* kLoads[] = {"s_load_dword", "s_load_dwordx2", "s_load_dwordx4",
                                           "s_load_dwordx8", "s_load_dwordx16"};
  for (int n = 0; n < 5; ++n) {
    const auto count = static_cast<uint8_t>(1 << n);
    t.kind(Kind::load, kLoads[n], E::smrd, n, {{S::sdst, count}, {S::sbase, 2}, {S::soff}},
           lower_sload, memory(Type::u32, count));
  }
}

void more_scalar_rows(TableBuilder& t) {
  const struct {
    const char* name;
    Codes code;
    Op op;
    Type type;
  } picks[] = {{"s_min_i32", 6, Op::min, Type::s32},
               {"s_min_u32", 7, Op::min, Type::u32},
               {"s_max_i32", 8, Op::max, Type::s32},
               {"s_max_u32", 9, Op::max, Type::u32}};
  for (const auto& p : picks)
    t.sop2(p.name, p.code, 1, lower_sminmax, op(p.op, p.type), kWritesScc);
  t.sop2("s_cselect_b32", 10, 1, lower_scselect, {}, kReadsScc);
  t.sop2("s_cselect_b64", 11, 2, lower_scselect, op(Op::select, Type::u64), kReadsScc);
  t.sop2("s_andn2_b32", {20, 18}, 1, lower_slogic32, inverted(op(Op::and_)), kWritesScc);
  t.sop2("s_orn2_b32", {22, 20}, 1, lower_slogic32, inverted(op(Op::or_)), kWritesScc);
  Meaning m = op(Op::and_);
  m.invert_result = true;
  const uint16_t logic = kWritesScc | kMaskLogic;
  t.sop2("s_nand_b64", {25, 23}, 2, lower_slogic64, m, logic);
  m.op = Op::or_;
  t.sop2("s_nor_b64", {27, 25}, 2, lower_slogic64, m, logic);
  m.op = Op::xor_;
  t.sop2("s_xnor_b64", {29, 27}, 2, lower_slogic64, m, logic);
  t.sop2("s_lshl_b64", {31, 29}, 2, lower_sshift64, op(Op::shl, Type::u64), kWritesScc, 1);
  t.sop2("s_lshr_b64", {33, 31}, 2, lower_sshift64, op(Op::shr, Type::u64), kWritesScc, 1);
  t.sop2("s_ashr_i64", {35, 33}, 2, lower_sshift64, op(Op::shr, Type::s64), kWritesScc, 1);
  t.sop2("s_bfm_b32", {36, 34}, 1, lower_sbfm, {}, 0);
  t.sop2("s_bfe_u32", {39, 37}, 1, lower_sbfe, op(Op::bfe), kWritesScc);
  t.sop2("s_bfe_i32", {40, 38}, 1, lower_sbfe, op(Op::bfe, Type::s32), kWritesScc);
  t.row("s_brev_b32", E::sop1, {11, 8}, {{S::sdst}, {S::ssrc0}}, lower_sunary, op(Op::brev));
  t.row("s_bcnt1_i32_b32", E::sop1, {15, 12}, {{S::sdst}, {S::ssrc0}}, lower_sunary, op(Op::popc),
        kWritesScc);
  t.row("s_bcnt1_i32_b64", E::sop1, {16, 13}, {{S::sdst}, {S::ssrc0, 2}}, lower_sunary,
        op(Op::popc, Type::u64), kWritesScc);
  t.row("s_ff1_i32_b64", E::sop1, {20, 17}, {{S::sdst}, {S::ssrc0, 2}}, lower_sff1,
        op(Op::clz, Type::u64));
  t.row("s_addk_i32", E::sopk, {15, 14}, {{S::sdst}, {S::simm16}}, lower_saddk, op(Op::add),
        kWritesScc | kReadsDst);
  t.row("s_mulk_i32", E::sopk, {16, 15}, {{S::sdst}, {S::simm16}}, lower_saddk, op(Op::mul),
        kReadsDst);
  static constexpr Cond kConds[] = {Cond::eq, Cond::ne, Cond::gt, Cond::ge, Cond::lt, Cond::le};
  static constexpr const char* kNames[] = {"eq", "lg", "gt", "ge", "lt", "le"};
  for (int n = 0; n < 12; ++n)
    t.row(std::string("s_cmpk_") + kNames[n % 6] + (n < 6 ? "_i32" : "_u32"), E::sopk,
          {3 + n, 2 + n}, {{S::ksrc}, {S::simm16}}, lower_scmpk,
          compare(kConds[n % 6], n < 6 ? Type::s32 : Type::u32), kWritesScc);
  static constexpr const char* kLoads[] = {"s_buffer_load_dword", "s_buffer_load_dwordx2",
                                           "s_buffer_load_dwordx4", "s_buffer_load_dwordx8",
                                           "s_buffer_load_dwordx16"};
  for (int n = 0; n < 5; ++n) {
    const auto count = static_cast<uint8_t>(1 << n);
    t.kind(Kind::load, kLoads[n], E::smrd, 8 + n, {{S::sdst, count}, {S::sbase, 4}, {S::soff}},
           lower_sbuffer_load, memory(Type::u32, count));
  }
  t.kind(Kind::cache, "s_dcache_inv", E::smrd, {31, 32}, {}, lower_invalidate);
  t.kind(Kind::cache, "s_dcache_inv_vol", E::smrd, {-1, 29, 34}, {}, lower_invalidate);
  t.kind(Kind::cache, "s_dcache_wb", E::smrd, {-1, 33}, {}, lower_invalidate);
}

void control_rows(TableBuilder& t) {
  t.kind(Kind::nothing, "s_nop", E::sopp, 0, {{S::simm16}}, lower_nothing);
  t.kind(Kind::end, "s_endpgm", E::sopp, 1, {}, lower_end);
  t.kind(Kind::branch, "s_branch", E::sopp, 2, {{S::label}}, lower_branch, branch(Cond::eq, 0));
  t.kind(Kind::branch, "s_cbranch_scc0", E::sopp, 4, {{S::label}}, lower_branch,
         branch(Cond::eq, kScc), kReadsScc);
  t.kind(Kind::branch, "s_cbranch_scc1", E::sopp, 5, {{S::label}}, lower_branch,
         branch(Cond::ne, kScc), kReadsScc);
  t.kind(Kind::branch, "s_cbranch_vccz", E::sopp, 6, {{S::label}}, lower_branch,
         branch(Cond::eq, kVccz), kReadsVcc);
  t.kind(Kind::branch, "s_cbranch_vccnz", E::sopp, 7, {{S::label}}, lower_branch,
         branch(Cond::ne, kVccz), kReadsVcc);
  t.kind(Kind::branch, "s_cbranch_execz", E::sopp, 8, {{S::label}}, lower_branch,
         branch(Cond::eq, kExecz), kReadsExec);
  t.kind(Kind::branch, "s_cbranch_execnz", E::sopp, 9, {{S::label}}, lower_branch,
         branch(Cond::ne, kExecz), kReadsExec);
  t.kind(Kind::barrier, "s_barrier", E::sopp, 10, {}, lower_barrier);
  t.kind(Kind::wait, "s_waitcnt", E::sopp, 12, {{S::waitcnt}}, lower_nothing);
}

void more_vector_rows(TableBuilder& t) {
  t.vop2("v_min_f32", {15, 10}, lower_vextreme, op(Op::fmin, Type::f32));
  t.vop2("v_max_f32", {16, 11}, lower_vextreme, op(Op::fmax, Type::f32));
  t.vop1("v_bfrev_b32", {56, 44}, lower_vop, op(Op::brev));
  t.vop1("v_cvt_f32_i32", 5, lower_vcvt, convert(Op::i2f, Type::f32, Type::s32));
  t.vop1("v_cvt_f32_u32", 6, lower_vcvt, convert(Op::i2f, Type::f32, Type::u32));
  t.vop1("v_cvt_u32_f32", 7, lower_vcvt, convert(Op::f2i, Type::u32, Type::f32));
  t.vop1("v_cvt_i32_f32", 8, lower_vcvt, convert(Op::f2i, Type::s32, Type::f32));
  const struct {
    const char* name;
    Codes code;
    Round round;
  } rounds[] = {{"v_trunc_f32", {33, 28}, Round::rz},
                {"v_ceil_f32", {34, 29}, Round::rp},
                {"v_rndne_f32", {35, 30}, Round::rn},
                {"v_floor_f32", {36, 31}, Round::rm}};
  for (const auto& r : rounds) {
    Meaning m = op(Op::fround, Type::f32);
    m.round = r.round;
    t.vop1(r.name, r.code, lower_vround, m);
  }
  const std::vector<SlotSpec> three = {{S::vdst}, {S::src0}, {S::src1}, {S::src2}};
  t.vop3("v_mul_hi_i32", {0x16c, 647}, {{S::vdst}, {S::src0}, {S::src1}}, lower_vop,
         op(Op::mulhi, Type::s32));
  t.vop3("v_bfe_u32", {0x148, 456}, three, lower_vbfe, op(Op::bfe));
  t.vop3("v_bfe_i32", {0x149, 457}, three, lower_vbfe, op(Op::bfe, Type::s32));
  t.vop3("v_bfi_b32", {0x14a, 458}, three, lower_vbfi, {});
  t.vop3("v_alignbit_b32", {0x14e, 462}, three, lower_valign, {});
  t.vop3("v_mad_i32_i24", {0x142, 450}, three, lower_mul24, op(Op::mul, Type::s32), kClampsInteger);
  t.vop3("v_mad_u32_u24", {0x143, 451}, three, lower_mul24, op(Op::mul), kClampsInteger);
  t.vop2_carry("v_subbrev_u32", {42, 30}, lower_vadd, reversed(op(Op::subb)), true);
  t.kind(Kind::across, "v_readfirstlane_b32", E::vop1, 2, {{S::sdst}, {S::src0}},
         lower_readfirstlane, {}, kReadsExec);
}

void scalar_store_rows(TableBuilder& t) {
  static constexpr const char* kSizes[] = {"dword", "dwordx2", "dwordx4"};
  for (int n = 0; n < 3; ++n) {
    const auto count = static_cast<uint8_t>(1 << n);
    for (const bool buffer : {false, true})
      t.kind(Kind::store, std::string(buffer ? "s_buffer_store_" : "s_store_") + kSizes[n], E::smrd,
             {-1, (buffer ? 24 : 16) + n},
             {{S::sdata, count}, {S::sbase, static_cast<uint8_t>(buffer ? 4 : 2)}, {S::soff}},
             lower_sstore, memory(Type::u32, count));
  }
}

/// Rows that only GCN3 has: carries and 64-bit shifts under new names, some forms that grew.
void gcn3_rows(TableBuilder& t) {
  scalar_store_rows(t);
  t.vop2_carry("v_add_u32", {-1, 25}, lower_vadd, op(Op::addc), false);
  t.vop2_carry("v_sub_u32", {-1, 26}, lower_vadd, op(Op::subb), false);
  t.vop2_carry("v_subrev_u32", {-1, 27}, lower_vadd, reversed(op(Op::subb)), false);
  const std::vector<SlotSpec> shift = {{S::vdst, 2}, {S::src0}, {S::src1, 2}};
  t.vop3("v_lshlrev_b64", {-1, 0x28f}, shift, lower_vshift64, reversed(op(Op::shl, Type::u64)));
  t.vop3("v_lshrrev_b64", {-1, 0x290}, shift, lower_vshift64, reversed(op(Op::shr, Type::u64)));
  t.vop3("v_ashrrev_i64", {-1, 0x291}, shift, lower_vshift64, reversed(op(Op::shr, Type::s64)));
}

void vector_rows(TableBuilder& t) {
  t.vop1("v_mov_b32", 1, lower_vop, op(Op::mov));
  t.vop1("v_not_b32", {0x37, 43}, lower_vop, op(Op::not_));
  t.row("v_cndmask_b32", E::vop2, 0, {{S::vdst}, {S::src0}, {S::vsrc1}, {S::vcc}}, lower_cndmask,
        {}, kReadsVcc);
  t.row("v_cndmask_b32", E::vop3, 0x100, {{S::vdst}, {S::src0}, {S::src1}, {S::mask_src, 2}},
        lower_cndmask)
      .e64 = true;
  t.vop2("v_add_f32", {3, 1}, lower_vop, op(Op::fadd, Type::f32));
  t.vop2("v_sub_f32", {4, 2}, lower_vop, op(Op::fsub, Type::f32));
  t.vop2("v_subrev_f32", {5, 3}, lower_vop, reversed(op(Op::fsub, Type::f32)));
  t.vop2("v_mul_f32", {8, 5}, lower_vop, op(Op::fmul, Type::f32));
  t.vop2("v_mul_i32_i24", {9, 6}, lower_mul24, op(Op::mul, Type::s32), kClampsInteger);
  t.vop2("v_mul_u32_u24", {11, 8}, lower_mul24, op(Op::mul, Type::u32), kClampsInteger);
  t.vop2("v_min_i32", {17, 12}, lower_vop, op(Op::min, Type::s32));
  t.vop2("v_max_i32", {18, 13}, lower_vop, op(Op::max, Type::s32));
  t.vop2("v_min_u32", {19, 14}, lower_vop, op(Op::min));
  t.vop2("v_max_u32", {20, 15}, lower_vop, op(Op::max));
  t.vop2("v_lshr_b32", {21, -1}, lower_vshift, op(Op::shr));
  t.vop2("v_lshrrev_b32", {22, 16}, lower_vshift, reversed(op(Op::shr)));
  t.vop2("v_ashr_i32", {23, -1}, lower_vshift, op(Op::shr, Type::s32));
  t.vop2("v_ashrrev_i32", {24, 17}, lower_vshift, reversed(op(Op::shr, Type::s32)));
  t.vop2("v_lshl_b32", {25, -1}, lower_vshift, op(Op::shl));
  t.vop2("v_lshlrev_b32", {26, 18}, lower_vshift, reversed(op(Op::shl)));
  t.vop2("v_and_b32", {27, 19}, lower_vop, op(Op::and_));
  t.vop2("v_or_b32", {28, 20}, lower_vop, op(Op::or_));
  t.vop2("v_xor_b32", {29, 21}, lower_vop, op(Op::xor_));
  t.vop2("v_mac_f32", {31, 22}, lower_vmad, op(Op::fmul, Type::f32), kReadsDst | kNeverSubnormal);
  t.vop2_carry("v_add_i32", {37, -1}, lower_vadd, op(Op::addc), false);
  t.vop2_carry("v_sub_i32", {38, -1}, lower_vadd, op(Op::subb), false);
  t.vop2_carry("v_subrev_i32", {39, -1}, lower_vadd, reversed(op(Op::subb)), false);
  t.vop2_carry("v_addc_u32", {40, 28}, lower_vadd, op(Op::addc), true);
  t.vop2_carry("v_subb_u32", {41, 29}, lower_vadd, op(Op::subb), true);
  const std::vector<SlotSpec> two = {{S::vdst}, {S::src0}, {S::src1}};
  const std::vector<SlotSpec> three = {{S::vdst}, {S::src0}, {S::src1}, {S::src2}};
  t.vop3("v_mad_f32", {0x141, 449}, three, lower_vmad, op(Op::fmul, Type::f32), kNeverSubnormal);
  t.vop3("v_fma_f32", {0x14b, 459}, three, lower_vop, op(Op::ffma, Type::f32));
  t.vop3("v_lshl_b64", {0x161, -1}, {{S::vdst, 2}, {S::src0, 2}, {S::src1}}, lower_vshift64,
         op(Op::shl, Type::u64));
  t.vop3("v_lshr_b64", {0x162, -1}, {{S::vdst, 2}, {S::src0, 2}, {S::src1}}, lower_vshift64,
         op(Op::shr, Type::u64));
  t.vop3("v_ashr_i64", {0x163, -1}, {{S::vdst, 2}, {S::src0, 2}, {S::src1}}, lower_vshift64,
         op(Op::shr, Type::s64));
  t.vop3("v_mul_lo_u32", {0x169, 645}, two, lower_vop, op(Op::mul));
  t.vop3("v_mul_hi_u32", {0x16a, 646}, two, lower_vop, op(Op::mulhi));
  t.vop3("v_mul_lo_i32", {0x16b, 645}, two, lower_vop, op(Op::mul));
}

std::vector<Row> build() {
  TableBuilder t;
  scalar_rows(t);
  more_scalar_rows(t);
  control_rows(t);
  vector_rows(t);
  more_vector_rows(t);
  gcn3_rows(t);
  buffer_rows(t);
  lds_rows(t);
  wave_rows(t);
  flat_rows(t);
  wide_vector_rows(t);
  compare_rows(t);
  real_rows(t);
  integer_rows(t);
  more_control_rows(t);
  graphics_rows(t);
  std::vector<Row> rows = t.take();
  set_operand_types(rows);
  set_claims(rows);
  return rows;
}

}  // namespace

const Row& data_row(size_t words) {
  static const std::vector<Row> table = [] {
    std::vector<Row> out;
    for (size_t n = 1; n <= 3; ++n) {
      Row r;
      r.name = ".long";
      r.kind = Kind::data;
      r.encoding = Encoding::data;
      r.operands.assign(n, {Slot::word});
      out.push_back(std::move(r));
    }
    return out;
  }();
  return table.at(words - 1);
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table = build();
  return table;
}

std::span<const Row* const> rows_named(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, std::vector<const Row*>> map;
    for (const Row& r : rows()) map[r.name].push_back(&r);
    return map;
  }();
  const auto found = by_name.find(name);
  if (found == by_name.end()) return {};
  return found->second;
}

const Row* row_of(Encoding encoding, unsigned opcode, Gen gen) {
  const auto key = [](Encoding e, unsigned code, size_t generation) {
    return uint64_t{code} << 16 | static_cast<uint64_t>(e) << 8 | generation;
  };
  static const auto by_code = [&] {
    std::unordered_map<uint64_t, const Row*> map;
    for (const Row& r : rows())
      for (size_t g = 0; g < std::size(r.opcode); ++g)
        if (r.opcode[g] >= 0)
          map.try_emplace(key(r.encoding, static_cast<unsigned>(r.opcode[g]), g), &r);
    return map;
  }();
  const auto found = by_code.find(key(encoding, opcode, static_cast<size_t>(gen)));
  return found == by_code.end() ? nullptr : found->second;
}

}  // namespace lanewise::gcn
