// Member masks from sm_70 on: an operation waits for each lane of its mask that has not ended, in
// whatever iteration or depth of a recursion it stands. Random programs with masks of all lanes, of
// some and of groups that lanes name apart; the model runs each lane by itself and shares nothing
// with the runtime. Packed mode may refuse a launch loudly, and gives no other value.
// The same programs for sm_60, where lanes keep to one tree: the second model runs them in step.
// A recursion is a loop of that tree, whose iterations the model does not know: there the engines
// must agree.
// LANEWISE_MASK_PROGRAMS=N asks for N programs, LANEWISE_RANDOM_SEED for other ones.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <optional>

#include "runtime/reference/reference.hpp"
#include "tests/differential/ptx_kernel.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

struct Condition {  // ((counter ? counter : lane) >> shift & mask) == (by_lane ? lane >> s2 & mask
                    // : value)
  bool counter = false, by_lane = false;
  uint32_t shift = 0, mask = 1, value = 0, other_shift = 0;
};
enum class Kind : uint8_t {
  mix,
  ballot,
  any,
  shuffle,
  sum,
  match,
  sync,
  branch,
  loop,
  call,
  leave
};
/// The mask of an operation: all lanes, or those that agree with the lane in some bits of its
/// number.
struct Members {
  uint32_t bits = 0;      ///< of the lane's number
  bool constant = false;  ///< written as an immediate (all lanes only)
};
struct Statement {
  Kind kind = Kind::mix;
  uint32_t number = 0;  ///< mix: a constant; loop: shift of the lane's number for the trip count
  uint32_t trips = 0;   ///< loop: how often, 0 = by the lane
  Members members;
  Condition condition;
  std::vector<Statement> body, otherwise;
};
struct Random {
  std::mt19937 rng;
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(rng() % n); }
  bool one_in(uint32_t n) { return below(n) == 0; }
};
struct Program {
  std::vector<Statement> kernel, before, after;  ///< the function: before, itself, after
  uint32_t depth_shift = 0;
};

// --- the generator ------------------------------------------------------------------------------

class Generator {
 public:
  explicit Generator(uint32_t seed) : r_{std::mt19937(seed)} {}
  Program make() {
    Program p;
    p.kernel = list(3, 0, true);
    p.before = list(2, 0, false);
    p.after = list(2, 0, false);
    p.depth_shift = r_.below(4);
    return p;
  }

 private:
  std::vector<Statement> list(uint32_t depth, uint32_t loops, bool calls) {
    std::vector<Statement> out;
    const uint32_t count = 1 + r_.below(3);
    for (uint32_t i = 0; i < count; ++i) out.push_back(statement(depth, loops, calls));
    return out;
  }
  Statement statement(uint32_t depth, uint32_t loops, bool calls) {
    Statement s;
    const uint32_t what = r_.below(depth == 0 ? 6 : 12);
    if (what < 1) {
      s.number = r_.rng() | 1;
    } else if (what < 6) {
      constexpr Kind kOps[] = {Kind::ballot, Kind::any,   Kind::shuffle,
                               Kind::sum,    Kind::match, Kind::sync};
      s.kind = kOps[r_.below(6)];
      s.members = members();
    } else if (what < 8) {
      s.kind = Kind::branch;
      s.condition = condition(loops);
      s.body = list(depth - 1, loops, calls);
      if (r_.one_in(2)) s.otherwise = list(depth - 1, loops, calls);
    } else if (what < 10 && loops < 2) {
      s.kind = Kind::loop;
      s.number = r_.below(4);
      s.trips = r_.one_in(2) ? 0 : 2 + r_.below(3);
      s.body = list(depth - 1, loops + 1, calls);
    } else if (what == 10 && calls) {
      s.kind = Kind::call;
    } else {
      s.kind = Kind::branch;
      s.condition = condition(loops);
      Statement leave;
      leave.kind = loops > 0 && r_.one_in(2) ? Kind::leave : Kind::mix;
      leave.number = r_.rng() | 1;
      s.body = {leave};
    }
    return s;
  }
  Members members() {
    constexpr uint32_t kBits[] = {0, 0, 0, 1, 2, 4, 3, 16, 24, 8};
    const uint32_t bits = kBits[r_.below(10)];
    return {bits, bits == 0 && r_.one_in(2)};
  }
  Condition condition(uint32_t loops) {
    Condition c;
    c.counter = loops > 0 && !r_.one_in(3);
    c.mask = r_.one_in(2) ? 1 : 3;
    c.by_lane = c.counter && !r_.one_in(3);
    c.shift = c.counter ? 0 : r_.below(5);
    c.other_shift = r_.below(4);
    c.value = r_.below(c.mask + 1);
    return c;
  }
  Random r_;
};

