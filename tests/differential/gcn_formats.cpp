// Every data format with every number format through typed loads and stores, on every engine,
// against the literal oracle: all values of components of up to 16 bits, edges and random values of
// 32-bit ones. LANEWISE_FORMATS=full runs 10^6 random values for each format as well.
#include "tests/differential/gcn_formats.hpp"

namespace gcn_formats {

using namespace lanewise;
using namespace lanewise::test;
using namespace lanewise::test::formats;

namespace {

/// An instruction form. MTBUF names its format: the kernel has one instruction for each number
/// format of `dfmt`, and the descriptor's NUM_FORMAT (of another format) says which one runs.
struct Form {
  gcn::Gen gen = gcn::Gen::gfx6;
  unsigned count = 4;
  bool store = false, d16 = false;
  bool mtbuf = false;
  unsigned dfmt = 0;  ///< mtbuf

  bool vi() const { return gen == gcn::Gen::gfx8; }
  std::string name() const {
    static constexpr const char* kParts[] = {"x", "xy", "xyz", "xyzw"};
    return fmt::format("{}buffer_{}_format_{}{}", mtbuf ? "t" : "", store ? "store" : "load",
                       d16 ? "d16_" : "", kParts[count - 1]);
  }
  std::string data() const { return count == 1 ? "v4" : fmt::format("v[4:{}]", 3 + count); }
  std::string access() const {
    if (!mtbuf) return fmt::format("{} {}, v0, s[8:11], 0 idxen\n", name(), data());
    std::string text = "s_lshr_b32 s24, s11, 12\ns_and_b32 s24, s24, 7\n";
    for (unsigned nfmt = 0; nfmt < 8; ++nfmt)
      text += fmt::format(
          "s_cmp_eq_u32 s24, {}\ns_cbranch_scc0 .L{}\n"
          "{} {}, v0, s[8:11], dfmt:{}, nfmt:{}, 0 idxen\n.L{}:\n",
          unused_number_format(nfmt), nfmt, name(), data(), dfmt, nfmt, nfmt);
    return text;
  }
  /// What an MTBUF access of this number format finds in the descriptor, and must not look at.
  static unsigned unused_number_format(unsigned nfmt) { return (nfmt + 3) % 8; }

