// Memory functions of the shader library on devices: atomics under contention, the list of
// allocations, fault records, fences. Loads and stores are tested through translated kernels
// (tests/differential/memory.cpp), which also check them.
#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <tuple>

#include "runtime/guest/allocation_table.hpp"
#include "runtime/layout/host_shader.h"
#include "tests/support/library_check.hpp"

using namespace lanewise::test;
using namespace lanewise::host_shader;
namespace library = lanewise::spirv::library;

namespace {

constexpr uint32_t kArenaWords = 1024, kArenaBase = 0x10000000;

/// What a launch sees; `run` fills `result` and changes the memories.
struct Machine {
  Words arena = Words(kArenaWords), launch = Words(96), faults = Words(64 + 8 * 64),
        backing = Words(256), allocations = Words(64), result;
  std::map<uint32_t, uint32_t> sizes;

  Machine() {
    for (uint32_t i = 0; i < kArenaWords; ++i) arena[i] = 0x01020304U * (i + 1) ^ 0x80a0c0e0;
    for (uint32_t i = 0; i < backing.size(); ++i) backing[i] = 0x9e3779b9U * (i + 1);
    launch[2] = kArenaWords * 4;
    launch[4] = launch[5] = launch[6] = 1;
    launch[10] = 1000;
    launch[12] = 64;
    launch[15] = 1;
    launch[16] = 512;
    launch[17] = 128;
    for (uint32_t i = 64; i < 96; ++i) launch[i] = 0x1111 * i;
    sizes = {
        {library::shared_words, 48}, {library::local_words, 8}, {library::shared_in_backing, 1}};
  }

  void run(const Driver& d, Variant variant, const std::string& name, Words arguments) {
    const Signature* s = library::find(name, variant);
    CAPTURE(name);
    REQUIRE(s != nullptr);
    const size_t rows = argument_words(*s) == 0 ? 64 : arguments.size() / argument_words(*s);
    REQUIRE(rows % 64 == 0);
    // As the translator does: llvmpipe's memory barriers lose lanes in divergent loops.
    const bool llvmpipe = d.compute->facts().name.find("llvmpipe") != std::string::npos;
    sizes[library::fence_by_atomic] = llvmpipe ? 1 : 0;
    result.assign(rows * std::max(words_of(s->result), 1U), 0);
    if (arguments.empty()) arguments.push_back(0);
    static std::map<std::tuple<Variant, std::string, std::map<uint32_t, uint32_t>>, Words> linked;
    Words& module = linked[{variant, name, sizes}];
    if (module.empty())
      module = library::freeze(library::link(caller_of(name, variant, true), variant), sizes);
    Compute::Job job;
    job.spirv = module;
    job.buffers = {&arena, &launch, &faults, &backing, &allocations, &arguments, &result};
    job.groups = static_cast<uint32_t>(rows / 64);
    if (variant != Variant::t0)
      job.addresses = {{0, LAUNCH_ARENA_ADDRESS}, {3, LAUNCH_BACKING}, {4, LAUNCH_ALLOCATIONS}};
    REQUIRE(d.compute->run(job) == "");
  }
};

using Body = std::function<void(const Driver&, Variant)>;
enum class Which : uint8_t { all, in_turn, ends_in_turn };
/// In every variant of every driver; where the lavapipes take turns, in each on one of them.
/// `ends`: in the smallest and the largest variant alone.
void everywhere(const Body& body, Which which = Which::in_turn) {
  for (const Driver& d : drivers()) {
    size_t turn = 0;
    for (const Variant v : d.variants) {
      if (which == Which::ends_in_turn && v != d.variants.front() && v != d.variants.back())
        continue;
      if (which != Which::all && !takes(d, turn++)) continue;
      const std::string device = d.compute->facts().name, variant = library::name(v);
      CAPTURE(device);
      CAPTURE(variant);
      body(d, v);
    }
  }
}

}  // namespace

