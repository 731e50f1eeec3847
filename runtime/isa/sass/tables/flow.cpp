// Rows of control flow: branches, the branch stack, exits, and what only tools write.
#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

using Fixed = TableBuilder::Fixed;

constexpr Field kConstantTarget{5, 1};

OperandSpec target() {
  return simple(Kind::target, Role::target, 20, 24);
}

void branch_rows(TableBuilder& t) {
  const Mod limit = flag(ModId::limit, 6, "LMT");
  const std::vector<Mod> bra = {flag(ModId::uniform, 7, "U"), limit};
  const OperandSpec test = flag_test(0);
  t.row("BRA", "1110 0010 0100", bra, {test, target()}, lower_bra, {{kConstantTarget, 0}});
  t.flow(Flow::branch);
  t.row("BRA", "1110 0010 0100", bra, {test, cbank_bytes(Role::b)}, nullptr,
        {{kConstantTarget, 1}});
  t.claims(isa::Claim::effect);
  t.row("JMP", "1110 0010 0001", bra, {test, imm(Role::b, 20, 32)}, lower_bra,
        {{kConstantTarget, 0}});
  t.flow(Flow::branch);
  t.trait(kAbsolute);
  t.claims(isa::Claim::exact);
  t.row("JMP", "1110 0010 0001", bra, {test, cbank_bytes(Role::b)}, nullptr,
        {{kConstantTarget, 1}});
  for (const bool relative : {true, false}) {
    const char* name = relative ? "BRX" : "JMX";
    const char* code = relative ? "1110 0010 0101" : "1110 0010 0000";
    const OperandSpec place =
        imm(Role::b, 20, relative ? 24 : 32, true).with(&OperandSpec::kind, Kind::indirect);
    t.claims(isa::Claim::effect);
    t.row(name, code, {limit}, {test, place}, lower_brx, {{kConstantTarget, 0}});
    t.flow(Flow::indirect);
    if (!relative) t.trait(kAbsolute);
    t.claims(isa::Claim::exact);
    t.row(name, code, {limit}, {test, cindex()}, nullptr, {{kConstantTarget, 1}});
  }
}

/// Pushes of the branch stack are unconditional.
void push_rows(TableBuilder& t) {
  const struct {
    const char *name, *code;
    bool counts, runs;
    Flow flow;
    Token token;
  } pushes[] = {{"SSY", "1110 0010 1001", false, true, Flow::push, Token::sync},
                {"PBK", "1110 0010 1010", false, true, Flow::push, Token::brk},
                {"PCNT", "1110 0010 1011", false, true, Flow::push, Token::cont},
                {"PRET", "1110 0010 0111", true, true, Flow::push, Token::ret},
                {"CAL", "1110 0010 0110", true, true, Flow::call, Token::ret},
                {"PEXIT", "1110 0010 0011", false, false, Flow::next, Token::sync},
                {"PLONGJMP", "1110 0010 1000", false, false, Flow::next, Token::sync}};
  const Mod noinc{ModId::limit, {6, 1}, {{1, ""}, {0, "NOINC"}}};
  for (const auto& p : pushes) {
    std::vector<Mod> mods;
    if (p.counts) mods.push_back(noinc);
    std::vector<Fixed> relative = {{kConstantTarget, 0}};
    if (p.name == std::string_view("PEXIT")) relative.clear();
    t.row(p.name, p.code, mods, {target()}, p.runs ? lower_push : nullptr, relative).has_guard =
        false;
    t.flow(p.flow, p.token);
    if (p.name == std::string_view("PEXIT")) continue;
    t.row(p.name, p.code, mods, {cbank_bytes(Role::b)}, nullptr, {{kConstantTarget, 1}}).has_guard =
        false;
  }
  t.claims(isa::Claim::effect);
  t.row("JCAL", "1110 0010 0010", {noinc}, {imm(Role::b, 20, 32)}, lower_push,
        {{kConstantTarget, 0}})
      .has_guard = false;
  t.flow(Flow::call, Token::ret);
  t.trait(kAbsolute);
  t.claims(isa::Claim::exact);
  t.row("JCAL", "1110 0010 0010", {noinc}, {cbank_bytes(Role::b)}, nullptr, {{kConstantTarget, 1}})
      .has_guard = false;
}

