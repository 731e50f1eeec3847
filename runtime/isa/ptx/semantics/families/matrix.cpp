// Matrix units: the forms. What they become, and how their operands are judged, is in
// semantics/matrix.
#include "runtime/isa/ptx/semantics/matrix/matrix.hpp"
#include "runtime/isa/ptx/semantics/matrix/judge.hpp"
#include "runtime/isa/ptx/table.hpp"

namespace lanewise::ptx {
namespace {

constexpr const char* kMatrix = "matrix units of this generation are not supported";

constexpr const char* kSums = "sums by the policy mma.accumulate";

#define LW_MMA "sync+ aligned shape:"
#define LW_SP "^sp:sp|sp::ordered_metadata@.85 " LW_MMA
#define LW_ORDERED "^sp:sp::ordered_metadata " LW_MMA
#define LW_LAYOUT " alayout:row|col blayout:row|col "
#define LW_SHAPES "shape:m16n16k16|m8n32k16|m32n8k16|m16n16k8|m8n8k4|m8n8k32|m8n8k128 "
#define LW_SS "?ss:global|shared|shared::cta@.78 "

constexpr Row kMatrixRows[] = {
    // Half precision, bf16, tf32, double.
    {"mma@70.64", LW_MMA "m8n8k4" LW_LAYOUT "dtype:f16|f32 atype:f16 btype:f16 ctype:f16|f32",
     judge_mma, multiply_quads, kSums},
    {"mma@75.65", LW_MMA "m16n8k8" LW_LAYOUT "dtype:f16|f32 atype:f16 btype:f16 ctype:f16|f32",
     judge_mma, multiply_matrices, kSums},
    {"mma@80.70", LW_MMA "m16n8k16" LW_LAYOUT "dtype:f16|f32 atype:f16 btype:f16 ctype:f16|f32",
     judge_mma, multiply_matrices, kSums},
    {"mma@80.70", LW_MMA "m16n8k8|m16n8k16" LW_LAYOUT "dtype:f32 atype:bf16 btype:bf16 ctype:f32",
     judge_mma, multiply_matrices, kSums},
    {"mma@80.70", LW_MMA "m16n8k4|m16n8k8" LW_LAYOUT "dtype:f32 atype:tf32 btype:tf32 ctype:f32",
     judge_mma, multiply_matrices, kSums},
    {"mma@80.70", LW_MMA "m8n8k4" LW_LAYOUT "?rnd:$rnd dtype:f64 atype:f64 btype:f64 ctype:f64",
     judge_mma, multiply_matrices, kSums},
    {"mma@90.78",
     LW_MMA "m16n8k4|m16n8k8|m16n8k16" LW_LAYOUT
            "?rnd:$rnd dtype:f64 atype:f64 btype:f64 ctype:f64",
     judge_mma, multiply_matrices, kSums},
    // Integers.
    {"mma@75.65",
     LW_MMA "m8n8k16" LW_LAYOUT "?satfinite+ dtype:s32 atype:u8|s8 btype:u8|s8 ctype:s32",
     judge_mma, multiply_matrices},
    {"mma@80.70",
     LW_MMA "m16n8k16|m16n8k32" LW_LAYOUT "?satfinite+ dtype:s32 atype:u8|s8 btype:u8|s8 ctype:s32",
     judge_mma, multiply_matrices},
    {"mma@75.65",
     LW_MMA "m8n8k32" LW_LAYOUT "?satfinite+ dtype:s32 atype:u4|s4 btype:u4|s4 ctype:s32",
     judge_mma, multiply_matrices},
    {"mma@80.70",
     LW_MMA "m16n8k32|m16n8k64" LW_LAYOUT "?satfinite+ dtype:s32 atype:u4|s4 btype:u4|s4 ctype:s32",
     judge_mma, multiply_matrices},
    {"mma@75.70",
     LW_MMA "m8n8k128|m16n8k128@80.70|m16n8k256@80.70" LW_LAYOUT
            "dtype:s32 atype:b1 btype:b1 ctype:s32 op:xor|and@80.71 popc",
     judge_mma, multiply_matrices},
    // 8-bit floats and less.
    {"mma@89.84",
     LW_MMA "m16n8k16|m16n8k32" LW_LAYOUT "dtype:f32|f16 atype:$byte btype:$byte ctype:f32|f16",
     judge_mma, multiply_matrices, kSums},
    {"mma@100a.87",
     LW_MMA "m16n8k16|m16n8k32" LW_LAYOUT
            "kind:kind::f8f6f4|kind::mxf8f6f4 dtype:f32|f16 atype:$byte btype:$byte ctype:f32|f16",
     judge_mma, kMatrix},
    {"mma@=120.87",
     LW_MMA "m16n8k16@=4.87|m16n8k32" LW_LAYOUT
            "kind::f8f6f4 dtype:f32|f16 atype:$tiny btype:$tiny ctype:f32|f16",
     judge_mma, kMatrix},
    {"mma@=120.87",
     LW_MMA "m16n8k32" LW_LAYOUT "kind::mxf8f6f4 block_scale ?scale_vec::1X dtype:f32 atype:$tiny "
            "btype:$tiny ctype:f32 stype:ue8m0",
     judge_mma, kMatrix},
    {"mma@=120.87",
     LW_MMA
     "m16n8k64" LW_LAYOUT
     "kind::mxf4 block_scale ?scale_vec::2X dtype:f32 atype:e2m1 btype:e2m1 ctype:f32 stype:ue8m0",
     judge_mma, kMatrix},
    {"mma@=120.87",
     LW_MMA "m16n8k64" LW_LAYOUT "kind::mxf4nvf4 block_scale scale_vec::2X dtype:f32 atype:e2m1 "
            "btype:e2m1 ctype:f32 stype:ue8m0",
     judge_mma, kMatrix},
    {"mma@=120.87",
     LW_MMA "m16n8k64" LW_LAYOUT "kind::mxf4nvf4 block_scale scale_vec::4X dtype:f32 atype:e2m1 "
            "btype:e2m1 ctype:f32 stype:ue4m3",
     judge_mma, kMatrix},
    {"mma@=120.87",
     LW_ORDERED "m16n8k128" LW_LAYOUT "kind::mxf4nvf4 block_scale scale_vec::4X dtype:f32 "
                "atype:e2m1 btype:e2m1 ctype:f32 stype:ue4m3",
     judge_mma, kMatrix},
    // Sparse.
    {"mma@80.71",
     LW_SP "m16n8k16|m16n8k32" LW_LAYOUT "dtype:f16|f32 atype:f16 btype:f16 ctype:f16|f32",
     judge_mma, multiply_sparse, kSums},
    {"mma@80.71", LW_SP "m16n8k16|m16n8k32" LW_LAYOUT "dtype:f32 atype:bf16 btype:bf16 ctype:f32",
     judge_mma, multiply_sparse, kSums},
    {"mma@80.71", LW_SP "m16n8k8|m16n8k16" LW_LAYOUT "dtype:f32 atype:tf32 btype:tf32 ctype:f32",
     judge_mma, multiply_sparse, kSums},
    {"mma@80.71",
     LW_SP "m16n8k32|m16n8k64" LW_LAYOUT "?satfinite+ dtype:s32 atype:u8|s8 btype:u8|s8 ctype:s32",
     judge_mma, multiply_sparse},
    {"mma@80.71",
     LW_SP "m16n8k64|m16n8k128" LW_LAYOUT "?satfinite+ dtype:s32 atype:u4|s4 btype:u4|s4 ctype:s32",
     judge_mma, multiply_sparse},
    {"mma@89.84", LW_SP "m16n8k64" LW_LAYOUT "dtype:f32 atype:$byte btype:$byte ctype:f32",
     judge_mma, multiply_sparse, kSums},
    {"mma@=120.87", LW_ORDERED "m16n8k64" LW_LAYOUT "dtype:f16 atype:$byte btype:$byte ctype:f16",
     judge_mma, multiply_sparse, kSums},
    {"mma@=120.87",
     LW_ORDERED "m16n8k64" LW_LAYOUT
                "kind::f8f6f4 dtype:f32|f16 atype:$tiny btype:$tiny ctype:f32|f16",
     judge_mma, kMatrix},
    {"mma@=120.87",
     LW_ORDERED "m16n8k64" LW_LAYOUT "kind::mxf8f6f4 block_scale ?scale_vec::1X dtype:f32 "
                "atype:$tiny btype:$tiny ctype:f32 stype:ue8m0",
     judge_mma, kMatrix},
    {"mma@=120.87",
     LW_ORDERED
     "m16n8k128" LW_LAYOUT
     "kind::mxf4 block_scale ?scale_vec::2X dtype:f32 atype:e2m1 btype:e2m1 ctype:f32 stype:ue8m0",
     judge_mma, kMatrix},
    {"mma@=120.87",
     LW_ORDERED "m16n8k128" LW_LAYOUT "kind::mxf4nvf4 block_scale scale_vec::2X dtype:f32 "
                "atype:e2m1 btype:e2m1 ctype:f32 stype:ue8m0",
     judge_mma, kMatrix},

    {"wmma",
     "^load ^a sync+ aligned layout:row|col " LW_SHAPES LW_SS
     "type:f16|bf16|tf32|f64|s8|u8|s4|u4|b1",
     judge_wmma_load, wmma_load},
    {"wmma",
     "^load ^b sync+ aligned layout:row|col " LW_SHAPES LW_SS
     "type:f16|bf16|tf32|f64|s8|u8|s4|u4|b1",
     judge_wmma_load, wmma_load},
    {"wmma", "^load ^c sync+ aligned layout:row|col " LW_SHAPES LW_SS "type:f16|f32|f64|s32",
     judge_wmma_load, wmma_load},
    {"wmma", "^store ^d sync+ aligned layout:row|col " LW_SHAPES LW_SS "type:f16|f32|f64|s32",
     judge_wmma_store, wmma_store},
    {"wmma", "^mma sync+ aligned" LW_LAYOUT LW_SHAPES "dtype:f16|f32 ctype:f16|f32",
     judge_wmma_multiply, wmma_multiply, kSums},
    {"wmma",
     "^mma sync+ aligned" LW_LAYOUT LW_SHAPES "dtype:f32 atype:bf16|tf32 btype:bf16|tf32 ctype:f32",
     judge_wmma_multiply, wmma_multiply, kSums},
    {"wmma",
     "^mma sync+ aligned" LW_LAYOUT LW_SHAPES "?rnd:$rnd dtype:f64 atype:f64 btype:f64 ctype:f64",
     judge_wmma_multiply, wmma_multiply, kSums},
    {"wmma",
     "^mma sync+ aligned" LW_LAYOUT LW_SHAPES
     "dtype:s32 atype:s8|u8|s4|u4 btype:s8|u8|s4|u4 ctype:s32 ?satfinite+",
     judge_wmma_multiply, wmma_multiply, kSums},
    {"wmma@75.63",
     "^mma op:xor|and@80.71 popc sync+ aligned" LW_LAYOUT LW_SHAPES
     "dtype:s32 atype:b1 btype:b1 ctype:s32",
     judge_wmma_multiply, wmma_multiply},

    {"ldmatrix@75.65",
     "sync+ aligned shape:m8n8 num:x1|x2|x4|x8@.80 ?trans ?ss:shared|shared::cta@.78 type:b16",
     judge_ldmatrix, load_matrices},
    {"ldmatrix@100a.86",
     "sync+ aligned shape:m16n16 num:x1|x2|x8 trans ?ss:shared|shared::cta type:b8", judge_ldmatrix,
     kMatrix},
    {"ldmatrix@100a.86",
     "sync+ aligned shape:m16n16 num:x1|x2|x8 trans ?ss:shared|shared::cta dtype:b8x16 "
     "type:b6x16_p32|b4x16_p64",
     judge_ldmatrix, kMatrix},
    {"ldmatrix@100a.86",
     "sync+ aligned shape:m8n16 num:x1|x2|x4|x8 ?ss:shared|shared::cta dtype:b8x16 "
     "type:b6x16_p32|b4x16_p64",
     judge_ldmatrix, kMatrix},
    {"stmatrix@90.78",
     "sync+ aligned shape:m8n8 num:x1|x2|x4 ?trans ?ss:shared|shared::cta type:b16", judge_stmatrix,
     store_matrices},
    {"stmatrix@100a.86",
     "sync+ aligned shape:m16n8 num:x1|x2|x4 trans ?ss:shared|shared::cta type:b8", judge_stmatrix,
     kMatrix},
    {"movmatrix@75.78", "sync+ aligned shape:m8n8 trans type:b16", "d:b32 r:b32", move_matrix},
};

}  // namespace

constinit Rows matrix_rows = kMatrixRows;

}  // namespace lanewise::ptx
