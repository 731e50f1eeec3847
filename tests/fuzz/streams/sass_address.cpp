#include "tests/fuzz/streams/sass_address.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace lanewise::fuzz {

namespace spec = oracle::sass;
namespace {

constexpr uint64_t kLow = 0xffffffff;

void set_to_edges(Random& random, Lane& lane) {
  for (size_t n = 3; n < 7; ++n)
    lane.in[n] = random.pick<uint64_t>({0, 1, 0x7fffffff, 0x80000000, 0xffffffff});
}

}  // namespace

int64_t random_sass_offset(Random& random, unsigned field_bits) {
  const int64_t limit = int64_t{1} << (field_bits - 1);
  const auto anywhere = [&] {
    return static_cast<int64_t>(random.below(static_cast<uint64_t>(2 * limit))) - limit;
  };
  return random.pick<int64_t>(
      {0, 4, -4, 1, -1, 16, 0x100, limit - 1, -limit, anywhere(), anywhere()});
}

std::vector<Value> SassInstruction::in(unsigned place) const {
  const auto r = [&](unsigned n) { return Value{fmt::format("R{}", 8 * place + n), "", 32}; };
  return {r(0), r(1), {fmt::format("P{}", place), "", 1}, r(4), r(5), r(6), r(7)};
}

void SassInstruction::draw(Random& random, const Region& region, std::span<Lane> wave) const {
  const unsigned habit = static_cast<unsigned>(random.below(4));
  for (size_t n = 0; n < wave.size(); ++n) {
    wave[n].in = {0, random.next() & kLow, random.chance(8) ? 0ULL : 1ULL};
    for (unsigned k = 0; k < 4; ++k) wave[n].in.push_back(random.next() & kLow);
    if (a_.guard == 2) wave[n].in[2] ^= 1;
    if (random.chance(16)) set_to_edges(random, wave[n]);
    // Neighbours, one line apart, the same place, anywhere.
    const uint64_t base = region.first + random.below(region.size - 0x10000);
    const uint64_t step = habit == 0 ? bytes() : habit == 1 ? 128 : habit == 2 ? 16 : 0;
    if (n == 0 || habit == 3)
      aim(wave[n], base);
    else
      aim(wave[n], effective(wave[0]) + n * step);
    if (random.chance(24)) outside(random, wave[n]);
  }
}

void SassInstruction::redraw(Random& random, const Region& region, std::span<Lane> wave,
                             size_t lane) const {
  aim(wave[lane], region.first + random.below(region.size - 64));
}
void SassInstruction::disable(std::span<Lane> wave, size_t lane) const {
  wave[lane].in[2] = a_.guard == 2 ? 1 : 0;
}
void SassInstruction::move(Lane& lane, int64_t delta) const {
  aim(lane, effective(lane) + static_cast<uint64_t>(delta));
}

uint64_t SassInstruction::effective(const Lane& lane) const {
  spec::Address a;
  a.extended = a_.extended;
  a.ra = a_.absolute ? 255 : 0;
  a.low = static_cast<uint32_t>(lane.in[0]);
  a.high = static_cast<uint32_t>(lane.in[1]);
  a.field_bits = a_.field_bits;
  a.field = static_cast<uint32_t>(static_cast<uint64_t>(a_.offset) &
                                  ((uint64_t{1} << a_.field_bits) - 1));
  return spec::effective_address(a);
}

std::string SassInstruction::guard_text(unsigned place) const {
  return a_.guard == 0 ? "" : fmt::format("@{}P{} ", a_.guard == 1 ? "" : "!", place);
}
std::string SassInstruction::address_text(unsigned place) const {
  if (a_.absolute) return fmt::format("[{:#x}]", a_.offset);
  return fmt::format("[R{}+{}{:#x}]", 8 * place, a_.offset < 0 ? "-" : "", std::abs(a_.offset));
}

std::vector<SassAddress> SassInstruction::simpler_addresses() const {
  std::vector<SassAddress> list;
  const auto with = [&](auto change) {
    list.push_back(a_);
    change(list.back());
  };
  if (a_.guard != 0) with([](SassAddress& a) { a.guard = 0; });
  if (a_.offset != 0 && !a_.absolute) with([](SassAddress& a) { a.offset = 0; });
  if (a_.extended) with([](SassAddress& a) { a.extended = false; });
  return list;
}

void SassInstruction::aim(Lane& lane, uint64_t address) const {
  if (a_.absolute) return;
  const uint64_t registers = address - static_cast<uint64_t>(a_.offset);
  lane.in[0] = registers & kLow;
  if (a_.extended) lane.in[1] = registers >> 32;
}
void SassInstruction::outside(Random& random, Lane& lane) const {
  if (a_.extended)
    aim(lane, random.pick<uint64_t>({0, 0xfffc, kFar, kUnallocated, uint64_t{1} << 32,
                                     (uint64_t{1} << 40) + guest::kArenaBase, uint64_t{1} << 63,
                                     ~uint64_t{0} - 15}));
  else
    aim(lane, random.pick<uint64_t>({0, 0xfff0, kFar, kUnallocated, 0x7ffffff0, 0xfffffff0}));
}

}  // namespace lanewise::fuzz
