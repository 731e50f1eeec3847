#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "runtime/guest/unwritten.hpp"
#include "runtime/guest/validate.hpp"
#include "runtime/ir/integer.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/reference/memory/atomics.hpp"
#include "runtime/reference/memory/buffer_address.hpp"
#include "runtime/reference/memory/buffer_format.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {
namespace {

using ir::Op;
using ir::SReg;

/// Back edges after which a looping lane gives way, so that it may wait for its neighbours.
constexpr uint64_t kSlice = 4096;
constexpr uint64_t kLow32 = 0xffffffff;

bool lies_in(std::span<const std::byte> memory, const std::byte* at) {
  const std::less<> before;  // also of pointers into different arrays
  return !before(at, memory.data()) && before(at, memory.data() + memory.size());
}

uint64_t mask_below(uint32_t lane) {
  return (uint64_t{1} << lane) - 1;
}

}  // namespace

void Group::start_slice() {
  // Lanes that only wait for each other must not use up a budget each.
  slice_ = idle_ < request_.step_budget ? kSlice : ~uint64_t{0};
}

void Group::run_lane(Lane& lane) {
  start_slice();
  deadline_.check();
  for (;;) {
    const Code& code = program_.codes[lane.position];
    if (!(code.action >= Action::jump ? transfer(lane, code) : step(lane, code))) return;
  }
}

/// One instruction that is no terminator; true while the lane may go on.
inline bool Group::step(Lane& lane, const Code& code) {
  if (hook_ && !code.added) {
    hook_({{index_[0], index_[1], index_[2]},
           lane.linear,
           code.block,
           code.inst,
           {lane.r, request_.program->regs.size()}});
  }
  ++lane.clock;
  if (code.guarded && (lane.r[code.guard] != 0) == code.negate) {
    ++lane.position;
    return true;
  }
  if (code.event != 0 && request_.events != nullptr) {
    if (exact_) {
      lane.state = LaneState::at_access;
      return false;
    }
    note_event(lane, code);
  }
  switch (code.action) {
    case Action::wave:
      lane.state = LaneState::at_wave;
      return false;
    case Action::barrier:
      arrive(lane, code);
      return false;
    case Action::trap:
      record(lane, static_cast<FaultKind>(code.mode), code.site);
      end(lane);
      return false;
    case Action::report:
      record(lane, static_cast<FaultKind>(code.mode), code.site);
      break;
    case Action::load:
    case Action::store:
    case Action::atom:
      access_memory(lane, code);
      break;
    default:
      compute(lane, code);
  }
  ++lane.position;
  return true;
}

bool Group::step_in_wave(Lane& lane) {
  return step(lane, program_.codes[lane.position]);
}

bool Group::transfer(Lane& lane, const Code& code) {
  ++lane.clock;
  switch (code.action) {
    case Action::jump:
      return jump(lane, code, code.targets[0]);
    case Action::branch: {
      const bool taken = (lane.r[code.guard] != 0) != code.negate;
      return jump(lane, code, code.targets[taken ? 0 : 1]);
    }
    case Action::switch_: {
      const uint64_t selector = lane.r[code.s0] & kLow32;
      size_t i = 0;
      while (i < code.term->cases.size() && (code.term->cases[i] & kLow32) != selector) ++i;
      return jump(lane, code, code.targets[i]);
    }
    default:
      end(lane);
      return false;
  }
}

bool Group::jump(Lane& lane, const Code& code, uint32_t target) {
  const bool back = target <= lane.position;
  if (back && code.term->counts && !count_step(lane, code.site)) return false;
  lane.position = target;
  return !back || slice_goes_on();  // if not, it is still ready: it goes on in the next round
}

bool Group::count_step(Lane& lane, uint32_t site) {
  if (++lane.steps <= request_.step_budget) return true;
  record(lane, FaultKind::step_budget, site);
  abandoned_ = true;
  end(lane);
  return false;
}

bool Group::slice_goes_on() {
  deadline_.check();
  if (--slice_ != 0) return true;
  idle_ += kSlice;
  return false;
}

