// Rows of attributes, interpolation and pixels: they decode, print, assemble and say which
// registers they touch; a compute runtime executes none of them.
#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

using Fixed = TableBuilder::Fixed;

constexpr Field kBaseRegister{8, 8}, kWidth{47, 2};
constexpr std::string_view kWidths = "1234";

Mod width() {
  return other(kWidth.pos, 2, named({"", "64", "96", "128"}));
}
OperandSpec attribute(uint8_t pos, uint8_t len, bool pattern = false) {
  return simple(Kind::attribute, Role::addr, pos, len).with(&OperandSpec::pattern, pattern);
}
OperandSpec attribute_at(uint8_t len) {
  return address(len).with(&OperandSpec::kind, Kind::attribute_at);
}

/// Physical addresses have no offset, others that are relative to a register name a patch.
void attribute_rows(TableBuilder& t, bool stores) {
  const char* pattern = stores ? "1110 1111 1111 0" : "1110 1111 1101 1";
  const OperandSpec data = kD.taking({{kWidth, kWidths}}), vertex = optional(kC, kRZ);
  const auto row = [&](const Mod& patch, const OperandSpec& place, std::vector<Fixed> fixed) {
    std::vector<Mod> mods = {patch, width()};
    if (!stores) mods.insert(mods.begin(), set(32, "O"));
    const std::vector<OperandSpec> operands =
        stores ? std::vector{place, data, vertex} : std::vector{data, place, vertex};
    t.row(stores ? "AST" : "ALD", pattern, std::move(mods), operands, nullptr, std::move(fixed));
    if (stores) t.trait(kStores);
  };
  row(set(31, "P"), attribute(20, 10), {{kBaseRegister, kRZ}});
  row(other(31, 1, {{0, "PHYS"}}), attribute_at(0), {{{20, 11}, 0}});
  row(other(31, 1, {{1, "P"}}), attribute_at(11), {});
}

void address_rows(TableBuilder& t) {
  const OperandSpec p = optional(pred(Role::p, 44), kPT), d = kD,
                    offset = optional(imm(Role::c, 20, 11, true));
  OperandSpec unsigned_offset = optional(imm(Role::c, 20, 10));
  const std::vector<Mod> mods = {set(32, "O"), width()};
  constexpr std::string_view kCode = "1110 1111 1010 0";
  t.row("AL2P", kCode, mods, {p, d, unsigned_offset}, nullptr, {{kBaseRegister, kRZ}});
  t.row("AL2P", kCode, mods, {p, d, kA, offset}, nullptr);
  t.row("ISBERD", "1110 1111 1101 0",
        {set(32, "O"), other(33, 2, named({"", "PATCH", "PRIM", "ATTR"})), set(31, "SKEW"),
         other(47, 2, named({"", "U16", "32", "???3"}))},
        {d, address(0)}, nullptr);
  const Mod what = other(31, 3,
                         named({"", "COVMASK", "COVERED", "OFFSET", "CENTROID_OFFSET", "MY_INDEX",
                                "INVALID0", "INVALID1"}));
  t.row("PIXLD", "1110 1111 1110 1", {what}, {d, address(8)}, nullptr, {{{45, 3}, kPT}});
  t.row("PIXLD", "1110 1111 1110 1", {what}, {d, pred(Role::p, 45), address(8)}, nullptr);
}

/// With RZ for the register that gives the offset, which text leaves out, and with another.
void interpolation_rows(TableBuilder& t) {
  const Mod mode = other(54, 2, named({"PASS", "", "CONSTANT", "SC"})),
            sample = other(52, 2, named({"", "CENTROID", "OFFSET", "INVALID"}));
  const OperandSpec d = kD, b = kB, c = kC;
  for (const bool indexed : {false, true})
    for (const bool offset : {false, true}) {
      std::vector<Fixed> fixed = {{{38, 1}, indexed ? 1U : 0U}};
      if (!indexed) fixed.push_back({kBaseRegister, kRZ});
      if (!offset) fixed.push_back({{39, 8}, kRZ});
      OperandSpec p = pred(Role::p, 47).with_neg(50);
      if (!indexed) p = optional(p);
      std::vector<OperandSpec> operands = {d, indexed ? attribute_at(0) : attribute(28, 10, true),
                                           b};
      if (offset) operands.push_back(c);
      operands.push_back(p);
      t.row(indexed ? "IPA.IDX" : "IPA", "1110 0000", {mode, sample, set(51, "SAT")}, operands,
            nullptr, std::move(fixed));
    }
}

void output_rows(TableBuilder& t) {
  const Mod what = other(39, 2, named({"INVALIDOUTSTYPE0", "EMIT", "CUT", "EMIT_THEN_CUT"}));
  const OperandSpec d = kD, a = kA;
  t.row("OUT", "1111 1011 1110 0", {what}, {d, a, kB}, nullptr);
  t.row("OUT", "1110 1011 1110 0", {what}, {d, a, cbank(Role::b)}, nullptr);
  t.row("OUT", "1111 011- 1110 0", {what}, {d, a, imm20(Role::b)}, nullptr);
  t.variable_latency(false);
  Form& stop = t.row("STP", "1110 1110 1010 0", {set(31, "WAIT")}, {imm(Role::a, 20, 8)}, nullptr);
  stop.has_guard = false;
  stop.phased = true;
}

}  // namespace

void graphics_rows(TableBuilder& t) {
  const size_t first = t.size();
  t.variable_latency(true);
  attribute_rows(t, false);
  attribute_rows(t, true);
  address_rows(t);
  interpolation_rows(t);
  output_rows(t);
  t.trait(kGraphics, t.size() - first);
}

}  // namespace lanewise::sass::table
