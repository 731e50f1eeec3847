#include "runtime/diff/diff.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/diff/shrink.hpp"
#include "runtime/support/npy.hpp"

namespace lanewise::diff {
namespace {

/// Errors of operations may grow on their way to a result.
constexpr double kGrowth = 4;

/// Runs of one side that must be alike before a difference counts.
constexpr int kRepeats = 3;

constexpr Fill kFills[] = {Fill::small, Fill::full, Fill::small, Fill::special};

class Pair {
 public:
  explicit Pair(const Request& request)
      : request_(request), a_(request.a, request.device), b_(request.b, request.device) {}

  Report run() {
    report_.kernel_a = a_.kernel();
    report_.kernel_b = b_.kernel();
    say_what_is_open();
    std::mt19937_64 random(request_.seed);
    const bool filled = std::ranges::any_of(request_.inputs, &Input::filled);
    for (uint32_t t = 0; t < (filled ? request_.tries : 1); ++t) {
      const Fill how = kFills[t % std::size(kFills)];
      Case now{request_.options, request_.inputs};
      for (Input& input : now.inputs)
        if (input.filled) fill(input, how, random);
      if (!judge(now, how, filled)) break;
    }
    if (report_.verdict == Verdict::undecided && report_.why.empty() && report_.tries != 0)
      report_.verdict = Verdict::equal;
    if (report_.verdict == Verdict::undecided && report_.why.empty())
      report_.why = "every kind of made-up input makes both sides fault: say arguments";
    return std::move(report_);
  }

 private:
  struct Both {
    Outcome a, b;
  };
  Both launch(const Case& c) { return {a_.run(c.options, c.inputs), b_.run(c.options, c.inputs)}; }

  /// The bound is known once both have run under the eyes of the reference engine.
  double bound(const Case& c) const {
    if (!a_.freedom().any() && !b_.freedom().any()) return 0;
    return kGrowth * (a_.watch(c.options, c.inputs).bound + b_.watch(c.options, c.inputs).bound);
  }

  Comparison compared(const Case& c, const Both& both, double& allowed) const {
    Comparison exact = compare(c.inputs, both.a, both.b, 0);
    allowed = 0;
    if (exact.same()) return exact;
    allowed = bound(c);
    return allowed == 0 ? exact : compare(c.inputs, both.a, both.b, allowed);
  }

  /// False: there is a verdict.
  bool judge(const Case& now, Fill how, bool filled) {
    const Both both = launch(now);
    if (both.a.fault_count != 0 || both.b.fault_count != 0) return faulted(both, how, filled);
    double allowed = 0;
    const Comparison c = compared(now, both, allowed);
    report_.within += c.within;
    report_.nan_payloads += c.nan_payloads;
    report_.pointers += c.pointers;
    report_.bound = std::max(report_.bound, allowed);
    report_.largest = std::max(report_.largest, c.largest);
    if (!c.same()) return different(now), false;
    if (!stores(now, both)) {
      report_.why = "nothing was stored";
      return false;
    }
    ++report_.tries;
    return true;
  }

  /// Both store what was there before, or nothing: the stores themselves must say it.
  bool stores(const Case& now, const Both& both) const {
    if (stored(now.inputs, both.a) || stored(now.inputs, both.b)) return true;
    return !a_.watch(now.options, now.inputs).stores.empty() &&
           !b_.watch(now.options, now.inputs).stores.empty();
  }

  /// Wild numbers that both cannot take say nothing about either; a fault of one side, or with
  /// tame numbers, does.
  bool faulted(const Both& both, Fill how, bool filled) {
    const bool alike = both.a.fault_count != 0 && both.b.fault_count != 0;
    if (filled && alike && how != Fill::small) {
      const std::string note = fmt::format("{} make both sides fault: left out", name(how));
      if (std::ranges::find(report_.notes, note) == report_.notes.end())
        report_.notes.push_back(note);
      return true;
    }
    report_.why = alike                     ? "both sides fault"
                  : both.a.fault_count != 0 ? "A faults, B does not"
                                            : "B faults, A does not";
    report_.faults = both.a.fault_count != 0 ? both.a.faults : both.b.faults;
    return false;
  }

  bool still_different(const Case& c) {
    const Both both = launch(c);
    double allowed = 0;
    return both.a.fault_count == 0 && both.b.fault_count == 0 && !compared(c, both, allowed).same();
  }