  std::string text() const {
    return frame(fmt::format("buffer_load_dwordx4 v[4:7], v1, s[12:15], 0 idxen\n"
                             "s_waitcnt vmcnt(0)\n{}{}",
                             access(),
                             store ? ""
                                   : "s_waitcnt vmcnt(0)\n"
                                     "buffer_store_dwordx4 v[4:7], v1, s[12:15], 0 idxen\n"),
                 gen);
  }
};

struct Format {
  unsigned dfmt, nfmt;
  uint32_t select = kIdentity;
};
constexpr uint32_t kSentinel = 0x5eed5eed;

std::array<uint32_t, 4> descriptor(const Form& f, const Format& t, uint32_t offset,
                                   uint32_t records) {
  const uint32_t stride = stride_of(t.dfmt);
  uint32_t format = t.dfmt << 15 | t.nfmt << 12 | t.select;
  if (f.mtbuf)
    format = (15 - t.dfmt) << 15 | Form::unused_number_format(t.nfmt) << 12 | (t.nfmt * 0x249);
  return {offset, stride << 16, f.vi() ? records * stride : records, format};
}

/// Elements whose fields take every value in turn, each component in another order.
Words elements(unsigned dfmt, uint32_t count, uint32_t seed) {
  static constexpr uint32_t kSteps[] = {1, 40503, 30011, 52429};
  const spec::Layout l = spec::layout(dfmt);
  const uint32_t stride = stride_of(dfmt);
  std::mt19937 random(seed);
  Words out(size_t{count} * stride / 4);
  for (uint32_t e = 0; e < count; ++e) {
    spec::Texel raw{};
    for (unsigned k = 0; k < l.count; ++k) {
      const unsigned n = l.field[k].width;
      const uint32_t c = n == 32 ? static_cast<uint32_t>(random()) : e * kSteps[k] + 7919 * k;
      spec::put(raw, l.field[k], n == 32 ? c : c & ((1U << n) - 1));
    }
    std::memcpy(&out[size_t{e} * stride / 4], raw.data(), stride);
  }
  return out;
}

/// Loads `count` elements in each of the formats; the last `beyond` elements of every group are out
/// of range.
void check_loads(const Form& f, const std::vector<Format>& formats, uint32_t count, uint32_t beyond,
                 uint32_t seed) {
  const ir::Program program = lower_stream(f.text(), f.gen);
  const unsigned dfmt = formats[0].dfmt;
  const spec::Layout l = spec::layout(dfmt);
  const uint32_t groups = count / kGroup, stride = stride_of(dfmt);
  Batch b;
  b.memory = elements(dfmt, count, seed);
  Words want;
  uint64_t faults = 0;
  spec::Rules rules;
  rules.d16 = f.d16;
  for (const Format& t : formats) {
    const bool legal = spec::legal(t.dfmt, t.nfmt, false, f.vi());
    for (uint32_t g = 0; g < groups; ++g)
      b.descriptors.push_back(descriptor(f, t, g * kGroup * stride, kGroup - beyond));
    for (uint32_t e = 0; e < count; ++e) {
      const bool in_range = e % kGroup < kGroup - beyond;
      faults += in_range && !legal && !f.mtbuf;
      spec::Texel raw{};
      std::memcpy(raw.data(), &b.memory[size_t{e} * stride / 4], l.bytes == 0 ? 0 : stride);
      auto out = spec::load(raw, t.dfmt, t.nfmt, selectors(t.select), in_range, rules);
      for (unsigned k = f.count; k < 4; ++k) out[k] = kSentinel;
      want.insert(want.end(), out.begin(), out.end());
    }
  }
  b.lanes.assign(want.size(), kSentinel);
  for (const TestEngine& engine : engines_in_turn()) {
    CAPTURE(engine.label);
    const Done got = run_batch(*engine.engine, program, b);
    CHECK(got.faults == faults);
    compare_words(got.lanes, want, [&](size_t n) {
      const Format& t = formats[n / 4 / count];
      return fmt::format("{} dfmt {} nfmt {} select {:o} element {}", f.name(), t.dfmt, t.nfmt,
                         t.select, n / 4 % count);
    });
  }
}

constexpr uint32_t kEdges[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
    0x3f7fffff, 0x3f800001, 0xbf7fffff, 0xbf800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
    0x7fc00000, 0xffc00000, 0x7f800001, 0xff8abcde, 0x7fffffff, 0xffffffff, 0x80,       0xff,
    0x100,      0x7fff,     0x8000,     0xffff,     0x10000,    0x3f000000, 0xbf000000, 0x477fe000,
    0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x32ffffff, 0x38800000, 0x387fc000, 0x387fe000,
    0x477f0000, 0x47800000, 0x4f000000, 0xcf000000, 0x3fff,     0x3ff,      0xfffffe00, 0xffffff80};
constexpr uint32_t kEdgeCount = sizeof kEdges / sizeof *kEdges;

/// A register value near the code `c`: what it loads as, or half-way to the next one, or one step
/// beside that.
uint32_t near_code(uint32_t c, unsigned n, unsigned nfmt, unsigned variant) {
  if (n == 32) return c;
  const uint32_t mask = (1U << n) - 1, code = c & mask;
  const uint32_t here = spec::load_component(code, n, nfmt);
  if (variant == 0) return here;
  if (spec::is_integer(nfmt)) {
    const uint32_t others[] = {0 - here, here + (1U << n), here ^ 0x80000000};
    return others[variant - 1];
  }
  const uint32_t next = spec::load_component((code + 1) & mask, n, nfmt);
  const double middle = (double{std::bit_cast<float>(here)} + std::bit_cast<float>(next)) / 2;
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(middle));
  return variant == 1 ? bits : variant == 2 ? bits + 1 : bits - 1;
}

/// The 16-bit forms read halves: every half in turn.
uint32_t store_value(const Form& f, const Format& t, uint32_t e, unsigned k, uint32_t random) {
  static constexpr uint32_t kSteps[] = {1, 40503, 30011, 52429};
  if (f.d16) return (random & 0xffff0000) | ((e * kSteps[k]) & 0xffff);
  if (e < kEdgeCount) return kEdges[(e + 5 * k) % kEdgeCount];
  const spec::Layout l = spec::layout(t.dfmt);
  if (k >= l.count || l.field[k].width == 32) return random;
  return near_code(e * kSteps[k], l.field[k].width, spec::format_of(t.dfmt, t.nfmt, k, {}),
                   ((e >> l.field[k].width) + k) & 3);
}

enum class Values { codes, random };

void check_stores(const Form& f, const std::vector<Format>& formats, uint32_t count, Values values,
                  uint32_t seed) {
  const ir::Program program = lower_stream(f.text(), f.gen);
  const unsigned dfmt = formats[0].dfmt;
  const spec::Layout l = spec::layout(dfmt);
  const uint32_t groups = count / kGroup, stride = stride_of(dfmt);
  Batch b;
  b.memory.assign(formats.size() * count * stride / 4, kSentinel);
  Words want = b.memory;
  uint64_t faults = 0;
  spec::Rules rules;
  rules.d16 = f.d16;
  std::mt19937 random(seed);
  for (size_t at = 0; const Format& t : formats) {
    if (!f.mtbuf && !spec::legal(t.dfmt, t.nfmt, true, f.vi())) faults += count;
    for (uint32_t g = 0; g < groups; ++g)
      b.descriptors.push_back(
          descriptor(f, t, static_cast<uint32_t>((at + g * kGroup) * stride), kGroup));
    for (uint32_t e = 0; e < count; ++e, ++at) {
      spec::Texel data{};
      for (unsigned k = 0; k < 4; ++k) {
        const auto any = static_cast<uint32_t>(random());
        data[k] = values == Values::random ? any : store_value(f, t, e, k, any);
      }
      b.lanes.insert(b.lanes.end(), data.begin(), data.end());
      const auto raw = spec::store(data, f.count, t.dfmt, t.nfmt, selectors(t.select), rules);
      std::memcpy(reinterpret_cast<char*>(want.data()) + at * stride, raw.data(), l.bytes);
    }
  }
  for (const TestEngine& engine : engines_in_turn()) {
    CAPTURE(engine.label);
    const Done got = run_batch(*engine.engine, program, b);
    CHECK(got.faults == faults);
    compare_words(got.memory, want, [&](size_t n) {
      const size_t e = 4 * n / stride;
      const Format& t = formats[e / count];
      return fmt::format("{} dfmt {} nfmt {} select {:o} data {:08x}", f.name(), t.dfmt, t.nfmt,
                         t.select, fmt::join(&b.lanes[4 * e], &b.lanes[4 * e] + 4, " "));
    });
  }
}

std::vector<Format> all_number_formats(unsigned dfmt) {
  std::vector<Format> out;
  for (unsigned nfmt = 0; nfmt < 8; ++nfmt) out.push_back({dfmt, nfmt});
  return out;
}
unsigned widest(unsigned dfmt) {
  unsigned n = 0;
  for (const spec::Field& f : spec::layout(dfmt).field) n = std::max(n, f.width);
  return n;
}
/// Enough elements for every value of every component of up to 16 bits.
uint32_t exhaustive(unsigned dfmt) {
  const unsigned n = widest(dfmt);
  return n == 16 ? 65536 : n == 32 || n == 0 ? 1024 : n == 8 ? 256 : 2048;
}
constexpr uint32_t kMillion = 250112;  ///< times four components, a multiple of the group

}  // namespace

