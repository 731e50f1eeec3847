// Float operations with few steps for usual numbers, on devices where a branch that is hardly ever
// taken costs next to nothing; all else goes to the library's long way. The bits are the same.
#include <bit>
#include <cmath>

#include "runtime/spirv/lane/emit_float.hpp"

namespace lanewise::spirv {
namespace {

using ir::Op;

constexpr const char* kExp2 = "lw_fex2";
constexpr const char* kLog2 = "lw_flg2";

bool sums_and_jumps(const LaneEmitter& e) {
  const Target& t = e.target();
  return t.native_add && t.native_compare && !t.quirks.runs_both_sides;
}
bool fuses_and_jumps(const LaneEmitter& e) {
  return sums_and_jumps(e) && e.target().native_fma;
}

/// The library's word of rounding, flush and saturation; finish_bits saturates.
Id flags_of(LaneEmitter& e) {
  const ir::Inst& inst = e.inst();
  return e.module().u(static_cast<uint32_t>(inst.round) | (inst.ftz ? host_shader::FTZ : 0U));
}

template <const char* const& name>
Values approximate(LaneEmitter& e, spv::Op) {
  const Id a = e.src(0);
  return quick_or_slow(e, name, {a}, [&] {
    return e.library(std::string(name) + "_approx_f32", e.module().uint_type, {a, flags_of(e)});
  });
}

/// As an immediate of usual size; 0 where it is none.
double usual_size(const ir::Operand& operand) {
  if (!operand.is_imm()) return 0;
  const double size = std::abs(std::bit_cast<float>(static_cast<uint32_t>(operand.imm)));
  return size >= 0x1p-40 && size <= 0x1p100 ? size : 0;
}
/// What is added is surely far larger than the product, and no product is too small to be seen:
/// nvcc's exp and pow add a number from 0 to 252 to 3 * 2^22 in this way.
bool addend_dominates(LaneEmitter& e) {
  const ir::Inst& inst = e.inst();
  for (const size_t unit : {0, 1}) {
    const double factor = usual_size(inst.src[1 - unit]);
    if (e.module().is_unit(e.src(unit)) && factor >= 1 && 4 * factor <= usual_size(inst.src[2]))
      return true;
  }
  return false;
}

/// fma that does not round to nearest: the nearest number and the sign of what it is off.
Values fma_toward(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  Ids args;
  for (size_t i = 0; i < e.inst().src.size(); ++i)
    args.push_back(e.inst().ftz ? flush_subnormal(m, e.src(i)) : e.src(i));
  args.push_back(flags_of(e));
  if (addend_dominates(e)) {
    const Id bits = e.library("lw_ffma_toward_usual_f32", m.uint_type, args);
    m.note_flushed(bits);
    return {finish_bits(e, bits, true)};
  }
  return quick_or_slow(e, "lw_ffma_toward", args,
                       [&] { return e.library("lw_ffma_f32", m.uint_type, args); });
}
/// Ties away from zero are no direction.
bool has_direction(const LaneEmitter& e) {
  const ir::Round round = e.inst().round;
  return fuses_and_jumps(e) && round != ir::Round::rn && round != ir::Round::rna;
}

constexpr NativeRow kQuickRows[] = {
    {Op::ffma, kF32, has_direction, fma_toward},
    {Op::fex2_approx, kF32, sums_and_jumps, approximate<kExp2>},
    {Op::flg2_approx, kF32, sums_and_jumps, approximate<kLog2>},
};

}  // namespace

Values quick_or_slow(LaneEmitter& e, const std::string& name, const Ids& args,
                     const std::function<Id()>& slow) {
  ModuleBuilder& m = e.module();
  const Id usual = e.library(name + "_is_usual_f32", m.bool_type, args);
  const Id result = m.create_variable(spv::StorageClassFunction, m.uint_type, "result");
  const Id quick = e.library(name + "_usual_f32", m.uint_type, args);
  m.create_store(quick, result);
  e.when_unusual(usual, [&] { m.create_store(m.select(usual, quick, slow()), result); });
  const Id bits = m.create_load(result);
  if (e.inst().ftz) m.note_flushed(bits);
  return {finish_bits(e, bits, true)};
}

NativeTable quick_rows() {
  return {kQuickRows, std::size(kQuickRows)};
}

}  // namespace lanewise::spirv
