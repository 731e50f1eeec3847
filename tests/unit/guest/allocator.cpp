#include <doctest/doctest.h>

#include "runtime/guest/allocator.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/support/error.hpp"

using namespace lanewise;

TEST_CASE("allocations are deterministic, aligned and never touch") {
  guest::Allocator a;
  const uint64_t x = a.allocate(1, "x");
  const uint64_t y = a.allocate(256, "y");
  const uint64_t z = a.allocate(257, "z");
  CHECK(x == guest::kArenaBase);
  CHECK(y == x + 512);
  CHECK(z == y + 512);
  CHECK(a.high_water() == z + 512 + 256 - guest::kArenaBase);
  a.free(y);
  CHECK(a.allocate(100, "end") == z + 768);
  CHECK(a.give_back_held());
  CHECK(a.allocate(100, "again") == y);
  CHECK_THROWS_AS(a.free(12), Error);
}

TEST_CASE("freed memory is not given out again at once") {
  guest::Allocator a;
  const uint64_t x = a.allocate(4096, "x");
  const uint64_t large = a.allocate((16 << 20) + 1, "large");
  const uint64_t y = a.allocate(1 << 20, "y");
  a.free(x);
  a.free(y);
  CHECK(a.allocate(256, "small") > y);
  // What is larger than all that is held back is not, and takes nothing else's place.
  a.free(large);
  CHECK(a.allocate(16 << 20, "of large") == large);
  CHECK(a.allocate(256, "small") > y);
  // 16 MiB on, the oldest is given out again, and the next one is not yet.
  const uint64_t z = a.allocate(15 << 20, "z");
  a.free(z);
  CHECK(a.allocate(4096, "x again") == x);
  CHECK(a.allocate(1 << 20, "no y") != y);
  CHECK(a.give_back_held());
  CHECK(!a.give_back_held());
  CHECK(a.allocate(1 << 20, "y again") <= y);
  // So it is after 1,024 small ones.
  guest::Allocator many;
  std::vector<uint64_t> addresses;
  for (int i = 0; i < 1025; ++i) addresses.push_back(many.allocate(1, "one"));
  for (const uint64_t at : addresses) many.free(at);
  CHECK(many.allocate(1, "first again") == addresses[0]);
  CHECK(many.allocate(1, "no second") > addresses[1024]);
}

TEST_CASE("imported memory has addresses of its own, aligned as it lies") {
  guest::Allocator a;
  const uint64_t own = a.allocate(16, "own");
  CHECK(!a.has_imported());
  const uint64_t x = a.allocate_imported(1000, "x", false, 0x7f0010);
  const uint64_t y = a.allocate_imported(8, "y", true, 0x1234);
  CHECK(x == guest::kImportedBase + 0x10);
  CHECK(y % guest::kAllocAlign == 0x34);
  CHECK(y >= x + 1000 + guest::kAllocAlign);
  CHECK(a.has_imported());
  // The arena grows by none of that, and its addresses are what they were.
  CHECK(a.high_water() == 512);
  CHECK(a.allocate(16, "more") == own + 512);
  a.free(x);
  CHECK(a.allocate_imported(900, "again", false, 0x10) == x);
  a.free(x);
  a.free(y);
  CHECK(!a.has_imported());
  CHECK_THROWS_AS(a.allocate_imported(uint64_t{1} << 41, "huge", false, 0), Error);
}

TEST_CASE("nearest allocation and distance") {
  guest::Allocator a;
  const uint64_t x = a.allocate(16, "x");
  const auto at = [&](uint64_t address) {
    return guest::nearest_allocation(a.allocations(), address);
  };
  CHECK(at(x)->distance == 0);
  CHECK(at(x + 15)->distance == 0);
  CHECK(at(x + 16)->distance == 1);
  CHECK(at(x - 4)->distance == -4);
  CHECK(!guest::nearest_allocation({}, x));
}

