// Buffer instructions as streams on the reference engine, against the literal oracle.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "runtime/isa/gcn/gcn.hpp"
#include "tests/oracle/gcn_buffer.hpp"
#include "tests/oracle/gcn_format.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using test::Bench;
namespace spec = lanewise::oracle::gcn;

namespace {

constexpr gcn::Gen kGens[] = {gcn::Gen::gfx6, gcn::Gen::gfx7, gcn::Gen::gfx8};

struct Compiled {
  ir::Module module;
  size_t warnings = 0;
};
Compiled compile(const std::string& text, gcn::Gen gen) {
  const gcn::Listing listing = gcn::parse(text, gen);
  for (const Diagnostic& d : listing.diagnostics)
    if (!d.warning) FAIL_CHECK(d.line << ": " << d.message);
  gcn::LowerResult r = gcn::lower(listing);
  Compiled out;
  for (const Diagnostic& d : r.diagnostics) {
    if (!d.warning) FAIL_CHECK(d.line << ": " << d.message);
    out.warnings += d.warning;
  }
  out.module = std::move(r.module);
  REQUIRE(!out.module.kernels.empty());
  for (const std::string& defect : ir::verify(out.module.kernels[0])) FAIL_CHECK(defect);
  return out;
}

/// What a body may use: s[8:11] the descriptor, s12 a scalar offset, v4 index, v5 offset (both of
/// this lane), v[6:9] data of this lane. v[12:16] are stored afterwards.
std::string stream(const std::string& body, gcn::Gen gen) {
  const auto at = [&](unsigned bytes) { return gen == gcn::Gen::gfx8 ? bytes : bytes / 4; };
  return fmt::format(
      "s_load_dwordx4 s[8:11], s[0:1], {}\ns_load_dwordx4 s[12:15], s[0:1], {}\n"
      "s_mov_b32 m0, 0x40\ns_waitcnt lgkmcnt(0)\n"
      "s_mov_b32 s20, s13\ns_mov_b32 s21, 0\ns_mov_b32 s22, -1\ns_mov_b32 s23, 0xf000\n"
      "v_lshlrev_b32 v1, 6, v0\n"
      "buffer_load_dwordx2 v[4:5], v1, s[20:23], 0 offen\n"
      "buffer_load_dwordx4 v[6:9], v1, s[20:23], 0 offen offset:8\n"
      "v_mov_b32 v12, -1\nv_mov_b32 v13, -1\nv_mov_b32 v14, -1\nv_mov_b32 v15, -1\n"
      "v_mov_b32 v16, -1\ns_waitcnt vmcnt(0)\n{}s_waitcnt vmcnt(0) lgkmcnt(0)\n"
      "buffer_store_dwordx4 v[12:15], v1, s[20:23], 0 offen offset:24\n"
      "buffer_store_dword v16, v1, s[20:23], 0 offen offset:40\ns_endpgm\n",
      at(0), at(16), body);
}

struct Lane {
  uint32_t index = 0, offset = 0;
  std::array<uint32_t, 4> data{};
  std::array<uint32_t, 5> result{};  ///< after the run
};
struct Run {
  std::vector<uint8_t> memory;  ///< the buffer behind the descriptor, and some bytes around it
  std::vector<Lane> lanes;
  uint64_t faults = 0;
  size_t warnings = 0;
};
constexpr uint32_t kPad = 64;

/// `words` with the base filled in: the buffer starts kPad bytes into `memory`.
Run run(const std::string& body, gcn::Gen gen, spec::Words words, uint32_t soffset,
        std::vector<uint8_t> memory, std::vector<Lane> lanes, uint64_t* base_out = nullptr) {
  Compiled compiled = compile(stream(body, gen), gen);
  ir::Program& kernel = compiled.module.kernels[0];
  kernel.shared_bytes = 1024;
  Bench bench;
  const uint64_t base = bench.put(memory) + kPad;
  if (base_out != nullptr) *base_out = base;
  std::vector<uint32_t> table(lanes.size() * 16);
  for (size_t n = 0; n < lanes.size(); ++n) {
    const Lane& l = lanes[n];
    const uint32_t row[] = {l.index, l.offset, l.data[0], l.data[1], l.data[2], l.data[3]};
    std::copy(std::begin(row), std::end(row), table.begin() + static_cast<ptrdiff_t>(16 * n));
  }
  const uint64_t lane_table = bench.put(table);
  words[0] = static_cast<uint32_t>(base);
  for (uint32_t w : words) bench.arg(w);
  bench.arg(soffset).arg(static_cast<uint32_t>(lane_table)).arg(0U).arg(0U);
  Run out;
  out.warnings = compiled.warnings;
  out.faults = bench.run(kernel, 1, static_cast<uint32_t>(lanes.size())).fault_count;
  out.memory = bench.get<uint8_t>(base - kPad, memory.size());
  table = bench.get<uint32_t>(lane_table, table.size());
  for (size_t n = 0; n < lanes.size(); ++n)
    for (size_t k = 0; k < 5; ++k) lanes[n].result[k] = table[16 * n + 6 + k];
  out.lanes = std::move(lanes);
  return out;
}

std::vector<uint8_t> noise(size_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> v(bytes);
  for (uint8_t& b : v) b = static_cast<uint8_t>(random());
  return v;
}
spec::Texel texel_at(const std::vector<uint8_t>& memory, uint64_t at, unsigned bytes) {
  spec::Texel t{};
  for (unsigned b = 0; b < bytes; ++b) t[b / 4] |= uint32_t{memory[at + b]} << (8 * (b % 4));
  return t;
}

constexpr uint32_t kIdentity = 4 | 5 << 3 | 6 << 6 | 7 << 9;
spec::Instruction typed(gcn::Gen gen) {
  spec::Instruction i;
  i.gen = static_cast<spec::Generation>(gen);
  i.idxen = true;
  i.format = true;
  return i;
}
constexpr const char* kParts[] = {"x", "xy", "xyz", "xyzw"};
std::string vdata(unsigned first, unsigned count) {
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}

struct FormatCase {
  gcn::Gen gen;
  unsigned dfmt, nfmt, count;
  bool mtbuf, d16;
  uint32_t select;
};
std::string format_text(const FormatCase& f, bool store) {
  const std::string name =
      fmt::format("{}buffer_{}_format_{}{}", f.mtbuf ? "t" : "", store ? "store" : "load",
                  f.d16 ? "d16_" : "", kParts[f.count - 1]);
  return fmt::format("{} {}, v4, s[8:11], {}s12 idxen\n", name, vdata(store ? 6 : 12, f.count),
                     f.mtbuf ? fmt::format("dfmt:{}, nfmt:{}, ", f.dfmt, f.nfmt) : "");
}
std::array<unsigned, 4> selection(const FormatCase& f) {
  if (f.mtbuf) return {4, 5, 6, 7};
  return {f.select & 7, f.select >> 3 & 7, f.select >> 6 & 7, f.select >> 9 & 7};
}

/// One stream: 64 lanes load 64 records, the last of them beyond the end.
void check_load(const FormatCase& f, uint32_t seed) {
  constexpr uint32_t kStride = 16, kRecords = 60;
  const bool vi = f.gen == gcn::Gen::gfx8;
  const spec::Words words = {0, kStride << 16, vi ? kRecords * kStride : kRecords,
                             f.dfmt << 15 | f.nfmt << 12 | f.select};
  std::vector<Lane> lanes(64);
  for (uint32_t n = 0; n < 64; ++n) lanes[n].index = n;
  const auto memory = noise(2 * kPad + 64 * kStride, seed);
  const Run r = run(format_text(f, false), f.gen, words, 0, memory, lanes);
  const spec::Descriptor d = spec::decode(words);
  const spec::Layout l = spec::layout(f.dfmt);
  const bool legal = spec::legal(f.dfmt, f.nfmt, false, vi);
  spec::Rules rules;
  rules.d16 = f.d16;
  uint64_t inside = 0;
  for (uint32_t n = 0; n < 64; ++n) {
    const spec::Place p = spec::place(typed(f.gen), d, {{n, 0}, 0, n}, 0, l.bytes);
    inside += p.in_range;
    const auto raw = p.in_range ? texel_at(memory, kPad + p.address, l.bytes) : spec::Texel{};
    const auto want = spec::load(raw, f.dfmt, f.nfmt, selection(f), p.in_range, rules);
    for (unsigned k = 0; k < 5; ++k)
      REQUIRE_MESSAGE(r.lanes[n].result[k] == (k < f.count ? want[k] : 0xffffffff),
                      format_text(f, false), "dfmt ", f.dfmt, " nfmt ", f.nfmt, " lane ", n);
  }
  CHECK(r.faults == (legal || f.mtbuf ? 0 : inside));
  CHECK(r.warnings == (legal || !f.mtbuf ? 0 : 1));
}

void check_store(const FormatCase& f, uint32_t seed) {
  constexpr uint32_t kStride = 16, kRecords = 60;
  const bool vi = f.gen == gcn::Gen::gfx8;
  const spec::Words words = {0, kStride << 16, vi ? kRecords * kStride : kRecords,
                             f.dfmt << 15 | f.nfmt << 12 | f.select};
  std::mt19937 random(seed);
  std::vector<Lane> lanes(64);
  for (uint32_t n = 0; n < 64; ++n) {
    lanes[n].index = n;
    for (uint32_t& x : lanes[n].data)
      x = n % 2 != 0 ? static_cast<uint32_t>(random())
                     : std::bit_cast<uint32_t>(static_cast<float>(random() % 4000) / 2000 - 1);
  }
  auto memory = noise(2 * kPad + 64 * kStride, seed);
  const Run r = run(format_text(f, true), f.gen, words, 0, memory, lanes);
  const spec::Descriptor d = spec::decode(words);
  const spec::Layout l = spec::layout(f.dfmt);
  spec::Rules rules;
  rules.d16 = f.d16;
  for (uint32_t n = 0; n < 64; ++n) {
    const spec::Place p = spec::place(typed(f.gen), d, {{n, 0}, 0, n}, 0, l.bytes);
    if (!p.in_range) continue;
    const auto raw = spec::store(lanes[n].data, f.count, f.dfmt, f.nfmt, selection(f), rules);
    for (unsigned b = 0; b < l.bytes; ++b)
      memory[kPad + p.address + b] = static_cast<uint8_t>(raw[b / 4] >> (8 * (b % 4)));
  }
  REQUIRE_MESSAGE(r.memory == memory, format_text(f, true), "dfmt ", f.dfmt, " nfmt ", f.nfmt);
}

}  // namespace

