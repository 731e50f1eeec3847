// Loops that end by themselves after a number of trips that the program states. They need no step
// budget: it is there for loops that might never end.
#include <algorithm>
#include <optional>

#include "runtime/ir/integer.hpp"
#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {
namespace {

constexpr uint64_t kMostTrips = 4096;  ///< of one loop
constexpr uint64_t kMostInNest = uint64_t{1}
                                 << 20;  ///< of a loop, those of the loops in it included

struct Place {
  uint32_t block = kNone;
  size_t inst = 0;
};

class FreeLoops {
 public:
  explicit FreeLoops(Program& program)
      : p_(program),
        graph_(block_graph(program)),
        order_(reverse_postorder(graph_)),
        dom_(dominators(graph_)) {}

  void mark() {
    if (!reducible(graph_, order_, dom_)) return;
    loops_ = loops(graph_, order_, dom_);
    if (std::ranges::find(loops_.is_header, true) == loops_.is_header.end()) return;
    find_definitions();
    trips_.resize(p_.blocks.size());
    inside_.resize(p_.blocks.size());
    // Loops come behind the loops around them in this order.
    for (auto it = order_.nodes.rbegin(); it != order_.nodes.rend(); ++it)
      if (loops_.is_header[*it]) judge(*it);
    for (const uint32_t b : order_.nodes) mark(b);
  }

 private:
  void find_definitions() {
    definitions_.resize(p_.regs.size());
    for (const uint32_t b : order_.nodes) {
      const auto& insts = p_.blocks[b].insts;
      for (size_t i = 0; i < insts.size(); ++i)
        for (const Reg reg : insts[i].dst)
          if (reg.valid()) definitions_[reg.id].push_back({b, i});
    }
  }
  const Inst& inst(const Place& at) const { return p_.blocks[at.block].insts[at.inst]; }

  bool inside(uint32_t block, uint32_t header) const {
    uint32_t h = loops_.header[block];
    while (h != kNone && h != header) h = loops_.parent[h];
    return h == header;
  }
  bool is_latch(uint32_t block, uint32_t header) const {
    return order_.reachable(block) && dom_.dominates(header, block);
  }
  /// Every trip of the loop passes the block, and passes it once.
  bool each_trip(uint32_t block, uint32_t header) const {
    if (loops_.header[block] != header) return false;
    return std::ranges::all_of(graph_.preds[header], [&](uint32_t p) {
      return !is_latch(p, header) || dom_.dominates(block, p);
    });
  }
  bool before(const Place& a, const Place& b) const {
    return a.block == b.block ? a.inst < b.inst : dom_.dominates(a.block, b.block);
  }

  /// The only write of the register in the loop, when each trip makes it.
  std::optional<Place> only_write(uint32_t reg, uint32_t header) const {
    std::optional<Place> found;
    for (const Place& at : definitions_[reg]) {
      if (!inside(at.block, header)) continue;
      if (found) return std::nullopt;
      found = at;
    }
    if (!found || !inst(*found).guard.always() || !each_trip(found->block, header))
      return std::nullopt;
    return found;
  }

  /// What the register holds at the end of the block was written there, in each trip.
  std::optional<Place> last_write(uint32_t reg, uint32_t block, uint32_t header) const {
    const auto& insts = p_.blocks[block].insts;
    for (size_t i = insts.size(); i-- > 0;) {
      if (std::ranges::find(insts[i].dst, reg, &Reg::id) == insts[i].dst.end()) continue;
      if (!insts[i].guard.always()) return std::nullopt;
      return Place{block, i};
    }
    const std::optional<Place> at = only_write(reg, header);
    return at && dom_.dominates(at->block, block) ? at : std::nullopt;
  }

  static std::optional<uint64_t> constant_move(const Inst& i) {
    if (i.op != Op::mov || !i.guard.always() || !i.src[0].is_imm()) return std::nullopt;
    return i.src[0].imm;
  }