namespace {

using lanewise::Allocation;

/// The literal rule: all bytes lie in one allocation, which allows the access.
bool allowed(const std::vector<Allocation>& list, uint64_t va, uint32_t bytes, bool write) {
  return std::ranges::any_of(list, [&](const Allocation& a) {
    return va >= a.address && va < a.address + a.size && a.address + a.size - va >= bytes &&
           !(write && a.read_only);
  });
}

void hold_allocations(const std::vector<Allocation>& list, const std::vector<uint64_t>& addresses) {
  const lanewise::guest::AllocationTable table(list);
  everywhere(
      [&](const Driver& d, Variant v) {
        Machine m;
        m.allocations.assign(table.words(), 0xdeadbeef);
        table.write(m.allocations.data());
        m.allocations[IMPORTED_COUNT] = 0;
        const auto run = [&](const char* name, auto&& put) {
          Words args;
          for (size_t i = 0; i < (addresses.size() + 63) / 64 * 64; ++i) {
            const uint64_t va = addresses[std::min(i, addresses.size() - 1)];
            args.insert(args.end(), {static_cast<uint32_t>(va), static_cast<uint32_t>(va >> 32)});
            put(i, args);
          }
          m.run(d, v, name, args);
          return m.result;
        };
        for (const bool write : {false, true})
          for (const uint32_t bytes : {1U, 4U, 16U}) {
            const Words result = run("lw_allocation_allows", [&](size_t, Words& args) {
              args.insert(args.end(), {bytes, write ? 1U : 0U});
            });
            for (size_t i = 0; i < addresses.size(); ++i) {
              CAPTURE(addresses[i]);
              CAPTURE(bytes);
              CHECK(result[i] == (allowed(list, addresses[i], bytes, write) ? 1 : 0));
            }
          }
        // The search in steps finds how many begin at or below.
        Words found = run("lw_allocation_first", [](size_t, Words&) {});
        m.run(d, v, "lw_allocation_first_step", Words(64, 0));
        for (uint32_t size = m.result[0]; size != 0; size >>= 1)
          found = run("lw_allocation_step", [&](size_t i, Words& args) {
            args.insert(args.end(), {found[i], size});
          });
        CHECK(run("lw_allocation_found", [](size_t, Words&) {}) == found);
        for (const bool write : {false, true}) {
          Words args;
          for (size_t i = 0; i < found.size(); ++i)
            args.insert(args.end(), {found[i], write ? 1U : 0U});
          m.run(d, v, "lw_allocation_span", args);
          for (size_t i = 0; i < addresses.size(); ++i) {
            if (!allowed(list, addresses[i], 1, false)) continue;
            const Allocation& a = list[found[i] - 1];
            const bool shown = !(write && a.read_only) && a.address + a.size <= 0xffff'0000;
            CHECK(m.result[2 * i] == static_cast<uint32_t>(a.address));
            CHECK(m.result[2 * i + 1] == (shown ? a.size : 0));
          }
        }
        for (size_t i = 0; i < addresses.size(); ++i) {
          if (!allowed(list, addresses[i], 1, false)) continue;
          CAPTURE(addresses[i]);
          CHECK(found[i] == std::ranges::count_if(list, [&](const Allocation& a) {
                  return a.address <= addresses[i];
                }));
        }
      },
      Which::ends_in_turn);
}

/// Both sides of both ends of every allocation, and addresses between.
std::vector<uint64_t> around(const std::vector<Allocation>& list, std::mt19937_64& random) {
  std::vector<uint64_t> out = {0, 1, ~uint64_t{0}, kArenaBase - 1, kArenaBase};
  for (const Allocation& a : list)
    for (int64_t d : {-17, -1, 0, 1, 15, 255, 256})
      out.insert(out.end(), {a.address + static_cast<uint64_t>(d),
                             a.address + a.size + static_cast<uint64_t>(d)});
  const uint64_t span = list.back().address + list.back().size - list.front().address;
  for (int i = 0; i < 200; ++i) out.push_back(list.front().address + random() % (2 * span));
  for (const Allocation& a : list) out.push_back(a.address ^ uint64_t{1} << 32);
  return out;
}

}  // namespace

TEST_CASE("allocations: gaps and read-only memory") {
  const std::vector<Allocation> list = {
      {0x10000000, 0x20, "a", false}, {0x10000100, 0x40, "b", true}, {0x10000200, 8, "c", false}};
  std::vector<uint64_t> addresses;
  for (uint32_t i = 0; i < 192; ++i) addresses.push_back(kArenaBase - 64 + 4 * i);
  for (uint32_t i = 0; i < 64; ++i)
    addresses.push_back((kArenaBase + 0x1c + i % 8) | uint64_t{i / 32} << 32);
  hold_allocations(list, addresses);
}

