// Made from lanewise.h by docs/from_headers.py; not edited by hand.
#pragma once

#include <cstdint>
#include <string>

#include "lanewise/types.hpp"

namespace lanewise {

/// A guest fault with everything known about it: lw_fault, whose texts it owns.
struct FaultReport {
  /// of the input text, 0 = unknown
  uint32_t line = 0;
  /// byte offset of the instruction, or its ordinal for text
  uint64_t pc = 0;
  uint64_t address = 0;
  /// bytes of the access, 0 when it is none
  uint32_t size = 0;
  Dim3 group{0, 0, 0};
  /// wave of the group, lane of the wave
  uint32_t wave = 0;
  uint32_t lane = 0;
  /// "out_of_range", "misaligned", "trap", ...
  FaultKind kind = FaultKind::none;
  std::string kernel;
  /// the instruction
  std::string text;
  /// "file.cu:12", "" when unknown
  std::string source;
  /// "'x' (4 bytes; 4 bytes past its end)", "" when there is none
  std::string nearest_allocation;
  /// its name alone
  std::string allocation;
  uint64_t allocation_address = 0;
  uint64_t allocation_size = 0;
  /// The pointer parameter that the access goes through ("" when unknown), and name and address of
  /// the allocation that it points into (0 = into none).
  std::string parameter;
  std::string parameter_allocation;
  uint64_t parameter_allocation_address = 0;
  /// Of a trap that is a failed assertion of CUDA C: what was asserted, and in which function; ""
  /// when it is none or the program does not say. `source` says where.
  std::string assertion;
  std::string function;
  /// The allocation was released, and nobody has got its memory since.
  bool allocation_freed = false;
  /// "shared", "local" or "param" of an access to one of these, and the bytes that there are of it;
  /// "" for global memory.
  std::string space;
  uint64_t space_size = 0;
  /// Of a trap: what the program wants that no launch here gives; of barriers and member masks:
  /// what is wrong, and who waits for whom; "" where none is known.
  std::string reason;
  /// Of a fault in a function that the kernel calls: function is its name, pc counts from its
  /// begin, and this says which functions call it, or the kernel; else "".
  std::string called_from;
  /// The stable name of what was found, as suppressions have it (docs/findings.md): "out-of-range",
  /// "init", "sync-exited-lanes", ...
  std::string rule;
  /// Of a data_race: what this access is ("load", "store", "atomic"), and the one before it, which
  /// nothing orders in front of it; "" and 0 of all else.
  std::string access;
  std::string other_access;
  std::string other_text;
  std::string other_source;
  uint64_t other_pc = 0;
  uint32_t other_line = 0;
  Dim3 other_group{0, 0, 0};
  uint32_t other_wave = 0;
  uint32_t other_lane = 0;
  /// The word before and after the store of the two (the later one), and what would have ordered
  /// them.
  uint64_t value_before = 0;
  uint64_t value_after = 0;
  std::string remedy;
  /// How many accesses of these two instructions met so.
  uint64_t times = 0;
  /// Of what a search over schedules found: the order in which it happened, as the policy schedule
  /// names it ("random:7"), and the first order, which gives another result; else "". Of an
  /// order_dependent the first order's store is that of the members other_, and the word's values
  /// are those that the two stores leave.
  std::string schedule;
  std::string other_schedule;
};

namespace detail {
/// Calls each(name, member of FaultReport, member of lw_fault).
template <typename Cpp, typename C, typename Each>
void each_fault_field(Cpp& cpp, C& c, const Each& each) {
  each("line", cpp.line, c.line);
  each("pc", cpp.pc, c.pc);
  each("address", cpp.address, c.address);
  each("size", cpp.size, c.size);
  each("group", cpp.group, c.group);
  each("wave", cpp.wave, c.wave);
  each("lane", cpp.lane, c.lane);
  each("kind", cpp.kind, c.kind);
  each("kernel", cpp.kernel, c.kernel);
  each("text", cpp.text, c.text);
  each("source", cpp.source, c.source);
  each("nearest_allocation", cpp.nearest_allocation, c.nearest_allocation);
  each("allocation", cpp.allocation, c.allocation);
  each("allocation_address", cpp.allocation_address, c.allocation_address);
  each("allocation_size", cpp.allocation_size, c.allocation_size);
  each("parameter", cpp.parameter, c.parameter);
  each("parameter_allocation", cpp.parameter_allocation, c.parameter_allocation);
  each("parameter_allocation_address", cpp.parameter_allocation_address,
       c.parameter_allocation_address);
  each("assertion", cpp.assertion, c.assertion);
  each("function", cpp.function, c.function);
  each("allocation_freed", cpp.allocation_freed, c.allocation_freed);
  each("space", cpp.space, c.space);
  each("space_size", cpp.space_size, c.space_size);
  each("reason", cpp.reason, c.reason);
  each("called_from", cpp.called_from, c.called_from);
  each("rule", cpp.rule, c.rule);
  each("access", cpp.access, c.access);
  each("other_access", cpp.other_access, c.other_access);
  each("other_text", cpp.other_text, c.other_text);
  each("other_source", cpp.other_source, c.other_source);
  each("other_pc", cpp.other_pc, c.other_pc);
  each("other_line", cpp.other_line, c.other_line);
  each("other_group", cpp.other_group, c.other_group);
  each("other_wave", cpp.other_wave, c.other_wave);
  each("other_lane", cpp.other_lane, c.other_lane);
  each("value_before", cpp.value_before, c.value_before);
  each("value_after", cpp.value_after, c.value_after);
  each("remedy", cpp.remedy, c.remedy);
  each("times", cpp.times, c.times);
  each("schedule", cpp.schedule, c.schedule);
  each("other_schedule", cpp.other_schedule, c.other_schedule);
}
}  // namespace detail

}  // namespace lanewise
