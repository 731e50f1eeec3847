// What operands go together: a vector instruction reads one scalar register or literal over the bus
// of constants, and no instruction has two literals.
#include <fmt/format.h>

#include <set>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/gcn/text/operands/number_text.hpp"

namespace lanewise::gcn {
namespace {

bool is_source(Slot s) {
  return s == Slot::src0 || s == Slot::src1 || s == Slot::src2 || s == Slot::vsrc1 ||
         s == Slot::ssrc0 || s == Slot::ssrc1 || s == Slot::mask_src || s == Slot::literal;
}

/// The same literal may be read twice. What the file's end computes is one of its own.
std::string literal_problem(const Instruction& i) {
  std::set<std::string> literals;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    if (!is_source(i.row->operands[n].slot) || (!o.immediate && o.code != kLiteral)) continue;
    literals.insert(o.label.empty() ? std::to_string(o.value) : fmt::format("{}:{}", n, o.label));
  }
  return literals.size() > 1 ? "only one literal is possible in an instruction" : "";
}

std::string bus_problem(const Instruction& i) {
  // Pairs and halves count apart, as the assemblers have it.
  std::set<std::pair<unsigned, unsigned>> scalars;
  std::set<unsigned> literal_sizes;
  if (i.row->does(kReadsVcc)) scalars.insert({kVccLo, 2});
  if (i.row->does(kReadsM0)) scalars.insert({kM0, 1});
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const SlotSpec& spec = i.row->operands[n];
    const Operand& o = i.operands[n];
    if (!is_source(spec.slot)) continue;
    // AMD's manuals let m0 name the lane beside a scalar register.
    if (spec.slot == Slot::ssrc1 && o.code == kM0) continue;
    const bool condition = o.code >= kVccz && o.code <= kScc;
    if (o.immediate || o.code == kLiteral)
      literal_sizes.insert(ir::size_of(spec.type) == 8 ? 8 : 4);
    else if (o.code < kZero || condition)
      scalars.insert({o.code, condition ? 1 : o.count});
  }
  if (scalars.size() + literal_sizes.size() <= 1) return {};
  return scalars.size() > 1 ? "a vector instruction reads one scalar register, vcc and m0 included"
                            : "a vector instruction reads a scalar register or a literal, not both";
}

bool overlap(const Operand& a, const Operand& b) {
  return a.code < b.code + b.count && b.code < a.code + a.count;
}

/// Wide sums of differences write before they have read everything.
std::string overlap_problem(const Instruction& i) {
  if (i.row->name.find("qsad") == std::string::npos) return {};
  for (size_t n = 1; n < i.operands.size(); ++n)
    if (overlap(i.operands[0], i.operands[n]))
      return i.row->name + " needs a destination apart from all sources";
  return {};
}

/// The bits of absolute values are those of the mask register.
std::string sign_problem(const Instruction& i) {
  if (!i.row->has(Slot::mask_dst) || !i.row->has(Slot::vdst)) return {};
  for (const Operand& o : i.operands)
    if (o.abs) return i.row->name + " has no absolute values";
  return {};
}

/// What such a code stands for is not documented, and has no text: there is a literal of 16 bits.
std::string constant_problem(const Instruction& i) {
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    if (!o.immediate && i.row->operands[n].type == ir::Type::u16 && o.code >= kFirstInlineFloat &&
        o.code <= kInverseTwoPi)
      return "a floating-point constant in the place of a 16-bit integer";
  }
  return {};
}

}  // namespace

std::string operand_problem(const Instruction& i, Gen) {
  if (std::string problem = literal_problem(i); !problem.empty()) return problem;
  if (!i.row->is_vector_alu() || i.form != Form::plain) return {};
  if (std::string problem = sign_problem(i); !problem.empty()) return problem;
  if (std::string problem = overlap_problem(i); !problem.empty()) return problem;
  if (std::string problem = constant_problem(i); !problem.empty()) return problem;
  return bus_problem(i);
}

}  // namespace lanewise::gcn
