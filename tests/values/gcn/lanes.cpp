// Masks, branches, and instructions between the lanes of a wave.
#include <fmt/format.h>

#include <bit>

#include "tests/values/gcn/forms.hpp"

namespace values::gcn::lanes {

namespace {

/// Waves whose masks are anything, and waves in which EXEC, the other masks or what they have in
/// common is empty or full.
Tuples mask_tuples() {
  const auto flags_of = [](unsigned wave, unsigned lane, uint64_t any) -> uint32_t {
    switch (wave % 8) {
      case 0:
        return 1;
      case 1:
        return any & 6;
      case 2:
        return lane == 41 ? 1 : any & 4;
      case 3:
        return any & 1 ? 1 : 2;
      case 4:
        return 7;
      case 5:
        return 0;
      case 6:
        return lane < 32 ? 3 : 4;
      default:
        return any & 7;
    }
  };
  Random next(77);
  Tuples out;
  for (unsigned wave = 0; wave < 24; ++wave)
    for (unsigned lane = 0; lane < 64; ++lane) {
      const uint64_t any = next();
      out.push_back({static_cast<uint32_t>(next()), static_cast<uint32_t>(next()),
                     static_cast<uint32_t>(any >> 8), flags_of(wave, lane, any)});
    }
  return out;
}

/// Behind `text`: SCC or another scalar to a vector register of all lanes.
std::string to_all_lanes(const std::string& from) {
  return "\ns_mov_b64 exec, -1\nv_mov_b32 {d}, " + from + "\ns_mov_b64 exec, s[20:21]";
}
const std::string kKeepScc = "\ns_cselect_b32 s30, 1, 0";

Step whole(std::string text, unsigned words, bool mask, Rule rule) {
  Step s{std::move(text), std::move(rule), words, mask};
  s.whole_wave = true;
  return s;
}

using Logic = uint64_t (*)(uint64_t a, uint64_t b);

/// A mask and SCC from an expression in lane masks.
Step mask_and_scc(const std::string& text, std::function<uint64_t(const Lane&)> f) {
  return whole(text + kKeepScc + to_all_lanes("s30"), 1, true, [f](const Lane& l, Out out) {
    out[0] = f(l) != 0 ? 1 : 0;
    out[1] = f(l) >> l.index & 1;
  });
}
Step only_mask(const std::string& text, std::function<uint64_t(const Lane&)> f) {
  return whole(text, 0, true, [f](const Lane& l, Out out) { out[0] = f(l) >> l.index & 1; });
}
Step number(const std::string& text, const std::string& from,
            std::function<uint32_t(const Lane&)> f) {
  return whole(text + to_all_lanes(from), 1, false, [f](const Lane& l, Out out) { out[0] = f(l); });
}

void mask_logic(std::vector<Case>& out) {
  const struct {
    const char* name;
    Logic f;
  } all[] = {{"s_and_b64", [](uint64_t a, uint64_t b) { return a & b; }},
             {"s_or_b64", [](uint64_t a, uint64_t b) { return a | b; }},
             {"s_xor_b64", [](uint64_t a, uint64_t b) { return a ^ b; }},
             {"s_andn2_b64", [](uint64_t a, uint64_t b) { return a & ~b; }},
             {"s_orn2_b64", [](uint64_t a, uint64_t b) { return a | ~b; }},
             {"s_nand_b64", [](uint64_t a, uint64_t b) { return ~(a & b); }},
             {"s_nor_b64", [](uint64_t a, uint64_t b) { return ~(a | b); }},
             {"s_xnor_b64", [](uint64_t a, uint64_t b) { return ~(a ^ b); }}};
  for (const auto& l : all) {
    const std::string name = l.name;
    const Logic f = l.f;
    const uint64_t k = wide(kConstants[2], kConstants[3]);
    out.push_back(
        vector_case(name, mask_tuples(),
                    {mask_and_scc(name + " {m}, s[18:19], s[22:23]",
                                  [f](const Lane& w) { return f(w.mask(2), w.mask(1)); }),
                     mask_and_scc(name + " {m}, exec, s[22:23]",
                                  [f](const Lane& w) { return f(w.mask(0), w.mask(1)); }),
                     mask_and_scc(name + " {m}, s[22:23], -1",
                                  [f](const Lane& w) { return f(w.mask(1), ~uint64_t{0}); }),
                     mask_and_scc(name + " {m}, s[26:27], s[22:23]",
                                  [f, k](const Lane& w) { return f(k, w.mask(1)); }),
                     number(name + " s[28:29], s[18:19], s[22:23]", "s29", [f](const Lane& w) {
                       return static_cast<uint32_t>(f(w.mask(2), w.mask(1)) >> 32);
                     })}));
  }
  out.push_back(vector_case(
      "s_not_b64", mask_tuples(),
      {mask_and_scc("s_not_b64 {m}, s[22:23]", [](const Lane& w) { return ~w.mask(1); })}));
  out.push_back(vector_case(
      "s_mov_b64", mask_tuples(),
      {only_mask("s_mov_b64 {m}, exec", [](const Lane& w) { return w.mask(0); }),
       only_mask("s_mov_b64 {m}, s[26:27]",
                 [](const Lane&) { return wide(kConstants[2], kConstants[3]); }),
       only_mask("s_mov_b64 exec, s[22:23]\ns_mov_b64 {m}, exec\ns_mov_b64 exec, s[20:21]",
                 [](const Lane& w) { return w.mask(1); })}));
  out.push_back(
      vector_case("s_cselect_b64", mask_tuples(),
                  {only_mask("s_cmp_eq_u32 s25, 37\ns_cselect_b64 {m}, s[22:23], s[18:19]",
                             [](const Lane& w) { return w.mask(1); }),
                   only_mask("s_cmp_eq_u32 s25, 38\ns_cselect_b64 {m}, s[22:23], -1",
                             [](const Lane&) { return ~uint64_t{0}; })}));
}

/// Masks that scalar instructions take for numbers.
void masks_as_numbers(std::vector<Case>& out) {
  const auto low = [](uint64_t m) { return static_cast<uint32_t>(m); };
  const std::string to_vcc = "s_mov_b64 vcc, s[22:23]\n";
  out.push_back(vector_case(
      "s_bcnt1_i32_b64", mask_tuples(),
      {number("s_bcnt1_i32_b64 s30, exec", "s30",
              [=](const Lane& l) { return low(static_cast<uint64_t>(std::popcount(l.mask(0)))); }),
       number("s_bcnt1_i32_b64 s30, s[18:19]", "s30", [=](const Lane& l) {
         return low(static_cast<uint64_t>(std::popcount(l.mask(2))));
       })}));
  out.push_back(vector_case("s_ff1_i32_b64", mask_tuples(),
                            {number(to_vcc + "s_ff1_i32_b64 s30, vcc", "s30", [](const Lane& l) {
                              const uint64_t m = l.mask(1);
                              return m == 0 ? 0xffffffff
                                            : static_cast<uint32_t>(std::countr_zero(m));
                            })}));
  out.push_back(vector_case(
      "s_mov_b32", mask_tuples(),
      {number("s_mov_b32 s30, exec_hi", "s30", [=](const Lane& l) { return low(l.mask(0) >> 32); }),
       number(to_vcc + "s_mov_b32 s30, vcc_lo", "s30",
              [=](const Lane& l) { return low(l.mask(1)); })}));
}

void save_exec(std::vector<Case>& out) {
  const struct {
    const char* name;
    Logic f;  ///< of the operand and EXEC
  } all[] = {{"s_and_saveexec_b64", [](uint64_t s, uint64_t e) { return s & e; }},
             {"s_or_saveexec_b64", [](uint64_t s, uint64_t e) { return s | e; }},
             {"s_xor_saveexec_b64", [](uint64_t s, uint64_t e) { return s ^ e; }},
             {"s_andn2_saveexec_b64", [](uint64_t s, uint64_t e) { return s & ~e; }},
             {"s_orn2_saveexec_b64", [](uint64_t s, uint64_t e) { return s | ~e; }},
             {"s_nand_saveexec_b64", [](uint64_t s, uint64_t e) { return ~(s & e); }},
             {"s_nor_saveexec_b64", [](uint64_t s, uint64_t e) { return ~(s | e); }},
             {"s_xnor_saveexec_b64", [](uint64_t s, uint64_t e) { return ~(s ^ e); }}};
  for (const auto& a : all) {
    const Logic f = a.f;
    const auto made = [&](const char* source, std::function<uint64_t(const Lane&)> s) {
      return mask_and_scc(std::string(a.name) + " s[28:29], " + source + "\ns_mov_b64 {m}, exec",
                          [f, s](const Lane& w) { return f(s(w), w.mask(0)); });
    };
    const std::string save = std::string(a.name) + " s[28:29], s[22:23]\n";
    out.push_back(vector_case(
        a.name, mask_tuples(),
        {made("s[22:23]", [](const Lane& w) { return w.mask(1); }),
         made("s[26:27]", [](const Lane&) { return wide(kConstants[2], kConstants[3]); }),
         made("-1", [](const Lane&) { return ~uint64_t{0}; }),
         only_mask(save + "s_mov_b64 {m}, s[28:29]\ns_mov_b64 exec, s[20:21]",
                   [](const Lane& w) { return w.mask(0); }),
         number(save, "s28", [](const Lane& w) { return static_cast<uint32_t>(w.mask(0)); })}));
  }
}

/// A branch over one instruction: 7 where it is taken, else 9.
Step branch_step(const std::string& prepare, const std::string& name,
                 std::function<bool(const Lane&)> taken) {
  static int label = 0;  // {n} distinguishes cases, this the steps of one
  const std::string target = fmt::format("L{{n}}_{}", ++label);
  return number(
      prepare + "s_mov_b32 s30, 7\n" + name + " " + target + "\ns_mov_b32 s30, 9\n" + target + ":",
      "s30", [taken](const Lane& l) { return taken(l) ? 7U : 9U; });
}

void branches(std::vector<Case>& out) {
  const auto vcc = [](const Lane& l) { return l.mask(1) == 0; };
  const auto exec = [](const Lane& l) { return l.mask(0) == 0; };
  const auto negated = [](auto f) { return [f](const Lane& l) { return !f(l); }; };
  const std::string to_vcc = "s_mov_b64 vcc, s[22:23]\n",
                    from_numbers = "s_mov_b64 vcc, s[26:27]\n",
                    both = "s_and_b64 vcc, exec, s[22:23]\n";
  const auto common = [](const Lane& l) { return (l.mask(0) & l.mask(1)) == 0; };
  const auto never = [](const Lane&) { return false; };
  const auto always = [](const Lane&) { return true; };
  const auto add = [&](const std::string& name, const std::vector<Step>& steps) {
    out.push_back(vector_case(name, mask_tuples(), steps));
  };
  add("s_branch", {branch_step("", "s_branch", always)});
  add("s_cbranch_vccz", {branch_step(to_vcc, "s_cbranch_vccz", vcc),
                         branch_step(from_numbers, "s_cbranch_vccz", never),
                         branch_step(both, "s_cbranch_vccz", common)});
  add("s_cbranch_vccnz", {branch_step(to_vcc, "s_cbranch_vccnz", negated(vcc)),
                          branch_step(from_numbers, "s_cbranch_vccnz", always),
                          branch_step(both, "s_cbranch_vccnz", negated(common))});
  add("s_cbranch_execz", {branch_step("", "s_cbranch_execz", exec)});
  add("s_cbranch_execnz", {branch_step("", "s_cbranch_execnz", negated(exec))});
  const std::string equal = "s_cmp_eq_u32 s25, 37\n", other = "s_cmp_eq_u32 s25, 36\n",
                    some = "s_and_b64 s[28:29], s[18:19], s[22:23]\n";
  const auto nothing = [](const Lane& l) { return (l.mask(2) & l.mask(1)) == 0; };
  add("s_cbranch_scc0",
      {branch_step(equal, "s_cbranch_scc0", never), branch_step(other, "s_cbranch_scc0", always),
       branch_step(some, "s_cbranch_scc0", nothing)});
  add("s_cbranch_scc1",
      {branch_step(equal, "s_cbranch_scc1", always), branch_step(other, "s_cbranch_scc1", never),
       branch_step(some, "s_cbranch_scc1", negated(nothing))});
}

void single_lanes(std::vector<Case>& out) {
  const auto read = [](const char* select, size_t lane) {
    return number(fmt::format("v_readlane_b32 s30, v10, {}", select), "s30",
                  [lane](const Lane& l) { return l.wave[lane][0]; });
  };
  out.push_back(
      vector_case("v_readlane_b32", mask_tuples(),
                  {read("0", 0), read("63", 63), read("64", 0), read("s25", 37), read("s27", 3),
                   number("s_mov_b32 m0, 44\nv_readlane_b32 s30, v11, m0\ns_mov_b32 m0, -1", "s30",
                          [](const Lane& l) { return l.wave[44][1]; })}));
  const auto write = [](const char* text, size_t lane, uint32_t value) {
    return whole(text, 1, false, [=](const Lane& l, Out o) {
      if (l.index == lane) o[0] = value;
    });
  };
  out.push_back(
      vector_case("v_writelane_b32", mask_tuples(),
                  {write("v_writelane_b32 {d}, s24, 5", 5, kConstants[0]),
                   write("v_writelane_b32 {d}, -16, s25", 37, 0xfffffff0),
                   write("v_writelane_b32 {d}, s27, s27", 3, kConstants[3]),
                   write("s_mov_b32 m0, 62\nv_writelane_b32 {d}, s24, m0\ns_mov_b32 m0, -1", 62,
                         kConstants[0])}));
  out.push_back(vector_case(
      "v_readfirstlane_b32", mask_tuples(),
      {number("v_readfirstlane_b32 s30, v10", "s30", [](const Lane& l) {
        const uint64_t active = l.mask(0);
        return l.wave[active == 0 ? 0 : static_cast<size_t>(std::countr_zero(active))][0];
      })}));
}

/// Bits of `mask` that stand for lower lanes, of the first or second 32.
uint32_t lower(uint32_t mask, size_t lane, bool high) {
  const size_t first = high ? 32 : 0;
  const size_t count = lane <= first ? 0 : std::min<size_t>(lane - first, 32);
  const uint64_t below = (uint64_t{1} << count) - 1;
  return static_cast<uint32_t>(std::popcount(mask & below));
}

void counts(Generation g, std::vector<Case>& out) {
  for (const bool high : {false, true}) {
    const std::string name = high ? "v_mbcnt_hi_u32_b32" : "v_mbcnt_lo_u32_b32";
    const auto count = [high](std::string text, Source mask, Source addend) {
      Step s{std::move(text), nullptr};
      s.rule = [=](const Lane& l, Out o) {
        o[0] = lower(mask.value(l), l.index, high) + addend.value(l);
      };
      return s;
    };
    const auto step = [&](const std::string& suffix, const Source& m, const Source& a) {
      return count(fmt::format("{}{} {{d}}, {}, {}", name, suffix, m.text, a.text), m, a);
    };
    const Source ones = constant("-1", 0xffffffff), zero = constant("0", 0);
    const std::vector<Step> full = {step("", vgpr(0), vgpr(1)), step("", sgpr(0), vgpr(1)),
                                    step("", ones, zero), step("", vgpr(0), sgpr(1))};
    if (g == kGfx8) {
      out.push_back(vector_case(name, mask_tuples(), full));
      continue;
    }
    out.push_back(vector_case(name, mask_tuples(),
                              {step("_e32", vgpr(0), vgpr(1)), step("_e32", ones, vgpr(1)),
                               step("_e32", constant("0x0ff0f00f", 0x0ff0f00f), vgpr(1))}));
    std::vector<Step> steps;
    for (const auto& [m, a] :
         {std::pair{vgpr(0), vgpr(1)}, {sgpr(0), vgpr(1)}, {ones, zero}, {vgpr(0), sgpr(1)}})
      steps.push_back(step("_e64", m, a));
    out.push_back(vector_case(name + "_e64", mask_tuples(), steps));
  }
}

/// What the lane `from` has in v10, 0 when it is not active.
uint32_t offered(const Lane& l, size_t from) {
  return (l.mask(0) >> from & 1) != 0 ? l.wave[from][0] : 0;
}

void swizzles(Generation g, std::vector<Case>& out) {
  const auto swizzle = [](const char* offset, std::function<size_t(size_t)> from) {
    Step s{fmt::format("ds_swizzle_b32 {{d}}, v10 offset:{}\ns_waitcnt lgkmcnt(0)", offset),
           nullptr};
    s.rule = [from](const Lane& l, Out o) { o[0] = offered(l, from(l.index)); };
    return s;
  };
  out.push_back(vector_case("ds_swizzle_b32", mask_tuples(),
                            {swizzle("0x801b", [](size_t n) { return n ^ 3; }),
                             swizzle("0x041f", [](size_t n) { return n ^ 1; }),
                             swizzle("0x7c1f", [](size_t n) { return n ^ 31; }),
                             // Keeps bits 3 and 4, sets bit 0, then turns bit 2.
                             swizzle("0x1038", [](size_t n) { return (((n & 0x38) | 1) ^ 4); })}));
  if (g != kGfx8) return;
  const auto named = [](const Lane& l, size_t n, uint32_t offset) {
    return size_t{(l.wave[n][1] + offset) >> 2 & 63};
  };
  std::vector<Step> pulls, pushes;
  for (const uint32_t offset : {0U, 12U}) {
    const std::string tail =
        fmt::format(" {{d}}, v11, v10 offset:{}\ns_waitcnt lgkmcnt(0)", offset);
    pulls.push_back({"ds_bpermute_b32" + tail,
                     [=](const Lane& l, Out o) { o[0] = offered(l, named(l, l.index, offset)); }});
    pushes.push_back({"ds_permute_b32" + tail, [=](const Lane& l, Out o) {
                        o[0] = 0;
                        for (size_t n = 0; n < 64; ++n)
                          if ((l.mask(0) >> n & 1) != 0 && named(l, n, offset) == l.index)
                            o[0] = l.wave[n][0];
                      }});
  }
  out.push_back(vector_case("ds_bpermute_b32", mask_tuples(), pulls));
  out.push_back(vector_case("ds_permute_b32", mask_tuples(), pushes));
}

}  // namespace

void cases(Generation g, std::vector<Case>& out) {
  mask_logic(out);
  masks_as_numbers(out);
  save_exec(out);
  branches(out);
  single_lanes(out);
  counts(g, out);
  swizzles(g, out);
}

}  // namespace values::gcn::lanes
