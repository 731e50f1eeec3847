// Handlers of what decides where lanes go: jumps, guards, stops; and those around others.
#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/ir/mbarrier.hpp"
#include "runtime/reference/init/undefined.hpp"
#include "runtime/reference/lanes/handlers.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {
namespace {

Handlers both(Handler handler) {
  return {handler, handler};
}

uint32_t position_of(const Wave& wave, const Code* code) {
  return static_cast<uint32_t>(code - wave.codes);
}

uint64_t guard_of(const Wave& wave, const Code* code) {
  const uint64_t pred = *wave.at<uint64_t>(code->guard);
  return code->negate ? ~pred : pred;
}

bool is_memory(const Code& code) {
  return code.action == Action::atom || code.action == Action::load || code.action == Action::store;
}

/// Lanes may meet there.
bool is_of_many(const Code& code) {
  const ir::Space space = code.mem->space;
  return space != ir::Space::local && space != ir::Space::param && space != ir::Space::code &&
         space != ir::Space::constant;
}

/// See order_seen(), which asks the same of the program.
bool order_can_be_seen(const Code& code) {
  return code.action == Action::atom || code.mem->order != ir::Order::weak;
}

/// Sums, products and both, of which there are counters.
bool is_counted_arithmetic(const Code& code) {
  const bool kind = code.op == ir::Op::fadd || code.op == ir::Op::fsub || code.op == ir::Op::fmul ||
                    code.op == ir::Op::ffma;
  return kind && (code.type == ir::Type::f32 || code.type == ir::Type::f64);
}

bool has_plain_words(const Code& code) {
  return code.action != Action::atom && code.mem->order == ir::Order::weak &&
         code.bytes % sizeof(uint32_t) == 0 && ir::size_of(code.mem->elem) >= sizeof(uint32_t) &&
         code.site != ir::kNone &&
         std::find(code.src, code.src + code.sources, ir::kNone) == code.src + code.sources;
}

}  // namespace

struct Control {
  static void set_handlers(Code& code, Finder find, Wishes wishes) {
    code.plain = plain(code, find, wishes);
    if (code.plain[0] == access_watched) {
      Wishes unraced = wishes;
      unraced.raced = false;
      code.moves = plain(code, find, unraced);
      code.plain_words = code.action != Action::nothing && has_plain_words(code);
    }
    if (wishes.followed && code.plain[0] == access_lanes && code.action != Action::atom &&
        has_plain_words(code)) {
      Wishes untouched = wishes;
      untouched.touched = false;
      code.moves = plain(code, find, untouched);
      code.plain = both(access_followed);
    }
    if (code.phase != PhaseCode::none && !wishes.scheduled && !wishes.lockstep) {
      code.asks = code.plain;
      code.plain = both(ask_for_phase);
    }
    code.unguarded = code.event != 0 ? both(traced) : code.plain;
    code.unwatched = code.guarded ? Handlers{guarded, guarded_lane} : code.unguarded;
    if (wishes.scheduled && (is_memory(code) ? is_of_many(code) : code.op == ir::Op::fence)) {
      code.resumed = code.unwatched;
      code.unwatched = both(stop_before);
    }
    code.run = wishes.watched ? both(watched) : code.unwatched;
    if (wishes.counted &&
        (is_memory(code) || is_counted_arithmetic(code) || code.action == Action::branch))
      code.run = both(counted);
    if (wishes.followed) code.run = both(followed);
    if (wishes.ahead && is_memory(code) && order_can_be_seen(code)) {
      code.resumed = code.run;
      code.run = both(pause);
    }
    code.may_stop = code.action == Action::barrier || code.action == Action::trap ||
                    code.action == Action::wave;
  }

