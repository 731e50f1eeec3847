#include <fstream>
#include <iterator>

#include "runtime/support/error.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/ir/random.hpp"

using namespace lanewise::ir;
using namespace lanewise::ir::testing;
using lanewise::test::rounds;

namespace {

/// A program whose every field is drawn at random; it need not make sense.
class Soup {
 public:
  explicit Soup(std::mt19937& rng) : rng_(rng) {}

  Program run() {
    p_.name = string();
    p_.isa = static_cast<Isa>(below(3));
    p_.wave_lanes = below(2) != 0 ? 32 : 64;
    p_.param_bytes = below(100);
    p_.shared_bytes = below(100);
    p_.local_bytes = below(100);
    if (below(2) != 0) p_.required_block[below(3)] = below(1000);
    p_.max_block = below(3);
    for (uint32_t n = below(3); n > 0; --n) {
      p_.params.push_back({string(), below(64), below(64), 1 + below(8), below(2) != 0, type()});
    }
    for (int n = 0; n < 3; ++n) p_.symbols.push_back({string()});
    for (int n = 0; n < 3; ++n) {
      p_.sites.push_back({below(50), rng_(), string(), below(2) != 0 ? string() : "", below(9)});
      if (below(2) == 0) continue;
      p_.sites.back().assertion = string();
      p_.sites.back().function = string();
    }
    for (int n = 0; n < 9; ++n) {
      p_.add_reg(static_cast<Width>(below(3)), string(), below(2) != 0);
    }
    const uint32_t blocks = 1 + below(4);
    p_.blocks.resize(blocks);
    for (Block& b : p_.blocks) {
      b.label = string();
      for (uint32_t n = below(6); n > 0; --n) b.insts.push_back(inst());
      b.term = terminator();
    }
    return std::move(p_);
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }
  Type type() { return static_cast<Type>(below(13)); }
  Reg reg() { return Reg{below(static_cast<uint32_t>(p_.regs.size()))}; }
  uint32_t site() { return below(2) != 0 ? kNone : below(3); }
  Guard guard() { return {reg(), below(2) != 0}; }

  std::string string() {
    std::string s(below(5), ' ');
    for (char& c : s)
      c = below(3) != 0 ? static_cast<char>('a' + below(26)) : static_cast<char>(below(256));
    return s;
  }

  Operand operand() {
    switch (below(4)) {
      case 0:
        return Operand::immediate(below(2) != 0 ? below(20) : (uint64_t{rng_()} << 32) + rng_());
      case 1:
        return Operand::address_of(below(3), static_cast<int64_t>(below(100)) - 50);
      case 2:
        return {};
      default:
        return reg();
    }
  }

  Mem mem() {
    Mem m;
    m.space = static_cast<Space>(below(6));
    m.elem = type();
    m.count = static_cast<uint8_t>(below(5));
    m.align_bytes = static_cast<uint8_t>(below(2) * 16);
    m.certain = static_cast<Certain>(below(3));
    m.align = static_cast<AlignRule>(below(3));
    m.order = static_cast<Order>(below(8));
    m.scope = static_cast<lanewise::ir::Scope>(below(5));
    m.atom = static_cast<AtomOp>(below(15));
    m.atom_type = type();
    m.offset = static_cast<int64_t>(below(100)) - 50;
    m.cache.op = static_cast<CacheOp>(below(10));
    m.cache.l1 = static_cast<EvictPriority>(below(6));
    m.cache.l2 = static_cast<EvictPriority>(below(6));
    m.cache.prefetch_bytes = static_cast<uint16_t>(below(3) * 64);
    m.cache.glc = below(2) != 0;
    m.cache.slc = below(2) != 0;
    m.cache.hint = operand();
    return m;
  }

  BufferAccess buffer() {
    BufferAccess b;
    b.gen = static_cast<BufferAccess::Gen>(below(3));
    b.idxen = below(2) != 0;
    b.offen = below(2) != 0;
    b.addr64 = below(2) != 0;
    b.format_op = below(2) != 0;
    b.inst_offset = static_cast<uint16_t>(below(4096));
    b.element_offset = static_cast<uint8_t>(below(16));
    b.payload_bytes = static_cast<uint8_t>(below(17));
    b.offset32 = below(2) != 0;
    b.soffset_swizzled = below(2) != 0;
    return b;
  }

  TextureAccess texture() {
    TextureAccess t;
    t.dim = static_cast<TextureAccess::Dim>(below(5));
    t.array = below(2) != 0;
    t.integers = below(2) != 0;
    t.lod = static_cast<TextureAccess::Lod>(below(3));
    t.bias = below(2) != 0;
    t.clamp = below(2) != 0;
    t.offset = below(2) != 0;
    t.compare = below(2) != 0;
    t.component = static_cast<uint8_t>(below(4));
    t.outside = static_cast<TextureAccess::Outside>(below(3));
    return t;
  }

