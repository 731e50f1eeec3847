// Memory functions of the shader library on devices: values, checks, faults, atomics under
// contention.
#include <cstring>
#include <map>
#include <random>

#include "tests/support/library_check.hpp"

using namespace lanewise::test;
namespace library = lanewise::spirv::library;

namespace {

constexpr uint32_t kArenaWords = 1024, kArenaBase = 0x10000000;
constexpr uint32_t kOutOfRange = 1, kMisaligned = 2, kNull = 3, kStepBudget = 6, kReadOnly = 9;
constexpr uint32_t kForce = 1, kAny = 2, kStrong = 4;

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
    const Signature* s = library::find(name);
    CAPTURE(name);
    REQUIRE(s != nullptr);
    const size_t rows = argument_words(*s) == 0 ? 64 : arguments.size() / argument_words(*s);
    REQUIRE(rows % 64 == 0);
    // As the translator does: llvmpipe's memory barriers lose lanes in divergent loops.
    const bool llvmpipe = d.compute->facts().name.find("llvmpipe") != std::string::npos;
    sizes[library::fence_by_atomic] = llvmpipe ? 1 : 0;
    result.assign(rows * std::max(words_of(s->result), 1U), 0);
    if (arguments.empty()) arguments.push_back(0);
    Compute::Job job;
    job.spirv = library::freeze(library::link(caller_of(name, variant, true), variant), sizes);
    job.buffers = {&arena, &launch, &faults, &backing, &allocations, &arguments, &result};
    job.groups = static_cast<uint32_t>(rows / 64);
    job.pass_address = variant != Variant::t0;
    REQUIRE(d.compute->run(job) == "");
  }
  uint8_t byte(uint32_t offset) const { return arena[offset / 4] >> (8 * (offset % 4)) & 255; }
};

using Body = std::function<void(const Driver&, Variant)>;
void everywhere(const Body& body) {
  for (const Driver& d : drivers())
    for (const Variant v : d.variants) {
      const std::string device = d.compute->facts().name, variant = library::name(v);
      CAPTURE(device);
      CAPTURE(variant);
      body(d, v);
    }
}

uint32_t flags_of(uint32_t rule, uint32_t alignment) {
  return rule | alignment << 8;
}

/// The documented order: null, range, alignment. 0 = allowed.
uint32_t expected_fault(uint64_t address, uint32_t bytes, uint32_t rule, uint32_t alignment) {
  if (address < 0x10000) return kNull;
  if (address < kArenaBase || address + bytes > kArenaBase + kArenaWords * 4 ||
      address + bytes < address)
    return kOutOfRange;
  return rule == 0 && address % alignment != 0 ? kMisaligned : 0;
}

const std::vector<uint64_t>& addresses() {
  static const std::vector<uint64_t> all = [] {
    std::vector<uint64_t> a = {0,
                               1,
                               0xffff,
                               0x10000,
                               0x1000000,
                               0x2000010,
                               0xffffffc,
                               0xfffffff,
                               0x10000000,
                               0x10000001,
                               0x10000002,
                               0x10000003,
                               0x10000ff0,
                               0x10000ff8,
                               0x10000ffc,
                               0x10000ffe,
                               0x10000fff,
                               0x10001000,
                               0x110000000,
                               0xffffffffffffffff,
                               0xfffffffffffffff0,
                               0x8000000010000000};
    std::mt19937 rng(5);
    while (a.size() < 256) a.push_back(kArenaBase + rng() % (kArenaWords * 4));
    return a;
  }();
  return all;
}

struct Rule {
  uint32_t rule, alignment;
};

void check_loads(const Driver& d, Variant v, const std::string& space, uint32_t bytes, Rule r,
                 uint32_t more) {
  Machine m;
  Words args;
  for (const uint64_t a : addresses())
    args.insert(args.end(),
                {uint32_t(a), uint32_t(a >> 32), 7, flags_of(r.rule, r.alignment) | more, 1});
  m.run(d, v, "lw_load_" + space + "_" + std::to_string(8 * bytes), args);
  const uint32_t words = std::max(bytes / 4, 1U);
  uint32_t faults = 0, wrong = 0;
  for (size_t i = 0; i < addresses().size(); ++i) {
    uint64_t a = addresses()[i];
    if (space == "generic" && (a >> 24 == 1 || a >> 24 == 2)) continue;
    if (r.rule == kForce) a &= ~uint64_t{r.alignment - 1};
    const uint32_t fault = expected_fault(a, bytes, r.rule, r.alignment);
    faults += fault != 0;
    for (uint32_t k = 0; k < words; ++k) {
      uint32_t want = 0;
      for (uint32_t b = 0; fault == 0 && b < std::min(bytes, 4U); ++b)
        want |= uint32_t{m.byte(static_cast<uint32_t>(a - kArenaBase) + 4 * k + b)} << (8 * b);
      wrong += m.result[i * words + k] != want;
    }
  }
  CHECK(wrong == 0);
  if (space == "global") {
    CHECK(m.faults[0] == faults);
    CHECK(m.faults[65] == 7);
    const uint64_t address = m.faults[70] | uint64_t{m.faults[71]} << 32;
    CHECK((m.faults[64] & 0xff) == expected_fault(address, bytes, r.rule, r.alignment));
    CHECK((m.faults[64] >> 24) == bytes);
  }
}

}  // namespace