// --- the model ----------------------------------------------------------------------------------

constexpr uint32_t kSteps = 5000;

uint32_t group_of(uint32_t lane, uint32_t bits) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < 32; ++i) mask |= uint32_t{((i ^ lane) & bits) == 0} << i;
  return mask;
}

/// What a lane waits with.
struct Need {
  Kind kind;
  uint32_t mask, value, lane;
};

/// One lane from its begin: the results of its operations so far are known, at the next one it
/// stops.
class LaneRun {
 public:
  LaneRun(const Program& p, uint32_t lane, const std::vector<uint32_t>& known)
      : p_(p), lane_(lane), known_(known), state_(lane * 77 + 5) {}
  std::optional<Need> run() {
    list(p_.kernel, {});
    return need_;
  }
  uint32_t state() const { return state_; }
  bool too_long() const { return steps_ > kSteps; }

 private:
  enum class Flow : uint8_t { next, leave, stop };
  struct Place {
    std::vector<uint32_t> counters;
    uint32_t depth = 0;
  };
  Flow list(const std::vector<Statement>& statements, const Place& at) {
    for (const Statement& s : statements)
      if (const Flow flow = statement(s, at); flow != Flow::next) return flow;
    return Flow::next;
  }
  bool holds(const Condition& c, const Place& at) const {
    const uint32_t left = (c.counter ? at.counters.back() : lane_) >> c.shift & c.mask;
    return left == (c.by_lane ? lane_ >> c.other_shift & c.mask : c.value);
  }
  Flow statement(const Statement& s, const Place& at) {
    if (++steps_ > kSteps) return Flow::stop;
    switch (s.kind) {
      case Kind::mix:
        state_ = state_ * 2654435761U + s.number;
        return Flow::next;
      case Kind::branch:
        return list(holds(s.condition, at) ? s.body : s.otherwise, at);
      case Kind::leave:
        return Flow::leave;
      case Kind::loop: {
        const uint32_t trips = s.trips != 0 ? s.trips : 1 + (lane_ >> s.number & 3);
        Place inside = at;
        inside.counters.push_back(0);
        for (uint32_t& i = inside.counters.back(); i < trips; ++i) {
          const Flow flow = list(s.body, inside);
          if (flow == Flow::leave) break;
          if (flow == Flow::stop) return flow;
        }
        return Flow::next;
      }
      case Kind::call:
        return recurse(1 + (lane_ >> p_.depth_shift & 3));
      default:
        return operation(s);
    }
  }
  Flow recurse(uint32_t depth) {
    if (const Flow flow = list(p_.before, {}); flow == Flow::stop) return flow;
    if (depth > 1)
      if (const Flow flow = recurse(depth - 1); flow == Flow::stop) return flow;
    return list(p_.after, {}) == Flow::stop ? Flow::stop : Flow::next;
  }
  Flow operation(const Statement& s) {
    if (next_ == known_.size()) {
      need_ = Need{s.kind, group_of(lane_, s.members.bits), state_, lane_};
      return Flow::stop;
    }
    if (s.kind != Kind::sync) state_ = (state_ ^ known_[next_]) * 2654435761U;
    ++next_;
    return Flow::next;
  }

  const Program& p_;
  uint32_t lane_;
  const std::vector<uint32_t>& known_;
  uint32_t state_, steps_ = 0;
  size_t next_ = 0;
  std::optional<Need> need_;
};

uint32_t result(const Need& own, const std::vector<Need>& set) {
  const auto member = [&](const Need& n) { return (own.mask >> n.lane & 1) != 0; };
  uint32_t out = 0;
  switch (own.kind) {
    case Kind::ballot:
      for (const Need& n : set) out |= uint32_t{member(n) && (n.value >> 7 & 1) != 0} << n.lane;
      return out;
    case Kind::any:
      for (const Need& n : set) out |= uint32_t{member(n) && (n.value >> 9 & 7) == 0};
      return out;
    case Kind::shuffle: {  // the lane that the value names, in the wave
      const uint32_t from = own.value >> 11 & 31;
      for (const Need& n : set)
        if (n.lane == from) return n.value;
      return 0;  // as GPUs do where CUDA leaves it open
    }
    case Kind::sum:
      for (const Need& n : set) out += member(n) ? n.value : 0;
      return out;
    case Kind::match:
      for (const Need& n : set)
        out |= uint32_t{member(n) && ((n.value ^ own.value) & 0x300) == 0} << n.lane;
      return out;
    default:
      return 0;
  }
}