TEST_CASE("parameters lie behind all that was ever allocated") {
  guest::Allocator a;
  const uint64_t x = a.allocate(4096, "x");
  const uint64_t end = a.end();
  CHECK(end == 4096 + 256);
  a.free(x);
  const uint64_t p = a.allocate_parameters(16, "p");
  const uint64_t q = a.allocate_parameters(16, "q");
  CHECK(p == guest::kArenaBase + end);
  CHECK(q == p + 512);
  CHECK(a.end() == end);
  CHECK(a.high_water() == q + 512 - guest::kArenaBase);
  CHECK(a.allocations().at(0).read_only);
  a.free_parameters(p);
  CHECK(a.allocate_parameters(16, "again") == q + 512);
  a.free_parameters(q);
  a.free_parameters(q + 512);
  CHECK(a.allocate_parameters(16, "p", 1 << 20) == guest::kArenaBase + (1 << 20));
  CHECK(a.freed().size() == 1);
  // What did not come to be changes nothing.
  const auto before = a.marks();
  const uint64_t huge = a.allocate(1 << 24, "huge");
  a.undo(huge, before);
  CHECK(a.end() == end);
  CHECK(a.freed().size() == 1);
}

TEST_CASE("freed memory has its name until somebody has all of it") {
  guest::Allocator a;
  const uint64_t x = a.allocate(1000, "x");
  a.allocate(16, "behind");
  a.free(x);
  REQUIRE(guest::freed_at(a.freed(), x + 999) != nullptr);
  CHECK(guest::freed_at(a.freed(), x + 999)->name == "x");
  CHECK(guest::freed_at(a.freed(), x + 1000) == nullptr);
  CHECK(guest::freed_at(a.freed(), x - 1) == nullptr);
  a.give_back_held();
  const uint64_t y = a.allocate(500, "y");
  REQUIRE(y == x);
  CHECK(guest::freed_at(a.freed(), x + 600)->name == "x");
  a.free(y);
  CHECK(guest::freed_at(a.freed(), x + 10)->name == "y");
  CHECK(guest::freed_at(a.freed(), x + 600)->name == "x");
  a.give_back_held();
  CHECK(a.allocate(1000, "z") == x);
  CHECK(a.freed().empty());
  for (int n = 0; n < 2000; ++n) a.free(a.allocate(1 << 20, "many"));
  CHECK(a.freed().size() <= 1024);
}

TEST_CASE("reserved addresses are given to no other, and their mapped parts are joined and split") {
  constexpr uint64_t kPart = 4096;
  guest::Allocator a;
  const uint64_t before = a.allocate(16, "before");
  const uint64_t base = a.reserve(16 * kPart, "range", kPart);
  CHECK(base % kPart == 0);
  CHECK(base > before);
  CHECK(a.allocations().size() == 1);  // nothing of it can be accessed
  const uint64_t behind = a.allocate(64 * kPart, "behind");
  CHECK(behind >= base + 16 * kPart);
  CHECK(!a.set_mapped(base + 15 * kPart, 2 * kPart, true));  // beyond its end
  CHECK(!a.set_mapped(base, 0, true));
  CHECK(!a.set_mapped(before, 16, false));
  // Against a list of parts.
  bool mapped[16] = {};
  unsigned state = 1;
  for (int step = 0; step < 2000; ++step) {
    state = state * 1664525 + 1013904223;
    const unsigned first = state >> 8 & 15, count = 1 + (state >> 16) % (16 - first);
    const bool want = (state >> 28 & 1) != 0;
    bool changes = true;
    for (unsigned i = first; i < first + count; ++i) changes = changes && mapped[i] != want;
    CHECK(a.set_mapped(base + first * kPart, count * kPart, want) == changes);
    for (unsigned i = first; changes && i < first + count; ++i) mapped[i] = want;
    std::vector<std::pair<uint64_t, uint64_t>> runs, found;
    for (unsigned i = 0; i < 16; ++i)
      if (mapped[i] && i > 0 && mapped[i - 1])
        runs.back().second += kPart;
      else if (mapped[i])
        runs.emplace_back(base + i * kPart, kPart);
    for (const Allocation& m : a.allocations())
      if (m.name == "range") found.emplace_back(m.address, m.size);
    CHECK(found == runs);
  }
  a.free(base);
  CHECK(a.allocations().size() == 2);
  a.give_back_held();
  CHECK(a.allocate(8 * kPart, "again") < behind);
}
