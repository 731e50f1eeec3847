// What the check of asynchronous copies learns of a group: copies that lanes start, who waits for
// them, and accesses to their bytes.
#include "runtime/reference/race/copies.hpp"

#include "runtime/ir/mbarrier.hpp"
#include "runtime/reference/lanes/handlers.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {

const Code* note_copies(Wave& wave, const Code* code) {
  Group& g = *wave.group;
  if (g.race_copies_) for_each_lane(wave.mask, [&](uint32_t i) { g.note_copy({wave, i}, *code); });
  return code + 1;
}

/// Addresses that fault do so in the copy itself.
void Group::note_copy(Lane lane, const Code& code) {
  race::Copies& copies = *race_copies_;
  const auto note = static_cast<ir::AsyncNote>(code.mode & 15);
  const auto kind = static_cast<ir::AsyncKind>(code.mode >> 4);
  const uint64_t address = lane.get(code.src[0]);
  const auto number = static_cast<uint32_t>(lane.get(code.src[1]));
  const auto place = [&](uint32_t bytes, bool write) {
    Access access;
    access.space = ir::Space::generic;
    access.address = address;
    access.bytes = bytes;
    access.rule = ir::AlignRule::any;
    access.write = write;
    return locate(memory_, lane.linear(), access).data;
  };
  switch (note) {
    case ir::AsyncNote::read:
    case ir::AsyncNote::write:
    case ir::AsyncNote::reduce: {
      const std::byte* data = number != 0 ? place(number, note != ir::AsyncNote::read) : nullptr;
      if (data == nullptr) return;
      return copies.add(lane.linear(), code.site, kind,
                        {race::place_of(data), address, number, holds(shared_, data)}, note);
    }
    case ir::AsyncNote::commit:
      return copies.commit(lane.linear(), kind);
    case ir::AsyncNote::wait:
    case ir::AsyncNote::wait_read:
      return copies.wait(lane.linear(), kind, number, note == ir::AsyncNote::wait_read);
    case ir::AsyncNote::track:
      if (const std::byte* data = place(8, true); data != nullptr)
        copies.track(lane.linear(), kind, race::place_of(data));
      return;
    case ir::AsyncNote::passed:
      if (const std::byte* data = place(8, false); data != nullptr)
        copies.pass(lane.linear(), race::place_of(data));
      return;
  }
}

void Group::check_copies(uint32_t lane, const Code& code, const std::byte* data, uint64_t address) {
  if (!race_copies_ || code.of_copy) return;
  RaceAccess access = RaceAccess::load;
  if (code.action == Action::store) access = RaceAccess::store;
  if (code.action == Action::atom) access = RaceAccess::atomic;
  race_copies_->access(lane, code.site, {race::place_of(data), address, code.bytes}, access);
}

void Group::end_phase(const std::byte* barrier, uint64_t before, uint64_t after) {
  if (((before ^ after) >> ir::mbarrier::kParityAt) != 0)
    race_copies_->end_phase(race::place_of(barrier));
}

}  // namespace lanewise::reference
