// Rows of surfaces.
#include <algorithm>

#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

constexpr Field kShape{33, 3}, kChannels{20, 4}, kSize{20, 3};

Mod shape() {
  return other(
      kShape.pos, 3,
      named({"1D", "1D_BUFFER", "1D_ARRAY", "2D", "2D_ARRAY", "3D"}, "INVALIDSURFACEDIM", 8));
}
/// What happens beside the surface.
Mod clamp() {
  return other(49, 2, named({"IGN", "", "TRAP", "INVALIDSURFACECLAMP3"}));
}
Mod channels() {
  return other(kChannels.pos, 4,
               named({"???0", "R", "G", "RG", "B", "RB", "GB", "RGB", "A", "RA", "GA", "RGA", "BA",
                      "RBA", "GBA", ""}));
}
Mod size() {
  return other(kSize.pos, 3, named({"U8", "S8", "U16", "S16", "", "64", "128", "INVALIDSIZE7"}));
}
Mod type(uint8_t pos) {
  return {
      ModId::type,
      {pos, 3},
      {{0, ""}, {1, "S32"}, {2, "U64"}, {3, "F32.FTZ.RN"}, {5, "S64"}, {6, "SD32"}, {7, "SD64"}}};
}
/// Code 4 of the types is sums of two halves from sm_52 on.
struct SurfaceHalves {
  std::string_view text;
  uint16_t from, to;
};
constexpr SurfaceHalves kSurfaceHalves[] = {
    {"INVALIDATOMICSIZE4", 50, 50}, {"F16x2.FTZ.RN", 52, 59}, {"F16x2.RN", kFirstPascal, 999}};
/// Rows with types, and what code 4 is on which target.
void typed_rows(TableBuilder& t, size_t count) {
  const size_t first = t.size() - count;
  for (const SurfaceHalves& h : kSurfaceHalves)
    for (size_t n = first; n < first + count; ++n) {
      if (t.min_arch(n) > h.to) continue;
      Form& f = t.again(n);
      for (Mod& m : f.mods)
        if (m.id == ModId::type) m.codes = {{4, h.text}};
      f.min_arch = std::max(f.min_arch, h.from);
      f.max_arch = h.to;
    }
}

constexpr uint16_t kFirstResident = 52;
/// From sm_52 on three bits of a row name a predicate for texels that are not resident. Inverted, 0
/// is PT, which is not printed.
OperandSpec resident(uint8_t pos) {
  return pred(Role::p, pos).with(&OperandSpec::inverted, true);
}
void add_resident(Form& f, const OperandSpec& predicate) {
  f.operands.insert(f.operands.begin(), predicate);
  f.min_arch = kFirstResident;
  f.max_arch = 999;
}
/// The row added last, without and with such a predicate.
void resident_rows(TableBuilder& t) {
  t.later(1, kFirstResident, [](Form& f) { TableBuilder::fix(f, {{30, 3}, 0}); });
  Form& f = t.again(t.size() - 2);  // as it is without a rule for these bits
  add_resident(f, resident(30));
}
Mod atomic_op(uint8_t pos, bool exchanges) {
  return other(pos, exchanges ? 4 : 3, atomic_codes(exchanges ? "INVALIDATOMSOP" : ""));
}
Mod bytes(uint8_t pos) {
  return flag(ModId::other, pos, "BA");
}

/// [Ra]: as many registers as the shape has coordinates.
OperandSpec place() {
  return address(0).taking({{kShape, "11223333"}});
}
/// The surface: a handle in a register, or its number.
OperandSpec handle(bool number) {
  return number ? imm(Role::c, 36, 13) : kC;
}

void access_rows(TableBuilder& t, bool stores) {
  const char* head = stores ? "1110 1011 001" : "1110 1011 000";
  const std::string name = stores ? "SUST" : "SULD";
  const LowerFn lower = stores ? lower_sust : lower_suld;
  const Mod cop = stores ? other(24, 2, named({"", "CG", "CS", "WT"}))
                         : other(24, 2, named({"", "CG", "CI", "CV"}));
  for (const bool number : {false, true}) {
    const auto operands = [&](const OperandSpec& data) {
      return stores ? std::vector{place(), data, handle(number)}
                    : std::vector{data, place(), handle(number)};
    };
    const std::string tail = number ? "1" : "0";
    const size_t first = t.size();
    t.row(name + ".P", head + ("0" + tail), {shape(), cop, channels(), clamp()},
          operands(kD.taking({{kChannels, "0112122312232334"}})), lower);
    t.trait(kFormatted, 1);
    if (!stores) resident_rows(t);
    t.row(name + ".D", head + ("1" + tail), {bytes(23), shape(), cop, size(), clamp()},
          operands(kD.taking({{kSize, "11111241"}})), lower);
    if (!stores) resident_rows(t);
    if (stores) t.trait(kStores, t.size() - first);
  }
}

