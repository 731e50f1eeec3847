// What the check of races learns of a group: accesses, fences, and who has met whom.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "runtime/ir/wave_ops.hpp"
#include "runtime/reference/lanes/handlers.hpp"
#include "runtime/reference/race/copies.hpp"
#include "runtime/reference/race/watch.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {
namespace {

uint8_t changed_bytes(uint32_t before, uint32_t after) {
  uint8_t changed = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (((before ^ after) >> (8 * i) & 0xff) != 0) changed |= 1U << i;
  return changed;
}

}  // namespace

const Code* access_watched(Wave& wave, const Code* code) {
  Group& g = *wave.group;
  if (code->op == ir::Op::fence) {
    g.watch_fence(wave, *code);
    return code + 1;
  }
  if (!g.watch_wave(wave, *code))
    for_each_lane(wave.mask, [&](uint32_t i) { g.watch_access({wave, i}, *code); });
  if (g.setting_.races->lockstep) g.race_clocks_->step(wave.index);
  return code + 1;
}

void Group::start_watch() {
  race_clocks_->start(setting_.races->add_group(index_));
  if (race_copies_) race_copies_->start(index_);
}

/// Words of all lanes that lie in one range. False: each lane has to be looked at.
bool Group::watch_wave(Wave& wave, const Code& code) {
  if (!code.plain_words || looks_at_bytes()) return false;
  const bool stores = code.action == Action::store;
  race::WaveWords words;
  const Range& r = wave.ranges[code.access];
  if (!in_one_range(wave, code, [&](uint32_t i, uint64_t at) { words.address[i] = at; }))
    return false;
  if (is_private(r.data)) return false;
  words.wave = wave.index;
  words.first = wave.first;
  words.lanes = wave.mask;
  words.size = code.bytes;
  bool whole = true;
  for_each_lane(wave.mask, [&](uint32_t i) {
    words.data[i] = r.data + (words.address[i] - r.base);
    whole = whole && race::place_of(words.data[i]) % sizeof(uint32_t) == 0;
    // Elements of lanes that overlap are stored one lane after another.
    whole = whole && (!stores || code.bytes == 4 || words.address[i] % code.bytes == 0);
  });
  if (!whole) return false;
  if (race_copies_)
    for_each_lane(wave.mask, [&](uint32_t i) {
      check_copies(wave.first + i, code, words.data[i], words.address[i]);
    });
  race::Watch& watch = *setting_.races;
  if (!watch.looks) return code.moves[wave.single](wave, &code), true;
  race::Shadow& shadow = shadow_of(r.data);
  race::Mark mark{race_clocks_->group(), 0, code.site};
  if (stores) mark.flags = race::Mark::kWrite;
  const unsigned shift = ir::size_of(code.mem->elem) == 8 ? 1 : 0;
  for (uint32_t n = 0; n < code.bytes / sizeof(uint32_t); ++n) {
    if (n != 0)
      for_each_lane(wave.mask, [&](uint32_t i) {
        words.data[i] += sizeof(uint32_t);
        words.address[i] += sizeof(uint32_t);
      });
    if (!stores) {
      watch.load(shadow, *race_clocks_, words, mark);
      continue;
    }
    const Slot value = code.src[1 + (n >> shift)];
    const unsigned drop = (n & shift) * 32;
    for_each_lane(wave.mask, [&](uint32_t i) {
      words.stored[i] = static_cast<uint32_t>(wave.get(value, i) >> drop);
    });
    watch.store(shadow, *race_clocks_, words, mark);
  }
  if (!stores) code.moves[wave.single](wave, &code);
  return true;
}

/// Memory that no two lanes have in common, that none of them writes, or whose order is the host's.
bool Group::is_private(const std::byte* data) const {
  return holds(memory_.local, data) || holds(memory_.record, data) || holds(memory_.params, data) ||
         holds(memory_.services, data);
}

void Group::watch_access(Lane lane, const Code& code) {
  const uint64_t address = code.address(lane.get(code.src[0]));
  const Range& r = lane.wave.ranges[code.access];
  const uint32_t first = lane.wave.lane;
  lane.wave.lane = lane.i;  // find_range() asks for the first active one
  Located at;
  if (!looks_at_bytes() &&
      (r.holds(code, address) || (find_range(lane.wave, &code) && r.holds(code, address))))
    at = {r.data + lane.linear() * r.step + (address - r.base), FaultKind::none, address};
  else
    at = locate_access(lane, code);
  lane.wave.lane = first;
  if (at.data == nullptr || code.site == ir::kNone || is_private(at.data))
    return move_bytes(lane, code, at.data);
  check_copies(lane.linear(), code, at.data, at.address);
  const bool writes = code.action != Action::load;
  const size_t low = race::place_of(at.data) & 3;
  std::array<std::byte, 8 * kMaxElements + 8> before;
  std::memcpy(before.data() + low, at.data, code.bytes);
  move_bytes(lane, code, at.data);
  race::Touched t = touched(lane, code);
  // What an acquiring load finds has been released before; what a release publishes lies before it.
  if (race::is_strong(*code.mem)) {
    const bool changed =
        code.action == Action::store || std::memcmp(before.data() + low, at.data, code.bytes) != 0;
    t.mark.epoch = watch_order(lane, code, at.data, writes && changed);
  }
  if (setting_.races->looks) watch_words(code, at, before.data() + low, t);
}

