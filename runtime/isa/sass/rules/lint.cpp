// The linter of control fields: what the document's schedule rules ask for, and whether every use
// of a register waits for the scoreboard of what still reads or writes it.
//
// Instructions of variable latency work on after they were issued. Until a wait says otherwise, the
// registers they write must not be used and those they read must not be overwritten (predicates are
// read when an instruction is issued). Where a source has no scoreboard, instructions of one kind,
// all those of memory or all others, keep their order among themselves, and barriers and fences
// find it read; where it has one, only what follows a load in memory may do without the wait. A
// wait on a scoreboard also covers what was issued before it and has no scoreboard of its own,
// because compilers signal the last load of a batch only.
//
// Where paths meet, what is under way on any of them counts: what is reported is wrong on some path
// through the code. Nothing is known behind paths that are not followed (paths.hpp).
#include <fmt/format.h>

#include <map>
#include <set>

#include "runtime/isa/sass/lowering/semantics.hpp"
#include "runtime/isa/sass/rules/paths.hpp"
#include "runtime/isa/sass/rules/touched.hpp"

namespace lanewise::sass {
namespace {

constexpr unsigned kNoScoreboard = 7;

/// Which instructions' results and sources are still under way.
struct State {
  std::set<size_t> results, sources;
  /// True when something was new.
  bool join(const State& o) {
    const size_t before = results.size() + sources.size();
    results.insert(o.results.begin(), o.results.end());
    sources.insert(o.sources.begin(), o.sources.end());
    return results.size() + sources.size() != before;
  }
};

/// Calls and branch stacks make copies of code; more than so many are not looked at.
constexpr size_t kMaxPlaces = 1 << 14;

class KernelLint {
 public:
  KernelLint(const Kernel& kernel, std::vector<Remark>& out)
      : kernel_(kernel), out_(out), paths_(kernel) {
    for (const Instruction& i : code()) touched_.push_back(touched(i));
  }

  void run() {
    for (size_t n = 0; n < code().size(); ++n) rules_of(n);
    if (!says_control()) {
      if (!code().empty())
        report(0, "no control fields are given: waits and schedules were not judged", true);
      return;
    }
    find_paths();
    reporting_ = true;
    for (const auto& [start, state] : known_) walk(start, state);
  }

 private:
  const std::vector<Instruction>& code() const { return kernel_.code; }

  void report(size_t n, const std::string& message, bool warning = false) {
    if (reported_.emplace(n, message).second) out_.push_back({n, message, warning});
  }

  /// Strictly by the document, its warnings are errors.
  void rules_of(size_t n) {
    for (const Diagnostic& d : check(code()[n])) report(n, d.message);
  }

  bool says_control() const {
    for (const Instruction& i : code())
      if (i.has_control) return true;
    return false;
  }

  // --- the flow of control -----------------------------------------------------------------------

  void find_paths() {
    // What no known path leads to begins with nothing under way.
    for (size_t n = 0; n < code().size(); n = unreached()) start_at(n);
  }
  size_t unreached() const {
    for (const std::set<size_t>* starts : {&paths_.unknown(), &paths_.leaders()})
      for (const size_t n : *starts) {
        const auto at = known_.lower_bound({n, BranchStack::kEmpty});
        if (at == known_.end() || at->first.index != n) return n;
      }
    return code().size();
  }

  void start_at(size_t n) {
    known_[{n, BranchStack::kEmpty}] = {};
    std::set<Place> pending = {{n, BranchStack::kEmpty}};
    while (!pending.empty()) {
      const Place start = *pending.begin();
      pending.erase(pending.begin());
      const auto [last, state] = walk(start, known_.at(start));
      for (const Place& next : paths_.successors(last)) {
        if (known_.size() >= kMaxPlaces && !known_.contains(next)) continue;
        const auto [at, is_new] = known_.try_emplace(next, state);
        if (is_new || at->second.join(state)) pending.insert(next);
      }
    }
  }

  struct Walked {
    Place last;
    State state;
  };
  /// The block that begins at `start`: its last instruction and what is under way behind it.
  Walked walk(Place at, State state) {
    for (;; ++at.index) {
      step(at.index, state);
      at.stack = paths_.behind(at);
      if (paths_.ends_block(at.index)) return {at, std::move(state)};
    }
  }

  // --- scoreboards -------------------------------------------------------------------------------

  unsigned write_sb(size_t n) const { return code()[n].control.write_sb(); }
  unsigned read_sb(size_t n) const { return code()[n].control.read_sb(); }

  void step(size_t n, State& state) {
    const Instruction& i = code()[n];
    for (unsigned sb = 0; sb < 6; ++sb)
      if ((i.control.wait_mask() >> sb & 1) != 0) wait(state, sb, 0, n);
    depbar(n, state);
    if (i.form->is(kSourcesRead))
      std::erase_if(state.sources, [&](size_t e) { return read_sb(e) == kNoScoreboard; });
    judge(n, state);
    if (!i.form->variable_latency) return;
    state.results.erase(n);
    state.sources.erase(n);
    if (touched_[n].writes.any()) state.results.insert(n);
    if (registers(touched_[n].reads).any()) state.sources.insert(n);
  }

