// The check of uninitialised values: each lane's instructions are followed from a load of what
// nobody has written to whatever depends on it: a branch, a guard of an access, an address, an
// atomic, a store of what was computed of it. A copy is none.
#include <algorithm>
#include <array>
#include <bit>

#include "runtime/guest/allocation_at.hpp"
#include "runtime/guest/unwritten.hpp"
#include "runtime/ir/wave_ops.hpp"
#include "runtime/reference/init/undefined.hpp"
#include "runtime/reference/lanes/handlers.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {
namespace {

constexpr size_t kMostSources = 24, kMostResults = 4;
constexpr size_t kMostCopies = size_t{1} << 16;

constexpr Slot pred_slot(uint32_t offset) {
  return offset | static_cast<Slot>(ir::Width::pred);
}

/// Of one bit a byte, eight.
uint64_t bits_of_bytes(uint64_t bytes) {
  uint64_t bits = 0;
  for (unsigned n = 0; n < 8; ++n)
    if ((bytes >> n & 1) != 0) bits |= uint64_t{0xff} << 8 * n;
  return bits;
}

/// Of eight bits, one: a byte of which some bit counts.
uint64_t bytes_of_bits(uint64_t bits) {
  uint64_t bytes = 0;
  for (unsigned n = 0; n < 8; ++n)
    if ((bits >> 8 * n & 0xff) != 0) bytes |= uint64_t{1} << n;
  return bytes;
}

bool decides_more_than_registers(const Code& code) {
  constexpr Action kActions[] = {Action::load,    Action::store, Action::atom,
                                 Action::barrier, Action::trap,  Action::report};
  return std::ranges::find(kActions, code.action) != std::end(kActions);
}

}  // namespace

/// Where the bytes of an access are known: of a group's own memory, or in an allocation.
struct Group::Bytes {
  Written* own = nullptr;  ///< null: they are global
  guest::Unwritten* global = nullptr;

  /// One bit a byte.
  uint64_t missing(const Located& at, uint32_t first, uint32_t bytes) const {
    if (own != nullptr) return own->missing(at.data + first, bytes);
    if (global->written(at.address + first, bytes)) return 0;
    uint64_t out = 0;
    for (uint32_t n = 0; n < bytes; ++n)
      if (!global->written(at.address + first + n, 1)) out |= uint64_t{1} << n;
    return out;
  }
  void note(const Located& at, uint32_t first, uint32_t bytes) const {
    if (own != nullptr)
      own->note(at.data + first, bytes);
    else
      global->note(at.address + first, bytes);
  }
};

void Group::use(Lane lane, const Code& code, Slot slot, UndefinedUse how) {
  if (undefined_->bits(lane.wave, slot, lane.i) != 0)
    use(lane, code, undefined_->get(lane.wave, slot, lane.i), how);
}

void Group::use(Lane lane, const Code& code, const UndefinedBits& value, UndefinedUse how) {
  if ((lane.wave.faulted & lane.bit()) != 0) return;
  Fault fault{.kind = FaultKind::uninitialised,
              .site = code.site != ir::kNone ? code.site : value.origin.site,
              .address = value.origin.address,
              .size = value.origin.size};
  const bool condition = how == UndefinedUse::branch || how == UndefinedUse::guard;
  fault.undefined = std::make_shared<UndefinedValue>(
      UndefinedValue{how, condition ? value.origin.bits : value.bits, value.origin.computed,
                     value.origin.site, value.origin.stored_by});
  record(lane, std::move(fault));
}

/// Before the lane executes the instruction.
void Group::follow(Lane lane, const Code& code) {
  bool unsure = false;
  if (code.guarded) {
    const Slot guard = pred_slot(code.guard);
    unsure = undefined_->bits(lane.wave, guard, lane.i) != 0;
    if (unsure && decides_more_than_registers(code)) use(lane, code, guard, UndefinedUse::guard);
    if (!unsure && (lane.get(guard) != 0) == code.negate) return;
  }
  switch (code.action) {
    case Action::branch:
      return use(lane, code, pred_slot(code.guard), UndefinedUse::branch);
    case Action::switch_:
      return use(lane, code, code.s0 | static_cast<Slot>(ir::Width::b32), UndefinedUse::branch);
    case Action::load:
    case Action::store:
    case Action::atom:
      return follow_access(lane, code);
    case Action::barrier:
      for (uint32_t n = 0; n < code.sources; ++n)
        use(lane, code, code.src[n], UndefinedUse::operand);
      return;
    case Action::jump:
    case Action::exit:
    case Action::nothing:
    case Action::trap:
    case Action::report:
    case Action::wave:  // when all of its lanes are there
      return;
    default:
      return follow_registers(lane, code, unsure);
  }
}

