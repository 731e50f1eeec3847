// May an access happen? The rules and their order: docs/execution.md. A check says yes or no; what
// was wrong the host finds out from the address. No sum can wrap: an offset is compared with the
// first one that is too large.
#include <bit>

#include <glslang/SPIRV/GLSL.std.450.h>

#include "runtime/guest/event_words.hpp"
#include "runtime/spirv/emitter.hpp"

namespace lanewise::spirv {

using ir::CheckMode;
using ir::Space;

namespace {

bool has(const ir::Inst& check, CheckMode bit) {
  return (check.mode & static_cast<uint8_t>(bit)) != 0;
}

}  // namespace

/// Limits in the arena are the same for all lanes and all accesses of one size: they are computed
/// once, where the lane's code begins.
void LaneEmitter::prepare_limits() {
  bool arena = false;
  for (const ir::Block& block : program_.blocks) {
    for (const ir::Inst& inst : block.insts) {
      if (inst.op != ir::Op::check && inst.op != ir::Op::load && inst.op != ir::Op::store &&
          inst.op != ir::Op::atom)
        continue;
      if (!guest::wide_space(inst.mem->space)) continue;
      arena = true;
      if (inst.op == ir::Op::check) limits_[inst.mem->bytes()] = spv::NoResult;
    }
  }
  if (arena && m_.int64()) {
    arena_ =
        m_.make64(push_word(guest::kPushArenaAddress), push_word(guest::kPushArenaAddress + 1));
  }
  const Id low = limits_.empty() ? spv::NoResult : push_word(guest::kPushArenaSize);
  for (auto& [bytes, limit] : limits_) {
    if (!options_.small_arena && m_.int64()) {
      // A large arena holds more than any access.
      const Id size = m_.make64(low, push_word(guest::kPushArenaSize + 1));
      limit = m_.op(spv::OpISub, m_.b64_type, {size, m_.b64(bytes - 1)});
    } else {
      const Id ends = add32(low, 1);
      const Id enough = m_.glsl(GLSLstd450UMax, m_.uint_type, {ends, m_.u(bytes)});
      limit = m_.op(spv::OpISub, m_.uint_type, {enough, m_.u(bytes)});
    }
  }
}

/// In a space of known size; NoResult = never.
Id LaneEmitter::outside_small(Id offset, uint64_t size, uint32_t bytes) {
  if (size < bytes) return m_.b(true);
  return m_.op(spv::OpUGreaterThan, m_.bool_type,
               {offset, m_.u(static_cast<uint32_t>(size - bytes))});
}

Id LaneEmitter::outside(const Place& place, Id address, uint32_t bytes) {
  const Space space = memory_space();
  if (space == Space::param) {
    const Id size = launch_word(kLaunchParamBytesWord);
    const Id ends = add32(size, 1);
    const Id enough = m_.glsl(GLSLstd450UMax, m_.uint_type, {ends, m_.u(bytes)});
    const Id limit = m_.op(spv::OpISub, m_.uint_type, {enough, m_.u(bytes)});
    return m_.op(spv::OpUGreaterThanEqual, m_.bool_type, {place.offset, limit});
  }
  if (space == Space::shared || space == Space::local)
    return outside_small(place.offset, space_bytes(space), bytes);
  const Id limit = limits_.at(bytes);
  Id out = m_.op(spv::OpUGreaterThanEqual, m_.bool_type, {place.offset, limit});
  if (options_.memcheck == Memcheck::alloc) {
    const Id allowed = library("lw_allocation_allows", m_.bool_type,
                               {address, m_.u(bytes), m_.b(has(*inst_, CheckMode::write))});
    out = m_.op(spv::OpLogicalOr, m_.bool_type,
                {out, m_.op(spv::OpLogicalNot, m_.bool_type, {allowed})});
  }
  if (place.window == spv::NoResult) return out;
  const auto in = [&](uint32_t window) {
    return m_.op(spv::OpIEqual, m_.bool_type, {place.window, m_.u(window)});
  };
  const bool atomic = has(*inst_, CheckMode::atomic);
  const Id low = options_.small_arena || !m_.int64() ? place.offset : m_.lo(place.offset);
  const Id out_shared = outside_small(low, space_bytes(Space::shared), bytes);
  const Id out_local = atomic ? m_.b(true) : outside_small(low, space_bytes(Space::local), bytes);
  return m_.select(in(1), out_shared, m_.select(in(2), out_local, out));
}

void LaneEmitter::emit_check() {
  const ir::Mem& mem = *inst_->mem;
  Id wanted = src_as(1, ir::Width::pred);
  if (has(*inst_, CheckMode::negate)) wanted = m_.op(spv::OpLogicalNot, m_.bool_type, {wanted});
  wanted = unless_stopped(wanted);
  const Id address = forced_address();
  const Place place = place_of(address);
  const uint32_t bytes = mem.bytes();
  const bool wide = guest::wide_space(mem.space);

  FaultPoint point{FaultKind::none, inst_->site, mem.space, bytes};
  point.write = has(*inst_, CheckMode::write);
  point.atomic = has(*inst_, CheckMode::atomic);
  if (mem.align == ir::AlignRule::trap) point.alignment = std::bit_ceil(mem.alignment());

  Id wrong = outside(place, address, bytes);
  if (point.write && mem.space == Space::param) wrong = m_.b(true);
  // What must be 0: the upper half of an address near the arena, and the bits below the alignment.
  Id zero = place.high;
  if (point.alignment > 1) {
    const Id low = m_.op(spv::OpBitwiseAnd, m_.uint_type,
                         {wide ? m_.lo(address) : address, m_.u(point.alignment - 1)});
    zero = zero == spv::NoResult ? low : m_.op(spv::OpBitwiseOr, m_.uint_type, {zero, low});
  }
  if (zero != spv::NoResult) {
    const Id set = m_.op(spv::OpINotEqual, m_.bool_type, {zero, m_.u(0)});
    wrong = m_.op(spv::OpLogicalOr, m_.bool_type, {wrong, set});
  }
  const Id fault = m_.op(spv::OpLogicalAnd, m_.bool_type, {wanted, wrong});
  state().note(fault, m_.u(state().points().number(point)), wide ? m_.lo(address) : address,
               wide ? m_.hi(address) : m_.u(0));
  set_results({m_.op(spv::OpLogicalAnd, m_.bool_type,
                     {wanted, m_.op(spv::OpLogicalNot, m_.bool_type, {wrong})})});
}

}  // namespace lanewise::spirv