  /// A result that depends on a clock, on addresses, or on what comes first says nothing about the
  /// pair. What it hangs on, or nothing.
  static std::string hangs_on(Side& side, const Case& c) {
    if (!side.freedom().clocks().empty()) return "a clock: " + side.freedom().clocks().front();
    const Outcome one = side.watch(c.options, c.inputs).outcome;
    const auto otherwise = [&](const Variation& variation) {
      return !compare(c.inputs, one, side.watch(c.options, c.inputs, variation).outcome, 0).same();
    };
    if (otherwise({.schedule = WaveSchedule::lockstep})) return "the order in which lanes run";
    if (otherwise({.moved = true})) return "the addresses of buffers";
    try {
      if (otherwise({.last_group_first = true})) return "the order in which groups run";
    } catch (const Error& e) {
      // Groups that wait for an earlier one never end this variation.
      if (e.kind() != ErrorKind::budget) throw;
      return "the order in which groups run";
    }
    const Outcome first = side.run(c.options, c.inputs);
    for (int again = 0; again < kRepeats; ++again)
      if (!compare(c.inputs, first, side.run(c.options, c.inputs), 0).same())
        return "what runs at the same time: two runs of it differ";
    return {};
  }

  std::string why_not_comparable(const Case& c) {
    for (Side* side : {&a_, &b_})
      if (const std::string what = hangs_on(*side, c); !what.empty())
        return fmt::format("they differ, and the result of {} depends on {}",
                           side == &a_ ? "A" : "B", what);
    return {};
  }

  void different(Case found) {
    report_.why = why_not_comparable(found);
    report_.verdict = report_.why.empty() ? Verdict::different : Verdict::undecided;
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(static_cast<int64_t>(1e3 * request_.shrink_seconds));
    report_.runs = shrink(
        found, [this](const Case& c) { return still_different(c); }, end);
    const Both both = launch(found);
    const Comparison c = compared(found, both, report_.bound);
    if (!c.elements.empty()) {
      report_.different = c.different;
      report_.first = first_site(found, both, c);
    } else if (report_.why.empty()) {
      report_.verdict = Verdict::undecided;
      report_.why =
          "they differed, and do not when they run again: the result depends on what runs "
          "at the same time";
    }
    report_.options = std::move(found.options);
    report_.inputs = std::move(found.inputs);
  }

  /// The difference whose store comes first in A, lane by lane; B's store to the same bytes.
  Site first_site(const Case& found, const Both& both, const Comparison& c) const {
    const Watched a = a_.watch(found.options, found.inputs),
                  b = b_.watch(found.options, found.inputs);
    const Element* first = &c.elements.front();
    std::optional<Store> store;
    for (const Element& e : c.elements) {
      const std::optional<Store> s = last_store(a, found.inputs, e);
      if (s && (!store || std::pair(s->group, s->lane) < std::pair(store->group, store->lane))) {
        store = s;
        first = &e;
      }
    }
    Site site;
    site.store_a = store;
    site.store_b = last_store(b, found.inputs, *first);
    describe(*first, found, both, site);
    return site;
  }

  static std::optional<Store> last_store(const Watched& w, const std::vector<Input>& inputs,
                                         const Element& e) {
    if (e.input >= inputs.size()) return std::nullopt;
    const unsigned size = npy::element_size(inputs[e.input].type);
    const uint64_t from = e.index * size, to = from + size;
    std::optional<Store> last;
    for (const Store& s : w.stores)
      if (s.input == e.input && s.offset < to && s.offset + s.bytes > from) last = s;
    return last;
  }

  static void describe(const Element& e, const Case& found, const Both& both, Site& site) {
    if (e.input >= found.inputs.size()) {
      site.where = fmt::format("variable {}, byte {}", e.variable, e.index);
      site.a =
          fmt::format("{:#04x}", static_cast<unsigned>(both.a.variables.at(e.variable)[e.index]));
      site.b =
          fmt::format("{:#04x}", static_cast<unsigned>(both.b.variables.at(e.variable)[e.index]));
      return;
    }
    const Input& input = found.inputs[e.input];
    site.where = fmt::format("argument {} ({}), element {}", e.input + 1, input.name, e.index);
    site.a = element_text(input, both.a.buffers[e.input], e.index);
    site.b = element_text(input, both.b.buffers[e.input], e.index);
  }

  void say_what_is_open() {
    for (const Side* side : {&a_, &b_})
      for (const FreeOp& op : side->freedom().ops()) report_.free_ops.push_back(op);
  }

  const Request& request_;
  Side a_, b_;
  Report report_;
};

}  // namespace

Report compare_kernels(const Request& request) {
  return Pair(request).run();
}

}  // namespace lanewise::diff
