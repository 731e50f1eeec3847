// The reference engine's format conversions and addresses against the literal oracle.
#include "runtime/reference/memory/buffer_format.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "runtime/ir/types.hpp"
#include "runtime/reference/memory/buffer_address.hpp"
#include "tests/oracle/gcn_buffer.hpp"
#include "tests/oracle/gcn_format.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/shares.hpp"

using namespace lanewise;
namespace spec = lanewise::oracle::gcn;
using test::rounds;
using test::value_step;
using test::whole_tests;
using Select = std::array<unsigned, 4>;

namespace {

constexpr Select kIdentity = {4, 5, 6, 7};

uint32_t word_of(unsigned dfmt, unsigned nfmt, const Select& s) {
  return dfmt << 15 | nfmt << 12 | s[0] | s[1] << 3 | s[2] << 6 | s[3] << 9;
}

spec::Rules rules_of(uint32_t mode) {
  const auto has = [&](ir::FormatMode bit) { return (mode & static_cast<uint32_t>(bit)) != 0; };
  spec::Rules r;
  r.d16 = has(ir::FormatMode::d16);
  r.zero_out_of_range = has(ir::FormatMode::out_of_range_zero);
  r.zero_missing = has(ir::FormatMode::missing_zero);
  r.toward_zero = has(ir::FormatMode::toward_zero);
  r.truncate_integers = has(ir::FormatMode::truncate);
  r.signed_alpha = has(ir::FormatMode::signed_alpha);
  return r;
}

struct Mismatches {
  size_t count = 0;
  std::string first;
  void compare(const spec::Texel& want, const reference::Texel& got, unsigned dfmt, unsigned nfmt,
               const spec::Texel& in, uint32_t mode) {
    if (want == got || count++ != 0) return;
    char text[200];
    std::snprintf(text, sizeof text,
                  "dfmt %u nfmt %u mode %u in %08x %08x: %08x %08x, not %08x %08x", dfmt, nfmt,
                  mode, in[0], in[1], got[0], got[1], want[0], want[1]);
    first = text;
  }
  void check() const { CHECK_MESSAGE(count == 0, first); }
};

void compare_load(Mismatches& m, const spec::Texel& raw, unsigned dfmt, unsigned nfmt,
                  const Select& select, bool in_range, uint32_t mode) {
  const auto want = spec::load(raw, dfmt, nfmt, select, in_range, rules_of(mode));
  m.compare(want, reference::format_unpack(raw, word_of(dfmt, nfmt, select), in_range, mode), dfmt,
            nfmt, raw, mode);
}
void compare_store(Mismatches& m, const spec::Texel& data, unsigned dfmt, unsigned nfmt,
                   const Select& select, uint32_t mode) {
  const auto want = spec::store(data, 4, dfmt, nfmt, select, rules_of(mode));
  m.compare(want, reference::format_pack(data, word_of(dfmt, nfmt, select), mode), dfmt, nfmt, data,
            mode);
}

/// Floats around every code of a field: the exact values, their halves, and neighbours.
std::vector<uint32_t> interesting_floats() {
  std::vector<uint32_t> v = {0,          0x80000000, 1,          0x80000001,
                             0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
                             0x7f800001, 0x7f7fffff, 0xff7fffff, 0x00800000};
  const auto near = [&](double x) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(x));
    for (uint32_t d = 0; d < 3; ++d) {
      v.push_back(bits + d - 1);
      v.push_back((bits + d - 1) ^ 0x80000000);
    }
  };
  for (const double scale :
       {1.0, 2.0, 255.0, 510.0, 127.0, 254.0, 65535.0, 32767.0, 1023.0, 511.0, 3.0})
    for (int k = 1; k < 300; ++k) near(k / (2 * scale));
  for (int e = -30; e < 20; ++e)
    for (int k = 0; k < 64; ++k) near(std::ldexp(1.0 + k / 64.0, e));
  for (int k = 0; k < 66000; k += 7) near(k * 0.5);
  return v;
}

}  // namespace

