// Loops that end by themselves after a number of trips that the program states. They need no step
// budget: it is there for loops that might never end.
#include <algorithm>
#include <optional>

#include "runtime/ir/evaluate.hpp"
#include "runtime/ir/integer.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/ssa.hpp"

namespace lanewise::ir {
namespace {

constexpr uint64_t kMostTrips = 4096;  ///< of one loop
/// Of a loop, those of the loops in it included.
constexpr uint64_t kMostInNest = uint64_t{1} << 20;
/// Constants are found through so many joins of so few paths.
constexpr int kJoins = 4;
constexpr size_t kPaths = 4;

bool whole(Type t) {
  return t == Type::u32 || t == Type::s32 || t == Type::u64 || t == Type::s64;
}

class FreeLoops {
 public:
  explicit FreeLoops(Program& program) : p_(program), ssa_(program) {}

  void mark() {
    if (!reducible(ssa_.graph(), ssa_.order(), ssa_.dom())) return;
    loops_ = loops(ssa_.graph(), ssa_.order(), ssa_.dom());
    trips_.resize(p_.blocks.size());
    inside_.resize(p_.blocks.size());
    in_loop_.resize(p_.blocks.size());
    for (const uint32_t b : ssa_.order().nodes)
      if (loops_.header[b] != kNone) in_loop_[loops_.header[b]].push_back(b);
    // Loops come behind the loops around them in this order.
    for (auto it = ssa_.order().nodes.rbegin(); it != ssa_.order().nodes.rend(); ++it)
      if (loops_.is_header[*it]) judge(*it);
    for (const uint32_t b : ssa_.order().nodes) mark(b);
  }

 private:
  bool inside(uint32_t block, uint32_t header) const {
    uint32_t h = loops_.header[block];
    while (h != kNone && h != header) h = loops_.parent[h];
    return h == header;
  }
  bool is_latch(uint32_t block, uint32_t header) const {
    return ssa_.order().reachable(block) && ssa_.dom().dominates(header, block);
  }
  /// Every trip of the loop passes the block, and passes it once.
  bool each_trip(uint32_t block, uint32_t header) const {
    if (loops_.header[block] != header) return false;
    return std::ranges::all_of(ssa_.graph().preds[header], [&](uint32_t p) {
      return !is_latch(p, header) || ssa_.dom().dominates(block, p);
    });
  }

  uint32_t source(uint32_t value, size_t s) const {
    return ssa_.use(ssa_[value].block, ssa_[value].inst, s);
  }
  /// The value that it is a copy of.
  uint32_t original(uint32_t value) const {
    for (const Inst* i = ssa_.made_by(value); i != nullptr && i->op == Op::mov;
         i = ssa_.made_by(value)) {
      if (!i->src[0].is_reg()) break;
      value = source(value, 0);
    }
    return value;
  }
  /// Of constants, as front ends write what an instruction says.
  static std::optional<uint64_t> computed(const Inst& inst) {
    if (!inst.guard.always() || inst.dst.size() != 1 || info(inst.op).trait != OpTrait::pure)
      return std::nullopt;
    std::vector<uint64_t> sources;
    for (const Operand& o : inst.src) {
      if (!o.is_imm()) return std::nullopt;
      sources.push_back(o.imm);
    }
    const auto made = evaluate(inst, sources);
    return made ? std::optional((*made)[0]) : std::nullopt;
  }
  std::optional<uint64_t> constant(uint32_t value, int joins = kJoins) const {
    value = original(value);
    if (const Inst* i = ssa_.made_by(value)) return computed(*i);
    const bool joined = ssa_[value].kind == Ssa::Kind::argument;
    if (!joined || joins == 0 || ssa_.inputs(value).size() > kPaths) return std::nullopt;
    std::optional<uint64_t> all;
    for (const uint32_t input : ssa_.inputs(value)) {
      const auto here = constant(input, joins - 1);
      if (!here || (all && *all != *here)) return std::nullopt;
      all = here;
    }
    return all;
  }

