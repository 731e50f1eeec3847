// Vector instructions of one result from a function of up to three 32-bit values: every encoding
// with every kind of operand.
#pragma once

#include "tests/values/gcn/gcn.hpp"

namespace values::gcn {

/// One operand of an instruction, and what a lane reads there.
struct Source {
  std::string text;
  std::function<uint32_t(const Lane&)> value;
};
Source vgpr(unsigned word);
Source sgpr(unsigned number);  ///< of s[24:27]
Source constant(std::string text, uint32_t bits);
Source absolute(Source s);
Source negative(Source s);

using Function = std::function<uint32_t(uint32_t a, uint32_t b, uint32_t c)>;
enum class Kind { integer, real };

struct Operation {
  std::string name;
  unsigned sources;
  Kind kind;
  std::vector<Pool> pools;  ///< one for each source
  Function f;
  bool adds_to_result = false;  ///< the result register is the last source
  bool clamps = true;           ///< real results only
};

/// The instruction with these operands. The rule applies `f`, then the clamp.
Step step(const Operation& op, const std::string& suffix, const std::vector<Source>& sources,
          bool clamp = false);

/// VOP1 or VOP2 and the long encoding; on GCN3 also SDWA and DPP.
void short_and_long(Generation g, const Operation& op, std::vector<Case>& out);
/// Instructions that only the long encoding has.
void long_only(Generation g, const Operation& op, std::vector<Case>& out);

/// SDWA: parts of registers.
struct Parts {
  const char *dst, *unused, *src0, *src1;
  bool sext0 = false, sext1 = false;
};
uint32_t part_of(uint32_t value, const std::string& sel, bool sext);
uint32_t placed_part(uint32_t result, uint32_t old, const Parts& p);
std::string parts_text(const Parts& p, bool has_dst, bool two_sources);

/// DPP: where source 0 comes from.
struct Control {
  const char* text;
  std::function<int(int lane)> from;  ///< negative: nowhere
  unsigned row_mask = 15, bank_mask = 15;
  bool zero = false;  ///< bound_ctrl
};
std::string control_text(const Control& c);
/// True when the lane is written; then `value` is what it reads.
bool dpp_reads(const Control& c, const Lane& lane, uint32_t& value);

}  // namespace values::gcn