TEST_CASE("typed loads: every value of every component of up to 16 bits") {
  for (const gcn::Gen gen : {gcn::Gen::gfx6, gcn::Gen::gfx8})
    for (const bool d16 : {false, true}) {
      if (d16 && gen != gcn::Gen::gfx8) continue;
      for (unsigned dfmt = 0; dfmt < 16; ++dfmt) {
        // What differs from GCN1 is one table entry, or the last step.
        const bool slice = gen == gcn::Gen::gfx8 && !full_run() && !(d16 && dfmt == 12);
        check_loads({gen, 4, false, d16}, all_number_formats(dfmt), slice ? 512 : exhaustive(dfmt),
                    3, dfmt);
      }
    }
  CHECK(validation_messages() == 0);
}

TEST_CASE("typed stores: around every code of every component of up to 16 bits, and edges") {
  for (unsigned dfmt = 0; dfmt < 16; ++dfmt) {
    const uint32_t variants = spec::layout(dfmt).count >= 4 ? 1 : 4;
    check_stores({gcn::Gen::gfx6, 4, true, false}, all_number_formats(dfmt),
                 std::max(exhaustive(dfmt) * variants, 1024U), Values::codes, dfmt);
    check_stores({gcn::Gen::gfx8, 4, true, true}, all_number_formats(dfmt),
                 full_run() || dfmt == 12 ? 65536 : 1024, Values::codes, dfmt);
    check_stores({gcn::Gen::gfx8, 4, true, false}, all_number_formats(dfmt), 512, Values::codes,
                 dfmt);
  }
  CHECK(validation_messages() == 0);
}

