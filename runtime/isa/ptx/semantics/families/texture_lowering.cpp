// tex, tld4, txq, suld, sust, sured, suq, istypep: handles to the words of runtime/ir/texture.hpp,
// coordinates to their places. A handle is the address of a block
// (runtime/layout/texture_block.hpp).
#include "runtime/isa/ptx/semantics/families/texture_lowering.hpp"

#include <algorithm>
#include <array>

#include "lanewise/types.hpp"
#include "runtime/ir/texture.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"
#include "runtime/isa/ptx/text/parser.hpp"
#include "runtime/layout/texture_block.hpp"

namespace lanewise::ptx {

using ir::Op;
using ir::Type;
namespace {

using guest::TextureWord;
using ir::TextureAccess;
using Words = std::vector<ir::Operand>;

struct TextureGeometry {
  std::string_view name;
  TextureAccess::Dim dim;
  bool array;
  unsigned coordinates;  ///< without the layer
};
constexpr TextureGeometry kTextureGeometries[] = {
    {"1d", TextureAccess::Dim::d1, false, 1},     {"2d", TextureAccess::Dim::d2, false, 2},
    {"3d", TextureAccess::Dim::d3, false, 3},     {"a1d", TextureAccess::Dim::d1, true, 1},
    {"a2d", TextureAccess::Dim::d2, true, 2},     {"cube", TextureAccess::Dim::cube, false, 3},
    {"acube", TextureAccess::Dim::cube, true, 3},
};

const TextureGeometry& texture_geometry(Emit& e) {
  const std::string_view name = e.get("geom");
  const auto* const found = std::ranges::find(kTextureGeometries, name, &TextureGeometry::name);
  if (found == std::end(kTextureGeometries))
    e.fail("'" + e.inst.opcode + "' with ." + std::string(name) +
           " is not supported: nothing makes textures of several samples");
  return *found;
}

/// The handle itself, or the address of a variable, or what a parameter of that type holds.
ir::Operand handle(Emit& e, const Operand& o) {
  const Entity* entity = e.body.find(o.name);
  if (entity == nullptr) Emit::fail(o.loc, "undeclared name '" + o.name + "'");
  if (entity->kind == Entity::Kind::reg) return entity->regs.at(0);
  if (entity->kind != Entity::Kind::variable)
    Emit::fail(o.loc, "'" + o.name + "' is no texture, surface or sampler");
  if (entity->variable->space != "param") return entity->base;
  if (entity->object != nullptr) return read_words(e, *entity->object, 0, kU64);
  const ir::Reg value = e.temp(ir::Width::b64);
  ir::Mem mem;
  mem.space = ir::Space::param;
  mem.elem = Type::u64;
  e.emit(Op::load, Type::none, {value}, {entity->base}).mem = mem;
  return value;
}

/// `count` words of the block, up to four.
Words block_words(Emit& e, ir::Operand at, TextureWord first, uint32_t more, unsigned count) {
  std::vector<ir::Reg> to;
  for (unsigned n = 0; n < count; ++n) to.push_back(e.temp(ir::Width::b32));
  ir::Inst& load = e.emit(Op::load, Type::none, to, {at});
  load.mode = static_cast<uint8_t>(ir::LoadMode::descriptor);
  load.mem.emplace();
  load.mem->space = ir::Space::constant;
  load.mem->count = static_cast<uint8_t>(count);
  load.mem->offset = guest::texture_offset(first, more);
  return {to.begin(), to.end()};
}

/// From here on, in lanes whose own guard holds and for which `when` does.
void guard_by(Emit& e, ir::Operand when) {
  // Without a guard: where the instruction's does not hold this has to say so.
  if (!e.guard().always()) e.builder().set_guard({});
  e.builder().set_guard({guarded(e, when), false});
}

/// A handle that leads to no block is a fault, not a place to read texels from.
void check_block(Emit& e, const ir::Operand& kind) {
  const ir::Reg magic = e.op(Op::shr, Type::u32, {kind, imm(16)});
  guard_by(e,
           e.op(Op::icmp, Type::u32, {magic, imm(guest::kTextureMagic)}, {.cond = ir::Cond::ne}));
  e.emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::illegal_encoding);
  e.builder().set_guard(e.guard());
}

/// The words of the image. Without `levels` the first one is all that is used.
Words image_words(Emit& e, ir::Operand at, bool levels) {
  const Words a = block_words(e, at, TextureWord::image, 0, 4);
  const Words b = block_words(e, at, TextureWord::image, 4, 4);
  const Words c = block_words(e, at, TextureWord::image, 8, 2);
  check_block(e, c[1]);
  return {e.op(Op::pack64, Type::none, {a[0], a[1]}),
          a[2],
          a[3],
          b[0],
          b[1],
          b[2],
          b[3],
          levels ? c[0] : imm(0),
          c[1]};
}

void append(Words& to, const Words& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Coordinates as sources: x, y, z, then the layer.
Words place(Emit& e, const Operand& o, const TextureGeometry& g) {
  const Operand& list = o.elements.back();
  std::vector<Operand> all = list.kind == Operand::Kind::vector ? list.elements : std::vector{list};
  if (list.kind != Operand::Kind::vector) {
    // A vector register names its parts.
    const Entity* entity = e.body.find(list.name);
    if (entity != nullptr && entity->kind == Entity::Kind::reg && entity->regs.size() > 1) {
      all.assign(entity->regs.size(), list);
      for (size_t k = 0; k < all.size(); ++k) all[k].name += std::string(".") + "xyzw"[k % 4];
    }
  }
  Words out(4, imm(0));
  size_t from = 0;
  if (g.array) out[3] = e.raw(all.at(from++), kB32);
  for (unsigned n = 0; n < g.coordinates; ++n) out[n] = e.raw(all.at(from++), kB32);
  return out;
}

ir::Inst& texture_op(Emit& e, Op op, std::vector<ir::Reg> to, Words src,
                     const TextureAccess& access) {
  ir::Inst& inst = e.emit(op, Type::none, std::move(to), std::move(src));
  inst.texture = access;
  if (op != Op::texel_address) {
    inst.mem.emplace();
    inst.mem->cache.op = ir::CacheOp::nc;
  }
  return inst;
}

std::vector<ir::Reg> four(Emit& e) {
  std::vector<ir::Reg> to;
  to.reserve(4);
  for (int n = 0; n < 4; ++n) to.push_back(e.temp(ir::Width::b32));
  return to;
}

ir::Operand half_of(Emit& e, ir::Operand value) {
  return e.op(Op::f2f, Type::f16, {value}, {.from = Type::f32});
}

/// Destination registers get what was fetched, as the type of the form has it.
void deliver(Emit& e, const std::vector<ir::Reg>& texel) {
  const PType t = e.type("dtype");
  const bool pairs = t.packed, halves = t.is_float() && t.bits == 16;
  const std::vector<Operand> to = e.elements(0, pairs ? 2 : 4);
  std::vector<ir::Operand> values(texel.begin(), texel.end());
  if (pairs || halves)
    for (ir::Operand& v : values) v = half_of(e, v);
  if (pairs) {
    for (size_t n = 0; n < 2; ++n) {
      const ir::Reg high = e.op(Op::shl, Type::u32, {values[2 * n + 1], imm(16)});
      values[n] = e.op(Op::or_, Type::u32, {values[2 * n], high});
    }
    values.resize(2);
  }
  for (size_t n = 0; n < to.size(); ++n)
    if (to[n].kind != Operand::Kind::sink)
      e.set(to[n], halves ? kB16 : kB32, values[n], Fit::exact, true);
  e.set_pair(0, kPred, imm(1));
}

/// Offsets of texels behind the coordinates; a depth to compare with is refused.
void offsets(Emit& e, size_t first, TextureAccess& access, Words& src) {
  if (e.count() > first + 1)
    e.fail("a depth to compare with is not supported: CUDA makes no textures of depths");
  if (e.count() == first) return;
  if (e.get("geom").ends_with("cube")) e.fail("what an offset in a cube is is not documented");
  const Operand& o = e.operand(first);
  std::vector<Operand> list = o.kind == Operand::Kind::vector ? o.elements : std::vector{o};
  if (o.kind == Operand::Kind::name) {
    const Entity* entity = e.body.find(o.name);
    if (entity != nullptr && entity->kind == Entity::Kind::reg) {
      if (entity->type.is_float())
        e.fail("a depth to compare with is not supported: CUDA makes no textures of depths");
      if (entity->regs.size() > 1)
        list = e.elements(first, static_cast<unsigned>(entity->regs.size()));
    }
  }
  if (list[0].kind == Operand::Kind::float_)
    e.fail("a depth to compare with is not supported: CUDA makes no textures of depths");
  access.offset = true;
  for (size_t n = 0; n < 3; ++n)
    src.push_back(n < list.size() && n < texture_geometry(e).coordinates ? e.raw(list[n], kB32)
                                                                         : imm(0));
}

struct Fetch {
  TextureAccess access;
  Words src;
};

/// Image, sampler and coordinates of operand 1.
Fetch begin(Emit& e, bool levels) {
  const TextureGeometry& g = texture_geometry(e);
  const Operand& o = e.operand(1);
  const ir::Operand texture = handle(e, o);
  const bool separate = o.elements.size() == 2;
  const ir::Operand sampler = separate ? handle(e, o.elements[0]) : texture;
  Fetch f;
  f.access.dim = g.dim;
  f.access.array = g.array;
  f.src = image_words(e, texture, levels);
  append(f.src, block_words(e, sampler, TextureWord::sampler, 0, 4));
  append(f.src, block_words(e, sampler, TextureWord::sampler, 4, 4));
  Words at = place(e, o, g);
  // The index of a layer has no sign, and ptxas limits it to 16 bits: -1 is the last layer.
  if (g.array) at[3] = e.op(Op::min, Type::u32, {at[3], imm(0xffff)});
  append(f.src, at);
  return f;
}

}  // namespace

ir::Global texture_variable(const Variable& v, const std::string& name) {
  using ir::sampler::Address;
  constexpr std::pair<std::string_view, Address> kAddresses[] = {
      {"wrap", Address::wrap},
      {"mirror", Address::mirror},
      {"clamp_ogl", Address::half_border},
      {"clamp_to_edge", Address::clamp},
      {"clamp_to_border", Address::border}};
  std::array<uint32_t, guest::kTextureBlockWords> words{};
  const auto set = [&](TextureWord w, uint32_t more, uint32_t value) {
    words[guest::texture_offset(w, more) / 4] = value;
  };
  uint32_t state = 0x49;  // clamped to the edge along each axis
  for (uint32_t axis = 0; axis < 3; ++axis) set(TextureWord::address_mode, axis, 3);
  for (const Variable::Field& f : v.fields) {
    if (f.name.starts_with("addr_mode_")) {
      const auto axis = static_cast<uint32_t>(f.name.back() - '0');
      const auto* const mode =
          std::ranges::find(kAddresses, f.value, &std::pair<std::string_view, Address>::first);
      if (mode == std::end(kAddresses) || axis > 2) continue;
      state = (state & ~(7U << (3 * axis))) | static_cast<uint32_t>(mode->second) << (3 * axis);
      set(TextureWord::address_mode, axis, static_cast<uint32_t>(mode - kAddresses));
    } else if (f.name == "filter_mode" && f.value == "linear") {
      state |= ir::sampler::kMagLinear | ir::sampler::kMinLinear;
      set(TextureWord::filter_mode, 0, 1);
    }
  }
  const uint32_t role = v.type == "texref"       ? guest::kIsTexture
                        : v.type == "samplerref" ? guest::kIsSampler
                                                 : guest::kIsSurface;
  const bool sampler = v.type == "samplerref";
  set(TextureWord::image, 9, (sampler ? guest::kTextureMagic : guest::kUnboundMagic) << 16 | role);
  set(TextureWord::sampler, 0, state);
  ir::Global g;
  g.name = name;
  g.space = ir::Space::constant;
  g.align = variable_align(v);
  g.size = variable_bytes(v);
  for (uint64_t n = 0; n < g.size / guest::kTextureBlockBytes; ++n)
    for (const uint32_t word : words)
      for (unsigned byte = 0; byte < 4; ++byte)
        g.init.push_back(std::byte(word >> (8 * byte) & 0xff));
  return g;
}

void lower_fetch(Emit& e) {
  const std::string_view mip = e.get("mip");
  Fetch f = begin(e, mip == "level" || mip == "grad");
  f.access.integers = e.get("ctype") == "s32";
  size_t at = 2;
  if (mip == "level") {
    f.access.lod = TextureAccess::Lod::level;
    f.src.push_back(e.raw(at++, kB32));
  } else if (mip == "grad") {
    f.access.lod = TextureAccess::Lod::gradient;
    const unsigned axes = texture_geometry(e).coordinates;
    for (int which = 0; which < 2; ++which, ++at) {
      const Operand& o = e.operand(at);
      const std::vector<Operand> list =
          o.kind == Operand::Kind::vector ? o.elements : e.elements(at, axes == 3 ? 4 : axes);
      for (unsigned n = 0; n < 3; ++n) f.src.push_back(n < axes ? e.raw(list.at(n), kB32) : imm(0));
    }
    if (texture_geometry(e).dim == TextureAccess::Dim::cube)
      e.fail(
          "'tex.grad' of a cube is not supported: how its level of detail is computed is not "
          "documented");
  }
  offsets(e, at, f.access, f.src);
  const std::vector<ir::Reg> texel = four(e);
  texture_op(e, Op::sample, texel, std::move(f.src), f.access);
  deliver(e, texel);
}

void lower_gather(Emit& e) {
  Fetch f = begin(e, false);
  f.access.component = static_cast<uint8_t>(std::string_view("rgba").find(e.get("comp")));
  offsets(e, 2, f.access, f.src);
  const std::vector<ir::Reg> texels = four(e);
  texture_op(e, Op::gather, texels, std::move(f.src), f.access);
  deliver(e, texels);
}

namespace {

TextureAccess::Outside outside(Emit& e) {
  const std::string_view mode = e.get("mode");
  return mode == "clamp"  ? TextureAccess::Outside::clamp
         : mode == "zero" ? TextureAccess::Outside::zero
                          : TextureAccess::Outside::trap;
}

TextureAccess surface_access(Emit& e) {
  const TextureGeometry& g = texture_geometry(e);
  return {.dim = g.dim, .array = g.array, .outside = outside(e)};
}
Words surface_place(Emit& e, const Operand& o, const TextureGeometry& g) {
  Words at = place(e, o, g);
  at.push_back(imm(0));  // the level
  return at;
}

struct Surface {
  ir::Reg address, may;
};

/// An access to `bytes` bytes at coordinates whose first one counts bytes: an image of one-byte
/// texels, as wide as such an access may begin.
Surface byte_place(Emit& e, const Operand& o, unsigned bytes) {
  const TextureGeometry& g = texture_geometry(e);
  Words src = image_words(e, handle(e, o), false);
  const ir::Reg texel = e.op(Op::fmt_bytes, Type::none, {src[ir::image::format]});
  const ir::Reg row = e.op(Op::mul, Type::u32, {src[ir::image::width], texel});
  const ir::Reg ends = e.op(Op::min, Type::u32, {row, imm(bytes - 1)});
  src[ir::image::width] = e.op(Op::sub, Type::u32, {row, ends});
  src[ir::image::format] = imm(1 << 15 | 4 << 12);
  append(src, surface_place(e, o, g));
  const Surface at{e.temp(ir::Width::b64), e.temp(ir::Width::pred)};
  texture_op(e, Op::texel_address, {at.address, at.may}, std::move(src), surface_access(e));
  return at;
}

ir::Mem surface_memory(Emit& e, unsigned count) {
  ir::Mem mem;
  mem.elem = e.type().memory();
  mem.count = static_cast<uint8_t>(count);
  mem.cache = cache_policy(e, e.count());
  return mem;
}

std::vector<Operand> data_of(Emit& e, size_t i) {
  unsigned n = vector_elements(e.form);
  // Without `.v2` the assembler takes vectors, too.
  const Operand& o = e.operand(i);
  if (n == 1 && o.kind == Operand::Kind::vector) n = static_cast<unsigned>(o.elements.size());
  return e.elements(i, n);
}

}  // namespace

void lower_surface_load(Emit& e) {
  const std::vector<Operand> to = data_of(e, 0);
  const auto count = static_cast<unsigned>(to.size());
  const Surface at = byte_place(e, e.operand(1), e.type().bytes() * count);
  const Type width = e.type().bits == 64 ? Type::u64 : Type::u32;
  std::vector<ir::Reg> loaded;
  for (unsigned n = 0; n < count; ++n) loaded.push_back(e.temp(ir::width_of(width)));
  guard_by(e, at.may);
  e.emit(Op::load, Type::none, loaded, {at.address}).mem = surface_memory(e, count);
  e.builder().set_guard(e.guard());
  for (unsigned n = 0; n < count; ++n)
    if (to[n].kind != Operand::Kind::sink)
      e.set(to[n], e.type(), e.op(Op::select, width, {at.may, loaded[n], imm(0)}), Fit::wider,
            true);
}

void lower_surface_store(Emit& e) {
  const std::vector<Operand> from = data_of(e, 1);
  const auto count = static_cast<unsigned>(from.size());
  if (e.has("p")) {
    const TextureGeometry& g = texture_geometry(e);
    Words src = image_words(e, handle(e, e.operand(0)), false);
    append(src, surface_place(e, e.operand(0), g));
    for (unsigned n = 0; n < 4; ++n)
      src.push_back(n < count ? e.raw(from[n], kB32, Fit::wider) : imm(0));
    texture_op(e, Op::texel_store, {}, std::move(src), surface_access(e)).mem->cache =
        cache_policy(e, e.count());
    return;
  }
  const Surface at = byte_place(e, e.operand(0), e.type().bytes() * count);
  Words src{at.address};
  for (const Operand& o : from) src.push_back(e.raw(o, e.type(), Fit::wider));
  const ir::Guard outer = e.guard();
  guard_by(e, at.may);
  e.emit(Op::store, Type::none, {}, std::move(src)).mem = surface_memory(e, count);
  e.builder().set_guard(outer);
}

void lower_surface_reduce(Emit& e) {
  const PType t = e.type();
  const ir::Operand value = e.raw(1, t, Fit::wider);
  const bool formatted = e.has("p");
  const auto reduce = [&](const ir::Reg& address, Type type) {
    ir::Inst& atom = e.emit(Op::atom, Type::none, {}, {address, value});
    atom.mem.emplace();
    atom.mem->elem = t.bits == 64 ? Type::u64 : Type::u32;
    atom.mem->atom = atomic_operation(e.get("op"));
    atom.mem->atom_type = type;
    atom.mem->order = ir::Order::relaxed;
    atom.mem->scope = ir::Scope::gpu;
  };
  const ir::Guard outer = e.guard();
  if (!formatted) {
    const Surface at = byte_place(e, e.operand(0), t.bytes());
    guard_by(e, at.may);
    const bool negative = t.is_signed();
    reduce(at.address,
           t.bits == 64 ? (negative ? Type::s64 : Type::u64) : (negative ? Type::s32 : Type::u32));
    e.builder().set_guard(outer);
    return;
  }
  if (t.bits == 64)
    e.fail("'sured.p' of 64 bits is not supported: no format of a surface has 64-bit components");
  // The surface's format says whether its numbers have a sign.
  const TextureGeometry& g = texture_geometry(e);
  Words src = image_words(e, handle(e, e.operand(0)), false);
  const ir::Operand format = src[ir::image::format];
  append(src, surface_place(e, e.operand(0), g));
  const Surface at{e.temp(ir::Width::b64), e.temp(ir::Width::pred)};
  texture_op(e, Op::texel_address, {at.address, at.may}, std::move(src), surface_access(e));
  const ir::Reg number = e.op(Op::and_, Type::u32, {format, imm(7 << 12)});
  const ir::Reg negative = e.op(Op::icmp, Type::u32, {number, imm(5 << 12)});
  const ir::Reg positive = e.op(Op::not_, Type::pred, {negative});
  guard_by(e, e.op(Op::and_, Type::pred, {at.may, positive}));
  reduce(at.address, Type::u32);
  e.builder().set_guard(outer);
  guard_by(e, e.op(Op::and_, Type::pred, {at.may, negative}));
  reduce(at.address, Type::s32);
  e.builder().set_guard(outer);
}

void lower_query(Emit& e) {
  struct Query {
    std::string_view name;
    uint32_t word;
  };
  const auto word = [](TextureWord w, uint32_t more = 0) {
    return guest::texture_offset(w, more) / 4;
  };
  const Query kQueries[] = {
      {"width", word(TextureWord::image, 3)},
      {"height", word(TextureWord::image, 4)},
      {"depth", word(TextureWord::image, 5)},
      {"channel_data_type", word(TextureWord::channel_type)},
      {"channel_order", word(TextureWord::channel_order)},
      {"normalized_coords", word(TextureWord::normalised)},
      {"array_size", word(TextureWord::array_size)},
      {"num_mipmap_levels", word(TextureWord::level_count)},
      {"num_samples", word(TextureWord::sample_count)},
      {"filter_mode", word(TextureWord::filter_mode)},
      {"addr_mode_0", word(TextureWord::address_mode, 0)},
      {"addr_mode_1", word(TextureWord::address_mode, 1)},
      {"addr_mode_2", word(TextureWord::address_mode, 2)},
  };
  const std::string_view what = e.has("what") ? e.get("what") : e.get("of_sampler");
  const auto* const found = std::ranges::find(kQueries, what, &Query::name);
  if (found == std::end(kQueries))
    e.fail("'" + e.inst.opcode + "." + std::string(what) +
           "' is not supported: its value is not documented");
  const ir::Operand at = handle(e, e.operand(1));
  check_block(e, block_words(e, at, TextureWord::image, 9, 1)[0]);
  ir::Operand value = block_words(e, at, TextureWord::gcn, found->word, 1)[0];
  if (e.has("level")) {
    value = e.op(Op::shr, Type::u32, {value, e.raw(2, kB32)});
    value = e.op(Op::max, Type::u32, {value, imm(1)});
  }
  e.set(0, kB32, value);
}

void lower_is_type(Emit& e) {
  const std::string_view type = e.get("type");
  const uint32_t bit = type == "texref"       ? guest::kIsTexture
                       : type == "samplerref" ? guest::kIsSampler
                                              : guest::kIsSurface;
  const ir::Operand at = e.raw(1, kB64);
  const ir::Operand kind = block_words(e, at, TextureWord::image, 9, 1)[0];
  const ir::Reg magic = e.op(Op::shr, Type::u32, {kind, imm(16)});
  const ir::Reg either = e.op(Op::or_, Type::u32, {magic, imm(1)});  // bound or not
  const ir::Reg is_block = e.op(Op::icmp, Type::u32, {either, imm(guest::kUnboundMagic)});
  const ir::Reg chosen = e.op(Op::and_, Type::u32, {kind, imm(bit)});
  const ir::Reg fits = e.op(Op::icmp, Type::u32, {chosen, imm(0)}, {.cond = ir::Cond::ne});
  e.set(0, kPred, e.op(Op::and_, Type::pred, {is_block, fits}));
}

}  // namespace lanewise::ptx
