#include "runtime/isa/gcn/text/lost_bits.hpp"

#include <algorithm>

#include "runtime/isa/gcn/text/operands/number_text.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {
namespace {

bool is_condition(const Operand& o) {
  return !o.immediate && o.code >= kVccz && o.code <= kScc;
}
bool lacks_conditions(Slot s) {
  return s == Slot::sdst || s == Slot::sdata || s == Slot::ksrc || s == Slot::mask_dst ||
         s == Slot::soff;
}
bool names_no_register(const Instruction& i) {
  for (size_t n = 0; n < i.operands.size(); ++n)
    if (is_condition(i.operands[n]) && lacks_conditions(i.row->operands[n].slot)) return true;
  return false;
}

}  // namespace

void share_literal(Instruction& i, Gen gen) {
  const Operand* own = i.operand(Slot::literal);
  if (own == nullptr) return;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    Operand& o = i.operands[n];
    if (o.immediate || o.code != kLiteral || !o.label.empty() || o.value == own->value) continue;
    std::string problem;
    const Number number{own->value, false};
    const auto code = constant_of(number, i.row->operands[n].type, gen, problem);
    if (!code || code->code == kLiteral) continue;
    o.value = own->value;
    o.cut = true;
  }
}

bool keep_words_only(Instruction& i, Gen gen) {
  if (!names_no_register(i)) return false;
  const auto waits = [](const Operand& o) { return !o.label.empty(); };
  if (std::ranges::any_of(i.operands, waits))
    Cursor::fail_value(0, "a condition is not possible here");
  // The field of a scalar load's offset is longer than the code of its register.
  for (size_t n = 0; n < i.operands.size(); ++n)
    if (i.row->operands[n].slot == Slot::soff && gen == Gen::gfx8) i.operands[n].code &= 127;
  i = undecoded(encode(i, gen), gen);
  return true;
}

std::string lost_bits(const Instruction& i) {
  if (i.cut_flag) return "a flag's number has more bits than its field, which takes the lowest";
  for (const Operand& o : i.operands) {
    if (!o.cut) continue;
    if (o.immediate) return "the number has more bits than its field, which takes the lowest";
    return i.row->has(Slot::literal)
               ? "the instruction has one literal: its own stands for the other one, too"
               : "the literal is the upper half of the double: its lower 32 bits become 0";
  }
  return {};
}

}  // namespace lanewise::gcn