TEST_CASE("loads: values, range, alignment, windows") {
  everywhere([](const Driver& d, Variant v) {
    for (const uint32_t bytes : {1U, 2U, 4U, 8U, 16U}) {
      CAPTURE(bytes);
      check_loads(d, v, "global", bytes, {0, bytes}, 0);
      check_loads(d, v, "global", bytes, {kAny, bytes}, 0);
    }
    check_loads(d, v, "global", 4, {kForce, 4}, 0);
    check_loads(d, v, "global", 16, {0, 4}, 0);
    check_loads(d, v, "global", 8, {0, 8}, kStrong);
    check_loads(d, v, "global", 2, {0, 2}, kStrong);
    check_loads(d, v, "generic", 4, {0, 4}, 0);
  });
}

TEST_CASE("stores change their bytes and nothing else") {
  everywhere([](const Driver& d, Variant v) {
    for (const uint32_t bytes : {1U, 2U, 4U, 8U, 16U}) {
      CAPTURE(bytes);
      const bool straddling = bytes > 1;
      Machine m;
      const Machine before;
      const uint32_t words = std::max(bytes / 4, 1U);
      std::vector<uint8_t> want(kArenaWords * 4);
      for (uint32_t i = 0; i < want.size(); ++i) want[i] = before.byte(i);
      Words args;
      std::mt19937 rng(6);
      for (uint32_t i = 0; i < 192; ++i) {
        // Disjoint places, each next to the other's bytes; every third one is not enabled or
        // outside.
        const uint32_t offset = i * (bytes + 1 + bytes % 2) + (straddling ? i % 2 : 0);
        const bool enabled = i % 3 != 0, outside = i % 16 == 5;
        const uint32_t address =
            outside ? kArenaBase + kArenaWords * 4 - bytes + 1 : kArenaBase + offset;
        args.insert(args.end(), {address, 0});
        for (uint32_t k = 0; k < words; ++k) {
          const uint32_t value = rng();
          args.push_back(value);
          for (uint32_t b = 0; enabled && !outside && b < std::min(bytes, 4U); ++b)
            want[offset + 4 * k + b] = value >> (8 * b) & 255;
        }
        args.insert(args.end(), {i, flags_of(kAny, bytes), enabled ? 1U : 0U});
      }
      m.run(d, v, "lw_store_global_" + std::to_string(8 * bytes), args);
      uint32_t wrong = 0;
      for (uint32_t i = 0; i < want.size(); ++i) wrong += m.byte(i) != want[i];
      CHECK(wrong == 0);
      CHECK(m.faults[0] == 8);  // i = 5 mod 16 and enabled
    }
  });
}

TEST_CASE("small spaces: backing, parameters, local memory") {
  everywhere([](const Driver& d, Variant v) {
    Machine m;
    Words args, generic, params, locals;
    for (uint32_t i = 0; i < 64; ++i) {
      args.insert(args.end(), {i * 4, 3, flags_of(0, 4), 1});
      generic.insert(generic.end(), {0x01000000 + i * 4, 0, 3, flags_of(0, 4), 1});
      params.insert(params.end(), {i * 4, 3, flags_of(0, 4), 1});
      locals.insert(locals.end(), {i, i, 3, flags_of(0, 1), 1});
    }
    m.run(d, v, "lw_load_shared_32", args);  // 192 bytes of shared memory: 48 words, 16 faults
    for (uint32_t i = 0; i < 64; ++i) CHECK(m.result[i] == (i < 48 ? m.backing[i] : 0));
    CHECK(m.faults[0] == 16);
    m = Machine();
    m.run(d, v, "lw_load_generic_32", generic);
    for (uint32_t i = 0; i < 64; ++i) CHECK(m.result[i] == (i < 48 ? m.backing[i] : 0));
    CHECK(m.faults[70] >= 0x010000c0);
    m = Machine();
    m.run(d, v, "lw_load_param_32", params);  // 32 words of parameters
    for (uint32_t i = 0; i < 64; ++i) CHECK(m.result[i] == (i < 32 ? m.launch[64 + i] : 0));
    CHECK(m.faults[0] == 32);
    m = Machine();
    m.run(d, v, "lw_store_param_32", [&] {
      Words w;
      for (uint32_t i = 0; i < 64; ++i)
        w.insert(w.end(), {0, 1, 3, flags_of(0, 4), i == 9 ? 1U : 0U});
      return w;
    }());
    CHECK(m.faults[0] == 1);
    CHECK((m.faults[64] & 0xff) == kReadOnly);
    CHECK(m.faults[69] == 9);  // the lane
    m = Machine();
    m.run(d, v, "lw_store_local_8", locals);  // 32 bytes of local memory
    CHECK(m.faults[0] == 32);
  });
}

