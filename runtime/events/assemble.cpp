// Puts the lanes of a work-group together again: which lanes of a wave execute one instruction
// together, and in which order the waves' instructions follow each other. docs/events.md has the
// policy in words.
#include <bit>
#include <vector>

#include "runtime/events/emitter.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::events {
namespace {

constexpr uint32_t kEnded = ~0U;

}  // namespace

class GroupAssembly {
 public:
  explicit GroupAssembly(Collector& c) : c_(c), plan_(c.plan_), emitter_(c) {}

  /// Round-robin over the waves, one record each, until all have come to a barrier or ended.
  void run(uint64_t linear, std::span<const LaneWords> lanes) {
    begin(linear, lanes);
    for (;;) {
      bool moved = false;
      for (Wave& w : waves_) moved = step(w) || moved;
      if (!moved && !open_barrier()) return emitter_.flush();
    }
  }

 private:
  /// The next event of a lane.
  struct Head {
    uint32_t key = kEnded;  ///< 2 * point, plus 1 for a component that stands by itself
    uint64_t address = 0;
    uint64_t policy = 0;  ///< the word that the lane has named last
  };

  struct Wave {
    uint16_t index = 0;
    uint32_t first = 0, count = 0;  ///< lanes
    bool rows = false;              ///< the lanes' words lie side by side and are in step
    bool waits = false;             ///< some lane stands at a barrier
    bool ended = false;
  };

  void begin(uint64_t linear, std::span<const LaneWords> lanes) {
    emitter_.drop();
    emitter_.group(linear);
    lanes_.assign(lanes.begin(), lanes.end());
    heads_.assign(lanes.size(), {});
    waves_.clear();
    const size_t waves = (lanes.size() + c_.wave_lanes_ - 1) / c_.wave_lanes_;
    for (size_t w = 0; w < waves; ++w) waves_.push_back(make_wave(w));
  }

  Wave make_wave(size_t index) {
    Wave w;
    w.index = static_cast<uint16_t>(index);
    w.first = static_cast<uint32_t>(index * c_.wave_lanes_);
    w.count = static_cast<uint32_t>(std::min<size_t>(c_.wave_lanes_, lanes_.size() - w.first));
    w.rows = true;
    for (uint32_t i = 1; i < w.count && w.rows; ++i) {
      const LaneWords &a = lanes_[w.first], &b = lanes_[w.first + i];
      w.rows = a.at != nullptr && b.at == a.at + i && b.step == a.step && b.count == a.count;
    }
    w.rows = w.rows && lanes_[w.first].step >= w.count;
    if (!w.rows) take_heads(w);
    return w;
  }

  void take_heads(const Wave& w) {
    for (uint32_t i = w.first; i < w.first + w.count; ++i) take_head(i);
  }

  void take_head(uint32_t i) {
    const LaneEvent d = next_event(plan_, lanes_[i]);
    if (d.point == 0) {
      heads_[i].key = kEnded;
      return;
    }
    advance(lanes_[i], d.words);
    const Point& p = plan_.point(d.point);
    heads_[i].address = d.address;
    const bool whole = p.components == 0 || take_components(i, d);
    heads_[i].key = 2 * d.point + (whole ? 0 : 1);
  }

  /// All components of the instruction follow each other in memory, too.
  bool take_components(uint32_t i, const LaneEvent& first) {
    LaneWords after = lanes_[i];
    uint64_t next = first.address + plan_.point(first.point).bytes;
    for (uint32_t k = 1; k <= plan_.point(first.point).components; ++k) {
      const LaneEvent d = next_event(plan_, after);
      if (d.point != first.point + k || d.address != next) return false;
      next += plan_.point(d.point).bytes;
      advance(after, d.words);
    }
    lanes_[i] = after;
    return true;
  }

  bool is_barrier(uint32_t key) const { return key != kEnded && plan_.point(key / 2).barrier; }

  /// One record of the wave, or none when all its lanes wait or have ended.
  bool step(Wave& w) {
    if (w.ended || w.waits) return false;
    if (w.rows) {
      if (row(w)) return true;
      if (w.waits || w.ended) return false;
    }
    uint32_t key = kEnded;
    for (uint32_t i = w.first; i < w.first + w.count; ++i)
      if (heads_[i].key < key && !is_barrier(heads_[i].key)) key = heads_[i].key;
    if (key == kEnded) {
      w.ended = true;
      for (uint32_t i = w.first; i < w.first + w.count; ++i)
        if (heads_[i].key != kEnded) w.ended = false, w.waits = true;
      return false;
    }
    together(w, key);
    return true;
  }