  static Handlers plain(const Code& code, Finder find, Wishes wishes) {
    if (wishes.raced && code.op == ir::Op::async_note) return both(note_copies);
    if (wishes.raced && (is_memory(code) ? is_of_many(code) : code.op == ir::Op::fence))
      return both(access_watched);
    constexpr std::pair<Action, Handler> kOwn[] = {
        {Action::nothing, nothing}, {Action::barrier, barrier}, {Action::trap, trap},
        {Action::report, report},   {Action::wave, wave_op},    {Action::jump, jump},
        {Action::branch, branch},   {Action::switch_, choose},  {Action::exit, exit}};
    if (wishes.lockstep && code.action >= Action::jump) return both(end_block);
    for (const auto& [action, handler] : kOwn)
      if (code.action == action) return both(handler);
    if (is_memory(code) && wishes.touched) return both(access_lanes);
    const auto reg = static_cast<ir::SReg>(code.mode);
    if (code.action == Action::sreg && reg >= ir::SReg::ctaid_x && reg <= ir::SReg::ctaid_z)
      return both(group_value);
    const Handlers found = find(code);
    if (found[0] != nullptr) return found;
    return both(is_memory(code) ? access_lanes : compute);
  }

  // --- ends of blocks ----------------------------------------------------------------------------

  /// Blocks may lie in any order; by rank a jump that does not lead on closes a loop.
  static bool is_back_edge(const Code& from, const Code& to) { return to.rank <= from.rank; }

  /// All active lanes take the jump.
  static const Code* go(Wave& wave, const Code* code, uint32_t target) {
    Group& g = *wave.group;
    const uint32_t position = code->targets[target];
    const Code* next = wave.codes + position;
    if (is_back_edge(*code, *next)) {
      if (code->counts && ++wave.run_steps > wave.headroom && !g.count_steps(wave, *code))
        return nullptr;
      if (!g.slice_goes_on()) {
        // They are still ready and go on in the next round.
        g.use_up_slice(static_cast<uint32_t>(std::popcount(wave.mask)));
        Group::stop_at(wave, position, wave.mask);
        g.start_slice();
        return nullptr;
      }
    }
    if (next->rank < wave.meet) return next;
    g.note_steps(wave, wave.mask);
    g.set_apart(wave, position, wave.mask);
    wave.activate(0);
    return nullptr;
  }

  /// Some of the active lanes take another jump than the others, which go first. False: the launch
  /// is abandoned.
  static bool leave_by(Wave& wave, const Code* code, uint32_t target, uint64_t lanes) {
    Group& g = *wave.group;
    const uint32_t position = code->targets[target];
    g.note_steps(wave, lanes);
    if (is_back_edge(*code, wave.codes[position])) {
      g.setting_.deadline.check();
      for (uint64_t left = code->counts ? lanes : 0; left != 0; left &= left - 1)
        if (!g.count_step({wave, static_cast<uint32_t>(std::countr_zero(left))}, code->site,
                          position_of(wave, code)))
          return wave.activate(0), false;
    }
    g.set_apart(wave, position, lanes);
    wave.activate(wave.mask & ~lanes);
    return true;
  }

  static const Code* jump(Wave& wave, const Code* code) { return go(wave, code, 0); }

  static const Code* branch(Wave& wave, const Code* code) {
    const uint64_t taken = wave.mask & guard_of(wave, code);
    if (taken == wave.mask) return go(wave, code, 0);
    if (taken == 0) return go(wave, code, 1);
    const Code* codes = wave.codes;
    const uint32_t* to = code->targets;
    const uint32_t later = codes[to[0]].rank < codes[to[1]].rank ? 1 : 0;
    if (!leave_by(wave, code, later, later == 0 ? taken : wave.mask & ~taken)) return nullptr;
    return go(wave, code, 1 - later);
  }

  static const Code* choose(Wave& wave, const Code* code) {
    const uint32_t* selectors = wave.at<uint32_t>(code->s0);
    const std::vector<uint64_t>& cases = code->term->cases;
    for (;;) {
      const uint32_t selector = selectors[wave.lane];
      uint32_t n = 0;
      while (n < cases.size() && static_cast<uint32_t>(cases[n]) != selector) ++n;
      const uint64_t same =
          lanes_of(wave.mask, [&](uint32_t i) { return selectors[i] == selector; });
      if (same == wave.mask) return go(wave, code, n);
      if (!leave_by(wave, code, n, same)) return nullptr;
    }
  }

