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
  CHECK(a.allocate(100, "again") == y);
  CHECK(a.allocate(100, "end") == z + 768);
  CHECK_THROWS_AS(a.free(12), Error);
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
  const uint64_t y = a.allocate(500, "y");
  REQUIRE(y == x);
  CHECK(guest::freed_at(a.freed(), x + 600)->name == "x");
  a.free(y);
  CHECK(guest::freed_at(a.freed(), x + 10)->name == "y");
  CHECK(guest::freed_at(a.freed(), x + 600)->name == "x");
  CHECK(a.allocate(1000, "z") == x);
  CHECK(a.freed().empty());
  for (int n = 0; n < 2000; ++n) a.free(a.allocate(1 << 20, "many"));
  CHECK(a.freed().size() <= 1024);
}
