// The linter of control fields: what the document's schedule rules ask for, and whether every use
// of a register waits for the scoreboard of what still reads or writes it.
//
// Instructions of variable latency work on after they were issued. Until a wait says otherwise, the
// registers they write must not be used and those they read must not be overwritten (predicates are
// read when an instruction is issued; instructions of one kind, all those of memory or all others,
// keep their order among themselves; barriers and fences find all sources read). A wait on a
// scoreboard also covers what was issued before it and has no scoreboard of its own, because
// compilers signal the last load of a batch only.
//
// Over branches the linter believes only what holds on every way to a place, and nothing where the
// ways are not known (targets of the branch stack, returns, code that does not decode): what it
// reports is wrong on some way, but not everything that is wrong is found.
#include <fmt/format.h>

#include <map>
#include <set>

#include "runtime/isa/sass/lowering/semantics.hpp"
#include "runtime/isa/sass/rules/touched.hpp"

namespace lanewise::sass {
namespace {

constexpr unsigned kNoScoreboard = 7;

/// Which instructions' results and sources are still under way.
struct State {
  std::set<size_t> results, sources;
  bool operator==(const State&) const = default;
};

void keep_common(std::set<size_t>& a, const std::set<size_t>& b) {
  std::erase_if(a, [&](size_t n) { return b.count(n) == 0; });
}

class KernelLint {
 public:
  KernelLint(const Kernel& kernel, std::vector<Diagnostic>& out) : kernel_(kernel), out_(out) {
    for (size_t n = 0; n < code().size(); ++n) {
      by_pc_[code()[n].pc] = n;
      touched_.push_back(touched(code()[n]));
    }
  }

  void run() {
    for (size_t n = 0; n < code().size(); ++n) rules_of(n);
    if (!says_control()) {
      if (!code().empty())
        report(0, "no control fields are given: waits and schedules were not judged", true);
      return;
    }
    find_blocks();
    propagate();
    reporting_ = true;
    for (const auto& [start, state] : known_) walk(start, state);
  }

 private:
  const std::vector<Instruction>& code() const { return kernel_.code; }

  void report(size_t n, const std::string& message, bool warning = false) {
    const Instruction& i = code()[n];
    if (!reported_.emplace(n, message).second) return;
    const std::string place =
        i.line == 0 ? fmt::format("kernel '{}', at {:#06x}: {}: ", kernel_.name, i.pc, print(i))
                    : "";
    out_.push_back({i.line, i.column, place + message, warning});
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

  void add_leader(size_t n, bool unknown_ways) {
    if (n >= code().size()) return;
    leaders_.insert(n);
    if (unknown_ways) known_[n] = {};
  }

  void find_blocks() {
    add_leader(0, true);
    for (size_t n = 0; n < code().size(); ++n) {
      const Instruction& i = code()[n];
      const bool call = i.form->flow == Flow::call, push = call || i.form->flow == Flow::push;
      if (i.operand(Role::target) != nullptr) add_leader(target(i), push);
      if (is_jump(i)) add_leader(n + 1, call);
      if (i.form->unknown) add_leader(n + 1, true);
    }
    unknown_ = {};
    for (const auto& [n, state] : known_) unknown_.insert(n);
  }

  static bool is_jump(const Instruction& i) {
    return i.form->flow != Flow::next && i.form->flow != Flow::push;
  }
  size_t target(const Instruction& i) const {
    const auto found = by_pc_.find(branch_target(i));
    return found == by_pc_.end() ? code().size() : found->second;
  }

  void propagate() {
    std::set<size_t> pending = unknown_;
    while (!pending.empty()) {
      const size_t start = *pending.begin();
      pending.erase(pending.begin());
      const auto [last, state] = walk(start, known_.at(start));
      for (const size_t next : successors(last))
        if (meet(next, state)) pending.insert(next);
    }
  }

  /// True when what is known at `start` changed.
  bool meet(size_t start, const State& state) {
    if (start >= code().size() || unknown_.count(start) != 0) return false;
    const auto [at, is_new] = known_.try_emplace(start, state);
    if (is_new) return true;
    State before = at->second;
    keep_common(at->second.results, state.results);
    keep_common(at->second.sources, state.sources);
    return !(before == at->second);
  }

  std::vector<size_t> successors(size_t last) const {
    const Instruction& i = code()[last];
    if (!is_jump(i)) return {last + 1};
    std::vector<size_t> out;
    const bool always = i.guard() == kPT && !i.guard_negated();
    if (i.form->flow == Flow::branch) out.push_back(target(i));
    if (!always && i.form->has_guard) out.push_back(last + 1);
    return out;
  }

  struct Walked {
    size_t last;
    State state;
  };
  /// The block that begins at `start`: its last instruction and what is under way behind it.
  Walked walk(size_t start, State state) {
    size_t n = start;
    for (;; ++n) {
      step(n, state);
      if (is_jump(code()[n]) || n + 1 == code().size() || leaders_.count(n + 1) != 0) break;
    }
    return {n, std::move(state)};
  }

  // --- scoreboards -------------------------------------------------------------------------------

  unsigned write_sb(size_t n) const { return code()[n].control.write_sb(); }
  unsigned read_sb(size_t n) const { return code()[n].control.read_sb(); }

  void step(size_t n, State& state) {
    const Instruction& i = code()[n];
    for (unsigned sb = 0; sb < 6; ++sb)
      if ((i.control.wait_mask() >> sb & 1) != 0) wait(state, sb, 0, n);
    depbar(n, state);
    if (i.form->is(kSourcesRead)) state.sources.clear();
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
  bool keep_order(size_t a, size_t b) const {
    const Instruction &x = code()[a], &y = code()[b];
    if (!x.form->variable_latency || !y.form->variable_latency) return false;
    return (x.operand(Role::addr) == nullptr) == (y.operand(Role::addr) == nullptr);
  }

  void judge(size_t n, State& state) {
    const Touched& now = touched_[n];
    std::erase_if(state.results, [&](size_t e) {
      const Places both = (now.reads | now.writes) & touched_[e].writes;
      if (e == n || both.none() || !meets(e, n)) return false;
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
  std::vector<Diagnostic>& out_;
  std::vector<Touched> touched_;
  std::map<uint64_t, size_t> by_pc_;
  std::set<size_t> leaders_, unknown_;
  std::map<size_t, State> known_;  ///< at the start of each block that is reached
  std::set<std::pair<size_t, std::string>> reported_;
  bool reporting_ = false;
};

}  // namespace

std::vector<Diagnostic> lint(const Listing& listing) {
  std::vector<Diagnostic> out;
  for (const Kernel& k : listing.kernels) KernelLint(k, out).run();
  return out;
}

}  // namespace lanewise::sass
