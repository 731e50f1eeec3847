// Which instructions of a kernel are traced, and what each of them is to the cache tracker.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ir/ir.hpp"
#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/trace/event.hpp"

namespace lanewise::events {

/// What a trace point's number stands for.
struct Point {
  bool barrier = false;  ///< of the group: waves that have come here wait for the others
  bool address = true;   ///< the lanes name one
  bool access = true;    ///< touches bytes: dropped when they cannot be touched
  bool policy = false;   ///< what the lanes name is the policy word of their next hinted access
  bool hinted = false;   ///< such an access
  bool write = false;
  bool scalar = false;  ///< one access of the wave, whatever the number of lanes
  ir::Space space = ir::Space::global;
  uint32_t bytes = 0, alignment = 1;
  ir::AlignRule rule = ir::AlignRule::any;
  uint32_t drop = 0;
  uint32_t pointer = ir::kNone;  ///< ir::Mem::pointer
  bool arena = false;            ///< payloads count from the arena's start
  uint64_t base = 0;             ///< address that payload 0 stands for
  uint32_t site = 0;             ///< index into Plan::sites
  /// An instruction that was translated component by component: the points behind this one that
  /// belong to it, and the site of the whole.
  uint32_t components = 0, whole_site = 0;
};

struct Plan {
  std::vector<Point> points;       ///< point n is points[n - 1]
  std::vector<trace::Site> sites;  ///< Site::kernel is not set
  uint32_t code_bits = 1;          ///< of a word that name the point; the highest code escapes
  bool loops = false;
  ir::PointerParams pointers;
  const Point& point(uint32_t number) const { return points[number - 1]; }
  uint32_t escape() const { return (1U << code_bits) - 1; }
};

/// Numbers the traced instructions of the program from 1 in program order (Inst::event) and puts a
/// marker before each barrier, and before each access whose policy word is not known yet. Loads,
/// stores and atomics of global, generic, local and constant memory are traced, and cache control
/// and fences; shared memory passes no cache. Parameters of Maxwell code are read through the
/// constant cache, at their places in bank 0; those of other guests are left out.
Plan number(ir::Program& program);

/// What the instruction asks of the caches. Nothing when it is only a part of how another kind of
/// instruction was translated (the fence of a GCN invalidation, the invalidation of MEMBAR.IVALLD).
/// The policy word of a hint is left to number(), which sees the whole program. One that is known
/// at run time only becomes trace::kPolicyAtRunTime; for each word that lanes then name a Collector
/// makes a site of its own.
std::optional<trace::Site> describe(const ir::Program& program, const ir::Inst& inst);

/// What holds of the words of all points: bits of guest/event_words.hpp. Extent 0 = not known.
uint32_t common_form(const Plan& plan, uint64_t extent, uint64_t local_bytes);

/// Most words that one lane can write in one go through the program (Plan::loops: per iteration).
uint64_t most_words(const Plan& plan, uint64_t arena_size, uint64_t local_bytes);

}  // namespace lanewise::events
