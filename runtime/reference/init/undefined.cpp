#include "runtime/reference/init/undefined.hpp"

#include <algorithm>
#include <bit>

#include "runtime/ir/integer.hpp"

namespace lanewise::reference {
namespace {

using ir::Op;

constexpr uint64_t kWord = 0xffffffff;

uint64_t all_of(ir::Width width) {
  if (width == ir::Width::pred) return 1;
  return width == ir::Width::b32 ? kWord : ~uint64_t{0};
}

uint64_t sign_of(ir::Type type) {
  if (type == ir::Type::f16) return 0x8000;
  return type == ir::Type::f64 ? uint64_t{1} << 63 : uint64_t{1} << 31;
}

/// Sums and products carry upwards from their lowest undefined bit.
uint64_t upwards(uint64_t bits) {
  return bits | (uint64_t{0} - bits);
}

}  // namespace

Wave Undefined::as_wave(File& file) {
  Wave wave;
  wave.regs = file.regs.data();
  return wave;
}

void Undefined::forget() {
  for (File& f : files_) {
    if (f.count != 0) std::ranges::fill(f.regs, std::byte{0});
    f.count = 0;
    f.origins.clear();
  }
}

uint64_t Undefined::bits(const Wave& wave, Slot slot, uint32_t lane) const {
  File& file = files_[wave.index];
  return file.count == 0 || slot == ir::kNone ? 0 : as_wave(file).get(slot, lane);
}

UndefinedBits Undefined::get(const Wave& wave, Slot slot, uint32_t lane) const {
  UndefinedBits out{bits(wave, slot, lane), {}};
  if (out.bits == 0) return out;
  const File& file = files_[wave.index];
  if (const auto known = file.origins.find(key(slot, lane)); known != file.origins.end())
    out.origin = known->second;
  return out;
}

void Undefined::set(const Wave& wave, Slot slot, uint32_t lane, const UndefinedBits& value) {
  File& file = files_[wave.index];
  if (file.count == 0 && value.bits == 0) return;
  if (file.regs.empty()) file.regs.resize(register_bytes_);
  const bool was = as_wave(file).get(slot, lane) != 0, is = value.bits != 0;
  as_wave(file).set(slot, lane, value.bits);
  if (is) file.origins[key(slot, lane)] = value.origin;
  if (was && !is) file.origins.erase(key(slot, lane));
  file.count = file.count + (is ? 1 : 0) - (was ? 1 : 0);
}

bool Transfer::computes() const {
  constexpr Op kMoves[] = {Op::mov, Op::select, Op::and_,  Op::or_,   Op::xor_, Op::not_,
                           Op::shl, Op::shr,    Op::shf_l, Op::shf_r, Op::brev, Op::bfe,
                           Op::bfi, Op::prmt,   Op::lop3,  Op::fneg,  Op::fabs};
  return code.action != Action::narrow && std::ranges::find(kMoves, code.op) == std::end(kMoves);
}

uint64_t Transfer::result(uint32_t n) const {
  const uint64_t all = all_of(width_of(code.dst[n]));
  const auto u = [&](uint32_t i) { return i < code.sources ? sources[i].bits : 0; };
  const auto v = [&](uint32_t i) { return i < code.sources ? values[i] : 0; };
  uint64_t any = 0;
  for (uint32_t i = 0; i < code.sources; ++i) any |= u(i);
  if (any == 0) return 0;
  // Whatever it is.
  const bool same = code.sources == 2 && code.src[0] == code.src[1];
  if (same && (code.op == Op::xor_ || code.op == Op::sub)) return 0;
  // Of what moves bits, the bits that mark them move the same.
  const auto moved = [&](uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return integer_op(code.op, code.type, code.mode, a, b, c, d) & all;
  };
  if (code.action == Action::narrow && code.op != Op::unpack64) return moved(u(0), u(1), 0, 0);
  switch (code.op) {
    case Op::mov:
      return u(0);
    case Op::select:
      if (u(0) != 0) return (u(1) | u(2) | (v(1) ^ v(2))) & all;
      return v(0) != 0 ? u(1) : u(2);
    case Op::unpack64:
      return n == 0 ? u(0) & kWord : u(0) >> 32;
    case Op::and_:
      return ((u(0) & u(1)) | (u(0) & v(1)) | (u(1) & v(0))) & all;
    case Op::or_:
      return ((u(0) & u(1)) | (u(0) & ~v(1)) | (u(1) & ~v(0))) & all;
    case Op::xor_:
      return u(0) | u(1);
    case Op::not_:
    case Op::fneg:
      return u(0);
    case Op::fabs:
      return u(0) & ~sign_of(code.type);
    case Op::shl:
    case Op::shr:
    case Op::brev:
    case Op::bfe:
      return (u(1) | u(2)) != 0 ? all : moved(u(0), v(1), v(2), 0);
    case Op::shf_l:
    case Op::shf_r:
    case Op::prmt:
    case Op::bfi:
      return (u(2) | u(3)) != 0 ? all : moved(u(0), u(1), v(2), v(3));
    case Op::lop3: {
      const auto with = [&](uint32_t choice) {
        const auto input = [&](uint32_t i) {
          return (v(i) & ~u(i)) | ((choice >> i & 1) != 0 ? u(i) : 0);
        };
        return moved(input(0), input(1), input(2), 0);
      };
      uint64_t differs = 0;
      for (uint32_t choice = 1; choice < 8; ++choice) differs |= with(choice) ^ with(0);
      return differs;
    }
    case Op::add:
    case Op::sub:
    case Op::neg:
    case Op::mulwide:
      return upwards(any) & all;
    case Op::mul:
      // Nothing remains of a factor that a 0 takes away.
      if ((u(0) == 0 && v(0) == 0) || (u(1) == 0 && v(1) == 0)) return 0;
      return upwards(any) & all;
    case Op::icmp:
      if ((code.cond == ir::Cond::eq || code.cond == ir::Cond::ne) &&
          ((v(0) ^ v(1)) & ~(u(0) | u(1))) != 0)
        return 0;
      return all;
    case Op::maskbit:
      return u(0) >> lane & 1;
    default:
      return all;
  }
}

}  // namespace lanewise::reference
