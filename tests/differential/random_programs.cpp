// Random straight-line and control-flow programs, compared bit for bit.
#include <fmt/format.h>

#include "tests/differential/engines.hpp"
#include "tests/unit/ir/random.hpp"

namespace random_programs {

using namespace lanewise;
using namespace lanewise::test;
using ir::Op;
using ir::Type;
using ir::Width;

namespace {

constexpr uint32_t kGroups = 2, kLanes = 96, kInputWords = 8;  // input words per lane

uint32_t interesting(std::mt19937& rng) {
  static constexpr uint32_t kValues[] = {
      0,          1,          2,          31,         32,         33,         63,
      64,         0x7f,       0x80,       0xff,       0x7fff,     0x8000,     0xffff,
      0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x3f800000, 0xbf800000,
      0x7f800000, 0xff800000, 0x7fc00001, 0xffc00000, 0x7f800001, 0x00800000, 0x00000001,
      0x807fffff, 0x7f7fffff, 0x34000000, 0x4b800000, 0x4f000000, 0x5f000000, 0x3f7fffff,
      0x3c00,     0x7c00,     0x7e01,     0x0400,     0x03ff,     0x7bff,     0x7ff00000,
      0x7ff80000, 0xfff00000, 0x3ff00000, 0x00100000, 0x000fffff, 0x7fefffff};
  if (rng() % 2 == 0) return kValues[rng() % std::size(kValues)];
  // Numbers of every magnitude as integer, and floats near one.
  if (rng() % 2 == 0) return static_cast<uint32_t>(rng()) >> rng() % 32;
  return 0x3f800000 + (static_cast<uint32_t>(rng()) >> (rng() % 8)) % 0x2000000 - 0x1000000;
}

std::vector<uint32_t> random_input(std::mt19937& rng) {
  std::vector<uint32_t> input(size_t{kGroups} * kLanes * kInputWords);
  for (uint32_t& word : input) word = interesting(rng);
  return input;
}

/// Values to choose from, by width.
struct Pool {
  std::vector<ir::Reg> words, wides, preds;
  ir::Reg pick(std::mt19937& rng, Width width) const {
    const auto& from = width == Width::pred ? preds : width == Width::b64 ? wides : words;
    return from[rng() % from.size()];
  }
};

struct Setup {
  ir::Reg output, lane;
  Pool pool;
};

/// Loads the lane's inputs; `lane` is its number in the whole grid.
Setup begin(Kernel& k) {
  Setup s;
  const ir::Reg input = k.param64(0);
  s.output = k.param64(8);
  const ir::Reg tid = k.sreg(ir::SReg::linear_tid), group = k.sreg(ir::SReg::ctaid_x);
  const ir::Reg start = k.b.make(Op::mul, Type::u32, {group, ir::imm(kLanes)});
  s.lane = k.b.make(Op::add, Type::u32, {start, tid});
  const ir::Reg base = k.element(input, s.lane, 4 * kInputWords);
  for (uint32_t i = 0; i < kInputWords; ++i) {
    const ir::Reg r = k.b.reg(Width::b32);
    k.memory(Op::load, ir::Space::global, Type::u32, 1, {r}, {base}).mem->offset = 4 * i;
    s.pool.words.push_back(r);
  }
  for (uint32_t i = 0; i + 1 < kInputWords; i += 2) {
    s.pool.wides.push_back(k.b.make(Op::pack64, Type::u64, {s.pool.words[i], s.pool.words[i + 1]}));
  }
  for (uint32_t i = 0; i < 3; ++i)
    s.pool.preds.push_back(k.compare(ir::Cond::lt, s.pool.words[i], s.pool.words[i + 1]));
  return s;
}

struct Choice {
  Op op;
  Type type, from = Type::none;
};

std::vector<Choice> all_choices() {
  std::vector<Choice> list;
  const Type integers[] = {Type::u32, Type::s32, Type::u64, Type::s64};
  const Type floats[] = {Type::f32, Type::f64, Type::f16};
  for (int i = static_cast<int>(Op::add); i <= static_cast<int>(Op::icmp); ++i) {
    const Op op = static_cast<Op>(i);
    const std::string_view signature = ir::info(op).signature;
    if (op == Op::mulwide) {
      list.push_back({op, Type::u32});
      list.push_back({op, Type::s32});
    } else if (signature.find('T') == std::string_view::npos) {
      list.push_back({op, Type::u32});
    } else {
      for (Type t : integers) list.push_back({op, t});
    }
  }
  for (const Op op : {Op::pack64, Op::unpack64, Op::zext64, Op::sext64, Op::trunc32, Op::zext8,
                      Op::sext8, Op::zext16, Op::sext16})
    list.push_back({op, Type::u32});
  for (int i = static_cast<int>(Op::fadd); i <= static_cast<int>(Op::fround); ++i)
    for (Type t : floats) list.push_back({static_cast<Op>(i), t});
  for (int i = static_cast<int>(Op::fdiv_approx); i <= static_cast<int>(Op::ftanh_approx); ++i)
    for (Type t : floats)
      if (t != Type::f64 || static_cast<Op>(i) <= Op::frsqrt_approx)
        list.push_back({static_cast<Op>(i), t});
  for (Type t : floats) {
    for (Type f : floats)
      if (t != f) list.push_back({Op::f2f, t, f});
    for (Type n : integers) {
      list.push_back({Op::i2f, t, n});
      list.push_back({Op::f2i, n, t});
    }
  }
  return list;
}

std::string text_of(const ir::Inst& inst) {
  return fmt::format("{}.{}.{} {} {}{}{} mode {}", ir::info(inst.op).name, ir::name(inst.type),
                     ir::name(inst.from), ir::name(inst.cond), ir::name(inst.round),
                     inst.ftz ? " ftz" : "", inst.sat ? " sat" : "", inst.mode);
}

/// Adds the operation with random flags and operands; its results join the pool of words `results`.
void append(Kernel& k, Pool& pool, const Choice& choice, std::mt19937& rng,
            std::vector<ir::Reg>& results, std::vector<std::string>& what) {
  const std::string_view signature = ir::info(choice.op).signature;
  const size_t colon = signature.find(':');
  const auto width = [&](char c) {
    return c == 'p'   ? Width::pred
           : c == 'w' ? Width::b32
           : c == 'd' ? Width::b64
                      : ir::width_of(c == 'F' ? choice.from : choice.type);
  };
  std::vector<ir::Operand> sources;
  for (char c : signature.substr(colon + 1)) {
    const Width w = width(c);
    const bool constant = w != Width::pred && rng() % 5 == 0;
    sources.push_back(constant ? ir::imm(w == Width::b64 ? uint64_t{interesting(rng)} << 32 | 5
                                                         : interesting(rng))
                               : ir::Operand(pool.pick(rng, w)));
    // Halves live in words whose upper bits are zero.
    const Type type = c == 'F' ? choice.from : choice.type;
    if (type == Type::f16 && (c == 'T' || c == 'F'))
      sources.back() = k.b.make(Op::zext16, Type::u32, {sources.back()});
  }
  std::vector<ir::Reg> made;
  for (char c : signature.substr(0, colon)) {
    const ir::Reg r = k.b.reg(width(c));
    k.move_into(r, ir::imm(1),
                width(c) == Width::pred  ? Type::pred
                : width(c) == Width::b64 ? Type::u64
                                         : Type::u32);
    made.push_back(r);
  }
  if (rng() % 4 == 0) k.b.set_guard({pool.pick(rng, Width::pred), rng() % 2 == 0});
  ir::Inst& inst = k.b.emit(choice.op, choice.type, made, sources);
  k.b.set_guard({});
  inst.from = choice.from;
  const bool is_float = choice.op >= Op::fadd;
  if (is_float) {
    inst.ftz = rng() % 3 == 0 && choice.type != Type::f64;
    inst.sat = rng() % 4 == 0 && choice.op != Op::f2i && choice.op != Op::fcmp;
    const bool rounds = choice.op != Op::fmin && choice.op != Op::fmax && choice.op != Op::fneg &&
                        choice.op != Op::fabs && choice.op != Op::fcmp;
    if (rounds && rng() % 2 == 0) inst.round = static_cast<ir::Round>(rng() % 4);
    if (choice.op == Op::fmin || choice.op == Op::fmax) inst.mode = rng() % 2;
    if (choice.op == Op::fcmp) inst.cond = static_cast<ir::Cond>(rng() % 14);
  }
  if (choice.op == Op::icmp) inst.cond = static_cast<ir::Cond>(rng() % 6);
  if (choice.op == Op::lop3) inst.mode = static_cast<uint8_t>(rng());
  if (choice.op == Op::shf_l || choice.op == Op::shf_r) inst.mode = rng() % 2;
  if (choice.op == Op::prmt) inst.mode = rng() % 7;
  const std::string text = text_of(inst);
  for (const ir::Reg r : made) {
    switch (k.program.regs[r.id].width) {
      case Width::pred:
        results.push_back(k.b.make(Op::select, Type::u32, {r, ir::imm(1), ir::imm(0)}));
        pool.preds.push_back(r);
        break;
      case Width::b32:
        results.push_back(r);
        pool.words.push_back(r);
        break;
      case Width::b64: {
        const ir::Reg low = k.b.reg(Width::b32), high = k.b.reg(Width::b32);
        k.b.emit(Op::unpack64, Type::none, {low, high}, {r});
        results.push_back(low);
        results.push_back(high);
        what.push_back(text + " low");
        pool.wides.push_back(r);
        break;
      }
    }
    what.push_back(text);
  }
}

}  // namespace

TEST_CASE("every arithmetic operation gives the reference's bits on every device") {
  std::mt19937 rng(20240607);
  std::vector<Choice> choices = all_choices();
  std::shuffle(choices.begin(), choices.end(), rng);
  constexpr size_t kPerProgram = 8;
  for (size_t at = 0; at < choices.size(); at += kPerProgram) {
    Kernel k;
    Setup s = begin(k);
    std::vector<ir::Reg> results;
    std::vector<std::string> what;
    for (size_t i = at; i < std::min(at + kPerProgram, choices.size()); ++i)
      append(k, s.pool, choices[i], rng, results, what);
    const auto count = static_cast<uint32_t>(results.size());
    const ir::Reg base = k.element(s.output, s.lane, 4 * count);
    for (uint32_t i = 0; i < count; ++i) {
      k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {base, results[i]}).mem->offset =
          4 * i;
    }
    k.b.exit();
    k.program.param_bytes = 16;
    compare(k.program, {kGroups, 1, 1}, {kLanes, 1, 1}, random_input(rng),
            size_t{kGroups} * kLanes * count, what);
  }
  CHECK(validation_messages() == 0);
}

}  // namespace random_programs
