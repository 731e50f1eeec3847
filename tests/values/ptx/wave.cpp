// Instructions that look at other lanes: small models of a wave of 32 lanes, all of them active or
// those of the lower half only.
#include <fmt/format.h>

#include <bit>

#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::wave {

namespace {

constexpr unsigned kLanes = 32;
using Ins = std::span<const In>;
using Outs = std::span<const Out>;

Case wave_case(const std::string& form, unsigned inputs, unsigned outputs, const std::string& body,
               Tuples tuples, WaveOracle oracle) {
  Case c;
  c.row = form;
  c.inputs = inputs;
  c.outputs = outputs;
  for (unsigned n = 0; n < inputs; ++n)
    c.text += fmt::format(".reg .b32 i{0};\nld.global.b32 i{0}, [in+@in+{1}];\n", n, 4 * n);
  for (unsigned n = 0; n < outputs; ++n) c.text += fmt::format(".reg .b32 o{};\n", n);
  c.text += ".reg .pred p, q;\n.reg .b64 w;\n" + body + "\n";
  for (unsigned n = 0; n < outputs; ++n)
    c.text += fmt::format("st.global.b32 [out+@out+{}], o{};\n", 4 * n, n);
  c.tuples = std::move(tuples);
  c.wave = std::move(oracle);
  return c;
}

/// The same within a branch that only the lanes of the lower half take; the others give 7.
std::string in_lower_half(const std::string& body, unsigned outputs, const std::string& label) {
  std::string text =
      ".reg .pred low;\n.reg .b32 id;\nmov.u32 id, %laneid;\n"
      "setp.ge.u32 low, id, 16;\n";
  for (unsigned n = 0; n < outputs; ++n) text += fmt::format("mov.u32 o{}, 7;\n", n);
  return text + "@low bra " + label + ";\n" + body + "\n" + label + ":\n";
}
constexpr uint32_t kLower = 0xffff;

/// Random words of which some are equal.
Tuples lanes(unsigned inputs, uint64_t seed, uint64_t most = ~uint64_t{0}) {
  Tuples t;
  Random next(seed);
  for (unsigned lane = 0; lane < 2 * kGroup; ++lane) {
    Words w;
    for (unsigned n = 0; n < inputs; ++n) w.push_back(static_cast<uint32_t>(next() % most));
    t.push_back(std::move(w));
  }
  return t;
}

// --- shfl ----------------------------------------------------------------------------------------

struct Source {
  unsigned lane;
  bool valid;
};
Source source_of(const std::string& mode, int lane, uint32_t b, uint32_t c) {
  const int by = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31),
            segment = static_cast<int>(c >> 8 & 31);
  const int least = lane & segment, most = least | (clamp & ~segment);
  int from = mode == "up" ? lane - by : mode == "down" ? lane + by : lane ^ by;
  if (mode == "idx") from = least | (by & ~segment);
  const bool valid = mode == "up" ? from >= most : from <= most;
  return {static_cast<unsigned>(valid ? from : lane), valid};
}

/// Sources are the same in all lanes of one, and of lanes' own in another.
std::vector<Case> shuffles(const std::string& form, const std::string& mode, bool sync) {
  std::vector<Case> out;
  const std::string members = sync ? ", 0xffffffff" : "";
  const std::string body = form + " o0|p, i0, i1, i2" + members + ";\nselp.b32 o1, 1, 0, p;";
  const WaveOracle oracle = [mode](Ins in, Outs result) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const Source s = source_of(mode, static_cast<int>(lane), in[lane][1], in[lane][2]);
      result[lane][0] = in[s.lane][0];
      result[lane][1] = s.valid ? 1 : 0;
    }
  };
  out.push_back(wave_case(form, 3, 2, body, lanes(3, 11), oracle));
  Tuples same = lanes(3, 12);
  Random next(13);
  uint32_t b = 0, c = 0;
  for (size_t lane = 0; lane < same.size(); ++lane) {
    if (lane % kLanes == 0) {
      b = static_cast<uint32_t>(next());
      constexpr uint32_t kBounds[] = {0x1f, 0x181f, 0, 0x1c07};
      c = kBounds[lane / kLanes % 4];
    }
    same[lane][1] = b;
    same[lane][2] = c;
  }
  out.push_back(wave_case(form, 3, 2, body, same, oracle));
  return out;
}

