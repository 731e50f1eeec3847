// The arithmetic is tested on its own; here each kind of instruction goes through a kernel once, to
// see that operands arrive in order and results are cut to their width.
#include <doctest/doctest.h>

#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

/// The value of one instruction with immediate operands.
uint64_t eval(Op op, Type type, std::vector<Operand> src,
              const std::function<void(ir::Inst&)>& adjust = {}, size_t result = 0,
              std::vector<Width> widths = {}, Type source_type = Type::u32) {
  TestKernel k;
  std::vector<Reg> dst;
  if (widths.empty()) widths = {ir::width_of(type)};
  for (const Width w : widths) dst.push_back(k.b.reg(w));
  // Operands come from registers here, of the widths that the signature asks for.
  const std::string_view signature = ir::info(op).signature;
  const size_t first = signature.find(':') + 1;
  for (size_t i = 0; i < src.size(); ++i) {
    const char letter = signature[first + i];
    const Type from = letter == 'T'   ? type
                      : letter == 'F' ? source_type
                      : letter == 'p' ? Type::pred
                      : letter == 'd' ? Type::u64
                                      : Type::u32;
    const Reg r = k.b.reg(ir::width_of(from));
    k.b.emit(Op::mov, from, {r}, {src[i]});
    src[i] = r;
  }
  ir::Inst& inst = k.b.emit(op, type, dst, src);
  if (adjust) adjust(inst);
  if (widths[result] == Width::pred) {
    k.put_pred(0, dst[result]);
  } else {
    k.put(0, dst[result], widths[result] == Width::b64 ? Type::u64 : Type::u32);
  }
  k.b.exit();
  return run(k).slot(0, 0);
}

}  // namespace

TEST_CASE("common integer operations through a kernel") {
  CHECK(eval(Op::add, Type::u32, {imm(0xfffffffe), imm(5)}) == 3);
  CHECK(eval(Op::add, Type::u64, {imm(0xfffffffe), imm(5)}) == 0x100000003);
  CHECK(eval(Op::sub, Type::s32, {imm(3), imm(5)}) == 0xfffffffe);
  CHECK(eval(Op::sub, Type::u64, {imm(3), imm(5)}) == ~uint64_t{1});
  CHECK(eval(Op::mul, Type::u32, {imm(0x10001), imm(0x10001)}) == 0x20001);
  CHECK(eval(Op::mul, Type::u64, {imm(0x10001), imm(0x10001)}) == 0x100020001);
  CHECK(eval(Op::and_, Type::u32, {imm(12), imm(10)}) == 8);
  CHECK(eval(Op::or_, Type::u64, {imm(12), imm(10)}) == 14);
  CHECK(eval(Op::xor_, Type::pred, {imm(1), imm(1)}) == 0);
  CHECK(eval(Op::xor_, Type::pred, {imm(1), imm(0)}) == 1);
  CHECK(eval(Op::not_, Type::u32, {imm(0)}) == 0xffffffff);
  CHECK(eval(Op::neg, Type::s32, {imm(1)}) == 0xffffffff);
  CHECK(eval(Op::div, Type::s32, {imm(0xfffffff9), imm(2)}) == 0xfffffffd);
  CHECK(eval(Op::bfi, Type::u32, {imm(5), imm(0), imm(4), imm(3)}) == 0x50);
  CHECK(eval(Op::shl, Type::u32, {imm(3), imm(31)}) == 0x80000000);
  const std::vector<Width> carry = {Width::b32, Width::pred};
  CHECK(eval(Op::addc, Type::u32, {imm(0xffffffff), imm(0), imm(1)}, {}, 0, carry) == 0);
  CHECK(eval(Op::addc, Type::u32, {imm(0xffffffff), imm(0), imm(1)}, {}, 1, carry) == 1);
  CHECK(eval(Op::subb, Type::u32, {imm(0), imm(0), imm(1)}, {}, 0, carry) == 0xffffffff);
  CHECK(eval(Op::subb, Type::u32, {imm(0), imm(0), imm(1)}, {}, 1, carry) == 1);
  CHECK(eval(Op::lop3, Type::u32, {imm(12), imm(10), imm(9)}, [](ir::Inst& i) { i.mode = 0x96; }) ==
        (12 ^ 10 ^ 9));
}