TEST_CASE("loads: every value of every field of up to 16 bits") {
  Mismatches m;
  for (unsigned dfmt = 0; dfmt < 16; ++dfmt) {
    const spec::Layout l = spec::layout(dfmt);
    for (unsigned nfmt = 0; nfmt < 8; ++nfmt) {
      // The modes take turns with many values: each is met in at least two of them.
      uint32_t turn = nfmt;
      for (const uint32_t mode : {0U, 1U, 2U, 16U, 32U | 1U, 128U, 129U}) {
        for (unsigned k = 0; k < l.count && l.field[k].width <= 16; ++k) {
          const uint32_t count = 1U << l.field[k].width;
          const uint32_t step = count < 1024 || whole_tests() ? 1 : 3 * value_step(count);
          for (uint32_t c = turn % step; c < count; c += step) {
            spec::Texel raw{};
            spec::put(raw, l.field[k], c);
            compare_load(m, raw, dfmt, nfmt, kIdentity, true, mode);
          }
        }
        ++turn;
      }
    }
  }
  m.check();
}

TEST_CASE("loads: random elements, selections, out of range, all modes") {
  std::mt19937 random(5);
  Mismatches m;
  for (uint32_t n = 0; n < rounds(1000000); ++n) {
    const spec::Texel raw = {static_cast<uint32_t>(random()), static_cast<uint32_t>(random()),
                             static_cast<uint32_t>(random()), static_cast<uint32_t>(random())};
    Select s;
    for (unsigned& x : s) x = random() % 8;
    compare_load(m, raw, random() % 16, random() % 8, s, random() % 4 != 0, random() % 256);
  }
  m.check();
}

TEST_CASE("stores: edges of every format, then random registers") {
  Mismatches m;
  const std::vector<uint32_t> floats = interesting_floats();
  for (size_t n = 0; n < floats.size(); n += test::kSanitized ? 11 : 1) {
    const uint32_t x = floats[n];
    for (unsigned dfmt = 1; dfmt < 13; ++dfmt)
      for (unsigned nfmt = 0; nfmt < 8; ++nfmt)
        compare_store(m, {x, x, x, x}, dfmt, nfmt, kIdentity, nfmt == 7 && (x & 1) != 0 ? 32 : 0);
  }
  std::mt19937 random(6);
  const auto value = [&]() -> uint32_t {
    switch (random() % 4) {
      case 0:
        return random();
      case 1:  // about 1
        return 0x3f800000 - random() % (1 << (random() % 30)) + (random() % 2 << 31);
      case 2:
        return (random() % 0x20000000) + 0x30000000 + (random() % 2 << 31);
      default:
        return random() % 0x30000 - 0x18000;
    }
  };
  for (uint32_t n = 0; n < rounds(1000000); ++n) {
    const spec::Texel data = {value(), value(), value(), value()};
    Select s;
    for (unsigned& x : s) x = random() % 8;
    compare_store(m, data, random() % 16, random() % 8, random() % 2 != 0 ? kIdentity : s,
                  random() % 256);
  }
  m.check();
}

TEST_CASE("16-bit registers: every value stored to every format") {
  // Formats take turns: each value goes to a third of them, each format takes a third of all.
  const uint32_t parts = test::kSanitized || whole_tests() ? 1 : 3;
  Mismatches m;
  for (uint32_t h = 0; h < 0x10000; h += value_step(0x10000))
    for (unsigned dfmt = 1; dfmt < 15; ++dfmt)
      for (unsigned nfmt = 0; nfmt < 8; ++nfmt) {
        if ((h + dfmt + nfmt) % parts != 0) continue;
        const uint32_t x = h | 0xabcd0000;  // the upper half is not looked at
        compare_store(m, {x, x, x, x}, dfmt, nfmt, kIdentity, 1);
      }
  m.check();
}

TEST_CASE("what is stored comes back") {
  for (const unsigned dfmt : {1U, 2U, 3U, 5U, 8U, 9U, 10U, 12U})
    for (const unsigned nfmt : {0U, 4U, 5U}) {
      const spec::Layout l = spec::layout(dfmt);
      const uint32_t word = word_of(dfmt, nfmt, kIdentity);
      for (uint32_t c = 0; c < 1U << l.field[0].width; ++c) {
        reference::Texel raw{};
        raw[0] = c;
        const auto registers = reference::format_unpack(raw, word, true, 0);
        REQUIRE(reference::format_pack(registers, word, 0) == raw);
      }
    }
}