TEST_CASE("formats x number formats x MUBUF and MTBUF x loads and stores") {
  uint32_t seed = 1;
  for (const gcn::Gen gen : kGens)
    for (unsigned dfmt = 0; dfmt < 16; ++dfmt)
      for (unsigned nfmt = 0; nfmt < 8; ++nfmt)
        for (const bool mtbuf : {false, true}) {
          FormatCase f{gen,          dfmt,  nfmt,
                       1 + seed % 4, mtbuf, gen == gcn::Gen::gfx8 && seed % 3 == 0,
                       kIdentity};
          if (seed % 5 == 0) f.select = (seed * 2654435761U) >> 20;
          check_load(f, seed);
          check_store(f, seed);
          ++seed;
        }
}

TEST_CASE("the path with constant formats and the one with the descriptor's agree") {
  for (const unsigned dfmt : {1U, 5U, 6U, 9U, 12U, 14U}) {
    const spec::Words words = {0, 16 << 16, 64, dfmt << 15 | 7 << 12 | kIdentity};
    std::vector<Lane> lanes(64);
    for (uint32_t n = 0; n < 64; ++n) lanes[n].index = n;
    const auto memory = noise(2 * kPad + 1024, dfmt);
    const FormatCase f{gcn::Gen::gfx6, dfmt, 7, 4, true, false, kIdentity};
    FormatCase g = f;
    g.mtbuf = false;
    const Run a = run(format_text(f, false), f.gen, words, 0, memory, lanes);
    const Run b = run(format_text(g, false), f.gen, words, 0, memory, lanes);
    for (size_t n = 0; n < 64; ++n) CHECK(a.lanes[n].result == b.lanes[n].result);
  }
}

