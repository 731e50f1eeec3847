// Rows of fences, barriers, shuffles and special registers.
#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

using Fixed = TableBuilder::Fixed;

OperandSpec thread_count(bool immediate) {
  return immediate ? imm(Role::b, 20, 12) : kB;
}

/// Barrier number and thread count are an immediate or a register each; without a count the whole
/// group takes part.
void barrier_rows(TableBuilder& t) {
  constexpr std::string_view kCode = "1111 0000 1010 1";
  const Field id_is_imm{44, 1}, count_is_imm{43, 1}, op{32, 3}, reduction{35, 2}, no_pred{39, 4};
  const Mod reduce_op{ModId::bop, reduction, named({"POPC", "AND", "OR", "INVALIDBARMODE3"})};
  for (const bool imm_id : {true, false}) {
    const OperandSpec id = imm_id ? imm(Role::a, 8, 8) : kA;
    for (int count = 0; count < 3; ++count) {
      std::vector<OperandSpec> operands = {id};
      std::vector<Fixed> fixed = {{id_is_imm, imm_id ? 1U : 0U},
                                  {count_is_imm, count < 2 ? 1U : 0U}};
      if (count == 0) fixed.push_back({{20, 12}, 0});
      if (count != 0) operands.push_back(thread_count(count == 1));
      std::vector<Fixed> plain = fixed;
      plain.push_back({no_pred, 7});
      for (const unsigned code : {0U, 1U}) {
        if (code == 1 && count == 0) continue;  // BAR.ARV always says how many
        std::vector<Fixed> f = plain;
        f.push_back({op, code});
        t.row(code == 0 ? "BAR.SYNC" : "BAR.ARV", kCode, {}, operands, lower_bar, f);
        t.trait(kSourcesRead | (code == 1 ? kArrives : 0U));
      }
      fixed.push_back({op, 2});
      operands.push_back(pred(Role::r, 39).with_neg(42));
      t.row("BAR.RED", kCode, {reduce_op}, operands, lower_bar, fixed);
      t.trait(kSourcesRead);
      fixed.pop_back();
      fixed.push_back({op, 3});
      if (count != 0) t.row("BAR.SCAN", kCode, {}, operands, nullptr, fixed);
    }
  }
}

void shuffle_rows(TableBuilder& t) {
  const Mod mode{ModId::mode, {30, 2}, named({"IDX", "UP", "DOWN", "BFLY"})};
  const OperandSpec in_range = pred(Role::p, 48), d = kD, a = kA;
  for (const bool imm_b : {true, false})
    for (const bool imm_c : {true, false})
      t.row("SHFL", "1110 1111 0001 0", {mode},
            {in_range, d, a, imm_b ? imm(Role::b, 20, 5) : kB, imm_c ? imm(Role::c, 34, 13) : kC},
            lower_shfl, {{{28, 1}, imm_b ? 1U : 0U}, {{29, 1}, imm_c ? 1U : 0U}});
}

}  // namespace

/// Special registers that not every target has. Nothing executes what reads them.
void special_register_rows(TableBuilder& t, const std::string& mnemonic, std::string_view pattern) {
  static const auto maxwell2 = by_code<256>({{15, "SR_ORDERING_TICKET"}});
  static const auto pascal = by_code<256>({{44, "SR_SM_SPA_VERSION"},
                                           {45, "SR_MULTIPASSSHADERINFO"},
                                           {46, "SR_LWINHI"},
                                           {47, "SR_SWINHI"},
                                           {62, "SR_BARRIERALLOC"}});
  for (const auto& [names, arch] : {std::pair(&maxwell2, 52), std::pair(&pascal, 60)}) {
    OperandSpec source = simple(Kind::named, Role::b, 20, 8);
    source.names = names->data();
    t.row(mnemonic, pattern, {}, {kD, source}, nullptr);
    t.from(1, static_cast<uint16_t>(arch));
  }
  t.row(mnemonic, pattern, {}, {kD, simple(Kind::sreg, Role::b, 20, 8)}, lower_s2r);
}

void sync_rows(TableBuilder& t) {
  const Mod scope{ModId::scope, {8, 2}, named({"CTA", "GL", "SYS", "VC"})};
  const Mod invalidate{ModId::invalidate, {0, 2}, named({"", "IVALLD", "IVALLT", "IVALLTD"})};
  t.claims(isa::Claim::effect);
  t.row("MEMBAR", "1110 1111 1001 1", {scope, invalidate}, {}, lower_membar);
  t.trait(kSourcesRead);
  t.claims(isa::Claim::exact);
  special_register_rows(t, "S2R", "1111 0000 1100 1");
  barrier_rows(t);
  shuffle_rows(t);
}

}  // namespace lanewise::sass::table
