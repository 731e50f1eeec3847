// Loops, and lanes that leave them.
#include "tests/fuzz/programs/sass/control.hpp"
#include "tests/fuzz/programs/sass/shape.hpp"

namespace lanewise::programs::sass {

void Code::put(const Loop& s, const Statement&) {
  const LoopUse use = use_of(s);
  LoopPlace place;
  place.behind = w_.new_label("behind");
  place.next = w_.new_label("next");
  if (!bare_) {
    place.has_continue = use.continues || w_.random.chance(6);
    place.has_break = use.breaks || (use.crosses && place.has_continue) || w_.random.chance(2);
    place.meets = !place.has_break && !may_be_bare();
  }
  start_counter(s);
  const size_t here = w_.text.size();
  if (place.has_break || place.meets)
    w_.line("{} `({})", place.has_break ? "PBK" : "SSY", place.behind);
  loops_.push_back(place);
  if (s.tested_first)
    tested_first(s);
  else
    tested_last(s, w_.new_label("body"), false);
  const std::set<uint32_t> passing = loops_.back().passing;
  loops_.pop_back();
  w_.label(place.behind);
  if (passing.empty()) return;
  w_.text.insert(here, fmt::format("  MOV {}, RZ ;\n", wanted_));
  leave_further(passing);
}

void Code::start_counter(const Loop& s) {
  const std::string counter = w_.reg(s.counter);
  if (s.trips.immediate) return put_value(w_, "", counter, s.trips.value);
  const std::string n = w_.word();
  w_.line("LOP32I.AND {}, {}, {:#x}", n, w_.reg(s.trips.value), s.mask);
  w_.line("IADD32I {}, {}, {:#x}", counter, n, s.least);
}

void Code::step(const Loop& s) {
  w_.line("{} {}, {}, -0x1", w_.random.chance(2) ? "IADD" : "IADD32I", w_.reg(s.counter),
          w_.reg(s.counter));
}

/// Where lanes go that have done all iterations.
Code::Jump Code::loop_exit() const {
  const LoopPlace& place = loops_.back();
  if (place.has_break) return {"BRK", ""};
  return place.meets ? Jump{"SYNC", ""} : branch(place.behind);
}

/// Down to the place where lanes go that continue.
void Code::loop_body(const Loop& s, bool steps) {
  const LoopPlace place = loops_.back();
  const bool step_behind = w_.random.chance(2);
  if (steps && !step_behind) step(s);
  if (place.has_continue) w_.line("PCNT `({})", place.next);
  if (steps && step_behind) step(s);
  block(s.body);
  if (place.has_continue) w_.line("CONT");
}

void Code::tested_first(const Loop& s) {
  const LoopPlace place = loops_.back();
  if (style_.rotate_loops) {
    out_unless_stays(s);
    return tested_last(s, w_.new_label("body"), true);
  }
  // With PCNT at the head lanes go on there, and BRK drops what it has pushed.
  const bool continues_at_head =
      bare_ || (place.has_continue && place.has_break && w_.random.chance(2));
  const std::string head = continues_at_head ? place.next : w_.new_label("head");
  w_.label(head);
  if (continues_at_head && !bare_) w_.line("PCNT `({})", head);
  out_unless_stays(s);
  if (continues_at_head) {
    step(s);
    block(s.body);
    return jump(bare_ ? branch(head) : Jump{"CONT", ""});
  }
  loop_body(s, true);
  w_.label(place.next);
  jump(branch(head));
}

void Code::tested_last(const Loop& s, const std::string& head, bool steps) {
  w_.label(head);
  loop_body(s, steps);
  w_.label(loops_.back().next);
  if (!steps) step(s);
  back_if_stays(s, head);
}

/// Another iteration for these, by both tests of the loop.
Predicate Code::stays(const Loop& s) {
  const Condition left{Relation::ne, s.counter, Operand::imm(0)};
  return s.again ? test(w_, left, test(w_, *s.again)) : test(w_, left);
}

void Code::out_unless_stays(const Loop& s) {
  const Condition left{Relation::ne, s.counter, Operand::imm(0)};
  if (style_.join_tests) return jump(loop_exit(), (!stays(s)).lead());
  jump_unless(left, loop_exit());
  if (s.again) jump_unless(*s.again, loop_exit());
}

void Code::back_if_stays(const Loop& s, const std::string& head) {
  if (style_.join_tests && w_.random.chance(2)) {
    jump(branch(head), stays(s).lead());
    return jump(loop_exit());
  }
  out_unless_stays(s);
  jump(branch(head));
}

/// Behind loop number `loop`, or on with it.
void Code::leave(const std::string& lead, size_t loop, bool goes_on) {
  if (bare_) return jump(branch(goes_on ? loops_.at(loop).next : loops_.at(loop).behind), lead);
  size_t reached = loops_.size() - 1, last_break = loops_.size() - 1;
  while (!(goes_on ? loops_.at(reached).has_continue : loops_.at(reached).has_break)) --reached;
  if (reached == loop) return jump({goes_on ? "CONT" : "BRK", ""}, lead);
  while (!loops_.at(last_break).has_break) --last_break;
  const auto wanted = static_cast<uint32_t>(2 * loop + (goes_on ? 1 : 0));
  if (wanted_.empty()) wanted_ = w_.own_word();
  w_.line("{}MOV32I {}, {:#x}", lead, wanted_, wanted + 1);
  jump({"BRK", ""}, lead);
  loops_.at(last_break).passing.insert(wanted);
}

/// Behind a loop: lanes that want to get further.
void Code::leave_further(const std::set<uint32_t>& wanted) {
  for (const uint32_t one : wanted) {
    const uint32_t p = w_.predicate();
    w_.line("ISETP.EQ.AND P{}, PT, {}, {:#x}, PT", p, wanted_, one + 1);
    leave(fmt::format("@P{} ", p), one / 2, one % 2 != 0);
  }
}

}  // namespace lanewise::programs::sass
