// Steps to cases, and cases to kernels.
#include <fmt/format.h>

#include <algorithm>

#include "tests/values/gcn/gcn.hpp"

namespace values::gcn {

namespace {

constexpr unsigned kFirstInput = 10, kFirstOutput = 40;
constexpr std::string_view kScalarMark = ";scalar\n";

std::string replaced(std::string text, std::string_view what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

std::string range(char kind, unsigned first, unsigned count) {
  return count == 1 ? fmt::format("{}{}", kind, first)
                    : fmt::format("{}[{}:{}]", kind, first, first + count - 1);
}

std::string with_registers(const std::string& text, char kind, unsigned first, unsigned words) {
  std::string out = replaced(text, "{d}", range(kind, first, 1));
  out = replaced(out, "{p}", range(kind, first, 2));
  return replaced(out, "{q}", range(kind, first, words));
}

struct Placed {
  Step step;
  unsigned at;  ///< first output word
  unsigned pair;
  unsigned size() const { return step.words + (step.mask ? 1 : 0); }
};

uint32_t word_before(const Placed& p, In in) {
  return p.step.old < 0 ? ~in[0] : in[static_cast<size_t>(p.step.old)];
}

void evaluate(const std::vector<Placed>& steps, Wave wave, std::span<const Out> out) {
  for (size_t n = 0; n < wave.size(); ++n)
    for (const Placed& p : steps) {
      const Out place = out[n].subspan(p.at, p.size());
      const Lane lane{wave, n};
      std::ranges::fill(place, word_before(p, wave[n]));
      if (p.step.mask) place.back() = 0;
      if (lane.active() || p.step.whole_wave) p.step.rule(lane, place);
    }
}

bool near_enough(uint32_t got, uint32_t want, double bound, double absolute) {
  if (got == want) return true;
  const float g = f32_of(got), w = f32_of(want);
  if (std::fabs(static_cast<double>(g) - w) <= absolute) return true;
  if (!std::isnormal(g) || !std::isnormal(w)) return false;
  return std::fabs(static_cast<double>(g) - w) <= bound * std::fabs(static_cast<double>(w));
}

struct Composed {
  Case test;
  std::vector<Placed> steps;
};

Composed compose(const std::string& row, const Tuples& inputs, const std::vector<Step>& steps) {
  const auto words = static_cast<unsigned>(inputs.at(0).size());
  std::vector<Placed> placed;
  unsigned at = 0, pair = 44;
  std::string before, body, after;
  for (const Step& s : steps) {
    const Placed p{s, at, pair};
    for (unsigned n = 0; n < s.words; ++n)
      before += s.old < 0 ? fmt::format("v_not_b32 v{}, v{}\n", kFirstOutput + at + n, kFirstInput)
                          : fmt::format("v_mov_b32 v{}, v{}\n", kFirstOutput + at + n,
                                        kFirstInput + static_cast<unsigned>(s.old));
    body += with_registers(replaced(s.text, "{m}", range('s', pair, 2)), 'v', kFirstOutput + at,
                           s.words) +
            "\n";
    if (s.mask)
      after += fmt::format("v_cndmask_b32_e64 v{}, 0, 1, s[{}:{}]\n", kFirstOutput + at + s.words,
                           pair, pair + 1);
    at += p.size();
    if (s.mask) pair += 2;
    placed.push_back(p);
  }
  const auto mask = [&](unsigned bit, const char* low) {
    return fmt::format("v_and_b32 v8, {}, v{}\nv_cmp_ne_u32 {}, 0, v8\n", 1U << bit,
                       kFirstInput + words - 1, low);
  };
  std::string masks = mask(0, "s[20:21]");
  if (body.find("s[22:23]") != std::string::npos) masks += mask(1, "s[22:23]");
  if (body.find("s[18:19]") != std::string::npos) masks += mask(2, "s[18:19]");
  Case c;
  c.row = row;
  c.text = before + masks + "s_mov_b64 exec, s[20:21]\n" + body + "s_mov_b64 exec, -1\n" + after;
  c.inputs = words;
  c.outputs = at;
  c.tuples = inputs;
  c.wave = [placed](std::span<const In> in, std::span<const Out> out) {
    evaluate(placed, in, out);
  };
  return {c, placed};
}

}  // namespace

Case vector_case(const std::string& row, const Tuples& inputs, const std::vector<Step>& steps) {
  return compose(row, inputs, steps).test;
}

Case approximate_case(const std::string& row, const Tuples& inputs, const std::vector<Step>& steps,
                      double bound, double absolute) {
  Composed c = compose(row, inputs, steps);
  const auto holds = [placed = c.steps, bound, absolute](In in, In got) {
    std::vector<uint32_t> want(got.size());
    const In lanes[] = {in};
    const Out places[] = {want};
    evaluate(placed, lanes, places);
    return std::ranges::equal(got, want, [bound, absolute](uint32_t g, uint32_t w) {
      // A true value within half an ulp of `w` may be half an ulp closer.
      return near_enough(g, w, bound + 0x1p-25, absolute);
    });
  };
  c.test.bound = Bound{fmt::format("{:.2g} relative", bound), holds};
  return c.test;
}

Case scalar_case(const std::string& row, const Tuples& inputs,
                 const std::vector<ScalarStep>& steps) {
  const auto words = static_cast<unsigned>(inputs.at(0).size());
  const unsigned padded = words <= 4 ? 4 : words <= 8 ? 8 : 16;  // scalar loads take whole blocks
  constexpr unsigned kFirst = 52;
  unsigned at = 0, reg = kFirst;
  std::string body, after;
  for (const ScalarStep& s : steps) {
    body += fmt::format("s_and_b32 s15, s{}, 1\n", 32 + words - 1) +
            with_registers(s.text, 's', reg, s.words) + "\n";
    for (unsigned n = 0; n < s.words; ++n)
      after += fmt::format("v_mov_b32 v{}, s{}\n", kFirstOutput + at++, reg + n);
    reg += (s.words + 1) / 2 * 2;
    if (!s.scc) continue;
    body += fmt::format("s_cselect_b32 s{}, 1, 0\n", reg);
    after += fmt::format("v_mov_b32 v{}, s{}\n", kFirstOutput + at++, reg);
    reg += 2;
  }
  Case c;
  c.row = row;
  c.text = std::string(kScalarMark) + body + after;
  c.inputs = padded;
  c.outputs = at;
  for (Words w : inputs) {
    w.resize(padded);
    c.tuples.insert(c.tuples.end(), kGroup, w);
  }
  c.oracle = [steps, words](In padded_in, Out out) {
    const In in = padded_in.first(words);
    size_t at = 0;
    for (const ScalarStep& s : steps) {
      const size_t size = s.words + (s.scc ? 1 : 0);
      s.rule(in, out.subspan(at, size));
      at += size;
    }
  };
  return c;
}

Tuples with_flags(std::vector<Pool> pools, size_t limit) {
  pools.push_back({1, {3, 1, 5, 7, 3, 1, 2, 7}});
  return tuples(pools, limit);
}

namespace {

/// Addresses are v[2:3] (inputs) and v[4:5] (outputs) of the lane, s[12:13] of the wave's inputs.
class KernelText {
 public:
  KernelText(Generation g, Mode mode, unsigned in_bytes, unsigned out_bytes)
      : g_(g), mode_(mode), add_(g == kGfx8 ? "v_add_u32" : "v_add_i32") {
    const bool bytes = g == kGfx8;
    text_ = fmt::format(
        ".text\nvalues:\ns_load_dwordx4 s[4:7], s[0:1], 0x0\n"
        "s_load_dwordx4 s[24:27], s[0:1], {}\ns_waitcnt lgkmcnt(0)\n"
        "s_mov_b32 s8, 0\ns_mov_b32 s9, 0\ns_mov_b32 s10, 0\ns_mov_b32 s11, 0xf000\n"
        "s_mov_b32 m0, -1\n",
        bytes ? "0x10" : "0x4");
    text_ += fmt::format("s_mul_i32 s12, s2, {}\ns_add_u32 s12, s4, s12\ns_addc_u32 s13, s5, 0\n",
                         kGroup * in_bytes);
    text_ += "s_lshl_b32 s14, s2, 6\nv_add_x v1, vcc, s14, v0\n";
    lane_address(2, 4, in_bytes);
    lane_address(4, 6, out_bytes);
  }

