// Which NaN a float operation gives shows only where its bits are looked at. Most results go to
// other float operations, which take all NaNs alike: those need not be made canonical.
#include <algorithm>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/dataflow.hpp"
#include "runtime/ir/passes/values/numbering.hpp"

namespace lanewise::ir {
namespace {

bool is_wide_float(Type t) {
  return t == Type::f32 || t == Type::f64;
}
bool is_sign_op(Op op) {
  return op == Op::fneg || op == Op::fabs;
}
/// The result is the canonical NaN or no NaN (f16 is computed in the library, which sees to it).
bool computes(const Inst& i) {
  return i.op >= Op::fadd && i.op <= Op::ftanh_approx && !is_sign_op(i.op) && i.op != Op::fcmp &&
         i.op != Op::f2i && is_wide_float(i.type);
}

/// Bits that go from sources to the destination as they are (a sign apart): nothing looks at them.
bool carries(const Inst& i) {
  if (i.sat) return false;
  if (is_sign_op(i.op)) return is_wide_float(i.type);
  return (i.op == Op::mov || i.op == Op::select) && !i.ftz && size_of(i.type) >= 4;
}
size_t first_carried(const Inst& i) {
  return i.op == Op::select ? 1 : 0;
}

/// Source `s` is read as a float whose NaNs are all alike.
bool reads_as_float(const Inst& i, size_t s) {
  if (i.op < Op::fadd || i.op > Op::ftanh_approx || s >= i.src.size()) return false;
  if (i.op == Op::i2f) return false;
  const bool converts = i.op == Op::f2f || i.op == Op::f2i;
  return is_wide_float(converts ? i.from : i.type);
}

/// Is the pattern a NaN other than the canonical one of its width?
bool odd_nan(uint64_t bits, Type type) {
  if (size_of(type) == 8) {
    return (bits << 1) > 0xffe0000000000000 && bits != 0xfff8000000000000;
  }
  return (bits & 0x7fffffff) > 0x7f800000 && (bits & 0xffffffff) != 0x7fffffff;
}

/// Backwards: values whose bits somebody may look at.
class Seen {
 public:
  explicit Seen(const Ssa& ssa) : p_(ssa.program()), seen_(ssa.size()) {
    for (const uint32_t b : ssa.order().nodes) {
      const auto& insts = p_.blocks[b].insts;
      for (size_t i = 0; i < insts.size(); ++i) {
        for (size_t s = 0; s < insts[i].src.size() && !carries(insts[i]); ++s)
          if (!reads_as_float(insts[i], s)) see(ssa.use(b, i, s));
        see(ssa.hint(b, i));
      }
    }
    // Other lanes may hold what was written anywhere.
    const std::vector<bool> by_others = read_by_others(p_);
    for (uint32_t v = 0; v < ssa.size(); ++v)
      if (by_others[ssa[v].reg]) see(v);
    while (!work_.empty()) {
      const uint32_t value = work_.back();
      work_.pop_back();
      for (const uint32_t input : ssa.inputs(value)) see(input);
      const Inst* made = ssa.made_by(value);
      if (made == nullptr || !carries(*made)) continue;
      for (size_t s = first_carried(*made); s < made->src.size(); ++s)
        see(ssa.use(ssa[value].block, ssa[value].inst, s));
    }
  }
  bool operator[](uint32_t value) const { return seen_[value]; }

 private:
  void see(uint32_t value) {
    if (value == kNone || seen_[value]) return;
    seen_[value] = true;
    work_.push_back(value);
  }

  const Program& p_;
  std::vector<bool> seen_;
  std::vector<uint32_t> work_;
};

/// Forwards: what a value may come from.
class Origins {
 public:
  Origins(const Ssa& ssa, std::vector<uint32_t> depths)
      : ssa_(ssa), p_(ssa.program()), depth_(std::move(depths)), from_(ssa.size()), flow_(ssa) {
    // What a register holds at the start is not known here.
    for (uint32_t v = 0; v < ssa.size(); ++v)
      if (ssa[v].kind == Ssa::Kind::entry) from_[v].odd = true;
    flow_.run(*this);
  }
  /// May the value be a NaN other than the canonical one (bits from memory, or made by integer
  /// operations)?
  bool odd(uint32_t value) const { return from_[value].odd; }
  /// Was it computed by a float operation in a deeper loop than the block is in?
  bool from_loop(uint32_t value, uint32_t block) const {
    return from_[value].depth > depth_[block];
  }

