#include <algorithm>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/flow/dispatch.hpp"
#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {
namespace {

/// No driver sees this tree; recursion over it must not use up the stack. Counters may keep a jump
/// from being shortened, so the second tree may be a little deeper than the first.
constexpr TreeLimits kFirst{.constructs = 400, .ifs = 400, .depth = 400, .rows = false};
constexpr TreeLimits kSecond{.constructs = 800, .ifs = 800, .depth = 800, .rows = false};

class OrderBuilder {
 public:
  explicit OrderBuilder(const Program& p) : p_(p) {
    // As devices do it first of all: which tree an irreducible graph gets depends on its blocks'
    // order.
    lower_switches(p_);
    const size_t lowered = p_.blocks.size();
    detach_entry(p_);
    note_origins(p, lowered);
    p_ = structurise(p_, kFirst).program;
    out_.origins.resize(p_.blocks.size());  // blocks that were added hold nothing of the input
  }

  WaveOrder run(CountLoops count) {
    const Graph graph = block_graph(p_);
    const BlockOrder order = reverse_postorder(graph);
    loops_ = loops(graph, order, dominators(graph));
    iteration_.resize(p_.blocks.size());
    if (count == CountLoops::with_wave_ops) find_counted(order);
    write_counters();
    out_.tree = structurise(p_, kSecond);
    out_.places.resize(p_.blocks.size());
    uint32_t last = 0;
    number(out_.tree.body, last);
    for (const uint32_t b : order.nodes) find_loops(b);
    return std::move(out_);
  }

 private:
  /// Passes append blocks, and instructions at the ends of blocks; only the entry may have moved.
  void note_origins(const Program& source, size_t lowered) {
    const auto count = [&](uint32_t b) {
      return static_cast<uint32_t>(source.blocks[b].insts.size());
    };
    const auto blocks = static_cast<uint32_t>(source.blocks.size());
    const bool moved = p_.blocks.size() != lowered;
    for (uint32_t b = 0; b < blocks; ++b) out_.origins.push_back({b, 0, count(b)});
    out_.origins.resize(lowered);
    if (!moved) return;
    out_.origins[0] = {};
    out_.origins.push_back({0, 0, count(0)});
  }

  static bool has_wave_op(const Block& block) {
    return std::ranges::any_of(block.insts,
                               [](const Inst& i) { return info(i.op).trait == OpTrait::wave; });
  }

  void find_counted(const BlockOrder& order) {
    for (const uint32_t b : order.nodes) {
      if (!has_wave_op(p_.blocks[b])) continue;
      for (uint32_t h = loops_.header[b]; h != kNone && !iteration_[h].valid();
           h = loops_.parent[h])
        iteration_[h] = p_.add_reg(Width::b32, std::string("iteration"));
    }
  }

  /// A loop is entered once at most in each iteration of the loop around it, so that one sets it to
  /// zero.
  void write_counters() {
    std::vector<std::vector<Inst>> added(p_.blocks.size());
    for (uint32_t h = 0; h < iteration_.size(); ++h) {
      if (!iteration_[h].valid()) continue;
      const uint32_t around = loops_.parent[h] == kNone ? 0 : loops_.parent[h];
      added[around].push_back(write(Op::mov, iteration_[h], {Operand::immediate(0)}));
      added[h].push_back(write(Op::add, iteration_[h], {iteration_[h], Operand::immediate(1)}));
    }
    for (uint32_t b = 0; b < added.size(); ++b) {
      auto& insts = p_.blocks[b].insts;
      insts.insert(insts.begin(), added[b].begin(), added[b].end());
      out_.origins[b].added = static_cast<uint32_t>(added[b].size());
    }
  }

  static Inst write(Op op, Reg reg, std::vector<Operand> from) {
    return instruction(op, Type::u32, {reg}, std::move(from));
  }

  void number(const std::vector<Node>& nodes, uint32_t& last) {
    for (const Node& n : nodes) {
      if (n.kind == Node::Kind::block) out_.places[n.block].position = ++last;
      number(n.body, last);
      number(n.otherwise, last);
    }
  }

  /// The loops of the tree are the natural loops: what is not part of one stands behind it.
  void find_loops(uint32_t b) {
    std::vector<WaveOrder::Loop>& around = out_.places[b].loops;
    for (uint32_t h = loops_.header[b]; h != kNone; h = loops_.parent[h]) {
      if (iteration_[h].valid()) around.push_back({iteration_[h], out_.places[h].position});
    }
    std::ranges::reverse(around);
  }

  Program p_;
  Loops loops_;
  std::vector<Reg> iteration_;  ///< [header]
  WaveOrder out_;
};

}  // namespace

WaveOrder order_waves(const Program& program, CountLoops count) {
  return OrderBuilder(program).run(count);
}

}  // namespace lanewise::ir