  Inst inst() {
    Inst i;
    i.op = static_cast<Op>(below(static_cast<uint32_t>(Op::async_note) + 1));
    i.type = type();
    i.from = type();
    i.cond = static_cast<Cond>(below(14));
    i.round = static_cast<Round>(below(5));
    i.ftz = below(2) != 0;
    i.sat = below(2) != 0;
    i.mode = static_cast<uint8_t>(below(256));
    if (below(2) != 0) i.guard = guard();
    for (uint32_t n = below(3); n > 0; --n) i.dst.push_back(below(9) == 0 ? Reg{} : reg());
    for (uint32_t n = below(4); n > 0; --n) i.src.push_back(operand());
    if (below(2) != 0) i.mem = mem();
    if (below(4) == 0)
      i.buffer = buffer();
    else if (below(4) == 0)
      i.texture = texture();
    i.site = site();
    return i;
  }

  Terminator terminator() {
    Terminator t;
    t.kind = static_cast<Terminator::Kind>(below(4));
    t.uniform = below(2) != 0;
    t.site = site();
    const auto target = [&] { return below(static_cast<uint32_t>(p_.blocks.size())); };
    if (t.kind == Terminator::Kind::jump) t.targets = {target()};
    if (t.kind == Terminator::Kind::branch) {
      t.cond = guard();
      t.targets = {target(), target()};
    }
    if (t.kind == Terminator::Kind::switch_) {
      t.selector = operand();
      for (uint32_t n = below(4); n > 0; --n) t.cases.push_back(rng_());
      for (size_t n = 0; n <= t.cases.size(); ++n) t.targets.push_back(target());
    }
    return t;
  }