// --- vote, match, redux --------------------------------------------------------------------------

uint32_t ballot(Ins in, uint32_t members) {
  uint32_t set = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((members >> lane & 1) != 0 && in[lane][0] != 0) set |= 1U << lane;
  return set;
}
uint32_t vote(const std::string& what, uint32_t set, uint32_t members) {
  if (what == "ballot") return set;
  if (what == "any") return set != 0 ? 1 : 0;
  if (what == "all") return set == members ? 1 : 0;
  return set == 0 || set == members ? 1 : 0;
}
/// What each member gets; the others have 7.
template <typename F>
WaveOracle for_members(uint32_t members, F value) {
  return [=](Ins in, Outs result) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (size_t n = 0; n < result[lane].size(); ++n)
        result[lane][n] = (members >> lane & 1) != 0 ? value(in, lane, n) : 7;
  };
}

/// Waves in which all, none, one and some lanes say yes.
Tuples votes() {
  Tuples t;
  Random next(5);
  for (unsigned wave = 0; wave < 8; ++wave)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const bool some = (next() & 1) != 0;
      const bool yes = wave == 0   ? true
                       : wave == 1 ? false
                       : wave == 2 ? lane == 9
                       : wave == 3 ? lane != 30
                       : wave == 4 ? lane < 16
                                   : some;
      t.push_back({yes ? 1U : 0U});
    }
  return t;
}

std::vector<Case> two_halves(const std::string& form, unsigned inputs, unsigned outputs,
                             const std::function<std::string(const std::string&)>& body,
                             const Tuples& tuples,
                             const std::function<uint32_t(Ins, unsigned, size_t, uint32_t)>& f) {
  std::vector<Case> out;
  for (const uint32_t members : {0xffffffffU, kLower}) {
    const std::string mask = fmt::format("{:#x}", members);
    std::string text = body(mask);
    if (members == kLower) text = in_lower_half(text, outputs, "past");
    out.push_back(wave_case(form, inputs, outputs, text, tuples,
                            for_members(members, [=](Ins in, unsigned lane, size_t n) {
                              return f(in, lane, n, members);
                            })));
  }
  return out;
}

std::vector<Case> votes_of(const std::string& form, const std::string& what, bool sync) {
  const auto body = [=](const std::string& members) {
    const std::string tail = sync ? ", " + members + ";" : ";";
    const std::string begin = "setp.ne.u32 p, i0, 0;\n";
    if (what == "ballot") return begin + form + " o0, p" + tail;
    return begin + form + " q, p" + tail + "\nselp.b32 o0, 1, 0, q;";
  };
  return two_halves(form, 1, 1, body, votes(), [what](Ins in, unsigned, size_t, uint32_t members) {
    return vote(what, ballot(in, members), members);
  });
}

uint64_t matched(In words, bool two) {
  return two ? wide(words[0], words[1]) : words[0];
}
std::vector<Case> matches(const std::string& form, bool any, bool two) {
  Tuples t = lanes(2, 21, 3);
  for (unsigned lane = 0; lane < kLanes; ++lane) t[lane] = {5, 6};  // one wave of equal values
  const auto body = [=](const std::string& members) {
    const std::string value = two ? "w" : "i0";
    return "mov.b64 w, {i0, i1};\n" + form + (any ? " o0, " : " o0|p, ") + value + ", " + members +
           ";\n" + (any ? "mov.u32 o1, 3;" : "selp.b32 o1, 1, 0, p;");
  };
  return two_halves(
      form, 2, 2, body, t, [=](Ins in, unsigned lane, size_t n, uint32_t members) -> uint32_t {
        uint32_t same = 0;
        for (unsigned i = 0; i < kLanes; ++i)
          if ((members >> i & 1) != 0 && matched(in[i], two) == matched(in[lane], two))
            same |= 1U << i;
        if (any) return n == 0 ? same : 3;
        const bool all = same == members;
        return n == 0 ? (all ? members : 0) : (all ? 1 : 0);
      });
}

