// May an access happen? The rules and their order: docs/execution.md. A check says yes or no; what
// was wrong the host finds out from the address. No sum can wrap: an offset is compared with the
// first one that is too large.
#include <bit>

#include <spirv/unified1/GLSL.std.450.h>

#include "runtime/guest/event_words.hpp"
#include "runtime/spirv/lane/emitter.hpp"

namespace lanewise::spirv {

using namespace host_shader;

using ir::CheckMode;
using ir::Space;

/// Limits in the arena are the same for all lanes and all accesses of one size: they are computed
/// once, where the lane's code begins.
void LaneEmitter::prepare_limits() {
  bool arena = false;
  for (const ir::Block& block : program_.blocks) {
    for (const ir::Inst& inst : block.insts) {
      if (inst.op != ir::Op::check && inst.op != ir::Op::load && inst.op != ir::Op::store &&
          inst.op != ir::Op::atom)
        continue;
      if (!ir::wide_space(inst.mem->space) || inst.mem->space == Space::code) continue;
      arena = true;
      if (inst.op == ir::Op::check && !has(inst, CheckMode::unwritten))
        limits_[reach_of(inst)] = spv::NoResult;
      if (options_.imported && inst.mem->pointer != ir::kNone)
        bases_[inst.mem->pointer] = spv::NoResult;
    }
  }
  if (arena && m_.int64()) {
    arena_ =
        m_.make64(push_word(guest::kPushArenaAddress), push_word(guest::kPushArenaAddress + 1));
  }
  for (auto& [pointer, base] : bases_) {
    const uint32_t word = LAUNCH_POINTER_BASES + 2 * pointer;
    base = m_.make64(launch_word(word), launch_word(word + 1));
  }
  // Versions ask for them where something is in doubt, and there alone.
  if (shape_.versions) limits_.clear();
  for (auto& [reach, known] : limits_) known = limit(reach);
}

Id LaneEmitter::start(uint32_t pointer) {
  const auto read = [&] {
    return launch_size(LAUNCH_POINTERS + POINTER_WORDS * pointer + POINTER_START);
  };
  if (shape_.versions) return read();
  Id& start = starts_[pointer];
  if (start == spv::NoResult) start = read();
  return start;
}

Id LaneEmitter::limit(const Reach& reach) {
  if (const auto known = limits_.find(reach);
      known != limits_.end() && known->second != spv::NoResult)
    return known->second;
  if (reach.pointer == ir::kNone) {
    const Id low = push_word(guest::kPushArenaSize);
    return limit_of(reach.write      ? launch_size(LAUNCH_WRITABLE)
                    : wide_offsets() ? m_.make64(low, push_word(guest::kPushArenaSize + 1))
                                     : low,
                    reach.bytes);
  }
  start(reach.pointer);
  const uint32_t entry = LAUNCH_POINTERS + POINTER_WORDS * reach.pointer;
  return limit_of(launch_size(entry + (reach.write ? POINTER_WRITABLE : POINTER_READABLE)),
                  reach.bytes);
}

bool LaneEmitter::wide_offsets() const {
  return !options_.small_arena && m_.int64();
}

LaneEmitter::Reach LaneEmitter::reach_of(const ir::Inst& check) const {
  const uint32_t pointer = check.mem->pointer;
  const bool split = pointer != ir::kNone || options_.memcheck == Memcheck::arena;
  return {check.mem->bytes(), pointer, split && has(check, CheckMode::write)};
}

/// A size or offset of the launch block.
Id LaneEmitter::launch_size(uint32_t word) {
  const Id low = launch_word(word);
  return wide_offsets() ? m_.make64(low, launch_word(word + 1)) : low;
}

/// The first offset at which so many bytes do not lie in `size` any more.
Id LaneEmitter::limit_of(Id size, uint32_t bytes) {
  if (!wide_offsets()) {
    const Id enough = m_.glsl(GLSLstd450UMax, m_.uint_type, {add32(size, 1), m_.u(bytes)});
    return m_.word(spv::OpISub, {enough, m_.u(bytes)});
  }
  const Id ends = m_.op(spv::OpIAdd, m_.b64_type, {size, m_.b64(1)});
  const Id little = m_.test(spv::OpULessThan, {ends, m_.b64(bytes)});
  const Id enough = m_.select(little, m_.b64(bytes), ends);
  return m_.op(spv::OpISub, m_.b64_type, {enough, m_.b64(bytes)});
}

/// In a space of known size; NoResult = never.
Id LaneEmitter::outside_small(Id offset, uint64_t size, uint32_t bytes) {
  if (size < bytes) return m_.b(true);
  return m_.test(spv::OpUGreaterThan, {offset, m_.u(static_cast<uint32_t>(size - bytes))});
}

Id LaneEmitter::outside(const Place& place, Id address, uint32_t bytes) {
  const Space space = memory_space();
  if (space == Space::param) {
    const Id size = launch_word(kLaunchParamBytesWord);
    const Id ends = add32(size, 1);
    const Id enough = m_.glsl(GLSLstd450UMax, m_.uint_type, {ends, m_.u(bytes)});
    const Id limit = m_.word(spv::OpISub, {enough, m_.u(bytes)});
    return m_.test(spv::OpUGreaterThanEqual, {place.offset, limit});
  }
  if (space == Space::shared || space == Space::local)
    return outside_small(place.offset, space_bytes(space), bytes);
  const Reach reach = reach_of(*inst_);
  Id offset = place.offset;
  if (reach.pointer != ir::kNone) {
    // Below the start the difference wraps beyond every size.
    offset = m_.op(spv::OpISub, wide_offsets() ? m_.b64_type : m_.uint_type,
                   {offset, start(reach.pointer)});
  }
  Id out = m_.test(spv::OpUGreaterThanEqual, {offset, limit(reach)});
  if (searches_allocations(*inst_)) {
    const Id allowed = allocation_allows(address, bytes);
    out = m_.test(spv::OpLogicalOr, {out, m_.negated(allowed)});
  }
  if (place.window == spv::NoResult) return out;
  const auto in = [&](uint32_t window) { return m_.equals(place.window, window); };
  const bool atomic = has(*inst_, CheckMode::atomic);
  const Id low = options_.small_arena || !m_.int64() ? place.offset : m_.lo(place.offset);
  const Id out_shared = outside_small(low, space_bytes(Space::shared), bytes);
  const Id out_local = atomic ? m_.b(true) : outside_small(low, space_bytes(Space::local), bytes);
  return m_.select(in(1), out_shared, m_.select(in(2), out_local, out));
}

/// Does it lie in one? The one that was found is remembered where a question asks for it.
Id LaneEmitter::allocation_allows(Id address, uint32_t bytes) {
  const Id write = m_.b(has(*inst_, CheckMode::write));
  const auto asked = found_.find(inst_);
  Id found = slot_->found;
  if (asked != found_.end()) found = library("lw_allocation_found", m_.uint_type, {address});
  if (found == spv::NoResult)
    return library("lw_allocation_allows", m_.bool_type, {address, m_.u(bytes), write});
  const Id allowed =
      library("lw_allocation_holds", m_.bool_type, {address, m_.u(bytes), write, found});
  if (asked == found_.end()) return allowed;
  const Id span = library("lw_allocation_span", m_.uvec2_type, {found, write});
  const auto keep = [&](Id variable, unsigned word) {
    const Id before = m_.create_load(variable);
    const Id now = m_.extract(span, m_.uint_type, word);
    m_.create_store(m_.select(allowed, now, before), variable);
  };
  keep(asked->second.start, 0);
  keep(asked->second.bytes, 1);
  return allowed;
}

/// Nothing is known of the address: the list of allocations says whether it lies in one.
bool LaneEmitter::searches_allocations(const ir::Inst& check) const {
  return check.op == ir::Op::check && !has(check, CheckMode::unwritten) &&
         options_.memcheck == Memcheck::alloc && ir::wide_space(check.mem->space) &&
         check.mem->pointer == ir::kNone;
}

/// One search for all slots: compilers for CPUs take longest for loops, and a loop for each slot of
/// each access was most of what they had to do. Most launches need no step of it.
void LaneEmitter::find_allocations() {
  Ids addresses, found;
  in_slots([&](uint32_t) {
    addresses.push_back(forced_address());
    found.push_back(m_.create_variable(spv::StorageClassFunction, m_.uint_type));
    m_.create_store(library("lw_allocation_first", m_.uint_type, {addresses.back()}), found.back());
  });
  const Id size = m_.create_variable(spv::StorageClassFunction, m_.uint_type);
  m_.create_store(library("lw_allocation_first_step", m_.uint_type, {}), size);
  m_.repeat_while(
      [&] {
        const Id step = m_.create_load(size);
        return m_.differs(step, 0);
      },
      [&] {
        const Id step = m_.create_load(size);
        for (size_t n = 0; n < found.size(); ++n) {
          const Id before = m_.create_load(found[n]);
          m_.create_store(library("lw_allocation_step", m_.uint_type, {addresses[n], before, step}),
                          found[n]);
        }
        m_.create_store(m_.word(spv::OpShiftRightLogical, {step, m_.u(1)}), size);
      });
  in_slots([&](uint32_t n) { slot_->found = m_.create_load(found[n]); });
}

/// The map of written bytes was looked at before: where src1 holds, the access reads others.
void LaneEmitter::emit_unwritten() {
  const ir::Mem& mem = *inst_->mem;
  const Id address = forced_address();
  const bool wide = ir::wide_space(mem.space);
  FaultPoint point{FaultKind::uninitialised, inst_->site, mem.space, mem.bytes()};
  const Id fault = unless_stopped(src_as(1, ir::Width::pred));
  state().note(fault, m_.u(state().points().number(point)), wide ? m_.lo(address) : address,
               wide ? m_.hi(address) : m_.u(0));
  set_results({fault});
}

void LaneEmitter::emit_check() {
  if (has(*inst_, CheckMode::unwritten)) return emit_unwritten();
  const ir::Mem& mem = *inst_->mem;
  Id wanted = src_as(1, ir::Width::pred);
  if (has(*inst_, CheckMode::negate)) wanted = m_.negated(wanted);
  wanted = unless_stopped(wanted);
  const Id address = forced_address();
  const Place place = place_of(address);
  const uint32_t bytes = mem.bytes();
  const bool wide = ir::wide_space(mem.space);

  FaultPoint point{FaultKind::none, inst_->site, mem.space, bytes};
  point.write = has(*inst_, CheckMode::write);
  point.atomic = has(*inst_, CheckMode::atomic);
  point.pointer = mem.pointer;
  if (mem.align == ir::AlignRule::trap) point.alignment = std::bit_ceil(mem.alignment());

  Id wrong = outside(place, address, bytes);
  if (point.write && mem.space == Space::param) wrong = m_.b(true);
  // What must be 0: the upper half of an address near the arena, and the bits below the alignment.
  Id zero = place.high;
  if (point.alignment > 1) {
    const Id low =
        m_.word(spv::OpBitwiseAnd, {wide ? m_.lo(address) : address, m_.u(point.alignment - 1)});
    zero = zero == spv::NoResult ? low : m_.word(spv::OpBitwiseOr, {zero, low});
  }
  if (zero != spv::NoResult) {
    const Id set = m_.differs(zero, 0);
    wrong = m_.test(spv::OpLogicalOr, {wrong, set});
  }
  const Id fault = m_.test(spv::OpLogicalAnd, {wanted, wrong});
  state().note(fault, m_.u(state().points().number(point)), wide ? m_.lo(address) : address,
               wide ? m_.hi(address) : m_.u(0));
  set_results({m_.test(spv::OpLogicalAnd, {wanted, m_.negated(wrong)})});
}

}  // namespace lanewise::spirv
