// Handlers of whole waves against the functions that compute one lane: each instruction on edge
// values, with all lanes, with some, few and one, for each kind of host that this one can be.
#include <doctest/doctest.h>

#include "runtime/ir/integer.hpp"
#include "runtime/ir/signature.hpp"
#include "runtime/reference/numbers/float_ops.hpp"
#include "tests/unit/reference/hosts.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr uint32_t kWaves = 6, kLanes = 32 * kWaves;
constexpr uint64_t kOperands = guest::kArenaBase + 0x10000;
constexpr uint64_t kBefore = 0x1234567812345678;

/// Which lanes of the n-th wave carry the instruction out.
constexpr uint32_t kMasks[kWaves] = {0xffffffff, 0x55555555, 0xfffffffe, 0x80010004, 0x00000100, 0};

struct LaneForm {
  Op op;
  Type type = Type::u32, from = Type::none;
  ir::Cond cond = ir::Cond::eq;
  ir::Round round = ir::Round::rn;
  bool ftz = false, sat = false;
  uint8_t mode = 0;
};

uint64_t cut(Width width, uint64_t v) {
  return width == Width::pred ? v & 1 : width == Width::b32 ? v & 0xffffffff : v;
}

/// First and second result.
std::pair<uint64_t, uint64_t> one_lane(const LaneForm& f, const std::vector<uint64_t>& in) {
  const auto at = [&](size_t i) { return i < in.size() ? in[i] : uint64_t{0}; };
  const uint64_t a = at(0), b = at(1), c = at(2), d = at(3);
  const reference::FloatFlags flags{f.round, f.ftz, f.sat, f.mode};
  switch (f.op) {
    case Op::mov:
      return {a, 0};
    case Op::select:
      return {a != 0 ? b : c, 0};
    case Op::pack64:
      return {a | b << 32, 0};
    case Op::unpack64:
      return {a & 0xffffffff, a >> 32};
    case Op::zext64:
    case Op::trunc32:
      return {a & 0xffffffff, 0};
    case Op::sext64:
      return {static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)}), 0};
    case Op::zext8:
      return {a & 0xff, 0};
    case Op::zext16:
      return {a & 0xffff, 0};
    case Op::sext8:
      return {static_cast<uint32_t>(static_cast<int8_t>(a)), 0};
    case Op::sext16:
      return {static_cast<uint32_t>(static_cast<int16_t>(a)), 0};
    case Op::icmp:
      return {ir::integer_compare(f.type, f.cond, a, b), 0};
    case Op::fcmp:
      return {reference::float_compare(f.type, f.cond, f.ftz, a, b), 0};
    case Op::f2f:
      return {reference::float_to_float(f.type, f.from, flags, a), 0};
    case Op::f2i:
      return {reference::float_to_integer(f.type, f.from, flags, a), 0};
    case Op::i2f:
      return {reference::integer_to_float(f.type, f.from, flags, a), 0};
    case Op::addc:
    case Op::subb: {
      const ir::WithCarry x = f.op == Op::addc ? ir::add_carry(f.type, a, b, c != 0)
                                               : ir::subtract_borrow(f.type, a, b, c != 0);
      return {x.value, x.carry};
    }
    default:
      if (f.op >= Op::fadd) return {reference::float_op(f.op, f.type, flags, a, b, c), 0};
      return {ir::integer_op(f.op, f.type, f.mode, a, b, c, d), 0};
  }
}

/// Numbers that arithmetic of the type trips over, then random ones.
uint64_t sample(Type type, Width width, uint32_t lane, uint32_t operand) {
  static const std::vector<uint64_t> integers = samples(64, 64, 3);
  static const std::vector<uint64_t> words = {
      0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x807fffff,
      0x3f800000, 0xbf800000, 0x3f7fffff, 0x3effffff, 0x3f000000, 0x4b000000, 0x4effffff,
      0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x7f7fffff, 0x7f800000,
      0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0x34000000, 0x40490fdb, 0xc2c80000};
  static const std::vector<uint64_t> doubles = {0,
                                                uint64_t{1} << 63,
                                                1,
                                                0x000fffffffffffff,
                                                0x0010000000000000,
                                                0x3ff0000000000000,
                                                0xbff0000000000000,
                                                0x3fefffffffffffff,
                                                0x3fe0000000000000,
                                                0x41dfffffffc00000,
                                                0x41e0000000000000,
                                                0xc1e0000000000000,
                                                0xc1e0000000200000,
                                                0x41efffffffe00000,
                                                0x41f0000000000000,
                                                0x7fefffffffffffff,
                                                0x7ff0000000000000,
                                                0xfff0000000000000,
                                                0x7ff8000000000000,
                                                0x7ff0000000000001,
                                                0x36a0000000000000,
                                                0x380fffffffffffff,
                                                0x47efffffffffffff,
                                                0x3ff0000010000000};
  const std::vector<uint64_t>& from = type == Type::f32   ? words
                                      : type == Type::f64 ? doubles
                                                          : integers;
  uint64_t mix = (uint64_t{lane} * 0x9e3779b97f4a7c15) ^ (uint64_t{operand} * 0xbf58476d1ce4e5b9);
  mix ^= mix >> 29, mix *= 0x94d049bb133111eb, mix ^= mix >> 32;
  // Amounts of shifts and fields are small mostly; a third of the values is random.
  if (mix % 3 == 0) return cut(width, mix * 0x2545f4914f6cdd1d);
  if (type == Type::none) return cut(width, mix >> 8 & 63);
  return cut(width, from[(mix >> 8) % from.size()]);
}

