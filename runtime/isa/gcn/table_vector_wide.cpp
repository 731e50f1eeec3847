// Rows of 64-bit and 16-bit vector instructions.
#include "runtime/isa/gcn/table_builder.hpp"

namespace lanewise::gcn {
namespace {

using ir::Cond;
using ir::Op;
using ir::Type;

void compare_rows(TableBuilder& t) {
  using E = Encoding;
  using S = Slot;
  static constexpr Cond kConds[] = {Cond::lt, Cond::eq, Cond::le, Cond::gt, Cond::ne, Cond::ge};
  static constexpr const char* kNames[] = {"lt", "eq", "le", "gt", "ne", "ge"};
  const auto both = [&](const std::string& name, int si, int vi, const Meaning& m) {
    t.row(name, E::vopc, si, vi, {{S::vcc}, {S::src0, 2}, {S::vsrc1, 2}}, lower_vcmp64, m,
          kWritesVcc);
    t.row(name, E::vop3, si, vi, {{S::mask_dst, 2}, {S::src0, 2}, {S::src1, 2}}, lower_vcmp64, m)
        .e64 = true;
  };
  for (int n = 0; n < 6; ++n) {
    const std::string name = std::string("v_cmp_") + kNames[n];
    both(name + "_i64", 0xa1 + n, 0xe1 + n, compare(kConds[n], Type::s64));
    both(name + "_u64", 0xe1 + n, 0xe9 + n, compare(kConds[n], Type::u64));
  }
}

void mad_rows(TableBuilder& t) {
  using S = Slot;
  const std::vector<SlotSpec> slots = {
      {S::vdst, 2}, {S::mask_dst, 2}, {S::src0}, {S::src1}, {S::src2, 2}};
  for (const bool is_signed : {false, true}) {
    Row& r = t.row(is_signed ? "v_mad_i64_i32" : "v_mad_u64_u32", Encoding::vop3, -1,
                   is_signed ? 0x1e9 : 0x1e8, slots, lower_mad64,
                   op(Op::mulwide, is_signed ? Type::s32 : Type::u32));
    r.opcode[1] = is_signed ? 0x177 : 0x176;
  }
}

void narrow_rows(TableBuilder& t) {
  const size_t first = t.size();
  const struct {
    const char* name;
    int opcode;
    Meaning m;
  } narrow[] = {{"v_add_u16", 38, op(Op::add)},
                {"v_sub_u16", 39, op(Op::sub)},
                {"v_subrev_u16", 40, reversed(op(Op::sub))},
                {"v_mul_lo_u16", 41, op(Op::mul)},
                {"v_lshlrev_b16", 42, reversed(op(Op::shl))},
                {"v_lshrrev_b16", 43, reversed(op(Op::shr))},
                {"v_ashrrev_i16", 44, reversed(op(Op::shr, Type::s16))}};
  for (const auto& n : narrow) t.vop2(n.name, n.opcode, lower_v16, n.m);
  t.only_gcn3(first);
}

}  // namespace

void wide_vector_rows(TableBuilder& t) {
  compare_rows(t);
  mad_rows(t);
  narrow_rows(t);
}

}  // namespace lanewise::gcn