TEST_CASE("allocations: every way that they lie in granules") {
  std::mt19937_64 random(20261125);
  struct Shape {
    uint32_t count, align;
    uint64_t most_bytes, most_gap;
  };
  // As the allocator places them; several that begin in one granule; memory so far apart that
  // granules grow; more than 4 GiB.
  for (const Shape& s : {Shape{40, 256, 700, 2},
                         {100, 16, 40, 3},
                         {100, 16, 900, 2},
                         {60, 256, uint64_t{1} << 20, 1 << 10},
                         {60, 16, uint64_t{1} << 30, 1 << 20},
                         {1, 256, 1, 1},
                         {200, 1, 3, 2}}) {
    CAPTURE(s.count);
    CAPTURE(s.align);
    CAPTURE(s.most_bytes);
    std::vector<Allocation> list;
    uint64_t at = kArenaBase + s.align * (random() % 5);
    for (uint32_t i = 0; i < s.count; ++i) {
      const uint64_t size = 1 + random() % s.most_bytes;
      list.push_back({at, size, "", random() % 4 == 0});
      at = (at + size + s.align - 1) / s.align * s.align + s.align * (random() % s.most_gap);
    }
    hold_allocations(list, around(list, random));
  }
}

TEST_CASE("imported memory: offsets become the addresses of its windows") {
  everywhere([](const Driver& d, Variant v) {
    Machine m;
    // Two windows far beyond the arena, the second of 4 bytes.
    const uint32_t windows[2][6] = {{0x00000100, 0x4000, 0x20, 0, 0xfffffff0, 0x7},
                                    {0x00000200, 0x4000, 4, 0, 0x5000, 0}};
    m.allocations[IMPORTED_COUNT] = 2;
    m.allocations[FIRST_IMPORTED] = 16;
    for (uint32_t i = 0; i < 2; ++i)
      for (uint32_t k = 0; k < IMPORTED_WORDS; ++k)
        m.allocations[16 + IMPORTED_WORDS * i + k] = windows[i][k];
    constexpr uint32_t kArena = 0x00abc000;
    Words args;
    for (uint32_t i = 0; i < 192; ++i)
      args.insert(args.end(), {kArena, 1, 4 * i, i < 8 ? 0U : 0x4000U});
    m.run(d, v, "lw_device_address", args);
    for (size_t i = 0; i < 192; ++i) {
      const uint64_t offset = (i < 8 ? 0 : uint64_t{0x4000} << 32) + 4 * i;
      uint64_t wanted = (uint64_t{1} << 32 | kArena) + offset;
      if (i >= 64 && i < 72) wanted = 0x7fffffff0 + 4 * (i - 64);
      if (i == 128) wanted = 0x5000;
      CAPTURE(i);
      CHECK((m.result[2 * i] | uint64_t{m.result[2 * i + 1]} << 32) == wanted);
    }
  });
}

TEST_CASE("atomics under contention") {
  everywhere([](const Driver& d, Variant v) {
    constexpr uint32_t kCount = 256;
    // Shared memory lies in the backing buffer here, the same slot for every group. Each group has
    // its own lock for wide ones, as it has its own shared memory.
    const auto contend = [&](const char* name, uint64_t start, auto value, bool wide) {
      Machine m;
      m.backing[2] = static_cast<uint32_t>(start);
      if (wide) m.backing[3] = static_cast<uint32_t>(start >> 32);
      Words args;
      for (uint32_t i = 0; i < (wide ? 64 : kCount); ++i) {
        const uint64_t x = value(i);
        args.insert(args.end(), {8, static_cast<uint32_t>(x)});
        if (wide) args.push_back(static_cast<uint32_t>(x >> 32));
        args.insert(args.end(), {0, i % 64 != 63 ? 1U : 0U});
      }
      m.run(d, v, name, args);
      return m;
    };
    constexpr uint32_t kActive = kCount - kCount / 64;
    auto m = contend(
        "lw_atom_shared_add_u32", 5, [](uint32_t) { return 3U; }, false);
    CHECK(m.backing[2] == 5 + 3 * kActive);
    m = contend(
        "lw_atom_shared_inc_u32", 0, [](uint32_t) { return 9U; }, false);
    CHECK(m.backing[2] == kActive % 10);
    m = contend(
        "lw_atom_shared_dec_u32", 4, [](uint32_t) { return 9U; }, false);
    CHECK(m.backing[2] == (4 + 10 * kActive - kActive) % 10);
    m = contend(
        "lw_atom_shared_max_s32", 0x80000000, [](uint32_t i) { return i - 200U; }, false);
    CHECK(m.backing[2] == kCount - 2 - 200);
    m = contend(
        "lw_atom_shared_add_f32", 0, [](uint32_t) { return 0x3e800000U; }, false);
    CHECK(m.backing[2] == std::bit_cast<uint32_t>(0.25F * kActive));
    m = contend(
        "lw_atom_shared_add_f16x2", 0x3c000000, [](uint32_t) { return 0x3c003800U; }, false);
    CHECK(m.backing[2] == 0x5be857e0);  // 253 and 126 in halves
    m = contend(
        "lw_atom_shared_add_u64", 0xfffffffe, [](uint32_t) { return 0x100000001ULL; }, true);
    CHECK(at64(&m.backing[2]) == 0xfffffffeULL + 0x100000001ULL * 63);
    m = contend(
        "lw_atom_shared_add_f64", 0, [](uint32_t) { return std::bit_cast<uint64_t>(0.5); }, true);
    CHECK(at64(&m.backing[2]) == std::bit_cast<uint64_t>(0.5 * 63));
  });
}

