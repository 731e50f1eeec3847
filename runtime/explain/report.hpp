// What one instruction does, lane by lane: made from a recording of the reference engine and worked
// out a second time from the operands.
#pragma once

#include <string>
#include <vector>

#include "runtime/explain/recorder.hpp"

namespace lanewise::explain {

struct Access {
  std::string what;                  ///< "load", "store", "atomic", "cache control"
  std::string space;                 ///< "global", "shared", ...
  std::vector<std::string> formula;  ///< one step a line, with numbers
  uint64_t address = 0;              ///< after dropped low bits
  uint32_t bytes = 0;                ///< 0: a cache control names a line
  bool done = false;                 ///< memory was touched
  FaultKind fault = FaultKind::none;
  std::string verdict;  ///< is it in range, and of what
  std::string data;     ///< bytes read or written (atomics: before), lowest address first, in hex
  std::string conversion;  ///< "s16, sign-extended to 32 bits"
};

struct Change {
  std::string name;
  unsigned bits = 32;  ///< 1 for predicates
  uint64_t before = 0, after = 0;
};

struct LaneReport {
  uint32_t thread = 0, wave = 0, lane = 0;  ///< thread of the group; its wave; lane of that wave
  bool came_by = false;                     ///< control flow brought it here
  bool skipped = false;                     ///< masked by predicate or EXEC
  std::vector<Access> accesses;
  std::vector<std::string> work;  ///< conversions, and what is computed
  std::vector<Change> registers;
};

struct InstructionReport {
  std::string kernel, text;
  uint64_t pc = 0;
  uint32_t line = 0;
  std::string cache;     ///< what the access asks of the caches, empty = nothing
  uint32_t times = 1;    ///< how often a lane came by at most
  bool followed = true;  ///< it has operations, so it is known which lanes came by
  std::vector<LaneReport> lanes;
};

/// Instructions in the order of the text; of every visit (`Query::visit` 0) one entry for each time
/// that a lane came by, else one for each lane. Error(device) when the address worked out here is
/// not the one the engine used: that would be a defect of ours.
std::vector<InstructionReport> reports(const Recording& recording, const Query& query);

/// "inside 'src', bytes 8 to 11 of 256".
std::string where_in_arena(std::span<const Allocation> allocations, uint64_t address,
                           uint32_t bytes);

/// The formula of a GCN buffer address (step k is Op::buffer_address) and why it is in range or
/// not.
struct BufferText {
  std::vector<std::string> lines;
  std::string verdict;
  uint64_t address = 0;
  bool in_range = false;
};
class Formula;
BufferText buffer_text(const Formula& formula, const Executed& step, size_t k,
                       uint32_t lane_in_wave);
/// What Op::fmt_pack and Op::fmt_unpack did.
std::string format_text(const Executed& step);

/// What the instruction's text asks of the caches by the dialect tables; empty = nothing.
std::string cache_text(ir::Isa isa, const std::string& text);

}  // namespace lanewise::explain
