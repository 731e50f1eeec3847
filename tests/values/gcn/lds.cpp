// LDS instructions: what they bring to registers and leave in LDS.
#include "tests/values/gcn/memory.hpp"

#include <fmt/format.h>

namespace values::gcn::lds {

namespace {

/// v8: a place of eight bytes for each lane, 512 for the wave.
const std::string kPlace = kAll + "v_lshlrev_b32 v8, 3, v0\n";

const std::string kOld = "ds_write_b64 v8, v[10:11]";

uint32_t byte_of(uint64_t memory, unsigned at) {
  return memory >> (8 * at) & 0xff;
}
uint32_t half_of(uint64_t memory, unsigned at) {
  return static_cast<uint32_t>(memory >> (8 * at) & 0xffff);
}

/// A read of the eight bytes that hold words 0 and 1.
Step lds_read(const std::string& name, unsigned offset,
              std::function<uint32_t(uint64_t memory)> value) {
  Step s{kPlace + kOld + kWait + kSome +
             fmt::format("{} {{d}}, v8{}", name,
                         offset == 0 ? "" : fmt::format(" offset:{}", offset)) +
             kWait,
         nullptr};
  s.rule = [value](const Lane& l, Out o) { o[0] = value(l.pair(0)); };
  return s;
}

void lds_reads(std::vector<Case>& out) {
  const Tuples inputs = memory_inputs();
  const auto add = [&](const std::string& name, std::vector<Step> steps) {
    out.push_back(vector_case(name, inputs, steps));
  };
  std::vector<Step> bytes, signed_bytes, halves, signed_halves, words;
  for (const unsigned at : {0U, 3U, 6U}) {
    bytes.push_back(lds_read("ds_read_u8", at, [at](uint64_t m) { return byte_of(m, at); }));
    signed_bytes.push_back(lds_read("ds_read_i8", at, [at](uint64_t m) {
      return static_cast<uint32_t>(static_cast<int8_t>(byte_of(m, at)));
    }));
  }
  for (const unsigned at : {0U, 2U, 6U}) {
    halves.push_back(lds_read("ds_read_u16", at, [at](uint64_t m) { return half_of(m, at); }));
    signed_halves.push_back(lds_read("ds_read_i16", at, [at](uint64_t m) {
      return static_cast<uint32_t>(static_cast<int16_t>(half_of(m, at)));
    }));
  }
  for (const unsigned at : {0U, 4U})
    words.push_back(lds_read("ds_read_b32", at,
                             [at](uint64_t m) { return static_cast<uint32_t>(m >> (8 * at)); }));
  add("ds_read_u8", bytes);
  add("ds_read_i8", signed_bytes);
  add("ds_read_u16", halves);
  add("ds_read_i16", signed_halves);
  add("ds_read_b32", words);
  Step wide{kPlace + kOld + kWait + kSome + "ds_read_b64 {p}, v8" + kWait, nullptr, 2};
  wide.rule = [](const Lane& l, Out o) { o[0] = l[0], o[1] = l[1]; };
  add("ds_read_b64", {wide});
  // Pairs of places: the offsets count elements, or 64 of them.
  const auto pair = [&](const std::string& name, unsigned element, unsigned step, unsigned first,
                        unsigned second) {
    const unsigned words = element / 4;
    const auto write = [&](unsigned index, unsigned reg) {
      return fmt::format(
          "ds_write_b{} v8, {} offset:{}\n", 8 * element,
          words == 1 ? fmt::format("v{}", reg) : fmt::format("v[{}:{}]", reg, reg + 1),
          index * step);
    };
    Step s{kAll + fmt::format("v_lshlrev_b32 v8, {}, v0\n", element == 4 ? 2 : 3) +
               write(first, 10) + write(second, 12) + kWait + kSome +
               fmt::format("{} {{q}}, v8 offset0:{} offset1:{}", name, first, second) + kWait,
           nullptr, 2 * words};
    s.rule = [words](const Lane& l, Out o) {
      for (unsigned n = 0; n < words; ++n) o[n] = l[n], o[words + n] = l[2 + n];
    };
    add(name, {s});
  };
  pair("ds_read2_b32", 4, 4, 64, 192);
  pair("ds_read2st64_b32", 4, 256, 3, 1);
  pair("ds_read2_b64", 8, 8, 64, 128);
  pair("ds_read2st64_b64", 8, 512, 1, 4);
}

/// A write over words 0 and 1; then both are read.
Step lds_write(const std::string& text, std::function<uint64_t(const Lane&)> after) {
  return whole(
      kPlace + kOld + kWait + kSome + text + kWait + kAll + "ds_read_b64 {p}, v8" + kWait + kSome,
      2, [after](const Lane& l, Out o) {
        const uint64_t m = l.active() ? after(l) : l.pair(0);
        o[0] = static_cast<uint32_t>(m);
        o[1] = static_cast<uint32_t>(m >> 32);
      });
}

uint64_t replaced_bits(uint64_t memory, uint64_t value, unsigned at, unsigned bytes) {
  const uint64_t field = bytes == 8 ? ~uint64_t{0} : ((uint64_t{1} << 8 * bytes) - 1) << 8 * at;
  return (memory & ~field) | (value << 8 * at & field);
}

void lds_writes(std::vector<Case>& out) {
  const Tuples inputs = memory_inputs();
  const auto plain = [&](const std::string& name, unsigned bytes, std::vector<unsigned> places) {
    std::vector<Step> steps;
    for (const unsigned at : places)
      steps.push_back(
          lds_write(fmt::format("{} v8, {}{}", name, bytes == 8 ? "v[12:13]" : "v12",
                                at == 0 ? "" : fmt::format(" offset:{}", at)),
                    [=](const Lane& l) { return replaced_bits(l.pair(0), l.pair(2), at, bytes); }));
    out.push_back(vector_case(name, inputs, steps));
  };
  plain("ds_write_b8", 1, {0, 3, 6});
  plain("ds_write_b16", 2, {0, 2, 6});
  plain("ds_write_b32", 4, {0, 4});
  plain("ds_write_b64", 8, {0});
  const auto pair = [&](const std::string& name, unsigned element, unsigned step, unsigned first,
                        unsigned second) {
    const unsigned words = element / 4;
    const auto read = [&](unsigned index, unsigned at) {
      return fmt::format(
          "ds_read_b{} {}, v8 offset:{}\n", 8 * element,
          words == 1 ? fmt::format("v{}", 24 + at) : fmt::format("v[{}:{}]", 24 + at, 25 + at),
          index * step);
    };
    const auto old = [&](unsigned index) {
      return fmt::format("ds_write_b{} v8, {} offset:{}\n", 8 * element,
                         words == 1 ? "v10" : "v[10:11]", index * step);
    };
    const std::string data0 = words == 1 ? "v12" : "v[12:13]",
                      data1 = words == 1 ? "v14" : "v[14:15]";
    std::string text =
        kAll + fmt::format("v_lshlrev_b32 v8, {}, v0\n", element == 4 ? 2 : 3) + old(first) +
        old(second) + kWait + kSome +
        fmt::format("{} v8, {}, {} offset0:{} offset1:{}", name, data0, data1, first, second) +
        kWait + kAll + read(first, 0) + read(second, words) + kWait;
    // Each word alone, so that the case has no more than four.
    std::vector<Step> steps;
    for (unsigned n = 0; n < 2 * words; ++n) {
      const unsigned from = n < words ? 2 + n : 4 + n - words;
      steps.push_back(
          whole((n == 0 ? text : kAll) + fmt::format("v_mov_b32 {{d}}, v{}\n", 24 + n) + kSome, 1,
                [=](const Lane& l, Out o) { o[0] = l.active() ? l[from] : l[n % words]; }));
    }
    out.push_back(vector_case(name, inputs, steps));
  };
  pair("ds_write2_b32", 4, 4, 64, 192);
  pair("ds_write2st64_b32", 4, 256, 3, 1);
  pair("ds_write2_b64", 8, 8, 64, 128);
  pair("ds_write2st64_b64", 8, 512, 1, 4);
}

constexpr Atomic<uint32_t> kLdsAtomics[] = {
    {"add_{}u32", [](uint32_t p, uint32_t d) { return p + d; }},
    {"sub_{}u32", [](uint32_t p, uint32_t d) { return p - d; }},
    {"rsub_{}u32", [](uint32_t p, uint32_t d) { return d - p; }},
    {"inc_{}u32", increment<uint32_t>},
    {"dec_{}u32", decrement<uint32_t>},
    {"min_{}i32", signed_less<uint32_t>},
    {"max_{}i32", signed_greater<uint32_t>},
    {"min_{}u32", [](uint32_t p, uint32_t d) { return p < d ? p : d; }},
    {"max_{}u32", [](uint32_t p, uint32_t d) { return p > d ? p : d; }},
    {"and_{}b32", [](uint32_t p, uint32_t d) { return p & d; }},
    {"or_{}b32", [](uint32_t p, uint32_t d) { return p | d; }},
    {"xor_{}b32", [](uint32_t p, uint32_t d) { return p ^ d; }},
    {"wrxchg_{}b32", [](uint32_t, uint32_t d) { return d; }},
    {"cmpst_{}b32", nullptr}};

/// Memory and data with small values in which equal ones meet.
Tuples atomic_inputs() {
  const Pool close{1, {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff}};
  return with_flags({u32().with(close.values), u32().with(close.values), u32()}, 768);
}

void lds_atomics(std::vector<Case>& out) {
  // For the exchange on equality: what is compared, memory and the new value.
  const Pool few{1, {0, 1, 0x80000000}};
  const Tuples compared = with_flags({few, few, u32()}, 512);
  for (const auto& a : kLdsAtomics)
    for (const bool returns : {false, true}) {
      const std::string op = a.name;
      const bool exchange = op.starts_with("wrxchg"), compares = a.f == nullptr;
      if (exchange && !returns) continue;
      const std::string name = "ds_" + fmt::format(fmt::runtime(op), returns ? "rtn_" : "");
      const auto f = a.f;
      const auto after = [=](const Lane& l) {
        return compares ? (l[0] == l[1] ? l[2] : l[0]) : f(l[0], l[1]);
      };
      Step access{kPlace + "ds_write_b32 v8, v10 offset:512" + kWait + kSome + name +
                      (returns ? " {d}," : "") + " v8, v11" + (compares ? ", v12" : "") +
                      " offset:512" + kWait,
                  nullptr, returns ? 1U : 0U};
      access.old = 2;
      access.rule = [returns](const Lane& l, Out o) {
        if (returns) o[0] = l[0];
      };
      const Step memory =
          whole(kAll + "ds_read_b32 {d}, v8 offset:512" + kWait + kSome, 1,
                [after](const Lane& l, Out o) { o[0] = l.active() ? after(l) : l[0]; });
      out.push_back(vector_case(name, compares ? compared : atomic_inputs(), {access, memory}));
    }
}

/// Three and four dwords in a row, 16 bytes a lane.
void lds_wide(std::vector<Case>& out) {
  const std::string place = kAll + "v_lshlrev_b32 v8, 4, v0\n";
  std::string each, old;
  for (unsigned n = 0; n < 4; ++n) {
    each += fmt::format("ds_write_b32 v8, v{} offset:{}\n", 10 + n, 4 * n);
    old += fmt::format("ds_write_b32 v8, v13 offset:{}\n", 4 * n);
  }
  const Tuples inputs = with_flags({u32(), u32(), u32(), u32()}, 512);
  for (const unsigned words : {3U, 4U}) {
    const std::string size = fmt::format("b{}", 32 * words);
    Step read{place + each + kWait + kSome + "ds_read_" + size + " {q}, v8" + kWait, nullptr,
              words};
    read.rule = [words](const Lane& l, Out o) {
      for (unsigned n = 0; n < words; ++n) o[n] = l[n];
    };
    out.push_back(vector_case("ds_read_" + size, inputs, {read}));
    const Step write = whole(place + old + kWait + kSome +
                                 fmt::format("ds_write_{} v8, v[10:{}]", size, 9 + words) + kWait +
                                 kAll + "ds_read2_b64 {q}, v8 offset0:0 offset1:1" + kWait + kSome,
                             4, [words](const Lane& l, Out o) {
                               for (unsigned n = 0; n < 4; ++n)
                                 o[n] = l.active() && n < words ? l[n] : l[3];
                             });
    out.push_back(vector_case("ds_write_" + size, inputs, {write}));
  }
}

}  // namespace

void cases(Generation g, std::vector<Case>& out) {
  if (g != kGfx6) lds_wide(out);
  lds_reads(out);
  lds_writes(out);
  lds_atomics(out);
}

}  // namespace values::gcn::lds