void Group::compute(Lane& lane, const Code& code) {
  uint64_t* r = lane.r;
  switch (code.action) {
    case Action::mov:
      r[code.d0] = r[code.s0];
      break;
    case Action::select:
      r[code.d0] = r[r[code.s0] != 0 ? code.s1 : code.s2];
      break;
    case Action::sreg:
      r[code.d0] = special_register(lane, static_cast<SReg>(code.mode));
      if (ir::width_of(code.type) != ir::Width::b64) r[code.d0] &= kLow32;
      break;
    case Action::narrow:
      narrow(code, r);
      break;
    case Action::add:
      r[code.d0] = (r[code.s0] + r[code.s1]) & code.result_mask;
      break;
    case Action::sub:
      r[code.d0] = (r[code.s0] - r[code.s1]) & code.result_mask;
      break;
    case Action::mul:
      r[code.d0] = (r[code.s0] * r[code.s1]) & code.result_mask;
      break;
    case Action::bit_and:
      r[code.d0] = r[code.s0] & r[code.s1];
      break;
    case Action::bit_or:
      r[code.d0] = r[code.s0] | r[code.s1];
      break;
    case Action::bit_xor:
      r[code.d0] = r[code.s0] ^ r[code.s1];
      break;
    case Action::integer:
      r[code.d0] =
          integer_op(code.op, code.type, code.mode, r[code.s0], r[code.s1], r[code.s2], r[code.s3]);
      break;
    case Action::carry: {
      const ir::WithCarry x =
          code.op == Op::addc ? add_carry(code.type, r[code.s0], r[code.s1], r[code.s2] != 0)
                              : subtract_borrow(code.type, r[code.s0], r[code.s1], r[code.s2] != 0);
      r[code.d0] = x.value;
      r[code.d1] = x.carry;
      break;
    }
    case Action::icmp:
      r[code.d0] = integer_compare(code.type, code.cond, r[code.s0], r[code.s1]);
      break;
    case Action::floating:
      r[code.d0] = float_op(code.op, code.type, code.flags, r[code.s0], r[code.s1], r[code.s2]);
      break;
    case Action::fcmp:
      r[code.d0] = float_compare(code.type, code.cond, code.flags.ftz, r[code.s0], r[code.s1]);
      break;
    case Action::convert:
      convert(code, r);
      break;
    case Action::buffer_address:
      buffer_address_of(lane, code);
      break;
    case Action::format:
      convert_format(lane, code);
      break;
    case Action::mask:
      if (code.op == Op::maskbit) {
        r[code.d0] = r[code.s0] >> lane.in_wave & 1;
      } else {
        const auto below = std::popcount(r[code.s0] & mask_below(lane.in_wave));
        r[code.d0] = (static_cast<uint64_t>(below) + r[code.s1]) & kLow32;
      }
      break;
    default:
      break;
  }
}

void Group::narrow(const Code& code, uint64_t* r) const {
  const uint64_t a = r[code.s0];
  switch (code.op) {
    case Op::pack64:
      r[code.d0] = (a & kLow32) | r[code.s1] << 32;
      break;
    case Op::unpack64:
      r[code.d0] = a & kLow32;
      r[code.d1] = a >> 32;
      break;
    case Op::sext64:
      r[code.d0] = static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)});
      break;
    case Op::zext64:
    case Op::trunc32:
      r[code.d0] = a & kLow32;
      break;
    case Op::zext8:
      r[code.d0] = a & 0xff;
      break;
    case Op::sext8:
      r[code.d0] = static_cast<uint32_t>(static_cast<int8_t>(a));
      break;
    case Op::zext16:
      r[code.d0] = a & 0xffff;
      break;
    default:
      r[code.d0] = static_cast<uint32_t>(static_cast<int16_t>(a));
      break;
  }
}

void Group::convert(const Code& code, uint64_t* r) const {
  const uint64_t a = r[code.s0];
  if (code.op == Op::f2f) {
    r[code.d0] = float_to_float(code.type, code.from, code.flags, a);
  } else if (code.op == Op::f2i) {
    r[code.d0] = float_to_integer(code.type, code.from, code.flags, a);
  } else {
    r[code.d0] = integer_to_float(code.type, code.from, code.flags, a);
  }
}

void Group::buffer_address_of(const Lane& lane, const Code& code) const {
  const auto word = [&](size_t i) { return static_cast<uint32_t>(lane.r[code.src[i]]); };
  const BufferAddress result = buffer_address(*code.buffer, {word(0), word(1), word(2), word(3)},
                                              {word(4), word(5), word(6), lane.in_wave});
  lane.r[code.d0] = result.address;
  lane.r[code.d1] = result.in_range;
}