  void depbar(size_t n, State& state) {
    const Instruction& i = code()[n];
    if (!i.form->is(kWaits)) return;
    const bool counts = i.operand(Role::c) != nullptr;
    if (counts)
      wait(state, static_cast<unsigned>(i.operand(Role::a)->field.get(i.word)),
           static_cast<size_t>(i.operand(Role::b)->field.get(i.word)), n);
    const uint64_t mask = i.operand(counts ? Role::c : Role::a)->field.get(i.word);
    for (unsigned sb = 0; sb < 6; ++sb)
      if ((mask >> sb & 1) != 0) wait(state, sb, 0, n);
  }

  /// Instruction `n` waits until at most `keep` signals of a scoreboard are missing; the youngest
  /// are. Their age is their place, unless they came round a loop: then none is kept.
  void wait(State& state, unsigned sb, size_t keep, size_t n) const {
    std::set<size_t> signals;
    for (const size_t e : state.results)
      if (write_sb(e) == sb) signals.insert(e);
    for (const size_t e : state.sources)
      if (read_sb(e) == sb) signals.insert(e);
    if (signals.empty()) return;
    const bool loop = *signals.rbegin() >= n;
    for (; keep > 0 && !loop && !signals.empty(); --keep) signals.erase(std::prev(signals.end()));
    for (const size_t done : signals) {
      const bool result = write_sb(done) == sb;
      if (result) state.results.erase(done);
      state.sources.erase(done);
      // What was issued before and signals nothing is done as well.
      const auto older = [&](size_t e) { return e <= done || e >= n; };
      if (result)
        std::erase_if(state.results,
                      [&](size_t e) { return older(e) && write_sb(e) == kNoScoreboard; });
      std::erase_if(state.sources,
                    [&](size_t e) { return older(e) && read_sb(e) == kNoScoreboard; });
    }
  }

  /// Instructions under different guards may run in different lanes.
  bool meets(size_t a, size_t b) const {
    const Instruction &x = code()[a], &y = code()[b];
    const auto free = [](const Instruction& i) {
      return !i.form->has_guard || (i.guard() == kPT && !i.guard_negated());
    };
    return free(x) || free(y) || (x.guard() == y.guard() && x.guard_negated() == y.guard_negated());
  }

  static Places registers(Places p) {
    for (size_t n = kFirstPredicate; n < p.size(); ++n) p.reset(n);
    return p;
  }
  /// Does `b` find the sources of the earlier `a` read without a wait?
  bool keep_order(size_t a, size_t b) const {
    const Instruction &x = code()[a], &y = code()[b];
    if (!x.form->variable_latency || !y.form->variable_latency) return false;
    const bool memory = x.operand(Role::addr) != nullptr;
    if (memory != (y.operand(Role::addr) != nullptr)) return false;
    return read_sb(a) == kNoScoreboard || (memory && !x.form->is(kStores) && !x.form->is(kAtomic));
  }

  void judge(size_t n, State& state) {
    const Touched& now = touched_[n];
    std::erase_if(state.results, [&](size_t e) {
      const Places used = e == n ? now.reads : now.reads | now.writes;
      const Places both = used & touched_[e].writes;
      if (both.none() || !meets(e, n)) return false;
      if (reporting_) complain(n, e, both, write_sb(e), "result", "&wr");
      return true;
    });
    std::erase_if(state.sources, [&](size_t e) {
      const Places both = registers(now.writes & touched_[e].reads);
      if (e == n || both.none() || !meets(e, n) || keep_order(e, n)) return false;
      if (reporting_) complain(n, e, both, read_sb(e), "source", "&rd");
      return true;
    });
  }

  void complain(size_t n, size_t e, const Places& both, unsigned sb, const char* what,
                const char* annotation) {
    size_t place = 0;
    while (!both.test(place)) ++place;
    const Instruction& by = code()[e];
    const std::string where =
        by.line != 0 ? fmt::format("line {}", by.line) : fmt::format("{:#06x}", by.pc);
    const std::string missing = sb == kNoScoreboard
                                    ? fmt::format("{} there and a wait on it", annotation)
                                    : fmt::format("&req={} before this", sb);
    report(n, fmt::format("{} is still a {} of {} ({}), expected {}", place_name(place), what,
                          by.form->mnemonic, where, missing));
  }

  const Kernel& kernel_;
  std::vector<Remark>& out_;
  std::vector<Touched> touched_;
  Paths paths_;
  std::map<Place, State> known_;  ///< at the start of each block that is reached
  std::set<std::pair<size_t, std::string>> reported_;
  bool reporting_ = false;
};

}  // namespace

std::vector<Remark> lint(const Kernel& kernel) {
  std::vector<Remark> out;
  KernelLint(kernel, out).run();
  return out;
}

std::vector<Diagnostic> lint(const Listing& listing) {
  std::vector<Diagnostic> out;
  for (const std::vector<Kernel>* list : {&listing.kernels, &listing.functions})
    for (const Kernel& k : *list)
      for (const Remark& r : lint(k)) {
        const Instruction& i = k.code[r.index];
        const std::string place =
            i.line == 0 ? fmt::format("kernel '{}', at {:#06x}: {}: ", k.name, i.pc, print(i)) : "";
        out.push_back({i.line, i.column, place + r.message, r.warning});
      }
  return out;
}

}  // namespace lanewise::sass
