// Logic, shifts, bit fields and byte permutations: bit by bit, as the manual describes them.
#include <bit>

#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::bit_ops {

namespace {

using Function = std::function<uint64_t(Args)>;

const Type kB32{"b32", 'b', 32}, kU32{"u32", 'u', 32}, kS32{"s32", 's', 32};

Op op(std::vector<Operand> sources, const Type& result, Function f) {
  return {{},
          std::move(sources),
          {{result}},
          [f = std::move(f), bits = result.bits](Args in, Results out) {
            out[0] = f(in) & mask(bits);
          }};
}

template <typename F>
std::optional<Op> logic(Mods& m, F rule) {
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}, {*t}}, *t, [rule](Args in) { return rule(in[0], in[1]); });
}
std::optional<Op> and_(const std::string&, Mods& m) {
  return logic(m, [](uint64_t a, uint64_t b) { return a & b; });
}
std::optional<Op> or_(const std::string&, Mods& m) {
  return logic(m, [](uint64_t a, uint64_t b) { return a | b; });
}
std::optional<Op> xor_(const std::string&, Mods& m) {
  return logic(m, [](uint64_t a, uint64_t b) { return a ^ b; });
}
std::optional<Op> not_(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}}, *t, [](Args in) { return ~in[0]; });
}
std::optional<Op> cnot(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}}, *t, [](Args in) -> uint64_t { return in[0] == 0; });
}

/// The look-up tables of a lop3 case: single inputs, common combinations, patterns.
constexpr unsigned kTables[] = {0xf0, 0xcc, 0xaa, 0x80, 0xfe, 0x96, 0xe8, 0xca,
                                0xd8, 0x00, 0xff, 0x1b, 0x6a, 0x7f, 0x01, 0x35};

std::optional<Op> lop3(const std::string& form, Mods& m) {
  const std::string with = m.one_of({"and", "or"});
  if (!m.type()) return {};
  Op o{{}, {{kB32}, {kB32}, {kB32}}, {}, {}};
  if (!with.empty()) o.sources.push_back({type_named("pred")});
  // All results in one: each table's result is turned a little further.
  o.text = ".reg .b32 t;\n.reg .pred x;\nmov.b32 d, 0;\n";
  for (unsigned table : kTables)
    o.text += "shf.l.wrap.b32 d, d, d, 3;\n" + form + (with.empty() ? " t" : " t|x") +
              ", a, b, c, " + std::to_string(table) + (with.empty() ? "" : ", e") +
              ";\nadd.u32 d, d, t;\n" + (with.empty() ? "" : "@x add.u32 d, d, 1;\n");
  o.results = {{kB32}};
  o.value = [with](Args in, Results out) {
    uint32_t all = 0;
    for (unsigned table : kTables) {
      uint32_t r = 0;
      for (unsigned i = 0; i < 32; ++i) {
        const unsigned row =
            static_cast<unsigned>((in[0] >> i & 1) << 2 | (in[1] >> i & 1) << 1 | (in[2] >> i & 1));
        r |= (table >> row & 1) << i;
      }
      all = std::rotl(all, 3) + r;
      if (with == "and") all += r != 0 && in[3] != 0;
      if (with == "or") all += r != 0 || in[3] != 0;
    }
    out[0] = all;
  };
  return o;
}

/// Shift counts from the width on give what shifting one by one gives.
std::optional<Op> shl(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}, {kU32, "shift"}}, *t,
            [bits = t->bits](Args in) { return in[1] >= bits ? 0 : in[0] << in[1]; });
}
std::optional<Op> shr(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}, {kU32, "shift"}}, *t, [t = *t](Args in) {
    const uint64_t by = std::min<uint64_t>(in[1], t.bits);
    return static_cast<uint64_t>(number(t, in[0]) >> by);
  });
}
std::optional<Op> shf(const std::string&, Mods& m) {
  const bool left = m.one_of({"l", "r"}) == "l", wrap = m.one_of({"wrap", "clamp"}) == "wrap";
  if (!m.type()) return {};
  return op({{kB32}, {kB32}, {kU32, "shift"}}, kB32, [left, wrap](Args in) {
    const uint64_t pair = in[1] << 32 | in[0];
    const uint64_t by = wrap ? in[2] & 31 : std::min<uint64_t>(in[2], 32);
    return left ? (by == 32 ? in[0] : (pair << by) >> 32) : pair >> by;
  });
}

/// Positions and lengths of fields: the low 8 bits; of 64-bit fields all of them (on an H100).
unsigned field_part(const Type& t, uint64_t n) {
  return static_cast<unsigned>(t.bits == 64 ? std::min<uint64_t>(n, 1000) : n & 0xff);
}

std::optional<Op> bfe(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}, {kU32, "shift"}, {kU32, "shift"}}, *t, [t = *t](Args in) {
    const unsigned at = field_part(t, in[1]), length = field_part(t, in[2]), top = t.bits - 1;
    const bool sign =
        t.is_signed() && length != 0 && (in[0] >> std::min(at + length - 1, top) & 1) != 0;
    uint64_t r = 0;
    for (unsigned i = 0; i < t.bits; ++i) {
      const bool inside = i < length && at + i <= top;
      r |= uint64_t{inside ? (in[0] >> (at + i) & 1) != 0 : sign} << i;
    }
    return r;
  });
}
std::optional<Op> bfi(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}, {*t}, {kU32, "shift"}, {kU32, "shift"}}, *t, [t = *t](Args in) {
    const unsigned bits = t.bits, at = field_part(t, in[2]), length = field_part(t, in[3]);
    uint64_t r = in[1];
    for (unsigned i = 0; i < length && at + i < bits; ++i) {
      const uint64_t bit = uint64_t{1} << (at + i);
      r = (in[0] >> i & 1) != 0 ? r | bit : r & ~bit;
    }
    return r;
  });
}