void Group::convert_format(const Lane& lane, const Code& code) const {
  uint64_t* r = lane.r;
  const auto word = [&](size_t i) { return static_cast<uint32_t>(r[code.src[i]]); };
  if (code.op == Op::fmt_bytes) {
    r[code.d0] = format_bytes(word(0));
  } else if (code.op == Op::fmt_legal) {
    r[code.d0] = format_legal(word(0), code.mode);
  } else {
    const Texel in = {word(0), word(1), word(2), word(3)};
    const Texel out = code.op == Op::fmt_pack ? format_pack(in, word(4), code.mode)
                                              : format_unpack(in, word(4), word(5) != 0, code.mode);
    for (size_t n = 0; n < 4; ++n) r[code.dst[n]] = out[n];
  }
}

void Group::access_memory(Lane& lane, const Code& code) {
  move_bytes(lane, code, locate_access(lane, code).data);
}

Located Group::locate_access(Lane& lane, const Code& code) {
  const ir::Mem& mem = *code.mem;
  const uint64_t sum = lane.r[code.s0] + static_cast<uint64_t>(mem.offset);
  const bool is_load = code.action == Action::load;
  const Access access{mem.space,   code.wide_address ? sum : sum & kLow32,
                      mem.bytes(), mem.alignment(),
                      mem.align,   !is_load,
                      mem.pointer};
  const std::span<std::byte> local(local_.data() + size_t{lane.linear} * local_bytes_,
                                   local_bytes_);
  const Located at = locate(memory_, local, access);
  if (at.data == nullptr) {
    const bool known = mem.pointer < memory_.parameters.size();
    record(lane, {.kind = at.fault,
                  .site = code.site,
                  .address = at.address,
                  .size = access.bytes,
                  .parameter = known ? memory_.parameters[mem.pointer] : ir::kNone});
  }
  if (!written_.empty() && at.data != nullptr) check_written(lane, code, at);
  if (touch_) {
    touch_({{index_[0], index_[1], index_[2]},
            lane.linear,
            code.block,
            code.inst,
            mem.space,
            at.address,
            access.bytes,
            access.write,
            at.fault});
  }
  return at;
}

/// Reads of bytes that nobody wrote are faults that change nothing.
void Group::check_written(Lane& lane, const Code& code, const Located& at) {
  const ir::Mem& mem = *code.mem;
  const auto small =
      std::ranges::find_if(written_, [&](const Written& w) { return w.holds(at.data); });
  const bool in_arena = lies_in(memory_.arena, at.data) && request_.unwritten != nullptr;
  if (small == written_.end() && !in_arena) return;
  const auto written = [&](uint32_t first, uint32_t bytes) {
    return in_arena ? request_.unwritten->written(at.address + first, bytes)
                    : small->all(at.data + first, bytes);
  };
  const auto all_written = [&] {
    if (mem.used_bytes == 0xffffffff) return written(0, mem.bytes());
    for (uint32_t n = 0; n < mem.bytes(); ++n)
      if ((mem.used_bytes >> n & 1) != 0 && !written(n, 1)) return false;
    return true;
  };
  if (code.action != Action::store && !all_written())
    record(lane, {.kind = FaultKind::uninitialised,
                  .site = code.site,
                  .address = at.address,
                  .size = mem.bytes()});
  if (code.action == Action::load) return;
  const unsigned size = ir::size_of(mem.elem);
  for (uint32_t i = 0; i < mem.count; ++i) {
    if (code.action != Action::atom && code.src[1 + i] == ir::kNone) continue;
    if (in_arena)
      request_.unwritten->note(at.address + uint64_t{i} * size, size);
    else
      small->note(at.data + size_t{i} * size, size);
  }
}

/// Between registers and the bytes of the access; null when it faulted.
void Group::move_bytes(Lane& lane, const Code& code, std::byte* data) {
  const ir::Mem& mem = *code.mem;
  uint64_t* r = lane.r;
  if (mem.count == 1 && code.action == Action::load) {
    r[code.d0] =
        data != nullptr ? extend_element(mem.elem, read_little_endian(data, mem.bytes())) : 0;
  } else if (code.action == Action::store) {
    store_elements(code, r, data);
  } else {
    exchange_elements(code, r, data);
  }
}