  /// What the register holds whenever the loop is entered.
  std::optional<uint64_t> start(uint32_t reg, uint32_t header) const {
    std::optional<uint64_t> value;
    for (const uint32_t p : graph_.preds[header]) {
      if (!order_.reachable(p) || is_latch(p, header)) continue;
      const std::optional<uint64_t> here = value_at_end(reg, p);
      if (!here || (value && *value != *here)) return start_everywhere(reg, header);
      value = here;
    }
    return value;
  }
  std::optional<uint64_t> value_at_end(uint32_t reg, uint32_t block) const {
    constexpr int kFar = 16;
    for (int n = 0; n < kFar; ++n) {
      const auto& insts = p_.blocks[block].insts;
      for (auto i = insts.rbegin(); i != insts.rend(); ++i)
        if (std::ranges::find(i->dst, reg, &Reg::id) != i->dst.end()) return constant_move(*i);
      if (graph_.preds[block].size() != 1) break;
      block = graph_.preds[block][0];
    }
    return std::nullopt;
  }
  /// All writes outside of the loop are of one constant, and each path to the loop passes one.
  std::optional<uint64_t> start_everywhere(uint32_t reg, uint32_t header) const {
    std::optional<uint64_t> value;
    bool passed = false;
    for (const Place& at : definitions_[reg]) {
      if (inside(at.block, header)) continue;
      const std::optional<uint64_t> here = constant_move(inst(at));
      if (!here || (value && *value != *here)) return std::nullopt;
      value = here;
      passed = passed || (dom_.dominates(at.block, header) &&
                          loops_.header[at.block] == loops_.parent[header]);
    }
    return passed ? value : std::nullopt;
  }

  /// A counter: each trip adds `step` to it.
  struct Counter {
    uint64_t start = 0, step = 0;
  };
  /// `reg` at `use`: a counter, or a counter's value after this trip's addition.
  std::optional<Counter> counter(uint32_t reg, const Place& use, uint32_t header) const {
    const std::optional<Place> write = only_write(reg, header);
    if (!write) return std::nullopt;
    if (inst(*write).op == Op::mov && inst(*write).src[0].is_reg()) {
      // i = t, where t = i + step
      const uint32_t sum = inst(*write).src[0].index;
      const std::optional<Place> add = only_write(sum, header);
      if (!add || !before(*add, *write)) return std::nullopt;
      return sum_of(reg, *add, header);
    }
    if (const auto own = sum_of(reg, *write, header)) return own;
    // t = i + step, where the counter is i
    if (!before(*write, use)) return std::nullopt;
    const std::optional<uint32_t> counted = added_to(inst(*write));
    if (!counted) return std::nullopt;
    const std::optional<Place> copy = only_write(*counted, header);
    if (!copy || inst(*copy).op != Op::mov || !inst(*copy).src[0].is_reg() ||
        inst(*copy).src[0].index != reg || !before(*write, *copy))
      return std::nullopt;
    return sum_of(*counted, *write, header);
  }
  static bool whole(Type t) {
    return t == Type::u32 || t == Type::s32 || t == Type::u64 || t == Type::s64;
  }
  /// The register to which the instruction adds a constant, or from which it takes one away.
  static std::optional<uint32_t> added_to(const Inst& i) {
    const bool add = i.op == Op::add, sub = i.op == Op::sub;
    if ((!add && !sub) || i.sat || !whole(i.type)) return std::nullopt;
    if (i.src[0].is_reg() && i.src[1].is_imm()) return i.src[0].index;
    if (add && i.src[1].is_reg() && i.src[0].is_imm()) return i.src[1].index;
    return std::nullopt;
  }
  std::optional<Counter> sum_of(uint32_t reg, const Place& at, uint32_t header) const {
    const Inst& i = inst(at);
    if (added_to(i) != reg) return std::nullopt;
    const std::optional<uint64_t> from = start(reg, header);
    if (!from) return std::nullopt;
    const uint64_t step = i.src[i.src[0].is_imm() ? 0 : 1].imm;
    return Counter{*from, i.op == Op::sub ? 0 - step : step};
  }