TEST_CASE("addressing flags x strides x swizzles x edges, untyped") {
  std::mt19937 random(3);
  const auto pick = [&](std::initializer_list<uint32_t> list) {
    return list.begin()[random() % list.size()];
  };
  for (int n = 0; n < 400; ++n) {
    spec::Instruction i;
    const gcn::Gen gen = kGens[random() % 3];
    i.gen = static_cast<spec::Generation>(gen);
    i.idxen = random() % 2 != 0;
    i.offen = random() % 2 != 0;
    i.inst_offset = pick({0, 4, 8, 2, 60});
    const unsigned count = pick({1, 2, 3, 4});
    const bool swizzle = random() % 2 != 0, tid = random() % 3 == 0;
    const spec::Words words = {
        0, pick({0, 4, 8, 16, 20}) << 16 | uint32_t{swizzle} << 31,
        pick({0, 3, 16, 17, 63, 64, 256, 1024}),
        pick({0, 1, 2, 3}) << 19 | pick({0, 1, 2, 3}) << 21 | uint32_t{tid} << 23};
    const uint32_t soffset = pick({0, 0, 4, 16, 1000});
    std::vector<Lane> lanes(64);
    for (uint32_t k = 0; k < 64; ++k) {
      lanes[k].index = pick({0, 1, k, k, 15, 16, 63, 1000});
      lanes[k].offset = pick({0, 4, 4 * k, 4 * k, 3, 16, 252});
    }
    const auto memory = noise(2 * kPad + (1 << 17), static_cast<uint32_t>(n));
    const bool both = i.idxen && i.offen;
    const std::string body =
        fmt::format("buffer_load_dword{} {}, {}, s[8:11], s12{}{} offset:{}\n",
                    count == 1 ? "" : fmt::format("x{}", count), vdata(12, count),
                    both      ? "v[4:5]"
                    : i.idxen ? "v4"
                    : i.offen ? "v5"
                              : "off",
                    i.idxen ? " idxen" : "", i.offen ? " offen" : "", i.inst_offset);
    uint64_t base = 0;
    const Run r = run(body, gen, words, soffset, memory, lanes, &base);
    spec::Descriptor d = spec::decode(words);
    for (uint32_t k = 0; k < 64; ++k) {
      const Lane& l = lanes[k];
      const uint32_t first = both || i.idxen ? l.index : l.offset;
      for (unsigned w = 0; w < count; ++w) {
        d.base = base;
        const auto p = spec::place(i, d, {{first, l.offset}, soffset, k}, 4 * w, 4);
        const uint64_t at = spec::aligned(p.address, 4) - base + kPad;
        if (p.in_range && at + 4 > memory.size()) continue;  // beyond what this test owns
        const uint32_t want = p.in_range ? texel_at(memory, at, 4)[0] : 0;
        REQUIRE_MESSAGE(r.lanes[k].result[w] == want, body, "round ", n, " lane ", k);
      }
    }
  }
}