  void add(const Slot& slot, unsigned number) {
    const Case& c = *slot.test;
    std::string body = c.text;
    if (body.starts_with(kScalarMark)) {
      load_scalars(slot.in, c.inputs);
      body.erase(0, kScalarMark.size());
    } else {
      access(true, slot.in, kFirstInput, c.inputs);
    }
    body = replaced(body, "{n}", std::to_string(number));
    body = replaced(body, "{in}", std::to_string(slot.in));
    body = replaced(body, "{out}", std::to_string(slot.out));
    body = replaced(body, "{imm}", std::to_string(g_ == kGfx8 ? slot.in : slot.in / 4));
    text_ += body + "s_waitcnt lgkmcnt(0)\n";
    access(false, slot.out, kFirstOutput, c.outputs);
  }

  std::string finish() const {
    return replaced(text_, "v_add_x", add_) +
           fmt::format(
               "s_endpgm\n.amdhsa_kernel values\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
               ".amdhsa_system_sgpr_workgroup_id_x 1\n.amdhsa_kernarg_size 32\n"
               ".amdhsa_group_segment_fixed_size 8192\n.amdhsa_float_denorm_mode_32 {}\n"
               ".amdhsa_float_round_mode_32 {}\n.amdhsa_float_round_mode_16_64 {}\n"
               ".amdhsa_float_denorm_mode_16_64 {}\n.amdhsa_ieee_mode {}\n.amdhsa_next_free_vgpr "
               "1\n.amdhsa_next_free_sgpr 1\n.end_amdhsa_kernel\n",
               mode_.flush ? 0 : 3, mode_.narrow_rounding(), mode_.rounding, mode_.wide_subnormals,
               mode_.ieee ? 1 : 0);
  }