void Group::follow_registers(Lane lane, const Code& code, bool unsure) {
  std::array<uint64_t, kMostSources> values{};
  std::array<UndefinedBits, kMostSources> sources{};
  UndefinedBits from;
  for (uint32_t n = 0; n < code.sources && n < kMostSources; ++n) {
    values[n] = lane.get(code.src[n]);
    sources[n] = undefined_->get(lane.wave, code.src[n], lane.i);
    if (sources[n].bits == 0) continue;
    if (from.bits == 0) from = sources[n];
    from.origin.computed = from.origin.computed || sources[n].origin.computed;
  }
  const Transfer transfer{code, lane.i, values.data(), sources.data()};
  if (unsure && from.bits == 0) from = undefined_->get(lane.wave, pred_slot(code.guard), lane.i);
  std::array<UndefinedBits, kMostResults> results{};
  for (uint32_t n = 0; n < code.results && n < kMostResults; ++n) {
    results[n].bits = transfer.result(n);
    // Either what was there or the result.
    if (unsure) results[n].bits = width_of(code.dst[n]) == ir::Width::pred ? 1 : ~uint64_t{0};
    results[n].origin = from.origin;
    results[n].origin.computed = from.origin.computed || transfer.computes();
  }
  for (uint32_t n = 0; n < code.results && n < kMostResults; ++n)
    undefined_->set(lane.wave, code.dst[n], lane.i, results[n]);
}

/// What it loads is looked at when its bytes are (look_at_bytes).
void Group::follow_access(Lane lane, const Code& code) {
  use(lane, code, code.src[0], UndefinedUse::address);
  if (code.action == Action::store) return;
  for (uint32_t n = 1; n < code.sources; ++n) use(lane, code, code.src[n], UndefinedUse::atomic);
  for (uint32_t n = 0; n < code.results; ++n) undefined_->set(lane.wave, code.dst[n], lane.i, {});
}

/// Where no range is known the bytes count as written.
void Group::look_at_bytes(Lane lane, const Code& code, const Located& at) {
  const auto own =
      std::ranges::find_if(written_, [&](const Written& w) { return w.holds(at.data); });
  const bool in_arena = request_.unwritten != nullptr && holds(memory_.arena, at.data);
  if (own == written_.end() && !in_arena) return;
  const Bytes bytes{own != written_.end() ? &*own : nullptr, request_.unwritten};
  if (!undefined_) return report_reads(lane, code, at, bytes);
  if (code.action == Action::load) return follow_load(lane, code, at, bytes);
  if (code.action == Action::store) return follow_store(lane, code, at, bytes);
  follow_atomic(lane, code, at, bytes);
}

/// Reads themselves are faults, which change nothing.
void Group::report_reads(Lane lane, const Code& code, const Located& at, const Bytes& bytes) {
  const ir::Mem& mem = *code.mem;
  if (code.action != Action::store) {
    uint64_t missing = bytes.missing(at, 0, code.bytes);
    if (mem.used_bytes != 0xffffffff) missing &= mem.used_bytes;
    if (missing != 0)
      record(lane, {.kind = FaultKind::uninitialised,
                    .site = code.site,
                    .address = at.address,
                    .size = code.bytes});
  }
  if (code.action == Action::load) return;
  const unsigned size = ir::size_of(mem.elem);
  for (uint32_t i = 0; i < mem.count; ++i)
    if (code.action == Action::atom || code.src[1 + i] != ir::kNone) bytes.note(at, i * size, size);
}

/// Of a load or a store of whole words by lanes that all find theirs in one range: every byte was
/// written, or is so now.
bool Group::all_written(Wave& wave, const Code& code) {
  if (setting_.touch) return false;
  const bool stores = code.action == Action::store;
  if (stores && undefined_->any(wave)) return false;
  const Range& r = wave.ranges[code.access];
  // The access itself finds out whether it is there.
  Written& shared = written_.front();
  if (r.data != nullptr && r.step == 0 && shared.full() && shared.holds(r.data)) return true;
  uint64_t low = 0, high = 0;
  const auto widen = [&](uint32_t i, uint64_t at) {
    low = i == wave.lane ? at : std::min(low, at);
    high = i == wave.lane ? at : std::max(high, at);
  };
  if (!in_one_range(wave, code, widen)) return false;
  if (shared.holds(r.data)) {
    bool all = true;
    for_each_lane(wave.mask, [&](uint32_t i) {
      const std::byte* at = r.data + (code.address(wave.get(code.src[0], i)) - r.base);
      if (!stores)
        all = all && shared.missing(at, code.bytes) == 0;
      else if (shared.note(at, code.bytes); !copied_by_.empty())
        copied_by_.erase(at);
    });
    return all;
  }
  if (written_.back().holds(r.data)) return false;
  return request_.unwritten == nullptr || !holds(memory_.arena, r.data) ||
         request_.unwritten->written(low, high - low + code.bytes);
}

const Code* access_followed(Wave& wave, const Code* code) {
  if (!wave.group->all_written(wave, *code)) return access_lanes(wave, code);
  return code->moves[wave.single](wave, code);
}

