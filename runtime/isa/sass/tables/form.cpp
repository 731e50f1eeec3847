// Looking things up in the table.
#include "runtime/isa/sass/tables/form.hpp"

#include <algorithm>
#include <unordered_map>

#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

const Mod* Form::mod(ModId id) const {
  for (const Mod& m : mods)
    if (m.id == id) return &m;
  return nullptr;
}

const OperandSpec* Form::operand(Role role) const {
  for (const OperandSpec& o : operands)
    if (o.role == role) return &o;
  return nullptr;
}

uint64_t covered_bits(const Form& f) {
  uint64_t bits = f.mask | f.ignored;
  if (f.has_guard) bits |= kGuard.mask() | kGuardNegate.mask();
  for (const Mod& m : f.mods) bits |= m.mask();
  for (const OperandSpec& o : f.operands) {
    bits |= o.field.mask();
    for (const Field& x : {o.sign, o.neg, o.abs, o.inv, o.high, o.cc, o.part, o.format})
      if (x.present()) bits |= x.mask();
    if (o.kind == OperandSpec::Kind::address || o.kind == OperandSpec::Kind::cindex ||
        o.kind == OperandSpec::Kind::indirect || o.kind == OperandSpec::Kind::attribute_at)
      bits |= Field{8, 8}.mask();
    if (o.kind == OperandSpec::Kind::cindex) bits |= Field{36, 5}.mask();
  }
  return bits;
}

namespace {

bool codes_have_names(const Form& f, uint64_t word) {
  for (const OperandSpec& o : f.operands)
    if (o.names != nullptr && o.names[o.field.get(word)].empty()) return false;
  for (const Mod& m : f.mods) {
    bool found = false;
    for (const Code& c : m.codes) found = found || c.value == m.get(word);
    if (!found) return false;
  }
  return true;
}

}  // namespace

std::string_view kind_name(OperandSpec::Kind kind) {
  static constexpr std::string_view kNames[] = {
      "R",   "P",  "imm",  "imm", "c[]", "[]",       "target", "SR",   "SB",  "{SB}", "c[R]",
      "R+1", "RZ", "CC.T", "CC",  "PR",  "R target", "signs",  "name", "a[]", "a[]"};
  return kNames[static_cast<size_t>(kind)];
}

std::string not_executed(const Form& f) {
  const std::string_view name = std::string_view(f.mnemonic).substr(0, f.mnemonic.find('.'));
  if (name == "TEX")
    return "TEX.LC is not executed: no document says what limits its level of detail";
  if (f.is(kTexture) && (name == "TMML" || name == "TXA"))
    return std::string(name) +
           " is not executed: its level of detail comes from the differences between lanes";
  if (f.is(kGraphics))
    return std::string(name) + " is not executed: it belongs to a graphics pipeline";
  return f.mnemonic + " is not supported yet in this form";
}

const Form* decode_form(uint64_t word, unsigned arch) {
  // By the bits that every row asks for.
  struct Index {
    uint64_t mask = ~uint64_t{0};
    std::unordered_map<uint64_t, std::vector<const Form*>> forms;
  };
  static const auto index = [] {
    Index x;
    for (const Form& f : forms()) x.mask &= f.mask;
    for (const Form& f : forms()) x.forms[f.match & x.mask].push_back(&f);
    return x;
  }();
  const auto found = index.forms.find(word & index.mask);
  if (found == index.forms.end()) return nullptr;
  for (const Form* f : found->second) {
    if ((word & f->mask) != f->match || !f->fits(arch)) continue;
    if ((word & ~covered_bits(*f)) == 0 && codes_have_names(*f, word)) return f;
  }
  return nullptr;
}

uint64_t Instruction::mod(ModId id) const {
  const Mod* m = form->mod(id);
  return m == nullptr ? 0 : m->get(word);
}

bool Listing::ok() const {
  for (const Diagnostic& d : diagnostics)
    if (!d.warning) return false;
  return true;
}

std::optional<Instruction> decode(uint64_t word, Control control, unsigned arch) {
  const Form* form = decode_form(word, arch);
  if (form == nullptr || !control_complaint(*form, word, control).empty()) return std::nullopt;
  Instruction i;
  i.form = form;
  i.word = word;
  i.control = control;
  return i;
}

Instruction undecoded(uint64_t word, Control control) {
  Instruction i;
  i.form = &unknown_form();
  i.word = word;
  i.control = control;
  return i;
}

/// Of half precision, whose rows name scoreboards as well, the vendor's tools take the flag of a
/// fourth operand, but for three kinds.
static bool ignores_fourth(const Form& form) {
  if (!form.mnemonic.starts_with('H') || form.mnemonic == "HSETP2" || form.mnemonic == "HFMA2_32I")
    return false;
  const OperandSpec* c = form.operand(Role::c);
  return c == nullptr || c->kind != OperandSpec::Kind::cbank;
}

