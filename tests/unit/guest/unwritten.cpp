// Which bytes nobody wrote, beside a set of bytes that is as simple as can be.
#include "runtime/guest/unwritten.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "runtime/layout/addresses.hpp"

using namespace lanewise::guest;

TEST_CASE("unwritten bytes, at random against a flag for each byte") {
  constexpr uint64_t kBytes = 4096, kUnit = 256;
  std::mt19937 rng(7);
  std::vector<bool> written(kBytes, true);
  std::map<uint64_t, uint64_t> live;  // by offset
  Unwritten unwritten;
  const auto all = [&](uint64_t at, uint64_t n) {
    return std::all_of(written.begin() + static_cast<long>(at),
                       written.begin() + static_cast<long>(at + n), [](bool w) { return w; });
  };
  const auto set = [&](uint64_t at, uint64_t n, bool value) {
    std::fill_n(written.begin() + static_cast<long>(at), n, value);
  };
  for (int step = 0; step < 20000; ++step) {
    const uint64_t at = rng() % kBytes, n = rng() % std::min<uint64_t>(kBytes - at, 700) + 1;
    switch (rng() % 8) {
      case 0: {  // an allocation without contents, apart from the others
        const uint64_t place = at / kUnit * kUnit, size = rng() % (2 * kUnit) + 1;
        const bool free = std::ranges::none_of(live, [&](const auto& a) {
          return place < a.first + a.second && a.first < place + size;
        });
        if (!free || place + size > kBytes) break;
        live[place] = size;
        unwritten.add(kArenaBase + place, size);
        set(place, size, false);
        break;
      }
      case 1: {
        if (live.empty()) break;
        const auto it = std::next(live.begin(), static_cast<long>(rng() % live.size()));
        unwritten.remove(kArenaBase + it->first);
        set(it->first, it->second, true);
        live.erase(it);
        break;
      }
      case 2:
        if (rng() % 50 != 0) break;
        unwritten.clear();
        set(0, kBytes, true);
        break;
      case 3: {  // a launch elsewhere, which writes a few bytes
        std::vector<std::byte> map(written_map_bytes(kBytes));
        unwritten.fill(map);
        bool same = true;
        for (uint64_t b = 0; b < kBytes; ++b)
          same = same && ((map[b / 8] >> b % 8 & std::byte{1}) != std::byte{0}) == written[b];
        REQUIRE(same);
        for (uint64_t b = at; b < at + n; ++b) map[b / 8] |= std::byte(1U << b % 8);
        set(at, n, true);
        unwritten.update([&](uint64_t offset, std::span<std::byte> part) {
          std::copy_n(map.begin() + static_cast<long>(offset), part.size(), part.begin());
        });
        break;
      }
      case 4:
      case 5:
        unwritten.note(kArenaBase + at, n);
        set(at, n, true);
        break;
      case 6: {
        const uint64_t least = rng() % 40 + 1;
        uint64_t begin = 0, length = 0;
        for (uint64_t b = at; b <= at + n && length < least; b += length + 1)
          for (begin = b, length = 0; begin + length < at + n && !written[begin + length];)
            ++length;
        const bool none = length < least;
        const auto [first, run] = unwritten.first_run(kArenaBase + at, n, least);
        REQUIRE(run == (none ? 0 : length));
        REQUIRE(first == (none ? 0 : kArenaBase + begin));
        break;
      }
      default:
        REQUIRE(unwritten.written(kArenaBase + at, n) == all(at, n));
    }
  }
}