TEST_CASE("moves and widths through a kernel") {
  CHECK(eval(Op::select, Type::u32, {imm(1), imm(7), imm(8)}) == 7);
  CHECK(eval(Op::select, Type::u32, {imm(0), imm(7), imm(8)}) == 8);
  const std::vector<Width> wide = {Width::b64}, narrow = {Width::b32};
  CHECK(eval(Op::pack64, Type::none, {imm(1), imm(2)}, {}, 0, wide) == 0x200000001);
  const std::vector<Width> two = {Width::b32, Width::b32};
  CHECK(eval(Op::unpack64, Type::none, {imm(0x300000004)}, {}, 0, two) == 4);
  CHECK(eval(Op::unpack64, Type::none, {imm(0x300000004)}, {}, 1, two) == 3);
  CHECK(eval(Op::sext64, Type::none, {imm(0x80000000)}, {}, 0, wide) == 0xffffffff80000000);
  CHECK(eval(Op::zext64, Type::none, {imm(0x80000000)}, {}, 0, wide) == 0x80000000);
  CHECK(eval(Op::trunc32, Type::none, {imm(0x300000004)}, {}, 0, narrow) == 4);
  CHECK(eval(Op::sext8, Type::none, {imm(0x1280)}, {}, 0, narrow) == 0xffffff80);
  CHECK(eval(Op::zext8, Type::none, {imm(0x1280)}, {}, 0, narrow) == 0x80);
  CHECK(eval(Op::sext16, Type::none, {imm(0x128000)}, {}, 0, narrow) == 0xffff8000);
  CHECK(eval(Op::zext16, Type::none, {imm(0x128000)}, {}, 0, narrow) == 0x8000);
}

TEST_CASE("floats and conversions through a kernel") {
  const auto up = [](ir::Inst& i) { i.round = ir::Round::rp; };
  CHECK(eval(Op::fadd, Type::f32, {imm(0x3f800000), imm(1)}) == 0x3f800000);
  CHECK(eval(Op::fadd, Type::f32, {imm(0x3f800000), imm(1)}, up) == 0x3f800001);
  CHECK(eval(Op::ffma, Type::f32, {imm(0x40000000), imm(0x40400000), imm(0x3f800000)}) ==
        0x40e00000);
  CHECK(eval(Op::fsub, Type::f64, {imm(0x4000000000000000), imm(0x3ff0000000000000)}) ==
        0x3ff0000000000000);
  CHECK(eval(Op::fmax, Type::f32, {imm(0x7fc00000), imm(2)}, [](ir::Inst& i) { i.mode = 1; }) ==
        0x7fffffff);
  const std::vector<Width> p = {Width::pred};
  const auto less = [](ir::Inst& i) { i.cond = ir::Cond::lt; };
  CHECK(eval(Op::fcmp, Type::f32, {imm(0xbf800000), imm(0x3f800000)}, less, 0, p) == 1);
  CHECK(eval(Op::icmp, Type::s32, {imm(0xffffffff), imm(0)}, less, 0, p) == 1);
  CHECK(eval(Op::icmp, Type::u32, {imm(0xffffffff), imm(0)}, less, 0, p) == 0);
  const auto convert = [](Op op, Type to, Type from, uint64_t a) {
    return eval(
        op, to, {imm(a)}, [from](ir::Inst& i) { i.from = from; }, 0, {}, from);
  };
  CHECK(convert(Op::f2f, Type::f64, Type::f32, 0x3fc00000) == 0x3ff8000000000000);
  CHECK(convert(Op::f2f, Type::f32, Type::f64, 0x3ff8000000000000) == 0x3fc00000);
  CHECK(convert(Op::f2i, Type::s32, Type::f32, 0xc0000000) == 0xfffffffe);
  CHECK(convert(Op::f2i, Type::s8, Type::f32, 0xc0000000) == 0xfe);
  CHECK(convert(Op::i2f, Type::f32, Type::s32, 0xffffffff) == 0xbf800000);
  CHECK(convert(Op::i2f, Type::f64, Type::u32, 0xffffffff) == 0x41efffffffe00000);
}
