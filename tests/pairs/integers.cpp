// Bytes, shorts, 64 and 128 bits, what lanes of a warp exchange, ciphers, random numbers.
#include <array>
#include <bit>
#include <numeric>

#include "tests/pairs/pairs.hpp"

using namespace pairs;

TEST_CASE("pairs: narrow") {
  const int n = 128;
  const auto a8 = random_ints<int8_t>(n, 40);
  const auto b8 = random_ints<uint8_t>(n, 41);
  const auto a16 = random_ints<int16_t>(n, 42);
  const auto b16 = random_ints<uint16_t>(n, 43);
  const auto words = random_ints<uint32_t>(n, 44);
  both("narrow", [&](lanewise::Module& m) {
    Buffer a = device().buffer(a8), b = device().buffer(b8), c = zeros<int8_t>(2 * n),
           d = zeros<uint8_t>(2 * n), e = zeros<int16_t>(2 * n);
    m.kernel("bytes").launch({.grid = {2}, .block = {64}}, a, b, c, d, e, n).check();
    std::vector<int8_t> wc(2 * n);
    std::vector<uint8_t> wd(2 * n);
    std::vector<int16_t> we(2 * n);
    for (size_t i = 0; i < n; ++i) {
      const int x = a8[i], y = b8[i];
      wc[i] = static_cast<int8_t>(x * 3 + y);
      wd[i] = static_cast<uint8_t>(y * 8 - x);
      we[i] = static_cast<int16_t>(x * y);
      wc[n + i] = static_cast<int8_t>((x >> 2) ^ y);
      wd[n + i] = static_cast<uint8_t>(255 - (y / 7 + y % 5));
      we[n + i] = static_cast<int16_t>(x < static_cast<int8_t>(y) ? x : y);  // y stays unsigned
    }
    check_contents(c, wc);
    check_contents(d, wd);
    check_contents(e, we);

    Buffer s = device().buffer(a16), u = device().buffer(b16), out = zeros<int32_t>(5 * n);
    m.kernel("shorts").launch({.grid = {2}, .block = {64}}, s, u, out, n).check();
    std::vector<int32_t> want(5 * n);
    for (size_t i = 0; i < n; ++i) {
      const int x = a16[i], y = b16[i];
      want[i] = x * y;
      want[n + i] = x / (y | 1) + x % ((y & 15) + 1);
      want[2 * n + i] = static_cast<int16_t>(x + y) + static_cast<uint16_t>(y - 12345);
      want[3 * n + i] = std::clamp(x + y, -32768, 32767);
      want[4 * n + i] =
          static_cast<int32_t>(static_cast<uint32_t>(x * 16) * static_cast<uint32_t>(y) +
                               static_cast<uint32_t>(y) * static_cast<uint32_t>(y));
    }
    check_contents(out, want);

    Buffer p = device().buffer(words), q = zeros<uint32_t>(n), g = zeros<uint32_t>(n);
    m.kernel("pixels").launch({.grid = {2}, .block = {64}}, p, q, g, n).check();
    std::vector<uint32_t> pixels, grey;
    const auto byte = [](uint32_t w, unsigned k) { return static_cast<int>(w >> (8 * k) & 255); };
    for (const uint32_t w : words) {
      const int r = std::clamp(byte(w, 0) + byte(w, 3) - 128, 0, 255),
                gr = std::min(byte(w, 1) * 2, 255), bl = std::max(byte(w, 2) - byte(w, 0), 0);
      pixels.push_back(static_cast<uint32_t>(r | gr << 8 | bl << 16) |
                       static_cast<uint32_t>(255 - byte(w, 3)) << 24);
      grey.push_back(static_cast<uint32_t>(byte(w, 0) * 77 + byte(w, 1) * 150 + byte(w, 2) * 29) >>
                     8);
    }
    check_contents(q, pixels);
    check_contents(g, grey);
  });
}

