#include "tests/fuzz/programs/tree.hpp"

#include <array>

namespace lanewise::programs {
namespace {

template <typename B, typename S>
std::vector<B*> inner(S& s) {
  std::vector<B*> list;
  if (auto* i = std::get_if<If>(&s.what)) list = {&i->yes, &i->no};
  if (auto* l = std::get_if<Loop>(&s.what)) list = {&l->body};
  if (auto* w = std::get_if<Switch>(&s.what))
    for (auto& c : w->cases) list.push_back(&c.body);
  if (auto* r = std::get_if<Region>(&s.what))
    for (auto& n : r->nodes) list.push_back(&n.straight);
  return list;
}

}  // namespace

Relation negated(Relation r) {
  static constexpr std::array<Relation, 10> kOther = {
      Relation::ne,  Relation::eq,  Relation::uge, Relation::ugt, Relation::ule,
      Relation::ult, Relation::sge, Relation::sgt, Relation::sle, Relation::slt};
  return kOther[static_cast<size_t>(r)];
}

std::vector<Block*> blocks_in(Statement& s) {
  return inner<Block>(s);
}
std::vector<const Block*> blocks_in(const Statement& s) {
  return inner<const Block>(s);
}

uint32_t size_of(const Program& program) {
  uint32_t n = 4 * static_cast<uint32_t>(program.registers.size());
  each_statement(program, [&](const Statement& s) {
    // Tests and jumps count, too.
    n += std::holds_alternative<Alu>(s.what) ? 1 : 3;
  });
  return n;
}

}  // namespace lanewise::programs
