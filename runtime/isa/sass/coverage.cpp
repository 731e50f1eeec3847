// What of the ISA can run, read off the table.
#include <fmt/format.h>

#include <set>

#include "runtime/isa/sass/semantics.hpp"

namespace lanewise::sass {
namespace {

/// Forms that public kernels use and the table has no row for yet.
const std::vector<std::string_view>& forms_without_row() {
  static const std::vector<std::string_view> names = {"CSETP.NEU.AND",
                                                      "DADD.RM",
                                                      "DADD.RP",
                                                      "DFMA.RM",
                                                      "DFMA.RP",
                                                      "DFMA.RZ",
                                                      "DMUL.RM",
                                                      "DMUL.RP",
                                                      "DSET.EQ.AND",
                                                      "DSET.GEU.AND",
                                                      "DSET.GT.AND",
                                                      "DSET.LE.AND",
                                                      "DSET.LT.AND",
                                                      "DSET.NAN.AND",
                                                      "DSET.NEU.AND",
                                                      "DSET.NUM.AND",
                                                      "DSETP.EQ.AND",
                                                      "DSETP.EQ.OR",
                                                      "DSETP.GE.AND",
                                                      "DSETP.GE.XOR",
                                                      "DSETP.GEU.AND",
                                                      "DSETP.GEU.OR",
                                                      "DSETP.GT.AND",
                                                      "DSETP.GT.OR",
                                                      "DSETP.GTU.AND",
                                                      "DSETP.GTU.OR",
                                                      "DSETP.LEU.OR",
                                                      "DSETP.LT.AND",
                                                      "DSETP.LT.OR",
                                                      "DSETP.LTU.OR",
                                                      "DSETP.NAN.AND",
                                                      "DSETP.NAN.OR",
                                                      "DSETP.NE.AND",
                                                      "DSETP.NE.OR",
                                                      "DSETP.NEU.AND",
                                                      "DSETP.NEU.OR",
                                                      "FCHK.DIVIDE",
                                                      "FCMP",
                                                      "IMNMX.U32.XHI",
                                                      "IMNMX.U32.XLO",
                                                      "IMNMX.XHI",
                                                      "PSET.AND.AND",
                                                      "SULD.D.BA.2D.U8.TRAP",
                                                      "SUST.D.BA.1D.128.TRAP",
                                                      "SUST.D.BA.2D.TRAP",
                                                      "SUST.D.BA.2D.U8.TRAP",
                                                      "SUST.D.BA.2D_ARRAY.128.TRAP",
                                                      "SUST.D.BA.3D.U8.TRAP",
                                                      "TEX.B.LL.P",
                                                      "TEX.P",
                                                      "TEXS.NODEP.P",
                                                      "TEXS.NODEP.T",
                                                      "TEXS.P",
                                                      "TEXS.T",
                                                      "TLDS.LZ.P",
                                                      "TLDS.LZ.T",
                                                      "VABSDIFF4.U8.U8.ACC",
                                                      "VMNMX.MAX",
                                                      "VMNMX.MIN",
                                                      "VMNMX.MX.MAX",
                                                      "VMNMX.MX.MIN",
                                                      "VMNMX.UD.U32.U32.MIN",
                                                      "VMNMX.UD.U32.U32.MX.MAX"};
  return names;
}

/// What decodes but stands for no form: the vendor prints such codes with these words.
bool is_invalid(const Code& c) {
  return c.text.starts_with("INVALID") || c.text.starts_with("???");
}

/// A word of the form with these modifiers and harmless operands.
Instruction sample(const Form& f, uint64_t modifiers) {
  Instruction i;
  i.form = &f;
  i.word = f.match | modifiers;
  i.pc = pc_of(0);
  if (f.has_guard) kGuard.set(i.word, kPT);
  for (const OperandSpec& o : f.operands) {
    if (o.kind == OperandSpec::Kind::sreg) o.field.set(i.word, 0x21);
    if (o.kind == OperandSpec::Kind::cbank) o.field.set(i.word, 0x140 / 4);
    if (o.optional) o.field.set(i.word, o.left_out());
    // XMAD.CSFU is about two upper halves.
    if (i.mod(ModId::acc) == 3 && o.high.present()) o.high.set(i.word, 1);
  }
  return i;
}

/// The lowering itself says what it can run.
Coverage describe(const Form& f, const std::string& name, uint64_t modifiers) {
  // Jumps to what the branch stack holds run wherever a push comes first.
  if (f.lower == lower_pop) return {name, FormState::exact, ""};
  static const Instruction exit = *parse_instruction("EXIT").instruction;
  Kernel k;
  k.name = "coverage";
  k.code = {sample(f, modifiers), exit};
  k.code[1].pc = pc_of(1);
  Listing listing;
  listing.kernels.push_back(std::move(k));
  for (const Diagnostic& d : lower(listing).diagnostics)
    if (!d.warning) return {name, FormState::unsupported, "decodes; " + d.message};
  if (f.lower == lower_mufu)
    return {name, FormState::approximate, "the device's own approximation, see docs/numerics.md"};
  return {name, FormState::exact, ""};
}

void expand(const Form& f, size_t mod, const std::string& name, uint64_t modifiers,
            std::set<std::string>& seen, std::vector<Coverage>& out) {
  if (mod == f.mods.size()) {
    if (seen.insert(name).second) out.push_back(describe(f, name, modifiers));
    return;
  }
  for (const Code& c : f.mods[mod].codes) {
    if (c.alias || is_invalid(c)) continue;
    uint64_t word = modifiers;
    f.mods[mod].field.set(word, c.value);
    expand(f, mod + 1, c.text.empty() ? name : name + "." + std::string(c.text), word, seen, out);
  }
}

}  // namespace

std::vector<Coverage> coverage() {
  std::vector<Coverage> out;
  std::set<std::string> seen, mnemonics;
  for (const Form& f : forms()) {
    mnemonics.insert(f.mnemonic.substr(0, f.mnemonic.find('.')));
    expand(f, 0, f.mnemonic, 0, seen, out);
  }
  for (std::string_view name : forms_without_row())
    if (seen.insert(std::string(name)).second)
      out.push_back({std::string(name), FormState::unsupported, "not yet in the table"});
  for (std::string_view name : known_mnemonics())
    if (mnemonics.count(std::string(name)) == 0)
      out.push_back({std::string(name), FormState::unsupported, "not yet in the table"});
  return out;
}

Coverage coverage_of(std::string_view form) {
  static const std::vector<Coverage> all = coverage();
  for (const Coverage& c : all)
    if (c.form == form) return c;
  const std::string base(form.substr(0, form.find('.')));
  return {std::string(form), FormState::unsupported,
          fmt::format("no row of the table has this form of {}", base)};
}

}  // namespace lanewise::sass
