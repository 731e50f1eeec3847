// Constant descriptors: what the pass makes of an address, beside the address with its descriptor
// decoded at run time and beside the literal oracle, on random descriptors.
#include <doctest/doctest.h>

#include <random>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "tests/oracle/gcn_buffer.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using ir::imm;
using ir::Op;
using ir::Reg;
using ir::Type;
using ir::Width;
namespace spec = lanewise::oracle::gcn;

namespace {

constexpr size_t kDescriptors = 48, kDescriptorLanes = 64;
/// Per lane: index, offset, SOFFSET; then address low, high, in range of each case.
constexpr size_t kWords = 4 + 3 * kDescriptors;

struct DescriptorCase {
  ir::BufferAccess access;
  spec::Words words{};
  bool soffset_known = false, records_known = true;
  uint32_t soffset = 0;
};

class Random {
 public:
  explicit Random(uint32_t seed) : bits_(seed) {}
  uint32_t any() { return static_cast<uint32_t>(bits_()); }
  bool one_in(uint32_t n) { return any() % n == 0; }
  uint32_t pick(std::initializer_list<uint32_t> list) { return list.begin()[any() % list.size()]; }

  DescriptorCase next() {
    DescriptorCase c;
    c.access.gen = static_cast<ir::BufferAccess::Gen>(any() % 3);
    c.access.addr64 = c.access.gen != ir::BufferAccess::Gen::gfx8 && one_in(6);
    c.access.idxen = !c.access.addr64 && one_in(2);
    c.access.offen = !c.access.addr64 && one_in(2);
    c.access.format_op = one_in(3);
    c.access.inst_offset = static_cast<uint16_t>(pick({0, 1, 4, 60, 4095}));
    c.access.element_offset = static_cast<uint8_t>(pick({0, 4, 8, 12}));
    c.access.payload_bytes = static_cast<uint8_t>(pick({1, 2, 4, 8, 16}));
    c.words = {any(),
               (any() & 0x7fff) | pick({0, 1, 4, 16, 100, 16383}) << 16 | (any() & 0xc0000000),
               pick({0, 1, 7, 64, 65, 1000, 0x7fffffff, 0xffffffff, any()}),
               (any() & 0x3fffffff) | (one_in(8) ? any() & 0xc0000000 : 0)};
    c.soffset_known = one_in(2);
    c.records_known = !one_in(4);
    c.soffset = pick({0, 0, 4, 60, 64, 0xfffffff0});
    return c;
  }

 private:
  std::mt19937 bits_;
};

Reg lane_word(ir::Builder& b, Reg at, unsigned word) {
  const Reg r = b.reg(Width::b32);
  b.emit(Op::load, Type::u32, {r}, {at}).mem.emplace().offset = int64_t{4} * word;
  return r;
}
void put_word(ir::Builder& b, Reg at, unsigned word, ir::Operand value) {
  b.emit(Op::store, Type::u32, {}, {at, value}).mem.emplace().offset = int64_t{4} * word;
}

/// `base_known`: all of word 1 is a constant; else its lower half is word 3 of the table.
ir::Program program_of(const std::vector<DescriptorCase>& cases, uint64_t table,
                       bool base_known = true) {
  ir::Program p;
  p.name = "addresses";
  p.isa = ir::Isa::gcn;
  p.wave_lanes = kDescriptorLanes;
  ir::Builder b(p);
  b.set_block(b.add_block());
  const Reg tid = b.reg(Width::b32), offset = b.reg(Width::b64);
  b.emit(Op::sreg, Type::u32, {tid}, {}).mode = static_cast<uint8_t>(ir::SReg::tid_x);
  b.emit(Op::mulwide, Type::u32, {offset}, {tid, imm(4 * kWords)});
  const Reg at = b.make(Op::add, Type::u64, {offset, imm(table)});
  const Reg index = lane_word(b, at, 0), inside = lane_word(b, at, 1),
            soffset = lane_word(b, at, 2);
  const Reg word1 = b.reg(Width::b32);  // of one case after the other
  for (unsigned n = 0; n < cases.size(); ++n) {
    const DescriptorCase& c = cases[n];
    if (!base_known) {
      const Reg high = b.make(Op::and_, Type::u32, {lane_word(b, at, 3), imm(0xffff)});
      b.emit(Op::or_, Type::u32, {word1}, {high, imm(c.words[1] & 0xffff0000)});
    }
    const Reg va = b.reg(Width::b64), ok = b.reg(Width::pred);
    const ir::Operand records = c.records_known
                                    ? imm(c.words[2])
                                    : ir::Operand(b.make(Op::mov, Type::u32, {imm(c.words[2])}));
    b.emit(
         Op::buffer_address, Type::u64, {va, ok},
         {imm(c.words[0]), base_known ? imm(c.words[1]) : ir::Operand(word1), records,
          imm(c.words[3]), index, inside, c.soffset_known ? imm(c.soffset) : ir::Operand(soffset)})
        .buffer = c.access;
    const Reg low = b.reg(Width::b32), high = b.reg(Width::b32);
    b.emit(Op::unpack64, Type::u64, {low, high}, {va});
    put_word(b, at, 4 + 3 * n, low);
    put_word(b, at, 5 + 3 * n, high);
    put_word(b, at, 6 + 3 * n, b.make(Op::select, Type::u32, {ok, imm(1), imm(0)}));
  }
  b.exit();
  return p;
}

spec::Place expected(const DescriptorCase& c, uint32_t index, uint32_t offset, uint32_t soffset,
                     uint32_t lane) {
  spec::Instruction i;
  i.gen = static_cast<spec::Generation>(c.access.gen);
  i.idxen = c.access.idxen;
  i.offen = c.access.offen;
  i.addr64 = c.access.addr64;
  i.format = c.access.format_op;
  i.inst_offset = c.access.inst_offset;
  const bool both = i.addr64 || (i.idxen && i.offen);
  const spec::Operands o{{both || i.idxen ? index : offset, offset}, soffset, lane};
  return spec::place(i, spec::decode(c.words), o, c.access.element_offset, c.access.payload_bytes);
}

}  // namespace