TEST_CASE("atomics: new memory, the old value with GLC, nothing out of range") {
  constexpr const char* kNames[] = {"swap", "cmpswap", "add", "sub", "rsub", "smin", "umin",
                                    "smax", "umax",    "and", "or",  "xor",  "inc",  "dec"};
  std::mt19937 random(9);
  for (unsigned op = 0; op < 14; ++op)
    for (const bool wide : {false, true})
      for (const bool glc : {false, true}) {
        const gcn::Gen gen = op == 4 ? gcn::Gen::gfx6 : kGens[random() % 3];
        const unsigned registers = (wide ? 2 : 1) * (op == 1 ? 2 : 1), size = wide ? 8 : 4;
        auto memory = noise(2 * kPad + 512, op);
        std::vector<Lane> lanes(64);
        for (uint32_t n = 0; n < 64; ++n) {
          lanes[n].index = n;
          for (uint32_t& x : lanes[n].data) x = static_cast<uint32_t>(random()) >> (n % 32);
          // Half of the compares succeed, and some operands equal the memory.
          const auto old = texel_at(memory, kPad + n * size, size);
          if (n % 2 == 0)
            std::copy_n(old.begin(), size / 4, lanes[n].data.begin() + (op == 1 ? size / 4 : 0));
        }
        std::string body;
        for (unsigned k = 0; k < registers; ++k)
          body += fmt::format("v_mov_b32 v{}, v{}\n", 12 + k, 6 + k);
        body += fmt::format("buffer_atomic_{}{} {}, v4, s[8:11], 0 idxen{}\n", kNames[op],
                            wide ? "_x2" : "", vdata(12, registers), glc ? " glc" : "");
        const bool vi = gen == gcn::Gen::gfx8;
        const Run r = run(body, gen, {0, size << 16, vi ? 60 * size : 60, 0}, 0, memory, lanes);
        for (uint32_t n = 0; n < 64; ++n) {
          const bool inside = n < 60;
          const auto old = texel_at(memory, kPad + n * size, size);
          const auto& v = lanes[n].data;
          const uint64_t m = old[0] | (wide ? uint64_t{old[1]} << 32 : 0);
          const uint64_t a = v[0] | (wide ? uint64_t{v[1]} << 32 : 0);
          const uint64_t cmp = wide ? v[2] | uint64_t{v[3]} << 32 : v[1];
          uint64_t now = wide ? spec::atomic<uint64_t, int64_t>(op, m, a, cmp)
                              : spec::atomic<uint32_t, int32_t>(op, static_cast<uint32_t>(m),
                                                                static_cast<uint32_t>(a),
                                                                static_cast<uint32_t>(cmp));
          if (!inside) now = m;
          const auto after = texel_at(r.memory, kPad + n * size, size);
          REQUIRE_MESSAGE((after[0] | (wide ? uint64_t{after[1]} << 32 : 0)) == now, body, n);
          for (unsigned k = 0; k < registers; ++k) {
            const bool returned = glc && k < size / 4;
            REQUIRE_MESSAGE(r.lanes[n].result[k] == (returned ? inside ? old[k] : 0 : v[k]), body,
                            n);
          }
        }
      }
}

