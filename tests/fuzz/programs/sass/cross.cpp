// SASS operations across lanes.
#include "tests/fuzz/programs/sass/writer.hpp"

namespace lanewise::programs::sass {
namespace {

/// to = p ? 1 : 0.
void as_number(Writer& w, const std::string& lead, const std::string& to, Predicate p) {
  w.line("{}SEL {}, RZ, 0x1, {}", lead, to, (!p).text());
}

void any_or_all(Writer& w, const Cross& s, const std::string& lead) {
  const bool any = s.op == CrossOp::any;
  const Predicate own = test(w, s.test), got{w.predicate(), false};
  if (w.random.chance(3)) {
    // All alike, and what they are alike in.
    w.line("{}VOTE.EQ RZ, {}, {}", lead, got.text(), own.text());
    const Predicate both{w.predicate(), false};
    w.line("PSETP.{}.AND {}, PT, {}, {}, PT", any ? "OR" : "AND", both.text(),
           (any ? !got : got).text(), own.text());
    return as_number(w, lead, w.reg(s.to), both);
  }
  w.line("{}VOTE.{} RZ, {}, {}", lead, any ? "ANY" : "ALL", got.text(), own.text());
  as_number(w, lead, w.reg(s.to), got);
}

void shuffle(Writer& w, const std::string& lead, const std::string& mode, const Cross& s,
             const std::string& lane) {
  const std::string limit = mode == "UP" ? "0x0" : "0x1f";
  const Predicate in_range{w.random.chance(2) ? 7 : w.predicate(), false};
  w.line("{}SHFL.{} {}, {}, {}, {}, {}", lead, mode, in_range.text(), w.reg(s.to), w.reg(s.from),
         lane, limit);
}

void read_first(Writer& w, const Cross& s, const std::string& lead) {
  const std::string here = w.word(), low = w.word(), first = w.word();
  w.line("MOV {}, RZ", here);  // a guard that is false leaves it
  w.line("{}VOTE.ANY {}, PT, PT", lead, here);
  w.line("IADD {}, RZ, -{}", low, here);
  w.line("LOP.AND {}, {}, {}", low, here, low);
  w.line("FLO.U32 {}, {}", first, low);
  shuffle(w, lead, "IDX", s, first);
}

}  // namespace

void cross(Writer& w, const Cross& s) {
  const std::string lead = guard(w, s.guard), to = w.reg(s.to);
  const std::string lane =
      s.lane.immediate ? fmt::format("{:#x}", s.lane.value & 31) : w.reg(s.lane.value);
  switch (s.op) {
    case CrossOp::ballot: {
      const Predicate p = test(w, s.test);
      return w.line("{}VOTE.{} {}, PT, {}", lead, w.random.pick({"ANY", "ALL", "EQ"}), to,
                    p.text());
    }
    case CrossOp::any:
    case CrossOp::all:
      return any_or_all(w, s, lead);
    case CrossOp::active:
      return w.line("{}VOTE.{} {}, PT, PT", lead, w.random.pick({"ANY", "ALL"}), to);
    case CrossOp::shuffle_index:
      return shuffle(w, lead, "IDX", s, lane);
    case CrossOp::shuffle_xor:
      return shuffle(w, lead, "BFLY", s, lane);
    case CrossOp::shuffle_up:
      return shuffle(w, lead, "UP", s, lane);
    case CrossOp::shuffle_down:
      return shuffle(w, lead, "DOWN", s, lane);
    case CrossOp::read_first:
      return read_first(w, s, lead);
  }
}

void exchange(Writer& w, const Exchange& s) {
  const std::string at = w.word(), other = w.word(), from = w.word();
  const uint32_t block = w.program.block;
  w.line("SHL {}, R{}, 0x2", at, Registers::kSelf);
  w.line("STS [{}], {}", at, w.reg(s.from));
  w.line("BAR.SYNC 0x0");
  w.line("IADD32I {}, R{}, {:#x}", other, Registers::kSelf, s.by);
  const uint32_t p = w.predicate();
  w.line("ISETP.GE.U32.AND P{}, PT, {}, {:#x}, PT", p, other, block);
  w.line("@P{} IADD32I {}, {}, -{:#x}", p, other, other, block);
  w.line("SHL {}, {}, 0x2", from, other);
  w.line("LDS {}, [{}]", w.reg(s.to), from);
  w.line("BAR.SYNC 0x0");
}

}  // namespace lanewise::programs::sass
