#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "runtime/ir/passes/flow/structure.hpp"

namespace lanewise::ir::structure {
namespace {

/// A place that control can go to; two jumps to the same place are interchangeable.
using Place = uint32_t;
constexpr Place kExitPlace = 0;

/// Finds for every jump the place it leads to. A jump to where control falls anyway is dropped;
/// another one becomes the nearest break or continue that leads to the same place.
class JumpResolver {
 public:
  /// First walk: which scopes are needed whatever happens. Second walk: rewrite.
  void run(std::vector<Node>& body) {
    for (const bool rewrite : {false, true}) {
      rewrite_ = rewrite;
      next_place_ = kExitPlace + 1;
      list(body, next_place_++);
    }
  }
  bool used(uint32_t label) const { return used_.contains(label); }

 private:
  struct Construct {
    uint32_t label;
    bool loop;
    Place after, again;  ///< where break and continue lead
  };

  void list(std::vector<Node>& nodes, Place fall) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      Place after = fall;
      if (i + 1 < nodes.size()) {
        after = is_jump(nodes[i + 1]) ? place_of(nodes[i + 1]) : next_place_++;
      }
      visit(nodes[i], after);
    }
    if (nodes.empty() || !is_jump(nodes.back())) return;
    Node& jump = nodes.back();
    const Place place = place_of(jump);
    if (place != fall) {
      shorten(jump, place);
    } else if (rewrite_) {
      nodes.pop_back();
    }
  }

  void visit(Node& n, Place after) {
    if (n.kind == Node::Kind::if_) {
      list(n.body, after);
      list(n.otherwise, after);
    } else if (is_construct(n)) {
      const bool loop = n.kind == Node::Kind::loop;
      const Construct c{n.block, loop, after, loop ? next_place_++ : after};
      around_.push_back(c);
      by_label_[n.block] = c;
      list(n.body, c.again);
      around_.pop_back();
    }
  }

  Place place_of(const Node& jump) const {
    if (jump.kind == Node::Kind::exit) return kExitPlace;
    const Construct& c = by_label_.at(jump.block);
    return jump.kind == Node::Kind::break_ ? c.after : c.again;
  }

  void shorten(Node& jump, Place place) {
    if (jump.kind == Node::Kind::exit) return;
    const Construct* best = nullptr;
    bool needs_flags = false;
    for (size_t i = around_.size(); i-- > 0;) {
      const Construct& c = around_[i];
      // A scope that nobody needs yet goes away: rather leave the loop around it, if that will do.
      const bool candidate = c.after == place || (c.loop && c.again == place);
      if (candidate && (c.loop || used_.contains(c.label) || best == nullptr)) best = &c;
      if (c.loop || used_.contains(c.label)) {
        if (best != nullptr) break;
        needs_flags = true;
      }
    }
    if (place == kExitPlace && needs_flags) {
      // Ending right here costs less than flags at every construct that encloses it.
      if (rewrite_) jump.kind = Node::Kind::exit;
      return;
    }
    if (!best->loop) used_.insert(best->label);
    if (!rewrite_) return;
    jump.kind = best->after == place ? Node::Kind::break_ : Node::Kind::continue_;
    jump.block = best->label;
  }

  bool rewrite_ = false;
  Place next_place_ = 1;
  std::vector<Construct> around_;
  std::unordered_map<uint32_t, Construct> by_label_;
  std::unordered_set<uint32_t> used_;
};

/// Takes unused scopes and empty ifs away; `if c { .. jump } else { b }` becomes
/// `if c { .. jump } b`.
class Simplifier {
 public:
  explicit Simplifier(const JumpResolver& jumps) : jumps_(jumps) {}

  void list(std::vector<Node>& nodes) {
    std::vector<Node> out;
    out.reserve(nodes.size());
    for (Node& n : nodes) {
      // What stood behind a scope whose jumps all found a shorter way is not reached any more.
      if (leaves(out)) break;
      list(n.body);
      list(n.otherwise);
      if (n.kind == Node::Kind::scope && !jumps_.used(n.block)) {
        append(out, n.body);
      } else if (n.kind == Node::Kind::if_) {
        branch(out, n);
      } else {
        out.push_back(std::move(n));
      }
    }
    nodes = std::move(out);
  }

 private:
  static void append(std::vector<Node>& out, std::vector<Node>& nodes) {
    for (Node& n : nodes) out.push_back(std::move(n));
  }
  static bool leaves(const std::vector<Node>& nodes) {
    return !nodes.empty() && is_jump(nodes.back());
  }

  static void branch(std::vector<Node>& out, Node& n) {
    if (n.body.empty() && n.otherwise.empty()) return;
    if (n.body.empty() || (!leaves(n.body) && leaves(n.otherwise))) {
      std::swap(n.body, n.otherwise);
      n.cond.negate = !n.cond.negate;
    }
    std::vector<Node> following;
    if (leaves(n.body)) following = std::move(n.otherwise);
    if (leaves(n.body)) n.otherwise.clear();
    out.push_back(std::move(n));
    append(out, following);
  }

  const JumpResolver& jumps_;
};

bool ends_lane(const Node& n) {
  return n.kind == Node::Kind::exit || std::ranges::any_of(n.body, ends_lane) ||
         std::ranges::any_of(n.otherwise, ends_lane);
}

/// Some lanes may not come to what follows in its list.
bool loop_exit(const Node& n) {
  if (n.kind != Node::Kind::if_) return is_jump(n) || (is_construct(n) && ends_lane(n));
  return std::ranges::any_of(n.body, loop_exit) || std::ranges::any_of(n.otherwise, loop_exit);
}

/// `rows`: what follows an exit nests one if deeper.
void measure(const std::vector<Node>& nodes, Nesting at, bool rows, bool in_loop, Nesting& most) {
  for (const Node& n : nodes) {
    most.constructs = std::max(most.constructs, at.constructs);
    most.ifs = std::max(most.ifs, at.ifs);
    if (n.kind == Node::Kind::if_) {
      measure(n.body, {at.constructs, at.ifs + 1}, rows, in_loop, most);
      measure(n.otherwise, {at.constructs, at.ifs + 1}, rows, in_loop, most);
    } else if (is_construct(n)) {
      const bool loop = n.kind == Node::Kind::loop;
      measure(n.body, {at.constructs + 1, at.ifs}, rows, loop, most);
    }
    if (rows && !in_loop && loop_exit(n)) ++at.ifs;
  }
}

}  // namespace

void clean_tree(std::vector<Node>& body) {
  JumpResolver jumps;
  jumps.run(body);
  Simplifier(jumps).list(body);
}

Nesting nesting(const std::vector<Node>& body, bool rows) {
  Nesting most;
  measure(body, {}, rows, false, most);
  return most;
}

}  // namespace lanewise::ir::structure