TEST_CASE("float atomics of the first two generations") {
  const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
  const float nan = std::bit_cast<float>(0x7fc00000);
  const struct {
    const char* op;
    float memory, data, compare, want;
  } rows[] = {{"fmin", 1, 2, 0, 1},     {"fmin", 2, -1, 0, -1},          {"fmin", nan, 3, 0, 3},
              {"fmin", 3, nan, 0, 3},   {"fmin", 0.0F, -0.0F, 0, -0.0F}, {"fmax", 1, 2, 0, 2},
              {"fmax", 5, nan, 0, 5},   {"fmax", -0.0F, 0.0F, 0, 0.0F},  {"fcmpswap", 1, 9, 1, 9},
              {"fcmpswap", 1, 9, 2, 1}, {"fcmpswap", -0.0F, 9, 0.0F, 9}};
  for (const auto& row : rows) {
    std::vector<uint8_t> memory(2 * kPad + 8);
    const uint32_t start = bits(row.memory);
    std::memcpy(memory.data() + kPad, &start, 4);
    const bool compares = row.op[1] == 'c';
    const Run r = run(
        fmt::format("buffer_atomic_{} {}, off, s[8:11], 0\n", row.op, vdata(6, compares ? 2 : 1)),
        gcn::Gen::gfx7, {0, 0, 4, 0}, 0, memory,
        {Lane{0, 0, {bits(row.data), bits(row.compare), 0, 0}, {}}});
    CHECK_MESSAGE(texel_at(r.memory, kPad, 4)[0] == bits(row.want), row.op);
  }
}