/// A null pointer stands for a fault: nothing is written.
void Group::store_elements(const Code& code, const uint64_t* r, std::byte* data) {
  if (data == nullptr) return;
  const unsigned size = ir::size_of(code.mem->elem);
  for (uint32_t i = 0; i < code.mem->count; ++i) {
    const uint32_t value = code.src[1 + i];
    if (value != ir::kNone) write_little_endian(data + size_t{i} * size, size, r[value]);
  }
}

/// Vector loads and atomics.
void Group::exchange_elements(const Code& code, uint64_t* r, std::byte* data) {
  const ir::Mem& mem = *code.mem;
  const bool compares = mem.atom == ir::AtomOp::cas || mem.atom == ir::AtomOp::fcas;
  const unsigned size = ir::size_of(mem.elem);
  const uint32_t* values = code.src + 1;
  std::array<uint64_t, kMaxElements> old{};
  bool differs = false;  // cas of several elements stores all of them or none
  for (uint32_t i = 0; compares && i < mem.count && data != nullptr; ++i)
    differs = differs || read_little_endian(data + size_t{i} * size, size) != r[values[i]];
  for (uint32_t i = 0; i < mem.count && data != nullptr; ++i) {
    std::byte* element = data + size_t{i} * size;
    old[i] = read_little_endian(element, size);
    if (mem.count > 1 && compares && differs) continue;
    if (code.action == Action::load) {
      old[i] = extend_element(mem.elem, old[i]);
      continue;
    }
    const uint64_t b = ir::takes_two(mem.atom) ? r[values[mem.count + i]] : 0;
    write_little_endian(element, size, atomic_result(mem, code.flags, old[i], r[values[i]], b));
  }
  // Only now, because a destination may be a source of a later element.
  const auto results = static_cast<uint32_t>(code.src - code.dst);
  for (uint32_t i = 0; i < results; ++i) r[code.dst[i]] = old[i];
}

uint64_t Group::special_register(const Lane& lane, SReg reg) const {
  const Dim3& block = request_.block;
  const Dim3& grid = request_.grid;
  const uint64_t wave_mask = wave_lanes_ >= 64 ? ~uint64_t{0} : mask_below(wave_lanes_);
  const uint64_t below = mask_below(lane.in_wave), self = uint64_t{1} << lane.in_wave;
  switch (reg) {
    case SReg::tid_x:
      return lane.linear % block.x;
    case SReg::tid_y:
      return lane.linear / block.x % block.y;
    case SReg::tid_z:
      return lane.linear / block.x / block.y;
    case SReg::ntid_x:
      return block.x;
    case SReg::ntid_y:
      return block.y;
    case SReg::ntid_z:
      return block.z;
    case SReg::ctaid_x:
      return index_[0];
    case SReg::ctaid_y:
      return index_[1];
    case SReg::ctaid_z:
      return index_[2];
    case SReg::nctaid_x:
      return grid.x;
    case SReg::nctaid_y:
      return grid.y;
    case SReg::nctaid_z:
      return grid.z;
    case SReg::laneid:
      return lane.in_wave;
    case SReg::warpid:
      return lane.linear / wave_lanes_;
    case SReg::nwarpid:
      return waves_;
    case SReg::smid:
    case SReg::gridid:
      return 0;
    case SReg::nsmid:
      return 1;
    case SReg::lanemask_eq:
      return self;
    case SReg::lanemask_le:
      return below | self;
    case SReg::lanemask_lt:
      return below;
    case SReg::lanemask_ge:
      return wave_mask & ~below;
    case SReg::lanemask_gt:
      return wave_mask & ~below & ~self;
    case SReg::clock:
    case SReg::clock64:
    case SReg::globaltimer:
      return lane.clock;
    case SReg::clock_hi:
      return lane.clock >> 32;
    case SReg::dynamic_smem_size:
      return request_.dynamic_shared;
    case SReg::total_smem_size:
      return shared_.size();
    case SReg::param_base:
      return request_.param_address;
    case SReg::linear_tid:
      return lane.linear;
    case SReg::shared_window:
      return guest::kSharedWindow;
    case SReg::local_window:
      return guest::kLocalWindow;
    case SReg::written_map:
      return 0;  // for devices alone
  }
  return 0;
}

}  // namespace lanewise::reference