TEST_CASE("pairs: simd") {
  const int n = 128;
  const auto a = random_ints<uint32_t>(n, 45), b = random_ints<uint32_t>(n, 46);
  both("simd",
       [&](lanewise::Module& m) {
         Buffer x = device().buffer(a), y = device().buffer(b), out = zeros<uint32_t>(7 * n);
         m.kernel("packed").launch({.grid = {1}, .block = {n}}, x, y, out, n).check();
         std::vector<uint32_t> want(7 * n);
         // Applies a function to parts of `bits` bits.
         const auto parts = [](uint32_t p, uint32_t q, unsigned bits, auto f) {
           uint32_t r = 0;
           const uint32_t mask = bits == 8 ? 0xff : 0xffff;
           for (unsigned at = 0; at < 32; at += bits)
             r |= (static_cast<uint32_t>(
                       f(static_cast<int>(p >> at & mask), static_cast<int>(q >> at & mask))) &
                   mask)
                  << at;
           return r;
         };
         const auto s16 = [](int v) { return static_cast<int>(static_cast<int16_t>(v)); };
         for (size_t i = 0; i < n; ++i) {
           const uint32_t p = a[i], q = b[i];
           const uint64_t both_words = static_cast<uint64_t>(q) << 32 | p;
           const uint32_t selector = 0x6240 + static_cast<uint32_t>(i) % 8;
           for (unsigned k = 0; k < 4; ++k)
             want[i] |= static_cast<uint32_t>(both_words >> (8 * (selector >> 4 * k & 7)) & 255)
                        << 8 * k;
           want[n + i] = parts(p, q, 8, [](int u, int v) { return u + v; }) ^
                         parts(p, q, 16, [](int u, int v) { return u - v; });
           want[2 * n + i] = parts(p, q, 8, [](int u, int v) { return std::abs(u - v); });
           want[3 * n + i] =
               parts(p, q, 16, [&](int u, int v) { return std::max(s16(u), s16(v)); }) +
               parts(p, q, 8, [](int u, int v) { return std::min(u, v); });
           const int64_t distance = int64_t{static_cast<int32_t>(p)} - static_cast<int32_t>(q);
           want[4 * n + i] = static_cast<uint32_t>(distance < 0 ? -distance : distance) + 5;
           for (unsigned k = 0; k < 32; k += 8)
             want[4 * n + i] += static_cast<uint32_t>(
                 std::abs(static_cast<int>(p >> k & 255) - static_cast<int>(q >> k & 255)));
           want[5 * n + i] =
               parts(p, q, 16,
                     [&](int u, int v) { return std::clamp(s16(u) + s16(v), -32768, 32767); }) ^
               parts(p, q, 8, [](int u, int v) { return u > v ? 255 : 0; });
         }
         check_contents(out, want);
       },
       {".cubin"});  // vabsdiff4 is refused in PTX
}