  /// The most trips that the exit at the end of `block` lets the loop make.
  std::optional<uint64_t> trips_until(uint32_t block, uint32_t header) const {
    const Terminator& t = p_.blocks[block].term;
    if (t.kind != Terminator::Kind::branch || t.cond.always() || !each_trip(block, header))
      return std::nullopt;
    const bool stays = inside(t.targets[0], header);
    if (stays == inside(t.targets[1], header)) return std::nullopt;
    const bool leaves_when = !stays != t.cond.negate;  // this value of the predicate
    const std::optional<Place> at = last_write(t.cond.reg.id, block, header);
    if (!at) return std::nullopt;
    const Inst& compare = inst(*at);
    if (compare.op != Op::icmp || !whole(compare.type)) return std::nullopt;
    if (compare.src[0].is_imm() == compare.src[1].is_imm()) return std::nullopt;
    const size_t which = compare.src[0].is_imm() ? 1 : 0;
    if (!compare.src[which].is_reg()) return std::nullopt;
    const auto found = counter(compare.src[which].index, *at, header);
    if (!found) return std::nullopt;
    const uint64_t limit = compare.src[1 - which].imm;
    // The first trip may compare before or after it adds: what leaves at once is not believed.
    const uint64_t mask = width_of(compare.type) == Width::b64 ? ~uint64_t{0} : 0xffffffff;
    uint64_t value = found->start;
    for (uint64_t trip = 1; trip <= kMostTrips; ++trip) {
      value = (value + found->step) & mask;
      const uint64_t a = which == 0 ? value : limit & mask, b = which == 0 ? limit & mask : value;
      if (integer_compare(compare.type, compare.cond, a, b) == leaves_when) return trip;
    }
    return std::nullopt;
  }

  void judge(uint32_t header) {
    std::optional<uint64_t> trips;
    for (const uint32_t b : order_.nodes) {
      if (loops_.header[b] != header) continue;
      const auto here = trips_until(b, header);
      if (here && (!trips || *here < *trips)) trips = here;
    }
    if (!trips) return;
    const uint64_t all = *trips * std::max<uint64_t>(1, inside_[header]);
    if (all > kMostInNest) return;
    trips_[header] = all;
    if (loops_.parent[header] != kNone) inside_[loops_.parent[header]] += all;
  }

  /// A terminator's back edges count together.
  void mark(uint32_t block) {
    Terminator& t = p_.blocks[block].term;
    if (t.kind != Terminator::Kind::jump && t.kind != Terminator::Kind::branch) return;
    bool any = false;
    for (const uint32_t to : t.targets) {
      if (to > block) continue;
      if (!is_latch(block, to) || trips_[to] == 0) return;
      any = true;
    }
    if (any) t.counts = false;
  }

  Program& p_;
  Graph graph_;
  BlockOrder order_;
  DomTree dom_;
  Loops loops_;
  std::vector<std::vector<Place>> definitions_;  ///< [register]
  std::vector<uint64_t> trips_;                  ///< [header]: at most, 0 = it has no such limit
  std::vector<uint64_t> inside_;                 ///< [header]: of the loops right inside it
};

}  // namespace

void mark_free_loops(Program& program) {
  FreeLoops(program).mark();
}

bool takes_steps(const Program& program) {
  bool backwards = false;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    const Terminator& t = program.blocks[b].term;
    backwards = backwards ||
                (t.counts && std::ranges::any_of(t.targets, [&](uint32_t to) { return to <= b; }));
  }
  if (!backwards) return false;
  const Graph graph = block_graph(program);
  const BlockOrder order = reverse_postorder(graph);
  return std::ranges::any_of(order.nodes, [&](uint32_t b) {
    return std::ranges::any_of(graph.succs[b],
                               [&](uint32_t to) { return order.index[to] <= order.index[b]; });
  });
}

}  // namespace lanewise::ir