TEST_CASE("allocations: gaps and read-only memory") {
  everywhere([](const Driver& d, Variant v) {
    Machine m;
    m.sizes[library::memcheck] = 1;
    const uint32_t ends[3][2] = {
        {0x10000000, 0x10000020}, {0x10000100, 0x10000140}, {0x10000200, 0x10000208}};
    m.allocations[0] = 3;
    for (uint32_t i = 0; i < 3; ++i) {
      m.allocations[4 + 4 * i] = ends[i][0];
      m.allocations[6 + 4 * i] = ends[i][1];
    }
    m.allocations[4 + 4 + 3] = 0x80000000;  // the second one is read only
    // 64 stores, 12 bytes apart: every fault has a record.
    Words args;
    for (uint32_t i = 0; i < 192; i += 3)
      args.insert(args.end(), {kArenaBase + 4 * i, 0, 0xabcd, i, flags_of(0, 4), 1});
    const Words before = m.arena;
    m.run(d, v, "lw_store_global_32", args);
    uint32_t stored = 0, read_only = 0;
    for (uint32_t i = 0; i < 192; ++i) {
      const bool inside = i % 3 == 0 && (i < 8 || i == 129);
      CHECK(m.arena[i] == (inside ? 0xabcd : before[i]));
      stored += m.arena[i] == 0xabcd;
    }
    CHECK(stored == 4);
    CHECK(m.faults[0] == 60);
    for (uint32_t i = 0; i < 60; ++i) {
      const uint32_t site = m.faults[65 + 8 * i];
      const bool protects = site >= 64 && site < 80;
      CHECK((m.faults[64 + 8 * i] & 0xff) == (protects ? kReadOnly : kOutOfRange));
      read_only += protects;
    }
    CHECK(read_only == 5);
  });
}

TEST_CASE("atomics under contention") {
  everywhere([](const Driver& d, Variant v) {
    constexpr uint32_t kCount = 256;
    const auto contend = [&](const char* name, uint64_t start, auto value, bool wide) {
      Machine m;
      m.arena[2] = static_cast<uint32_t>(start);
      if (wide) m.arena[3] = static_cast<uint32_t>(start >> 32);
      Words args;
      for (uint32_t i = 0; i < kCount; ++i) {
        const uint64_t x = value(i);
        args.insert(args.end(), {kArenaBase + 8, 0, static_cast<uint32_t>(x)});
        if (wide) args.push_back(static_cast<uint32_t>(x >> 32));
        args.insert(args.end(), {i, flags_of(0, wide ? 8 : 4), 1});
      }
      m.run(d, v, name, args);
      CHECK(m.faults[0] == 0);
      CHECK(m.faults[2] == 0);  // the lock is free again
      return m;
    };
    auto m = contend(
        "lw_atom_global_add_u32", 5, [](uint32_t) { return 3U; }, false);
    CHECK(m.arena[2] == 5 + 3 * kCount);
    std::sort(m.result.begin(), m.result.end());
    for (uint32_t i = 0; i < kCount; ++i) CHECK(m.result[i] == 5 + 3 * i);
    m = contend(
        "lw_atom_global_inc_u32", 0, [](uint32_t) { return 9U; }, false);
    CHECK(m.arena[2] == kCount % 10);
    m = contend(
        "lw_atom_global_dec_u32", 4, [](uint32_t) { return 9U; }, false);
    CHECK(m.arena[2] == (4 + 10 * kCount - kCount) % 10);
    m = contend(
        "lw_atom_global_max_s32", 0x80000000, [](uint32_t i) { return i - 200U; }, false);
    CHECK(m.arena[2] == kCount - 1 - 200);
    m = contend(
        "lw_atom_global_add_f32", 0, [](uint32_t) { return 0x3e800000U; }, false);
    CHECK(m.arena[2] == std::bit_cast<uint32_t>(0.25F * kCount));
    m = contend(
        "lw_atom_global_add_f16x2", 0x3c000000, [](uint32_t) { return 0x3c003800U; }, false);
    CHECK(m.arena[2] == 0x5c045800);  // 257 and 128 in halves
    m = contend(
        "lw_atom_generic_add_u64", 0xfffffffe, [](uint32_t) { return 0x100000001ULL; }, true);
    CHECK(at64(&m.arena[2]) == 0xfffffffeULL + 0x100000001ULL * kCount);
    m = contend(
        "lw_atom_global_min_s64", 7, [](uint32_t i) { return uint64_t(100 - int64_t(i)); }, true);
    CHECK(at64(&m.arena[2]) == uint64_t(100 - int64_t(kCount - 1)));
    m = contend(
        "lw_atom_global_add_f64", 0, [](uint32_t) { return std::bit_cast<uint64_t>(0.5); }, true);
    CHECK(at64(&m.arena[2]) == std::bit_cast<uint64_t>(0.5 * kCount));
    m = contend(
        "lw_atom_global_exch_u64", 1, [](uint32_t i) { return uint64_t{i} << 32 | ~i; }, true);
    uint64_t sum = at64(&m.arena[2]), want = 1;
    for (uint32_t i = 0; i < kCount; ++i)
      sum += at64(&m.result[2 * i]), want += uint64_t{i} << 32 | ~i;
    CHECK(sum == want);  // every value was seen once
  });
}