race::Shadow& Group::shadow_of(const std::byte* data) {
  return holds(memory_.shared, data) ? *race_shared_ : setting_.races->global;
}

race::Touched Group::touched(Lane lane, const Code& code) const {
  race::Touched t;
  t.mark = {race_clocks_->group(), race_clocks_->now(lane.linear()), code.site,
            static_cast<uint16_t>(lane.linear()),
            race::flags_of(*code.mem, code.action == Action::atom)};
  t.size = code.bytes;
  return t;
}

void Group::watch_words(const Code& code, const Located& at, const std::byte* before,
                        race::Touched t) {
  const unsigned size = ir::size_of(code.mem->elem);
  const uint64_t place = race::place_of(at.data), end = place + code.bytes;
  const uint8_t flags = t.mark.flags;
  race::Shadow& shadow = shadow_of(at.data);
  for (uint64_t from = place, next = 0; from < end; from = next) {
    const uint64_t word = from & ~uint64_t{3}, done = from - place;
    next = std::min(word + 4, end);
    // What a masked store leaves out.
    const size_t element = 1 + done / size;
    if (code.action == Action::store && element < code.sources && code.src[element] == ir::kNone)
      continue;
    t.first = static_cast<uint8_t>(from - word);
    t.bytes = static_cast<uint8_t>(next - from);
    t.address = at.address + done;
    const auto value = [&](const std::byte* bytes) {
      uint32_t bits = 0;
      std::memcpy(reinterpret_cast<std::byte*>(&bits) + t.first, bytes, t.bytes);
      return bits;
    };
    t.before = value(before + done);
    t.after = value(at.data + done);
    // A compare-and-swap that fails has only read.
    const bool wrote =
        code.action == Action::store || (code.action == Action::atom && t.before != t.after);
    t.mark.flags = flags | (wrote ? race::Mark::kWrite : 0);
    if (t.mark.is(race::Mark::kSwap)) t.mark.bytes = changed_bytes(t.before, t.after);
    setting_.races->touch(shadow, word / 4, *race_clocks_, t);
  }
}

/// What a strong access acquires and releases; the epoch that the access has.
uint32_t Group::watch_order(Lane lane, const Code& code, const std::byte* data, bool changed) {
  using ir::Order;
  race::Watch& watch = *setting_.races;
  race::Clocks& clocks = *race_clocks_;
  const ir::Mem& mem = *code.mem;
  const bool shared = holds(memory_.shared, data);
  race::Objects& objects = shared ? clocks.shared : watch.objects;
  const uint64_t place = race::place_of(data);
  const bool swaps = mem.atom == ir::AtomOp::cas || mem.atom == ir::AtomOp::exch;
  const bool both = watch.always_orders ||
                    (watch.unmarked && shared && code.action == Action::atom && swaps) ||
                    mem.order == Order::acq_rel || mem.order == Order::seq_cst;
  const bool reads = code.action != Action::store, atomic = code.action == Action::atom;
  if (reads && !objects.empty())
    if (const auto known = objects.find(place); known != objects.end())
      clocks.acquire(lane.linear(), known->second, race::is_wide(mem),
                     both || mem.order == Order::acquire);
  const race::Epoch epoch = clocks.now(lane.linear());
  if (!changed) return epoch;
  const bool ordered = both || mem.order == Order::release;
  if (clocks.releases(lane.linear(), ordered))
    return clocks.release(lane.linear(), objects[place], race::is_wide(mem), ordered, atomic);
  if (!atomic && !objects.empty()) objects.erase(place);
  return epoch;
}

void Group::watch_fence(Wave& wave, const Code& code) {
  if (!code.mem || code.mem->scope == ir::Scope::none) return;
  for_each_lane(wave.mask, [&](uint32_t i) {
    race_clocks_->fence(wave.first + i, code.mem->order, code.mem->scope);
  });
}

/// Operations without a member mask order nothing.
void Group::watch_meeting(Wave& wave, uint64_t lanes, const Code& code) {
  const bool may_order = setting_.races->shuffle_orders && ir::member_operand(code.op) >= 0;
  if (!may_order && code.op != ir::Op::wave_sync) return;
  if (std::popcount(lanes) < 2) return;
  race_clocks_->meet_in_wave(wave.index, lanes, (wave.live & ~lanes) == 0);
}

void Group::watch_barrier(uint32_t id, std::span<const uint32_t> lanes) {
  if (lanes.size() != live_ || race_clocks_->has_arrivals(id))
    return race_clocks_->meet_at(id, lanes);
  race_clocks_->meet_all();
  if (race_copies_) race_copies_->meet_all();
}

}  // namespace lanewise::reference
