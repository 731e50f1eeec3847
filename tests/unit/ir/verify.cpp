#include <doctest/doctest.h>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/texture.hpp"

using namespace lanewise::ir;

namespace {

Program small() {
  Program p;
  p.name = std::string("k");
  p.symbols = {{"table"}, {"other"}};
  p.sites.resize(1);
  Builder b(p);
  b.add_block();
  return p;
}

/// The only message that one instruction causes, or "".
std::string complaint(Program p, const Inst& inst) {
  p.blocks[0].insts.push_back(inst);
  const auto defects = verify(p);
  CHECK(defects.size() <= 1);
  return defects.empty() ? std::string() : defects[0];
}

Inst make(Op op, Type type, std::vector<Reg> dst, std::vector<Operand> src) {
  Inst i;
  i.op = op;
  i.type = type;
  i.dst = std::move(dst);
  i.src = std::move(src);
  return i;
}

bool says(const std::string& message, const char* part) {
  CAPTURE(message);
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("verify: texture operations") {
  Program p = small();
  std::vector<Reg> out;
  for (int n = 0; n < 4; ++n) out.push_back(p.add_reg(Width::b32));
  const std::vector<Operand> image(kImageWords, imm(0)), sampler(kSamplerWords, imm(0));
  std::vector<Operand> src = image;
  src.insert(src.end(), sampler.begin(), sampler.end());
  src.resize(src.size() + 4, imm(0));
  Inst sample = make(Op::sample, Type::none, out, src);
  sample.mem.emplace();
  CHECK(says(complaint(p, sample), "texture attributes are missing"));
  sample.texture.emplace();
  CHECK(complaint(p, sample).empty());
  sample.texture->lod = TextureAccess::Lod::gradient;
  CHECK(says(complaint(p, sample), "21 sources, expected 27"));
  sample.texture->lod = TextureAccess::Lod::level;
  sample.texture->integers = true;
  sample.src.emplace_back(imm(0));
  CHECK(complaint(p, sample).empty());
  sample.texture->bias = true;
  sample.src.emplace_back(imm(0));
  CHECK(says(complaint(p, sample), "integer coordinates have no gradient"));
  Inst load = make(Op::texel_load, Type::none, out, image);
  load.mem.emplace();
  load.texture.emplace();
  load.src.resize(kImageWords + kTexelPlace, imm(0));
  CHECK(complaint(p, load).empty());
  load.texture->compare = true;
  CHECK(says(complaint(p, load), "by place and level alone"));
  Inst add = make(Op::add, Type::u32, {out[0]}, {imm(1), imm(2)});
  add.texture.emplace();
  CHECK(says(complaint(p, add), "takes no texture attributes"));
}

TEST_CASE("verify: operands against the signature") {
  Program p = small();
  const Reg w = p.add_reg(Width::b32), d = p.add_reg(Width::b64), q = p.add_reg(Width::pred);
  CHECK(complaint(p, make(Op::add, Type::u32, {w}, {w, imm(7)})).empty());
  CHECK(complaint(p, make(Op::addc, Type::u64, {d, q}, {d, d, imm(1)})).empty());
  CHECK(says(complaint(p, make(Op::add, Type::u32, {w}, {w})), "1 sources, expected 2"));
  CHECK(says(complaint(p, make(Op::add, Type::u32, {d}, {w, w})), "destination 0 is b64"));
  CHECK(says(complaint(p, make(Op::add, Type::u64, {d}, {d, w})), "source 1 is b32"));
  CHECK(says(complaint(p, make(Op::add, Type::u32, {w}, {w, imm(1ULL << 32)})), "does not fit"));
  CHECK(says(complaint(p, make(Op::select, Type::u32, {w}, {imm(2), w, w})), "does not fit pred"));
  CHECK(says(complaint(p, make(Op::add, Type::f32, {w}, {w, w})), "type must be u32"));
  CHECK(says(complaint(p, make(Op::fadd, Type::u32, {w}, {w, w})), "type must be f16"));
  CHECK(says(complaint(p, make(Op::mov, Type::u32, {w}, {Operand()})), "source 0 is missing"));
  CHECK(says(complaint(p, make(Op::mov, Type::u32, {w}, {Reg{99}})), "register 99"));
  CHECK(says(complaint(p, make(Op::mov, Type::u32, {Reg{}}, {w})), "does not exist"));
  CHECK(says(complaint(p, make(Op::mov, Type::u64, {d}, {Operand::address_of(5)})), "symbol 5"));
  CHECK(says(complaint(p, make(Op::unpack64, Type::none, {w, w}, {d})), "same register"));
  for (const auto& [op, type] : {std::pair(Op::mov, Type::u32), std::pair(Op::fabs, Type::f16)}) {
    Inst relaxed = make(op, type, {w}, {w});
    relaxed.any_nan = true;
    CHECK(says(complaint(p, relaxed), "any_nan is for operations with an f32 or f64 result"));
  }
  Inst relaxed = make(Op::fadd, Type::f32, {w}, {w, w});
  relaxed.any_nan = true;
  CHECK(complaint(p, relaxed).empty());
  Inst sited = make(Op::mov, Type::u32, {w}, {w});
  sited.site = 1;
  CHECK(says(complaint(p, sited), "site 1"));
  Inst guarded = make(Op::mov, Type::u32, {w}, {w});
  guarded.guard.reg = w;
  CHECK(says(complaint(p, guarded), "guard is b32, expected pred"));
}

TEST_CASE("verify: memory, barriers, modes") {
  Program p = small();
  const Reg w = p.add_reg(Width::b32), d = p.add_reg(Width::b64), q = p.add_reg(Width::pred);
  Inst load = make(Op::load, Type::none, {w}, {d});
  CHECK(says(complaint(p, load), "memory attributes are missing"));
  load.mem = Mem{};
  CHECK(complaint(p, load).empty());
  load.mem->count = 2;
  CHECK(says(complaint(p, load), "1 destinations, expected 2"));
  Inst store = make(Op::store, Type::none, {}, {w, Operand()});
  store.mem = Mem{};
  store.mem->space = Space::shared;
  CHECK(complaint(p, store).empty());
  store.mem->space = Space::constant;
  CHECK(says(complaint(p, store), "read-only"));
  Inst add = make(Op::add, Type::u32, {w}, {w, w});
  add.mem = Mem{};
  CHECK(says(complaint(p, add), "no memory attributes"));
  add.mem.reset();
  CHECK(complaint(p, add).empty());
  add.sat = true;
  CHECK(says(complaint(p, add), "integers wrap"));
  Inst bar = make(Op::barrier, Type::none, {}, {imm(0), imm(0)});
  CHECK(complaint(p, bar).empty());
  bar.mode = static_cast<uint8_t>(BarrierKind::red_and);
  bar.src.push_back(q);
  CHECK(says(complaint(p, bar), "0 destinations, expected 1"));
  bar.dst = {q};
  CHECK(complaint(p, bar).empty());
  Inst sreg = make(Op::sreg, Type::u32, {w}, {});
  sreg.mode = 200;
  CHECK(says(complaint(p, sreg), "mode 200"));
}

TEST_CASE("verify: terminators") {
  Program p = small();
  const Reg w = p.add_reg(Width::b32), q = p.add_reg(Width::pred);
  Terminator& t = p.blocks[0].term;
  const auto only = [&] {
    const auto defects = verify(p);
    return defects.size() == 1 ? defects[0] : std::string("not one defect");
  };
  t.kind = Terminator::Kind::jump;
  CHECK(says(only(), "0 targets, expected 1"));
  t.targets = {3};
  CHECK(says(only(), "target b3"));
  t.kind = Terminator::Kind::branch;
  t.targets = {0, 0};
  t.cond.reg = w;
  CHECK(says(only(), "condition is b32"));
  t.cond.reg = q;
  CHECK(verify(p).empty());
  t.kind = Terminator::Kind::switch_;
  t.selector = w;
  t.cases = {1, 2};
  CHECK(says(only(), "2 targets, expected 3"));
  t.targets = {0, 0, 0};
  CHECK(verify(p).empty());
  CHECK(!verify(Program{}).empty());
}

TEST_CASE("bind_symbols asks once per symbol and adds the addend") {
  Program p = small();
  const Reg w = p.add_reg(Width::b32), d = p.add_reg(Width::b64);
  auto& insts = p.blocks[0].insts;
  insts.push_back(make(Op::mov, Type::u64, {d}, {Operand::address_of(0, -4)}));
  insts.push_back(make(Op::mov, Type::u32, {w}, {Operand::address_of(0, 8)}));
  insts.push_back(make(Op::load, Type::none, {w}, {Operand::address_of(1)}));
  insts.back().mem = Mem{};
  insts.back().mem->cache.hint = Operand::address_of(0);
  int asked = 0;
  bind_symbols(p, [&](const Symbol& s) {
    ++asked;
    return s.name == "table" ? 0x1'0000'0000ULL : 0x2000ULL;
  });
  CHECK(asked == 2);
  CHECK(insts[0].src[0] == imm(0xffff'fffcULL));
  CHECK(insts[1].src[0] == imm(8));
  CHECK(insts[2].src[0] == imm(0x2000));
  CHECK(insts[2].mem->cache.hint == imm(0x1'0000'0000ULL));
  CHECK(verify(p).empty());
}

TEST_CASE("print shows everything an instruction says") {
  Program p = small();
  const Reg w = p.add_reg(Width::b32, "%r1"), d = p.add_reg(Width::b64), q = p.add_reg(Width::pred);
  Inst load = make(Op::load, Type::none, {w}, {d});
  load.guard = {q, true};
  load.mem = Mem{};
  load.mem->offset = -8;
  load.mem->cache.op = CacheOp::cg;
  load.site = 0;
  CHECK(print(p, load) == "@!p2 r0 = load d1 {global u32 offset=-8 cache=cg} #0");
  Inst sreg = make(Op::sreg, Type::u32, {w}, {});
  CHECK(print(p, sreg) == "r0 = sreg.u32.tid_x");
  CHECK(print(p, make(Op::and_, Type::u32, {w}, {w, imm(255)})) == "r0 = and.u32 r0, 0xff");
}