void check(const LaneForm& f) {
  TestKernel k;
  ir::Inst inst;
  inst.op = f.op, inst.type = f.type, inst.from = f.from;
  const ir::Signature signature = ir::signature(f.op);
  std::vector<Operand> sources;
  std::vector<std::vector<uint64_t>> in(kLanes);
  std::vector<uint64_t> memory;
  const Reg lane = k.sreg(ir::SReg::linear_tid);
  const Reg at = k.b.make(Op::mulwide, Type::u32, {lane, imm(8)});
  k.program.regs[at.id].width = Width::b64;
  const auto table = [&](uint32_t n) { return kOperands + uint64_t{n} * 8 * kLanes; };
  const auto fetch = [&](uint32_t n, Width width) {
    const Reg address = k.b.make(Op::add, Type::u64, {at, imm(table(n))});
    const Reg value = k.load(address, TestKernel::mem(width == Width::b64 ? Type::u64 : Type::u32));
    if (width != Width::pred) return value;
    const Reg pred = k.b.reg(Width::pred);
    k.b.emit(Op::icmp, Type::u32, {pred}, {value, imm(0)}).cond = ir::Cond::ne;
    return pred;
  };
  for (uint32_t n = 0; n < signature.src.size(); ++n) {
    const char letter = signature.src[n];
    const Width width = *ir::letter_width(inst, letter);
    const Type type = letter == 'T' ? f.type : letter == 'F' ? f.from : Type::none;
    for (uint32_t i = 0; i < kLanes; ++i) {
      in[i].push_back(sample(letter == 'd' ? Type::u64 : type, width, i, n));
      memory.push_back(in[i].back());
    }
    sources.push_back(fetch(n, width));
  }
  for (uint32_t i = 0; i < kLanes; ++i) memory.push_back(kMasks[i / 32] >> i % 32 & 1);
  const Reg active = fetch(static_cast<uint32_t>(sources.size()), Width::pred);
  std::vector<Reg> results;
  for (const char letter : signature.dst) {
    const Width width = *ir::letter_width(inst, letter);
    results.push_back(k.b.reg(width));
    const Type type = width == Width::pred  ? Type::pred
                      : width == Width::b32 ? Type::u32
                                            : Type::u64;
    k.b.emit(Op::mov, type, {results.back()}, {imm(cut(width, kBefore))});
  }
  const uint32_t then = k.b.add_block("then"), after = k.b.add_block("after");
  k.b.branch({active, false}, then, after);
  k.b.set_block(then);
  ir::Inst& emitted = k.b.emit(f.op, f.type, results, sources);
  emitted.from = f.from, emitted.cond = f.cond, emitted.round = f.round;
  emitted.ftz = f.ftz, emitted.sat = f.sat, emitted.mode = f.mode;
  k.b.jump(after);
  k.b.set_block(after);
  for (uint32_t n = 0; n < results.size(); ++n) {
    const Width width = k.program.regs[results[n].id].width;
    if (width == Width::pred)
      k.put_pred(n, results[n]);
    else
      k.put(n, results[n], width == Width::b64 ? Type::u64 : Type::u32);
  }
  k.b.exit();

  auto engine = reference::make_engine();
  engine->reserve(1 << 20);
  engine->write(kOperands, std::as_bytes(std::span(memory)));
  LaunchRequest request;
  request.program = &k.program;
  request.grid = {1, 1, 1};
  request.block = {kLanes, 1, 1};
  REQUIRE(engine->launch(request).fault_count == 0);
  std::vector<uint64_t> slots(size_t{kLanes} * 8);
  engine->read(guest::kArenaBase, std::as_writable_bytes(std::span(slots)));
  CAPTURE(std::string(ir::info(f.op).name));
  CAPTURE(static_cast<int>(f.type));
  CAPTURE(static_cast<int>(f.from));
  CAPTURE(static_cast<int>(f.cond));
  CAPTURE(static_cast<int>(f.round));
  CAPTURE(f.ftz);
  CAPTURE(f.sat);
  CAPTURE(static_cast<int>(f.mode));
  for (uint32_t i = 0; i < kLanes; ++i) {
    const auto [first, second] = one_lane(f, in[i]);
    const bool acts = (kMasks[i / 32] >> i % 32 & 1) != 0;
    CAPTURE(i);
    for (uint32_t n = 0; n < results.size(); ++n) {
      const Width width = k.program.regs[results[n].id].width;
      const uint64_t expected = cut(width, !acts ? kBefore : n == 0 ? first : second);
      if (slots[i * 8 + n] != expected) REQUIRE(slots[i * 8 + n] == expected);
    }
  }
}

