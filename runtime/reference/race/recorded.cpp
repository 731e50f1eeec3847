#include "runtime/reference/race/recorded.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "runtime/guest/allocation_at.hpp"
#include "runtime/guest/validate.hpp"
#include "runtime/ir/wave_ops.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::reference::race {
namespace {

using events::RacePoint;
using ir::AtomOp;
using ir::Op;

constexpr uint32_t kBarrierNumbers = 16;

/// Whether it has changed anything was not recorded: it counts as a read, then.
bool may_change_nothing(AtomOp op) {
  return op != AtomOp::add && op != AtomOp::exch && op != AtomOp::inc && op != AtomOp::dec &&
         op != AtomOp::arrive;
}

}  // namespace

/// One go through the words of a group: first to learn where memory may order lanes, then to judge.
class Recorded::Run {
 public:
  Run(Recorded& of, uint64_t linear, std::span<const events::LaneWords> words, bool judges)
      : of_(of),
        request_(*of.request_),
        watch_(*of.watch_),
        clocks_(*of.clocks_),
        judges_(judges),
        wave_lanes_(request_.program->wave_lanes),
        lanes_(words.size()) {
    for (size_t i = 0; i < words.size(); ++i) lanes_[i].words = words[i];
    of_.interval_ = 0;
    const uint64_t x = request_.grid.x, y = request_.grid.y;
    if (!judges_) {
      of_.intervals_.assign(1, {});
      of_.groups_.emplace_back();
      return;
    }
    clocks_.start(
        watch_.add_group({static_cast<uint32_t>(linear % x), static_cast<uint32_t>(linear / x % y),
                          static_cast<uint32_t>(linear / x / y)}));
    of_.stored_shared_.clear();
  }

  void run() {
    for (;;) {
      for (uint32_t i = 0; i < lanes_.size(); ++i) run_lane(i);
      if (std::ranges::all_of(lanes_, &Lane::ended)) return;
      if (!open_meetings() && !open_barriers()) give_way();
    }
  }

 private:
  struct Lane {
    events::LaneWords words;
    std::array<uint64_t, 8> operands{};  ///< of the next instruction
    const RacePoint* waits = nullptr;
    uint64_t named = 0, count = 0;  ///< a barrier and how many it is for; a member mask
    bool ended = false;
  };

  uint64_t operand(const Lane& lane, const ir::Inst& inst, size_t n) const {
    if (n >= inst.src.size()) return 0;
    const ir::Operand& o = inst.src[n];
    return o.is_reg() ? lane.operands[n & 7] : o.imm;
  }

  /// Up to where it waits for others.
  void run_lane(uint32_t i) {
    Lane& lane = lanes_[i];
    while (lane.waits == nullptr && !lane.ended) {
      const events::LaneEvent e = events::next_event(of_.plan_.plan, lane.words);
      if (e.point == 0) {
        lane.ended = true;
        return;
      }
      events::advance(lane.words, e.words);
      take(i, of_.plan_.point(e.point), of_.plan_.plan.point(e.point), e.address);
    }
  }

  void take(uint32_t i, const RacePoint& p, const events::Point& point, uint64_t address) {
    Lane& lane = lanes_[i];
    switch (p.role) {
      case RacePoint::Role::operand:
        lane.operands[p.operand & 7] = address;
        return;
      case RacePoint::Role::access:
        return access(i, p.inst, point, address);
      case RacePoint::Role::fence:
        fences_ = true;
        if (judges_) clocks_.fence(i, p.inst.mem->order, p.inst.mem->scope);
        return;
      case RacePoint::Role::barrier:
        lane.named = std::min<uint64_t>(operand(lane, p.inst, 0), kBarrierNumbers - 1);
        lane.count = operand(lane, p.inst, 1);
        if (static_cast<ir::BarrierKind>(p.inst.mode) == ir::BarrierKind::arrive) {
          ++arrived_[lane.named];
          if (judges_) clocks_.arrive(static_cast<uint32_t>(lane.named), i);
          return;
        }
        break;
      case RacePoint::Role::meeting:
        lane.named = operand(lane, p.inst, static_cast<size_t>(ir::member_operand(p.inst.op)));
        break;
    }
    lane.waits = &p;
  }

  // --- accesses ---------------------------------------------------------------------------------

  struct Place {
    bool known = false, shared = false;
    uint64_t at = 0;
  };
  Place place_of(const ir::Mem& mem, const events::Point& point, uint64_t address) const {
    const uint64_t bytes = mem.bytes();
    bool shared = mem.space == ir::Space::shared;
    if (mem.space == ir::Space::generic && address - guest::kSharedWindow < guest::kWindowSize) {
      shared = true;
      address -= guest::kSharedWindow;
    } else if (mem.space == ir::Space::generic &&
               address - guest::kLocalWindow < guest::kWindowSize) {
      return {};
    }
    if (shared) {
      const uint64_t size = guest::shared_bytes(*request_.program, request_.dynamic_shared);
      const bool misaligned =
          mem.align == ir::AlignRule::trap && address % std::bit_ceil(mem.alignment()) != 0;
      return {guest::inside(address, bytes, size) && !misaligned, true, address};
    }
    if (!of_.collector_.touches(point, address)) return {};
    const Allocation* in = guest::allocation_at(request_.allocations, address, bytes);
    const bool own = in != nullptr && std::ranges::find(request_.own_allocations, in->address) !=
                                          request_.own_allocations.end();
    return {in != nullptr && !own, false, address};
  }

