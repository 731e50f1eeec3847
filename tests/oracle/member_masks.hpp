// Programs with member masks, and what they give: a lane at a time for sm_70 and later, where an
// operation waits for each lane of its mask, and in step for older targets. Shares nothing with the
// runtime.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace oracle::masks {

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
struct Program {
  std::vector<Statement> kernel, before, after;  ///< the function: before, itself, after
  uint32_t depth_shift = 0;
};

// --- the model ----------------------------------------------------------------------------------

constexpr uint32_t kSteps = 5000;

inline uint32_t group_of(uint32_t lane, uint32_t bits) {
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

inline uint32_t result(const Need& own, const std::vector<Need>& set) {
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
inline std::optional<std::vector<uint32_t>> model(const Program& p, uint32_t lanes) {
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
        recurse(lanes);
        return lanes;
      default:
        operation(s, lanes);
        return lanes;
    }
  }
  /// A function that calls itself at one place is two loops of the tree: one iterates at each entry
  /// of the function, and behind it one at each return, where the deepest frame of each lane is its
  /// first iteration, however deep that is.
  void recurse(uint32_t lanes) {
    const auto at_least = [&](uint32_t frames) {
      return those(lanes,
                   [&](uint32_t lane) { return frames <= 1 + (lane >> p_.depth_shift & 3); });
    };
    for (const std::vector<Statement>* part : {&p_.before, &p_.after})
      for (uint32_t frame = 1; at_least(frame) != 0; ++frame) list(*part, at_least(frame), {});
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

}  // namespace oracle::masks
