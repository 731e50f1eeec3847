// What the files of float operations share.
#pragma once

#include <functional>
#include <string>

#include "runtime/spirv/lane/emitter.hpp"

namespace lanewise::spirv {

inline constexpr uint32_t kF32 = bit(ir::Type::f32), kF64 = bit(ir::Type::f64);  ///< of NativeRow

inline bool is_wide(ir::Type type) {
  return type == ir::Type::f64;
}
/// The SPIR-V type of an f32 or f64.
Id float_type(LaneEmitter& e, ir::Type type);
/// A conversion that compilers may not drop together with the one that undoes it: they would take
/// the pair for nothing, and with it the rounding.
Id exact_conversion(LaneEmitter& e, spv::Op code, Id type, Id value);
/// A subnormal f32 (with other masks: f16) becomes the zero of its sign.
Id flush_subnormal(ModuleBuilder& m, Id bits, uint32_t exponent_bits = 0x7f800000,
                   uint32_t sign_bit = 0x80000000);
/// Source `index` as a float of that type, flushed when the instruction says so.
Id float_operand(LaneEmitter& e, size_t index, ir::Type type);
/// A float's bits after the instruction's flush and saturation; its NaN is canonical where seen.
Values finish_float(LaneEmitter& e, Id value);
/// finish_float for bits; `canonical`: a NaN among them is. `native`: a float instruction of the
/// device gave them, which flushes where the whole kernel does.
Id finish_bits(LaneEmitter& e, Id bits, bool canonical, bool native = false);
/// `quick` where `usual`, and what `slow` makes, flushed where the instruction says so, elsewhere.
Values quick_or_slow(LaneEmitter& e, Id usual, Id quick, const std::function<Id()>& slow);
/// The library's few steps for usual numbers (lw_NAME_usual_f32, where lw_NAME_is_usual_f32), which
/// give usual results; `slow` makes the bits of all others, flushed where the instruction says so.
Values quick_or_slow(LaneEmitter& e, const std::string& name, const Ids& args,
                     const std::function<Id()>& slow);

}  // namespace lanewise::spirv