TEST_CASE("constant descriptors: the expanded address, the decoded one and the oracle agree") {
  Random random(11);
  size_t inside = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<DescriptorCase> cases(kDescriptors);
    for (DescriptorCase& c : cases) c = random.next();
    std::vector<uint32_t> table(kDescriptorLanes * kWords);
    for (unsigned l = 0; l < kDescriptorLanes; ++l)
      for (unsigned k = 0; k < 3; ++k)
        table[l * kWords + k] = random.pick({0, 1, 3, 4, 15, 16, 63, 64, 0xfffffff0, random.any()});
    test::Bench plain, expanded;
    const uint64_t at = plain.put(table);
    REQUIRE(expanded.put(table) == at);
    ir::Program p = program_of(cases, at);
    plain.run(p, 1, kDescriptorLanes);
    ir::expand_descriptors(p);
    for (const std::string& defect : ir::verify(p)) FAIL_CHECK(defect);
    for (const ir::Inst& i : p.blocks[0].insts) REQUIRE(i.op != Op::buffer_address);
    expanded.run(p, 1, kDescriptorLanes);
    const auto a = plain.get<uint32_t>(at, table.size()),
               b = expanded.get<uint32_t>(at, table.size());
    REQUIRE(a == b);
    for (unsigned l = 0; l < kDescriptorLanes; ++l)
      for (unsigned n = 0; n < kDescriptors; ++n) {
        const uint32_t* row = &a[l * kWords];
        const spec::Place want = expected(cases[n], row[0], row[1],
                                          cases[n].soffset_known ? cases[n].soffset : row[2], l);
        const uint64_t address = row[4 + 3 * n] | uint64_t{row[5 + 3 * n]} << 32;
        REQUIRE(address == want.address);
        REQUIRE((row[6 + 3 * n] != 0) == want.in_range);
        inside += want.in_range;
      }
  }
  CHECK(inside > 20000);
}

TEST_CASE("fields of descriptors are known where the base in front of them is not") {
  Random random(13);
  for (int round = 0; round < 20; ++round) {
    const uint32_t high = random.any() & 0x7fff;
    std::vector<DescriptorCase> cases(kDescriptors);
    for (DescriptorCase& c : cases) {
      c = random.next();
      c.words[1] = (c.words[1] & 0xffff0000) | high;
    }
    std::vector<uint32_t> table(kDescriptorLanes * kWords);
    for (uint32_t& w : table) w = random.pick({0, 4, 16, 63, 0xfffffff0, random.any()});
    for (unsigned l = 0; l < kDescriptorLanes; ++l) table[l * kWords + 3] = high;
    test::Bench plain, expanded;
    const uint64_t at = plain.put(table);
    REQUIRE(expanded.put(table) == at);
    ir::Program p = program_of(cases, at, false);
    plain.run(p, 1, kDescriptorLanes);
    CHECK(ir::expand_descriptors(p));
    for (const std::string& defect : ir::verify(p)) FAIL_CHECK(defect);
    for (const ir::Inst& i : p.blocks[0].insts) REQUIRE(i.op != Op::buffer_address);
    expanded.run(p, 1, kDescriptorLanes);
    REQUIRE(plain.get<uint32_t>(at, table.size()) == expanded.get<uint32_t>(at, table.size()));
  }
}

TEST_CASE("the addressing policies hold for constant descriptors, too") {
  Random random(12);
  for (int round = 0; round < 20; ++round) {
    std::vector<DescriptorCase> cases(kDescriptors);
    for (DescriptorCase& c : cases) {
      c = random.next();
      c.access.offset32 = random.one_in(2);
      c.access.soffset_swizzled = random.one_in(2);
    }
    std::vector<uint32_t> table(kDescriptorLanes * kWords);
    for (uint32_t& w : table) w = random.pick({0, 4, 16, 63, 0xfffffff0, random.any()});
    test::Bench plain, expanded;
    const uint64_t at = plain.put(table);
    REQUIRE(expanded.put(table) == at);
    ir::Program p = program_of(cases, at);
    plain.run(p, 1, kDescriptorLanes);
    ir::expand_descriptors(p);
    expanded.run(p, 1, kDescriptorLanes);
    REQUIRE(plain.get<uint32_t>(at, table.size()) == expanded.get<uint32_t>(at, table.size()));
  }
}