uint32_t reduced(const std::string& op, bool is_signed, uint32_t a, uint32_t b) {
  const bool less = is_signed ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
  if (op == "add") return a + b;
  if (op == "min") return less ? a : b;
  if (op == "max") return less ? b : a;
  return op == "and" ? a & b : op == "or" ? a | b : a ^ b;
}
std::vector<Case> reductions(const std::string& form, const std::string& op, bool is_signed) {
  Tuples t = lanes(1, 31);
  for (unsigned lane = 0; lane < kLanes; ++lane) t[lane] = {0x80000000 | 1U << lane};
  return two_halves(
      form, 1, 1, [=](const std::string& members) { return form + " o0, i0, " + members + ";"; }, t,
      [=](Ins in, unsigned, size_t, uint32_t members) {
        uint32_t r = in[0][0];
        for (unsigned i = 1; i < kLanes; ++i)
          if ((members >> i & 1) != 0) r = reduced(op, is_signed, r, in[i][0]);
        return r;
      });
}

void append(std::vector<Case>& out, std::vector<Case> more) {
  for (Case& c : more) out.push_back(std::move(c));
}

void add_lane_registers(std::vector<Case>& out) {
  using Of = uint32_t (*)(uint32_t lane);
  const std::pair<const char*, Of> kRegisters[] = {
      {"%laneid", [](uint32_t n) { return n; }},
      {"%lanemask_eq", [](uint32_t n) { return 1U << n; }},
      {"%lanemask_lt", [](uint32_t n) { return (1U << n) - 1; }},
      {"%lanemask_le", [](uint32_t n) { return (2U << n) - 1; }},
      {"%lanemask_gt", [](uint32_t n) { return ~((2U << n) - 1); }},
      {"%lanemask_ge", [](uint32_t n) { return ~((1U << n) - 1); }}};
  for (const auto& [name, of] : kRegisters)
    out.push_back(wave_case("mov.u32", 1, 1, fmt::format("mov.u32 o0, {};", name), lanes(1, 1),
                            [of = of](Ins, Outs result) {
                              for (unsigned lane = 0; lane < kLanes; ++lane)
                                result[lane][0] = of(lane);
                            }));
}

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    append(out, shuffles("shfl.sync." + mode + ".b32", mode, true));
  for (const std::string what : {"any", "all", "uni"})
    append(out, votes_of("vote.sync." + what + ".pred", what, true));
  append(out, votes_of("vote.sync.ballot.b32", "ballot", true));
  for (const bool two : {false, true}) {
    const std::string type = two ? ".b64" : ".b32";
    append(out, matches("match.any.sync" + type, true, two));
    append(out, matches("match.all.sync" + type, false, two));
  }
  for (const std::string op : {"add", "min", "max"}) {
    append(out, reductions("redux.sync." + op + ".u32", op, false));
    append(out, reductions("redux.sync." + op + ".s32", op, true));
  }
  for (const std::string op : {"and", "or", "xor"})
    append(out, reductions("redux.sync." + op + ".b32", op, false));
  append(out, two_halves(
                  "activemask.b32", 1, 1,
                  [](const std::string&) { return std::string("activemask.b32 o0;"); }, lanes(1, 2),
                  [](Ins, unsigned, size_t, uint32_t m) { return m; }));
  append(out, two_halves(
                  "elect.sync", 1, 2,
                  [](const std::string& members) {
                    return "elect.sync o0|p, " + members + ";\nselp.b32 o1, 1, 0, p;";
                  },
                  lanes(1, 3),
                  [](Ins, unsigned lane, size_t n, uint32_t) -> uint32_t {
                    return n == 0 ? 0 : lane == 0 ? 1 : 0;
                  }));
  append(out,
         two_halves(
             "bar.warp.sync", 1, 1,
             [](const std::string& members) {
               return "bar.warp.sync " + members + ";\nmov.u32 o0, i0;";
             },
             lanes(1, 4), [](Ins in, unsigned lane, size_t, uint32_t) { return in[lane][0]; }));
  add_lane_registers(out);
  return out;
}

}  // namespace values::ptx::wave