  /// What one trip does to a counter: it adds a constant, or shifts by one.
  struct Step {
    uint32_t base = kNone;
    Op op = Op::add;
    bool is_signed = false;
    uint64_t by = 0;
    bool like(const Step& other) const {
      return op == other.op && is_signed == other.is_signed && by == other.by;
    }
    uint64_t after(uint64_t value, unsigned bits) const {
      const uint64_t all = bits == 64 ? ~uint64_t{0} : 0xffffffff;
      if (op == Op::add) return (value + by) & all;
      if (op == Op::shl) return value << by & all;
      if (!is_signed) return value >> by;
      const int64_t wide = bits == 64 ? static_cast<int64_t>(value)
                                      : int64_t{static_cast<int32_t>(static_cast<uint32_t>(value))};
      return static_cast<uint64_t>(wide >> by) & all;
    }
  };
  std::optional<Step> step(uint32_t value) const {
    const Inst* i = ssa_.made_by(value);
    if (i == nullptr || i->sat || !whole(i->type)) return std::nullopt;
    const bool shifts = i->op == Op::shl || i->op == Op::shr;
    if (!shifts && i->op != Op::add && i->op != Op::sub) return std::nullopt;
    const size_t known = i->src[0].is_imm() ? 0 : 1;
    if (!i->src[1 - known].is_reg() || (i->op != Op::add && known == 0)) return std::nullopt;
    const auto by =
        i->src[known].is_imm() ? std::optional(i->src[known].imm) : constant(source(value, known));
    if (!by || (shifts && (*by == 0 || *by > 31))) return std::nullopt;
    return Step{original(source(value, 1 - known)), shifts ? i->op : Op::add,
                i->op == Op::shr && is_signed(i->type), i->op == Op::sub ? 0 - *by : *by};
  }

  /// A counter: each trip takes the step. Only shifts come to an end from wherever they start.
  struct Counter {
    std::optional<uint64_t> start;
    Step step;
  };
  /// `value`: a counter, or a counter's value after this trip's step.
  std::optional<Counter> counter(uint32_t value, uint32_t header) const {
    value = original(value);
    const auto own = step(value);
    const uint32_t counted = own ? own->base : value;
    const Ssa::Value& v = ssa_[counted];
    if (v.kind != Ssa::Kind::argument || v.block != header) return std::nullopt;
    std::optional<Step> taken;
    std::optional<uint64_t> start;
    bool unknown = false;
    const auto inputs = ssa_.inputs(counted);
    const auto incoming = ssa_.incoming(header);
    for (size_t n = 0; n < inputs.size(); ++n) {
      if (incoming[n].from != kNone && is_latch(incoming[n].from, header)) {
        const auto next = step(original(inputs[n]));
        if (!next || next->base != counted || (taken && !taken->like(*next))) return std::nullopt;
        taken = next;
      } else {
        const auto here = constant(inputs[n]);
        unknown = unknown || !here || (start && *start != *here);
        start = here;
      }
    }
    if (!taken || (own && !own->like(*taken))) return std::nullopt;
    if (!unknown) return Counter{start, *taken};
    return taken->op == Op::add ? std::nullopt : std::optional(Counter{std::nullopt, *taken});
  }