TEST_CASE("compare and swap under contention") {
  everywhere([](const Driver& d, Variant v) {
    Machine m;
    m.backing[4] = 77, m.backing[6] = 1, m.backing[7] = 2;
    Words cas, cas64;
    for (uint32_t i = 0; i < 64; ++i) {
      cas.insert(cas.end(), {16, 77, 1000 + i, 0, 1});
      cas64.insert(cas64.end(), {24, 1, 2, 5, i, 0, 1});
    }
    m.run(d, v, "lw_atom_shared_cas_u32", cas);
    CHECK(std::count(m.result.begin(), m.result.end(), 77U) == 1);
    CHECK(m.backing[4] >= 1000);
    m.run(d, v, "lw_atom_shared_cas_u64", cas64);
    CHECK(m.backing[6] == 5);
    uint32_t winners = 0;
    for (size_t i = 0; i < 64; ++i) winners += m.result[2 * i] == 1 && m.result[2 * i + 1] == 2;
    CHECK(winners == 1);
  });
}

TEST_CASE("masked and wrapping atomics under contention") {
  everywhere([](const Driver& d, Variant v) {
    Machine m;
    m.backing[4] = 0xffffffff, m.backing[6] = 0xffffffff, m.backing[7] = 0xffffffff;
    m.backing[8] = 5, m.backing[10] = 5, m.backing[11] = 1;
    Words masks, masks64, wraps, wraps64;
    for (uint32_t i = 0; i < 64; ++i) {
      // Each lane clears a bit of its own; every third one sets it again.
      const uint32_t bit = 1U << i % 32, again = i % 3 == 0 ? bit : 0;
      const bool low = i < 32;
      masks.insert(masks.end(), {16, bit, again, 0, low ? 1U : 0U});
      masks64.insert(masks64.end(), {24, low ? bit : 0, low ? 0 : bit, low ? again : 0,
                                     low ? 0 : again, 0, i != 1 ? 1U : 0U});
      // Down by 3 modulo 10, and by 3 * 2^32 + 1 modulo 2^35 + 2.
      wraps.insert(wraps.end(), {32, 3, 7, 0, 1});
      wraps64.insert(wraps64.end(), {40, 1, 3, 1, 5, 0, 1});
    }
    const auto every_third = [](uint32_t first) {
      uint32_t bits = 0;
      for (uint32_t i = 0; i < 32; ++i) bits |= (i + first) % 3 == 0 ? 1U << i : 0;
      return bits;
    };
    m.run(d, v, "lw_atom_shared_mskor_u32", masks);
    CHECK(m.backing[4] == every_third(0));
    m.run(d, v, "lw_atom_shared_mskor_u64", masks64);
    CHECK(m.backing[6] == (every_third(0) | 2));
    CHECK(m.backing[7] == every_third(32));
    m.run(d, v, "lw_atom_shared_wrap_u32", wraps);
    CHECK(m.backing[8] == (5 + 64 * 7) % 10);
    m.run(d, v, "lw_atom_shared_wrap_u64", wraps64);
    uint64_t value = uint64_t{1} << 32 | 5;
    const uint64_t off = uint64_t{3} << 32 | 1, on = uint64_t{5} << 32 | 1;
    for (uint32_t i = 0; i < 64; ++i) value = value < off ? value + on : value - off;
    CHECK(at64(&m.backing[10]) == value);
  });
}

