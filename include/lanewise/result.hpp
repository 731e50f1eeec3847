// What a launch leaves behind: faults, times, choices.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/error_detail.hpp"
#include "lanewise/fault_report.hpp"
#include "lanewise/policies.hpp"

namespace lanewise {

namespace detail {
inline std::string hex(uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(n));
  return text;
}
/// "WHAT 4 bytes WHERE 0x1000"
inline std::string access(const FaultReport& f, const char* what, const char* where) {
  std::string out = what;
  out.append(" ").append(std::to_string(f.size)).append(" bytes ").append(where).append(" ");
  out.append(hex(f.address));
  if (f.allocation_freed) return out.append(", which is freed");
  if (f.space.empty()) return out;
  out.append(" in ").append(f.space == "param" ? "parameter" : f.space).append(" memory of ");
  return out.append(std::to_string(f.space_size)).append(" bytes");
}
inline std::string headline(const FaultReport& f) {
  switch (f.kind) {
    case FaultKind::out_of_range:
      return access(f, "out-of-range access of", "at");
    case FaultKind::misaligned:
      return access(f, "misaligned access of", "at");
    case FaultKind::null:
      return access(f, "null-page access of", "at");
    case FaultKind::write_to_read_only:
      return access(f, "write of", "to read-only memory at");
    case FaultKind::step_budget:
      if (f.address == 1)
        return "step budget of the device used up: this driver ends loops after 65535 iterations "
               "of one lane in all (those of atomics and of the lanes beside it count, too), or of "
               "one wave's lanes in serial mode; run it on another device";
      return "step budget used up: the lane took more loop iterations than allowed "
             "(--max-steps N raises the limit)";
    case FaultKind::barrier_divergence:
      if (!f.reason.empty()) return f.reason;
      return "barrier divergence: the lane waits at a barrier that its partners never reach";
    case FaultKind::illegal_instruction:
      return f.reason.empty() ? "illegal instruction" : "illegal instruction: " + f.reason;
    case FaultKind::illegal_encoding:
      return "illegal encoding";
    case FaultKind::stack_overflow:
      if (f.size == 0) return "stack overflow";
      return "stack overflow: " + std::to_string(f.size) +
             " bytes are there for a lane's calls (--stack BYTES, or the policy stack, sets "
             "another size)";
    case FaultKind::trap:
      if (!f.reason.empty()) return f.reason;
      if (f.assertion.empty()) return "trap executed";
      return "assertion failed: " + f.assertion + (f.function.empty() ? "" : ", in " + f.function);
    case FaultKind::uninitialised:
      if (!f.access.empty())
        return access(f, (f.access + " of a value that nobody has written, loaded from").c_str(),
                      "at");
      return access(f, "read of", "not all of which were written, at") +
             " (a mere copy counts as a read, of padding too)";
    case FaultKind::wave_divergence:
      if (!f.reason.empty()) return f.reason;
      return "wave divergence: lanes " + hex(f.address >> 32) + " wait here for lanes " +
             hex(f.address & 0xffffffff) +
             " of their member mask (bits of lanes), which stand elsewhere. The launch has ended; "
             "packed mode runs a wave in step, --wave serial lets its lanes wait";
    case FaultKind::data_race:
      if (f.rule == "async")
        return access(f, ("too early: " + f.access + " of").c_str(), "at") + "; " + f.reason;
      return access(f, ("data race: " + f.access + " of").c_str(), "at");
    case FaultKind::order_dependent:
      return access(f, ("the result depends on the order of lanes: " + f.access + " of").c_str(),
                    "at");
    case FaultKind::none:
      break;
  }
  return "no fault";
}
/// Text and numbers in a row.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    text_ += text;
    return *this;
  }
  Line& operator<<(uint64_t n) {
    text_ += std::to_string(n);
    return *this;
  }
  std::string text() const { return text_; }

 private:
  std::string text_;
};
}  // namespace detail