std::vector<LaneForm> lane_forms() {
  std::vector<LaneForm> all;
  constexpr Type kIntegers[] = {Type::u32, Type::s32, Type::u64, Type::s64};
  constexpr ir::Round kRounds[] = {ir::Round::rn, ir::Round::rz, ir::Round::rm, ir::Round::rp,
                                   ir::Round::rna};
  for (const Op op : {Op::pack64, Op::unpack64, Op::zext64, Op::sext64, Op::trunc32, Op::zext8,
                      Op::sext8, Op::zext16, Op::sext16})
    all.push_back({op, Type::none});
  for (const Op op : {Op::mov, Op::select})
    for (const Type t : {Type::pred, Type::u32, Type::u64}) all.push_back({op, t});
  for (const Op op : {Op::and_, Op::or_, Op::xor_, Op::not_}) all.push_back({op, Type::pred});
  for (auto op = static_cast<int>(Op::add); op <= static_cast<int>(Op::lop3); ++op)
    for (const Type t : kIntegers) {
      const auto o = static_cast<Op>(op);
      const bool words = ir::info(o).signature == std::string_view("w:www") || o == Op::mulwide;
      if (words && ir::width_of(t) == Width::b64) continue;
      for (int mode = 0; mode < (o == Op::prmt ? 7 : words && o != Op::mulwide ? 2 : 1); ++mode)
        all.push_back({.op = o,
                       .type = t,
                       .mode = static_cast<uint8_t>(o == Op::lop3 ? 0x96 + mode * 0x35 : mode)});
    }
  for (const Type t : kIntegers)
    for (int cond = 0; cond <= static_cast<int>(ir::Cond::ge); ++cond)
      all.push_back({.op = Op::icmp, .type = t, .cond = static_cast<ir::Cond>(cond)});
  for (const Type t : {Type::f16, Type::f32, Type::f64})
    for (const bool ftz : {false, true}) {
      for (int cond = 0; cond <= static_cast<int>(ir::Cond::nan); ++cond)
        all.push_back({.op = Op::fcmp, .type = t, .cond = static_cast<ir::Cond>(cond), .ftz = ftz});
      for (auto op = static_cast<int>(Op::fadd); op <= static_cast<int>(Op::ftanh_approx); ++op) {
        const auto o = static_cast<Op>(op);
        if (o == Op::fcmp || o == Op::f2f || o == Op::f2i || o == Op::i2f) continue;
        for (const bool sat : {false, true})
          for (const ir::Round round : kRounds)
            for (const uint8_t mode : {0, 1})
              if (mode == 0 || o == Op::fmin || o == Op::fmax)
                all.push_back(
                    {.op = o, .type = t, .round = round, .ftz = ftz, .sat = sat, .mode = mode});
      }
      for (const ir::Round round : kRounds) {
        for (const Type to : {Type::u8, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64}) {
          all.push_back({.op = Op::f2i, .type = to, .from = t, .round = round, .ftz = ftz});
          if (ir::size_of(to) >= 4)
            all.push_back({.op = Op::i2f, .type = t, .from = to, .round = round, .ftz = ftz});
        }
        for (const Type to : {Type::f16, Type::f32, Type::f64})
          all.push_back({.op = Op::f2f, .type = to, .from = t, .round = round, .ftz = ftz});
      }
    }
  return all;
}

}  // namespace

TEST_CASE("whole waves compute what single lanes do, on every kind of host") {
  on_every_host([] {
    for (const LaneForm& form : lane_forms()) check(form);
  });
}