/// The state of each lane at its end; nothing where lanes wait for each other for ever.
std::optional<std::vector<uint32_t>> model(const Program& p, uint32_t lanes) {
  std::vector<std::vector<uint32_t>> known(lanes);
  std::vector<uint32_t> states(lanes);
  for (;;) {
    std::vector<Need> needs;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      LaneRun run(p, lane, known[lane]);
      if (const auto need = run.run()) needs.push_back(*need);
      if (run.too_long()) return {};
      states[lane] = run.state();
    }
    if (needs.empty()) return states;
    uint32_t live = 0;
    for (const Need& n : needs) live |= 1U << n.lane;
    bool moved = false;
    for (const Need& first : needs) {
      std::vector<Need> set;
      uint32_t there = 0;
      for (const Need& n : needs)
        if (n.kind == first.kind && n.mask == first.mask) {
          set.push_back(n);
          there |= 1U << n.lane;
        }
      if ((first.mask & live & ~there) != 0) continue;
      for (const Need& n : set) known[n.lane].push_back(result(n, set));
      moved = true;
      break;
    }
    if (!moved) return {};
  }
}

/// For older targets: the lanes run in step, each operation takes those that are there with the
/// same mask.
class InStep {
 public:
  InStep(const Program& p, uint32_t lanes) : p_(p), states_(lanes) {
    for (uint32_t lane = 0; lane < lanes; ++lane) states_[lane] = lane * 77 + 5;
  }
  std::optional<std::vector<uint32_t>> run() {
    uint32_t all = 0;
    for (uint32_t lane = 0; lane < states_.size(); ++lane) all |= 1U << lane;
    list(p_.kernel, all, {});
    if (steps_ > kSteps) return {};
    return states_;
  }

 private:
  /// Lanes that go on; those that leave the innermost loop are gone until its end.
  uint32_t list(const std::vector<Statement>& statements, uint32_t lanes,
                const std::vector<uint32_t>& counters) {
    for (const Statement& s : statements)
      if (lanes != 0 && ++steps_ <= kSteps) lanes = statement(s, lanes, counters);
    return lanes;
  }
  template <class Test>
  static uint32_t those(uint32_t lanes, Test test) {
    uint32_t out = 0;
    for (uint32_t lane = 0; lane < 32; ++lane)
      if ((lanes >> lane & 1) != 0 && test(lane)) out |= 1U << lane;
    return out;
  }
  uint32_t statement(const Statement& s, uint32_t lanes, std::vector<uint32_t> counters) {
    switch (s.kind) {
      case Kind::mix:
        those(lanes, [&](uint32_t lane) {
          states_[lane] = states_[lane] * 2654435761U + s.number;
          return false;
        });
        return lanes;
      case Kind::branch: {
        const Condition& c = s.condition;
        const uint32_t taken = those(lanes, [&](uint32_t lane) {
          const uint32_t left = (c.counter ? counters.back() : lane) >> c.shift & c.mask;
          return left == (c.by_lane ? lane >> c.other_shift & c.mask : c.value);
        });
        const uint32_t first = list(s.body, taken, counters);
        return first | list(s.otherwise, lanes & ~taken, counters);
      }
      case Kind::leave:
        return 0;
      case Kind::loop: {
        uint32_t inside = lanes;
        counters.push_back(0);
        for (uint32_t& i = counters.back(); inside != 0 && steps_ <= kSteps; ++i)
          inside = those(list(s.body, inside, counters), [&](uint32_t lane) {
            return i + 1 < (s.trips != 0 ? s.trips : 1 + (lane >> s.number & 3));
          });
        return lanes;
      }
      case Kind::call:
        recurse(lanes, 1);
        return lanes;
      default:
        operation(s, lanes);
        return lanes;
    }
  }
  void recurse(uint32_t lanes, uint32_t level) {
    list(p_.before, lanes, {});
    const uint32_t deeper =
        those(lanes, [&](uint32_t lane) { return level < 1 + (lane >> p_.depth_shift & 3); });
    if (deeper != 0) recurse(deeper, level + 1);
    list(p_.after, lanes, {});
  }
  void operation(const Statement& s, uint32_t lanes) {
    std::vector<Need> there;
    those(lanes, [&](uint32_t lane) {
      there.push_back({s.kind, group_of(lane, s.members.bits), states_[lane], lane});
      return false;
    });
    for (const Need& own : there) {
      std::vector<Need> set;
      for (const Need& n : there)
        if (n.mask == own.mask) set.push_back(n);
      if (s.kind != Kind::sync)
        states_[own.lane] = (states_[own.lane] ^ result(own, set)) * 2654435761U;
    }
  }

