// Where a guest address lies: from the operand to an offset in one of the memory spaces.
#include <algorithm>
#include <bit>

#include "runtime/guest/event_words.hpp"
#include "runtime/guest/validate.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/spirv/lane/emitter.hpp"

namespace lanewise::spirv {
namespace {

using ir::Space;
using ir::Width;

constexpr uint32_t kWindowShift = 24;
static_assert(guest::kSharedWindow == 1U << kWindowShift);
static_assert(guest::kLocalWindow == 2U << kWindowShift);
static_assert(guest::kWindowSize == 1U << kWindowShift);

}  // namespace

Id LaneEmitter::add64(Id value, uint64_t addend) {
  if (addend == 0) return value;
  if (m_.int64()) return m_.op(spv::OpIAdd, m_.b64_type, {value, m_.b64(addend)});
  return library("lw_add_u64", m_.b64_type, {value, m_.b64(addend)});
}
Id LaneEmitter::add32(Id value, uint32_t addend) {
  return addend == 0 ? value : m_.word(spv::OpIAdd, {value, m_.u(addend)});
}

/// SwiftShader reads the word that a compare-and-swap loop starts with for a whole wave at once,
/// and without asking whether any lane is active, when its compiler can compute the address: it
/// must not.
Id LaneEmitter::hide_address(Id address, Width width) {
  if (!is_retry_loop(*inst_) || m_.int64()) return address;
  const auto hidden = [&](Id low) { return m_.word(spv::OpBitwiseOr, {low, hidden_zero_}); };
  return width == Width::b64 ? m_.make64(hidden(m_.lo(address)), m_.hi(address)) : hidden(address);
}

/// The operand plus the instruction's offset: b64 or uint, as the space asks.
Id LaneEmitter::base_address() {
  const ir::Mem& mem = *inst_->mem;
  const ir::Operand& operand = inst_->src[0];
  const auto offset = static_cast<uint64_t>(mem.offset);
  const bool wide = ir::wide_space(mem.space);
  if (operand.is_imm()) {
    const Width place = wide ? Width::b64 : Width::b32;
    return hide_address(m_.constant(place, operand.imm + offset), place);
  }
  const Width width = operand.is_reg() ? program_.regs[operand.index].width : Width::b64;
  const Id value = hide_address(value_of(operand, width), width);
  if (width == Width::b64) {
    return wide ? add64(value, offset) : add32(m_.lo(value), static_cast<uint32_t>(offset));
  }
  // A 32-bit address wraps at 32 bits, then counts from zero.
  const Id sum = add32(value, static_cast<uint32_t>(offset));
  if (!wide) return sum;
  return m_.int64() ? m_.op(spv::OpUConvert, m_.b64_type, {sum}) : m_.make64(sum, m_.u(0));
}

/// The question in front of this version (emit_versions.cpp) was about the alignment, too.
bool LaneEmitter::is_aligned() const {
  return inst_->op != ir::Op::check && inst_->mem->checked && inst_->src.back().is_reg() &&
         std::ranges::find(allowed_, inst_->src.back().index) != allowed_.end();
}

/// The address of the access: low bits dropped where the rule says so.
Id LaneEmitter::forced_address() {
  const ir::Mem& mem = *inst_->mem;
  const Id address = base_address();
  const uint32_t low = std::bit_ceil(mem.alignment()) - 1;
  if (mem.align != ir::AlignRule::force || low == 0 || is_aligned()) return address;
  if (!ir::wide_space(mem.space)) return m_.word(spv::OpBitwiseAnd, {address, m_.u(~low)});
  if (m_.int64()) return m_.op(spv::OpBitwiseAnd, m_.b64_type, {address, m_.b64(~uint64_t{low})});
  const Id kept = m_.word(spv::OpBitwiseAnd, {m_.lo(address), m_.u(~low)});
  return m_.make64(kept, m_.hi(address));
}

/// Generic addresses can mean shared or local memory.
bool LaneEmitter::has_windows() const {
  return space_bytes(Space::shared) != 0 || space_bytes(Space::local) != 0;
}

/// The space that the access really is about. Constant memory lies in the arena, like global
/// memory.
Space LaneEmitter::memory_space() const {
  const Space space = inst_->mem->space;
  if (space == Space::constant || (space == Space::generic && !has_windows())) return Space::global;
  return space;
}

/// Of the small spaces.
uint64_t LaneEmitter::space_bytes(Space space) const {
  if (space == Space::local) return (uint64_t{program_.local_bytes} + 3) / 4 * 4;
  return guest::shared_bytes(program_, options_.dynamic_shared);
}

LaneEmitter::Place LaneEmitter::place_of(Id address) {
  Place place;
  const Space space = memory_space();
  if (!ir::wide_space(space) || space == Space::code) {
    place.offset = space == Space::code ? m_.lo(address) : address;
    return place;
  }
  const auto base = static_cast<uint32_t>(guest::kArenaBase);
  // Unchecked, or once it was checked, the high word does not matter.
  const bool known = options_.memcheck == Memcheck::off || quick_ != 0;
  if (known && inst_->op != ir::Op::check && options_.small_arena && space != Space::generic) {
    place.offset = m_.word(spv::OpISub, {m_.narrow_lo(address), m_.u(base)});
    return place;
  }
  const Id low = m_.lo(address);
  if (!options_.small_arena && m_.int64()) {
    place.offset = m_.op(spv::OpISub, m_.b64_type, {address, m_.b64(guest::kArenaBase)});
  } else {
    place.offset = m_.word(spv::OpISub, {low, m_.u(base)});
    place.high = m_.hi(address);
  }
  if (space != Space::generic) return place;
  const Id top = m_.word(spv::OpShiftRightLogical, {low, m_.u(kWindowShift)});
  const Id near = m_.equals(m_.hi(address), 0);
  const auto is = [&](uint32_t window) {
    const Id same = m_.equals(top, window);
    return m_.test(spv::OpLogicalAnd, {same, near});
  };
  const Id shared = is(1), local = is(2);
  place.window = m_.select(shared, m_.u(1), m_.select(local, m_.u(2), m_.u(0)));
  const Id any = m_.test(spv::OpLogicalOr, {shared, local});
  const Id inside = m_.word(spv::OpBitwiseAnd, {low, m_.u((1U << kWindowShift) - 1)});
  const bool wide = place.high == spv::NoResult;
  place.offset =
      m_.select(any, wide ? m_.op(spv::OpUConvert, m_.b64_type, {inside}) : inside, place.offset);
  return place;
}

/// With imported memory: of an access that leads into one allocation for sure; NoResult = it
/// has to be looked up.
Id LaneEmitter::window_base() const {
  if (!options_.imported || memory_space() != Space::global || inst_->mem->pointer == ir::kNone)
    return spv::NoResult;
  return bases_.at(inst_->mem->pointer);
}

/// What the library reaches the arena's byte `offset` with.
Id LaneEmitter::arena_pointer(Id offset) {
  if (!m_.int64()) return offset;
  if (options_.small_arena) offset = m_.op(spv::OpUConvert, m_.b64_type, {offset});
  if (options_.imported) return library("lw_device_address", m_.b64_type, {arena_, offset});
  return m_.op(spv::OpIAdd, m_.b64_type, {arena_, offset});
}

}  // namespace lanewise::spirv