TEST_CASE("fault records, the rest of a budget, and the wish to stop") {
  everywhere([](const Driver& d, Variant v) {
    Machine m;
    Words reports;
    for (uint32_t i = 0; i < 64; ++i) reports.insert(reports.end(), {i + 1, 2 * i, 3, 4, 5, 6, i});
    m.run(d, v, "lw_report", reports);
    // Lane i comes by i / 8 + 1 times: 64 records are kept, all are counted.
    CHECK(m.faults[0] == 8 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8));
    CHECK(m.faults[1] == 0);
    for (uint32_t i = 0; i < 64; ++i) {
      const uint32_t* r = &m.faults[64 + 8 * i];
      CHECK(r[0] == r[4] + 1);
      CHECK(r[5] == 2 * r[4]);
      CHECK((r[1] == 4 && r[2] == 5 && r[3] == 6 && r[6] == 3));
    }
    m.faults[1] = 1;
    m.run(d, v, "lw_aborted", {});
    CHECK(std::count(m.result.begin(), m.result.end(), 1U) == 64);

    Machine steps;
    steps.run(d, v, "lw_refill", Words(64, 5));
    CHECK(std::count(steps.result.begin(), steps.result.end(), 5U) == 64);
    steps.run(d, v, "lw_refill", Words(64, 5000));
    CHECK(std::count(steps.result.begin(), steps.result.end(), 4096U) == 64);
    steps.faults[1] = 1;
    steps.run(d, v, "lw_refill", Words(64, 5000));
    CHECK(std::count(steps.result.begin(), steps.result.end(), 0U) == 64);
  });
}

TEST_CASE("a fence in a divergent loop loses no lane") {
  everywhere(
      [](const Driver& d, Variant v) {
        Machine m;
        m.sizes[library::fence_by_atomic] = 1;
        m.run(d, v, "lw_fence", Words(64, 3));
        CHECK(std::count(m.result.begin(), m.result.end(), 1U) == 64);
      },
      Which::all);  // the lavapipes differ in this
}

TEST_CASE("GCN buffer addresses: literal witnesses") {
  constexpr uint32_t kIdxen = 4, kOffen = 8, kAddr64 = 16;
  constexpr uint32_t kPayload4 = 4U << 25;
  struct Witness {
    uint32_t d[4], index, offset, soffset, flags;
    uint64_t address;
    uint32_t ok;
  };
  const Witness rows[] = {
      // raw bytes: base + offset + instruction offset 8; limit 64
      {{0x10000000, 0, 64, 0xf000}, 0, 16, 0, kOffen | 8U << 6 | kPayload4, 0x10000018, 1},
      {{0x10000000, 0, 64, 0xf000}, 0, 53, 0, kOffen | 8U << 6 | kPayload4, 0x1000003d, 0},
      {{0x10000000, 0, 64, 0xf000}, 0, 0, 65, kOffen | kPayload4, 0x10000041, 0},
      // 16-byte records: index 3, SI counts records, VI bytes
      {{0x10000000, 16U << 16, 4, 0xf000}, 3, 0, 0, kIdxen | kPayload4, 0x10000030, 1},
      {{0x10000000, 16U << 16, 4, 0xf000}, 4, 0, 0, kIdxen | kPayload4, 0x10000040, 0},
      {{0x10000000, 16U << 16, 4, 0xf000}, 3, 0, 0, 2 | kIdxen | kPayload4, 0x10000030, 0},
      // swizzle: index stride 16, element size 8, record 32; index 35, offset 20
      {{0x10000000, 0x80000000 | 32U << 16, 100, 1U << 21 | 2U << 19},
       35,
       20,
       0,
       kIdxen | kOffen | kPayload4,
       0x10000000 + 1308,
       1},
      // 64-bit vector address: no range check; a descriptor of another type is unbound
      {{0x10000000, 1, 0, 0xf000}, 0x20, 2, 4, kAddr64 | 4U << 6 | kPayload4, 0x310000028, 1},
      {{0x10000000, 0, 64, 0x4000f000}, 0, 0, 0, kPayload4, 0x10000000, 0},
  };
  everywhere([&](const Driver& d, Variant v) {
    Words args;
    for (const Witness& w : rows) {
      args.insert(args.end(), std::begin(w.d), std::end(w.d));
      args.insert(args.end(), {w.index, w.offset, w.soffset, w.flags});
    }
    args.resize(size_t{64} * 8, 0);
    Machine m;
    m.run(d, v, "lw_buffer_address", args);
    for (size_t i = 0; i < std::size(rows); ++i) {
      CAPTURE(i);
      CHECK(at64(&m.result[3 * i]) == rows[i].address);
      CHECK(m.result[3 * i + 2] == rows[i].ok);
    }
  });
}
