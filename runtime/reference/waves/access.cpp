// Accesses of one lane, and the ranges in which waves make theirs.
#include <algorithm>
#include <array>
#include <type_traits>

#include "runtime/guest/validate.hpp"
#include "runtime/reference/lanes/handlers.hpp"
#include "runtime/reference/memory/atomics.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {
bool find_range(Wave& wave, const Code* code) {
  Group& g = *wave.group;
  Range& range = g.ranges_[code->access];
  range = reachable(g.memory_, g.access_of({wave, wave.lane}, *code));
  return range.data != nullptr;
}

const Code* access_lanes(Wave& wave, const Code* code) {
  for_each_lane(wave.mask, [&](uint32_t i) { wave.group->access_memory({wave, i}, *code); });
  return code + 1;
}

void Group::access_memory(Lane lane, const Code& code) {
  move_bytes(lane, code, locate_access(lane, code).data);
}

/// The address is without the bits that AlignRule::force drops.
Access Group::access_of(Lane lane, const Code& code) const {
  const ir::Mem& mem = *code.mem;
  return {mem.space, code.address(lane.get(code.src[0])), code.bytes, mem.alignment(),
          mem.align, code.action != Action::load,         mem.pointer};
}

Located Group::locate_access(Lane lane, const Code& code) {
  const ir::Mem& mem = *code.mem;
  const Access access = access_of(lane, code);
  const Located at = locate(memory_, lane.linear(), access);
  if (at.data == nullptr) {
    const bool known = mem.pointer < memory_.parameters.size();
    record(lane, {.kind = at.fault,
                  .site = code.site,
                  .address = at.address,
                  .size = access.bytes,
                  .parameter = known ? memory_.parameters[mem.pointer] : ir::kNone});
  }
  if (!written_.empty() && at.data != nullptr) look_at_bytes(lane, code, at);
  if (setting_.touch) {
    setting_.touch({{index_[0], index_[1], index_[2]},
                    lane.linear(),
                    code.block,
                    code.inst,
                    mem.space,
                    at.address,
                    access.bytes,
                    access.write,
                    at.fault});
  }
  return at;
}

/// Between registers and the bytes of the access. A null pointer stands for a fault: loads and
/// atomics give 0, nothing is written.
void Group::move_bytes(Lane lane, const Code& code, std::byte* data) {
  const unsigned size = ir::size_of(code.mem->elem);
  if (data == nullptr) {
    for (uint32_t i = 0; i < code.results; ++i) lane.set(code.dst[i], 0);
  } else if (code.action == Action::load) {
    // Of no load is the address needed again: a destination may be its register.
    for (uint32_t i = 0; i < code.results; ++i)
      lane.set(code.dst[i],
               extend_element(code.mem->elem, read_little_endian(data + size_t{i} * size, size)));
  } else if (code.action == Action::store) {
    for (uint32_t i = 1; i < code.sources; ++i)
      if (code.src[i] != ir::kNone)
        write_little_endian(data + size_t{i - 1} * size, size, lane.get(code.src[i]));
  } else {
    exchange_elements(lane, code, data);
  }
}

void Group::exchange_elements(Lane lane, const Code& code, std::byte* data) {
  const ir::Mem& mem = *code.mem;
  const bool compares = mem.atom == ir::AtomOp::cas || mem.atom == ir::AtomOp::fcas;
  const unsigned size = ir::size_of(mem.elem);
  if (mem.count == 1) {
    const uint64_t old = exchange(lane, code, 0, data);
    if (code.results != 0) lane.set(code.dst[0], old);
    return;
  }
  std::array<uint64_t, kMaxElements> old{};
  bool differs = false;  // cas of several elements stores all of them or none
  for (uint32_t i = 0; compares && i < mem.count; ++i)
    differs =
        differs || read_little_endian(data + size_t{i} * size, size) != lane.get(code.src[1 + i]);
  for (uint32_t i = 0; i < mem.count; ++i) {
    std::byte* element = data + size_t{i} * size;
    old[i] =
        compares && differs ? read_little_endian(element, size) : exchange(lane, code, i, element);
  }
  // Only now, because a destination may be a source of a later element.
  for (uint32_t i = 0; i < code.results; ++i) lane.set(code.dst[i], old[i]);
}

/// One element; what was there.
uint64_t Group::exchange(Lane lane, const Code& code, uint32_t element, std::byte* at) {
  const ir::Mem& mem = *code.mem;
  const unsigned size = ir::size_of(mem.elem);
  const uint64_t a = lane.get(code.src[1 + element]);
  const uint64_t b =
      ir::takes_two(mem.atom) ? lane.get(code.src[1 + mem.count + element]) : uint64_t{0};
  if (!setting_.shared || size < sizeof(uint32_t)) {
    const uint64_t old = read_little_endian(at, size);
    if (setting_.sync != nullptr && mem.atom == ir::AtomOp::arrive)
      judge_mbarrier(lane, code, old, a);
    const uint64_t now = atomic_result(mem, code.flags, old, a, b);
    if (race_copies_ && mem.atom == ir::AtomOp::arrive) end_phase(at, old, now);
    write_little_endian(at, size, now);
    return old;
  }
  // Groups that run at the same time make atomics of whole words alone (order.hpp).
  const auto swap = [&](auto* word) -> uint64_t {
    using Word = std::remove_pointer_t<decltype(word)>;
    Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        word, &seen, static_cast<Word>(atomic_result(mem, code.flags, seen, a, b)), true,
        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return seen;
  };
  return size == 8 ? swap(reinterpret_cast<uint64_t*>(at)) : swap(reinterpret_cast<uint32_t*>(at));
}

}  // namespace lanewise::reference