  void access(uint32_t i, const ir::Inst& inst, const events::Point& point, uint64_t address) {
    const Place place = place_of(*inst.mem, point, address);
    if (!place.known || inst.site == ir::kNone) return;
    if (!judges_) return note_handshake(inst, place);
    Touched t;
    t.mark = {clocks_.group(), clocks_.now(i), inst.site, static_cast<uint16_t>(i),
              flags_of(*inst.mem, inst.op == Op::atom)};
    if (inst.op == Op::store || (inst.op == Op::atom && !may_change_nothing(inst.mem->atom)))
      t.mark.flags |= Mark::kWrite;
    t.size = inst.mem->bytes();
    touch_words(lanes_[i], inst, place, t);
    if (watch_.lockstep) clocks_.step(i / wave_lanes_);
  }

  void touch_words(const Lane& lane, const ir::Inst& inst, const Place& place, Touched t) {
    const uint64_t size = ir::size_of(inst.mem->elem), end = place.at + t.size;
    Stored& stored = place.shared ? of_.stored_shared_ : of_.stored_;
    for (uint64_t from = place.at, next = 0; from < end; from = next) {
      const uint64_t word = from & ~uint64_t{3}, done = from - place.at;
      next = std::min(word + 4, end);
      t.first = static_cast<uint8_t>(from - word);
      t.bytes = static_cast<uint8_t>(next - from);
      t.address = place.at + done;
      if (inst.op == Op::store) {
        uint32_t value = 0;
        bool written = false;
        for (uint64_t at = from; at < next; ++at) {  // elements may be smaller than words
          const size_t n = 1 + (at - place.at) / size;
          if (n < inst.src.size() && inst.src[n].kind == ir::Operand::Kind::none) continue;
          written = true;
          const uint64_t byte = operand(lane, inst, n) >> 8 * ((at - place.at) % size) & 0xff;
          value |= static_cast<uint32_t>(byte) << 8 * (at - word);
        }
        if (!written) continue;
        t.after = value;
        t.before = stored.put(word / 4, t.first, t.bytes, value);
      } else if (inst.op == Op::atom) {
        stored.lose(word / 4);
        t.after = 0;
        t.before = t.mark.is(Mark::kSwap) ? 0 : ~0U;
      }
      watch_.touch(place.shared ? *of_.shared_ : watch_.global, word / 4, clocks_, t);
    }
  }

  /// Whether the value that a lane has acquired is another one's was not recorded.
  void note_handshake(const ir::Inst& inst, const Place& place) {
    const ir::Mem& mem = *inst.mem;
    if (!is_strong(mem)) return;
    const bool both = watch_.always_orders || (watch_.unmarked && place.shared);
    const bool releases = both || fences_ || mem.order == ir::Order::release ||
                          mem.order == ir::Order::acq_rel || mem.order == ir::Order::seq_cst;
    for (Handshakes* h : {&of_.intervals_.back(), &of_.groups_.back()}) {
      h->acquired = h->acquired || inst.op != Op::store;
      h->released = h->released || (inst.op != Op::load && releases);
    }
  }

  // --- waiting ----------------------------------------------------------------------------------

  bool waits_for(const Lane& lane, RacePoint::Role role) const {
    return lane.waits != nullptr && lane.waits->role == role;
  }
  uint64_t present(uint32_t wave) const {
    return lowest(std::min<uint64_t>(wave_lanes_, lanes_.size() - size_t{wave} * wave_lanes_));
  }
  uint64_t live_of(uint32_t wave) const {
    return lanes_of(present(wave),
                    [&](uint32_t i) { return !lanes_[wave * wave_lanes_ + i].ended; });
  }

  void meet(uint32_t wave, uint64_t lanes, const ir::Inst& inst) {
    const bool orders = watch_.shuffle_orders || inst.op == Op::wave_sync;
    if (judges_ && orders && std::popcount(lanes) > 1)
      clocks_.meet_in_wave(wave, lanes, (live_of(wave) & ~lanes) == 0);
    for_each_lane(lanes, [&](uint32_t i) { lanes_[wave * wave_lanes_ + i].waits = nullptr; });
  }

