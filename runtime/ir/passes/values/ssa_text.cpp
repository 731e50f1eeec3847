#include <algorithm>

#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/ir/passes/values/ssa.hpp"

namespace lanewise::ir {
namespace {

std::string named(uint32_t value) {
  return value == kNone ? std::string("-") : "v" + std::to_string(value);
}

/// Does the definition come before the place on every path to it?
bool comes_before(const Ssa& ssa, uint32_t value, uint32_t block, size_t inst) {
  const Ssa::Value& v = ssa[value];
  if (v.kind == Ssa::Kind::entry) return true;
  if (v.block != block) return ssa.dom().dominates(v.block, block);
  return v.kind == Ssa::Kind::argument || v.inst < inst;
}

class SsaVerifier {
 public:
  explicit SsaVerifier(const Ssa& ssa) : ssa_(ssa), p_(ssa.program()) {}

  std::vector<std::string> run() {
    for (const uint32_t b : ssa_.order().nodes) {
      const auto& insts = p_.blocks[b].insts;
      for (size_t i = 0; i < insts.size(); ++i) check(b, i, insts[i]);
      for_each_use(p_.blocks[b].term,
                   [&](uint32_t r) { check_use(ssa_.deciding(b), r, b, insts.size()); });
      for (uint32_t n = 0; n < ssa_.arguments(b); ++n) check_inputs(ssa_.first_argument(b) + n, b);
    }
    return std::move(defects_);
  }

 private:
  void check(uint32_t b, size_t i, const Inst& inst) {
    for (size_t s = 0; s < inst.src.size(); ++s)
      if (inst.src[s].is_reg()) check_use(ssa_.use(b, i, s), inst.src[s].index, b, i);
    if (!inst.guard.always()) check_use(ssa_.guard(b, i), inst.guard.reg.id, b, i);
    for (size_t d = 0; d < inst.dst.size(); ++d) {
      if (!inst.dst[d].valid()) continue;
      const Ssa::Value& v = ssa_[ssa_.defined(b, i, d)];
      const auto kind = inst.guard.always() ? Ssa::Kind::result : Ssa::Kind::merge;
      if (v.kind != kind || v.block != b || v.inst != i || v.reg != inst.dst[d].id)
        defect(b, i, "defines another value");
    }
  }
  void check_inputs(uint32_t value, uint32_t b) {
    const auto inputs = ssa_.inputs(value);
    const auto incoming = ssa_.incoming(b);
    if (inputs.size() != incoming.size())
      return defect(b, 0, "an argument has other inputs than the block");
    for (size_t n = 0; n < inputs.size(); ++n) {
      const uint32_t from = incoming[n].from;
      const size_t end = from == kNone ? 0 : p_.blocks[from].insts.size();
      check_use(inputs[n], ssa_[value].reg, from == kNone ? 0 : from, end);
    }
  }
  void check_use(uint32_t value, uint32_t reg, uint32_t b, size_t i) {
    if (value == kNone || ssa_[value].reg != reg)
      return defect(b, i, "reads a value of another register");
    if (!comes_before(ssa_, value, b, i))
      defect(b, i, named(value) + " does not reach it on every path");
  }
  void defect(uint32_t b, size_t i, const std::string& what) {
    defects_.push_back("b" + std::to_string(b) + " instruction " + std::to_string(i) + ": " + what);
  }

  const Ssa& ssa_;
  const Program& p_;
  std::vector<std::string> defects_;
};

}  // namespace

std::string print(const Ssa& ssa) {
  const Program& p = ssa.program();
  std::string out;
  for (const uint32_t b : ssa.order().nodes) {
    out += "b" + std::to_string(b) + " from";
    for (const Ssa::Incoming& in : ssa.incoming(b))
      out += in.from == kNone ? " entry" : " b" + std::to_string(in.from);
    out += "\n";
    for (uint32_t n = 0; n < ssa.arguments(b); ++n) {
      const uint32_t v = ssa.first_argument(b) + n;
      out += "  " + named(v) + " = r" + std::to_string(ssa[v].reg) + " of";
      for (const uint32_t input : ssa.inputs(v)) out += " " + named(input);
      out += "\n";
    }
    const auto& insts = p.blocks[b].insts;
    for (size_t i = 0; i < insts.size(); ++i) {
      out += "  ";
      for (size_t d = 0; d < insts[i].dst.size(); ++d)
        out += named(ssa.defined(b, i, d)) + (d + 1 == insts[i].dst.size() ? " = " : ", ");
      out += print(p, insts[i]) + " ;";
      if (!insts[i].guard.always()) out += " @" + named(ssa.guard(b, i));
      for (size_t s = 0; s < insts[i].src.size(); ++s) out += " " + named(ssa.use(b, i, s));
      if (!insts[i].guard.always() && !insts[i].dst.empty())
        out += " or " + named(ssa.inputs(ssa.defined(b, i, 0))[1]);
      out += "\n";
    }
    if (ssa.deciding(b) != kNone) out += "  by " + named(ssa.deciding(b)) + "\n";
  }
  return out;
}

std::vector<std::string> verify(const Ssa& ssa) {
  return SsaVerifier(ssa).run();
}

}  // namespace lanewise::ir
