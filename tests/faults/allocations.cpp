// Each allocation of the host fails once, on the reference engine: drivers and compilers are
// others' code, much of which ends the process then.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "lanewise/error.hpp"
#include "tests/faults/allocations.hpp"
#include "tests/faults/script.hpp"

namespace {

thread_local long until_failure = 0;  ///< 0 = never
thread_local long made = 0;
std::atomic<long> living{0};

void* allocate(std::size_t size) {
  ++made;
  if (until_failure != 0 && --until_failure == 0) throw std::bad_alloc();
  void* p = std::malloc(size != 0 ? size : 1);
  if (p == nullptr) throw std::bad_alloc();
  ++living;
  return p;
}
void release(void* p) noexcept {
  if (p != nullptr) --living;
  std::free(p);
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void operator delete(void* p) noexcept {
  release(p);
}
void operator delete[](void* p) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  release(p);
}

long lanewise::faults::allocations_made() {
  return made;
}

using namespace lanewise;
using faults::Outcome;

TEST_CASE("a run in which the Nth allocation fails") {
  if (faults::selector() != "reference") return;
  const Outcome good = faults::scripted_run();
  REQUIRE(good.scaled == std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16});
  faults::scripted_run();
  made = 0;
  faults::scripted_run();
  const long steps = made;
  const auto chosen = faults::chosen_steps(steps, 97);
  long refused = 0, borne = 0, leaked = 0;
  for (const long step : chosen) {
    const long before = living;
    until_failure = step;
    bool same = true;
    try {
      same = faults::scripted_run() == good;
      ++borne;
    } catch (const std::bad_alloc&) {
      ++refused;
    } catch (const Error& e) {
      // Where it is reported in words; the words are there.
      same = *e.what() != 0;
      ++refused;
    }
    until_failure = 0;
    const long left = living - before;
    if (!same || left > 0) {
      CAPTURE(step);
      CAPTURE(left);
      CHECK(same);
      leaked += left;
    }
  }
  CHECK(faults::scripted_run() == good);
  CHECK_MESSAGE(leaked == 0, "allocations are left behind");
  CHECK(refused > 0);
  std::printf("%ld allocations a run, %zu of them failed: %ld errors, %ld borne\n", steps,
              chosen.size(), refused, borne);
}
