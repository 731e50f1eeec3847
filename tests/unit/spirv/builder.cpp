// The order in which a module's blocks are written, and that its depth costs no stack.
#include <doctest/doctest.h>

#include "runtime/spirv/binary/module_builder.hpp"
#include "tests/unit/spirv/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using spirv::Block;
using spirv::Id;
using spirv::ModuleBuilder;

namespace {

/// Labels of a module, in the order in which they stand there.
std::vector<Id> labels(const std::vector<uint32_t>& words) {
  std::vector<Id> found;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16)
    if ((words[at] & 0xffff) == spv::OpLabel) found.push_back(words[at + 1]);
  return found;
}

}  // namespace

TEST_CASE("blocks are written behind those that lead there, merge blocks behind what they merge") {
  ModuleBuilder m(tier1());
  m.begin_function("f");
  Block* entry = m.build_point();
  Block *merge = m.new_block(), *no = m.new_block(), *yes = m.new_block();
  Block *header = m.new_block(), *again = m.new_block(), *after = m.new_block();
  Block* nowhere = m.new_block();
  m.create_selection_merge(merge);
  m.create_conditional_branch(m.b(true), yes, no);
  m.set_build_point(merge);
  m.create_branch(header);
  m.set_build_point(no);
  m.create_branch(merge);
  // Instructions of a block that the build point leaves in between.
  const Id variable = m.create_variable(spv::StorageClassFunction, m.uint_type);
  m.set_build_point(yes);
  m.create_store(m.u(1), variable);
  m.set_build_point(again);
  m.create_branch(header);
  m.set_build_point(yes);
  m.create_store(m.u(2), variable);
  m.create_branch(merge);
  // A loop that only returns: nothing leads to its end, nor behind it.
  m.set_build_point(header);
  m.guest_loop(after, again);
  Block* body = m.new_block();
  m.create_branch(body);
  m.set_build_point(body);
  m.make_return();
  m.set_build_point(after);
  m.unreachable();
  m.set_build_point(nowhere);
  m.make_return();
  const std::vector<uint32_t> words = m.words();
  std::vector<Id> expected;
  for (const Block* block : {entry, yes, no, merge, header, body, again, after})
    expected.push_back(block->id());
  CHECK(labels(words) == expected);
  const std::string text = spirv::disassemble(words);
  const size_t first = text.find("OpStore"), second = text.find("OpStore", first + 1);
  CHECK(text.substr(first, text.find('\n', first) - first).ends_with("%uint_1"));
  CHECK(text.substr(second, text.find('\n', second) - second).ends_with("%uint_2"));
  CHECK(text.find("OpVariable") < first);
}

TEST_CASE("a function of 200,000 constructs in a row needs no more stack than one of two") {
  constexpr size_t kConstructs = 200'000;
  ModuleBuilder m(tier1());
  m.begin_function("f");
  for (size_t n = 0; n < kConstructs; ++n) {
    Block *then = m.new_block(), *merge = m.new_block();
    m.create_selection_merge(merge);
    m.create_conditional_branch(m.b(true), then, merge);
    m.set_build_point(then);
    m.create_branch(merge);
    m.set_build_point(merge);
  }
  m.make_return();
  CHECK(labels(m.words()).size() == 2 * kConstructs + 1);
}

TEST_CASE("what is known of a word's bits, and words under a mask that is alike for several") {
  ModuleBuilder m(tier1());
  m.begin_function("f");
  const auto word = [&](spv::Op code, Id a, uint32_t b) {
    return m.op(code, m.uint_type, {a, m.u(b)});
  };
  const auto bits = [&](Id id) {
    const auto found = m.known_bits(id);
    return std::pair(found.zeros, found.ones);
  };
  const Id lane = m.create_load(m.create_variable(spv::StorageClassFunction, m.uint_type));
  CHECK(bits(lane) == std::pair(0U, 0U));
  m.note_below(lane, 8);
  CHECK(bits(lane) == std::pair(~7U, 0U));
  CHECK(bits(m.u(12)) == std::pair(~12U, 12U));
  // Lane 16 + n, n below 8: no carry. 17 + n: no bit is known but those above.
  const Id third = word(spv::OpIAdd, lane, 16);
  CHECK(bits(third) == std::pair(~23U, 16U));
  CHECK((bits(word(spv::OpIAdd, lane, 17)).second & 7) == 0);
  CHECK(bits(word(spv::OpIAdd, word(spv::OpBitwiseAnd, lane, 6), 3)).second == 1);
  const Id group = word(spv::OpShiftRightLogical, third, 2);
  CHECK(bits(group) == std::pair(~5U, 4U));
  const Id place = m.masked(lane, 3);
  CHECK(m.masked(third, 3) == place);
  const Id from = word(spv::OpBitwiseOr, word(spv::OpShiftLeftLogical, place, 3), 5);
  CHECK(m.masked(from, 7) == m.u(5));
  CHECK(bits(from) == std::pair(~31U | 2U, 5U));
  CHECK(m.masked(third, 31) != m.masked(lane, 31));
  CHECK(m.masked(third, 24) == m.u(16));
  m.make_return();
}