std::string control_complaint(const Form& form, uint64_t word, Control control) {
  const bool scoreboards = control.write_sb() != 7 || control.read_sb() != 7;
  if (!form.variable_latency && scoreboards)
    return form.mnemonic + " has a fixed latency: it cannot signal a scoreboard (&wr, &rd)";
  if (form.shows_reuse && !ignores_fourth(form) && (control.bits >> 20 & 1) != 0)
    return form.mnemonic + " has no fourth operand to keep in the operand cache";
  const Mod* cache = form.mod(ModId::cache);
  const Mod* op = form.mod(ModId::op);
  if (!scoreboards || form.mnemonic != "CCTL" || op->get(word) != 6) return {};
  const uint64_t which = cache->get(word);
  if (which != 2 && which != 3) return {};
  return "CCTL.C.IVALL and CCTL.I.IVALL run in dispatch and cannot signal a scoreboard (&rd, &wr)";
}

const std::array<std::string_view, 256>& special_registers() {
  // By the code of the first of several in a row.
  static const std::pair<size_t, std::vector<std::string_view>> kRuns[] = {
      {0x00,
       {"SR_LANEID", "SR_CLOCK", "SR_VIRTCFG", "SR_VIRTID", "SR_PM0", "SR_PM1", "SR_PM2", "SR_PM3",
        "SR_PM4", "SR_PM5", "SR_PM6", "SR_PM7"}},
      {0x10,
       {"SR_PRIM_TYPE", "SR_INVOCATION_ID", "SR_Y_DIRECTION", "SR_THREAD_KILL", "SM_SHADER_TYPE"}},
      {0x15,
       {"SR_DIRECTCBEWRITEADDRESSLOW", "SR_DIRECTCBEWRITEADDRESSHIGH", "SR_DIRECTCBEWRITEENABLED"}},
      {0x18,
       {"SR_MACHINE_ID_0", "SR_MACHINE_ID_1", "SR_MACHINE_ID_2", "SR_MACHINE_ID_3", "SR_AFFINITY"}},
      {0x1d, {"SR_INVOCATION_INFO", "SR_WSCALEFACTOR_XY", "SR_WSCALEFACTOR_Z"}},
      {0x20, {"SR_TID", "SR_TID.X", "SR_TID.Y", "SR_TID.Z"}},
      {0x24, {"SR_CTA_PARAM", "SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z"}},
      {0x28, {"SR_NTID", "SR_CirQueueIncrMinusOne", "SR_NLATC"}},
      {0x30,
       {"SR_SWINLO", "SR_SWINSZ", "SR_SMEMSZ", "SR_SMEMBANKS", "SR_LWINLO", "SR_LWINSZ",
        "SR_LMEMLOSZ", "SR_LMEMHIOFF", "SR_EQMASK", "SR_LTMASK", "SR_LEMASK", "SR_GTMASK",
        "SR_GEMASK", "SR_REGALLOC", "SR_CTXADDR"}},
      {0x40, {"SR_GLOBALERRORSTATUS"}},
      {0x42, {"SR_WARPERRORSTATUS", "SR_WARPERRORSTATUSCLEAR"}},
      {0x48,
       {"SR_PM_HI0", "SR_PM_HI1", "SR_PM_HI2", "SR_PM_HI3", "SR_PM_HI4", "SR_PM_HI5", "SR_PM_HI6",
        "SR_PM_HI7", "SR_CLOCKLO", "SR_CLOCKHI", "SR_GLOBALTIMERLO", "SR_GLOBALTIMERHI"}},
      {0x60,
       {"SR_HWTASKID", "SR_CIRCULARQUEUEENTRYINDEX", "SR_CIRCULARQUEUEENTRYADDRESSLOW",
        "SR_CIRCULARQUEUEENTRYADDRESSHIGH"}}};
  static const auto names = [] {
    std::array<std::string_view, 256> all;
    for (const auto& [first, run] : kRuns) std::ranges::copy(run, all.begin() + first);
    return all;
  }();
  return names;
}

const std::vector<std::string_view>& flag_tests() {
  static const std::vector<std::string_view> names = {
      "F",      "LT",     "EQ",     "LE",      "GT",      "NE",      "GE",  "NUM",
      "NAN",    "LTU",    "EQU",    "LEU",     "GTU",     "NEU",     "GEU", "T",
      "OFF",    "LO",     "SFF",    "LS",      "HI",      "SFT",     "HS",  "OFT",
      "CSM_TA", "CSM_TR", "CSM_MX", "FCSM_TA", "FCSM_TR", "FCSM_MX", "RLE", "RGT"};
  return names;
}

}  // namespace lanewise::sass
