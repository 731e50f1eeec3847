// Video instructions: rules of their own on numbers of 128 bits, with parts of words by division.
// Lists of forms have whole words; the chosen parts are written by hand.
#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::video {

namespace {

const Type kWord{"u32", 'u', 32};

Wide part_of(uint64_t word, unsigned at, unsigned bits, bool is_signed) {
  return number({{}, is_signed ? 's' : 'u', bits}, word >> at);
}

using Rule = std::function<Wide(Wide, Wide)>;

std::optional<Rule> rule_of(const std::string& name, const std::string& cmp) {
  if (name == "vadd") return [](Wide a, Wide b) { return a + b; };
  if (name == "vsub") return [](Wide a, Wide b) { return a - b; };
  if (name == "vmin") return [](Wide a, Wide b) { return a < b ? a : b; };
  if (name == "vmax") return [](Wide a, Wide b) { return a < b ? b : a; };
  if (name == "vabsdiff") return [](Wide a, Wide b) { return a < b ? b - a : a - b; };
  if (name == "vavrg")  // halves away from zero
    return [](Wide a, Wide b) { return (a + b + (a + b < 0 ? -1 : 1)) / 2; };
  if (name != "vset") return {};
  return [cmp](Wide a, Wide b) -> Wide {
    return cmp == "eq"   ? a == b
           : cmp == "ne" ? a != b
           : cmp == "lt" ? a < b
           : cmp == "le" ? a <= b
           : cmp == "gt" ? a > b
                         : a >= b;
  };
}

struct Types {
  bool d = false, a = false, b = false;  ///< signed
  static std::optional<Types> of(Mods& m, bool three) {
    Types t;
    if (three) {
      const auto d = m.type();
      if (!d || d->bits != 32) return {};
      t.d = d->is_signed();
    }
    const auto a = m.type(), b = m.type();
    if (!a || !b) return {};
    t.a = a->is_signed();
    t.b = b->is_signed();
    return t;
  }
};

/// What was computed, as the second operation and the third source make a word of it.
uint64_t second(const std::string& with, uint64_t x, uint64_t c, bool is_signed) {
  const Type t{{}, is_signed ? 's' : 'u', 32};
  const Wide a = number(t, x), b = number(t, c);
  if (with == "add") return (x + c) & mask(32);
  if (with == "min") return a < b ? x : c;
  return with == "max" ? (a < b ? c : x) : x;
}

std::optional<Op> scalar(const std::string&, Mods& m) {
  const std::string name = m.opcode();
  const std::string cmp = m.one_of({"eq", "ne", "lt", "le", "gt", "ge"});
  const std::string with = m.one_of({"add", "min", "max"});
  const std::string mode = m.one_of({"clamp", "wrap"});
  const bool sat = m.take("sat");
  const auto t = Types::of(m, name != "vset");
  if (!t) return {};
  Rule rule;
  if (name == "vshl" || name == "vshr") {
    rule = [left = name == "vshl", wrap = mode == "wrap"](Wide a, Wide b) {
      const auto by = static_cast<unsigned>(wrap ? b % 32 : b < 32 ? b : 32);
      const Wide scale = static_cast<Wide>(1) << by;
      return left ? a * scale : (a - ((a % scale) + scale) % scale) / scale;
    };
  } else if (const auto found = rule_of(name, cmp)) {
    rule = *found;
  } else {
    return {};
  }
  Op op{{}, {{kWord}, {kWord}}, {{kWord}}, {}};
  if (!with.empty()) op.sources.push_back({kWord});
  op.value = [=, t = *t](Args in, Results out) {
    const Wide r = rule(part_of(in[0], 0, 32, t.a), part_of(in[1], 0, 32, t.b));
    const Type d{{}, t.d ? 's' : 'u', 32};
    const uint64_t x = sat ? clamped(d, r) : static_cast<uint64_t>(r) & mask(32);
    out[0] = second(with, x, with.empty() ? 0 : in[2], t.d);
  };
  return op;
}

std::optional<Op> vmad(const std::string&, Mods& m) {
  const bool po = m.take("po"), sat = m.take("sat");
  const std::string scale = m.one_of({"shr7", "shr15"});
  const auto t = Types::of(m, true);
  if (!t) return {};
  return Op{{}, {{kWord}, {kWord}, {kWord}}, {{kWord}}, [=, t = *t](Args in, Results out) {
              const bool is_signed = t.a || t.b;
              const Wide sum = part_of(in[0], 0, 32, t.a) * part_of(in[1], 0, 32, t.b) +
                               part_of(in[2], 0, 32, is_signed) + (po ? 1 : 0);
              const Wide by = scale.empty() ? 1 : scale == "shr7" ? 128 : 32768;
              const Wide r = (sum - ((sum % by) + by) % by) / by;
              const Type d{{}, is_signed ? 's' : 'u', 32};
              out[0] = sat ? clamped(d, r) : static_cast<uint64_t>(r) & mask(32);
            }};
}

/// What one of the instructions on parts does with these choices of parts, lowest first.
struct Parts {
  Rule rule;
  Types types;
  unsigned count = 2, written = 3;
  std::vector<unsigned> a = {}, b = {};
  bool sat = false, sums = false;
  uint64_t operator()(Args in) const {
    const unsigned bits = 32 / count;
    uint64_t result = in[2];
    for (unsigned i = 0; i < count; ++i) {
      if ((written >> i & 1) == 0) continue;
      const uint64_t both = in[1] << 32 | in[0];
      const Wide r = rule(part_of(both, a[i] * bits, bits, types.a),
                          part_of(both, b[i] * bits, bits, types.b));
      if (sums) {
        result = (result + static_cast<uint64_t>(r)) & mask(32);
        continue;
      }
      const Type d{{}, types.d ? 's' : 'u', bits};
      const uint64_t x = sat ? clamped(d, r) : static_cast<uint64_t>(r) & mask(bits);
      result = (result & ~(mask(bits) << (i * bits))) | x << (i * bits);
    }
    return result;
  }
};

std::optional<Parts> parts_of(Mods& m) {
  std::string name = m.opcode();
  Parts p;
  p.count = static_cast<unsigned>(name.back() - '0');
  name.pop_back();
  const std::string cmp = m.one_of({"eq", "ne", "lt", "le", "gt", "ge"});
  p.sat = m.take("sat");
  p.sums = m.take("add");
  const auto rule = rule_of(name, cmp);
  const auto t = Types::of(m, name != "vset");
  if (!rule || !t) return {};
  p.rule = *rule;
  p.types = *t;
  p.written = p.count == 2 ? 3 : 15;
  for (unsigned i = 0; i < p.count; ++i) {
    p.a.push_back(i);
    p.b.push_back(p.count + i);
  }
  return p;
}

Op op_of(const Parts& p) {
  return {
      {}, {{kWord}, {kWord}, {kWord}}, {{kWord}}, [p](Args in, Results out) { out[0] = p(in); }};
}

std::optional<Op> parts(const std::string&, Mods& m) {
  const auto p = parts_of(m);
  return p ? std::optional<Op>(op_of(*p)) : std::nullopt;
}

/// A form with chosen parts; digits stand in the order of the text, the highest part first.
Op chosen(const std::string& form, const std::string& into, const std::string& a,
          const std::string& b) {
  Mods m(form);
  Parts p = *parts_of(m);
  const std::string letter = p.count == 2 ? ".h" : ".b";
  p.written = 0;
  for (const char c : into) p.written |= 1U << static_cast<unsigned>(c - '0');
  for (unsigned i = 0; i < p.count; ++i) {
    p.a[i] = static_cast<unsigned>(a[p.count - 1 - i] - '0');
    p.b[i] = static_cast<unsigned>(b[p.count - 1 - i] - '0');
  }
  Op op = op_of(p);
  op.form = form;
  op.text = form + " d" + letter + into + ", a" + letter + a + ", b" + letter + b + ", c;";
  return op;
}

/// A scalar form on parts, merged into a part of the third source.
Op merged(const std::string& form, const std::string& into, const std::string& a,
          const std::string& b) {
  Mods m(form);
  const std::string name = m.opcode();
  const bool sat = m.take("sat");
  const Rule rule = *rule_of(name, "");
  const Types t = *Types::of(m, true);
  const auto place = [](const std::string& part) {
    const unsigned bits = part[0] == 'b' ? 8 : 16;
    return std::pair(static_cast<unsigned>(part[1] - '0') * bits, bits);
  };
  Op op{form, {{kWord}, {kWord}, {kWord}}, {{kWord}}, {}};
  op.text = form + " d." + into + ", a." + a + ", b." + b + ", c;";
  op.value = [=](Args in, Results out) {
    const auto [at, bits] = place(into);
    const auto [at_a, bits_a] = place(a);
    const auto [at_b, bits_b] = place(b);
    const Wide r = rule(part_of(in[0], at_a, bits_a, t.a), part_of(in[1], at_b, bits_b, t.b));
    const Type d{{}, t.d ? 's' : 'u', bits};
    const uint64_t x = sat ? clamped(d, r) : static_cast<uint64_t>(r) & mask(bits);
    out[0] = (in[2] & ~(mask(bits) << at)) | x << at;
  };
  return op;
}

}  // namespace

