#include "runtime/isa/gcn/lowering/analysis/own_state.hpp"

#include "runtime/isa/gcn/lowering/semantics.hpp"
#include "runtime/isa/gcn/text/operands/number_text.hpp"

namespace lanewise::gcn {

OwnWords::Known OwnWords::of(unsigned code) const {
  const auto known = at_.find(code);
  return known != at_.end() ? known->second : Known(Word{code + 1, 0});
}

/// Of an operand of one or two dwords; constants in pairs are not followed.
OwnWords::Known OwnWords::source(const Operand& o, unsigned dword) const {
  if (o.immediate)
    return Word{kConstant, static_cast<uint32_t>(int32_t{static_cast<int16_t>(o.value)})};
  const unsigned code = o.code + dword;
  const bool exec = code == kExecLo || code == kExecLo + 1;  // no number of its own
  if (is_scalar(code)) return exec ? Known() : of(code);
  if (o.count != 1 || o.half != Operand::Half::none) return {};
  if (o.code == kLiteral) return Word{kConstant, o.value};
  const auto value = inline_constant(o.code);
  return value ? Known(Word{kConstant, *value}) : Known();
}

OwnWords::Known OwnWords::result(const Instruction& i, unsigned dword) const {
  const LowerFn lower = i.row->lower;
  const Meaning& m = i.row->meaning;
  if (i.row->kind == Kind::move) return source(i.operands[1], dword);
  const bool to_itself = lower == lower_saddk && m.op == Op::add;
  if (lower != lower_sadd && !to_itself) return {};
  const Known x = to_itself ? of(i.operands[0].code) : source(i.operands[1], 0);
  const Known y = source(i.operands[to_itself ? 1 : 2], 0);
  if (!x || !y) return {};
  if (m.op == Op::sub) return y->of == kConstant ? Known(Word{x->of, x->plus - y->plus}) : Known();
  if (x->of != kConstant && y->of != kConstant) return {};
  return Word{x->of + y->of, x->plus + y->plus};
}

void OwnWords::step(const Instruction& i, const ScalarSet& writes) {
  const bool scalar = i.row->encoding == Encoding::sop1 || i.row->encoding == Encoding::sop2 ||
                      i.row->encoding == Encoding::sopk;
  const Operand* to = scalar ? i.operand(Slot::sdst) : nullptr;
  std::map<unsigned, Known> made;
  for (unsigned n = 0; to != nullptr && n < to->count; ++n) made[to->code + n] = result(i, n);
  for (size_t code = writes._Find_first(); code < writes.size(); code = writes._Find_next(code)) {
    const auto known = made.find(static_cast<unsigned>(code));
    at_[static_cast<unsigned>(code)] = known != made.end() ? known->second : Known();
  }
}

void OwnWords::put_address_behind(const Operand& pair, size_t call) {
  for (const unsigned half : {0U, 1U}) at_[pair.code + half] = Word{address_half(call, half), 0};
}

bool OwnWords::leads_behind(const Operand& pair, size_t call) const {
  return of(pair.code) == Known(Word{address_half(call, 0), 0}) &&
         of(pair.code + 1) == Known(Word{address_half(call, 1), 0});
}

bool OwnWords::join(const OwnWords& other) {
  bool changed = false;
  const auto meet = [&](unsigned code) {
    const Known mine = of(code);
    if (!mine || mine == other.of(code)) return;
    at_[code] = {};
    changed = true;
  };
  for (const auto& [code, known] : other.at_) meet(code);
  for (const auto& [code, known] : at_) meet(code);  // those are there already
  return changed;
}

}  // namespace lanewise::gcn
