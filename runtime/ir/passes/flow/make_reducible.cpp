// Irreducible regions get one dispatch block each. A region is a strongly connected component that
// is entered at two or more blocks; regions are looked for in the whole graph, then inside each
// loop without its header, and so on.
#include <algorithm>
#include <map>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/flow/dispatch.hpp"
#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {

uint32_t add_dispatch(Program& p, const std::vector<uint32_t>& entries) {
  const Reg selector = p.add_reg(Width::b32, std::string("dispatch"));
  const auto old_blocks = static_cast<uint32_t>(p.blocks.size());
  const uint32_t dispatch = old_blocks;
  Terminator t;
  t.kind = Terminator::Kind::switch_;
  t.selector = selector;
  for (size_t k = 0; k + 1 < entries.size(); ++k) t.cases.push_back(k);
  t.targets = entries;
  p.blocks.push_back({"dispatch", {}, std::move(t)});

  const auto add_setter = [&](uint32_t entry, uint32_t site) {
    const auto at = std::lower_bound(entries.begin(), entries.end(), entry);
    const Operand number = Operand::immediate(static_cast<uint64_t>(at - entries.begin()));
    p.blocks.push_back({"dispatch",
                        {instruction(Op::mov, Type::u32, {selector}, {number}, site)},
                        jump_to(dispatch, site)});
    return static_cast<uint32_t>(p.blocks.size() - 1);
  };
  // A setter per edge: shared ones would be merge points, each with a scope around its edges.
  for (uint32_t b = 0; b < old_blocks; ++b) {
    std::map<uint32_t, uint32_t> setters;
    for (size_t i = 0; i < p.blocks[b].term.targets.size(); ++i) {
      const uint32_t target = p.blocks[b].term.targets[i];
      if (!std::binary_search(entries.begin(), entries.end(), target)) continue;
      auto& setter = setters.try_emplace(target, kNone).first->second;
      if (setter == kNone) setter = add_setter(target, p.blocks[b].term.site);
      p.blocks[b].term.targets[i] = setter;
    }
  }
  return dispatch;
}

void detach_entry(Program& p) {
  const auto enters = [](const Block& b) {
    return std::count(b.term.targets.begin(), b.term.targets.end(), 0U) != 0;
  };
  if (p.blocks.empty() || std::none_of(p.blocks.begin(), p.blocks.end(), enters)) return;
  const auto moved = static_cast<uint32_t>(p.blocks.size());
  for (Block& b : p.blocks) {
    std::replace(b.term.targets.begin(), b.term.targets.end(), 0U, moved);
  }
  p.blocks.push_back(std::move(p.blocks[0]));
  p.blocks[0] = {p.blocks[moved].label, {}, jump_to(moved)};
}

namespace {

class ReduciblePass {
 public:
  explicit ReduciblePass(Program& p) : p_(p) {}

  void run() {
    const Graph whole = block_graph(p_);
    const BlockOrder order = reverse_postorder(whole);
    if (reducible(whole, order, dominators(whole))) return;
    detach_entry(p_);
    refresh();
    std::vector<std::vector<uint32_t>> work{reverse_postorder(graph_).nodes};
    while (!work.empty()) {
      const std::vector<uint32_t> nodes = std::move(work.back());
      work.pop_back();
      Components finder(graph_);
      for (auto& component : finder.of(nodes)) {
        if (component.size() > 1) reduce(component, work);
      }
    }
  }

 private:
  void refresh() {
    graph_ = block_graph(p_);
    reachable_ = reverse_postorder(graph_).index;
  }

  /// Makes the component single-entry and queues what is left of it without its header.
  void reduce(std::vector<uint32_t>& component, std::vector<std::vector<uint32_t>>& work) {
    std::vector<bool> inside(p_.blocks.size());
    for (const uint32_t b : component) inside[b] = true;
    std::vector<uint32_t> entries;
    for (const uint32_t b : component) {
      const auto& preds = graph_.preds[b];
      const auto outside = [&](uint32_t q) { return !inside[q] && reachable_[q] != kNone; };
      if (std::any_of(preds.begin(), preds.end(), outside)) entries.push_back(b);
    }
    uint32_t header = entries.empty() ? component[0] : entries[0];
    if (entries.size() > 1) {
      std::sort(entries.begin(), entries.end());
      header = add_dispatch(p_, entries);
      refresh();
    }
    // Blocks that were added lead from and to the new header only, in no cycle without it.
    std::erase(component, header);
    work.push_back(std::move(component));
  }

  Program& p_;
  Graph graph_;
  std::vector<uint32_t> reachable_;
};

}  // namespace

void make_reducible(Program& program) {
  ReduciblePass(program).run();
}

}  // namespace lanewise::ir
