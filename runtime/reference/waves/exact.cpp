// Cache-exact mode: a wave's lanes stop before each access. Those at the lowest trace point make it
// together, waves round-robin: the order of docs/events.md, so caches see what a trace would
// show.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>

#include "runtime/events/collector.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/reference/waves/group.hpp"
#include "runtime/support/error.hpp"
#include "runtime/trace/record.hpp"

namespace lanewise::reference {
namespace {

constexpr unsigned kMaxAccess = 256;  ///< bytes of a lane

}  // namespace

struct Group::WaveAccess {
  const Code* code = nullptr;
  uint32_t wave = 0;
  uint64_t policy = 0;            ///< the word of the lanes' .L2::cache_hint
  uint64_t mask = 0;              ///< lanes that take part in the record
  std::vector<Lane> lanes;        ///< those and, for scalar accesses, the others it serves
  std::vector<uint64_t> address;  ///< of the record's lanes
};

bool Group::step_waves() {
  bool any = false;
  for (Wave& wave : waves_) any = step_wave(wave) || any;
  return any;
}

/// Does the access pass a cache? Shared memory behind a generic address does not.
bool Group::cached(const Code& code, uint64_t address) {
  return code.mem->space != ir::Space::generic ||
         address - guest::kSharedWindow >= guest::kWindowSize;
}

bool Group::step_wave(Wave& wave) {
  uint32_t event = ~0U;
  if (wave.ready() != 0) return false;  // it may come to a lower point yet
  for_each_lane(wave.at_access,
                [&](uint32_t i) { event = std::min(event, wave.codes[wave.position[i]].event); });
  if (event == ~0U) return false;
  const events::Point& point = request_.events->plan().point(event);
  WaveAccess access;
  access.wave = wave.index;
  for (uint64_t left = wave.at_access; left != 0; left &= left - 1) {
    const Lane lane{wave, static_cast<uint32_t>(std::countr_zero(left))};
    const Code& code = lane.code();
    if (code.event != event) continue;
    uint64_t& policy = policies_[lane.linear()];
    if (access.code == nullptr) access.policy = policy;
    // Lanes with another word make an access of their own, next.
    if (point.hinted && policy != access.policy) continue;
    access.code = &code;
    wave.at_access &= ~lane.bit();
    uint64_t address = event_address(lane, code);
    if (point.policy) policy = address;
    if (point.access) {
      const Located at = locate_access(lane, code);
      const bool of_bank = code.mem->space == ir::Space::param;  // values of the launch, never old
      if (of_bank && at.data != nullptr) move_bytes(lane, code, at.data);
      if (at.data == nullptr || !cached(code, at.address)) {
        move_bytes(lane, code, at.data);
        ++lane.position();
        continue;
      }
      address = of_bank ? address + point.base : at.address;
    }
    access.lanes.push_back(lane);
    if (point.scalar && access.mask != 0) continue;
    access.mask |= lane.bit();
    if (point.address) access.address.push_back(address);
  }
  if (access.mask != 0 && !point.barrier && !point.policy) run_access(access);
  for (const Lane& lane : access.lanes) ++lane.position();
  return true;
}

void Group::run_access(WaveAccess& access) {
  const Code& code = *access.code;
  events::Collector& collector = *request_.events;
  trace::WaveRecord& record =
      collector.exact_record(number(), static_cast<uint16_t>(access.wave), code.event,
                             access.policy, access.mask, access.address);
  const events::Point& point = collector.plan().point(code.event);
  const bool moves = point.access && point.space != ir::Space::param;
  if (moves && code.bytes > kMaxAccess)
    throw Error(ErrorKind::guest, "cache-exact mode: an access of " + std::to_string(code.bytes) +
                                      " bytes a lane is not modelled");
  if (moves && code.action != Action::load) bring_values(access, record);
  const std::vector<uint8_t> loaded = collector.execute();
  if (!moves || code.action != Action::load) return;
  std::array<std::byte, kMaxAccess> data{};
  const uint32_t bytes = code.bytes;
  for (size_t i = 0; i < access.lanes.size(); ++i) {
    const size_t from = access.address.size() == 1 ? 0 : i;  // scalar: one load for all
    std::memcpy(data.data(), loaded.data() + from * bytes, bytes);
    move_bytes(access.lanes[i], code, data.data());
  }
}

/// What the lanes of a store or an atomic write. Of atomics, lane after lane: a later one finds
/// what an earlier one has left, and the record shows what is left in the end.
void Group::bring_values(WaveAccess& access, trace::WaveRecord& record) {
  const Code& code = *access.code;
  const uint32_t bytes = code.bytes;
  const bool atomic = code.action == Action::atom;
  std::map<uint64_t, std::byte> left;
  for (size_t i = 0; i < access.address.size(); ++i) {
    std::array<std::byte, kMaxAccess> data{};
    const uint64_t address = access.address[i];
    if (atomic) {
      if (address - guest::kLocalWindow < guest::kWindowSize || code.mem->space == ir::Space::local)
        throw Error(ErrorKind::guest, "cache-exact mode: atomics on local memory are not modelled");
      request_.events->exact()->peek(record, address, std::span(data).first(bytes));
      for (uint32_t b = 0; b < bytes; ++b)
        if (const auto at = left.find(address + b); at != left.end()) data[b] = at->second;
    }
    move_bytes(access.lanes[i], code, data.data());
    for (uint32_t b = 0; atomic && b < bytes; ++b) left[address + b] = data[b];
    for (uint32_t b = 0; !atomic && b < bytes; ++b)
      record.values.push_back(static_cast<uint8_t>(data[b]));
  }
  for (size_t i = 0; atomic && i < access.address.size(); ++i)
    for (uint32_t b = 0; b < bytes; ++b)
      record.values.push_back(static_cast<uint8_t>(left.at(access.address[i] + b)));
}

}  // namespace lanewise::reference
