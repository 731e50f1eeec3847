#include "runtime/diff/freedom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace lanewise::diff {
namespace {

using ir::Op;

double ulp(ir::Type type) {
  switch (type) {
    case ir::Type::f64:
      return std::ldexp(1.0, -52);
    case ir::Type::f16:
      return std::ldexp(1.0, -10);
    default:
      return std::ldexp(1.0, -23);
  }
}

/// PTX promises 2 ulp where this front end rounds correctly; of rcp.approx.ftz.f64 and its root
/// only the upper word.
double promised_ulps(const ir::Program& program, const ir::Inst& inst, const std::string& text) {
  if (program.isa != ir::Isa::ptx) return 0;
  if (inst.op != Op::fdiv && inst.op != Op::frcp && inst.op != Op::fsqrt) return 0;
  if (text.find(".approx.ftz.f64") != std::string::npos) return std::ldexp(1.0, 32);
  const bool open =
      text.find(".approx") != std::string::npos || text.find("div.full") != std::string::npos;
  return open ? 2 : 0;
}

/// In units of the last place: the larger of what PTX promises and what vendors document.
double approximate_ulps(Op op) {
  static const std::map<Op, double> kUlps = {
      {Op::fdiv_approx, 2},   {Op::frcp_approx, 1}, {Op::fsqrt_approx, 2},
      {Op::frsqrt_approx, 2}, {Op::fex2_approx, 2}, {Op::flg2_approx, 4},
      {Op::fsin_approx, 8},   {Op::fcos_approx, 8}, {Op::ftanh_approx, 4096}};
  const auto found = kUlps.find(op);
  return found == kUlps.end() ? 0 : found->second;
}

/// PTX leaves it to the assembler whether `mul` and `add` without a rounding become one `fma`.
bool may_be_fused(const ir::Program& program, const ir::Inst& inst, const std::string& text) {
  if (program.isa != ir::Isa::ptx) return false;
  if (inst.op != Op::fadd && inst.op != Op::fsub && inst.op != Op::fmul && inst.op != Op::ffma)
    return false;
  size_t at = 0;
  if (text.starts_with('@')) at = text.find_first_not_of(" \t", text.find_first_of(" \t"));
  if (at == std::string::npos) return false;
  const std::string name = text.substr(at, text.find_first_of(" \t", at) - at);
  bool plain = false;
  for (const char* start : {"add.", "sub.", "mul.", "mad."}) plain |= name.starts_with(start);
  for (const char* rounding : {".rn", ".rz", ".rm", ".rp"})
    plain &= name.find(rounding) == std::string::npos;
  return plain;
}

bool reads_clock(const ir::Inst& inst) {
  if (inst.op != Op::sreg) return false;
  switch (static_cast<ir::SReg>(inst.mode)) {
    case ir::SReg::clock:
    case ir::SReg::clock64:
    case ir::SReg::globaltimer:
      return true;
    default:
      return false;
  }
}

}  // namespace

Freedom::Freedom(const ir::Program& program) {
  std::set<std::string> seen;
  for (const ir::Block& block : program.blocks) {
    std::vector<double>& errors = errors_.emplace_back();
    for (const ir::Inst& inst : block.insts) {
      const std::string text =
          inst.site < program.sites.size() ? program.sites[inst.site].text : std::string();
      const double ulps = std::max(approximate_ulps(inst.op), promised_ulps(program, inst, text));
      const bool fused = ulps == 0 && may_be_fused(program, inst, text);
      errors.push_back((fused ? 1 : ulps) * ulp(inst.type));
      if (reads_clock(inst)) clocks_.push_back(text);
      if (errors.back() == 0 || !seen.insert(text).second) continue;
      ops_.push_back({text, errors.back(), fused ? "may be fused" : "approximate"});
    }
  }
}

}  // namespace lanewise::diff
