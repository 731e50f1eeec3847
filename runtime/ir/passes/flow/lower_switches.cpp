#include <algorithm>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {
namespace {

struct Case {
  uint64_t value;
  uint32_t target;
};

/// Up to this many cases are tested one after the other; more are halved first, so that a table of
/// thousands of cases nests only as deep as its logarithm.
constexpr size_t kLinear = 3;

class SwitchLowering {
 public:
  explicit SwitchLowering(Program& p) : p_(p) {}

  void run() {
    const size_t blocks = p_.blocks.size();
    for (uint32_t b = 0; b < blocks; ++b) {
      if (p_.blocks[b].term.kind == Terminator::Kind::switch_) lower(b);
    }
  }

 private:
  void lower(uint32_t b) {
    const Terminator t = p_.blocks[b].term;
    selector_ = t.selector;
    site_ = t.site;
    uniform_ = t.uniform;
    default_ = t.targets.back();
    std::vector<Case> cases;
    for (size_t i = 0; i < t.cases.size(); ++i) cases.push_back({t.cases[i], t.targets[i]});
    // The first of equal cases wins; cases that go to the default need no test.
    std::stable_sort(cases.begin(), cases.end(),
                     [](const Case& x, const Case& y) { return x.value < y.value; });
    cases.erase(std::unique(cases.begin(), cases.end(),
                            [](const Case& x, const Case& y) { return x.value == y.value; }),
                cases.end());
    std::erase_if(cases, [&](const Case& c) { return c.target == default_; });
    test(b, cases.data(), cases.size());
  }

  /// Ends block `b` by going to the case that the selector equals. Recursion halves `count`.
  void test(uint32_t b, const Case* cases, size_t count) {
    if (count == 0) {
      p_.blocks[b].term = jump_to(default_, site_);
      return;
    }
    if (count > kLinear) {
      const size_t half = count / 2;
      const uint32_t low = fresh(b), high = fresh(b);
      branch(b, Cond::lt, cases[half].value, low, high);
      test(low, cases, half);
      test(high, cases + half, count - half);
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      const uint32_t next = i + 1 == count ? default_ : fresh(b);
      branch(b, Cond::eq, cases[i].value, cases[i].target, next);
      b = next;
    }
  }

  uint32_t fresh(uint32_t from) {
    Block block;
    block.label = p_.blocks[from].label;
    p_.blocks.push_back(std::move(block));
    return static_cast<uint32_t>(p_.blocks.size() - 1);
  }

  void branch(uint32_t b, Cond cond, uint64_t value, uint32_t taken, uint32_t otherwise) {
    Inst compare = instruction(Op::icmp, Type::u32, {p_.add_reg(Width::pred)},
                               {selector_, Operand::immediate(value)}, site_);
    compare.cond = cond;
    p_.blocks[b].term = branch_on({compare.dst[0]}, taken, otherwise, site_);
    p_.blocks[b].term.uniform = uniform_;
    p_.blocks[b].insts.push_back(std::move(compare));
  }

  Program& p_;
  Operand selector_;
  uint32_t default_ = 0, site_ = kNone;
  bool uniform_ = false;
};

}  // namespace

void lower_switches(Program& program) {
  SwitchLowering(program).run();
}

}  // namespace lanewise::ir
