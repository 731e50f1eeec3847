// Typed buffer conversions and buffer addresses of the shader library, on devices, against the
// literal oracle.
#include <bit>
#include <cmath>
#include <random>

#include "tests/oracle/gcn_buffer.hpp"
#include "tests/oracle/gcn_format.hpp"
#include "tests/support/library_check.hpp"

using namespace lanewise::test;
namespace spec = lanewise::oracle::gcn;

namespace {

spec::Rules rules_of(uint32_t mode) {
  spec::Rules r;
  r.d16 = (mode & 1) != 0;
  r.zero_out_of_range = (mode & 8) != 0;
  r.zero_missing = (mode & 16) != 0;
  r.toward_zero = (mode & 32) != 0;
  r.truncate_integers = (mode & 64) != 0;
  r.signed_alpha = (mode & 128) != 0;
  return r;
}
std::array<unsigned, 4> select_of(uint32_t word) {
  return {word & 7, word >> 3 & 7, word >> 6 & 7, word >> 9 & 7};
}
constexpr uint32_t kIdentity = 4 | 5 << 3 | 6 << 6 | 7 << 9;
uint32_t word_of(uint32_t dfmt, uint32_t nfmt) {
  return dfmt << 15 | nfmt << 12 | kIdentity;
}

Row unpacked(const uint32_t* w) {
  const auto r = spec::load({w[0], w[1], w[2], w[3]}, w[4] >> 15 & 15, w[4] >> 12 & 7,
                            select_of(w[4]), w[5] != 0, rules_of(w[6]));
  return {r[0], r[1], r[2], r[3]};
}
Row packed(const uint32_t* w) {
  const auto r = spec::store({w[0], w[1], w[2], w[3]}, 4, w[4] >> 15 & 15, w[4] >> 12 & 7,
                             select_of(w[4]), rules_of(w[5]));
  return {r[0], r[1], r[2], r[3]};
}

/// All codes of the widest field of up to 16 bits; the other fields get other codes.
void add_all_codes(Words& out, uint32_t dfmt, uint32_t nfmt) {
  const spec::Layout l = spec::layout(dfmt);
  unsigned widest = 0;
  for (unsigned k = 0; k < l.count; ++k) widest = std::max(widest, l.field[k].width);
  if (widest > 16) return;
  const uint32_t rows = (1U << widest) / (widest == 16 ? l.count : 1);
  for (uint32_t n = 0; n < rows; ++n) {
    spec::Texel raw{};
    for (unsigned k = 0; k < l.count; ++k)
      spec::put(raw, l.field[k], n + k * (widest == 16 ? rows : 1));
    out.insert(out.end(), {raw[0], raw[1], raw[2], raw[3], word_of(dfmt, nfmt), 1, n & 1});
  }
}

}  // namespace

TEST_CASE("typed loads: every code of every format, then everything at random") {
  Words rows;
  for (uint32_t dfmt : {1, 2, 3, 6, 7, 8, 9, 10, 12})
    for (uint32_t nfmt = 0; nfmt < 8; ++nfmt) add_all_codes(rows, dfmt, nfmt);
  std::mt19937 rng(11);
  for (int n = 0; n < 100000; ++n) {
    for (int k = 0; k < 4; ++k) rows.push_back(static_cast<uint32_t>(rng()));
    const uint32_t any = static_cast<uint32_t>(rng());
    rows.insert(rows.end(), {n % 2 != 0 ? any & 0x7ffff : word_of(any & 15, any >> 4 & 7),
                             (any >> 30) != 0 ? 1U : 0U, any >> 8 & 255});
  }
  check({"lw_fmt_unpack", unpacked}, rows, drivers());
}

