#include <fmt/format.h>

#include <iterator>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/text.hpp"

namespace lanewise::ir {
namespace {

class TreePrinter {
 public:
  explicit TreePrinter(const Program& p) : p_(p) {}

  std::string run(const std::vector<Node>& body) {
    list(body, 0);
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void line(size_t indent, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * indent, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void list(const std::vector<Node>& nodes, size_t indent) {
    for (const Node& n : nodes) node(n, indent);
  }

  void node(const Node& n, size_t indent) {
    switch (n.kind) {
      case Node::Kind::block: {
        const Block& block = p_.blocks[n.block];
        line(indent, "b{}: {}", n.block, text::quote(block.label));
        for (const Inst& i : block.insts) line(indent + 1, "{}", print(p_, i));
        break;
      }
      case Node::Kind::if_:
        line(indent, "if {} {{", text::print(p_, n.cond));
        list(n.body, indent + 1);
        if (!n.otherwise.empty()) {
          line(indent, "}} else {{");
          list(n.otherwise, indent + 1);
        }
        line(indent, "}}");
        break;
      case Node::Kind::loop:
      case Node::Kind::scope:
        line(indent, "{} {{", n.kind == Node::Kind::loop ? "loop" : "scope");
        list(n.body, indent + 1);
        line(indent, "}}");
        break;
      case Node::Kind::break_:
        line(indent, "break");
        break;
      case Node::Kind::continue_:
        line(indent, "continue");
        break;
      case Node::Kind::exit:
        line(indent, "exit");
        break;
      case Node::Kind::assign:
        line(indent, "p{} = {}", n.reg.id, n.value);
        break;
    }
  }

  const Program& p_;
  std::string text_;
};

}  // namespace

std::string print(const Structured& structured) {
  return TreePrinter(structured.program).run(structured.body);
}

}  // namespace lanewise::ir