/// Several lines for people: what, where, who.
inline std::string format(const FaultReport& f) {
  detail::Line out;
  out << "fault: " << detail::headline(f);
  if (f.text.empty())
    out << "\n    somewhere in " << f.kernel;
  else
    out << "\n    at " << (f.called_from.empty() ? f.kernel : f.function) << "+"
        << detail::hex(f.pc) << ": " << f.text;
  if (f.line != 0) out << "  (line " << f.line << ")";
  if (!f.source.empty()) out << "  [" << f.source << "]";
  if (!f.called_from.empty()) {
    out << "\n    called from " << f.called_from;
    if (f.called_from != f.kernel) out << ", in kernel " << f.kernel;
  }
  out << "\n    by lane " << f.lane << " of wave " << f.wave << " in group (" << f.group.x << ","
      << f.group.y << "," << f.group.z << ")\n";
  if (f.kind == FaultKind::order_dependent) {
    out << "    which leaves " << detail::hex(f.value_after) << " there in the order " << f.schedule
        << ". In the order " << f.other_schedule << " it is " << detail::hex(f.value_before);
    if (!f.other_access.empty()) {
      out << ", by the " << f.other_access << " at " << detail::hex(f.other_pc) << ": "
          << f.other_text;
      if (f.other_line != 0) out << "  (line " << f.other_line << ")";
      if (!f.other_source.empty()) out << "  [" << f.other_source << "]";
      out << "\n    by lane " << f.other_lane << " of wave " << f.other_wave << " in group ("
          << f.other_group.x << "," << f.other_group.y << "," << f.other_group.z << ")";
    }
    out << "\n    " << f.reason << "\n";
  } else if (!f.schedule.empty()) {
    out << "    in the order " << f.schedule << " (--schedule " << f.schedule
        << " repeats it), and not in the order " << f.other_schedule << "\n";
  }
  if (f.kind == FaultKind::uninitialised && !f.other_access.empty()) {
    out << "    " << f.other_access << " at " << detail::hex(f.other_pc) << ": " << f.other_text;
    if (f.other_line != 0) out << "  (line " << f.other_line << ")";
    if (!f.other_source.empty()) out << "  [" << f.other_source << "]";
    out << "\n    " << f.reason << "\n";
  }
  if (f.kind == FaultKind::data_race) {
    out << "    after " << f.other_access << " at " << detail::hex(f.other_pc) << ": "
        << f.other_text;
    if (f.other_line != 0) out << "  (line " << f.other_line << ")";
    if (!f.other_source.empty()) out << "  [" << f.other_source << "]";
    out << "\n    by lane " << f.other_lane << " of wave " << f.other_wave << " in group ("
        << f.other_group.x << "," << f.other_group.y << "," << f.other_group.z
        << "), which nothing orders before it\n    ";
    if (f.rule != "async" && (f.value_before | f.value_after) != 0)
      out << "the word was " << detail::hex(f.value_before) << " before the store and "
          << detail::hex(f.value_after) << " after it; ";
    out << "met " << f.times << " times\n    what would order them: " << f.remedy << "\n";
  }
  if (!f.nearest_allocation.empty())
    out << "    nearest allocation: " << f.nearest_allocation << "\n";
  if (f.space == "shared" && f.kind == FaultKind::out_of_range)
    out << "    a launch gives a group more shared memory with --dyn-shared BYTES (dynamic_shared "
           "in the API)\n";
  if (f.parameter.empty()) return out.text();
  out << "    through the pointer parameter " << f.parameter;
  if (f.parameter_allocation_address == f.allocation_address && f.allocation_address != 0) {
    out << "\n";
    return out.text();
  }
  out << ", which points into ";
  if (f.parameter_allocation_address == 0)
    out << "no allocation\n";
  else
    out << "'" << f.parameter_allocation << "' at " << detail::hex(f.parameter_allocation_address)
        << "\n";
  const uint64_t offset = f.address - f.allocation_address;
  if (f.kind == FaultKind::out_of_range && !f.allocation_freed && offset < f.allocation_size &&
      f.size <= f.allocation_size - offset)
    out << "    where that pointer leads into the other buffer on purpose, --memcheck arena allows "
           "it\n";
  return out.text();
}

struct Times {
  double parse_ms = 0, translate_ms = 0, pipeline_ms = 0, dispatch_ms = 0;
};

struct Result {
  /// At most 64, lowest group and lane first; before them that a driver has cut a loop of which it
  /// is not known which one (no text): what is wrong with others may follow from it.
  std::vector<FaultReport> faults;
  uint64_t fault_count = 0;  ///< lanes that faulted
  Times times;
  std::string wave_mode;     ///< "lane", "packed" or "serial"
  std::string wave_reason;   ///< why this mode was chosen
  PoliciesInForce policies;  ///< every one of them
  /// What the kernel printed (CUDA's and OpenCL's printf), in the order in which the calls got
  /// their place in the buffer of 1 MiB. The library writes it nowhere.
  std::string printed;
  /// With the policy check=perf: what each instruction cost, as JSON (docs/counters.md).
  std::string profile;
  bool ok() const { return fault_count == 0; }
  /// Throws Error(guest), or Error(budget) for step_budget, with the first fault's report.
  const Result& check() const {
    if (ok()) return *this;
    // A used-up budget ends the launch, whatever else went wrong before.
    const FaultReport* first = faults.empty() ? nullptr : &faults.front();
    for (const FaultReport& f : faults)
      if (f.kind == FaultKind::step_budget && first->kind != FaultKind::step_budget) first = &f;
    const bool steps = first != nullptr && first->kind == FaultKind::step_budget;
    std::string what = std::to_string(fault_count);
    const FaultKind kind = first != nullptr ? first->kind : FaultKind::none;
    what.append(kind == FaultKind::data_race         ? " races; the first:\n"
                : kind == FaultKind::order_dependent ? " dependence on the order of lanes:\n"
                                                     : " lanes faulted; the first:\n");
    if (first != nullptr) what += format(*first);
    throw DetailedError(steps ? ErrorKind::budget : ErrorKind::guest,
                        steps ? ErrorDetail::step_budget : ErrorDetail::fault, what);
  }
};

}  // namespace lanewise
