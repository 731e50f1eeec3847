// Float operations with few steps for usual numbers, on devices where a branch that is hardly ever
// taken costs next to nothing; all else takes the library's general functions. The bits are the
// same, but for the device's own functions.
#include <spirv/unified1/GLSL.std.450.h>

#include <bit>
#include <cmath>

#include "runtime/spirv/lane/emit_float.hpp"

namespace lanewise::spirv {
namespace {

using ir::Op;

constexpr const char* kExp2 = "lw_fex2";
constexpr const char* kLog2 = "lw_flg2";
constexpr const char* kSin = "lw_fsin";
constexpr const char* kCos = "lw_fcos";
constexpr const char* kDiv = "lw_fdiv";
constexpr const char* kRcp = "lw_frcp";
constexpr const char* kSqrt = "lw_fsqrt";
constexpr const char* kRsqrt = "lw_frsqrt";

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

Id by_library(LaneEmitter& e, const std::string& name, Id a) {
  return e.library(name + "_approx_f32", e.module().uint_type, {a, flags_of(e)});
}
/// Of operands that are not usual; powers with few steps where products are exact.
Id of_unusual(LaneEmitter& e, const std::string& name, Id a) {
  if (name != kExp2 || !sums_and_jumps(e)) return by_library(e, name, a);
  ModuleBuilder& m = e.module();
  const Id bits = e.library(name + "_unusual_f32", m.uint_type, {a});
  return e.inst().ftz ? flush_subnormal(m, bits) : bits;
}
template <const char* const& name>
Values approximate(LaneEmitter& e, spv::Op) {
  const Id a = e.src(0);
  return quick_or_slow(e, name, {a}, [&] { return of_unusual(e, name, a); });
}

/// The policy wants the device's function, which was seen inside the bounds.
template <bool Target::OwnFunctions::*seen>
bool has_own(const LaneEmitter& e) {
  return e.options().asks("float.approx", "device") && e.target().own.*seen &&
         !e.target().quirks.runs_both_sides;
}
Id as_float(LaneEmitter& e, Id bits) {
  return e.module().op(spv::OpBitcast, e.module().float_type, {bits});
}
/// Quotients and roots: where the library's are not the device's own, as fma is what is exact
/// there.
template <bool Target::OwnFunctions::*seen>
bool has_own_quotient(const LaneEmitter& e) {
  return has_own<seen>(e) && fuses_and_jumps(e) && !e.target().native_div;
}
template <int root, const char* const& name>
Values own_quotient(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  Ids args;
  for (size_t i = 0; i < e.inst().src.size(); ++i) args.push_back(e.src(i));
  const Id usual = e.library(std::string(name) + "_is_usual_f32", m.bool_type, args);
  Id value = spv::NoResult;
  if constexpr (root != 0) {
    value = m.glsl(root, m.float_type, {as_float(e, args[0])});
  } else {
    const Id above = args.size() == 2 ? args[0] : m.u(0x3f800000);
    value = m.op(spv::OpFDiv, m.float_type, {as_float(e, above), as_float(e, args.back())});
    m.add_decoration(value, spv::DecorationNoContraction);
  }
  return quick_or_slow(e, usual, m.word(spv::OpBitcast, {value}), [&, args]() mutable {
    for (Id& arg : args)
      if (e.inst().ftz) arg = flush_subnormal(m, arg);
    const Id bits = e.library(std::string(name) + "_fma_f32", m.uint_type, args);
    return e.inst().ftz ? flush_subnormal(m, bits) : bits;
  });
}
template <int function, const char* const& name>
Values own_function(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id a = e.src(0);
  const Id usual = e.library(std::string(name) + "_is_usual_f32", m.bool_type, {a});
  const Id value = m.glsl(function, m.float_type, {as_float(e, a)});
  Id quick = m.word(spv::OpBitcast, {value});
  if (function == GLSLstd450Sin) {  // small angles are their sines, -0 too
    const Id size = m.word(spv::OpBitwiseAnd, {a, m.u(0x7fffffff)});
    quick = m.select(m.test(spv::OpULessThan, {size, m.u(0x39000000)}), a, quick);
  }
  return quick_or_slow(e, usual, quick, [&] { return of_unusual(e, name, a); });
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

using Own = Target::OwnFunctions;
constexpr NativeRow kOwnRows[] = {
    {Op::fex2_approx, kF32, has_own<&Own::exp2>, own_function<GLSLstd450Exp2, kExp2>},
    {Op::flg2_approx, kF32, has_own<&Own::log2>, own_function<GLSLstd450Log2, kLog2>},
    {Op::fsin_approx, kF32, has_own<&Own::sin>, own_function<GLSLstd450Sin, kSin>},
    {Op::fcos_approx, kF32, has_own<&Own::cos>, own_function<GLSLstd450Cos, kCos>},
    {Op::fdiv_approx, kF32, has_own_quotient<&Own::div>, own_quotient<0, kDiv>},
    {Op::frcp_approx, kF32, has_own_quotient<&Own::rcp>, own_quotient<0, kRcp>},
    {Op::fsqrt_approx, kF32, has_own_quotient<&Own::sqrt>, own_quotient<GLSLstd450Sqrt, kSqrt>},
    {Op::frsqrt_approx, kF32, has_own_quotient<&Own::rsqrt>,
     own_quotient<GLSLstd450InverseSqrt, kRsqrt>},
};
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
  return quick_or_slow(e, usual, e.library(name + "_usual_f32", m.uint_type, args), slow);
}

Values quick_or_slow(LaneEmitter& e, Id usual, Id quick, const std::function<Id()>& slow) {
  ModuleBuilder& m = e.module();
  const Id result = m.create_variable(spv::StorageClassFunction, m.uint_type, "result");
  m.create_store(quick, result);
  e.when_unusual(usual, [&] { m.create_store(m.select(usual, quick, slow()), result); });
  const Id bits = m.create_load(result);
  if (e.inst().ftz) m.note_flushed(bits);
  return {finish_bits(e, bits, true)};
}

constinit NativeTable own_rows = kOwnRows;
constinit NativeTable quick_rows = kQuickRows;

}  // namespace lanewise::spirv
