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
    {"fma@80.70", "rnd:rz|rm|rp ?relu+ type:bf16|bf16x2", "d s s s", kUndocumented},
    {"rcp", "rnd:$rnd ftz type:f64", "d s", kUndocumented},
    {"testp", "type:f32|f64", "d:pred s", kUndocumented},
    {"vshl", "dtype:u32|s32 atype:u32|s32 btype:u32 sat+ mode:clamp|wrap ?op2:add|min|max",
     "V:$dtype V:$atype V:$btype ?V&op2:$dtype", kUndocumented},
    {"vset@<70", "atype:u32|s32 btype:u32 cmp:lo|ls|hi|hs ?op2:add|min|max",
     "V:u32 V:$atype V:$btype ?V&op2:u32", kUndocumented},
    {"addc", "type:u16|s16", "d s s", kNarrowCarry},
    {"subc", "type:u16|s16", "d s s", kNarrowCarry},
    {"addc", "sat+ type:s32", "d s s", kNarrowCarry},
    {"subc", "sat+ type:s32", "d s s", kNarrowCarry},
    {"madc", "^part:lo|hi type:u16|s16", "d s s s", kNarrowCarry},
    {"madc", "^part:hi sat+ type:s32", "d s s s", kNarrowCarry},
    {"add@100.86", "?rnd:$rnd ?ftz type:f32x2", "d s s", kPairs},
    {"sub@100.86", "?rnd:$rnd ?ftz type:f32x2", "d s s", kPairs},
    {"mul@100.86", "?rnd:$rnd ?ftz type:f32x2", "d s s", kPairs},
    {"fma@100.86", "rnd:$rnd ?ftz type:f32x2", "d s s s", kPairs},
    {"add@100.86", "?rnd:$rnd ?sat+ dtype:f32 type:f16", "d:$dtype s s:$dtype", kMixed},
    {"sub@100.86", "?rnd:$rnd ?sat+ dtype:f32 type:f16", "d:$dtype s s:$dtype", kMixed},
    {"fma@100.86", "rnd:$rnd ?sat+ dtype:f32 type:f16", "d:$dtype s s s:$dtype", kMixed},
    // The assembler takes any integer of 16 bits for a bf16.
    {"add@100.86", "?rnd:$rnd ?sat+ dtype:f32 type:bf16", "d:$dtype s:u16 s:$dtype", kMixed},
    {"sub@100.86", "?rnd:$rnd ?sat+ dtype:f32 type:bf16", "d:$dtype s:u16 s:$dtype", kMixed},
    {"fma@100.86", "rnd:$rnd ?sat+ dtype:f32 type:bf16", "d:$dtype s:u16 s:u16 s:$dtype", kMixed},
    {"fma@90.81", "rn oob ?relu+ type:f16|f16x2", "d s s s", kOob},
    {"fma@90.81", "rnd:$rnd oob ?relu+ type:bf16|bf16x2", "d s s s", kOob},
    {"min@100.88", "?ftz ?NaN+ ?abs type:f32", "d s s s", kThree},
    {"max@100.88", "?ftz ?NaN+ ?abs type:f32", "d s s s", kThree},
    {"redux@=103.86", "sync+ op:min|max ?abs ?NaN+ type:f32", "d s s:u32", kFloatRedux},
};

}  // namespace

constinit Rows arithmetic_rows = kArithmeticRows;

}  // namespace lanewise::ptx