TEST_CASE("pairs: wide") {
  const int n = 128;
  auto a = random_ints<int64_t>(n, 47);
  auto b = random_ints<uint64_t>(n, 48);
  for (size_t i = 0; i < 40; ++i) a[i] >>= i;
  for (size_t i = 0; i < 60; ++i) b[i] >>= i;
  const auto limbs_a = random_ints<uint32_t>(4 * 64, 49);
  auto limbs_b = random_ints<uint32_t>(4 * 64, 50);
  for (size_t i = 0; i < 64; ++i) limbs_b[i] = ~limbs_a[i] + (i % 3 == 0 ? 1 : 0);
  both("wide", [&](lanewise::Module& m) {
    Buffer x = device().buffer(a), y = device().buffer(b), out = zeros<int64_t>(8 * n);
    m.kernel("arithmetic").launch({.grid = {2}, .block = {64}}, x, y, out, n).check();
    std::vector<int64_t> want(8 * n);
    for (size_t i = 0; i < n; ++i) {
      const int64_t p = a[i];
      const uint64_t q = b[i], u = static_cast<uint64_t>(p);
      const auto sq = static_cast<int64_t>(q);
      const auto s = static_cast<unsigned>(q & 63);
      want[i] = static_cast<int64_t>(u * q);
      want[n + i] =
          static_cast<int64_t>(static_cast<uint64_t>(static_cast<__int128>(p) * sq >> 64) +
                               static_cast<uint64_t>(static_cast<unsigned __int128>(u) * q >> 64));
      want[2 * n + i] = p / static_cast<int64_t>(q >> 33 | 1);
      want[3 * n + i] = static_cast<int64_t>(u % (q | 1));
      want[4 * n + i] =
          (p >> s) ^ static_cast<int64_t>(q << s) ^ static_cast<int64_t>(q >> (63 - s));
      want[5 * n + i] = static_cast<int64_t>(p > sq ? u - 1 : u < q ? ~u : 0 - u);
      want[6 * n + i] = static_cast<int64_t>((p < 0 ? 0 - u : u) +
                                             static_cast<uint64_t>(std::min<int64_t>(p, 5)) -
                                             static_cast<uint64_t>(std::max(sq, p)));
      want[7 * n + i] = p % 1000003 + p / 10;
    }
    check_contents(out, want);

    Buffer la = device().buffer(limbs_a), lb = device().buffer(limbs_b), lo = zeros<uint32_t>(512);
    m.kernel("sums").launch({.grid = {1}, .block = {64}}, la, lb, lo).check();
    std::vector<uint32_t> sums;
    for (size_t i = 0; i < 64; ++i) {
      const auto number = [&](const std::vector<uint32_t>& l) {
        unsigned __int128 v = 0;
        for (size_t k = 4; k-- > 0;) v = v << 32 | l[4 * i + k];
        return v;
      };
      for (const unsigned __int128 r :
           {number(limbs_a) + number(limbs_b), number(limbs_a) - number(limbs_b)})
        for (unsigned k = 0; k < 128; k += 32) sums.push_back(static_cast<uint32_t>(r >> k));
    }
    check_contents(lo, sums);

    Buffer to = zeros<uint32_t>(6 * 256);
    m.kernel("turns").launch({.grid = {1}, .block = {256}}, la, lb, to, 256).check();
    std::vector<uint32_t> turns(6 * 256);
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t p = limbs_a[i], q = limbs_b[i], s = q >> 7;
      const uint64_t pair = static_cast<uint64_t>(q) << 32 | p;
      turns[i] = static_cast<uint32_t>(pair << (s & 31) >> 32);
      turns[256 + i] = static_cast<uint32_t>(pair >> (s & 31));
      const uint32_t c = std::min<uint32_t>(s & 63, 32);
      turns[512 + i] = static_cast<uint32_t>(pair << c >> 32);
      turns[768 + i] = static_cast<uint32_t>(pair >> c);
      turns[1024 + i] = std::rotl(p, static_cast<int>(s & 31));
      const int64_t sp = static_cast<int32_t>(p), sq = static_cast<int32_t>(q);
      turns[1280 + i] = static_cast<uint32_t>(static_cast<uint64_t>(p) * q >> 32) +
                        static_cast<uint32_t>(sp * sq >> 32) +
                        static_cast<uint32_t>((static_cast<uint64_t>(p) + q) / 2) +
                        static_cast<uint32_t>((sp + sq + 1) >> 1);
    }
    check_contents(to, turns);

    Buffer g = zeros<uint64_t>(n);
    m.kernel("gcd").launch({.grid = {1}, .block = {n}}, x, y, g).check();
    std::vector<uint64_t> gcds;
    for (size_t i = 0; i < n; ++i) gcds.push_back(std::gcd(static_cast<uint64_t>(a[i]), b[i]));
    check_contents(g, gcds);
  });
}

