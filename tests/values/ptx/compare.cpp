// setp, set, selp, slct.
#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::compare {

namespace {

const Type kPred{"pred", 'p', 1};

enum class Order { less, equal, greater, unordered };

double as_double(const Type& t, uint64_t bits, bool ftz) {
  if (t.bits == 64) return f64_of(bits);
  if (t.letter == 'B') return static_cast<double>(f32_of(static_cast<uint32_t>(bits) << 16));
  if (t.bits == 32) return static_cast<double>(flushed(f32_of(static_cast<uint32_t>(bits)), ftz));
  if (ftz && (bits & 0x7c00) == 0) bits &= 0x8000;
  return f16_to_double(static_cast<uint32_t>(bits));
}

Order order(const Type& t, uint64_t a, uint64_t b, bool ftz) {
  if (t.is_float()) {
    const double x = as_double(t, a, ftz), y = as_double(t, b, ftz);
    return x < y ? Order::less : x > y ? Order::greater : x == y ? Order::equal : Order::unordered;
  }
  const Wide x = number(t, a), y = number(t, b);
  return x < y ? Order::less : x > y ? Order::greater : Order::equal;
}

/// lo, ls, hi, hs are for unsigned numbers; the ones with a u at the end also hold when unordered.
bool holds(const std::string& name, Order o) {
  if (name == "num") return o != Order::unordered;
  if (name == "nan") return o == Order::unordered;
  if (o == Order::unordered) return name.size() == 3;
  const std::string two = name.substr(0, 2);
  const bool less = two == "lt" || two == "lo" || two == "le" || two == "ls" || two == "ne";
  const bool greater = two == "gt" || two == "hi" || two == "ge" || two == "hs" || two == "ne";
  const bool equal = two == "eq" || two == "le" || two == "ls" || two == "ge" || two == "hs";
  return o == Order::less ? less : o == Order::greater ? greater : equal;
}

uint64_t combined(const std::string& with, bool result, uint64_t other) {
  const uint64_t r = result ? 1 : 0;
  return with == "and" ? r & other : with == "or" ? r | other : with == "xor" ? r ^ other : r;
}

struct Comparison {
  std::string name, with;
  bool ftz = false;
  static std::optional<Comparison> of(Mods& m) {
    Comparison c;
    c.name = m.one_of({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu",
                       "ltu", "leu", "gtu", "geu", "num", "nan"});
    c.with = m.one_of({"and", "or", "xor"});
    c.ftz = m.take("ftz");
    if (c.name.empty()) return {};
    return c;
  }
};

std::vector<Operand> sources(const Type& t, const Comparison& c) {
  std::vector<Operand> s = {{t}, {t}};
  if (!c.with.empty()) s.push_back({kPred});
  return s;
}

Op setp_pair(const Comparison& c, const std::string& name) {
  const bool bf16 = name == "bf16x2";
  const Type t = type_named(name), half = type_named(bf16 ? "bf16" : "f16");
  return {{}, sources(t, c), {{kPred}, {kPred}}, [c, half](Args in, Results out) {
            for (unsigned i = 0; i < 2; ++i)
              out[i] = combined(c.with,
                                holds(c.name, order(half, in[0] >> (16 * i) & 0xffff,
                                                    in[1] >> (16 * i) & 0xffff, c.ftz)),
                                in[2]);
          }};
}

std::optional<Op> setp(const std::string& form, Mods& m) {
  const auto c = Comparison::of(m);
  const auto t = m.type();
  if (!c || !t) return {};
  Op op;
  if (t->name.ends_with("f16x2")) {
    op = setp_pair(*c, t->name);
  } else {
    op.sources = sources(*t, *c);
    op.results = {{kPred}, {kPred}};
    op.value = [c = *c, t = *t](Args in, Results out) {
      const bool r = holds(c.name, order(t, in[0], in[1], c.ftz));
      out[0] = combined(c.with, r, in[2]);
      out[1] = combined(c.with, !r, in[2]);
    };
  }
  // A comparison of halves and of bf16 has one destination.
  const bool one = t->name == "f16" || t->name == "bf16";
  const std::string rest = std::string(", a, b") + (c->with.empty() ? ";" : ", c;");
  op.text = form + (one ? " d" : " d|g") + rest;
  if (one) {
    op.results.pop_back();
    op.value = [c = *c, t = *t](Args in, Results out) {
      out[0] = combined(c.with, holds(c.name, order(t, in[0], in[1], c.ftz)), in[2]);
    };
  }
  return op;
}

std::optional<Op> set(const std::string&, Mods& m) {
  const auto c = Comparison::of(m);
  const auto d = m.type(), t = m.type();
  if (!c || !d || !t) return {};
  if (t->name.ends_with("f16x2")) {
    const uint64_t yes = d->name == "f16x2" ? 0x3c00 : d->name == "bf16x2" ? 0x3f80 : 0xffff;
    Op op = setp_pair(*c, t->name);
    op.results = {{*d}};
    op.value = [yes, both = op.value](Args in, Results out) {
      uint64_t r[2];
      both(in, r);
      out[0] = (r[0] != 0 ? yes : 0) | (r[1] != 0 ? yes << 16 : 0);
    };
    return op;
  }
  return Op{{}, sources(*t, *c), {{*d}}, [c = *c, t = *t, d = *d](Args in, Results out) {
              const bool r = holds(c.name, order(t, in[0], in[1], c.ftz));
              const uint64_t yes = d.letter == 'B'                ? 0x3f80
                                   : d.is_float() && d.bits == 16 ? 0x3c00
                                   : d.is_float()                 ? raw(1.0F)
                                                                  : mask(d.bits);
              out[0] = combined(c.with, r, in[2]) != 0 ? yes : 0;
            }};
}

std::optional<Op> selp(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return Op{{}, {{*t}, {*t}, {kPred}}, {{*t}}, [](Args in, Results out) {
              out[0] = in[2] != 0 ? in[0] : in[1];
            }};
}

/// The first when the third is not negative; -0 is not, a NaN is.
std::optional<Op> slct(const std::string&, Mods& m) {
  const bool ftz = m.take("ftz");
  const auto d = m.type(), t = m.type();
  if (!d || !t) return {};
  return Op{{}, {{*d}, {*d}, {*t}}, {{*d}}, [t = *t, ftz](Args in, Results out) {
              const Order o = order(t, in[2], 0, ftz);
              out[0] = o == Order::greater || o == Order::equal ? in[0] : in[1];
            }};
}

}  // namespace

const Makers& makers() {
  static const Makers makers = {{"setp", setp}, {"set", set}, {"selp", selp}, {"slct", slct}};
  return makers;
}

}  // namespace values::ptx::compare