std::optional<Op> bfind(const std::string&, Mods& m) {
  const bool amount = m.take("shiftamt");
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}}, kU32, [t = *t, amount](Args in) -> uint64_t {
    const uint64_t v = number(t, in[0]) < 0 ? ~in[0] : in[0];
    for (unsigned i = t.bits; i-- > 0;)
      if ((v >> i & 1) != 0) return amount ? t.bits - 1 - i : i;
    return 0xffffffff;
  });
}
std::optional<Op> clz(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}}, kU32, [bits = t->bits](Args in) {
    uint64_t n = 0;
    while (n < bits && (in[0] >> (bits - 1 - n) & 1) == 0) ++n;
    return n;
  });
}
std::optional<Op> popc(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}}, kU32, [](Args in) { return static_cast<uint64_t>(std::popcount(in[0])); });
}
std::optional<Op> brev(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}}, *t, [bits = t->bits](Args in) {
    uint64_t r = 0;
    for (unsigned i = 0; i < bits; ++i) r |= (in[0] >> i & 1) << (bits - 1 - i);
    return r;
  });
}

/// Which source bytes make the result in the modes, highest byte first, by the two selector bits.
const std::map<std::string, std::vector<std::string>>& byte_tables() {
  static const std::map<std::string, std::vector<std::string>> tables = {
      {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
      {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
      {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
  return tables;
}

std::optional<Op> prmt(const std::string&, Mods& m) {
  const std::string mode = m.one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (!m.type()) return {};
  return op({{kB32}, {kB32}, {kB32, "nibble"}}, kB32, [mode](Args in) {
    const uint64_t pair = in[1] << 32 | in[0];
    uint64_t r = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint64_t byte = 0;
      if (mode.empty()) {
        const uint64_t pick = in[2] >> (4 * i) & 15;
        byte = pair >> (8 * (pick & 7)) & 0xff;
        if (pick > 7) byte = byte >= 0x80 ? 0xff : 0;
      } else {
        const char digit = byte_tables().at(mode)[in[2] & 3][3 - i];
        byte = pair >> (8 * (digit - '0')) & 0xff;
      }
      r |= byte << (8 * i);
    }
    return r;
  });
}

/// The n-th set bit on the way up or down from a place, one bit after the other.
std::optional<Op> fns(const std::string&, Mods& m) {
  if (!m.type()) return {};
  return op({{kB32}, {kB32, "lane"}, {kS32, "small"}}, kB32, [](Args in) -> uint64_t {
    const auto offset = static_cast<int32_t>(in[2]);
    const auto base = static_cast<int>(in[1]);
    if (offset == 0) return (in[0] >> base & 1) != 0 ? in[1] : 0xffffffff;
    int64_t left = offset < 0 ? -int64_t{offset} : offset;
    for (int at = base; at >= 0 && at < 32; at += offset < 0 ? -1 : 1)
      if ((in[0] >> at & 1) != 0 && --left == 0) return static_cast<uint64_t>(at);
    return 0xffffffff;
  });
}

std::optional<Op> bmsk(const std::string&, Mods& m) {
  const bool clamp = m.one_of({"clamp", "wrap"}) == "clamp";
  if (!m.type()) return {};
  return op({{kB32, "shift"}, {kB32, "shift"}}, kB32, [clamp](Args in) {
    const uint64_t at = clamp ? std::min<uint64_t>(in[0], 32) : in[0] & 31;
    const uint64_t length = clamp ? std::min<uint64_t>(in[1], 32) : in[1] & 31;
    uint64_t r = 0;
    for (uint64_t i = at; i < at + length && i < 32; ++i) r |= uint64_t{1} << i;
    return r;
  });
}
std::optional<Op> szext(const std::string&, Mods& m) {
  const bool clamp = m.one_of({"clamp", "wrap"}) == "clamp";
  const auto t = m.type();
  if (!t) return {};
  return op({{*t}, {kU32, "shift"}}, *t, [t = *t, clamp](Args in) -> uint64_t {
    const auto bits = static_cast<unsigned>(clamp ? std::min<uint64_t>(in[1], 32) : in[1] & 31);
    if (bits == 0) return 0;
    return static_cast<uint64_t>(number({{}, t.letter, bits}, in[0]));
  });
}

}  // namespace

const Makers& makers() {
  static const Makers makers = {{"and", and_},  {"or", or_},    {"xor", xor_},   {"not", not_},
                                {"cnot", cnot}, {"lop3", lop3}, {"shl", shl},    {"shr", shr},
                                {"shf", shf},   {"bfe", bfe},   {"bfi", bfi},    {"bfind", bfind},
                                {"clz", clz},   {"popc", popc}, {"brev", brev},  {"prmt", prmt},
                                {"fns", fns},   {"bmsk", bmsk}, {"szext", szext}};
  return makers;
}

}  // namespace values::ptx::bit_ops
