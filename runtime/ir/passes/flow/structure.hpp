// The steps of structurise(). Between them the nodes carry labels in Node::block: a scope, a loop
// and the jumps that leave them are matched by label, however far the jump goes.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir::structure {

constexpr uint32_t scope_label(uint32_t block) {
  return 2 * block;
}
constexpr uint32_t loop_label(uint32_t block) {
  return 2 * block + 1;
}
inline bool is_jump(const Node& n) {
  return n.kind == Node::Kind::break_ || n.kind == Node::Kind::continue_ ||
         n.kind == Node::Kind::exit;
}
inline bool is_construct(const Node& n) {
  return n.kind == Node::Kind::loop || n.kind == Node::Kind::scope;
}

/// Tree of a reducible program without switches; nothing when it would nest too deep.
std::optional<std::vector<Node>> build_tree(const Program& program, uint32_t max_depth);
/// Drops jumps that lead where control goes anyway, shortens the others, removes unused scopes.
void clean_tree(std::vector<Node>& body);
/// Drivers nest what stands behind a loop exit: of `if a break; if b break; c` they make `if a
/// break else if b break else c`. Where many follow each other, some at a time go into scopes of
/// their own. In a loop they do not, as its jumps are jumps.
struct Rows {
  size_t most;      ///< exits that stay in a row
  size_t together;  ///< so many of them go into a scope where there are more
};
void split_rows(const Program& program, const Rows& rows, std::vector<Node>& body);
/// Makes every jump leave the innermost construct, with flag registers for those that go further,
/// and takes the labels away.
void lower_far_jumps(Program& program, std::vector<Node>& body);

/// Most loops and scopes, and most ifs, around any node; with `rows` as drivers nest them
/// (split_rows). Of trees without labels.
struct Nesting {
  uint32_t constructs = 0, ifs = 0;
};
Nesting nesting(const std::vector<Node>& body, bool rows);

}  // namespace lanewise::ir::structure