  void argument(uint32_t value) {
    for (const uint32_t input : ssa_.inputs(value)) learn(value, from_[input]);
  }
  void instruction(uint32_t block, uint32_t index) {
    const Inst& i = p_.blocks[block].insts[index];
    for (size_t d = 0; d < i.dst.size(); ++d) {
      if (!i.dst[d].valid()) continue;
      const uint32_t value = ssa_.defined(block, index, d);
      learn(value, made(i, block, index));
      for (const uint32_t input : ssa_.inputs(value)) learn(value, from_[input]);
    }
  }
  void leave(uint32_t block) { flow_.reach_all(block); }

 private:
  struct From {
    bool odd = false;
    uint32_t depth = 0;
  };
  From made(const Inst& i, uint32_t block, uint32_t index) const {
    if (computes(i)) return {false, depth_[block]};
    if (!carries(i)) return {true, 0};
    // A negative canonical NaN is another one.
    From sum{is_sign_op(i.op), 0};
    for (size_t s = first_carried(i); s < i.src.size(); ++s) {
      const uint32_t value = ssa_.use(block, index, s);
      const bool odd =
          value == kNone ? !i.src[s].is_imm() || odd_nan(i.src[s].imm, i.type) : from_[value].odd;
      sum.odd = sum.odd || odd;
      if (value != kNone) sum.depth = std::max(sum.depth, from_[value].depth);
    }
    return sum;
  }
  void learn(uint32_t value, const From& more) {
    From& now = from_[value];
    if ((now.odd || !more.odd) && now.depth >= more.depth) return;
    now = {now.odd || more.odd, std::max(now.depth, more.depth)};
    flow_.changed(value);
  }

  const Ssa& ssa_;
  const Program& p_;
  std::vector<uint32_t> depth_;  ///< [block] of loops
  std::vector<From> from_;       ///< [value]
  Dataflow flow_;
};

std::vector<uint32_t> loop_depths(const Ssa& ssa) {
  std::vector<uint32_t> depth(ssa.graph().size(), 0);
  if (!reducible(ssa.graph(), ssa.order(), ssa.dom())) return depth;
  const Loops all = loops(ssa.graph(), ssa.order(), ssa.dom());
  for (const uint32_t b : ssa.order().nodes)
    if (all.header[b] != kNone) depth[b] = all.depth[all.header[b]];
  return depth;
}

Inst canonical_again(Reg r, Type type, uint32_t site) {
  Inst i = instruction(Op::f2f, type, {r}, {r}, site);
  i.from = type;
  return i;
}

/// A sum that a loop adds up and that is stored behind the loop would be made canonical in each
/// round. Where all that can arrive is canonical anyway, that is done once in front of the store.
void canonical_behind_loops(Program& p) {
  const Ssa ssa(p);
  std::vector<uint32_t> depths = loop_depths(ssa);
  if (std::ranges::all_of(depths, [](uint32_t depth) { return depth == 0; })) return;
  const Origins origins(ssa, std::move(depths));
  std::vector<bool> done(ssa.size());
  for (const uint32_t b : ssa.order().nodes) {
    std::vector<Inst> out;
    std::vector<uint32_t> here;
    auto& insts = p.blocks[b].insts;
    for (size_t n = 0; n < insts.size(); ++n) {
      for (size_t s = 0; s < insts[n].src.size() && !carries(insts[n]); ++s) {
        const uint32_t v = ssa.use(b, n, s);
        if (v == kNone || reads_as_float(insts[n], s)) continue;
        if (!origins.from_loop(v, b) || origins.odd(v) || done[v]) continue;
        const Reg reg{ssa[v].reg};
        const Type type = p.regs[reg.id].width == Width::b64 ? Type::f64 : Type::f32;
        out.push_back(canonical_again(reg, type, insts[n].site));
        done[v] = true;
        here.push_back(v);
      }
      out.push_back(std::move(insts[n]));
    }
    insts = std::move(out);
    for (const uint32_t v : here) done[v] = false;
  }
}

}  // namespace

void relax_nans(Program& program) {
  if (!any_inst(program, computes)) return;
  canonical_behind_loops(program);
  const Ssa ssa(program);
  const Seen seen(ssa);
  for (const uint32_t b : ssa.order().nodes) {
    auto& insts = program.blocks[b].insts;
    for (size_t i = 0; i < insts.size(); ++i) {
      if (!computes(insts[i])) continue;
      const uint32_t value = ssa.defined(b, i, 0);
      const bool shows = seen[insts[i].guard.always() ? value : ssa.inputs(value)[0]];
      insts[i].any_nan = insts[i].any_nan || !shows;
    }
  }
}

}  // namespace lanewise::ir