  std::mt19937& rng_;
  Program p_;
};

bool same(const Inst& a, const Inst& b) {
  return a.op == b.op && a.type == b.type && a.from == b.from && a.cond == b.cond &&
         a.round == b.round && a.ftz == b.ftz && a.sat == b.sat && a.mode == b.mode &&
         a.guard == b.guard && a.dst == b.dst && a.src == b.src && a.mem == b.mem &&
         a.buffer == b.buffer && a.texture == b.texture && a.site == b.site;
}

bool same(const Terminator& a, const Terminator& b) {
  return a.kind == b.kind && a.cond == b.cond && a.selector == b.selector && a.cases == b.cases &&
         a.targets == b.targets && a.uniform == b.uniform && a.site == b.site;
}

bool same_header(const Program& a, const Program& b) {
  bool equal = a.name == b.name && a.isa == b.isa && a.wave_lanes == b.wave_lanes &&
               a.param_bytes == b.param_bytes && a.shared_bytes == b.shared_bytes &&
               a.local_bytes == b.local_bytes && a.max_block == b.max_block &&
               std::equal(a.required_block, a.required_block + 3, b.required_block) &&
               a.params.size() == b.params.size() && a.symbols.size() == b.symbols.size() &&
               a.sites.size() == b.sites.size() && a.regs.size() == b.regs.size() &&
               a.blocks.size() == b.blocks.size();
  for (size_t i = 0; equal && i < a.params.size(); ++i) {
    const Param &x = a.params[i], &y = b.params[i];
    equal = x.name == y.name && x.offset == y.offset && x.size == y.size && x.align == y.align &&
            x.pointer == y.pointer && x.type == y.type;
  }
  for (size_t i = 0; equal && i < a.symbols.size(); ++i) {
    equal = a.symbols[i].name == b.symbols[i].name;
  }
  for (size_t i = 0; equal && i < a.sites.size(); ++i) {
    const Site &x = a.sites[i], &y = b.sites[i];
    equal = x.line == y.line && x.pc == y.pc && x.text == y.text &&
            x.source_file == y.source_file && x.source_line == y.source_line &&
            x.assertion == y.assertion && x.function == y.function;
  }
  for (size_t i = 0; equal && i < a.regs.size(); ++i) {
    const RegInfo &x = a.regs[i], &y = b.regs[i];
    equal = x.width == y.width && x.scalar == y.scalar && x.name == y.name;
  }
  return equal;
}

std::string error_of(const std::string& text) {
  try {
    parse_program(text);
  } catch (const lanewise::Error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("what is printed is read back, field by field") {
  std::mt19937 rng(4);
  for (uint32_t n = 0; n < rounds(3000); ++n) {
    const Program p = Soup(rng).run();
    const std::string text = print(p);
    CAPTURE(text);
    const Program q = parse_program(text);
    REQUIRE(same_header(p, q));
    for (size_t b = 0; b < p.blocks.size(); ++b) {
      REQUIRE(p.blocks[b].label == q.blocks[b].label);
      REQUIRE(same(p.blocks[b].term, q.blocks[b].term));
      REQUIRE(p.blocks[b].insts.size() == q.blocks[b].insts.size());
      for (size_t i = 0; i < p.blocks[b].insts.size(); ++i) {
        REQUIRE(same(p.blocks[b].insts[i], q.blocks[b].insts[i]));
      }
    }
    REQUIRE(print(q) == text);
  }
}

TEST_CASE("errors of the text form say where and what was expected") {
  const std::string head = "program \"k\" ptx wave 32\nreg r0 b32\nreg p1 pred\nblock b0\n";
  CHECK(parse_program(head + "  exit ; a comment\n\n").blocks.size() == 1);
  CHECK(error_of("") == "1:1: error: the text is empty, expected 'program'");
  CHECK(error_of("program k") == "1:9: error: 'k', expected '\"'");
  CHECK(error_of("program \"k\" arm wave 32") == "1:13: error: 'arm', expected ptx, sass or gcn");
  CHECK(error_of("program \"k\" ptx wave 32") == "1:24: error: the program has no block");
  CHECK(error_of(head) == "5:1: error: the last block has no terminator");
  CHECK(error_of(head + "  r0 = frob.u32 1") == "5:8: error: 'frob' is no operation");
  CHECK(error_of(head + "  r0 = mov.q32 1") == "5:8: error: 'q32' is no modifier of mov");
  CHECK(error_of(head + "  r0 = mov.u32 r7") ==
        "5:16: error: register 7 does not exist (there are 2)");
  CHECK(error_of(head + "  r1 = mov.u32 1") ==
        "5:3: error: register 1 is pred, expected the name p1");
  CHECK(error_of(head + "  r0 = mov.u32 12x") == "5:16: error: '12x', expected a number");
  CHECK(error_of(head + "  jump b9\n") == "5:8: error: b9 does not exist (there are 1 blocks)");
  CHECK(error_of(head + "  exit #3") == "5:9: error: site 3 does not exist (there are 0)");
  CHECK(error_of(head + "  exit\n  exit\n") == "6:3: error: the block has ended, expected 'block'");
  CHECK(error_of(head + "  r0 = load 0 {global u32 colour=3}") ==
        "5:27: error: 'colour' is no memory attribute");
  CHECK(error_of(head + "  r0 = mov.u32 0x1ffffffffffffffff").find("too large") !=
        std::string::npos);
}

TEST_CASE("damaged text is refused or read, never worse") {
  std::mt19937 rng(8);
  for (int n = 0; n < 4000; ++n) {
    std::string text = print(Soup(rng).run());
    for (int k = 0; k < 3; ++k) {
      const size_t at = rng() % text.size();
      if (rng() % 3 == 0) {
        text.erase(at, 1 + rng() % 8);
      } else {
        text[at] = static_cast<char>(rng());
      }
      if (text.empty()) text.push_back('x');
    }
    try {
      const std::string again = print(parse_program(text));
      CHECK(!again.empty());
    } catch (const lanewise::Error& e) {
      CHECK(std::string(e.what()).find(": error: ") != std::string::npos);
    }
  }
}

TEST_CASE("the guide's table has every operation with its signature") {
  std::ifstream file(LANEWISE_TEST_DATA "/../docs/ir.md");
  REQUIRE(file);
  const std::string guide((std::istreambuf_iterator<char>(file)), {});
  for (unsigned op = 0; op <= static_cast<unsigned>(Op::async_note); ++op) {
    const OpInfo& row = info(static_cast<Op>(op));
    std::string name = row.name;
    if (name.ends_with('_')) name.pop_back();
    CAPTURE(name);
    CHECK(guide.find("| `" + name + "` | `" + row.signature + "` |") != std::string::npos);
  }
}

TEST_CASE("the guide's example is a program") {
  std::ifstream file(LANEWISE_TEST_DATA "/../docs/ir.md");
  const std::string guide((std::istreambuf_iterator<char>(file)), {});
  const size_t start = guide.find("program \"saxpy\"");
  REQUIRE(start != std::string::npos);
  const Program p = parse_program(guide.substr(start, guide.find("```", start) - start));
  CHECK(verify(p).empty());
  CHECK(p.required_block[0] == 256);
  CHECK(p.blocks.size() == 2);
}
