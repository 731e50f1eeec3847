// Accesses where each lane, or wave that runs in step, sees stores at a time of its own, and where
// loads may be late.
#include <algorithm>
#include <array>

#include "runtime/reference/schedule/orders.hpp"
#include "runtime/reference/schedule/views.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {
namespace {

/// The word that holds the byte.
std::byte* word_at(std::byte* data) {
  return data - (reinterpret_cast<uintptr_t>(data) & 3);
}

uint32_t word_value(const std::byte* word) {
  return static_cast<uint32_t>(read_little_endian(word, sizeof(uint32_t)));
}

bool stays_plain(const ir::Mem& mem) {
  return mem.order == ir::Order::weak || mem.order == ir::Order::relaxed;
}

}  // namespace

struct Group::Views {
  std::vector<views::Thread> threads;  ///< by lane, or by wave
  std::vector<Delayed> late;           ///< by lane
};

void Group::start_views() {
  views_ = std::make_shared<Views>();
  views_->threads.resize(setting_.in_turn ? lane_count_ : waves_.size());
  views_->late.resize(lane_count_);
  for (views::Thread& t : views_->threads) t.group = static_cast<uint32_t>(number());
  if (!shared_.empty()) setting_.views->forget(shared_.data(), shared_.size());
}

views::Thread& Group::viewer(Lane lane) {
  return views_->threads[setting_.in_turn ? lane.linear() : lane.wave.index];
}

void Group::meet_views(const Wave& wave, uint64_t lanes) {
  for_each_lane(lanes, [&](uint32_t i) {
    setting_.views->meet(views_->threads[setting_.in_turn ? wave.first + i : wave.index]);
  });
}

/// PTX says what an access orders. GCN's stores go through to the second level, and waits that
/// order them are not followed, so that only plain loads may be old there; accesses of SASS and GCN
/// to shared memory may be anything, and are taken as the strongest.
views::Sort Group::sort_of(const Code& code, const std::byte* data) const {
  using ir::Order;
  const ir::Mem& mem = *code.mem;
  const Order order = mem.order;
  const ir::Isa isa = request_.program->isa;
  views::Sort sort;
  const bool plain_load = code.action == Action::load && order == Order::weak;
  const bool shared = holds(memory_.shared, data);
  if ((isa == ir::Isa::gcn && (shared || !plain_load)) || (isa == ir::Isa::sass && shared))
    return {true, true, true, false, true, true};  // what is stored last is found at once
  sort.strong = order != Order::weak || code.action == Action::atom;
  sort.sequential = order == Order::seq_cst;
  const bool both = sort.sequential || order == Order::acq_rel;
  sort.acquires = both || order == Order::acquire;
  sort.releases = both || order == Order::release;
  sort.wide = sort.strong && mem.scope != ir::Scope::cta;
  return sort;
}

void Group::access_views(Lane lane, const Code& code) {
  if (code.op == ir::Op::fence) {
    if (code.mem != nullptr)
      setting_.views->fence(viewer(lane), code.mem->order, code.mem->scope != ir::Scope::cta);
    return;
  }
  if (overlaps_late(lane, code)) make_late(lane);
  std::byte* data = locate_access(lane, code).data;
  if (data == nullptr || is_private(data)) return move_bytes(lane, code, data);
  const uint32_t size = ir::size_of(code.mem->elem);
  if (code.action == Action::atom) return exchange_views(lane, code, data);
  if (code.action == Action::load) {
    for (uint32_t n = 0; n < code.results; ++n)
      load_element(lane, code, n, data + size_t{n} * size);
    return;
  }
  for (uint32_t n = 1; n < code.sources; ++n)
    if (code.src[n] != ir::kNone) store_element(lane, code, n - 1, data + size_t{n - 1} * size);
}

/// Elements that are no word, or part of one, find what was stored last.
void Group::load_element(Lane lane, const Code& code, uint32_t element, std::byte* data) {
  const uint32_t size = ir::size_of(code.mem->elem);
  views::Sort sort = sort_of(code, data);
  std::byte* word = word_at(data);
  const auto low = static_cast<uint32_t>(data - word);
  sort.newest = sort.newest || low + size > sizeof(uint32_t);
  uint64_t value = 0;
  if (sort.newest) {
    for (std::byte* w = word; w < data + size; w += 4) setting_.views->load(viewer(lane), w, sort);
    value = read_little_endian(data, size);
  } else {
    const uint32_t whole = setting_.views->load(viewer(lane), word, sort);
    value = uint64_t{whole} >> (8 * low) & ((uint64_t{1} << (8 * size)) - 1);
  }
  lane.set(code.dst[element], extend_element(code.mem->elem, value));
}

