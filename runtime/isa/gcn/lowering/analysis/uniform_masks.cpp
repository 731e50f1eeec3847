#include "runtime/isa/gcn/lowering/analysis/uniform_masks.hpp"

#include <optional>

namespace lanewise::gcn {
namespace {

/// Pairs of scalar registers that are 0 or -1, and whether VCC is EXEC and one of them.
struct Uniform {
  ScalarSet pairs;  ///< by low codes
  bool vcc_of_exec = false;
  bool operator==(const Uniform&) const = default;

  void meet(const Uniform& other) {
    pairs &= other.pairs;
    vcc_of_exec = vcc_of_exec && other.vcc_of_exec;
  }
  bool is_uniform(const Operand& o) const {
    if (o.immediate) return false;
    if (is_scalar(o.code)) return o.count == 2 && pairs.test(o.code);
    return o.code == kZero || o.code == kMinusOne;
  }
  /// Both ends of a select: the condition is a number's.
  bool makes_uniform(const Instruction& i) const {
    const bool selects = i.row->meaning.op == ir::Op::select && i.row->kind == Kind::alu &&
                         i.row->encoding == Encoding::sop2 && i.operands[0].count == 2;
    if (!selects && !(i.row->does(kMaskLogic) && !i.row->does(kWritesExec))) return false;
    for (size_t n = 1; n < i.operands.size(); ++n)
      if (!is_uniform(i.operands[n])) return false;
    return true;
  }
  /// exec & pair, exec & ~pair, pair & exec.
  bool is_of_exec(const Instruction& i) const {
    const Meaning& m = i.row->meaning;
    if (!i.row->does(kMaskLogic) || i.row->does(kWritesExec) || i.operands.size() != 3)
      return false;
    if (m.op != ir::Op::and_ || m.invert_result || i.operands[0].code != kVccLo) return false;
    const Operand &x = i.operands[1], &y = i.operands[2];
    const auto exec = [](const Operand& o) { return !o.immediate && o.code == kExecLo; };
    return (exec(x) && is_uniform(y)) || (exec(y) && is_uniform(x) && !m.invert);
  }
  void step(const Instruction& i) {
    const bool uniform = makes_uniform(i), of_exec = is_of_exec(i);
    const ScalarSet writes = effects(i).writes;
    for (size_t c = writes._Find_first(); c < writes.size(); c = writes._Find_next(c))
      pairs.reset(c & ~size_t{1});
    if (uniform && i.operands[0].code % 2 == 0) pairs.set(i.operands[0].code);
    const bool changed = writes.test(kVccLo) || writes.test(kVccLo + 1) || writes.test(kExecLo);
    if (changed) vcc_of_exec = of_exec;
  }
};

}  // namespace

std::set<size_t> branches_of_one_answer(const Kernel& k, const Analysis& a) {
  std::vector<std::optional<Uniform>> in(a.blocks.size());
  in[0] = Uniform();
  std::set<size_t> work = {0}, found;
  const auto follow = [&](size_t number) {
    Uniform state = *in[number];
    for (size_t n = a.blocks[number].begin; n < a.blocks[number].end; ++n) state.step(k.code[n]);
    return state;
  };
  while (!work.empty()) {
    const size_t number = *work.begin();
    work.erase(work.begin());
    const Uniform out = follow(number);
    for (const size_t next : a.blocks[number].successors) {
      const std::optional<Uniform> before = in[next];
      if (in[next])
        in[next]->meet(out);
      else
        in[next] = out;
      if (before != in[next]) work.insert(next);
    }
  }
  for (size_t b = 0; b < a.blocks.size(); ++b) {
    const size_t last = a.blocks[b].end - 1;
    const Row& row = *k.code[last].row;
    const bool asks = row.kind == Kind::branch && row.meaning.count == kVccz;
    if (asks && in[b] && follow(b).vcc_of_exec) found.insert(last);
  }
  return found;
}

}  // namespace lanewise::gcn
