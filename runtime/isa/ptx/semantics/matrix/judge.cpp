#include "runtime/isa/ptx/semantics/matrix/judge.hpp"

#include <algorithm>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/matrix/matrix.hpp"

namespace lanewise::ptx {
namespace {

using legal::Context;
using legal::Symbol;
using K = Operand::Kind;

unsigned element_bits(std::string_view type) {
  return MatrixType{type}.bits();
}

/// Registers of a lane for `elements` of a matrix: 32 lanes hold them.
unsigned registers(unsigned elements, unsigned bits) {
  return elements * bits / (bits == 64 ? 2048 : 1024);
}

/// Which registers of 32 bits hold a fragment, beside `.b32` ones.
enum class Beside : uint8_t { none, halves, floats, integers, all };

bool holds(Beside beside, const PType& reg) {
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
  if (o.kind != K::vector) return c.found(o, ", a vector was expected");
  c.vector_of(o, type == "f64" ? kF64 : kB32, n, Fit::exact, reads, false);
  for (const Operand& e : o.elements) {
    const Symbol s = c.symbol(e);
    if (e.kind != K::name) {
      c.found(e, ", a register was expected");
    } else if (type != "f64" && s.kind == Symbol::Kind::reg && !s.type.is_untyped() &&
               !holds(beside, s.type)) {
      c.found(e, " with `." + std::string(type) + "`, " +
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
  const MatrixShape s = matrix_shape(c.get("shape"));
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
    c.register_of(c.in.operands[4], kB32, Fit::exact);
    const Operand* selector = c.literal(5, "a constant selector");
    const bool wide = bits >= 16, whole = s.k * bits == 512;
    const unsigned groups = atype == "f16" || (wide && !whole) ? 4 : wide || !whole ? 2 : 1;
    if (selector && selector->bits >= groups)
      c.error(*selector, "a selector of " + std::to_string(selector->bits) + ", below " +
                             std::to_string(groups) + " was expected");
  }
  for (size_t i = least; i + 1 < most && scaled; i += 2) {
    c.register_of(c.in.operands[i], kB32, Fit::exact);
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
  const MatrixShape s = matrix_shape(shape);
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
  const MatrixShape s = matrix_shape(shape);
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
  const MatrixShape s = matrix_shape(shape);
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
  if (free && o.elements.size() > 4) c.error(o, "more than 4 elements, fewer were expected");
  if (free && o.kind != K::vector) {
    c.register_of(o, kB32, Fit::exact);
  } else {
    fragment(c, data, "b16", Beside::all, free ? static_cast<unsigned>(o.elements.size()) : n,
             reads);
  }
  c.near_address(at, c.get("ss"));
  c.refuse_narrow(at);
}

void load_matrix(Context& c) {
  const unsigned n = matrices(c);
  shared_matrix(c, 1, 0, c.get("shape") == "m16n16" ? 2 * n : n, false);
}
void store_matrix(Context& c) {
  shared_matrix(c, 0, 1, matrices(c), true);
}

}  // namespace

void judge_mma(legal::Context& c) {
  multiply(c);
}
void judge_wmma_load(legal::Context& c) {
  judge_load(c);
}
void judge_wmma_store(legal::Context& c) {
  judge_store(c);
}
void judge_wmma_multiply(legal::Context& c) {
  judge_multiply(c);
}
void judge_ldmatrix(legal::Context& c) {
  load_matrix(c);
}
void judge_stmatrix(legal::Context& c) {
  store_matrix(c);
}

}  // namespace lanewise::ptx
