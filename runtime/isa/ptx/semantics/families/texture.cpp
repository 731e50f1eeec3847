// Textures and surfaces: which coordinates, offsets and depths belong to which geometry.
#include <algorithm>
#include <optional>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/families/texture_lowering.hpp"
#include "runtime/isa/ptx/table.hpp"

namespace lanewise::ptx {
namespace {

using legal::Context;
using legal::Symbol;
using K = Operand::Kind;

struct Geometry {
  std::string_view name;
  unsigned coordinates, gradient, offsets;
  bool depth, integers, floats;
};
constexpr Geometry kGeometries[] = {
    {"1d", 1, 1, 1, true, true, true},     {"2d", 2, 2, 2, true, true, true},
    {"3d", 4, 4, 4, false, true, true},    {"a1d", 2, 1, 1, true, true, true},
    {"a2d", 4, 2, 2, true, true, true},    {"cube", 4, 4, 0, true, false, true},
    {"acube", 4, 4, 0, true, false, true}, {"2dms", 4, 0, 4, true, true, false},
    {"a2dms", 4, 0, 4, true, true, false},
};

const Geometry& geometry(const Context& c) {
  return *std::ranges::find(kGeometries, c.get("geom"), &Geometry::name);
}

/// A variable of an opaque type, or its address in a register.
void handle(Context& c, const Operand& o, std::string_view type, std::string_view other = {}) {
  const Symbol s = c.symbol(o);
  if (s.kind == Symbol::Kind::variable && !o.has_offset &&
      (s.variable->type == type || s.variable->type == other))
    return;
  if (s.kind == Symbol::Kind::reg && s.vector == 1 && !o.has_offset && o.offset == 0 &&
      fits(kU64, s.type, Fit::exact))
    return;
  c.found(o, ", a ." + std::string(type) + " or a 64-bit register was expected");
}

/// `[t, {x, y}]` or `[t, s, {x, y}]`.
void place(Context& c, size_t i, std::string_view type, unsigned coordinates, PType want) {
  const Operand& o = c.in.operands[i];
  if (o.kind != K::address || o.elements.empty())
    return c.error(o, "not a texture or surface with coordinates in brackets, one was expected");
  handle(c, o, type);
  const bool texture = type == "texref";
  const bool sampler = o.elements.size() == 2;
  if (o.elements.size() > 2 || (sampler && !texture))
    return c.error(o, "more than coordinates in the brackets, none were expected");
  if (sampler) handle(c, o.elements[0], "samplerref");
  if (sampler && !c.env.independent && c.get("geom").ends_with("cube"))
    c.error(o, "a sampler with `." + std::string(c.get("geom")) + "`, none was expected");
  if (!sampler && texture && c.env.independent)
    c.error(o, "no sampler, one was expected with texmode_independent");
  const Operand& at = o.elements.back();
  const Symbol index = at.elements.empty() ? Symbol{} : c.symbol(at.elements[0]);
  if (c.get("geom").starts_with('a') && index.kind == Symbol::Kind::reg && index.type.is_float())
    c.error(at,
            found_text(at.elements[0], index) + " as index of a layer, an integer was expected");
  if (!texture && index.type.packed)
    c.error(at, found_text(at, index) + " as coordinate, an integer was expected");
  // Elements behind the coordinates are thrown away.
  const auto found = static_cast<unsigned>(at.elements.size());
  const bool more = found > coordinates && (found == 2 || found == 4);
  c.vector_of(at, want, more ? found : coordinates, Fit::exact, true, false);
}

/// What follows the coordinates: offsets, then a depth to compare with.
void extras(Context& c, size_t at, const Geometry& g, bool with_depth) {
  const size_t n = c.in.operands.size();
  if (n > at + 2) {
    c.count(at, at + 2);
    return;
  }
  const bool integers = c.get("ctype") == "s32";
  if (integers && n == at + 2)
    c.error(c.in.operands[at + 1], "a depth beside integers, none was expected");
  for (size_t i = at; i < n; ++i) {
    const Operand& o = c.in.operands[i];
    if (i == at && o.kind == K::vector && g.offsets != 0) {
      const bool pair = o.elements.size() == 2 && g.name != "3d";
      c.vector_of(o, kS32, pair ? 2 : g.offsets, Fit::exact, true, false);
    } else if (g.depth && with_depth && (i == at || i + 1 == n)) {
      const Symbol s = c.symbol(o);
      const bool offset = i == at && (o.kind == K::integer || s.type.is_int());
      c.value_of(o, offset || integers ? kS32 : kF32, Fit::exact);
    } else {
      c.error(o, "one operand more than this geometry has, none was expected");
    }
  }
}

/// The vector that a fetch writes, without the predicate that says whether its texels were
/// resident; none where it is no vector.
std::optional<Operand> texels(Context& c) {
  Operand d = c.in.operands[0];
  if (d.kind != K::vector) {
    c.error(d, "the destination is no vector, one was expected");
    return {};
  }
  if (!d.pair.empty()) {
    c.need(60, 71, "a residency predicate");
    Operand p;
    p.loc = d.loc;
    p.name = d.pair;
    if (d.pair != "_") c.register_of(p, kPred, Fit::exact);
  }
  d.pair.clear();
  return d;
}

void fetch(Context& c) {
  const Geometry& g = geometry(c);
  const bool integers = c.get("ctype") == "s32";
  if (integers ? !g.integers : !g.floats)
    c.error("coordinates of `." + std::string(c.get("ctype")) + "` with `." + std::string(g.name) +
            "`, the other type was expected");
  const std::string_view mip = c.get("mip");
  const size_t plain = mip == "level" ? 3 : mip == "grad" ? 4 : 2;
  if ((plain > 2) && g.gradient == 0)
    c.error("`." + std::string(mip) + "` with several samples, it was expected without");
  if (!c.count(plain, plain + 2)) return;
  const std::optional<Operand> d = texels(c);
  if (!d) return;
  const PType t = c.type("dtype");
  const bool half = t.is_float() && t.bits == 16;
  c.vector_of(*d, half ? kB16 : t, t.packed ? 2 : 4, Fit::exact, false, false);
  place(c, 1, "texref", g.coordinates, integers ? kS32 : kF32);
  if (mip == "level") c.value_of(c.in.operands[2], integers ? kS32 : kF32, Fit::exact);
  for (size_t i = 2; i < plain && mip == "grad"; ++i) {
    const Operand& o = c.in.operands[i];
    c.vector_of(o, kF32, g.gradient, Fit::exact, true, false);
  }
  extras(c, plain, g, true);
}

void gather(Context& c) {
  const Geometry& g = geometry(c);
  if (!c.count(2, 4)) return;
  const std::optional<Operand> d = texels(c);
  if (!d) return;
  c.vector_of(*d, c.type("dtype"), 4, Fit::exact, false, false);
  place(c, 1, "texref", g.coordinates, kF32);
  extras(c, 2, g, true);
}

void surface_data(Context& c, size_t i, bool reads) {
  const Operand& o = c.in.operands[i];
  const unsigned n = c.vector();
  if (c.type().bits * n > 128) c.error("a vector of more than 128 bits, fewer were expected");
  if (n == 1 && o.kind != K::vector)
    return reads ? c.value_of(o, c.type(), Fit::wider) : c.register_of(o, c.type(), Fit::wider);
  const size_t found = o.kind == K::vector ? o.elements.size() : 0;
  // Without `.v2` the assembler takes vectors, too, of elements of any width.
  const bool any = n == 1 && (found == 2 || found == 4) &&
                   c.symbol(o.elements[0]).type.bits * found >= c.type().bits;
  const PType want = any ? c.symbol(o.elements[0]).type.untyped() : c.type();
  c.vector_of(o, want, any ? static_cast<unsigned>(found) : n, Fit::wider, reads, false);
}

void surface_load(Context& c) {
  if (!c.count(2, 2)) return;
  surface_data(c, 0, false);
  place(c, 1, "surfref", geometry(c).coordinates, kS32);
}
void surface_store(Context& c) {
  if (!c.count(2, 2)) return;
  place(c, 0, "surfref", geometry(c).coordinates, kS32);
  surface_data(c, 1, true);
}
void surface_reduce(Context& c) {
  if (!c.count(2, 2)) return;
  place(c, 0, "surfref", geometry(c).coordinates, kS32);
  c.value_of(c.in.operands[1], c.type(), Fit::wider);
}

void query(Context& c) {
  const bool level = c.has("level");
  if (!c.count(level ? 3 : 2, level ? 3 : 2)) return;
  const Operand& o = c.in.operands[1];
  c.register_of(c.in.operands[0], kB32, Fit::exact);
  if (o.kind != K::address || !o.elements.empty())
    return c.error(o, "not a texture or surface in brackets, one was expected");
  if (c.in.opcode == "suq") return handle(c, o, "surfref");
  const bool sampler = c.get("of_sampler") == "force_unnormalized_coords" ||
                       (c.has("of_sampler") && c.env.independent);
  handle(c, o, sampler ? "samplerref" : "texref");
  if (level) c.value_of(c.in.operands[2], kS32, Fit::exact);
}

void is_type(Context& c) {
  if (!c.count(2, 2)) return;
  c.register_of(c.in.operands[0], kPred, Fit::exact);
  const Operand& o = c.in.operands[1];
  if (o.kind == K::integer) return;
  c.register_of(o, kU64, Fit::exact);
}

constexpr const char* kFiltered =
    "texels are exact, filtered values inside 2^-8 of the difference of neighbours";

#define LW_GEOMETRY "geom:1d|2d|3d|a1d|a2d|cube|acube "
#define LW_SAMPLES "geom:2dms|a2dms "
#define LW_SURFACE "geom:1d|2d|3d|a1d|a2d ?vec:v2|v4 "
#define LW_MODE " mode:trap|clamp|zero"
#define LW_QUERY                                                                          \
  "what:width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|" \
  "num_mipmap_levels|num_samples type:b32"

constexpr const char* kSamples = "nothing makes textures of several samples";
constexpr const char* kCubeGradient =
    "how the level of detail of a cube's gradients is computed is not documented";
constexpr const char* kLayout = "the number is not documented";

/// `tex` of one vector of results, in all geometries. Filtered values have a bound, not all bits.
#define LW_FETCH(tex, results)                                                              \
  {tex,       "?^mip:base|level " LW_GEOMETRY results " ctype:f32",                         \
   fetch,     lower_fetch,                                                                  \
   kFiltered, isa::Claim::approximate},                                                     \
      {tex,       "^mip:grad geom:1d|2d|3d|a1d|a2d " results " ctype:s32|f32",              \
       fetch,     lower_fetch,                                                              \
       kFiltered, isa::Claim::approximate},                                                 \
      {tex, "?^mip:base|level " LW_GEOMETRY results " ctype:s32", fetch, lower_fetch},      \
      {tex, "^mip:grad geom:cube|acube " results " ctype:s32|f32", fetch, kCubeGradient}, { \
    tex, "?^mip:base|level|grad " LW_SAMPLES results " ctype:s32|f32", fetch, kSamples      \
  }

constexpr Row kTextureRows[] = {
    LW_FETCH("tex", "v4 dtype:u32|s32|f32"),
    LW_FETCH("tex@53.42", "v4 dtype:f16"),
    LW_FETCH("tex@53.42", "v2 dtype:f16x2"),
    {"tld4", "comp:r|g|b|a geom:2d|a2d|cube|acube v4 dtype:u32|s32|f32 ctype:f32", gather,
     lower_gather},
    {"txq", LW_QUERY, query, lower_query},
    {"txq", "what:memory_layout type:b32", query, kLayout},
    {"txq", "^level what:width|height|depth type:b32", query, lower_query},
    {"txq", "of_sampler:filter_mode|addr_mode_0|addr_mode_1|addr_mode_2 type:b32", query,
     lower_query},
    {"txq", "of_sampler:force_unnormalized_coords type:b32", query, kLayout},
    {"istypep", "type:texref|samplerref|surfref", is_type, lower_is_type},
    {"suq", "what:width|height|depth|channel_data_type|channel_order|array_size type:b32", query,
     lower_query},
    {"suq", "what:memory_layout type:b32", query, kLayout},
    {"suld", "^b ?cop:ca|cg|cs|cv " LW_SURFACE "type:b8|b16|b32|b64" LW_MODE, surface_load,
     lower_surface_load},
    {"sust", "^b ?cop:wb|cg|cs|wt " LW_SURFACE "type:b8|b16|b32|b64" LW_MODE, surface_store,
     lower_surface_store},
    {"sust", "^p ?cop:wb|cg|cs|wt " LW_SURFACE "type:b32" LW_MODE, surface_store,
     lower_surface_store},
    {"sured", "^b op:add geom:1d|2d|3d type:u32|u64|s32" LW_MODE, surface_reduce,
     lower_surface_reduce},
    {"sured", "^b op:min|max geom:1d|2d|3d type:u32|s32|u64@50.81|s64@50.81" LW_MODE,
     surface_reduce, lower_surface_reduce},
    {"sured", "^b op:and|or geom:1d|2d|3d type:b32" LW_MODE, surface_reduce, lower_surface_reduce},
    {"sured", "^p op:add|min|max|and|or geom:1d|2d|3d type:b32" LW_MODE, surface_reduce,
     lower_surface_reduce},
    {"sured", "^p op:min|max geom:1d|2d|3d type:b64@50.81" LW_MODE, surface_reduce,
     "no format of a surface has components of 64 bits"},
};

}  // namespace

constinit Rows texture_rows = kTextureRows;

}  // namespace lanewise::ptx