TEST_CASE("pairs: warps") {
  const int n = 64;
  auto in = ints_between<int32_t>(n, 51, -99, 99);
  in[40] = 17;
  const auto words = random_ints<uint32_t>(n, 52);
  both("warps", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), out = zeros<uint32_t>(n);
    m.kernel("votes").launch({.grid = {1}, .block = {n}}, a, out).check();
    std::vector<uint32_t> want(n);
    for (size_t i = 0; i < n; ++i) {
      const size_t w = i / 32 * 32;
      uint32_t odd = 0, twos = 0;
      bool any = false;
      for (size_t l = 0; l < 32; ++l) {
        odd |= (in[w + l] & 1) != 0 ? 1U << l : 0;
        twos |= (in[w + l] & 2) != 0 ? 1U << l : 0;
        any = any || in[w + l] == 17;
      }
      uint32_t r = odd + 3;
      if (any) r ^= 0x10000;
      if ((in[i] & 2) != 0)
        r += static_cast<uint32_t>(std::popcount(twos)) * 5 +
             static_cast<uint32_t>(in[w + static_cast<size_t>(std::countr_zero(twos))]);
      else
        r ^= static_cast<uint32_t>(std::popcount(~twos)) << 8;
      want[i] = r + static_cast<uint32_t>(std::popcount(r & ((1U << i % 32) - 1)));
    }
    check_contents(out, want);

    Buffer s = zeros<int32_t>(7 * n);
    m.kernel("shuffles").launch({.grid = {1}, .block = {n}}, a, s).check();
    std::vector<int32_t> moved(7 * n);
    for (size_t i = 0; i < n; ++i) {
      const size_t w = i / 32 * 32, l = i % 32;
      const auto of = [&](size_t lane) { return in[w + lane]; };
      moved[i] = of(static_cast<size_t>(in[i] & 31));
      moved[n + i] = of(l % 8 >= 3 ? l - 3 : l);
      moved[2 * n + i] = of(l % 16 + 5 < 16 ? l + 5 : l);
      moved[3 * n + i] = of(l ^ 21);
      moved[4 * n + i] = of(l / 4 * 4 + i * 7 % 4);
      moved[5 * n + i] = of(l ^ 1) * 16;
      moved[6 * n + i] = of(l + 2 < 32 ? l + 2 : l);
    }
    check_contents(s, moved);

    Buffer v = device().buffer(words), c = zeros<int32_t>(5 * n);
    m.kernel("counts").launch({.grid = {1}, .block = {n}}, v, c).check();
    std::vector<int32_t> counts(5 * n);
    const auto reversed = [](uint64_t x, unsigned bits) {
      uint64_t r = 0;
      for (unsigned k = 0; k < bits; ++k) r |= (x >> k & 1) << (bits - 1 - k);
      return r;
    };
    for (size_t i = 0; i < n; ++i) {
      const uint32_t x = words[i];
      const uint64_t y = x * 0x123456789ULL;
      counts[i] = std::popcount(x) + (std::countr_zero(x) + 1) * 64 + std::countl_zero(x) * 4096;
      counts[n + i] = static_cast<int32_t>(static_cast<uint32_t>(reversed(x, 32)));
      counts[2 * n + i] =
          std::popcount(y) + (std::countr_zero(y) + 1) * 128 + std::countl_zero(y) * 16384;
      counts[3 * n + i] = static_cast<int32_t>(static_cast<uint32_t>(reversed(y, 64) >> 32));
    }
    for (size_t w = 0; w < n; w += 32) {
      std::vector<uint32_t> warp(words.begin() + static_cast<ptrdiff_t>(w),
                                 words.begin() + static_cast<ptrdiff_t>(w + 32));
      std::stable_partition(warp.begin(), warp.end(), [](uint32_t x) { return x % 2 != 0; });
      for (size_t l = 0; l < 32; ++l) counts[4 * n + w + l] = static_cast<int32_t>(warp[l]);
    }
    check_contents(c, counts);
  });
}

