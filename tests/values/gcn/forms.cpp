#include "tests/values/gcn/forms.hpp"

#include <fmt/format.h>

namespace values::gcn {

Source vgpr(unsigned word) {
  return {fmt::format("v{}", 10 + word), [word](const Lane& l) { return l[word]; }};
}
Source sgpr(unsigned number) {
  return {fmt::format("s{}", 24 + number), [number](const Lane&) { return kConstants[number]; }};
}
Source constant(std::string text, uint32_t bits) {
  return {std::move(text), [bits](const Lane&) { return bits; }};
}
Source absolute(Source s) {
  return {"|" + s.text + "|", [s](const Lane& l) { return s.value(l) & 0x7fffffff; }};
}
Source negative(Source s) {
  return {"-" + s.text, [s](const Lane& l) { return s.value(l) ^ 0x80000000; }};
}

namespace {

std::string joined(const std::vector<Source>& sources) {
  std::string out;
  for (const Source& s : sources) out += ", " + s.text;
  return out;
}

uint32_t clamped(uint32_t bits) {
  return raw(saturated(f32_of(bits)));
}

}  // namespace

Step step(const Operation& op, const std::string& suffix, const std::vector<Source>& sources,
          bool clamp) {
  Step s;
  s.text = op.name + suffix + " {d}" + joined(sources) + (clamp ? " clamp" : "");
  // The register that is added to holds the input behind the sources.
  if (op.adds_to_result) s.old = static_cast<int>(op.sources);
  s.rule = [f = op.f, sources, clamp, old = s.old](const Lane& l, Out out) {
    uint32_t v[3] = {0, 0, 0};
    for (size_t n = 0; n < sources.size(); ++n) v[n] = sources[n].value(l);
    if (old >= 0) v[sources.size()] = l[static_cast<size_t>(old)];
    const uint32_t r = f(v[0], v[1], v[2]);
    out[0] = clamp ? clamped(r) : r;
  };
  return s;
}

namespace {

Source literal(const Operation& op) {
  if (op.kind == Kind::real) return constant("0xbfb504f3", 0xbfb504f3);
  const bool narrow = std::string_view(op.name).find("16") != std::string_view::npos;
  return narrow ? constant("0xcdef", 0xcdef) : constant("0x89abcdef", 0x89abcdef);
}
Source small(Kind kind, Generation g, unsigned which) {
  if (kind == Kind::integer) return which == 0 ? constant("-16", 0xfffffff0) : constant("64", 64);
  if (g == kGfx8 && which == 0) return constant("0.15915494", 0x3e22f983);
  return which == 0 ? constant("-0.5", 0xbf000000) : constant("4.0", 0x40800000);
}

std::vector<Step> short_steps(Generation g, const Operation& op) {
  if (op.sources == 1)
    return {step(op, "_e32", {vgpr(0)}), step(op, "_e32", {sgpr(0)}),
            step(op, "_e32", {literal(op)}), step(op, "_e32", {small(op.kind, g, 0)})};
  return {step(op, "_e32", {vgpr(0), vgpr(1)}), step(op, "_e32", {sgpr(2), vgpr(1)}),
          step(op, "_e32", {literal(op), vgpr(1)}),
          step(op, "_e32", {small(op.kind, g, 0), vgpr(1)})};
}

std::vector<Step> long_steps(Generation g, const Operation& op, const std::string& suffix) {
  std::vector<Step> out;
  std::vector<Source> all;
  for (unsigned n = 0; n < op.sources; ++n) all.push_back(vgpr(n));
  out.push_back(step(op, suffix, all));
  // Each source once from a scalar register, once a constant.
  for (unsigned n = 0; n < op.sources; ++n) {
    std::vector<Source> sources = all;
    sources[n] = n % 2 == 0 ? sgpr(n) : small(op.kind, g, 1);
    if (op.sources > 1) sources[(n + 1) % op.sources] = small(op.kind, g, 0);
    out.push_back(step(op, suffix, sources));
  }
  if (op.kind == Kind::integer) return out;
  std::vector<Source> changed = all;
  changed[0] = negative(absolute(changed[0]));
  if (op.sources > 1) changed[1] = negative(changed[1]);
  if (op.sources > 2) changed[2] = absolute(changed[2]);
  out.push_back(step(op, suffix, changed));
  if (op.clamps) out.push_back(step(op, suffix, all, true));
  return out;
}

// ---- SDWA

const Parts kParts[] = {
    {"BYTE_1", "UNUSED_PRESERVE", "WORD_1", "BYTE_2"},
    {"WORD_1", "UNUSED_SEXT", "BYTE_3", "DWORD", true, false},
    {"DWORD", "UNUSED_PAD", "DWORD", "WORD_0", false, true},
    {"BYTE_3", "UNUSED_PAD", "BYTE_0", "BYTE_1", false, true},
};

std::string part_source(Kind kind, const char* reg, bool sext) {
  return sext && kind == Kind::integer ? fmt::format("sext({})", reg) : reg;
}

Step sdwa_step(const Operation& op, Parts p) {
  // Halves are floats, which have signs and no extension.
  if (op.kind == Kind::real || op.name.ends_with("f16")) p.sext0 = p.sext1 = false;
  if (op.adds_to_result) p.dst = "DWORD";  // parts of a sum are refused
  Step s;
  s.text = op.name + "_sdwa {d}, " + part_source(op.kind, "v10", p.sext0);
  if (op.sources == 2) s.text += ", " + part_source(op.kind, "v11", p.sext1);
  s.text += parts_text(p, true, op.sources == 2);
  s.old = static_cast<int>(op.sources);
  s.rule = [op, p](const Lane& l, Out out) {
    const uint32_t old = l[op.sources];
    uint32_t v[3] = {part_of(l[0], p.src0, p.sext0), 0, 0};
    if (op.sources == 2) v[1] = part_of(l[1], p.src1, p.sext1);
    if (op.adds_to_result) v[op.sources] = old;
    out[0] = placed_part(op.f(v[0], v[1], v[2]), old, p);
  };
  return s;
}

/// Modifiers come behind the selection; the clamp applies to the whole result.
Step sdwa_modified(const Operation& op) {
  Step s;
  const bool two = op.sources == 2;
  s.text = op.name + "_sdwa {d}, -v10" + (two ? ", |v11|" : "") + (op.clamps ? " clamp" : "") +
           parts_text({"DWORD", "UNUSED_PAD", "DWORD", "DWORD"}, true, two);
  s.old = static_cast<int>(op.sources);
  s.rule = [op](const Lane& l, Out out) {
    uint32_t v[3] = {l[0] ^ 0x80000000, 0, 0};
    if (op.sources == 2) v[1] = l[1] & 0x7fffffff;
    if (op.adds_to_result) v[op.sources] = l[op.sources];
    const uint32_t r = op.f(v[0], v[1], v[2]);
    out[0] = op.clamps ? clamped(r) : r;
  };
  return s;
}

// ---- DPP

int in_row(int lane, int other) {
  return other >= 0 && lane / 16 == other / 16 ? other : -1;
}

const Control kControls[] = {
    {"row_shr:3", [](int n) { return in_row(n, n - 3); }, 11, 13, false},
    {"quad_perm:[1,3,0,2]",
     [](int n) {
       static constexpr int kPerm[] = {1, 3, 0, 2};
       return n / 4 * 4 + kPerm[n % 4];
     },
     15, 15, true},
};

Step dpp_step(const Operation& op, const Control& c, bool modified) {
  Step s;
  modified = modified && op.kind == Kind::real;
  s.text = op.name + "_dpp {d}, " + (modified ? "-v10" : "v10");
  if (op.sources == 2) s.text += modified ? ", |v11|" : ", v11";
  s.text += control_text(c);
  s.old = static_cast<int>(op.sources);
  s.rule = [op, c, modified](const Lane& l, Out out) {
    uint32_t v[3] = {0, op.sources == 2 ? l[1] : 0, 0};
    if (!dpp_reads(c, l, v[0])) return;
    if (modified) v[0] ^= 0x80000000, v[1] &= 0x7fffffff;
    if (op.adds_to_result) v[op.sources] = l[op.sources];
    out[0] = op.f(v[0], v[1], v[2]);
  };
  return s;
}

void lane_forms(const Operation& op, const Tuples& inputs, std::vector<Case>& out) {
  std::vector<Step> parts;
  for (const Parts& p : kParts) parts.push_back(sdwa_step(op, p));
  if (op.kind == Kind::real) parts.push_back(sdwa_modified(op));
  out.push_back(vector_case(op.name + ".sdwa", inputs, parts));
  out.push_back(vector_case(op.name + ".dpp", inputs,
                            {dpp_step(op, kControls[0], true), dpp_step(op, kControls[1], false)}));
}

Tuples inputs_of(const Operation& op, bool with_old, size_t limit = 2048) {
  std::vector<Pool> pools = op.pools;
  if (with_old && pools.size() == op.sources) pools.push_back(op.pools[0]);
  return with_flags(pools, limit);
}

}  // namespace

uint32_t part_of(uint32_t value, const std::string& sel, bool sext) {
  if (sel == "DWORD") return value;
  const bool word = sel.starts_with("WORD");
  const auto index = static_cast<unsigned>(sel.back() - '0');
  const uint32_t v = value >> (word ? 16 : 8) * index;
  if (word) return sext ? static_cast<uint32_t>(static_cast<int16_t>(v)) : v & 0xffff;
  return sext ? static_cast<uint32_t>(static_cast<int8_t>(v)) : v & 0xff;
}

uint32_t placed_part(uint32_t result, uint32_t old, const Parts& p) {
  const std::string sel = p.dst, unused = p.unused;
  if (sel == "DWORD") return result;
  const bool word = sel.starts_with("WORD");
  const unsigned at = (word ? 16 : 8) * static_cast<unsigned>(sel.back() - '0');
  const uint32_t field = (word ? 0xffffU : 0xffU) << at;
  const uint32_t here = result << at & field;
  if (unused == "UNUSED_PRESERVE") return here | (old & ~field);
  if (unused == "UNUSED_PAD") return here;
  return part_of(result, word ? "WORD_0" : "BYTE_0", true) << at;
}

std::string parts_text(const Parts& p, bool has_dst, bool two_sources) {
  std::string out;
  if (has_dst) out += fmt::format(" dst_sel:{} dst_unused:{}", p.dst, p.unused);
  out += fmt::format(" src0_sel:{}", p.src0);
  return two_sources ? out + fmt::format(" src1_sel:{}", p.src1) : out;
}

std::string control_text(const Control& c) {
  return fmt::format(" {} row_mask:{:#x} bank_mask:{:#x}{}", c.text, c.row_mask, c.bank_mask,
                     c.zero ? " bound_ctrl:0" : "");
}

bool dpp_reads(const Control& c, const Lane& lane, uint32_t& value) {
  const auto n = static_cast<int>(lane.index);
  if ((c.row_mask >> (n / 16) & c.bank_mask >> (n / 4 % 4) & 1) == 0) return false;
  const int from = c.from(n);
  const bool there = from >= 0 && (lane.mask(0) >> from & 1) != 0;
  if (!there && !c.zero) return false;
  value = there ? lane.wave[static_cast<size_t>(from)][0] : 0;
  return true;
}

void short_and_long(Generation g, const Operation& op, std::vector<Case>& out) {
  const Tuples inputs = inputs_of(op, true);
  out.push_back(vector_case(op.name, inputs, short_steps(g, op)));
  out.push_back(vector_case(op.name + "_e64", inputs, long_steps(g, op, "_e64")));
  if (g == kGfx8) lane_forms(op, inputs, out);
}

void long_only(Generation g, const Operation& op, std::vector<Case>& out) {
  out.push_back(vector_case(op.name, inputs_of(op, false), long_steps(g, op, "")));
}

}  // namespace values::gcn
