// Handlers of what decides where lanes go: jumps, guards, stops; and those around others.
#pragma once

#include "runtime/reference/lanes/handlers.hpp"
#include "runtime/reference/lanes/wave.hpp"

namespace lanewise::reference {

struct Control {
  /// Gives a code of a decoded program its handlers.
  static void set_handlers(Code& code, Finder find, Wishes wishes);

 private:
  static Handlers plain(const Code& code, Finder find, Wishes wishes);
  static const Code* go(Wave& wave, const Code* code, uint32_t target);
  static bool leave_by(Wave& wave, const Code* code, uint32_t target, uint64_t lanes);
  static const Code* jump(Wave& wave, const Code* code);
  static const Code* branch(Wave& wave, const Code* code);
  static const Code* choose(Wave& wave, const Code* code);
  static const Code* exit(Wave& wave, const Code* code);
  static const Code* end_block(Wave& wave, const Code* code);
  static const Code* nothing(Wave& wave, const Code* code);
  static const Code* barrier(Wave& wave, const Code* code);
  static const Code* trap(Wave& wave, const Code* code);
  static const Code* report(Wave& wave, const Code* code);
  static const Code* wave_op(Wave& wave, const Code* code);
  static const Code* compute(Wave& wave, const Code* code);
  static const Code* group_value(Wave& wave, const Code* code);
  static const Code* watched(Wave& wave, const Code* code);
  static const Code* counted(Wave& wave, const Code* code);
  static const Code* followed(Wave& wave, const Code* code);
  static const Code* guarded(Wave& wave, const Code* code);
  static const Code* guarded_lane(Wave& wave, const Code* code);
  static const Code* stop_before(Wave& wave, const Code* code);
  static const Code* pause(Wave& wave, const Code* code);
  static const Code* traced(Wave& wave, const Code* code);
};

}  // namespace lanewise::reference
