// GCN control flow: one printer, in parts.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "tests/fuzz/programs/gcn/writer.hpp"

namespace lanewise::programs::gcn {

class Printer {
 public:
  Printer(const Program& program, const Style& style, Target target)
      : p_(program), style_(style), w_(program, style, target) {
    w_.apart = !contains<Cross>();
  }

  std::string kernel();

  template <typename T>
  bool contains() const {
    bool found = false;
    each_statement(p_,
                   [&](const Statement& s) { found = found || std::holds_alternative<T>(s.what); });
    return found;
  }

 private:
  /// How a construct remembers the lanes that EXEC gets back behind it.
  enum class Saved : uint8_t {
    others,     ///< those that do not enter
    removable,  ///< all; who leaves is taken out
    gone        ///< all; behind it those are taken out that wait elsewhere by then
  };
  struct Loops {
    std::string out;   ///< lanes that wait behind; empty when none can
    std::string next;  ///< lanes that wait for the next iteration; empty when none can
    std::string test;  ///< label
    std::string left;  ///< SGPR: iterations that any lane may still have to do; empty: lanes decide
    size_t frames = 0;
    unsigned depth = 0;
  };

  Saved way() { return w_.random.pick({Saved::others, Saved::removable, Saved::gone}); }
  void start();
  void descriptor(uint32_t at, const std::string& low, const std::string& high, uint32_t records,
                  uint32_t record);
  void initial(const std::string& to, const Initial& i);
  /// The mark is in its register.
  void store_all();
  void block(const Block& b);
  static bool leaves(const Statement& s);
  template <typename T>
  void put(const T& s) {
    plain(w_, s);
  }
  void put(const Cross& s) { cross(w_, s); }
  void put(const Exchange& s) { exchange(w_, s); }
  void put(const Barrier&) { w_.line("s_barrier"); }
  void put(const Combine& s) { combine(w_, s); }
  void put(const Pool& s) { pool(w_, s); }
  void put(const Call&) { throw std::logic_error("no calls here"); }
  /// EXEC := lanes that were saved, as far as they are still there.
  void restore(Saved way, const std::string& saved);
  /// A block may be jumped over where EXEC is empty. Without a look at other lanes that is so
  /// where going through it does nothing either.
  bool may_skip(const Block& b);
  /// Jumps while the SGPR, which is one less from here on, is not zero.
  void again_by(const std::string& left, const std::string& to);
  void take_out_gone();
  static bool few(const Block& b) { return b.size() <= 3 && std::ranges::all_of(b, is_plain); }
  void put(const If& s);
  void predicated_if(const If& s);
  /// SCC decides.
  void uniform_if(const If& s);
  void save_and_enter(const std::string& saved, const std::string& lanes);
  void inside(Saved way, const std::string& saved, const Block& b);
  /// Scalar code for the start of a block that is jumped over where no lane enters it: harmless
  /// then and only then. A load that is good where a lane is there, else out of range; a loop that
  /// counts down from 3, else from 0.
  struct Trap {
    std::string value;  ///< SGPR or VGPR; empty = none
    bool loops = false, in_lanes = false;
  };
  /// Before the test, and when the mask is known; one of the two may lay the trap.
  Trap trap(const Condition& c);
  void trap(const std::string& lanes, Trap& t);
  void pass(const Trap& t);
  void one_side(const If& s);
  void two_sides(const If& s);
  /// From the one side to the other. Where only others are saved, those that come from the first
  /// side are from here on.
  void turn(Saved how, const std::string& saved, const std::string& lanes);
  /// A block behind the end of the program.
  void aside(Saved how, const std::string& saved, const Block& b, const std::string& back);
  static bool targeted(const Block& b, uint32_t level, bool goes_on);
  void set_counter(const Loop& s);
  /// All lanes of a loop whose count is a number have it in step.
  void put(const Loop& s);
  void test_at_top(const Loop& s, const Loops& l, const std::string& behind);
  void test_at_bottom(const Loop& s, const Loops& l, const std::string& behind);
  void gather(const Loops& l);
  void count_down(const Loop& s);
  /// EXEC gets the lanes that do another iteration, `out` the others. Goes behind the loop where
  /// an SGPR says that there is none.
  void stay(const Loop& s, const Loops& l, const std::string& behind);
  void keep(const Condition& c, const Loops& l);
  void keep(const std::string& lanes, const Loops& l);
  /// `lanes`, EXEC or some of it, go where the statement says.
  void depart(const Leave& s, const std::string& lanes);
  void nobody(const std::string& lanes);
  void put(const Leave& s) { depart(s, "exec"); }
  void put(const Return& s);
  void put(const Switch& s);
  void uniform_switch(const Switch& s, const std::string& selector);
  /// To the case that an SGPR names; falls through for none.
  std::vector<std::string> jumps(const Switch& s, const std::string& n);
  /// The cases in order, each for the lanes that chose it and those that fall into it.
  void in_order(const Switch& s, const std::string& n);
  /// The case of the first lane for all that have the same, until no lane is left.
  void one_by_one(const Switch& s, const std::string& n);
  void put(const Region& s);
  /// Each lane has the number of its block; all blocks in turn, until no lane is inside.
  void dispatched(const Region& s);
  /// Each block has the mask of the lanes that are to enter it; the wave jumps to one that has
  /// some.
  void by_jumps(const Region& s);

  const Program& p_;
  const Style& style_;
  Writer w_;
  bool returns_ = false;
  std::string gone_;  ///< lanes that have returned
  std::string cold_;
  std::vector<std::string> frames_;  ///< masks from which lanes that leave are taken out
  std::vector<Loops> loops_;         ///< innermost last
  unsigned depth_ = 0;
};

}  // namespace lanewise::programs::gcn
