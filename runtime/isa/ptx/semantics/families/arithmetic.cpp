// Arithmetic that is legal and does not run here.
#include "runtime/isa/ptx/table.hpp"

namespace lanewise::ptx {
namespace {

constexpr const char* kNarrowCarry = "carries of 16 bits and with saturation are not documented";
constexpr const char* kPairs = "pairs of .f32 are not supported";
constexpr const char* kMixed = "arithmetic of two float types is not supported";
constexpr const char* kUndocumented = "the assembler takes it, no document has it";
constexpr const char* kOob = "out-of-bounds values are not supported";
constexpr const char* kFloatRedux = "reductions of floats over a warp are not supported";
constexpr const char* kThree = "three sources are not supported";

constexpr Row kArithmeticRows[] = {
    Row{"fma", "rnd:rz|rm|rp ?relu+ type:bf16|bf16x2", "d s s s", nullptr, kUndocumented}.in(
        "80.70"),
    {"rcp", "rnd:$rnd ftz type:f64", "d s", nullptr, kUndocumented},
    {"testp", "type:f32|f64", "d:pred s", nullptr, kUndocumented},
    {"vshl", "dtype:u32|s32 atype:u32|s32 btype:u32 sat+ mode:clamp|wrap ?op2:add|min|max",
     "V:$dtype V:$atype V:$btype ?V&op2:$dtype", nullptr, kUndocumented},
    Row{"vset", "atype:u32|s32 btype:u32 cmp:lo|ls|hi|hs ?op2:add|min|max",
        "V:u32 V:$atype V:$btype ?V&op2:u32", nullptr, kUndocumented}
        .in("<70"),
    {"addc", "type:u16|s16", "d s s", nullptr, kNarrowCarry},
    {"subc", "type:u16|s16", "d s s", nullptr, kNarrowCarry},
    {"addc", "sat+ type:s32", "d s s", nullptr, kNarrowCarry},
    {"subc", "sat+ type:s32", "d s s", nullptr, kNarrowCarry},
    {"madc", "^part:lo|hi type:u16|s16", "d s s s", nullptr, kNarrowCarry},
    {"madc", "^part:hi sat+ type:s32", "d s s s", nullptr, kNarrowCarry},
    Row{"add", "?rnd:$rnd ?ftz type:f32x2", "d s s", nullptr, kPairs}.in("100.86"),
    Row{"sub", "?rnd:$rnd ?ftz type:f32x2", "d s s", nullptr, kPairs}.in("100.86"),
    Row{"mul", "?rnd:$rnd ?ftz type:f32x2", "d s s", nullptr, kPairs}.in("100.86"),
    Row{"fma", "rnd:$rnd ?ftz type:f32x2", "d s s s", nullptr, kPairs}.in("100.86"),
    Row{"add", "?rnd:$rnd ?sat+ dtype:f32 type:f16", "d:$dtype s s:$dtype", nullptr, kMixed}.in(
        "100.86"),
    Row{"sub", "?rnd:$rnd ?sat+ dtype:f32 type:f16", "d:$dtype s s:$dtype", nullptr, kMixed}.in(
        "100.86"),
    Row{"fma", "rnd:$rnd ?sat+ dtype:f32 type:f16", "d:$dtype s s s:$dtype", nullptr, kMixed}.in(
        "100.86"),
    // The assembler takes any integer of 16 bits for a bf16.
    Row{"add", "?rnd:$rnd ?sat+ dtype:f32 type:bf16", "d:$dtype s:u16 s:$dtype", nullptr, kMixed}
        .in("100.86"),
    Row{"sub", "?rnd:$rnd ?sat+ dtype:f32 type:bf16", "d:$dtype s:u16 s:$dtype", nullptr, kMixed}
        .in("100.86"),
    Row{"fma", "rnd:$rnd ?sat+ dtype:f32 type:bf16", "d:$dtype s:u16 s:u16 s:$dtype", nullptr,
        kMixed}
        .in("100.86"),
    Row{"fma", "rn oob ?relu+ type:f16|f16x2", "d s s s", nullptr, kOob}.in("90.81"),
    Row{"fma", "rnd:$rnd oob ?relu+ type:bf16|bf16x2", "d s s s", nullptr, kOob}.in("90.81"),
    Row{"min", "?ftz ?NaN+ ?abs type:f32", "d s s s", nullptr, kThree}.in("100.88"),
    Row{"max", "?ftz ?NaN+ ?abs type:f32", "d s s s", nullptr, kThree}.in("100.88"),
    Row{"redux", "sync+ op:min|max ?abs ?NaN+ type:f32", "d s s:u32", nullptr, kFloatRedux}.in(
        "=103.86"),
};

}  // namespace

std::span<const Row> arithmetic_rows() {
  return kArithmeticRows;
}

}  // namespace lanewise::ptx