  const Program& p_;
  std::vector<uint32_t> states_;
  uint32_t steps_ = 0;
};

// --- as PTX -------------------------------------------------------------------------------------

class Printer {
 public:
  explicit Printer(const Program& p, bool rendezvous) : p_(p), rendezvous_(rendezvous) {}
  std::string kernel() {
    const std::string registers =
        ".reg .b32 %state, %lane, %depth, %full, %t<6>, %c<4>; .reg .b64 %rd<6>; .reg .pred %p, "
        "%q;\n";
    list(p_.before, 0, "");
    line("setp.le.u32 %p, %depth, 1");
    line("@%p bra bottom");
    line("sub.u32 %t0, %depth, 1");
    call("%t0");
    text_ += "bottom:\n";
    list(p_.after, 0, "");
    const std::string body = std::exchange(text_, "");
    list(p_.kernel, 0, "");
    const std::string main = std::exchange(text_, "");
    return std::string(".version 8.0\n.target ") + (rendezvous_ ? "sm_80" : "sm_60") +
           "\n.address_size 64\n"
           ".func (.param .b32 out) f(.param .b32 in, .param .b32 n)\n{\n" +
           registers +
           "ld.param.b32 %state, [in]; ld.param.b32 %depth, [n]; mov.u32 %lane, %laneid; mov.b32 "
           "%full, -1;\n" +
           body +
           "st.param.b32 [out], %state;\nret;\n}\n"
           ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" +
           registers +
           "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %lane, %laneid; "
           "mad.lo.u32 %state, %lane, 77, 5; ld.global.u32 %full, [%rd1];\n" +
           main +
           "mov.u32 %t0, %tid.x; mad.wide.u32 %rd2, %t0, 4, %rd2; st.global.u32 [%rd2], "
           "%state;\nret;\n}\n";
  }