  /// Lanes whose whole mask has come. `anybody`: others will not.
  bool open_meetings(bool anybody = false) {
    bool opened = false;
    for (uint32_t first = 0; first < lanes_.size(); ++first) {
      const Lane& lane = lanes_[first];
      if (!waits_for(lane, RacePoint::Role::meeting)) continue;
      const uint32_t wave = first / wave_lanes_;
      const uint64_t here = lanes_of(present(wave), [&](uint32_t i) {
        const Lane& other = lanes_[wave * wave_lanes_ + i];
        return waits_for(other, RacePoint::Role::meeting) && other.named == lane.named &&
               other.waits->inst.op == lane.waits->inst.op;
      });
      if (!anybody && (lane.named & live_of(wave) & ~here) != 0) continue;
      const ir::Inst inst = lane.waits->inst;
      meet(wave, here, inst);
      opened = true;
    }
    return opened;
  }

  bool open_barriers() {
    bool opened = false;
    const auto live = static_cast<uint32_t>(std::ranges::count(lanes_, false, &Lane::ended));
    for (uint32_t id = 0; id < kBarrierNumbers; ++id) {
      std::vector<uint32_t> here;
      uint64_t wanted = 0;
      for (uint32_t i = 0; i < lanes_.size(); ++i)
        if (waits_for(lanes_[i], RacePoint::Role::barrier) && lanes_[i].named == id) {
          here.push_back(i);
          wanted = std::max(wanted, lanes_[i].count);
        }
      if (here.empty() || here.size() + arrived_[id] < (wanted != 0 ? wanted : live)) continue;
      pass(id, here, live);
      opened = true;
    }
    return opened;
  }

  void pass(uint32_t id, const std::vector<uint32_t>& here, uint32_t live) {
    const bool all = here.size() == live && arrived_[id] == 0;
    arrived_[id] = 0;
    if (judges_ && all) clocks_.meet_all();
    if (judges_ && !all) clocks_.meet_at(id, here);
    for (const uint32_t i : here) lanes_[i].waits = nullptr;
    if (all) begin_interval();
  }

  void begin_interval() {
    ++of_.interval_;
    if (!judges_) of_.intervals_.emplace_back();
  }

  /// Somebody waits for lanes that do not come: the launch has faulted, or ended early. Whoever
  /// waits goes on, as if all had met.
  void give_way() {
    if (open_meetings(true)) return;
    if (judges_) clocks_.meet_all();
    for (Lane& lane : lanes_) lane.waits = nullptr;
    arrived_.fill(0);
    begin_interval();
  }

  Recorded& of_;
  const LaunchRequest& request_;
  Watch& watch_;
  Clocks& clocks_;
  const bool judges_;
  const uint32_t wave_lanes_;
  std::vector<Lane> lanes_;
  std::array<uint32_t, kBarrierNumbers> arrived_{};
  bool fences_ = false;  ///< some lane has passed one
};

Recorded::Recorded(ir::Program& program)
    : plan_(events::number_for_races(program)), collector_(nowhere_) {
  has_parts_ = std::ranges::any_of(plan_.points, [](const RacePoint& p) {
    return p.role == RacePoint::Role::access && ir::size_of(p.inst.mem->elem) < sizeof(uint32_t);
  });
  collector_.set_reader(plan_.plan, this);
}
Recorded::~Recorded() = default;

void Recorded::begin(const LaunchRequest& request) {
  request_ = &request;
  watch_ = std::make_unique<Watch>(request);
  watch_->excuse([this](const Mark& a, const Mark& b) { return may_be_ordered(a, b); });
  clocks_ = std::make_unique<Clocks>(static_cast<uint32_t>(request.block.total()),
                                     request.program->wave_lanes, watch_->forgotten);
  constexpr uint64_t kPagesOfShared = guest::kWindowSize / (512 * sizeof(uint32_t)) + 1;
  shared_ = std::make_unique<Shadow>(kPagesOfShared, true);
  stored_.clear();
  groups_.clear();
}

void Recorded::group(uint64_t linear, std::span<const events::LaneWords> lanes) {
  Run(*this, linear, lanes, false).run();
  Run(*this, linear, lanes, true).run();
}

bool Recorded::may_be_ordered(const Mark& first, const Mark& second) const {
  // Which bytes of its word a compare-and-swap has changed was not recorded.
  if (has_parts_ && (first.is(Mark::kSwap) || second.is(Mark::kSwap))) return true;
  if (first.group == second.group) {
    const Handshakes& h = intervals_[interval_];
    return h.released && h.acquired;
  }
  const Handshakes &a = groups_[first.group - 1], &b = groups_[second.group - 1];
  return (a.released && b.acquired) || (b.released && a.acquired);
}

void Recorded::collect(LaunchResult& result) const {
  if (watch_ == nullptr) return;
  const size_t before = result.faults.size();
  watch_->collect(result);
  // What a word was before its store was recorded for words that the launch stored itself alone.
  for (size_t i = before; i < result.faults.size(); ++i) {
    auto race = std::make_shared<Race>(*result.faults[i].race);
    race->before = race->after = 0;
    result.faults[i].race = std::move(race);
  }
}

}  // namespace lanewise::reference::race