TEST_CASE("typed stores at random, near 1 and near the fields' limits") {
  std::mt19937 rng(12);
  const auto value = [&]() -> uint32_t {
    const auto r = static_cast<uint32_t>(rng()), sign = static_cast<uint32_t>(rng()) << 31;
    switch (rng() % 4) {
      case 0:
        return r;
      case 1:
        return (0x3f800000 - (r >> (5 + rng() % 25))) | sign;
      case 2:
        return (0x30000000 + (r >> 3)) ^ sign;
      default:
        return (r >> 14) - 0x20000;
    }
  };
  Words rows;
  for (int n = 0; n < 400000; ++n) {
    for (int k = 0; k < 4; ++k) rows.push_back(value());
    const auto any = static_cast<uint32_t>(rng());
    rows.insert(rows.end(),
                {n % 4 == 0 ? any & 0x7ffff : word_of(any & 15, any >> 4 & 7), any >> 24});
  }
  check({"lw_fmt_pack", packed}, rows, drivers());
}

TEST_CASE("the sRGB curve is the standard's, rounded once") {
  Words rows;
  for (uint32_t c = 0; c < 512; ++c) rows.push_back(c);
  check({"lw_srgb",
         [](const uint32_t* w) {
           const double c = (w[0] & 255) / 255.0;
           const auto linear =
               static_cast<float>(c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
           return row(std::bit_cast<uint32_t>(linear));
         }},
        rows, drivers());
}

TEST_CASE("sizes and documented combinations") {
  Words rows;
  for (uint32_t f = 0; f < 128; ++f)
    for (uint32_t mode : {0, 2, 4, 6}) rows.insert(rows.end(), {f << 12, mode});
  check({"lw_fmt_bytes", [](const uint32_t* w) { return row(spec::layout(w[0] >> 15).bytes); }},
        rows, drivers());
  check({"lw_fmt_legal",
         [](const uint32_t* w) {
           return row(spec::legal(w[0] >> 15, w[0] >> 12 & 7, (w[1] & 4) != 0, (w[1] & 2) != 0));
         }},
        rows, drivers());
}

TEST_CASE("buffer addresses at random, with fields of descriptors and offsets at their limits") {
  std::mt19937 rng(14);
  const auto any = [&] { return static_cast<uint32_t>(rng()); };
  const auto few = [&] { return any() >> (any() % 32); };
  Words rows;
  for (int n = 0; n < 200000; ++n) {
    const uint32_t stride = any() % 3 == 0 ? 0 : few() & 0x3fff;
    const uint32_t type = any() % 16 == 0 ? any() & 0xc0000000 : 0;
    rows.insert(rows.end(), {any(), any() << 31 | stride << 16 | (few() & 0xffff), few(),
                             (any() & 0x3f7fffff) | type});  // no lane is added
    rows.insert(rows.end(), {few(), few(), any() % 2 == 0 ? 0 : few()});
    const uint32_t addr64 = any() % 16 == 0 ? 16 : 0, payload = any() % 17;
    rows.push_back(any() % 3 | (any() & 0x2c) | addr64 | (few() & 0xfff) << 6 | (any() & 12) << 18 |
                   payload << 23);
  }
  check({"lw_buffer_address",
         [](const uint32_t* w) {
           const uint32_t flags = w[7];
           const spec::Descriptor d = spec::decode({w[0], w[1], w[2], w[3]});
           spec::Instruction i{static_cast<spec::Generation>(flags & 3)};
           i.idxen = (flags & 4) != 0;
           i.offen = (flags & 8) != 0;
           i.addr64 = (flags & 16) != 0;
           i.format = (flags & 32) != 0;
           i.inst_offset = flags >> 6 & 0xfff;
           spec::Operands o{{w[4], w[5]}, w[6]};
           if (!i.idxen && !i.addr64) o.vgpr[0] = w[5];
           const uint32_t payload = flags >> 23 & 31;
           const auto at = spec::place(i, d, o, flags >> 18 & 31,
                                       payload != 0 ? payload : spec::layout(d.data_format).bytes);
           Row r = row64(at.address);
           r.push_back(at.in_range ? 1 : 0);
           return r;
         }},
        rows, drivers());
}
