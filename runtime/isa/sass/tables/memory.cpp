// Rows of loads, stores, atomics and cache control.
#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

constexpr uint64_t bit(unsigned n) {
  return uint64_t{1} << n;
}
constexpr uint64_t bits(unsigned low, unsigned high) {
  return Field{static_cast<uint8_t>(low), static_cast<uint8_t>(high - low + 1)}.mask();
}

enum class Sizes : uint8_t { load, store, uniform };

/// Code 7 is a real size only for global and generic loads; elsewhere it decodes, prints as what it
/// is, and cannot run.
Mod size_mod(Sizes kind, uint8_t pos = 48) {
  Mod m{
      ModId::size, {pos, 3}, {{0, "U8"}, {1, "S8"}, {2, "U16"}, {3, "S16"}, {5, "64"}, {6, "128"}}};
  m.codes.push_back({4, kind == Sizes::uniform ? "32" : ""});
  if (kind != Sizes::uniform) m.codes.push_back({4, "32", true});
  if (kind == Sizes::store) {
    m.codes.push_back({0, "8", true});
    m.codes.push_back({2, "16", true});
  }
  return m;
}
Mod with_code_7(Mod m, std::string_view text) {
  m.codes.push_back({7, text});
  return m;
}
Mod load_cop(uint8_t pos) {
  return {ModId::cop,
          {pos, 2},
          {{0, ""},
           {1, "CG"},
           {2, "CI"},
           {3, "CV"},
           {0, "CA", true},
           {0, "CS", true},
           {1, "LU", true}}};
}
Mod store_cop(uint8_t pos) {
  return {ModId::cop, {pos, 2}, {{0, ""}, {1, "CG"}, {2, "CS"}, {3, "WT"}, {0, "WB", true}}};
}
Mod local_load_cop() {
  return {ModId::cop, {44, 2}, named({"", "LU", "CI", "CV"})};
}

void global_rows(TableBuilder& t) {
  const Mod e = flag(ModId::ext, 45, "E");
  const Mod load_size = with_code_7(size_mod(Sizes::load), "U.128");
  t.row("LDG", "1110 1110 1101 0", {e, load_cop(46), load_size}, {kD, address(24)}, lower_ldg)
      .ignored = bit(44);
  const OperandSpec ps = pred(Role::p, 41).with(&OperandSpec::inverted, true);
  Form& sparse = t.row("LDG", "1110 1110 1100 1", {e, load_cop(46), load_size},
                       {ps, kD, address(20)}, lower_ldg);
  sparse.min_arch = 52;
  sparse.ignored = bit(44) | bit(40);
  t.row("STG", "1110 1110 1101 1",
        {e, store_cop(46), with_code_7(size_mod(Sizes::store), "INVALIDSIZE7")}, {address(24), kD},
        lower_stg)
      .ignored = bit(44);
  t.trait(kStores | kNoResult);
}

void generic_rows(TableBuilder& t) {
  const Mod e = flag(ModId::ext, 52, "E");
  const OperandSpec window = optional(pred(Role::p, 58));
  t.row("LD", "100", {e, load_cop(56), with_code_7(size_mod(Sizes::load, 53), "U.128")},
        {kD, address(32), window}, lower_ld);
  t.trait(kLocalMemory);
  t.row("ST", "101", {e, store_cop(56), with_code_7(size_mod(Sizes::store, 53), "INVALIDSIZE7")},
        {address(32), kD, window}, lower_st);
  t.trait(kLocalMemory | kStores);
}

void local_and_shared_rows(TableBuilder& t) {
  const Mod load_size = with_code_7(size_mod(Sizes::load), "INVALIDSIZE7");
  const Mod store_size = with_code_7(size_mod(Sizes::store), "INVALIDSIZE7");
  t.row("LDL", "1110 1111 0100 0", {local_load_cop(), load_size}, {kD, address(24)}, lower_ldl);
  t.trait(kLocalMemory);
  t.row("STL", "1110 1111 0101 0", {store_cop(44), store_size}, {address(24), kD}, lower_stl);
  t.trait(kLocalMemory | kStores);
  t.row("LDS", "1110 1111 0100 1", {load_size}, {kD, address(24)}, lower_lds, {{{44, 1}, 0}});
  t.row("LDS", "1110 1111 0100 1",
        {{ModId::uniform, {44, 1}, {{1, "U"}}},
         with_code_7(size_mod(Sizes::uniform), "INVALIDSIZE7")},
        {kD, address(24)}, lower_lds, {{{44, 1}, 1}});
  t.row("STS", "1110 1111 0101 1", {store_size}, {address(24), kD}, lower_sts);
  t.trait(kStores);
  Mod ldc_size = size_mod(Sizes::load);
  std::erase_if(ldc_size.codes, [](const Code& c) { return c.value == 6; });
  ldc_size.codes.push_back({6, "INVALIDSIZE6"});
  ldc_size.codes.push_back({7, "INVALIDSIZE7"});
  t.row("LDC", "1110 1111 1001 0",
        {ldc_size, {ModId::mode, {44, 2}, named({"", "IL", "IS", "ISL"})}}, {kD, cindex()},
        lower_ldc);
}