  /// The most trips that the exit at the end of `block` lets the loop make.
  std::optional<uint64_t> trips_until(uint32_t block, uint32_t header) const {
    const Terminator& t = p_.blocks[block].term;
    if (t.kind != Terminator::Kind::branch || t.cond.always() || !each_trip(block, header))
      return std::nullopt;
    const bool stays = inside(t.targets[0], header);
    if (stays == inside(t.targets[1], header)) return std::nullopt;
    const bool leaves_when = !stays != t.cond.negate;  // this value of the predicate
    const uint32_t asked = original(ssa_.deciding(block));
    const Inst* compare = ssa_.made_by(asked);
    if (compare == nullptr || compare->op != Op::icmp || !whole(compare->type)) return std::nullopt;
    if (compare->src[0].is_imm() == compare->src[1].is_imm()) return std::nullopt;
    const size_t which = compare->src[0].is_imm() ? 1 : 0;
    if (!compare->src[which].is_reg()) return std::nullopt;
    const auto found = counter(source(asked, which), header);
    if (!found) return std::nullopt;
    const uint64_t limit = compare->src[1 - which].imm;
    const unsigned bits = width_of(compare->type) == Width::b64 ? 64 : 32;
    const uint64_t mask = bits == 64 ? ~uint64_t{0} : 0xffffffff;
    const auto leaves = [&](uint64_t value) {
      const uint64_t a = which == 0 ? value : limit & mask, b = which == 0 ? limit & mask : value;
      return integer_compare(compare->type, compare->cond, a, b) == leaves_when;
    };
    // Shifted often enough, a number is 0 or has nothing but its sign.
    if (!found->start)
      return leaves(0) && (!found->step.is_signed || leaves(mask))
                 ? std::optional(uint64_t{bits} + 1)
                 : std::nullopt;
    // The first trip may compare before or after its step: what leaves at once is not believed.
    uint64_t value = *found->start;
    for (uint64_t trip = 1; trip <= kMostTrips; ++trip) {
      value = found->step.after(value, bits);
      if (leaves(value)) return trip;
    }
    return std::nullopt;
  }

  void judge(uint32_t header) {
    std::optional<uint64_t> trips;
    for (const uint32_t b : in_loop_[header]) {
      const auto here = trips_until(b, header);
      if (here && (!trips || *here < *trips)) trips = here;
    }
    if (!trips) return;
    const uint64_t all = *trips * std::max<uint64_t>(1, inside_[header]);
    if (all > kMostInNest) return;
    trips_[header] = all;
    if (loops_.parent[header] != kNone) inside_[loops_.parent[header]] += all;
  }

  /// The innermost loop that holds both.
  uint32_t common_loop(uint32_t block, uint32_t to) const {
    uint32_t h = loops_.header[block];
    while (h != kNone && !inside(to, h)) h = loops_.parent[h];
    return h;
  }
  /// A terminator's back edges count together: those of loops, and those to a lower index. A trip
  /// of a loop takes each of the latter once at most.
  void mark(uint32_t block) {
    Terminator& t = p_.blocks[block].term;
    if (t.kind != Terminator::Kind::jump && t.kind != Terminator::Kind::branch) return;
    bool any = false;
    for (const uint32_t to : t.targets) {
      const bool latch = is_latch(block, to);
      if (to > block && !latch) continue;
      const uint32_t loop = latch ? to : common_loop(block, to);
      if (loop != kNone && trips_[loop] == 0) return;
      any = true;
    }
    if (any) t.counts = false;
  }

  Program& p_;
  Ssa ssa_;
  Loops loops_;
  std::vector<std::vector<uint32_t>> in_loop_;  ///< [header]: blocks of no loop inside it
  std::vector<uint64_t> trips_;                 ///< [header]: at most, 0 = it has no such limit
  std::vector<uint64_t> inside_;                ///< [header]: of the loops right inside it
};

bool jumps_back(const Program& program) {
  for (uint32_t b = 0; b < program.blocks.size(); ++b)
    if (std::ranges::any_of(program.blocks[b].term.targets, [&](uint32_t to) { return to <= b; }))
      return true;
  return false;
}

}  // namespace

void mark_free_loops(Program& program) {
  if (jumps_back(program)) FreeLoops(program).mark();
}

bool takes_steps(const Program& program) {
  const Graph graph = block_graph(program);
  const BlockOrder order = reverse_postorder(graph);
  const DomTree dom = dominators(graph);
  return std::ranges::any_of(order.nodes, [&](uint32_t b) {
    return std::ranges::any_of(graph.succs[b], [&](uint32_t to) {
      if (order.index[to] > order.index[b]) return false;
      // A loop with several entries is made another one, whose jumps count.
      return program.blocks[b].term.counts || !dom.dominates(to, b);
    });
  });
}

}  // namespace lanewise::ir
