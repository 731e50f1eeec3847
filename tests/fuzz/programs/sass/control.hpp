// The body of a kernel or of a function as SASS.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/fuzz/programs/sass/writer.hpp"

namespace lanewise::programs::sass {

/// Divergence as the hardware handles it: SSY pushes the place where lanes meet, SYNC waits there;
/// PBK and BRK, PCNT and CONT, CAL and RET likewise. Where nothing in the program looks at other
/// lanes it does not matter whether they meet, so there branches may do without (`bare`).
class Code {
 public:
  Code(const Program& program, const Style& style, Registers& registers, const uint32_t* function,
       bool any_across);
  std::string kernel();
  std::string function(const std::string& name);

 private:
  struct LoopPlace {
    std::string behind, next;
    bool has_break = false, has_continue = false;  ///< what is pushed
    bool meets = false;                            ///< SSY in place of PBK
    /// Loops further out that lanes want to leave (2 * number), or go on with (+ 1), and that no
    /// BRK or CONT reaches from inside this one.
    std::set<uint32_t> passing;
  };
  using Jump = std::pair<std::string, std::string>;  ///< instruction, label

  void start();
  void initial(uint32_t number, const Initial& i);
  void store_all(const std::string& lead, const std::string& mark);
  void end_with(const std::string& lead, uint32_t mark);

  void block(const Block& b);
  template <typename T>
  void put(const T& what, const Statement& s) {
    if (what.guard) plain(w_, s);
  }
  void put(const Cross& s, const Statement&) { cross(w_, s); }
  void put(const Exchange& s, const Statement&) { exchange(w_, s); }
  void put(const Barrier&, const Statement&) { w_.line("BAR.SYNC 0x0"); }
  void put(const Combine& s, const Statement&) { combine(w_, s, !may_be_bare()); }
  void put(const Pool& s, const Statement&) { pool(w_, s); }
  void put(const If& s, const Statement&);
  void put(const Loop& s, const Statement&);
  void put(const Leave& s, const Statement&) { leave("", loops_.size() - s.levels, s.goes_on); }
  void put(const Return& s, const Statement&);
  void put(const Switch& s, const Statement& whole);
  void put(const Region& s, const Statement&);
  void put(const Call& s, const Statement&);

  void jump(const Jump& to, const std::string& lead = {}) { go(w_, lead, to.first, to.second); }
  void jump_if(const Condition& c, const Jump& to) { go_if(w_, c, to.first, to.second); }
  void jump_unless(Condition c, const Jump& to) {
    c.relation = negated(c.relation);
    jump_if(c, to);
  }
  static Jump branch(const std::string& label) { return {"BRA", label}; }
  /// Pushes the place where lanes meet, unless it is bare; how to get there.
  Jump meet_at(const std::string& label, bool bare);
  bool may_be_bare() { return bare_ || (!any_across_ && w_.random.chance(3)); }
  /// A block behind the end.
  void aside(const std::string& name, const Block& b, const Jump& back);

  bool short_if(const If& s);
  void predicated(const If& s);
  bool leaves_predicated(const If& s);
  void one_sided(const If& s, const Jump& out, const std::string& join);
  void two_sided(const If& s, const Jump& out);
  bool in_two_passes(const If& s);

  void start_counter(const Loop& s);
  void loop_body(const Loop& s, bool steps);
  void tested_first(const Loop& s);
  void tested_last(const Loop& s, const std::string& head, bool steps);
  Jump loop_exit() const;
  Predicate stays(const Loop& s);
  void out_unless_stays(const Loop& s);
  void back_if_stays(const Loop& s, const std::string& head);
  void step(const Loop& s);
  void leave(const std::string& lead, size_t loop, bool goes_on);
  void leave_further(const std::set<uint32_t>& wanted);

  void choose(const Switch& s, const std::string& n, const std::vector<std::string>& names,
              const Jump& none);
  void equal(const std::string& n, uint32_t c, const std::string& to);
  void halves(const std::string& n, uint32_t first, uint32_t last,
              const std::vector<std::string>& names, const Jump& none);
  void in_runs(const Switch& s, const std::string& n, const Jump& out);
  void run_of_cases(const Switch& s, const std::string& n, size_t first, size_t last,
                    const Jump& out);

  const Program& p_;
  const Style& style_;
  const Function* const function_;
  Registers& registers_;
  Writer w_;
  const bool any_across_;
  bool bare_ = false;  ///< all branches are
  std::string end_, cold_, wanted_;
  std::vector<LoopPlace> loops_;  ///< innermost last
};

}  // namespace lanewise::programs::sass
