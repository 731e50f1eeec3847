// Matrix units: which shapes belong to which types, and how many registers a part takes. What they
// become is in semantics/matrix.
#include <algorithm>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/matrix/matrix.hpp"
#include "runtime/isa/ptx/table.hpp"

namespace lanewise::ptx {
namespace {

using legal::Context;
using legal::Fit;
using legal::Symbol;
using legal::Type;
using K = Operand::Kind;

constexpr Type kWord{Type::Class::bits, 32};
constexpr Type kB16{Type::Class::bits, 16};
constexpr Type kF64{Type::Class::flt, 64};
constexpr Type kS32{Type::Class::sint, 32};

using Shape = MatrixShape;

unsigned element_bits(std::string_view type) {
  return MatrixType{type}.bits();
}

/// Registers of a lane for `elements` of a matrix: 32 lanes hold them.
unsigned registers(unsigned elements, unsigned bits) {
  return elements * bits / (bits == 64 ? 2048 : 1024);
}

/// Which registers of 32 bits hold a fragment, beside `.b32` ones.
enum class Beside : uint8_t { none, halves, floats, integers, all };

bool holds(Beside beside, const Type& reg) {
  switch (beside) {
    case Beside::halves:
      return reg.packed;
    case Beside::floats:
      return reg.is_float() && !reg.packed;
    case Beside::integers:
      return reg.is_int();
    case Beside::all:
      return true;
    default:
      return false;
  }
}

Beside of_sums(std::string_view type) {
  return type == "f16" ? Beside::halves : type == "s32" ? Beside::integers : Beside::floats;
}

/// Of wmma; `loads`: of its loads.
Beside of_factors(std::string_view type, bool loads) {
  if (type == "f16") return Beside::halves;
  if (type == "bf16" || type == "tf32") return Beside::none;
  return loads && element_bits(type) < 8 ? Beside::all : Beside::integers;
}

/// `type` of its elements. Pairs and more of them are in words.
void fragment(Context& c, size_t i, std::string_view type, Beside beside, unsigned n, bool reads) {
  const Operand& o = c.in.operands[i];
  if (o.kind != K::vector) {
    c.error(o, found_text(o, c.symbol(o)) + ", a vector was expected");
    return;
  }
  c.vector_of(o, type == "f64" ? kF64 : kWord, n, Fit::exact, reads, false);
  for (const Operand& e : o.elements) {
    const Symbol s = c.symbol(e);
    if (e.kind != K::name) {
      c.error(e, found_text(e, s) + ", a register was expected");
    } else if (type != "f64" && s.kind == Symbol::Kind::reg && !s.type.is_untyped() &&
               !holds(beside, s.type)) {
      c.error(e, found_text(e, s) + " with `." + std::string(type) + "`, " +
                     (beside == Beside::halves     ? ".b32 or .f16x2"
                      : beside == Beside::floats   ? ".b32 or .f32"
                      : beside == Beside::integers ? ".b32, .s32 or .u32"
                                                   : ".b32") +
                     " was expected");
    }
  }
}

std::string dotted(std::string_view name) {
  return "`." + std::string(name) + "`";
}

// --- mma
// ------------------------------------------------------------------------------------------

void layouts(Context& c, bool free) {
  if (!free && (c.get("alayout") != "row" || c.get("blayout") != "col"))
    c.error("`." + std::string(c.get("alayout")) + "." + std::string(c.get("blayout")) +
            "` with this shape, `.row.col` was expected");
}

void multiply(Context& c) {
  const std::string_view atype = c.get("atype"), dtype = c.get("dtype"), ctype = c.get("ctype");
  const Shape s = matrix_shape(c.get("shape"));
  const bool sparse = c.has("sp"), quads = s.k == 4 && atype == "f16";
  const bool scaled = c.has("block_scale");
  layouts(c, quads);
  if (!quads && dtype != ctype)
    c.error(dotted(dtype) + " from sums of " + dotted(ctype) + ", one type was expected");
  if (quads && dtype == "f16" && ctype != "f16")
    c.error("`.f16` from sums of `.f32`, `.f32` was expected");
  const size_t least = sparse ? 6 : 4;
  const size_t most = least + (scaled ? 4 : 0);
  if (!c.count(most, most)) return;
  const unsigned bits = scaled && s.k >= (sparse ? 128U : 64U) ? 4 : element_bits(atype);
  const bool small = bits < 16, short_rows = s.m == 8 && bits == 8;
  const Beside factors = small && !short_rows       ? Beside::all
                         : sparse && atype != "f16" ? Beside::all
                                                    : of_factors(atype, false);
  const Beside sums = sparse && !small && dtype == "f32" ? Beside::all : of_sums(dtype);
  fragment(c, 0, dtype, sums,
           quads ? (dtype == "f16" ? 4 : 8) : registers(s.m * s.n, element_bits(dtype)), false);
  fragment(c, 1, atype, factors, quads ? 2 : registers(s.m * s.k, bits) / (sparse ? 2 : 1), true);
  // The newer assembler takes pairs of 8-bit factors for the small shape, too.
  const bool spare =
      bits == 8 && s.k == 16 && c.type("dtype").is_float() && c.in.operands[2].elements.size() == 2;
  fragment(c, 2, atype, factors, quads || spare ? 2 : registers(s.n * s.k, bits), true);
  fragment(c, 3, ctype, quads ? of_sums(ctype) : sums,
           quads ? (ctype == "f16" ? 4 : 8) : registers(s.m * s.n, element_bits(ctype)), true);
  if (sparse) {
    c.register_of(c.in.operands[4], kWord, Fit::exact);
    const Operand* selector = c.literal(5, "a constant selector");
    const bool wide = bits >= 16, whole = s.k * bits == 512;
    const unsigned groups = atype == "f16" || (wide && !whole) ? 4 : wide || !whole ? 2 : 1;
    if (selector && selector->bits >= groups)
      c.error(*selector, "a selector of " + std::to_string(selector->bits) + ", below " +
                             std::to_string(groups) + " was expected");
  }
  for (size_t i = least; i + 1 < most && scaled; i += 2) {
    c.register_of(c.in.operands[i], kWord, Fit::exact);
    const Operand& ids = c.in.operands[i + 1];
    c.vector_of(ids, kB16, 2, Fit::exact, true, false);
    for (const Operand& id : ids.elements)
      if (id.kind == K::integer && id.bits > 3) c.error(id, "a number above 3, less was expected");
  }
}

// --- wmma
// -----------------------------------------------------------------------------------------

/// Which shapes a type of factors has.
bool has_shape(std::string_view type, std::string_view shape) {
  if (type == "tf32") return shape == "m16n16k8";
  if (type == "f64") return shape == "m8n8k4";
  if (type == "s4" || type == "u4") return shape == "m8n8k32";
  if (type == "b1") return shape == "m8n8k128";
  return shape == "m16n16k16" || shape == "m8n32k16" || shape == "m32n8k16";
}

bool is_small(std::string_view type) {
  return type == "s4" || type == "u4" || type == "b1";
}

void wrong_shape(Context& c, std::string_view type) {
  if (!has_shape(type, c.get("shape")))
    c.error(dotted(c.get("shape")) + " with " + dotted(type) + ", another shape was expected");
}

/// f16 factors stand in eight words whatever the shape.
unsigned factor_registers(std::string_view type, unsigned elements) {
  return type == "f16" ? 8 : registers(elements, element_bits(type));
}

void factor_gate(Context& c, std::string_view type, std::string_view shape) {
  if (type == "f16")
    c.need(70, shape == "m16n16k16" ? 60 : 61, "`wmma`");
  else if (type == "s8" || type == "u8")
    c.need(72, 63, dotted(type));
  else if (is_small(type))
    c.need(75, 63, dotted(type));
  else
    c.need(80, 70, dotted(type));
}

void sum_gate(Context& c, std::string_view type, std::string_view shape) {
  if (shape == "m16n16k8" || type == "f64")
    c.need(80, 70, dotted(shape));
  else if (type == "s32")
    c.need(shape.starts_with("m8n8") ? 75 : 72, 63, dotted(type));
  else
    c.need(70, shape == "m16n16k16" ? 60 : 61, "`wmma`");
}

void sum_shape(Context& c, std::string_view type, std::string_view shape) {
  const bool fine = type == "f64"   ? shape == "m8n8k4"
                    : type == "s32" ? shape != "m8n8k4" && shape != "m16n16k8"
                    : type == "f32" ? !shape.starts_with("m8n8")
                                    : shape.ends_with("k16");
  if (!fine) c.error(dotted(shape) + " with " + dotted(type) + ", another shape was expected");
}

void stride(Context& c, size_t i) {
  if (c.in.operands.size() > i) c.value_of(c.in.operands[i], kS32, Fit::exact);
}

void judge_load(Context& c) {
  const std::string_view type = c.get("type"), shape = c.get("shape");
  const Shape s = matrix_shape(shape);
  const bool a = c.has("a"), sum = c.has("c");
  sum ? sum_gate(c, type, shape) : factor_gate(c, type, shape);
  if (sum) sum_shape(c, type, shape);
  if (!sum) wrong_shape(c, type);
  if (!sum && is_small(type) && c.get("layout") != (a ? "row" : "col"))
    c.error(dotted(c.get("layout")) + " with " + dotted(type) + ", the other layout was expected");
  if (!c.count(2, 3)) return;
  const unsigned n = sum ? registers(s.m * s.n, element_bits(type))
                         : factor_registers(type, (a ? s.m : s.n) * s.k);
  fragment(c, 0, type, sum ? of_sums(type) : of_factors(type, true), n, false);
  c.near_address(1, c.get("ss"));
  stride(c, 2);
}

void judge_store(Context& c) {
  const std::string_view type = c.get("type"), shape = c.get("shape");
  const Shape s = matrix_shape(shape);
  sum_gate(c, type, shape);
  sum_shape(c, type, shape);
  if (!c.count(2, 3)) return;
  c.near_address(0, c.get("ss"));
  fragment(c, 1, type, of_sums(type), registers(s.m * s.n, element_bits(type)), true);
  stride(c, 2);
}

void judge_multiply(Context& c) {
  const std::string_view dtype = c.get("dtype"), ctype = c.get("ctype"), shape = c.get("shape");
  const std::string_view type = c.has("atype") ? c.get("atype") : "f16";
  const Shape s = matrix_shape(shape);
  factor_gate(c, type, shape);
  wrong_shape(c, type);
  if (c.has("btype") && c.get("btype") != type)
    c.error(dotted(c.get("btype")) + " with " + dotted(type) + ", one type was expected");
  layouts(c, !is_small(type));
  if (!c.count(4, 4)) return;
  fragment(c, 0, dtype, of_sums(dtype), registers(s.m * s.n, element_bits(dtype)), false);
  fragment(c, 1, type, of_factors(type, false), factor_registers(type, s.m * s.k), true);
  fragment(c, 2, type, of_factors(type, false), factor_registers(type, s.n * s.k), true);
  fragment(c, 3, ctype, of_sums(ctype), registers(s.m * s.n, element_bits(ctype)), true);
}

// --- matrices in shared memory
// --------------------------------------------------------------------

unsigned matrices(Context& c) {
  const std::string_view num = c.get("num");
  return static_cast<unsigned>(num[1] - '0');
}

void shared_matrix(Context& c, size_t at, size_t data, unsigned n, bool reads) {
  if (!c.count(2, 2)) return;
  const Operand& o = c.in.operands[data];
  // The newer assembler does not count the elements of `.x8`, which the manual does not have.
  const bool free = c.get("num") == "x8";
  if (free && o.kind != K::vector) {
    c.register_of(o, kWord, Fit::exact);
  } else {
    fragment(c, data, "b16", Beside::all, free ? static_cast<unsigned>(o.elements.size()) : n,
             reads);
  }
  c.near_address(at, c.get("ss"));
}

void load_matrix(Context& c) {
  const unsigned n = matrices(c);
  shared_matrix(c, 1, 0, c.get("shape") == "m16n16" ? 2 * n : n, false);
}
void store_matrix(Context& c) {
  shared_matrix(c, 0, 1, matrices(c), true);
}

constexpr const char* kMatrix = "matrix units of this generation are not supported";

/// Judged, and refused by name.
constexpr Row row(const char* opcode, const char* pattern, legal::Rule rule, const char* gate) {
  return Row{opcode, pattern, nullptr, nullptr, kMatrix}.with(rule).in(gate);
}
constexpr Row row(const char* opcode, const char* pattern, legal::Rule rule, const char* gate,
                  LowerFn lower, const char* note = "") {
  return Row{opcode, pattern, nullptr, lower, note, nullptr, isa::Claim::effect}.with(rule).in(
      gate);
}
constexpr const char* kSums = "sums by the policy mma.accumulate";

#define LW_MMA "sync+ aligned shape:"
#define LW_SP "^sp:sp|sp::ordered_metadata@.85 " LW_MMA
#define LW_ORDERED "^sp:sp::ordered_metadata " LW_MMA
#define LW_LAYOUT " alayout:row|col blayout:row|col "
#define LW_SHAPES "shape:m16n16k16|m8n32k16|m32n8k16|m16n16k8|m8n8k4|m8n8k32|m8n8k128 "
#define LW_SS "?ss:global|shared|shared::cta@.78 "

constexpr Row kMatrixRows[] = {
    // Half precision, bf16, tf32, double.
    row("mma", LW_MMA "m8n8k4" LW_LAYOUT "dtype:f16|f32 atype:f16 btype:f16 ctype:f16|f32",
        multiply, "70.64", multiply_quads, kSums),
    row("mma", LW_MMA "m16n8k8" LW_LAYOUT "dtype:f16|f32 atype:f16 btype:f16 ctype:f16|f32",
        multiply, "75.65", multiply_matrices, kSums),
    row("mma", LW_MMA "m16n8k16" LW_LAYOUT "dtype:f16|f32 atype:f16 btype:f16 ctype:f16|f32",
        multiply, "80.70", multiply_matrices, kSums),
    row("mma", LW_MMA "m16n8k8|m16n8k16" LW_LAYOUT "dtype:f32 atype:bf16 btype:bf16 ctype:f32",
        multiply, "80.70", multiply_matrices, kSums),
    row("mma", LW_MMA "m16n8k4|m16n8k8" LW_LAYOUT "dtype:f32 atype:tf32 btype:tf32 ctype:f32",
        multiply, "80.70", multiply_matrices, kSums),
    row("mma", LW_MMA "m8n8k4" LW_LAYOUT "?rnd:$rnd dtype:f64 atype:f64 btype:f64 ctype:f64",
        multiply, "80.70", multiply_matrices, kSums),
    row("mma",
        LW_MMA "m16n8k4|m16n8k8|m16n8k16" LW_LAYOUT
               "?rnd:$rnd dtype:f64 atype:f64 btype:f64 ctype:f64",
        multiply, "90.78", multiply_matrices, kSums),
    // Integers.
    row("mma", LW_MMA "m8n8k16" LW_LAYOUT "?satfinite+ dtype:s32 atype:u8|s8 btype:u8|s8 ctype:s32",
        multiply, "75.65", multiply_matrices),
    row("mma",
        LW_MMA "m16n8k16|m16n8k32" LW_LAYOUT
               "?satfinite+ dtype:s32 atype:u8|s8 btype:u8|s8 ctype:s32",
        multiply, "80.70", multiply_matrices),
    row("mma", LW_MMA "m8n8k32" LW_LAYOUT "?satfinite+ dtype:s32 atype:u4|s4 btype:u4|s4 ctype:s32",
        multiply, "75.65", multiply_matrices),
    row("mma",
        LW_MMA "m16n8k32|m16n8k64" LW_LAYOUT
               "?satfinite+ dtype:s32 atype:u4|s4 btype:u4|s4 ctype:s32",
        multiply, "80.70", multiply_matrices),
    row("mma",
        LW_MMA "m8n8k128|m16n8k128@80.70|m16n8k256@80.70" LW_LAYOUT
               "dtype:s32 atype:b1 btype:b1 ctype:s32 op:xor|and@80.71 popc",
        multiply, "75.70", multiply_matrices),
    // 8-bit floats and less.
    row("mma",
        LW_MMA "m16n8k16|m16n8k32" LW_LAYOUT
               "dtype:f32|f16 atype:e4m3|e5m2 btype:e4m3|e5m2 ctype:f32|f16",
        multiply, "89.84", multiply_matrices, kSums),
    row("mma",
        LW_MMA "m16n8k16|m16n8k32" LW_LAYOUT "kind:kind::f8f6f4|kind::mxf8f6f4 dtype:f32|f16 "
               "atype:e4m3|e5m2 btype:e4m3|e5m2 ctype:f32|f16",
        multiply, "100a.87"),
    row("mma",
        LW_MMA "m16n8k16@=4.87|m16n8k32" LW_LAYOUT
               "kind::f8f6f4 dtype:f32|f16 atype:e4m3|e5m2|e3m2|e2m3|e2m1 "
               "btype:e4m3|e5m2|e3m2|e2m3|e2m1 ctype:f32|f16",
        multiply, "=120.87"),
    row("mma",
        LW_MMA "m16n8k32" LW_LAYOUT "kind::mxf8f6f4 block_scale ?scale_vec::1X dtype:f32 "
               "atype:e4m3|e5m2|e3m2|e2m3|e2m1 btype:e4m3|e5m2|e3m2|e2m3|e2m1 ctype:f32 "
               "stype:ue8m0",
        multiply, "=120.87"),
    row("mma",
        LW_MMA "m16n8k64" LW_LAYOUT
               "kind::mxf4 block_scale ?scale_vec::2X dtype:f32 atype:e2m1 btype:e2m1 ctype:f32 "
               "stype:ue8m0",
        multiply, "=120.87"),
    row("mma",
        LW_MMA "m16n8k64" LW_LAYOUT "kind::mxf4nvf4 block_scale scale_vec::2X dtype:f32 atype:e2m1 "
               "btype:e2m1 ctype:f32 stype:ue8m0",
        multiply, "=120.87"),
    row("mma",
        LW_MMA "m16n8k64" LW_LAYOUT
               "kind::mxf4nvf4 block_scale scale_vec::4X dtype:f32 atype:e2m1 btype:e2m1 ctype:f32 "
               "stype:ue4m3",
        multiply, "=120.87"),
    row("mma",
        LW_ORDERED
        "m16n8k128" LW_LAYOUT
        "kind::mxf4nvf4 block_scale scale_vec::4X dtype:f32 atype:e2m1 btype:e2m1 ctype:f32 "
        "stype:ue4m3",
        multiply, "=120.87"),
    // Sparse.
    row("mma",
        LW_SP "m16n8k16|m16n8k32" LW_LAYOUT "dtype:f16|f32 atype:f16 btype:f16 ctype:f16|f32",
        multiply, "80.71", multiply_sparse, kSums),
    row("mma", LW_SP "m16n8k16|m16n8k32" LW_LAYOUT "dtype:f32 atype:bf16 btype:bf16 ctype:f32",
        multiply, "80.71", multiply_sparse, kSums),
    row("mma", LW_SP "m16n8k8|m16n8k16" LW_LAYOUT "dtype:f32 atype:tf32 btype:tf32 ctype:f32",
        multiply, "80.71", multiply_sparse, kSums),
    row("mma",
        LW_SP "m16n8k32|m16n8k64" LW_LAYOUT
              "?satfinite+ dtype:s32 atype:u8|s8 btype:u8|s8 ctype:s32",
        multiply, "80.71", multiply_sparse),
    row("mma",
        LW_SP "m16n8k64|m16n8k128" LW_LAYOUT
              "?satfinite+ dtype:s32 atype:u4|s4 btype:u4|s4 ctype:s32",
        multiply, "80.71", multiply_sparse),
    row("mma", LW_SP "m16n8k64" LW_LAYOUT "dtype:f32 atype:e4m3|e5m2 btype:e4m3|e5m2 ctype:f32",
        multiply, "89.84", multiply_sparse, kSums),
    row("mma",
        LW_ORDERED "m16n8k64" LW_LAYOUT "dtype:f16 atype:e4m3|e5m2 btype:e4m3|e5m2 ctype:f16",
        multiply, "=120.87", multiply_sparse, kSums),
    row("mma",
        LW_ORDERED "m16n8k64" LW_LAYOUT "kind::f8f6f4 dtype:f32|f16 atype:e4m3|e5m2|e3m2|e2m3|e2m1 "
                   "btype:e4m3|e5m2|e3m2|e2m3|e2m1 ctype:f32|f16",
        multiply, "=120.87"),
    row("mma",
        LW_ORDERED "m16n8k64" LW_LAYOUT "kind::mxf8f6f4 block_scale ?scale_vec::1X dtype:f32 "
                   "atype:e4m3|e5m2|e3m2|e2m3|e2m1 btype:e4m3|e5m2|e3m2|e2m3|e2m1 ctype:f32 "
                   "stype:ue8m0",
        multiply, "=120.87"),
    row("mma",
        LW_ORDERED
        "m16n8k128" LW_LAYOUT
        "kind::mxf4 block_scale ?scale_vec::2X dtype:f32 atype:e2m1 btype:e2m1 ctype:f32 "
        "stype:ue8m0",
        multiply, "=120.87"),
    row("mma",
        LW_ORDERED "m16n8k128" LW_LAYOUT
                   "kind::mxf4nvf4 block_scale scale_vec::2X dtype:f32 atype:e2m1 "
                   "btype:e2m1 ctype:f32 stype:ue8m0",
        multiply, "=120.87"),

    row("wmma",
        "^load ^a sync+ aligned layout:row|col " LW_SHAPES LW_SS
        "type:f16|bf16|tf32|f64|s8|u8|s4|u4|b1",
        judge_load, "", wmma_load),
    row("wmma",
        "^load ^b sync+ aligned layout:row|col " LW_SHAPES LW_SS
        "type:f16|bf16|tf32|f64|s8|u8|s4|u4|b1",
        judge_load, "", wmma_load),
    row("wmma", "^load ^c sync+ aligned layout:row|col " LW_SHAPES LW_SS "type:f16|f32|f64|s32",
        judge_load, "", wmma_load),
    row("wmma", "^store ^d sync+ aligned layout:row|col " LW_SHAPES LW_SS "type:f16|f32|f64|s32",
        judge_store, "", wmma_store),
    row("wmma", "^mma sync+ aligned" LW_LAYOUT LW_SHAPES "dtype:f16|f32 ctype:f16|f32",
        judge_multiply, "", wmma_multiply, kSums),
    row("wmma",
        "^mma sync+ aligned" LW_LAYOUT LW_SHAPES
        "dtype:f32 atype:bf16|tf32 btype:bf16|tf32 ctype:f32",
        judge_multiply, "", wmma_multiply, kSums),
    row("wmma",
        "^mma sync+ aligned" LW_LAYOUT LW_SHAPES
        "?rnd:$rnd dtype:f64 atype:f64 btype:f64 ctype:f64",
        judge_multiply, "", wmma_multiply, kSums),
    row("wmma",
        "^mma sync+ aligned" LW_LAYOUT LW_SHAPES
        "dtype:s32 atype:s8|u8|s4|u4 btype:s8|u8|s4|u4 ctype:s32 ?satfinite+",
        judge_multiply, "", wmma_multiply, kSums),
    row("wmma",
        "^mma op:xor|and@80.71 popc sync+ aligned" LW_LAYOUT LW_SHAPES
        "dtype:s32 atype:b1 btype:b1 ctype:s32",
        judge_multiply, "75.63", wmma_multiply),

    row("ldmatrix",
        "sync+ aligned shape:m8n8 num:x1|x2|x4|x8@.80 ?trans ?ss:shared|shared::cta@.78 type:b16",
        load_matrix, "75.65", load_matrices),
    row("ldmatrix",
        "sync+ aligned shape:m16n16 num:x1|x2|x8 trans ?ss:shared|shared::cta "
        "type:b8",
        load_matrix, "100a.86"),
    row("ldmatrix",
        "sync+ aligned shape:m16n16 num:x1|x2|x8 trans ?ss:shared|shared::cta "
        "dtype:b8x16 type:b6x16_p32|b4x16_p64",
        load_matrix, "100a.86"),
    row("ldmatrix",
        "sync+ aligned shape:m8n16 num:x1|x2|x4|x8 ?ss:shared|shared::cta "
        "dtype:b8x16 type:b6x16_p32|b4x16_p64",
        load_matrix, "100a.86"),
    row("stmatrix", "sync+ aligned shape:m8n8 num:x1|x2|x4 ?trans ?ss:shared|shared::cta type:b16",
        store_matrix, "90.78", store_matrices),
    row("stmatrix", "sync+ aligned shape:m16n8 num:x1|x2|x4 trans ?ss:shared|shared::cta type:b8",
        store_matrix, "100a.86"),
    Row{"movmatrix", "sync+ aligned shape:m8n8 trans type:b16", "d:b32 r:b32", move_matrix, "",
        nullptr, isa::Claim::effect}
        .in("75.78"),
};

}  // namespace

std::span<const Row> matrix_rows() {
  return kMatrixRows;
}

}  // namespace lanewise::ptx