/// 10^6 values in all of a format's components (full run), or a handful.
void check_random_values(Form f, unsigned dfmt) {
  const uint32_t count = full_run() ? kMillion : 1024;
  f.dfmt = dfmt;
  f.store = true;
  if (!full_run()) return check_stores(f, all_number_formats(dfmt), count, Values::random, dfmt);
  const uint32_t elements = 4 * count / spec::layout(dfmt).count / kGroup * kGroup;
  for (const Format& t : all_number_formats(dfmt)) {
    f.store = true;
    check_stores(f, {t}, elements, Values::random, t.nfmt);
    f.store = false;
    if (widest(dfmt) == 32) check_loads(f, {t}, elements, 0, t.nfmt);
  }
}

TEST_CASE("typed accesses: random values") {
  for (unsigned dfmt = 1; dfmt < 15; ++dfmt)
    check_random_values({gcn::Gen::gfx6, 4, true, false}, dfmt);
  CHECK(validation_messages() == 0);
}

// The instruction's format, whatever the descriptor says. Each data format is a kernel of its own,
// so the usual run takes four of them.
TEST_CASE("typed accesses by MTBUF: every value, edges, random values") {
  for (unsigned dfmt = 0; dfmt < 16; ++dfmt) {
    const bool usual = dfmt == 0 || dfmt == 6 || dfmt == 9 || dfmt == 12;
    if (!usual && !full_run()) continue;
    const auto formats = all_number_formats(dfmt);
    Form f{gcn::Gen::gfx6, 4, false, false, true, dfmt};
    check_loads(f, formats, exhaustive(dfmt), 3, dfmt);
    f.store = true;
    check_stores(f, formats, full_run() ? std::max(exhaustive(dfmt), 1024U) : 2048, Values::codes,
                 dfmt);
    if (dfmt != 0 && dfmt != 15) check_random_values(f, dfmt);
    if (!full_run()) continue;
    for (const bool d16 : {false, true})
      for (const bool store : {false, true}) {
        const Form vi{gcn::Gen::gfx8, 4, store, d16, true, dfmt};
        if (store)
          check_stores(vi, formats, 65536, Values::codes, dfmt);
        else
          check_loads(vi, formats, exhaustive(dfmt), 3, dfmt);
      }
  }
  CHECK(validation_messages() == 0);
}

TEST_CASE("typed accesses: all numbers of components, all kinds of DST_SEL") {
  std::mt19937 random(5);
  std::vector<uint32_t> selects = {kIdentity, 0, 07777, 01111, 04567, 07654, 05555, 02345, 04010};
  for (int n = 0; n < 7; ++n) selects.push_back(random() & 07777);
  for (const bool store : {false, true})
    for (unsigned count = 1; count <= 4; ++count)
      for (const unsigned dfmt : {4U, 9U, 12U, 14U}) {
        std::vector<Format> formats;
        for (size_t n = 0; n < selects.size(); ++n)
          formats.push_back({dfmt, static_cast<unsigned>(n % 8), selects[n]});
        const Form f{gcn::Gen::gfx7, count, store, false};
        if (store)
          check_stores(f, formats, kGroup, Values::codes, dfmt);
        else
          check_loads(f, formats, kGroup, 9, dfmt);
      }
  CHECK(validation_messages() == 0);
}

}  // namespace gcn_formats