TEST_CASE("pairs: sha256") {
  // The digests that FIPS 180-4's examples give for "abc" and the empty message, and round
  // constants from the cube roots of the first primes.
  std::vector<uint32_t> constants;
  for (unsigned p = 2; constants.size() < 64; ++p) {
    bool prime = true;
    for (unsigned d = 2; d * d <= p; ++d) prime = prime && p % d != 0;
    if (prime)
      constants.push_back(static_cast<uint32_t>(std::cbrt(static_cast<long double>(p)) * 0x1p32L));
  }
  both("sha256", [&](lanewise::Module& m) {
    m.write_symbol("round_constants", constants);
    Buffer text = device().buffer(std::vector<uint8_t>{'a', 'b', 'c', 'a', 'b', 'c'}),
           digests = zeros<uint32_t>(16);
    m.kernel("sha256").launch({.grid = {1}, .block = {2}}, text, 3, digests).check();
    const std::vector<uint32_t> abc = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                       0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    std::vector<uint32_t> twice = abc;
    twice.insert(twice.end(), abc.begin(), abc.end());
    check_contents(digests, twice);
    m.kernel("sha256").launch({.grid = {1}, .block = {1}}, text, 0, digests).check();
    check_contents<uint32_t>(digests, {0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924, 0x27ae41e4,
                                       0x649b934c, 0xa495991b, 0x7852b855});
  });
}

TEST_CASE("pairs: ciphers") {
  const auto blocks = random_ints<uint32_t>(128, 53);
  const std::array<uint32_t, 4> key = {0x27f917b1, 0xc1da8993, 0x60e2acaa, 0xa6eb923d};
  const auto words = random_ints<uint64_t>(32 * 3, 54);
  const std::array<uint64_t, 2> sip_key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::vector<uint8_t> keys(32 * 8);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<uint8_t>(i * 37 + 5);
  both("ciphers", [&](lanewise::Module& m) {
    Buffer data = device().buffer(blocks);
    const auto raw_key = lanewise::Arg::raw(std::as_bytes(std::span(key)));
    m.kernel("xtea").launch({.grid = {2}, .block = {32}}, {data, raw_key, 0}).check();
    std::vector<uint32_t> coded = blocks;
    for (size_t i = 0; i < coded.size(); i += 2) {
      uint32_t &x = coded[i], &y = coded[i + 1], sum = 0;
      for (int round = 0; round < 32; ++round) {
        x += ((y << 4 ^ y >> 5) + y) ^ (sum + key[sum & 3]);
        sum += 0x9e3779b9;
        y += ((x << 4 ^ x >> 5) + x) ^ (sum + key[sum >> 11 & 3]);
      }
    }
    check_contents(data, coded);
    m.kernel("xtea").launch({.grid = {2}, .block = {32}}, {data, raw_key, 1}).check();
    check_contents(data, blocks);

    const int n = 20;
    Buffer k = device().buffer(keys), out = zeros<uint8_t>(32 * n);
    m.kernel("rc4").launch({.grid = {1}, .block = {32}}, k, out, n).check();
    std::vector<uint8_t> stream;
    for (size_t lane = 0; lane < 32; ++lane) {
      std::array<uint8_t, 256> s{};
      std::iota(s.begin(), s.end(), uint8_t{0});
      uint8_t j = 0;
      for (size_t i = 0; i < 256; ++i) {
        j = static_cast<uint8_t>(j + s[i] + keys[lane * 8 + i % 8]);
        std::swap(s[i], s[j]);
      }
      j = 0;
      for (size_t i = 1; i <= n; ++i) {
        j = static_cast<uint8_t>(j + s[i]);
        std::swap(s[i], s[j]);
        stream.push_back(s[static_cast<uint8_t>(s[i] + s[j])]);
      }
    }
    check_contents(out, stream);

    Buffer w = device().buffer(words), h = zeros<uint64_t>(32);
    m.kernel("siphash")
        .launch({.grid = {1}, .block = {32}},
                {w, 3, lanewise::Arg::raw(std::as_bytes(std::span(sip_key))), h})
        .check();
    std::vector<uint64_t> hashes;
    for (size_t lane = 0; lane < 32; ++lane) {
      uint64_t a = sip_key[0] ^ 0x736f6d6570736575, b = sip_key[1] ^ 0x646f72616e646f6d,
               c = sip_key[0] ^ 0x6c7967656e657261, d = sip_key[1] ^ 0x7465646279746573;
      const auto round = [&] {
        a += b, b = std::rotl(b, 13) ^ a, a = std::rotl(a, 32);
        c += d, d = std::rotl(d, 16) ^ c;
        a += d, d = std::rotl(d, 21) ^ a;
        c += b, b = std::rotl(b, 17) ^ c, c = std::rotl(c, 32);
      };
      for (size_t i = 0; i < 3; ++i) {
        d ^= words[lane * 3 + i];
        round(), round();
        a ^= words[lane * 3 + i];
      }
      c ^= 0xff;
      for (int i = 0; i < 4; ++i) round();
      hashes.push_back(a ^ b ^ c ^ d);
    }
    check_contents(h, hashes);
  });
}