 private:
  template <typename... Args>
  void line(const std::string& format, const Args&... args) {
    text_ += "  " + fmt::format(fmt::runtime(format), args...) + ";\n";
  }
  std::string label() { return fmt::format("L{}", labels_++); }
  void list(const std::vector<Statement>& all, uint32_t loops, const std::string& leave) {
    for (const Statement& s : all) statement(s, loops, leave);
  }
  void call(const std::string& depth) {
    text_ += "  { .param .b32 a; .param .b32 b; .param .b32 r;\n";
    line("st.param.b32 [a], %state");
    line("st.param.b32 [b], {}", depth);
    line("call (r), f, (a, b)");
    line("ld.param.b32 %state, [r]");
    text_ += "  }\n";
  }
  void statement(const Statement& s, uint32_t loops, const std::string& leave) {
    switch (s.kind) {
      case Kind::mix:
        return line("mad.lo.u32 %state, %state, 2654435761, {}", s.number);
      case Kind::branch: {
        const Condition& c = s.condition;
        const std::string other = label(), end = label();
        line("shr.u32 %t0, {}, {}", c.counter ? fmt::format("%c{}", loops - 1) : "%lane", c.shift);
        line("and.b32 %t0, %t0, {}", c.mask);
        line("shr.u32 %t1, %lane, {}", c.other_shift);
        line("and.b32 %t1, %t1, {}", c.mask);
        line("setp.ne.u32 %p, %t0, {}", c.by_lane ? "%t1" : std::to_string(c.value));
        line("@%p bra {}", other);
        list(s.body, loops, leave);
        if (!s.otherwise.empty()) line("bra {}", end);
        text_ += other + ":\n";
        list(s.otherwise, loops, leave);
        text_ += end + ":\n";
        return;
      }
      case Kind::leave:
        return line("bra {}", leave);
      case Kind::loop: {
        const std::string again = label(), out = label();
        line("mov.u32 %c{}, 0", loops);
        text_ += again + ":\n";
        list(s.body, loops + 1, out);
        line("add.u32 %c{0}, %c{0}, 1", loops);
        if (s.trips != 0) {
          line("setp.lt.u32 %p, %c{}, {}", loops, s.trips);
        } else {
          line("shr.u32 %t0, %lane, {}", s.number);
          line("and.b32 %t0, %t0, 3");
          line("setp.le.u32 %p, %c{}, %t0", loops);
        }
        line("@%p bra {}", again);
        text_ += out + ":\n";
        return;
      }
      case Kind::call:
        line("shr.u32 %t0, %lane, {}", p_.depth_shift);
        line("and.b32 %t0, %t0, 3");
        line("add.u32 %t0, %t0, 1");
        return call("%t0");
      default:
        return operation(s);
    }
  }
  std::string members(const Members& m) {
    if (m.bits == 0) return m.constant ? "0xffffffff" : "%full";
    line("mov.b32 %t2, %full");
    for (uint32_t bit = 0; bit < 5; ++bit) {
      if ((m.bits >> bit & 1) == 0) continue;
      uint32_t without = 0;
      for (uint32_t i = 0; i < 32; ++i) without |= uint32_t{(i >> bit & 1) == 0} << i;
      line("and.b32 %t3, %lane, {}", 1U << bit);
      line("setp.eq.u32 %q, %t3, 0");
      line("selp.b32 %t3, {}, {}, %q", without, ~without);
      line("and.b32 %t2, %t2, %t3");
    }
    return "%t2";
  }
  void operation(const Statement& s) {
    const std::string mask = members(s.members);
    switch (s.kind) {
      case Kind::ballot:
        line("and.b32 %t0, %state, 128");
        line("setp.ne.u32 %q, %t0, 0");
        line("vote.sync.ballot.b32 %t1, %q, {}", mask);
        break;
      case Kind::any:
        line("and.b32 %t0, %state, 0xe00");
        line("setp.eq.u32 %q, %t0, 0");
        line("vote.sync.any.pred %q, %q, {}", mask);
        line("selp.b32 %t1, 1, 0, %q");
        break;
      case Kind::shuffle:
        line("shr.u32 %t0, %state, 11");
        line("and.b32 %t0, %t0, 31");
        line("shfl.sync.idx.b32 %t1, %state, %t0, 31, {}", mask);
        break;
      case Kind::sum:
        line("redux.sync.add.u32 %t1, %state, {}", mask);
        break;
      case Kind::match:
        line("and.b32 %t0, %state, 0x300");
        line("match.any.sync.b32 %t1, %t0, {}", mask);
        break;
      default:
        return line("bar.warp.sync {}", mask);
    }
    line("xor.b32 %state, %state, %t1");
    line("mul.lo.u32 %state, %state, 2654435761");
  }

  const Program& p_;
  bool rendezvous_;
  std::string text_;
  uint32_t labels_ = 0;
};

ir::Program kernel_of(const std::string& text) {
  const ptx::ParseResult parsed = ptx::parse(text, 0);
  REQUIRE_MESSAGE(parsed.ok(), parsed.diagnostics[0].message);
  ptx::LowerResult lowered = ptx::lower(parsed.module);
  REQUIRE_MESSAGE(lowered.diagnostics.empty(), lowered.diagnostics[0].message);
  return lowered.module.kernels.at(0);
}