  static const Code* exit(Wave& wave, const Code* /*code*/) {
    wave.group->end(wave, wave.mask);
    wave.activate(0);
    return nullptr;
  }

  /// In lockstep the tree says what comes next.
  static const Code* end_block(Wave& /*wave*/, const Code* /*code*/) { return nullptr; }

  // --- stops -------------------------------------------------------------------------------------

  static const Code* nothing(Wave& /*wave*/, const Code* code) { return code + 1; }

  static const Code* barrier(Wave& wave, const Code* code) {
    Group& g = *wave.group;
    const uint64_t lanes = wave.mask;
    Group::stop_at(wave, position_of(wave, code), lanes);
    if (!g.arrive_together(wave, lanes, *code))
      for_each_lane(lanes, [&](uint32_t i) { g.arrive({wave, i}, *code); });
    return nullptr;
  }

  static const Code* trap(Wave& wave, const Code* code) {
    report(wave, code);
    return exit(wave, code);
  }

  static const Code* report(Wave& wave, const Code* code) {
    for_each_lane(wave.mask, [&](uint32_t i) {
      wave.group->record({wave, i},
                         {.kind = static_cast<FaultKind>(code->mode), .site = code->site});
    });
    return code + 1;
  }

  static const Code* wave_op(Wave& wave, const Code* code) {
    Group& g = *wave.group;
    const uint64_t lanes = wave.mask;
    const uint32_t position = position_of(wave, code);
    if (g.meets_at_once(wave, *code)) {
      if (g.shuffle_all(wave, *code)) return code + 1;
      for_each_lane(lanes, [&](uint32_t i) { wave.position[i] = position; });
      g.run_wave_op(wave, lanes);
      return code + 1;
    }
    Group::stop_at(wave, position, lanes);
    wave.at_wave |= lanes;
    return nullptr;
  }

  // --- what has no handler of its own ------------------------------------------------------------

  static const Code* compute(Wave& wave, const Code* code) {
    for_each_lane(wave.mask, [&](uint32_t i) { wave.group->compute({wave, i}, *code); });
    return code + 1;
  }

  /// A special register that the group's lanes share.
  static const Code* group_value(Wave& wave, const Code* code) {
    const uint64_t value = wave.group->special_register({wave, wave.lane}, *code);
    if (wave.full() && width_of(code->dst[0]) == ir::Width::b32)
      std::fill_n(wave.at<uint32_t>(code->d0), wave.stride, static_cast<uint32_t>(value));
    else
      for_each_lane(wave.mask, [&](uint32_t i) { wave.set(code->dst[0], i, value); });
    return code + 1;
  }

  // --- around others -----------------------------------------------------------------------------

  class LaneRegisters final : public Registers {
   public:
    LaneRegisters(const Lane& lane, const std::vector<Slot>& slots) : lane_(lane), slots_(slots) {}
    uint64_t operator[](uint32_t id) const override { return lane_.get(slots_[id]); }

   private:
    const Lane& lane_;
    const std::vector<Slot>& slots_;
  };

  static const Code* watched(Wave& wave, const Code* code) {
    Group& g = *wave.group;
    if (g.setting_.hook && !code->added && code->action < Action::jump) {
      const Lane lane{wave, wave.lane};
      const LaneRegisters registers(lane, g.program_.slots);
      g.setting_.hook({{g.index_[0], g.index_[1], g.index_[2]},
                       lane.linear(),
                       code->block,
                       code->inst,
                       registers});
    }
    if (g.program_.counts_clocks)
      for_each_lane(wave.mask, [&](uint32_t i) { ++g.clocks_[wave.first + i]; });
    return code->unwatched[wave.single](wave, code);
  }