void Group::follow_load(Lane lane, const Code& code, const Located& at, const Bytes& bytes) {
  const unsigned size = ir::size_of(code.mem->elem);
  for (uint32_t i = 0; i < code.results; ++i) {
    const uint32_t first = i * size;
    uint64_t missing = bytes.missing(at, first, size);
    if (code.mem->used_bytes != 0xffffffff) missing &= code.mem->used_bytes >> first;
    if (missing == 0) continue;
    UndefinedBits value;
    value.bits = extend_element(code.mem->elem, bits_of_bytes(missing));
    value.origin = {code.site,  at.address,
                    code.bytes, ir::kNone,
                    value.bits, bytes.own != nullptr && bytes.own->computed(at.data + first, size)};
    if (!copied_by_.empty())
      if (const auto by = copied_by_.find(at.data + first); by != copied_by_.end())
        value.origin.stored_by = by->second;
    undefined_->set(lane.wave, code.dst[i], lane.i, value);
  }
}

void Group::follow_store(Lane lane, const Code& code, const Located& at, const Bytes& bytes) {
  const unsigned size = ir::size_of(code.mem->elem);
  for (uint32_t i = 0; i + 1 < code.sources; ++i) {
    if (code.src[1 + i] == ir::kNone) continue;
    const uint32_t first = i * size;
    bytes.note(at, first, size);
    if (!copied_by_.empty()) copied_by_.erase(at.data + first);
    const UndefinedBits value = undefined_->get(lane.wave, code.src[1 + i], lane.i);
    const uint64_t lost = bytes_of_bits(value.bits) & lowest(size);
    if (lost == 0) continue;
    if (bytes.own == nullptr && value.origin.computed) {
      use(lane, code, value, UndefinedUse::store);
      continue;
    }
    if (copied_by_.size() < kMostCopies) copied_by_[at.data + first] = code.site;
    if (bytes.own != nullptr) {
      bytes.own->lose(at.data + first, lost, value.origin.computed);
      continue;
    }
    const Allocation* of = guest::allocation_at(request_.allocations, at.address, 1);
    for (uint32_t n = 0; of != nullptr && n < size; ++n)
      if ((lost >> n & 1) != 0)
        bytes.global->lose(at.address + first + n, 1, of->address, of->size);
  }
}

/// It reads what it changes; an exchange alone only hands it on.
void Group::follow_atomic(Lane lane, const Code& code, const Located& at, const Bytes& bytes) {
  const unsigned size = ir::size_of(code.mem->elem);
  for (uint32_t i = 0; i < code.mem->count; ++i) {
    const uint32_t first = i * size;
    const uint64_t missing = bytes.missing(at, first, size);
    bytes.note(at, first, size);
    if (missing == 0) continue;
    const UndefinedBits value{
        bits_of_bytes(missing),
        {code.site, at.address, code.bytes, ir::kNone, bits_of_bytes(missing), false}};
    if (code.mem->atom != ir::AtomOp::exch)
      use(lane, code, value, UndefinedUse::atomic);
    else if (i < code.results)
      undefined_->set(lane.wave, code.dst[i], lane.i, value);
  }
}

/// Before the lanes that have met get their results.
void Group::follow_wave_op(Wave& wave, uint64_t participants, uint64_t members) {
  using ir::Op;
  std::array<UndefinedBits, kMaxWave> first{};
  UndefinedBits some;
  uint64_t lanes = 0;
  for_each_lane(wave.present, [&](uint32_t i) {
    const Lane lane{wave, i};
    const bool takes_part = (participants >> i & 1) != 0;
    const Code& own =
        takes_part ? lane.code() : wave.codes[wave.position[std::countr_zero(participants)]];
    if (own.sources != 0) first[i] = undefined_->get(wave, own.src[0], i);
    if (!takes_part) return;
    for (uint32_t n = 1; n < own.sources; ++n) use(lane, own, own.src[n], UndefinedUse::operand);
    if (first[i].bits == 0 || (members >> i & 1) == 0) return;
    lanes |= uint64_t{1} << i;
    if (some.bits == 0) some = first[i];
  });
  some.origin.computed = true;
  for_each_lane(participants, [&](uint32_t i) {
    const Lane lane{wave, i};
    const Code& code = lane.code();
    UndefinedBits result = some;
    result.bits = lanes != 0 ? ~uint64_t{0} : 0;
    const auto take = [&](uint32_t source, uint64_t of) {
      result = (of >> source & 1) != 0 ? first[source] : UndefinedBits{};
    };
    bool in_range = false;
    switch (code.op) {
      case Op::shfl:
        take(shuffle_source(lane, code, in_range), participants);
        break;
      case Op::readlane:
        take(static_cast<uint32_t>(lane.get(code.src[1])) & (wave_lanes_ - 1), wave.present);
        break;
      case Op::readfirst:
        take(static_cast<uint32_t>(std::countr_zero(participants)), participants);
        break;
      case Op::ballot:
      case Op::vote_ballot:
        result.bits = lanes;
        break;
      case Op::activemask:
      case Op::elect:
      case Op::wave_sync:
        result.bits = 0;
        break;
      default:
        break;
    }
    for (uint32_t n = 0; n < code.results; ++n) {
      UndefinedBits value = result;
      if (n != 0 && code.op == Op::shfl) value.bits = 0;
      if (width_of(code.dst[n]) == ir::Width::pred) value.bits = value.bits != 0 ? 1 : 0;
      undefined_->set(wave, code.dst[n], i, value);
    }
  });
}

}  // namespace lanewise::reference
