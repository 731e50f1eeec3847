// Special registers and GCN descriptor addressing.
#include <fmt/format.h>

#include "runtime/layout/addresses.hpp"
#include "runtime/spirv/lane/emitter.hpp"

namespace lanewise::spirv {
namespace {

using ir::SReg;

// Words of the launch block (shaders/INTERFACE.md).
constexpr uint32_t kGridWord = host_shader::LAUNCH_GRID,
                   kDynamicSharedWord = host_shader::LAUNCH_DYNAMIC_SHARED,
                   kParamWord = host_shader::LAUNCH_PARAM_ADDRESS,
                   kStaticSharedWord = host_shader::LAUNCH_STATIC_SHARED;

Id divide(ModuleBuilder& m, Id value, uint32_t by) {
  return by == 1 ? value : m.word(spv::OpUDiv, {value, m.u(by)});
}
Id modulo(ModuleBuilder& m, Id value, uint32_t by) {
  return by == 1 ? m.u(0) : m.word(spv::OpUMod, {value, m.u(by)});
}

Id thread_index(LaneEmitter& e, unsigned axis) {
  ModuleBuilder& m = e.module();
  const Dim3 block = e.options().block;
  switch (axis) {
    case 0:
      return block.y * block.z == 1 ? e.lane() : modulo(m, e.lane(), block.x);
    case 1:
      return modulo(m, divide(m, e.lane(), block.x), block.y);
    default:
      return divide(m, e.lane(), block.x * block.y);
  }
}

/// Masks of a 32-lane wave around this lane.
Id lane_mask(LaneEmitter& e, SReg which) {
  ModuleBuilder& m = e.module();
  const Id five = m.word(spv::OpBitwiseAnd, {e.lane_in_wave(), m.u(31)});
  const Id equal = m.word(spv::OpShiftLeftLogical, {m.u(1), five});
  const Id below = m.word(spv::OpISub, {equal, m.u(1)});
  const Id up_to = m.word(spv::OpBitwiseOr, {equal, below});
  switch (which) {
    case SReg::lanemask_eq:
      return equal;
    case SReg::lanemask_lt:
      return below;
    case SReg::lanemask_le:
      return up_to;
    case SReg::lanemask_ge:
      return m.word(spv::OpNot, {below});
    default:
      return m.word(spv::OpNot, {up_to});
  }
}

Id widen(ModuleBuilder& m, Id word) {
  return m.make64(word, m.u(0));
}

/// The flag word of lw_buffer_address (shaders/lib/memory/gcn_buffer.glsl).
uint32_t packed(const ir::BufferAccess& b) {
  return static_cast<uint32_t>(b.gen) | (b.idxen ? 4U : 0U) | (b.offen ? 8U : 0U) |
         (b.addr64 ? 16U : 0U) | (b.format_op ? 32U : 0U) | uint32_t{b.inst_offset} << 6 |
         uint32_t{b.element_offset} << 18 | uint32_t{b.payload_bytes} << 23 |
         (b.offset32 ? 1U << 28 : 0U) | (b.soffset_swizzled ? 1U << 29 : 0U);
}
bool fits(const ir::BufferAccess& b) {
  return b.inst_offset < 4096 && b.element_offset < 32 && b.payload_bytes < 32;
}

}  // namespace

Values LaneEmitter::buffer_address() {
  if (!inst_->buffer || !fits(*inst_->buffer)) unsupported("a buffer access out of its encoding");
  Ids args;
  for (size_t i = 0; i < 7; ++i) args.push_back(src(i));
  args.push_back(m_.u(packed(*inst_->buffer)));
  const Id result = library("lw_buffer_address", m_.uvec3_type, args);
  const Id low = m_.extract(result, m_.uint_type, 0);
  const Id high = m_.extract(result, m_.uint_type, 1);
  const Id in_range = m_.extract(result, m_.uint_type, 2);
  return {m_.make64(low, high), m_.differs(in_range, 0)};
}

/// Typed accesses: the library does the conversion, the mode is its last argument.
Values LaneEmitter::buffer_format() {
  Ids args;
  for (size_t i = 0; i < inst_->src.size(); ++i) args.push_back(src(i));
  if (inst_->op == ir::Op::srgb) return {library("lw_srgb", m_.uint_type, args)};
  args.push_back(m_.u(inst_->mode));
  switch (inst_->op) {
    case ir::Op::fmt_bytes:
      return {library("lw_fmt_bytes", m_.uint_type, args)};
    case ir::Op::fmt_legal:
      return {library("lw_fmt_legal", m_.bool_type, args)};
    default:
      break;
  }
  const bool pack = inst_->op == ir::Op::fmt_pack;
  const Id words = library(pack ? "lw_fmt_pack" : "lw_fmt_unpack", m_.uvec4_type, args);
  const auto word = [&](unsigned n) { return m_.extract(words, m_.uint_type, n); };
  const Id x = word(0), y = word(1), z = word(2), w = word(3);
  return {x, y, z, w};
}

Values LaneEmitter::special_register() {
  const auto reg = static_cast<SReg>(inst_->mode);
  const Dim3 block = options_.block;
  const bool wide = ir::width_of(inst_->type) == ir::Width::b64;
  const auto word = [&](Id value) { return Values{wide ? widen(m_, value) : value}; };
  const auto address = [&](uint64_t value) {
    return Values{m_.constant(ir::width_of(inst_->type), value)};
  };
  const uint32_t axis = inst_->mode % 3;
  if (reg <= SReg::tid_z) return word(thread_index(*this, axis));
  if (reg <= SReg::ntid_z) return word(m_.u(axis == 0 ? block.x : axis == 1 ? block.y : block.z));
  if (reg <= SReg::ctaid_z) return word(group(axis));
  if (reg <= SReg::nctaid_z) return word(launch_word(kGridWord + axis));
  switch (reg) {
    case SReg::laneid:
      return word(lane_in_wave());
    case SReg::warpid:
      return word(divide(m_, lane(), wave_lanes()));
    case SReg::nwarpid:
      return word(m_.u((shape_.lanes + wave_lanes() - 1) / wave_lanes()));
    case SReg::smid:
    case SReg::gridid:
      return word(m_.u(0));
    case SReg::nsmid:
      return word(m_.u(1));
    case SReg::lanemask_eq:
    case SReg::lanemask_le:
    case SReg::lanemask_lt:
    case SReg::lanemask_ge:
    case SReg::lanemask_gt:
      return word(lane_mask(*this, reg));
    case SReg::clock:
    case SReg::clock64:
    case SReg::globaltimer:
    case SReg::clock_hi: {
      const Id now = tick();
      if (wide) return {now};
      return {reg == SReg::clock_hi ? m_.hi(now) : m_.lo(now)};
    }
    case SReg::dynamic_smem_size:
      return word(launch_word(kDynamicSharedWord));
    case SReg::total_smem_size:
      return word(
          m_.word(spv::OpIAdd, {launch_word(kDynamicSharedWord), launch_word(kStaticSharedWord)}));
    case SReg::param_base: {
      const Id low = launch_word(kParamWord);
      return {wide ? m_.make64(low, launch_word(kParamWord + 1)) : low};
    }
    case SReg::linear_tid:
      return word(lane());
    case SReg::shared_window:
      return address(guest::kSharedWindow);
    case SReg::local_window:
      return address(guest::kLocalWindow);
    case SReg::written_map:
      return {m_.make64(launch_word(host_shader::LAUNCH_WRITTEN),
                        launch_word(host_shader::LAUNCH_WRITTEN + 1))};
    default:
      break;
  }
  unsupported(fmt::format("unknown special register {}", inst_->mode));
}

}  // namespace lanewise::spirv