constexpr std::string_view kTypeRegisters = "11211211";

void reduction_rows(TableBuilder& t) {
  for (const bool number : {false, true}) {
    const std::string tail = number ? "1" : "0";
    t.row("SURED.P", "1110 1011 0100" + tail, {shape(), atomic_op(24, false), clamp()},
          {place(), kD, handle(number)}, lower_sured);
    t.trait(kFormatted, 1);
    t.row("SURED.D", "1110 1011 0101" + tail,
          {bytes(23), shape(), atomic_op(24, false), type(20), clamp()},
          {place(), kD.taking({{{20, 3}, kTypeRegisters}}), handle(number)}, lower_sured);
    t.trait(kStores, 2);
    typed_rows(t, 1);
  }
}

void atomic_row(TableBuilder& t, const char* name, const char* pattern, std::vector<Mod> mods,
                Field type_at, bool number, bool swaps) {
  const Count width = type_at.present() ? Count{type_at, kTypeRegisters} : Count{{}, "1"};
  std::vector<Count> data = {width};
  if (swaps) data.push_back(width);  // the value to compare and the new one
  mods.push_back(clamp());
  t.row(name, pattern, std::move(mods),
        {kD.taking({width}), place(), kB.taking(data), handle(number)},
        swaps ? lower_suatom_cas : lower_suatom);
  if (!type_at.present()) t.trait(kFormatted, 1);
}

/// The row added last has a predicate, and so have those of each target's halves.
void predicated(TableBuilder& t, const OperandSpec& predicate) {
  add_resident(t.last(1)[0], predicate);
  typed_rows(t, 1);
}

void surface_atomic_rows(TableBuilder& t) {
  const Mod op = atomic_op(29, true), swap = other(30, 3, {{0, "CAS"}});
  const Field by_number{51, 3}, by_handle{36, 3};
  for (const bool number : {false, true}) {
    atomic_row(t, "SUATOM.P", number ? "1110 1010 0110 1" : "1110 1010 0110 0", {shape(), op}, {},
               number, false);
    atomic_row(t, "SUATOM.P", number ? "1110 1010 1100 1" : "1110 1010 1100 0",
               {shape(), other(29, 4, named({"CAS"}, "???", 16))}, {}, number, true);
    const Field at = number ? by_number : by_handle;
    atomic_row(t, "SUATOM.D", number ? "1110 1010 00" : "1110 1010 0111 0",
               {bytes(28), shape(), op, type(at.pos)}, at, number, false);
    typed_rows(t, 1);
    atomic_row(t, "SUATOM.D", number ? "1110 1010 10" : "1110 1010 1101 0",
               {bytes(28), shape(), swap, type(at.pos)}, at, number, true);
    typed_rows(t, 1);
    // With a predicate the operation has no field.
    atomic_row(t, "SUATOM.D", number ? "1110 1010 10" : "1110 1010 1101 0",
               {bytes(28), shape(), {ModId::other, {}, {{0, "CAS"}}}, type(at.pos)}, at, number,
               true);
    predicated(t, resident(30));
  }
  atomic_row(t, "SUATOM.D", "1110 1011 10", {bytes(28), shape(), op, type(by_handle.pos)},
             by_handle, false, false);
  predicated(t, resident(51));
}

}  // namespace

void surface_rows(TableBuilder& t) {
  const size_t first = t.size();
  t.variable_latency(true);
  t.claims(isa::Claim::effect);
  access_rows(t, false);
  access_rows(t, true);
  reduction_rows(t);
  surface_atomic_rows(t);
  t.trait(kTexture, t.size() - first);
  t.claims(isa::Claim::exact);
}

}  // namespace lanewise::sass::table
