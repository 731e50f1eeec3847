// Looking things up in the table.
#include "runtime/isa/sass/tables/form.hpp"

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

const std::vector<SpecialRegister>& special_registers() {
  static const std::vector<SpecialRegister> names = {{0x00, "SR_LANEID"},
                                                     {0x01, "SR_CLOCK"},
                                                     {0x02, "SR_VIRTCFG"},
                                                     {0x03, "SR_VIRTID"},
                                                     {0x04, "SR_PM0"},
                                                     {0x05, "SR_PM1"},
                                                     {0x06, "SR_PM2"},
                                                     {0x07, "SR_PM3"},
                                                     {0x08, "SR_PM4"},
                                                     {0x09, "SR_PM5"},
                                                     {0x0a, "SR_PM6"},
                                                     {0x0b, "SR_PM7"},
                                                     {0x10, "SR_PRIM_TYPE"},
                                                     {0x11, "SR_INVOCATION_ID"},
                                                     {0x12, "SR_Y_DIRECTION"},
                                                     {0x13, "SR_THREAD_KILL"},
                                                     {0x14, "SM_SHADER_TYPE"},
                                                     {0x15, "SR_DIRECTCBEWRITEADDRESSLOW"},
                                                     {0x16, "SR_DIRECTCBEWRITEADDRESSHIGH"},
                                                     {0x17, "SR_DIRECTCBEWRITEENABLED"},
                                                     {0x18, "SR_MACHINE_ID_0"},
                                                     {0x19, "SR_MACHINE_ID_1"},
                                                     {0x1a, "SR_MACHINE_ID_2"},
                                                     {0x1b, "SR_MACHINE_ID_3"},
                                                     {0x1c, "SR_AFFINITY"},
                                                     {0x1d, "SR_INVOCATION_INFO"},
                                                     {0x1e, "SR_WSCALEFACTOR_XY"},
                                                     {0x1f, "SR_WSCALEFACTOR_Z"},
                                                     {0x20, "SR_TID"},
                                                     {0x21, "SR_TID.X"},
                                                     {0x22, "SR_TID.Y"},
                                                     {0x23, "SR_TID.Z"},
                                                     {0x24, "SR_CTA_PARAM"},
                                                     {0x25, "SR_CTAID.X"},
                                                     {0x26, "SR_CTAID.Y"},
                                                     {0x27, "SR_CTAID.Z"},
                                                     {0x28, "SR_NTID"},
                                                     {0x29, "SR_CirQueueIncrMinusOne"},
                                                     {0x2a, "SR_NLATC"},
                                                     {0x30, "SR_SWINLO"},
                                                     {0x31, "SR_SWINSZ"},
                                                     {0x32, "SR_SMEMSZ"},
                                                     {0x33, "SR_SMEMBANKS"},
                                                     {0x34, "SR_LWINLO"},
                                                     {0x35, "SR_LWINSZ"},
                                                     {0x36, "SR_LMEMLOSZ"},
                                                     {0x37, "SR_LMEMHIOFF"},
                                                     {0x38, "SR_EQMASK"},
                                                     {0x39, "SR_LTMASK"},
                                                     {0x3a, "SR_LEMASK"},
                                                     {0x3b, "SR_GTMASK"},
                                                     {0x3c, "SR_GEMASK"},
                                                     {0x3d, "SR_REGALLOC"},
                                                     {0x3e, "SR_CTXADDR"},
                                                     {0x40, "SR_GLOBALERRORSTATUS"},
                                                     {0x42, "SR_WARPERRORSTATUS"},
                                                     {0x43, "SR_WARPERRORSTATUSCLEAR"},
                                                     {0x48, "SR_PM_HI0"},
                                                     {0x49, "SR_PM_HI1"},
                                                     {0x4a, "SR_PM_HI2"},
                                                     {0x4b, "SR_PM_HI3"},
                                                     {0x4c, "SR_PM_HI4"},
                                                     {0x4d, "SR_PM_HI5"},
                                                     {0x4e, "SR_PM_HI6"},
                                                     {0x4f, "SR_PM_HI7"},
                                                     {0x50, "SR_CLOCKLO"},
                                                     {0x51, "SR_CLOCKHI"},
                                                     {0x52, "SR_GLOBALTIMERLO"},
                                                     {0x53, "SR_GLOBALTIMERHI"},
                                                     {0x60, "SR_HWTASKID"},
                                                     {0x61, "SR_CIRCULARQUEUEENTRYINDEX"},
                                                     {0x62, "SR_CIRCULARQUEUEENTRYADDRESSLOW"},
                                                     {0x63, "SR_CIRCULARQUEUEENTRYADDRESSHIGH"}};
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

const std::vector<std::string_view>& known_mnemonics() {
  static const std::vector<std::string_view> names = {
      "AL2P",      "ALD",         "AST",       "ATOM",        "ATOMS",     "B2R",      "BAR",
      "BFE",       "BFI",         "BPT",       "BRA",         "BRK",       "BRX",      "CAL",
      "CCTL",      "CCTLL",       "CCTLT",     "CONT",        "CS2R",      "CSET",     "CSETP",
      "DADD",      "DEPBAR",      "DFMA",      "DMNMX",       "DMUL",      "DSET",     "DSETP",
      "EXIT",      "F2F",         "F2I",       "FADD",        "FADD32I",   "FCHK",     "FCMP",
      "FFMA",      "FFMA32I",     "FLO",       "FMNMX",       "FMUL",      "FMUL32I",  "FSET",
      "FSETP",     "FSWZADD",     "GETCRSPTR", "GETLMEMBASE", "HADD2",     "HFMA2",    "HMUL2",
      "HSET2",     "HSETP2",      "I2F",       "I2I",         "IADD",      "IADD3",    "IADD32I",
      "ICMP",      "IDE",         "IMAD",      "IMAD32I",     "IMADSP",    "IMNMX",    "IMUL",
      "IMUL32I",   "IPA",         "ISBERD",    "ISCADD",      "ISCADD32I", "ISET",     "ISETP",
      "JCAL",      "JMP",         "JMX",       "KIL",         "LD",        "LDC",      "LDG",
      "LDL",       "LDS",         "LEA",       "LEPC",        "LONGJMP",   "LOP",      "LOP3",
      "LOP32I",    "MEMBAR",      "MOV",       "MOV32I",      "MUFU",      "NOP",      "OUT",
      "P2R",       "PBK",         "PCNT",      "PEXIT",       "PIXLD",     "PLONGJMP", "POPC",
      "PRET",      "PRMT",        "PSET",      "PSETP",       "R2B",       "R2P",      "RAM",
      "RED",       "RET",         "RRO",       "RTT",         "S2R",       "SAM",      "SEL",
      "SETCRSPTR", "SETLMEMBASE", "SHF",       "SHFL",        "SHL",       "SHR",      "SSY",
      "ST",        "STG",         "STL",       "STP",         "STS",       "SUATOM",   "SULD",
      "SURED",     "SUST",        "SYNC",      "TEX",         "TEXS",      "TLD",      "TLD4",
      "TLD4S",     "TLDS",        "TMML",      "TXA",         "TXD",       "TXQ",      "VABSDIFF",
      "VABSDIFF4", "VADD",        "VMAD",      "VMNMX",       "VOTE",      "VSET",     "VSETP",
      "VSHL",      "VSHR",        "XMAD"};
  return names;
}

}  // namespace lanewise::sass