TEST_CASE("loads to LDS, LDS to memory, tfe, sub-dwords") {
  const auto memory = noise(2 * kPad + 256, 77);
  std::vector<Lane> lanes(64);
  for (uint32_t n = 0; n < 64; ++n) lanes[n] = {n, 4 * n, {n * n, 7, 8, 9}, {}};
  // M0 = 0x40: lane n's dword lies at 0x40 + 4 n.
  const Run loaded =
      run("buffer_load_sbyte v5, s[8:11], 0 offen lds\ns_waitcnt vmcnt(0)\n"
          "ds_read_b32 v12, v5 offset:64\n",
          gcn::Gen::gfx6, {0, 0, 200, 0}, 0, memory, lanes);
  for (uint32_t n = 0; n < 64; ++n) {
    CHECK(loaded.lanes[n].result[0] == (n < 50 ? memory[kPad + 4 * n] : 0));
    CHECK(loaded.lanes[n].result[1] == 0xffffffff);
  }
  const Run stored =
      run("ds_write_b32 v5, v6 offset:64\ns_waitcnt lgkmcnt(0)\n"
          "buffer_store_lds_dword s[8:11], 0 lds\n",
          gcn::Gen::gfx8, {0, 4 << 16, 240, 1 << 23}, 0, memory, lanes);
  for (uint32_t n = 0; n < 60; ++n) CHECK(texel_at(stored.memory, kPad + 4 * n, 4)[0] == n * n);
  CHECK(texel_at(stored.memory, kPad + 240, 4) == texel_at(memory, kPad + 240, 4));
  const Run tfe = run("buffer_load_dwordx2 v[12:13], v5, s[8:11], 0 offen tfe\n", gcn::Gen::gfx7,
                      {0, 0, 200, 0}, 0, memory, lanes);
  for (uint32_t n = 0; n < 64; ++n) {
    CHECK(tfe.lanes[n].result[2] == 0);
    CHECK(tfe.lanes[n].result[3] == 0xffffffff);
    CHECK(tfe.lanes[n].result[0] == (n < 50 ? texel_at(memory, kPad + 4 * n, 4)[0] : 0));
  }
}

TEST_CASE("a descriptor of another type, a null descriptor, M0 and constants as scalar offset") {
  const auto memory = noise(2 * kPad + 256, 78);
  std::vector<Lane> lanes(8);
  const std::string body = "buffer_load_dword v12, v5, s[8:11], {} offen\n";
  const auto first = [&](const char* soffset, spec::Words words) {
    return run(fmt::format(fmt::runtime(body), soffset), gcn::Gen::gfx6, words, 0, memory, lanes)
        .lanes[0]
        .result[0];
  };
  CHECK(first("0", {0, 0, 64, 1U << 30}) == 0);
  CHECK(first("0", {0, 0, 0, 0}) == 0);
  CHECK(first("m0", {0, 0, 68, 0}) == texel_at(memory, kPad + 64, 4)[0]);
  CHECK(first("m0", {0, 0, 64, 0}) == 0);
  CHECK(first("4", {0, 0, 64, 0}) == texel_at(memory, kPad + 4, 4)[0]);
  CHECK(first("-16", {0, 0, 64, 0}) == 0);
}
