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
  Block* entry = m.getBuildPoint();
  Block *merge = m.new_block(), *no = m.new_block(), *yes = m.new_block();
  Block *header = m.new_block(), *again = m.new_block(), *after = m.new_block();
  Block* nowhere = m.new_block();
  m.createSelectionMerge(merge);
  m.createConditionalBranch(m.b(true), yes, no);
  m.setBuildPoint(merge);
  m.createBranch(header);
  m.setBuildPoint(no);
  m.createBranch(merge);
  // Instructions of a block that the build point leaves in between.
  const Id variable = m.createVariable(spv::StorageClassFunction, m.uint_type);
  m.setBuildPoint(yes);
  m.createStore(m.u(1), variable);
  m.setBuildPoint(again);
  m.createBranch(header);
  m.setBuildPoint(yes);
  m.createStore(m.u(2), variable);
  m.createBranch(merge);
  // A loop that only returns: nothing leads to its end, nor behind it.
  m.setBuildPoint(header);
  m.guest_loop(after, again);
  Block* body = m.new_block();
  m.createBranch(body);
  m.setBuildPoint(body);
  m.makeReturn();
  m.setBuildPoint(after);
  m.unreachable();
  m.setBuildPoint(nowhere);
  m.makeReturn();
  const std::vector<uint32_t> words = m.words();
  std::vector<Id> expected;
  for (const Block* block : {entry, yes, no, merge, header, body, again, after})
    expected.push_back(block->getId());
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
    m.createSelectionMerge(merge);
    m.createConditionalBranch(m.b(true), then, merge);
    m.setBuildPoint(then);
    m.createBranch(merge);
    m.setBuildPoint(merge);
  }
  m.makeReturn();
  CHECK(labels(m.words()).size() == 2 * kConstructs + 1);
}