Mod atomic_type(uint8_t pos) {
  return {ModId::type,
          {pos, 3},
          {{0, ""},
           {1, "S32"},
           {2, "U64"},
           {3, "F32.FTZ.RN"},
           {5, "S64"},
           {7, "INVALIDATOMICSIZE7"},
           {0, "U32", true}}};
}

/// Types that not every target has: their sums flush where the name says so.
struct LaterType {
  Code code;
  uint16_t from, to;
  bool runs;
};
constexpr LaterType kLaterTypes[] = {{{4, "U128"}, 50, 50, false},
                                     {{6, "INVALIDATOMICSIZE6"}, 50, 59, false},
                                     {{4, "F16x2.FTZ.RN"}, 52, 59, true},
                                     {{4, "F16x2.RN"}, 60, 999, true},
                                     {{6, "F64.RN"}, 60, 999, true}};

/// The compare value and the new value stand in consecutive registers; a selector lets either be
/// zero instead.
void compare_and_swap(TableBuilder& t, const std::string& mnemonic, std::string_view pattern,
                      const std::vector<Mod>& mods, const OperandSpec& place, uint8_t selector,
                      LowerFn lower) {
  const Field which{selector, 2};
  const OperandSpec pair = kB.with(&OperandSpec::never_zero, true),
                    second = reg(Role::c, 20).with(&OperandSpec::never_zero, true);
  const OperandSpec zero_first = simple(Kind::zero, Role::b, 20, 8),
                    zero = simple(Kind::zero, Role::c, 20, 8);
  t.row(mnemonic, pattern, mods, {kD, place, pair, simple(Kind::next, Role::c, 20, 8)}, lower,
        {{which, 0}});
  t.row(mnemonic, pattern, mods, {kD, place, kB, zero}, lower, {{which, 1}});
  t.row(mnemonic, pattern, mods, {kD, place, zero_first, second}, lower, {{which, 2}});
}

void atomic_rows(TableBuilder& t) {
  const size_t first = t.size();
  const Mod e = flag(ModId::ext, 48, "E");
  const OperandSpec b = kB, global = address(20, 28), shared = address(22, 30, 2);
  Mod op{ModId::op, {52, 4}, atomic_codes("INVALIDATOMOP")};
  op.codes[10].text = "SAFEADD";
  t.row("ATOM", "1110 1101", {e, op, atomic_type(49)}, {kD, global, b}, lower_atom);
  constexpr std::string_view kRed = "1110 1011 1111 1";
  const Mod red_op{ModId::op, {23, 3}, atomic_codes()};
  t.row("RED", kRed, {e, red_op, atomic_type(20)}, {global, kD}, lower_red);
  for (const LaterType& later : kLaterTypes)
    for (const bool reduces : {false, true}) {
      const Mod type{ModId::type, {static_cast<uint8_t>(reduces ? 20 : 49), 3}, {later.code}};
      Form& f = reduces ? t.row("RED", kRed, {e, red_op, type}, {global, kD}, lower_red)
                        : t.row("ATOM", "1110 1101", {e, op, type}, {kD, global, b}, lower_atom);
      f.min_arch = later.from;
      f.max_arch = later.to;
      if (later.runs) continue;
      f.lower = nullptr;
      f.claim = isa::Claim::none;
    }
  compare_and_swap(t, "ATOM", "1110 1110 1111",
                   {e, {ModId::op, {52, 4}, {{15, "CAS"}}}, flag(ModId::wide, 49, "64")}, global,
                   50, lower_atom_cas);

  t.row("ATOMS", "1110 1100",
        {{ModId::op, {52, 4}, atomic_codes("INVALIDATOMSOP")},
         {ModId::type, {28, 2}, {{0, ""}, {1, "S32"}, {2, "U64"}, {3, "S64"}, {0, "U32", true}}}},
        {kD, shared, b}, lower_atoms);
  const Mod wide = flag(ModId::wide, 52, "64");
  compare_and_swap(t, "ATOMS", "1110 1110 010", {{ModId::op, {54, 1}, {{1, "CAS"}}}, wide}, shared,
                   28, lower_atoms_cas);
  compare_and_swap(t, "ATOMS", "1110 1110 00",
                   {{ModId::op, {54, 1}, {{0, "CAST"}}}, flag(ModId::spin, 53, "SPIN"), wide},
                   shared, 28, nullptr);
  t.trait(kAtomic, t.size() - first);
  for (Form& f : t.last(t.size() - first))  // RED has its data where others have a destination
    if (f.operand(Role::b) == nullptr) f.traits |= kStores;
}