TEST_CASE("documented combinations and sizes") {
  for (unsigned dfmt = 0; dfmt < 16; ++dfmt)
    for (unsigned nfmt = 0; nfmt < 8; ++nfmt) {
      const uint32_t word = word_of(dfmt, nfmt, kIdentity);
      CHECK(reference::format_bytes(word) == spec::layout(dfmt).bytes);
      for (uint32_t mode : {0U, 2U, 4U, 6U})
        CHECK(reference::format_legal(word, mode) ==
              spec::legal(dfmt, nfmt, (mode & 4) != 0, (mode & 2) != 0));
    }
}

TEST_CASE("addresses: flags, strides, swizzles and edges") {
  std::mt19937_64 random(7);
  const auto pick = [&](std::initializer_list<uint32_t> list) {
    return list.begin()[random() % list.size()];
  };
  size_t wrong = 0, inside = 0;
  for (uint32_t n = 0; n < rounds(1000000); ++n) {
    spec::Words w;
    const uint32_t stride = pick({0, 0, 1, 3, 4, 8, 12, 16, 64, 100, 0x3fff});
    w[0] = pick({0, 0x10000, 0xfffffff0, static_cast<uint32_t>(random())});
    w[1] = pick({0, 1, 0xffff}) | stride << 16 | pick({0, 0, 1}) << 31 | pick({0, 1}) << 30;
    w[2] = pick({0, 1, 4, 63, 64, 65, 256, 1000, 0xffffffff, static_cast<uint32_t>(random())});
    w[3] = static_cast<uint32_t>(random());
    w[3] = (w[3] & 0x3f7fffff) | pick({0, 0, 1}) << 23 | (random() % 8 == 0 ? 1U << 30 : 0);
    spec::Instruction i;
    i.gen = static_cast<spec::Generation>(random() % 3);
    i.addr64 = i.gen != spec::Generation::vi && random() % 8 == 0;
    i.idxen = !i.addr64 && random() % 2 != 0;
    i.offen = !i.addr64 && random() % 2 != 0;
    i.format = random() % 2 != 0;
    i.inst_offset = pick({0, 1, 4, 60, 4095});
    spec::Operands o;
    for (uint32_t& v : o.vgpr)
      v = pick({0, 1, 3, 4, 8, 15, 16, 63, 64, 0xfffffff0, static_cast<uint32_t>(random())});
    o.soffset = pick({0, 0, 4, 60, 64, 0xfffffff0});
    o.lane = static_cast<uint32_t>(random() % 64);
    const uint32_t element = pick({0, 4, 8, 12});
    const uint32_t size = i.format ? pick({0, 1, 2, 4, 8, 12, 16}) : pick({1, 2, 4, 8});

    ir::BufferAccess access;
    access.gen = static_cast<ir::BufferAccess::Gen>(i.gen);
    access.idxen = i.idxen;
    access.offen = i.offen;
    access.addr64 = i.addr64;
    access.format_op = i.format;
    access.inst_offset = static_cast<uint16_t>(i.inst_offset);
    access.element_offset = static_cast<uint8_t>(element);
    access.payload_bytes = static_cast<uint8_t>(size);
    reference::BufferOperands operands{i.idxen ? o.vgpr[0] : 0, 0, o.soffset, o.lane};
    operands.offset = i.offen ? o.vgpr[i.idxen ? 1 : 0] : 0;
    if (i.addr64) operands = {o.vgpr[0], o.vgpr[1], o.soffset, o.lane};
    const spec::Descriptor d = spec::decode(w);
    const uint64_t payload = size != 0 ? size : spec::layout(d.data_format).bytes;
    const spec::Place want = spec::place(i, d, o, element, payload);
    const auto got = reference::buffer_address(access, w, operands);
    inside += want.in_range;
    wrong += want.in_range != got.in_range || (want.in_range && want.address != got.address);
  }
  CHECK(wrong == 0);
  CHECK(inside > rounds(100000));
}
