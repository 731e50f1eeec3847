#include "runtime/spirv/lane/row_question.hpp"

#include <algorithm>
#include <bit>

#include <spirv/unified1/GLSL.std.450.h>

#include "runtime/layout/addresses.hpp"

namespace lanewise::spirv {
namespace {

constexpr int kDepth = 8;
/// Beyond these an access stands for itself, so that no sum below can wrap.
constexpr int64_t kFarthest = 4096;
constexpr uint32_t kLargestScale = 4096;
/// What GCN's buffer addresses keep.
constexpr int64_t kAddressBits = 0xffffffffffff;

}  // namespace

bool RowQuestion::constant_of(Id value, int64_t& constant) const {
  const Builder::Instruction made = m_.made(value);
  if (made.op() == spv::OpSConvert || made.op() == spv::OpUConvert) {
    const Builder::Instruction source = m_.made(made.operand(0));
    if (source.op() != spv::OpConstant) return false;
    const uint32_t word = source.operand(0);
    constant = made.op() == spv::OpSConvert ? static_cast<int32_t>(word) : int64_t{word};
    return true;
  }
  if (made.op() != spv::OpConstant) return false;
  uint64_t bits = made.operand(0);
  if (made.operand_count() > 1) bits |= uint64_t{made.operand(1)} << 32;
  constant = static_cast<int64_t>(bits);
  return true;
}

/// Of 32 bits that were widened, or all 64 of the value.
void RowQuestion::indexed(Id value, uint64_t factor, Linear& sum) const {
  sum.known = sum.known && sum.index == spv::NoResult && factor >= 1 && factor <= kLargestScale;
  if (!sum.known) return;
  const Builder::Instruction made = m_.made(value);
  const bool is_signed = made.op() == spv::OpSConvert;
  const bool narrow =
      (is_signed || made.op() == spv::OpUConvert) && m_.type_id(made.operand(0)) == m_.uint_type;
  sum.index = narrow ? made.operand(0) : value;
  sum.is_signed = narrow && is_signed;
  sum.wide = !narrow;
  sum.scale = static_cast<uint32_t>(factor);
}

/// The word whose lower half this is: pointers that have anything in the whole word reach nothing.
Id RowQuestion::untagged(Id word) const {
  const Builder::Instruction made = m_.made(word);
  int64_t mask = 0;
  const bool half =
      made.op() == spv::OpBitwiseAnd && constant_of(made.operand(1), mask) && mask == 0xffff;
  return half ? made.operand(0) : word;
}

/// Adds value * factor, modulo 2^64 like the guest.
void RowQuestion::collect(Id value, int depth, uint64_t factor, Linear& sum) const {
  int64_t constant = 0;
  if (constant_of(value, constant)) {
    sum.constant = static_cast<int64_t>(static_cast<uint64_t>(sum.constant) +
                                        static_cast<uint64_t>(constant) * factor);
    return;
  }
  const Builder::Instruction made = m_.made(value);
  const auto operand = [&](int n) { return made.operand(n); };
  switch (depth == 0 ? spv::OpNop : made.op()) {
    case spv::OpIAdd: {
      Linear both = sum;
      for (const int n : {0, 1}) collect(operand(n), depth - 1, factor, both);
      if (!both.known) break;  // of several indices: as one
      sum = both;
      return;
    }
    case spv::OpIMul:
      for (const int n : {0, 1})
        if (constant_of(operand(n), constant))
          return collect(operand(1 - n), depth - 1, factor * static_cast<uint64_t>(constant), sum);
      break;
    case spv::OpShiftLeftLogical:
      if (!constant_of(operand(1), constant) || constant < 0 || constant > 12) break;
      return collect(operand(0), depth - 1, factor << constant, sum);
    case spv::OpBitwiseAnd: {
      // Near memory, where a sum lies of which nothing is in doubt, it has no bits above these.
      if (!constant_of(operand(1), constant) || constant != kAddressBits) break;
      Linear inside;
      collect(operand(0), depth - 1, 1, inside);
      inside.constant = inside.constant << 16 >> 16;  // the rest is lost in any case
      if (factor != 1 || !inside.known || inside.param == ir::kNone || sum.param != ir::kNone ||
          sum.index != spv::NoResult || inside.constant < -kFarthest || inside.constant > kFarthest)
        break;
      inside.constant += sum.constant;
      inside.known = sum.known;
      sum = inside;
      return;
    }
    case spv::OpBitcast: {
      const Builder::Instruction pair = m_.made(operand(0));
      if (pair.op() != spv::OpCompositeConstruct || pair.type_id() != m_.uvec2_type) break;
      const uint32_t low = params_.offset_of(pair.operand(0));
      if (low == ir::kNone || params_.offset_of(untagged(pair.operand(1))) != low + 4) break;
      sum.known = sum.known && sum.param == ir::kNone && factor == 1;
      sum.param = low;
      return;
    }
    default:
      break;
  }
  indexed(value, factor, sum);
}

void RowQuestion::add(const Access& access, const Pointer& pointer) {
  Linear sum;
  collect(access.address, kDepth, 1, sum);
  if (sum.known && sum.param == pointer.param && add_index(access, pointer, sum)) return;
  add_place(access, pointer, false);
}

void RowQuestion::add_anywhere(const Access& access, const Pointer& memory,
                               const std::function<std::optional<Pointer>(uint32_t param)>& known) {
  Linear sum;
  collect(access.address, kDepth, 1, sum);
  if (sum.known && sum.param != ir::kNone) {
    const std::optional<Pointer> found = known(sum.param);
    // A parameter of which nothing is known may be a number, and what is added to it the pointer.
    const bool either = !found && sum.wide;
    if (!either && add_index(access, found ? *found : pointer_into(sum.param, memory), sum)) return;
  } else if (sum.known && add_index(access, memory, sum)) {
    return;
  }
  add_place(access, memory, false);
}

/// A parameter's value that may lead anywhere in memory.
RowQuestion::Pointer RowQuestion::pointer_into(uint32_t param, const Pointer& memory) {
  const Id beyond = params_.once([&] {
    const Id low = params_.word(param), high = params_.word(param + 4);
    const Id ahead = m_.word(spv::OpISub, {low, m_.u(memory.address)});
    const Id capped = m_.glsl(GLSLstd450UMin, m_.uint_type, {ahead, memory.beyond});
    const Id left = m_.word(spv::OpISub, {memory.beyond, capped});
    const Id near = m_.equals(high, 0);
    return m_.select(near, left, m_.u(0));
  });
  return {param, 0, beyond};
}

void RowQuestion::add_small(const Access& access, uint64_t size) {
  add_place(access, {ir::kNone, 0, m_.u(static_cast<uint32_t>(size))}, true);
}

/// max(value, amount) - amount.
Id RowQuestion::less_by(Id value, uint64_t amount) {
  if (amount == 0) return value;
  const Id least = m_.u(static_cast<uint32_t>(amount));
  const Id enough = m_.glsl(GLSLstd450UMax, m_.uint_type, {value, least});
  return m_.word(spv::OpISub, {enough, least});
}

bool RowQuestion::add_index(const Access& access, const Pointer& pointer, const Linear& sum) {
  const auto constant = static_cast<int64_t>(static_cast<uint64_t>(sum.constant) -
                                             (pointer.param == ir::kNone ? pointer.address : 0));
  if (constant < -kFarthest || constant > kFarthest) return false;
  if (sum.scale % access.align != 0 && sum.index != spv::NoResult) return false;
  Index wanted{access.wanted, sum.index == spv::NoResult ? m_.u(0) : sum.index, sum.wide, 0, {}};
  auto known = std::ranges::find_if(indices_, [&](const Index& other) {
    return other.wanted == wanted.wanted && other.index == wanted.index;
  });
  if (known == indices_.end()) known = indices_.insert(known, wanted);
  if (constant < 0) {
    const auto least = static_cast<uint32_t>((-constant + sum.scale - 1) / sum.scale);
    known->least = std::max(known->least, least);
  }
  const Id reach = reach_of(access, pointer, constant);
  const Bound bound{
      constant + access.bytes - sum.scale, sum.scale, sum.is_signed && sum.scale == 1, {}};
  auto alike = std::ranges::find_if(known->bounds, [&](const Bound& other) {
    return other.too_many == bound.too_many && other.scale == bound.scale &&
           other.halves == bound.halves;
  });
  if (alike == known->bounds.end()) alike = known->bounds.insert(alike, bound);
  if (std::ranges::find(alike->reaches, reach) == alike->reaches.end())
    alike->reaches.push_back(reach);
  return true;
}

/// Bytes behind the pointer, none where it is not aligned.
Id RowQuestion::reach_of(const Access& access, const Pointer& pointer, int64_t constant) {
  if (access.align == 1) return pointer.beyond;
  const auto low = static_cast<uint32_t>(constant) & (access.align - 1);
  if (pointer.param == ir::kNone)
    return ((pointer.address + low) & (access.align - 1)) != 0 ? m_.u(0) : pointer.beyond;
  if (access.align <= pointer.align || (access.align <= 16 && params_.aligned(pointer.param)))
    return low != 0 ? m_.u(0) : pointer.beyond;
  return params_.once([&] {
    const Id start = m_.word(spv::OpIAdd, {params_.word(pointer.param), m_.u(low)});
    const Id rest = m_.word(spv::OpBitwiseAnd, {start, m_.u(access.align - 1)});
    const Id aligned = m_.equals(rest, 0);
    return m_.select(aligned, pointer.beyond, m_.u(0));
  });
}

/// The first index of which some byte lies too far: index * scale + constant + bytes > reach.
Id RowQuestion::bound_of(const Bound& bound) {
  Id reach = bound.reaches[0];
  for (size_t i = 1; i < bound.reaches.size(); ++i)
    reach = m_.glsl(GLSLstd450UMin, m_.uint_type, {reach, bound.reaches[i]});
  const Id bytes =
      bound.too_many > 0
          ? less_by(reach, static_cast<uint64_t>(bound.too_many))
          : m_.word(spv::OpIAdd, {reach, m_.u(static_cast<uint32_t>(-bound.too_many))});
  const Id first =
      std::has_single_bit(bound.scale)
          ? m_.word(spv::OpShiftRightLogical,
                    {bytes, m_.u(static_cast<uint32_t>(std::countr_zero(bound.scale)))})
          : m_.word(spv::OpUDiv, {bytes, m_.u(bound.scale)});
  // Negative indices are the upper half.
  return bound.halves ? m_.glsl(GLSLstd450UMin, m_.uint_type, {first, m_.u(0x80000000)}) : first;
}

void RowQuestion::add_place(const Access& access, const Pointer& pointer, bool small) {
  Place place{access.wanted, access.address, pointer, small, 0, 0, access.align};
  int64_t distance = 0;
  for (;;) {
    const Builder::Instruction made = m_.made(place.address);
    int64_t more = 0;
    if (made.op() != spv::OpIAdd || !constant_of(made.operand(1), more)) break;
    if (small) more = static_cast<int32_t>(static_cast<uint32_t>(more));
    if (more < -kFarthest || more > kFarthest || distance + more < -kFarthest ||
        distance + more > kFarthest)
      break;
    distance += more;
    place.address = made.operand(0);
  }
  place.least = distance - access.before;
  place.end = distance + access.bytes + access.behind;
  for (Place& other : places_) {
    const uint32_t align = std::max(other.align, place.align);
    if (other.address != place.address || !alike(other, place) ||
        ((other.least - place.least) & (align - 1)) != 0)
      continue;
    other.least = std::min(other.least, place.least);
    other.end = std::max(other.end, place.end);
    other.align = align;
    return;
  }
  places_.push_back(place);
}

bool RowQuestion::alike(const Place& a, const Place& b) {
  return a.wanted == b.wanted && a.small == b.small && a.pointer == b.pointer;
}

Id RowQuestion::base_of(const Pointer& pointer) {
  return pointer.param == ir::kNone ? m_.u(pointer.address) : params_.word(pointer.param);
}

void RowQuestion::doubt(Id wanted, Id doubtful) {
  if (wanted != spv::NoResult) doubtful = m_.test(spv::OpLogicalAnd, {wanted, doubtful});
  doubtful_ =
      doubtful_ == spv::NoResult ? doubtful : m_.test(spv::OpLogicalOr, {doubtful_, doubtful});
}

/// No index is below the first bound and not below the second.
bool RowQuestion::is_stricter(const Bound& a, const Bound& b) {
  const auto reaches = [&](Id reach) { return std::ranges::find(a.reaches, reach); };
  return a.scale == b.scale && a.halves >= b.halves && a.too_many > b.too_many &&
         std::ranges::all_of(b.reaches, [&](Id r) { return reaches(r) != a.reaches.end(); });
}

void RowQuestion::ask_index(const Index& index) {
  const Id bound = params_.once([&] {
    Id least = spv::NoResult;
    for (const Bound& bound : index.bounds) {
      const auto stricter = [&](const Bound& other) { return is_stricter(other, bound); };
      if (std::ranges::any_of(index.bounds, stricter)) continue;
      const Id one = bound_of(bound);
      least = least == spv::NoResult ? one : m_.glsl(GLSLstd450UMin, m_.uint_type, {least, one});
    }
    return less_by(least, index.least);
  });
  const Id low = index.wide ? m_.narrow_lo(index.index) : index.index;
  const Id from = index.least == 0 ? low : m_.word(spv::OpISub, {low, m_.u(index.least)});
  doubt(index.wanted, at_least(from, bound));
}

/// All upper halves under one condition, where the first of them is.
void RowQuestion::ask_high(size_t first) {
  Id high = spv::NoResult;
  for (size_t i = 0; i < indices_.size(); ++i) {
    const Index& index = indices_[i];
    if (!index.wide || index.wanted != indices_[first].wanted) continue;
    if (i < first) return;
    const Id half = m_.hi(index.index);
    high = high == spv::NoResult ? half : m_.word(spv::OpBitwiseOr, {high, half});
  }
  if (high == spv::NoResult || !indices_[first].wide) return;
  doubt(indices_[first].wanted, m_.differs(high, 0));
}

/// All places behind one pointer: the farthest of them, with the longest stretch of any.
void RowQuestion::ask_places(const Place& first) {
  Id farthest = spv::NoResult, high = spv::NoResult, low = spv::NoResult;
  int64_t longest = 0;
  const auto join = [&](Id& all, Id one) {
    all = all == spv::NoResult ? one : m_.word(spv::OpBitwiseOr, {all, one});
  };
  for (const Place& place : places_) {
    if (!alike(place, first)) continue;
    longest = std::max(longest, place.end - place.least);
    const Id base = place.small ? place.address : m_.narrow_lo(place.address);
    Id from = base;
    if (place.least != 0)
      from = m_.word(spv::OpIAdd, {from, m_.u(static_cast<uint32_t>(place.least))});
    if (place.align > 1) {
      const bool moved = (place.least & (place.align - 1)) != 0;
      const Id word = moved ? from : base;
      join(low, m_.word(spv::OpBitwiseAnd, {word, m_.u(place.align - 1)}));
    }
    if (!place.small) {
      from = m_.word(spv::OpISub, {from, base_of(place.pointer)});
      join(high, m_.hi(place.address));
    }
    farthest =
        farthest == spv::NoResult ? from : m_.glsl(GLSLstd450UMax, m_.uint_type, {farthest, from});
  }
  const Id bound = params_.once(
      [&] { return less_by(first.pointer.beyond, static_cast<uint64_t>(longest - 1)); });
  doubt(first.wanted, at_least(farthest, bound));
  if (low != spv::NoResult) join(high, low);
  if (high != spv::NoResult) doubt(first.wanted, m_.differs(high, 0));
}

/// In one of several spaces, or in memory that only the lane knows. The windows lie far from where
/// the low half of an address arrives when a distance is added to it and it wraps.
void RowQuestion::ask_alone(const Place& place) {
  const Pointer& p = place.pointer;
  const auto bytes = static_cast<uint32_t>(place.end - place.least);
  const Id from =
      m_.word(spv::OpIAdd, {m_.lo(place.address), m_.u(static_cast<uint32_t>(place.least))});
  const auto behind = [&](Id start) { return m_.word(spv::OpISub, {from, start}); };
  const Id start = p.start == spv::NoResult ? m_.u(p.address) : p.start;
  Id outside = at_least(behind(start), less_by(p.beyond, bytes - 1));
  const auto or_in = [&](uint32_t window, uint32_t size) {
    if (size < bytes) return;
    const Id beyond = at_least(behind(m_.u(window)), m_.u(size - bytes + 1));
    outside = m_.test(spv::OpLogicalAnd, {outside, beyond});
  };
  or_in(guest::kSharedWindow, p.shared);
  or_in(guest::kLocalWindow, p.local);
  const Id low = m_.word(spv::OpBitwiseAnd, {from, m_.u(place.align - 1)});
  const Id zero = m_.word(spv::OpBitwiseOr, {m_.hi(place.address), low});
  const Id set = m_.differs(zero, 0);
  doubt(place.wanted, m_.test(spv::OpLogicalOr, {outside, set}));
}

Id RowQuestion::ask() {
  // Rows that follow each other ask about the same places: in front, compilers keep the answer.
  for (size_t i = 0; i < places_.size(); ++i) {
    const Pointer& p = places_[i].pointer;
    if (p.start != spv::NoResult || p.shared != 0 || p.local != 0) {
      ask_alone(places_[i]);
      continue;
    }
    const bool before = std::any_of(places_.begin(), places_.begin() + static_cast<ptrdiff_t>(i),
                                    [&](const Place& p) { return alike(p, places_[i]); });
    if (!before) ask_places(places_[i]);
  }
  for (const Index& index : indices_) ask_index(index);
  for (size_t i = 0; i < indices_.size(); ++i) ask_high(i);
  return doubtful_;
}

}  // namespace lanewise::spirv