TEST_CASE("compare and swap, narrow atomics, atomics on shared memory") {
  everywhere([](const Driver& d, Variant v) {
    Machine m;
    m.arena[4] = 77, m.arena[6] = 1, m.arena[7] = 2;
    Words cas, cas64, halves, shared;
    for (uint32_t i = 0; i < 64; ++i) {
      cas.insert(cas.end(), {kArenaBase + 16, 0, 77, 1000 + i, i, flags_of(0, 4), 1});
      cas64.insert(cas64.end(), {kArenaBase + 24, 0, 1, 2, 5, i, i, flags_of(0, 8), 1});
      halves.insert(halves.end(), {kArenaBase + 34, 0, 0x3c00, i, flags_of(0, 2), 1});
      shared.insert(shared.end(), {8, 3, 0, i, flags_of(0, 8), 1});
    }
    m.run(d, v, "lw_atom_global_cas_u32", cas);
    CHECK(std::count(m.result.begin(), m.result.end(), 77U) == 1);
    CHECK(m.arena[4] >= 1000);
    m.run(d, v, "lw_atom_global_cas_u64", cas64);
    CHECK(m.arena[6] == 5);
    uint32_t winners = 0;
    for (uint32_t i = 0; i < 64; ++i) winners += m.result[2 * i] == 1 && m.result[2 * i + 1] == 2;
    CHECK(winners == 1);
    m.arena[8] = 0x0000beef;
    m.run(d, v, "lw_atom_global_add_f16", halves);
    CHECK(m.arena[8] == 0x5400beef);  // 64.0 above, the neighbour untouched
    m.backing[2] = 1, m.backing[3] = 0;
    m.run(d, v, "lw_atom_shared_add_u64", shared);
    CHECK(m.backing[2] == 1 + 3 * 64);
    CHECK(m.faults[0] == 0);
  });
}

TEST_CASE("step budget and abort") {
  everywhere([](const Driver& d, Variant v) {
    const Words sites(64, 5);
    Machine m;
    m.run(d, v, "lw_step", sites);
    CHECK(std::count(m.result.begin(), m.result.end(), 1U) == 64);
    m.launch[10] = 0;
    m.run(d, v, "lw_step", sites);
    CHECK(std::count(m.result.begin(), m.result.end(), 0U) == 64);
    CHECK((m.faults[64] & 0xff) == kStepBudget);
    CHECK(m.faults[65] == 5);
    m.launch[11] = 1;  // 2^32 steps
    m.run(d, v, "lw_step", sites);
    CHECK(std::count(m.result.begin(), m.result.end(), 1U) == 64);
    m.faults[1] = 1;
    m.run(d, v, "lw_aborted", {});
    CHECK(std::count(m.result.begin(), m.result.end(), 1U) == 64);
  });
}

TEST_CASE("a fence in a divergent loop loses no lane") {
  everywhere([](const Driver& d, Variant v) {
    Machine m;
    m.sizes[library::fence_by_atomic] = 1;
    m.run(d, v, "lw_fence", Words(64, 3));
    CHECK(std::count(m.result.begin(), m.result.end(), 1U) == 64);
  });
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
    args.resize(64 * 8, 0);
    Machine m;
    m.run(d, v, "lw_buffer_address", args);
    for (size_t i = 0; i < std::size(rows); ++i) {
      CAPTURE(i);
      CHECK(at64(&m.result[3 * i]) == rows[i].address);
      CHECK(m.result[3 * i + 2] == rows[i].ok);
    }
  });
}