  /// Most waves have nothing that would have to be followed.
  static const Code* followed(Wave& wave, const Code* code) {
    Group& g = *wave.group;
    if (g.undefined_ && g.undefined_->any(wave))
      for_each_lane(wave.mask, [&](uint32_t i) { g.follow({wave, i}, *code); });
    if (g.program_.counts_clocks) return watched(wave, code);
    return code->unwatched[wave.single](wave, code);
  }

  /// Before the guard: an instruction is executed though no lane takes part.
  static const Code* counted(Wave& wave, const Code* code) {
    Group& g = *wave.group;
    const uint64_t lanes = code->guarded ? wave.mask & guard_of(wave, code) : wave.mask;
    if (code->action == Action::branch)
      g.count_branch(*code, wave.mask, wave.mask & guard_of(wave, code));
    else if (is_counted_arithmetic(*code))
      g.count_arithmetic(*code, lanes);
    else
      g.count_access(wave, *code, lanes);
    return code->unwatched[wave.single](wave, code);
  }

  static const Code* guarded(Wave& wave, const Code* code) {
    const uint64_t before = wave.mask, lanes = before & guard_of(wave, code);
    if (lanes == 0) return code + 1;
    if (lanes == before) return code->unguarded[wave.single](wave, code);
    wave.activate(lanes);
    const Code* next = code->unguarded[wave.single](wave, code);
    wave.activate((before & ~lanes) | (next != nullptr ? wave.mask : 0));
    return code + 1;
  }

  static const Code* guarded_lane(Wave& wave, const Code* code) {
    if ((guard_of(wave, code) >> wave.lane & 1) == 0) return code + 1;
    return code->unguarded[1](wave, code);
  }

  /// Lanes of which some make the access. The schedule says who goes on.
  static const Code* stop_before(Wave& wave, const Code* code) {
    const uint64_t lanes = wave.mask;
    if (code->guarded && (lanes & guard_of(wave, code)) == 0) return code + 1;
    Group::stop_at(wave, position_of(wave, code), lanes);
    wave.at_access |= lanes;
    return nullptr;
  }

  /// Lanes that run ahead go no further; see Group::run_ahead().
  static const Code* pause(Wave& wave, const Code* code) {
    if (!wave.ahead) return code->resumed[wave.single](wave, code);
    const uint64_t lanes = code->guarded ? wave.mask & guard_of(wave, code) : wave.mask;
    Group::stop_at(wave, position_of(wave, code), lanes);
    wave.at_access |= lanes;
    return wave.mask != 0 ? code + 1 : nullptr;
  }

  /// Lanes that see their phase ended give way before the parities are compared and again before
  /// they go on: in the turn between, all others that wait for it see that, too, and only then may
  /// one make the mbarrier anew or invalid. Hardware wakes them all at the end of the phase.
  static const Code* ask_for_phase(Wave& wave, const Code* code) {
    const bool loaded = code->phase == PhaseCode::load;
    const Code* next = code->asks[wave.single](wave, code);
    if (next == nullptr || !wave.group->setting_.in_turn) return next;
    const uint64_t passed = lanes_of(wave.mask, [&](uint32_t i) {
      const uint64_t other = loaded ? wave.get(code[1].src[1], i) : 0;
      return (wave.get(code->dst[0], i) ^ other) >> ir::mbarrier::kParityAt != 0;
    });
    if (passed == 0) return next;
    Group::stop_at(wave, position_of(wave, next), passed);
    return wave.mask != 0 ? next : nullptr;
  }

  static const Code* traced(Wave& wave, const Code* code) {
    Group& g = *wave.group;
    if (g.request_.events != nullptr) {
      const uint64_t lanes = wave.mask;
      if (g.exact_) {
        Group::stop_at(wave, position_of(wave, code), lanes);
        wave.at_access |= lanes;
        return nullptr;
      }
      for_each_lane(lanes, [&](uint32_t i) { g.note_event({wave, i}, *code); });
    }
    return code->plain[wave.single](wave, code);
  }
};

void set_handlers(Code& code, Finder find, Wishes wishes) {
  Control::set_handlers(code, find, wishes);
}

}  // namespace lanewise::reference