  /// The lanes whose next event is this one.
  void together(const Wave& w, uint32_t key) {
    const Point& p = plan_.point(key / 2);
    if (p.policy) return take_policies(w, key);
    const bool whole = p.components != 0 && (key & 1) == 0;
    Point checked = p;
    if (whole) checked.bytes = plan_.sites[p.whole_site].bytes;
    uint64_t mask = 0, policy = 0;
    unsigned count = 0, lanes = 0;
    for (uint32_t i = 0; i < w.count; ++i) {
      const Head& head = heads_[w.first + i];
      if (head.key != key) continue;
      // Lanes with another word make an access of their own, next.
      if (lanes++ == 0) policy = head.policy;
      if (p.hinted && head.policy != policy) continue;
      const uint64_t address = head.address;
      take_head(w.first + i);
      if ((p.scalar && mask != 0) || !emitter_.touched(checked, address)) continue;
      mask |= uint64_t{1} << i;
      emitter_.put(count++, address);
    }
    if (mask == 0) return;
    emitter_.emit(w.index, p, whole ? c_.first_site_ + p.whole_site : c_.site_of(p, policy), mask,
                  count);
  }

  void take_policies(const Wave& w, uint32_t key) {
    for (uint32_t i = w.first; i < w.first + w.count; ++i) {
      if (heads_[i].key != key) continue;
      heads_[i].policy = heads_[i].address;
      take_head(i);
    }
  }

  /// The common case: every lane of the wave is at the same point. False: look at the lanes one by
  /// one from here on.
  bool row(Wave& w) {
    const LaneWords& lane = lanes_[w.first];
    const uint32_t* words = lane.at;
    const uint32_t mask = plan_.escape();
    const uint32_t code = lane.count == 0 ? 0 : words[0] & mask;
    uint32_t different = 0, uneven = 0;
    const uint32_t stride = w.count > 1 && lane.count != 0 ? words[1] - words[0] : 0;
    if (lane.count != 0)
      for (uint32_t i = 1; i < w.count; ++i) {
        different |= (words[i] ^ words[0]) & mask;
        uneven |= (words[i] - words[i - 1]) ^ stride;
      }
    if (different != 0 || code == mask || (code != 0 && alone(plan_.point(code)))) {
      leave_rows(w);
      return false;
    }
    if (code == 0) return w.ended = true, false;
    const Point& p = plan_.point(code);
    if (p.barrier) return w.waits = true, false;
    emit_row(w, p, words, uneven == 0 ? static_cast<int32_t>(stride) : 0, uneven == 0);
    next_row(w);
    return true;
  }

  /// Points that take a look at each lane.
  static bool alone(const Point& p) { return p.components != 0 || p.policy || p.hinted; }

  /// The first lane stands for all while they are in step.
  void next_row(const Wave& w) { advance(lanes_[w.first], 1); }

  void leave_rows(Wave& w) {
    w.rows = false;
    for (uint32_t i = 1; i < w.count; ++i) {
      lanes_[w.first + i] = lanes_[w.first];
      lanes_[w.first + i].at += i;
    }
    take_heads(w);
  }

  void emit_row(const Wave& w, const Point& p, const uint32_t* words, int32_t stride, bool affine) {
    const auto address = [&](uint32_t i) {
      return p.base + (uint64_t{words[i] >> plan_.code_bits} << p.drop);
    };
    const uint32_t site = c_.first_site_ + p.site;
    if (!affine) return emitter_.each(w.index, p, site, w.count, address);
    const int64_t step = static_cast<int64_t>(stride >> plan_.code_bits) * (int64_t{1} << p.drop);
    emitter_.strided(w.index, p, site, w.count, address(0), step);
  }

  /// Every wave waits or has ended: those that wait go on. False when there is none.
  bool open_barrier() {
    bool any = false;
    for (Wave& w : waves_) {
      if (!w.waits) continue;
      w.waits = false;
      any = true;
      if (w.rows) {
        next_row(w);
        continue;
      }
      for (uint32_t i = w.first; i < w.first + w.count; ++i)
        if (is_barrier(heads_[i].key)) take_head(i);
    }
    return any;
  }

  Collector& c_;
  const Plan& plan_;
  Emitter emitter_;
  std::vector<LaneWords> lanes_;
  std::vector<Head> heads_;
  std::vector<Wave> waves_;
};

void Collector::group(uint64_t linear, std::span<const LaneWords> lanes) {
  if (reader_ != nullptr) return reader_->group(linear, lanes);
  if (assembly_ == nullptr) assembly_ = std::make_shared<GroupAssembly>(*this);
  assembly_->run(linear, lanes);
}

}  // namespace lanewise::events