 private:
  void lane_address(unsigned to, unsigned base, unsigned stride) {
    text_ += fmt::format(
        "v_mov_b32 v8, {2}\nv_mul_lo_u32 v8, v1, v8\nv_mov_b32 v9, s{1}\n"
        "v_add_x v{0}, vcc, s{3}, v8\nv_addc_u32 v{4}, vcc, 0, v9, vcc\n",
        to, base + 1, stride, base, to + 1);
  }
  void load_scalars(unsigned at, unsigned count) {
    text_ += fmt::format("s_movk_i32 s14, {}\ns_load_dwordx{} s[32:{}], s[12:13], s14\n", at, count,
                         31 + count);
    text_ += "s_waitcnt lgkmcnt(0)\n";
  }
  void access(bool load, unsigned at, unsigned first, unsigned words) {
    for (unsigned done = 0; done < words; done += 4)
      one_access(load, at + 4 * done, first + done, std::min(4U, words - done));
    text_ += "s_waitcnt vmcnt(0)\n";
  }
  /// Flat where the generation has no 64-bit addresses in buffer instructions.
  void one_access(bool load, unsigned at, unsigned reg, unsigned words) {
    static constexpr const char* kSizes[] = {"", "dword", "dwordx2", "dwordx3", "dwordx4"};
    const unsigned base = load ? 2 : 4;
    const std::string data = range('v', reg, words);
    if (g_ != kGfx8) {
      text_ += fmt::format("buffer_{}_{} {}, v[{}:{}], s[8:11], 0 addr64 offset:{}\n",
                           load ? "load" : "store", kSizes[words], data, base, base + 1, at);
      return;
    }
    text_ += fmt::format("v_add_x v6, vcc, {}, v{}\nv_addc_u32 v7, vcc, 0, v{}, vcc\n", at, base,
                         base + 1);
    text_ += load ? fmt::format("flat_load_{} {}, v[6:7]\n", kSizes[words], data)
                  : fmt::format("flat_store_{} v[6:7], {}\n", kSizes[words], data);
  }

  Generation g_;
  Mode mode_;
  std::string add_, text_;
};

}  // namespace

InstructionSet instruction_set(Generation g, Mode mode) {
  InstructionSet set;
  set.isa = lanewise::Isa::gcn;
  set.target = target_of(g);
  set.wave = 64;
  set.cases_in_kernel = 8;
  set.record_bytes = 1024;
  set.constants.assign(kConstants.begin(), kConstants.end());
  set.kernel = [g, mode](std::span<const Slot> slots, unsigned in_bytes, unsigned out_bytes) {
    KernelText text(g, mode, in_bytes, out_bytes);
    for (unsigned n = 0; n < slots.size(); ++n) text.add(slots[n], n);
    return text.finish();
  };
  return set;
}

}  // namespace values::gcn