const Makers& makers() {
  static const Makers makers = [] {
    Makers all = {{"vmad", vmad}};
    for (const char* name : {"vadd", "vsub", "vmin", "vmax", "vabsdiff", "vset"}) {
      all[name] = scalar;
      all[std::string(name) + "2"] = all[std::string(name) + "4"] = parts;
    }
    all["vshl"] = all["vshr"] = scalar;
    all["vavrg2"] = all["vavrg4"] = parts;
    return all;
  }();
  return makers;
}

std::vector<Op> part_ops() {
  return {
      chosen("vadd2.s32.s32.u32.sat", "1", "30", "12"),
      chosen("vadd2.u32.u32.u32", "10", "01", "23"),
      chosen("vsub4.s32.s32.s32.sat", "3210", "0123", "7456"),
      chosen("vsub4.u32.u32.u32", "20", "7531", "6420"),
      chosen("vabsdiff4.u32.u32.s32.add", "31", "0000", "4567"),
      chosen("vavrg4.s32.s32.s32", "310", "3210", "7654"),
      merged("vadd.s32.s32.u32.sat", "b2", "h1", "b3"),
      merged("vsub.u32.u32.s32", "h0", "b1", "h0"),
      merged("vabsdiff.u32.s32.s32.sat", "h1", "h1", "h0"),
      merged("vmax.s32.u32.s32", "b0", "b0", "b3"),
  };
}

}  // namespace values::ptx::video
