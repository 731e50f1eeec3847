#include "runtime/support/findings/rules.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/support/beside.hpp"

namespace lanewise::findings {
namespace {

constexpr std::array kRules = {
    Rule{"out-of-range", "error", "An access lies outside of every allocation, or of its own."},
    Rule{"use-after-free", "error", "An access lies in an allocation that was freed."},
    Rule{"null", "error", "An access lies in the null page."},
    Rule{"misaligned", "error", "An address is no multiple of what its access demands."},
    Rule{"read-only", "error", "A store or an atomic goes to memory that is read only."},
    Rule{"stack-overflow", "error", "A lane's calls need more stack than it has."},
    Rule{"illegal-instruction", "error", "An operand has a value that its instruction forbids."},
    Rule{"illegal-encoding", "error", "The encoding of an instruction has no meaning."},
    Rule{"trap", "error", "The kernel executed a trap."},
    Rule{"assertion", "error", "An assertion of the kernel failed."},
    Rule{"step-budget", "error", "A lane took more iterations of loops than allowed."},
    Rule{"init", "error", "A read of memory that was never written."},
    Rule{"init-host", "error", "The host reads device memory that was never written."},
    Rule{"race", "error",
         "Two accesses of different lanes that nothing orders, one of them a store."},
    Rule{"race-stream", "error",
         "Two operations of streams that nothing orders meet in memory, and one of them writes."},
    Rule{
        "async", "error",
        "An access to bytes that an asynchronous copy, which was not waited for, reads or writes."},
    Rule{"order", "error", "The result of a launch depends on the order in which lanes run."},
    Rule{"sync-deadlock", "error", "Lanes wait at a barrier for lanes that never come."},
    Rule{"sync-divergent-barrier", "error",
         "Lanes of one wave come to a barrier apart, which demands that they come together."},
    Rule{"sync-barrier-count", "error",
         "The number of lanes that a barrier names does not fit those that come."},
    Rule{"sync-exited-lanes", "error", "A barrier of the whole group opens without ended lanes."},
    Rule{"sync-mask-without-lane", "error", "A lane is not in the member mask that it names."},
    Rule{"sync-lanes-missing", "error",
         "An operation with a member mask goes on without lanes of the mask that have not ended."},
    Rule{"sync-mbarrier", "error",
         "An mbarrier is used before it is made, or gets too many arrivals."},
    Rule{"sync-wave", "error",
         "Lanes of a member mask stand elsewhere, and packed mode cannot wait for them."},
    Rule{"leak-memory", "warning", "Memory of the device that the program never freed."},
    Rule{"leak-heap", "warning", "Memory that kernels allocated and never freed."},
    Rule{"leak-handle", "warning", "A stream or an event that the program never destroyed."},
    Rule{"api-unchecked", "warning",
         "A call failed, and the program went on without asking for the error."},
    Rule{"api-misuse", "error", "A call names what it may not: memory that is freed twice."},
    Rule{"perf-uncoalesced", "note", "Accesses of a wave take more sectors than their bytes need."},
    Rule{"perf-bank-conflict", "note", "Accesses to shared memory take more passes than needed."},
    Rule{"perf-divergent-branch", "note", "Lanes of a wave leave a branch to different sides."},
    Rule{"perf-atomic-conflict", "note", "Lanes of a wave make atomics of one address."},
    Rule{"perf-local-memory", "note",
         "Loads and stores of local memory: spills, arrays of a lane."},
    Rule{"error", "error", "No legal program, or one that cannot run here."},
    Rule{"warning", "warning", "Legal, but against a rule of the documents, or not what it seems."},
};

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

const Rule* rule_named(std::string_view id) {
  const auto* const found = std::ranges::find(kRules, id, &Rule::id);
  return found == kRules.end() ? nullptr : found;
}

std::string_view rule_of_fault(std::string_view kind, bool freed, bool asserted) {
  if (freed) return "use-after-free";
  if (asserted) return "assertion";
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"out_of_range", "out-of-range"},
      {"misaligned", "misaligned"},
      {"null", "null"},
      {"step_budget", "step-budget"},
      {"barrier_divergence", "sync-deadlock"},
      {"illegal_instruction", "illegal-instruction"},
      {"illegal_encoding", "illegal-encoding"},
      {"stack_overflow", "stack-overflow"},
      {"write_to_read_only", "read-only"},
      {"uninitialised", "init"},
      {"wave_divergence", "sync-wave"},
      {"data_race", "race"},
      {"order_dependent", "order"},
  };
  return beside(kKinds, kind, std::string_view("trap"));
}

}  // namespace lanewise::findings