void Group::store_element(Lane lane, const Code& code, uint32_t element, std::byte* data) {
  const uint32_t size = ir::size_of(code.mem->elem);
  const views::Sort sort = sort_of(code, data);
  const uint64_t value = lane.get(code.src[1 + element]);
  std::byte* word = word_at(data);
  if (word == data && size == sizeof(uint32_t))
    return setting_.views->store(viewer(lane), word, static_cast<uint32_t>(value), sort);
  std::array<uint32_t, 4> before{};
  uint32_t n = 0;
  for (std::byte* w = word; w < data + size; w += 4) before[n++] = word_value(w);
  write_little_endian(data, size, value);
  n = 0;
  for (std::byte* w = word; w < data + size; w += 4)
    setting_.views->stored_in_place(viewer(lane), w, before[n++], sort);
}

void Group::exchange_views(Lane lane, const Code& code, std::byte* data) {
  const views::Sort sort = sort_of(code, data);
  std::array<uint32_t, 2 * kMaxElements + 2> before{};
  std::byte* word = word_at(data);
  uint32_t n = 0;
  for (std::byte* w = word; w < data + code.bytes; w += 4) before[n++] = word_value(w);
  exchange_elements(lane, code, data);
  n = 0;
  for (std::byte* w = word; w < data + code.bytes; w += 4)
    setting_.views->exchanged(viewer(lane), w, before[n++], sort);
}

// --- loads that are late ------------------------------------------------------------------------

/// The lane goes on without the load's value where nothing needs it yet and a store comes first.
bool Group::delay_load(Lane lane, const Code& code) {
  if (code.action != Action::load || !stays_plain(*code.mem)) return false;
  if (request_.program->isa != ir::Isa::ptx || !setting_.orders->random().once_in(1)) return false;
  const Located at = locate(memory_, lane.linear(), access_of(lane, code));
  if (at.data == nullptr || is_private(at.data)) return false;
  std::vector<Slot> results(code.dst, code.dst + code.results);
  const auto is_result = [&](Slot slot) {
    return std::ranges::find(results, slot) != results.end();
  };
  const auto writes = [&](const Code& c) {
    return std::any_of(c.dst, c.dst + c.results,
                       [&](Slot slot) { return is_result(slot) || slot == code.src[0]; });
  };
  const auto reads = [&](const Code& c) {
    return std::any_of(c.src, c.src + c.sources, is_result);
  };
  const auto orders = [&](const Code& c) {
    if (c.action >= Action::jump || c.may_stop || c.action == Action::report) return true;
    if (c.action == Action::atom || c.op == ir::Op::fence) return true;
    const bool access = c.action == Action::load || c.action == Action::store;
    return access && !stays_plain(*c.mem);
  };
  bool stores = false;
  Delayed late{&code, &code + 1, at.data, {}};
  for (;; ++late.limit) {
    const Code& c = *late.limit;
    if (orders(c) || writes(c)) break;
    const bool copies = c.action == Action::mov && !c.guarded && c.results == 1;
    if (reads(c) && !copies) break;
    if (reads(c)) {
      late.copies.push_back(&c);
      results.push_back(c.dst[0]);
    }
    stores = stores || c.action == Action::store;
  }
  if (!stores) return false;
  views_->late[lane.linear()] = std::move(late);
  return true;
}

void Group::make_late(Lane lane) {
  Delayed& late = views_->late[lane.linear()];
  const Code* load = late.load;
  late.load = nullptr;
  if (load == nullptr) return;
  access_views(lane, *load);
  for (const Code* copy : late.copies) lane.set(copy->dst[0], lane.get(copy->src[0]));
}

bool Group::overlaps_late(Lane lane, const Code& code) const {
  const Delayed& late = views_->late[lane.linear()];
  if (late.load == nullptr) return false;
  const Located at = locate(memory_, lane.linear(), access_of(lane, code));
  if (at.data == nullptr) return false;
  const std::byte *begin = word_at(at.data), *end = at.data + code.bytes;
  return begin < late.data + late.load->bytes && word_at(late.data) < end;
}

/// advance_lane() with a load that may be late.
void Group::advance_late(Wave& wave, uint32_t i) {
  const Lane lane{wave, i};
  Delayed& late = views_->late[lane.linear()];
  if (late.load != nullptr && setting_.orders->random().once_in(1)) make_late(lane);
  wave.activate(lane.bit());
  set_headroom(wave);
  const Code* code = wave.codes + wave.position[i];
  if ((wave.at_access & lane.bit()) != 0) {
    if (late.load == nullptr && delay_load(lane, *code)) {
      wave.at_access &= ~lane.bit();
      ++code;
    } else {
      code = resume(wave, code);
      if (late.load != nullptr)
        return stop_at(wave, static_cast<uint32_t>(code - wave.codes), wave.mask);
    }
  }
  while (code != nullptr) {
    if (late.load != nullptr && code == late.limit) make_late(lane);
    code = code->run[wave.single](wave, code);
  }
}

}  // namespace lanewise::reference
