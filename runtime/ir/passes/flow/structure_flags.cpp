#include "runtime/ir/passes/flow/structure.hpp"

namespace lanewise::ir::structure {
namespace {

/// A jump out of several constructs sets, in each but the innermost, the flag that says what to do
/// as soon as the construct inside it has been left. A construct has two flags at most, and one
/// test of each behind every construct inside it that uses them: the code grows linearly.
class FlagLowering {
 public:
  explicit FlagLowering(Program& p) : p_(p) {}

  void list(std::vector<Node>& nodes) {
    std::vector<Node> out;
    out.reserve(nodes.size());
    for (Node& n : nodes) {
      if (is_construct(n)) {
        construct(n, out);
      } else if (n.kind == Node::Kind::break_ || n.kind == Node::Kind::continue_) {
        jump(n, out);
      } else {
        if (n.kind == Node::Kind::if_) {
          list(n.body);
          list(n.otherwise);
        }
        out.push_back(std::move(n));
      }
    }
    nodes = std::move(out);
  }

 private:
  struct Flag {
    Reg reg;
    uint32_t sets = 0;
  };
  struct Frame {
    uint32_t label;
    Flag leave, again;
  };

  static Node assign(Reg reg, bool value) {
    Node n;
    n.kind = Node::Kind::assign;
    n.reg = reg;
    n.value = value;
    return n;
  }

  static Node test(Reg flag, Node::Kind kind) {
    Node n;
    n.kind = Node::Kind::if_;
    n.cond.reg = flag;
    n.body.emplace_back().kind = kind;
    return n;
  }

  void construct(Node& n, std::vector<Node>& out) {
    const Frame before = frames_.empty() ? Frame{} : frames_.back();
    frames_.push_back({n.block, {}, {}});
    list(n.body);
    const Frame frame = frames_.back();
    frames_.pop_back();
    n.block = kNone;
    if (frame.leave.sets != 0) out.push_back(assign(frame.leave.reg, false));
    if (frame.again.sets != 0) n.body.insert(n.body.begin(), assign(frame.again.reg, false));
    out.push_back(std::move(n));
    if (frames_.empty()) return;
    const Frame& parent = frames_.back();
    if (parent.leave.sets != before.leave.sets) {
      out.push_back(test(parent.leave.reg, Node::Kind::break_));
    }
    if (parent.again.sets != before.again.sets) {
      out.push_back(test(parent.again.reg, Node::Kind::continue_));
    }
  }

  void jump(Node& n, std::vector<Node>& out) {
    size_t target = frames_.size() - 1;
    while (frames_[target].label != n.block) --target;
    const bool breaks = n.kind == Node::Kind::break_;
    for (size_t i = frames_.size() - 1; i-- > target;) {
      set(i > target || breaks ? frames_[i].leave : frames_[i].again, out);
    }
    if (target + 1 != frames_.size()) n.kind = Node::Kind::break_;
    n.block = kNone;
    out.push_back(std::move(n));
  }

  void set(Flag& flag, std::vector<Node>& out) {
    if (flag.sets++ == 0) flag.reg = p_.add_reg(Width::pred, std::string("flag"));
    out.push_back(assign(flag.reg, true));
  }

  Program& p_;
  std::vector<Frame> frames_;
};

}  // namespace

void lower_far_jumps(Program& program, std::vector<Node>& body) {
  FlagLowering(program).list(body);
}

}  // namespace lanewise::ir::structure