uint32_t asked(const char* variable, uint32_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

struct Case {
  uint32_t seed, lanes;
  bool rendezvous;
  std::string text;
  ir::Program program;
  std::vector<uint32_t> expected;
};

/// Older targets have these operations alone.
void keep_old_operations(std::vector<Statement>& all) {
  for (Statement& s : all) {
    if (s.kind == Kind::sum) s.kind = Kind::shuffle;
    if (s.kind == Kind::match) s.kind = Kind::ballot;
    keep_old_operations(s.body);
    keep_old_operations(s.otherwise);
  }
}

/// Of random programs those whose lanes do not wait for ever.
std::vector<Case> cases(uint32_t first, uint32_t count, bool rendezvous) {
  std::vector<Case> out;
  for (uint32_t seed = first; out.size() < count; ++seed) {
    Program p = Generator(seed).make();
    if (!rendezvous)
      for (auto* list : {&p.kernel, &p.before, &p.after}) keep_old_operations(*list);
    const uint32_t lanes = seed % 3 == 0 ? 32 : seed % 3 == 1 ? 45 : 23;
    std::vector<uint32_t> expected;
    bool ends = true;
    for (uint32_t begin = 0; ends && begin < lanes; begin += 32) {
      const uint32_t wave = std::min(32U, lanes - begin);
      const auto states = rendezvous ? model(p, wave) : InStep(p, wave).run();
      ends = states.has_value();
      if (ends) expected.insert(expected.end(), states->begin(), states->end());
    }
    if (!ends) continue;
    const std::string text = Printer(p, rendezvous).kernel();
    if (text.find(".sync") == std::string::npos) continue;
    out.push_back({seed, lanes, rendezvous, text, kernel_of(text), expected});
  }
  return out;
}

bool recurses(const Case& c) {
  return c.text.find("call (r), f", c.text.find(".entry")) != std::string::npos;
}

Outcome run_case(const Case& c, Engine& engine, WaveMode mode, WaveSchedule schedule) {
  const std::vector<uint32_t> input = {0xffffffff};
  return run_on(engine, c.program, {1, 1, 1}, {c.lanes, 1, 1}, input, c.lanes,
                [&](LaunchRequest& request) {
                  request.wave = mode;
                  request.schedule = schedule;
                });
}

void check(const Case& c, Engine& engine, const std::string& label, WaveMode mode,
           WaveSchedule schedule, uint32_t& exact, uint32_t& loud) {
  CAPTURE(c.seed);
  CAPTURE(label);
  CAPTURE(name(mode));
  CAPTURE(c.text);
  Outcome got;
  try {
    got = run_case(c, engine, mode, schedule);
  } catch (const Error& e) {
    const std::string why = e.what();
    CAPTURE(why);
    // A driver's compiler cannot take everything, packed mode not every tree; both are reported.
    const bool apart = !c.rendezvous && mode == WaveMode::packed &&
                       why.find("cannot be kept together") != std::string::npos;
    CHECK((apart || why.find("too large for this driver") != std::string::npos));
    loud += apart ? 1 : 0;
    return;
  }
  if (got.fault_count != 0) {
    CHECK_MESSAGE(got.faults.at(0).kind == FaultKind::wave_divergence, describe(got));
    CHECK(mode != WaveMode::serial);
    CHECK(label != "reference");
    ++loud;
    return;
  }
  CHECK(got.words == c.expected);
  ++exact;
}

}  // namespace

namespace {

void check_on_engines(const std::vector<Case>& all) {
  uint32_t exact = 0, loud = 0, number = 0;
  for (const Case& c : all) {
    for (const TestEngine& engine : engines_in_turn()) {
      uint32_t ran = 0, none = 0;
      if (engine.label == "reference") {
        for (const WaveSchedule schedule : {WaveSchedule::until_stop, WaveSchedule::lockstep})
          check(c, *engine.engine, engine.label, WaveMode::automatic, schedule, ran, none);
        continue;
      }
      check(c, *engine.engine, engine.label, WaveMode::packed, {}, exact, loud);
      // Serial mode takes drivers long: some programs.
      if (number++ % 8 == 0)
        check(c, *engine.engine, engine.label, WaveMode::automatic, {}, ran, none);
    }
  }
  MESSAGE(exact, " launches in packed mode were exact, ", loud, " ended loudly");
  if (number > 20) CHECK(exact > number / 4);
}

}  // namespace

TEST_CASE("member masks: random programs, each lane modelled by itself") {
  check_on_engines(
      cases(asked("LANEWISE_RANDOM_SEED", 1), asked("LANEWISE_MASK_PROGRAMS", 40), true));
}

TEST_CASE("member masks: random programs for older targets, lanes in step") {
  std::vector<Case> all =
      cases(asked("LANEWISE_RANDOM_SEED", 1), asked("LANEWISE_MASK_PROGRAMS", 16), false);
  const auto reference = reference::make_engine();
  for (Case& c : all)
    if (recurses(c))
      c.expected = run_case(c, *reference, WaveMode::automatic, WaveSchedule::until_stop).words;
  check_on_engines(all);
}