void exit_rows(TableBuilder& t) {
  const OperandSpec test = flag_test(0);
  t.row("SYNC", "1111 0000 1111 1", {}, {test}, lower_pop);
  t.flow(Flow::pop, Token::sync);
  t.row("BRK", "1110 0011 0100", {}, {test}, lower_pop);
  t.flow(Flow::pop, Token::brk);
  t.row("CONT", "1110 0011 0101", {}, {test}, lower_pop);
  t.flow(Flow::pop, Token::cont);
  t.row("RET", "1110 0011 0010", {}, {test}, lower_pop);
  t.flow(Flow::pop, Token::ret);
  t.row("LONGJMP", "1110 0011 0001", {}, {test}, nullptr);
  t.claims(isa::Claim::effect);
  t.row("EXIT", "1110 0011 0000", {flag(ModId::limit, 5, "KEEPREFCOUNT")}, {test}, lower_exit);
  t.flow(Flow::exit);
  t.row("KIL", "1110 0011 0011", {}, {test}, lower_kil);
  t.trait(kKills);
  const OperandSpec number = optional(imm(Role::a, 20, 20));  // 0 is not written
  t.row("BPT.TRAP", "1110 0011 1010", {}, {number}, lower_trap, {{{6, 3}, 3}}).has_guard = false;
  t.row("BPT", "1110 0011 1010",
        {{ModId::op,
          {6, 3},
          {{0, "DRAIN_ILLEGAL"}, {1, "CAL"}, {2, "PAUSE"}, {4, "INT"}, {5, "DRAIN"}, {7, "???7"}}}},
        {number}, nullptr)
      .has_guard = false;
  t.row("BPT", "1110 0011 1010", {{ModId::op, {6, 3}, {{6, "???6"}}}}, {number}, nullptr)
      .has_guard = false;
  t.later(1, kFirstPascal, [](Form& f) { f.mods[0].codes[0].text = "PAUSE_QUIET"; });
  t.row("RTT", "1110 0011 0110",
        {{ModId::op, {0, 2}, named({"", "TERMINATE", "FALLTHROUGH", "PREEMPTED"})}}, {}, nullptr)
      .has_guard = false;
  t.row("SAM", "1110 0011 0111", {}, {}, nullptr).has_guard = false;
  t.row("RAM", "1110 0011 1000", {}, {}, nullptr).has_guard = false;
  Form& ide = t.row("IDE", "1110 0011 1001", {{ModId::op, {5, 1}, named({"EN", ""})}},
                    {imm(Role::a, 20, 16)}, nullptr);
  ide.has_guard = false;
  ide.variable_latency = true;
}

void wait_rows(TableBuilder& t) {
  t.claims(isa::Claim::exact);
  t.row("NOP", "0101 0000 1011 0", {flag(ModId::trigger, 13, "TRIG")},
        {flag_test(8), optional(imm(Role::a, 20, 16))}, lower_nop);
  t.claims(isa::Claim::effect);
  OperandSpec also = optional(simple(Kind::sbmask, Role::c, 0, 6));
  t.row("DEPBAR.LE", "1111 0000 1111 0", {},
        {simple(Kind::sb, Role::a, 26, 3), imm(Role::b, 20, 6), also}, lower_nop, {{{29, 1}, 1}});
  t.trait(kWaits);
  also.role = Role::a;
  t.row("DEPBAR", "1111 0000 1111 0", {}, {also}, lower_nop, {{{29, 1}, 0}});
  t.trait(kWaits);
  // nvdisasm takes the word 0 for a NOP.
  Form& zero = t.row("NOP", "", {}, {}, lower_nop, {{{0, 63}, 0}, {{63, 1}, 0}});
  zero.has_guard = false;
  zero.variable_latency = true;
  zero.shows_reuse = false;
  zero.decode_only = true;
  t.claims(isa::Claim::exact);
}

/// Registers of the machine that no program for it can read here.
void machine_rows(TableBuilder& t) {
  t.variable_latency(true);
  t.row("GETCRSPTR", "1110 0010 1100", {}, {kD}, nullptr).has_guard = false;
  t.row("GETLMEMBASE", "1110 0010 1101", {}, {kD}, nullptr).has_guard = false;
  t.row("SETCRSPTR", "1110 0010 1110", {}, {kA}, nullptr).has_guard = false;
  t.row("SETLMEMBASE", "1110 0010 1111", {}, {kA}, nullptr).has_guard = false;
  t.row("R2B", "1111 0000 1100 0",
        {{ModId::mode, {32, 2}, named({"", "RESULT", "WARP", "INVALID"})}},
        {imm(Role::a, 28, 4), kB}, nullptr);
  t.variable_latency(false);
  t.row("LEPC", "0101 0000 1101 0", {}, {kD}, nullptr);
  t.row("VOTE.VTG", "0101 0000 1110 0",
        {{ModId::mode, {48, 2}, named({"R", "A", "RA", "INVALIDVTGMODE3"})}},
        {imm(Role::a, 20, 28)}, nullptr);
}

}  // namespace

void flow_rows(TableBuilder& t) {
  branch_rows(t);
  push_rows(t);
  exit_rows(t);
  wait_rows(t);
  machine_rows(t);
}

}  // namespace lanewise::sass::table