Mod cache_op(uint8_t code, std::string_view text) {
  return {ModId::op, {0, 4}, {{code, text}}};
}
/// Every operation that takes an address. Codes without a name print as their number.
Mod line_ops() {
  return {
      ModId::op,
      {0, 4},
      numbered(
          "INVALIDCCTLOP", 10, 16,
          {{1, "PF1"}, {2, "PF1.5"}, {3, "PF2"}, {4, "WB"}, {5, "IV"}, {7, "RS"}, {9, "RSLB"}})};
}

void cctl_rows(TableBuilder& t) {
  const size_t first = t.size();
  const Mod e = flag(ModId::ext, 52, "E");
  Mod cache{ModId::cache, {4, 3}, named({"", "U", "C", "I", "CRS"}, "INVALIDCACHETYPE", 8)};
  cache.codes.push_back({0, "D", true});
  constexpr std::string_view kCode = "1110 1111 011";
  const OperandSpec place = address(30, 22, 2);
  const uint64_t unused = bit(7) | bits(20, 21);
  t.row("CCTL", kCode, {e, cache, cache_op(6, "IVALL")}, {}, lower_cctl,
        {{{0, 4}, 6}, {{8, 8}, kRZ}, {{22, 30}, 0}})
      .ignored = unused;
  Form& query =
      t.row("CCTL", kCode, {e, cache, cache_op(0, "QRY1")}, {place}, lower_cctl, {{{0, 4}, 0}});
  query.ignored = unused;
  query.tight = true;
  t.row("CCTL", kCode, {e, cache, line_ops()}, {place}, lower_cctl).ignored = unused;
  t.trait(kControlsCache | kNoResult, t.size() - first);
}

void cctll_rows(TableBuilder& t) {
  const size_t first = t.size();
  constexpr std::string_view kCode = "1110 1111 1000 0";
  const uint64_t unused = bits(6, 7) | bits(20, 21) | bits(44, 50);
  const Field cache{4, 2}, op{0, 4}, ra{8, 8}, offset{22, 22};
  t.row("CCTLL", kCode, {cache_op(6, "IVALL")}, {}, lower_cctl,
        {{op, 6}, {cache, 0}, {ra, kRZ}, {offset, 0}})
      .ignored = unused;
  t.row("CCTLL", kCode,
        {{ModId::cache, cache, named({"???0", "CRS", "???2", "???3"})}, cache_op(8, "WBALL")}, {},
        lower_cctl, {{op, 8}, {ra, kRZ}, {offset, 0}})
      .ignored = unused;
  t.row("CCTLL", kCode,
        {{ModId::cache, cache, named({"", "???1", "INVALIDLCACHETYPE2", "INVALIDLCACHETYPE3"})},
         line_ops()},
        {address(22, 22, 2)}, lower_cctl)
      .ignored = unused;
  t.trait(kControlsCache | kLocalLines | kNoResult, t.size() - first);
}

void cctlt_rows(TableBuilder& t) {
  const size_t first = t.size();
  const Mod header_op{
      ModId::op, {0, 2}, {{1, "IVTH"}, {2, "INVALIDCCTLTOP2"}, {3, "INVALIDCCTLTOP3"}}};
  t.row("CCTLT", "1110 1011 1111 0", {{ModId::op, {0, 2}, {{0, "IVALL"}}}}, {}, nullptr,
        {{{0, 2}, 0}, {{36, 13}, 0}});
  t.row("CCTLT", "1110 1011 1111 0", {header_op}, {imm(Role::b, 36, 13)}, nullptr);
  t.row("CCTLT", "1110 1011 1110 1", {header_op}, {reg(Role::b, 39)}, nullptr);
  t.trait(kControlsCache | kTextureLines, t.size() - first);
}

}  // namespace

void memory_rows(TableBuilder& t) {
  const size_t first = t.size();
  global_rows(t);
  generic_rows(t);
  local_and_shared_rows(t);
  for (Form& f : t.last(t.size() - first)) f.ordered = true;  // .E, operator, size
  atomic_rows(t);
}

void cache_rows(TableBuilder& t) {
  cctl_rows(t);
  cctll_rows(t);
  cctlt_rows(t);
}

}  // namespace lanewise::sass::table
