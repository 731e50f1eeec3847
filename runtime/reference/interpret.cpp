// One lane's part of an instruction that touches registers alone: as literal as possible. The
// common ones have handlers for whole waves (lanes/), with the same results.
#include <bit>

#include "runtime/ir/integer.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/layout/lane_clock.hpp"
#include "runtime/reference/memory/buffer_address.hpp"
#include "runtime/reference/memory/buffer_format.hpp"
#include "runtime/reference/numbers/dot.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {
namespace {

using ir::Op;
using ir::SReg;

}  // namespace

void Group::compute(Lane lane, const Code& code) {
  const auto source = [&](uint32_t n) {
    return n < code.sources ? lane.get(code.src[n]) : uint64_t{0};
  };
  const auto word = [&](uint32_t n) { return static_cast<uint32_t>(source(n)); };
  const auto result = [&](uint32_t n, uint64_t value) {
    if (n < code.results) lane.set(code.dst[n], value);
  };
  const uint64_t a = source(0), b = source(1), c = source(2), d = source(3);
  switch (code.action) {
    case Action::sreg:
      return result(0, special_register(lane, code));
    case Action::integer:
      return result(0, integer_op(code.op, code.type, code.mode, a, b, c, d));
    case Action::carry: {
      const ir::WithCarry x = code.op == Op::addc ? add_carry(code.type, a, b, c != 0)
                                                  : subtract_borrow(code.type, a, b, c != 0);
      result(0, x.value);
      return result(1, x.carry);
    }
    case Action::icmp:
      return result(0, integer_compare(code.type, code.cond, a, b));
    case Action::floating:
      return result(0, float_op(code.op, code.type, code.flags, a, b, c));
    case Action::fcmp:
      return result(0, float_compare(code.type, code.cond, code.flags.ftz, a, b));
    case Action::convert:
      if (code.op == Op::f2f) return result(0, float_to_float(code.type, code.from, code.flags, a));
      return result(0, code.op == Op::f2i ? float_to_integer(code.type, code.from, code.flags, a)
                                          : integer_to_float(code.type, code.from, code.flags, a));
    case Action::buffer_address: {
      const BufferAddress at = buffer_address(*code.buffer, {word(0), word(1), word(2), word(3)},
                                              {word(4), word(5), word(6), lane.i});
      result(0, at.address);
      return result(1, at.in_range);
    }
    case Action::format: {
      if (code.op == Op::fmt_bytes) return result(0, format_bytes(word(0)));
      if (code.op == Op::fmt_legal) return result(0, format_legal(word(0), code.mode));
      if (code.op == Op::srgb) return result(0, srgb_to_float(word(0)));
      const Texel in = {word(0), word(1), word(2), word(3)};
      const Texel out = code.op == Op::fmt_pack
                            ? format_pack(in, word(4), code.mode)
                            : format_unpack(in, word(4), word(5) != 0, code.mode);
      for (uint32_t n = 0; n < 4; ++n) result(n, out[n]);
      return;
    }
    case Action::dot: {
      DotWords left{}, right{};
      for (uint32_t i = 0; i < ir::kDotWords; ++i) {
        left[i] = word(2 + i);
        right[i] = word(2 + ir::kDotWords + i);
      }
      return result(0, dot(code.type, code.mode, ir::dot_rule(static_cast<uint32_t>(b)),
                           code.flags.sat, static_cast<uint32_t>(a), left, right));
    }
    case Action::mask: {
      if (code.op == Op::maskbit) return result(0, a >> lane.i & 1);
      const auto below = std::popcount(a & lowest(lane.i));
      return result(0, (static_cast<uint64_t>(below) + b) & 0xffffffff);
    }
    default:
      break;
  }
}

/// Instructions, and more where the lane waits for the clock.
uint64_t Group::read_clock(uint32_t lane) const {
  constexpr uint64_t kUsual = guest::lane_clock(guest::kClockReads);
  const uint64_t waited = guest::lane_clock(clock_reads_[lane]++);
  // Its clock goes faster from here on: those that it may wait for come first.
  if (clock_reads_[lane] % guest::kClockReads == 0) slice_ = std::min<uint64_t>(slice_, 1);
  return clocks_[lane] + (std::max(waited, kUsual) - kUsual);
}

uint64_t Group::special_register(Lane lane, const Code& code) const {
  const auto reg = static_cast<SReg>(code.mode);
  const Dim3& block = request_.block;
  const Dim3& grid = request_.grid;
  const uint64_t wave_mask = lowest(wave_lanes_);
  const uint64_t below = lowest(lane.i), self = uint64_t{1} << lane.i;
  if (reg <= SReg::nctaid_z) {
    const auto n = static_cast<uint32_t>(reg), axis = n % 3, linear = lane.linear();
    const uint32_t lanes[] = {block.x, block.y, block.z}, groups[] = {grid.x, grid.y, grid.z};
    if (reg >= SReg::nctaid_x) return groups[axis];
    if (reg >= SReg::ctaid_x) return index_[axis];
    if (reg >= SReg::ntid_x) return lanes[axis];
    const uint32_t row = axis == 0   ? linear
                         : axis == 1 ? linear / block.x
                                     : linear / block.x / block.y;
    return axis == 2 ? row : row % lanes[axis];
  }
  switch (reg) {
    case SReg::laneid:
      return lane.i;
    case SReg::warpid:
      return lane.linear() / wave_lanes_;
    case SReg::nwarpid:
      return waves_.size();
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
      return read_clock(lane.linear());
    case SReg::clock_hi:
      return read_clock(lane.linear()) >> 32;
    case SReg::dynamic_smem_size:
      return request_.dynamic_shared;
    case SReg::total_smem_size:
      return shared_.size() - request_.program->reserved_shared;
    case SReg::param_base:
      return request_.param_address;
    case SReg::linear_tid:
      return lane.linear();
    case SReg::shared_window:
      return guest::kSharedWindow;
    case SReg::local_window:
      return guest::kLocalWindow;
    default:  // one multiprocessor, one grid; the written map is for devices alone
      return 0;
  }
}

}  // namespace lanewise::reference