TEST_CASE("pairs: random") {
  const auto seeds = random_ints<uint64_t>(64, 55);
  both("random", [&](lanewise::Module& m) {
    const int n = 10;
    Buffer s = device().buffer(seeds), out = zeros<uint32_t>(64 * n);
    m.kernel("pcg").launch({.grid = {1}, .block = {64}}, s, out, n).check();
    std::vector<uint32_t> want(64 * n);
    for (size_t lane = 0; lane < 64; ++lane) {
      uint64_t state = seeds[lane];
      for (size_t i = 0; i < n; ++i) {
        const auto x = static_cast<uint32_t>((state >> 18 ^ state) >> 27);
        want[i * 64 + lane] = std::rotr(x, static_cast<int>(state >> 59));
        state = state * 6364136223846793005ULL + (lane << 1 | 1);
      }
    }
    check_contents(out, want);

    Buffer hits = zeros<uint32_t>(1);
    m.kernel("circle").launch({.grid = {2}, .block = {64}}, hits, 50).check();
    uint32_t inside = 0;
    for (uint32_t lane = 0; lane < 128; ++lane) {
      uint32_t x = lane * 2654435761U + 1;
      const auto next = [&] {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        return static_cast<float>(x >> 8) * 0x1p-24F;
      };
      for (int i = 0; i < 50; ++i) {
        const float u = next(), v = next();
        inside += u * u + v * v < 1.F ? 1 : 0;
      }
    }
    check_contents<uint32_t>(hits, {inside});

    // The standard's own generator: its 10,000th number is 4123659995; here the first 100.
    Buffer mt = zeros<uint32_t>(200);
    m.kernel("twister").launch({.grid = {2}, .block = {32}}, 5489U, mt, 100).check();
    std::vector<uint32_t> twisted;
    for (const uint32_t seed : {5489U, 5490U}) {
      std::mt19937 generator(seed);
      for (int i = 0; i < 100; ++i) twisted.push_back(static_cast<uint32_t>(generator()));
    }
    check_contents(mt, twisted);
  });
}

TEST_CASE("pairs: 16-bit results are used as the compiler left them") {
  const std::vector<uint32_t> x = {0, 1, 0x7f, 0x80, 0xff, 0x8000, 0xffff, 0x1234fedc};
  const uint32_t s = 3;
  both("narrow_results",
       [&](lanewise::Module& m) {
         const Buffer in = device().buffer(x);
         // cvt.s16.s8, then used as an unsigned number of 16 bits.
         const auto narrow = [](uint32_t v) {
           return static_cast<uint32_t>(static_cast<uint16_t>(static_cast<int8_t>(v)));
         };
         std::vector<uint32_t> want[3];
         for (const uint32_t v : x) {
           want[0].push_back(narrow(v * 3 + s));
           want[1].push_back(narrow(v + s) >> 4);
           const uint32_t n = narrow(v + s);
           // mul.hi.u16 with 43691, a division by three.
           want[2].push_back(n <= s ? n * 5 : (n * 43691 >> 16) >> 1);
         }
         const char* names[] = {"k", "k2", "k3"};
         for (size_t k = 0; k < 3; ++k) {
           Buffer out = zeros<uint32_t>(x.size());
           m.kernel(names[k]).launch({.grid = {1}, .block = {8}}, in, out, s).check();
           check_contents(out, want[k]);
         }
       },
       {".ptx", ".cubin", ".sm_60.cubin", ".sm_61.cubin", ".sm_62.cubin"});
}
