#include "runtime/ir/passes/memory/expand_formats.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/format_bytes.hpp"

namespace lanewise::ir {
namespace {

constexpr uint32_t kUnorm = 0, kUint = 4, kSint = 5;  // NUM_FORMAT

/// Of formats whose components are alike, bits of each; 0 = another one.
uint32_t component_bits(uint32_t code) {
  constexpr uint8_t kBits[16] = {0, 8, 16, 8, 32, 16, 0, 0, 0, 0, 8, 32, 16, 32, 32, 0};
  return kBits[code];
}

struct Format {
  uint32_t word = 0;
  uint32_t number() const { return word >> 12 & 7; }
  uint32_t bits() const { return component_bits(word >> 15 & 15); }
  uint32_t components() const { return 8U * kFormatBytes[word >> 15 & 15] / bits(); }
  bool is_integer() const { return number() == kUint || number() == kSint; }
};

bool is_simple(const Inst& i) {
  if (i.op != Op::fmt_unpack || !i.src[4].is_imm()) return false;
  if ((i.mode & static_cast<uint8_t>(FormatMode::d16)) != 0) return false;
  const Format format{static_cast<uint32_t>(i.src[4].imm)};
  if (format.bits() == 0) return false;
  return format.bits() == 32 || format.number() == kUnorm || format.is_integer();
}

class Unpacked {
 public:
  Unpacked(Builder& b, const Inst& inst)
      : b_(b), inst_(inst), format_{static_cast<uint32_t>(inst.src[4].imm)} {}

  void run() {
    std::array<Operand, 4> results;
    for (uint32_t n = 0; n < 4; ++n) results[n] = selected(format_.word >> (3 * n) & 7);
    b_.set_guard(inst_.guard);
    for (uint32_t n = 0; n < 4; ++n)
      if (inst_.dst[n].valid()) b_.emit(Op::mov, Type::u32, {inst_.dst[n]}, {results[n]});
    b_.set_guard({});
  }

 private:
  bool has(FormatMode mode) const { return (inst_.mode & static_cast<uint8_t>(mode)) != 0; }
  Operand one() const { return imm(format_.is_integer() ? 1 : std::bit_cast<uint32_t>(1.0F)); }
  /// 0 where the element is out of range.
  Operand in_range(Operand value) {
    const Operand& may = inst_.src[5];
    if (may.is_imm()) return may.imm != 0 ? value : imm(0);
    return b_.make(Op::select, Type::u32, {may, value, imm(0)});
  }

  Operand selected(uint32_t select) {
    if (select == 1) return has(FormatMode::out_of_range_zero) ? in_range(one()) : one();
    if (select < 4) return imm(0);
    const uint32_t component = select & 3;
    if (component < format_.components()) return number(component);
    if (component < 3 || has(FormatMode::missing_zero)) return imm(0);
    return in_range(one());
  }

  /// The numbers of formats here are 0 where all their bits are.
  Operand number(uint32_t component) {
    const uint32_t bits = format_.bits(), low = bits * component;
    Operand& word = words_[low / 32];
    if (word.kind == Operand::Kind::none) word = in_range(inst_.src[low / 32]);
    if (bits == 32) return word;
    const Type type = format_.number() == kSint ? Type::s32 : Type::u32;
    const Operand field = b_.make(Op::bfe, type, {word, imm(low % 32), imm(bits)});
    return format_.is_integer() ? field : fraction(field, bits);
  }

  /// c / (2^n - 1), rounded once: the divisor's reciprocal is cut in two, so that the product with
  /// the first part is exact, and the error of the second's far from where the sum would be rounded
  /// the other way. That holds for all c of up to 16 bits.
  Operand fraction(Operand c, uint32_t bits) {
    const double divisor = (1U << bits) - 1;
    int exponent = 0;
    std::frexp(1 / divisor, &exponent);
    const double unit = std::ldexp(1.0, exponent - 24 + static_cast<int>(bits));
    const double high = std::floor(1 / divisor / unit) * unit, low = (1 - divisor * high) / divisor;
    const auto constant = [](double x) {
      return imm(std::bit_cast<uint32_t>(static_cast<float>(x)));
    };
    const Reg whole = b_.reg(Width::b32), part = b_.reg(Width::b32), sum = b_.reg(Width::b32);
    b_.emit(Op::i2f, Type::f32, {whole}, {c}).from = Type::u32;
    b_.emit(Op::fmul, Type::f32, {part}, {whole, constant(low)}).any_nan = true;
    Inst& last = b_.emit(Op::ffma, Type::f32, {sum}, {whole, constant(high), part});
    last.mode = static_cast<uint8_t>(FmaMode::exact_product);
    last.any_nan = true;  // there is none
    return sum;
  }

  Builder& b_;
  const Inst& inst_;
  Format format_;
  std::array<Operand, 4> words_;  ///< where they are in range
};

}  // namespace

bool expand_formats(Program& program) {
  Builder b(program);
  bool changed = false;
  for (uint32_t n = 0; n < program.blocks.size(); ++n) {
    if (std::ranges::none_of(program.blocks[n].insts, is_simple)) continue;
    const std::vector<Inst> old = std::move(program.blocks[n].insts);
    program.blocks[n].insts.clear();
    b.set_block(n);
    changed = true;
    for (const Inst& i : old) {
      b.set_site(i.site);
      if (is_simple(i))
        Unpacked(b, i).run();
      else
        program.blocks[n].insts.push_back(i);
    }
  }
  return changed;
}

}  // namespace lanewise::ir
