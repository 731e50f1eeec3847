// Surfaces: texels by their bytes (.D, coordinates of bytes with .BA) or through their format (.P).
#include <algorithm>
#include <optional>

#include "runtime/isa/sass/lowering/texture_sources.hpp"

namespace lanewise::sass {

using ir::TextureAccess;

namespace {

using Dim = TextureAccess::Dim;

constexpr Field kSurfaceData{0, 8}, kSurfacePlace{8, 8}, kSource{20, 8}, kShape{33, 3},
    kClamp{49, 2}, kCache{24, 2}, kChannels{20, 4}, kSize{20, 3};

unsigned surface_field(const Instruction& i, Field f) {
  return static_cast<unsigned>(f.get(i.word));
}

/// The image of an instruction, and the place of a texel of it.
struct Surface {
  TextureAccess access;
  Words image, place;
};

Surface surface_of(LowerContext& c, const Instruction& i) {
  struct Shape {
    Dim dim;
    bool array;
    unsigned coordinates;
  };
  static constexpr Shape kShapes[] = {{Dim::d1, false, 1}, {Dim::d1, false, 1},
                                      {Dim::d1, true, 1},  {Dim::d2, false, 2},
                                      {Dim::d2, true, 2},  {Dim::d3, false, 3}};
  static constexpr TextureAccess::Outside kOutside[] = {
      TextureAccess::Outside::zero, TextureAccess::Outside::clamp, TextureAccess::Outside::trap};
  const unsigned code = surface_field(i, kShape), beside = surface_field(i, kClamp);
  refuse(code >= std::size(kShapes) || beside >= std::size(kOutside),
         "such a shape or such a rule for places beside the surface does not exist");
  refuse(code == 1, "surfaces of buffers (1D_BUFFER) are not supported");
  const Shape& shape = kShapes[code];
  const OperandSpec& handle = *i.operand(Role::c);
  const Handle at = handle.kind == OperandSpec::Kind::imm
                        ? numbered_handle(c, surface_field(i, handle.field))
                        : register_handle(c, c.readable(surface_field(i, handle.field)));
  Surface s;
  s.access.dim = shape.dim;
  s.access.array = shape.array;
  s.access.outside = kOutside[beside];
  s.image = image_words(c, at.image, false);
  Sources from(c, surface_field(i, kSurfacePlace));
  s.place.assign(5, imm(0));  // x, y, z, layer, level
  for (unsigned n = 0; n < shape.coordinates; ++n) s.place[n] = from.take();
  if (shape.array) s.place[3] = from.take();
  return s;
}

struct SurfaceTexel {
  Reg address, may;
};
SurfaceTexel texel_address(LowerContext& c, const Surface& s) {
  Words src = s.image;
  src.insert(src.end(), s.place.begin(), s.place.end());
  const SurfaceTexel t{c.reg(Width::b64), c.reg(Width::pred)};
  c.emit(Op::texel_address, Type::none, {t.address, t.may}, std::move(src)).texture = s.access;
  return t;
}

/// `bytes` bytes at a place whose first coordinate counts bytes: those of an image of one-byte
/// texels that is as wide as such an access may begin.
SurfaceTexel byte_address(LowerContext& c, Surface s, unsigned bytes, bool counts_bytes) {
  const Reg texel = c.make(Op::fmt_bytes, Type::none, {s.image[ir::image::format]});
  if (!counts_bytes) {
    // Beside every image, and on its own side of it, where the product would wrap.
    constexpr uint32_t kMost = 1 << 26, kBeside = 1 << 30;
    const Reg near = c.compare(Cond::lt, Type::u32, s.place[0], imm(kMost));
    s.place[0] = c.make(Op::select, Type::u32,
                        {near, c.make(Op::mul, Type::u32, {s.place[0], texel}),
                         c.make(Op::or_, Type::u32, {s.place[0], imm(kBeside)})});
  }
  const Reg row = c.make(Op::mul, Type::u32, {s.image[ir::image::width], texel});
  const Reg ends = c.make(Op::min, Type::u32, {row, imm(bytes - 1)});
  constexpr uint32_t kBytes = 1 << 15 | 4 << 12;  // the format of one unsigned byte
  s.image[ir::image::width] = c.make(Op::sub, Type::u32, {row, ends});
  s.image[ir::image::format] = imm(kBytes);
  return texel_address(c, s);
}

struct SurfaceData {
  Type elem;
  unsigned count;
  unsigned bytes() const { return ir::size_of(elem) * count; }
};
SurfaceData data_of(const Instruction& i) {
  static constexpr SurfaceData kSizes[] = {{Type::u8, 1},  {Type::s8, 1},  {Type::u16, 1},
                                           {Type::s16, 1}, {Type::u32, 1}, {Type::u32, 2},
                                           {Type::u32, 4}};
  const unsigned code = surface_field(i, kSize);
  refuse(code >= std::size(kSizes), "such a size does not exist");
  return kSizes[code];
}

ir::Mem surface_memory(Type elem, unsigned count) {
  ir::Mem m;
  m.elem = elem;
  m.count = static_cast<uint8_t>(count);
  m.align = ir::AlignRule::force;
  return m;
}
ir::Mem load_memory(const Instruction& i, Type elem, unsigned count) {
  static constexpr CacheOp kCops[] = {CacheOp::ca, CacheOp::cg, CacheOp::ci, CacheOp::cv};
  ir::Mem m = surface_memory(elem, count);
  m.cache.op = kCops[surface_field(i, kCache)];
  if (m.cache.op == CacheOp::cv) m.order = ir::Order::volatile_;
  return m;
}
ir::Mem store_memory(const Instruction& i, Type elem, unsigned count) {
  static constexpr CacheOp kCops[] = {CacheOp::wb, CacheOp::cg, CacheOp::cs, CacheOp::wt};
  ir::Mem m = surface_memory(elem, count);
  m.cache.op = kCops[surface_field(i, kCache)];
  if (m.cache.op == CacheOp::wt) m.order = ir::Order::volatile_;
  return m;
}

bool is_formatted(const Instruction& i) {
  return i.form->is(kFormatted);
}
/// The modifier that says that the first coordinate counts bytes.
bool counts_bytes(const Instruction& i) {
  for (const Mod& m : i.form->mods)
    if (std::ranges::any_of(m.codes, [](const Code& k) { return k.text == "BA"; }))
      return m.get(i.word) != 0;
  return false;
}

/// Every texel is resident here, so the predicate of those that are not is false.
void put_surface_residency(LowerContext& c, const Instruction& i) {
  if (i.operand(Role::p) != nullptr) c.write_predicate(i, Role::p, imm(0));
}

std::vector<Reg> zero_words(LowerContext& c, unsigned count) {
  std::vector<Reg> out;
  for (unsigned n = 0; n < count; ++n) out.push_back(c.make(Op::mov, Type::u32, {imm(0)}));
  return out;
}

}  // namespace

void lower_suld(LowerContext& c, const Instruction& i) {
  const Surface s = surface_of(c, i);
  if (is_formatted(i)) {
    Words src = s.image;
    src.insert(src.end(), s.place.begin(), s.place.end());
    const std::vector<Reg> texel = zero_words(c, 4);
    ir::Inst& load = c.emit(Op::texel_load, Type::none, texel, std::move(src));
    load.texture = s.access;
    load.mem = load_memory(i, Type::u32, 1);
    std::vector<Reg> wanted;
    for (unsigned n = 0; n < 4; ++n)
      if ((surface_field(i, kChannels) >> n & 1) != 0) wanted.push_back(texel[n]);
    put_registers(c, surface_field(i, kSurfaceData), wanted);
    return put_surface_residency(c, i);
  }
  const SurfaceData d = data_of(i);
  c.check_vector(surface_field(i, kSurfaceData), d.count);
  const SurfaceTexel at = byte_address(c, s, d.bytes(), counts_bytes(i));
  const std::vector<Reg> values = zero_words(c, d.count);
  c.set_guard(c.narrowed(at.may));
  c.emit(Op::load, Type::none, values, {at.address}).mem = load_memory(i, d.elem, d.count);
  c.set_guard(c.guard());
  put_registers(c, surface_field(i, kSurfaceData), values);
  put_surface_residency(c, i);
}

void lower_sust(LowerContext& c, const Instruction& i) {
  c.leave_out_lanes_without_stores();
  const Surface s = surface_of(c, i);
  Sources from(c, surface_field(i, kSurfaceData));
  if (is_formatted(i)) {
    Words src = s.image;
    src.insert(src.end(), s.place.begin(), s.place.end());
    for (unsigned n = 0; n < 4; ++n)
      src.push_back((surface_field(i, kChannels) >> n & 1) != 0 ? from.take() : imm(0));
    ir::Inst& store = c.emit(Op::texel_store, Type::none, {}, std::move(src));
    store.texture = s.access;
    store.mem = store_memory(i, Type::u32, 1);
    return;
  }
  const SurfaceData d = data_of(i);
  c.check_vector(surface_field(i, kSurfaceData), d.count);
  const SurfaceTexel at = byte_address(c, s, d.bytes(), counts_bytes(i));
  Words src{at.address};
  for (unsigned n = 0; n < d.count; ++n) src.push_back(from.take());
  c.set_guard(c.narrowed(at.may));
  c.emit(Op::store, Type::none, {}, std::move(src)).mem = store_memory(i, d.elem, d.count);
  c.set_guard(c.guard());
}

namespace {

constexpr AtomOp kAtoms[] = {AtomOp::add,  AtomOp::min, AtomOp::max,  AtomOp::inc, AtomOp::dec,
                             AtomOp::and_, AtomOp::or_, AtomOp::xor_, AtomOp::exch};

struct SurfaceAtomic {
  AtomOp op;
  Type type = Type::u32;
  bool ftz = false;
  bool wide() const { return ir::size_of(type) == 8; }
};
std::string_view type_text(const Instruction& i) {
  const Mod* type = i.form->mod(ModId::type);
  if (type == nullptr) return {};
  const auto is_it = [&](const Code& c) { return c.value == type->get(i.word); };
  return std::ranges::find_if(type->codes, is_it)->text;
}
Type surface_type(const Instruction& i, Field at) {
  // f16: a sum for each half of 32 bits, from sm_52 on.
  static constexpr Type kTypes[] = {Type::u32, Type::s32, Type::u64,
                                    Type::f32, Type::f16, Type::s64};
  const unsigned code = surface_field(i, at);
  refuse(code >= std::size(kTypes) || type_text(i).starts_with("INVALID"),
         "what an operation of this type does is not documented");
  return kTypes[code];
}

void check_surface_atomic(const SurfaceAtomic& a) {
  const bool sum = a.op == AtomOp::add, wraps = a.op == AtomOp::inc || a.op == AtomOp::dec;
  refuse(ir::is_float(a.type) && !sum, "floats have sums alone");
  refuse(wraps && a.type != Type::u32, "INC and DEC work on U32 alone");
}

void emit_surface_atomic(LowerContext& c, const SurfaceAtomic& a, Operand address,
                         const Words& values, ir::Guard guard, const std::vector<Reg>& old) {
  c.set_guard(guard);
  Words src{address};
  src.insert(src.end(), values.begin(), values.end());
  const Type bits = a.wide() ? Type::u64 : Type::u32;
  ir::Inst& atom = c.emit(Op::atom, bits, old, std::move(src));
  atom.mem = surface_memory(bits, 1);
  atom.mem->order = ir::Order::relaxed;
  atom.mem->scope = ir::Scope::gpu;
  atom.mem->atom = a.op;
  atom.mem->atom_type = a.type;
  atom.ftz = a.ftz;
  c.set_guard(c.guard());
}

/// The values, and where the old one goes.
void operate(LowerContext& c, const Instruction& i, SurfaceAtomic a, std::optional<Field> type,
             const std::vector<unsigned>& values, unsigned old) {
  c.leave_out_lanes_without_stores();
  const Surface s = surface_of(c, i);
  if (type) a.type = surface_type(i, *type);
  a.ftz = type_text(i).find(".FTZ") != std::string_view::npos;
  check_surface_atomic(a);
  if (a.wide()) c.check_vector(old, 2);
  Words words;
  for (const unsigned v : values) words.push_back(a.wide() ? c.pair(v) : c.readable(v));
  std::vector<Reg> result;
  if (old != kRZ) result.push_back(c.make(Op::mov, a.wide() ? Type::u64 : Type::u32, {imm(0)}));
  if (type) {
    const SurfaceTexel at = byte_address(c, s, a.wide() ? 8 : 4, counts_bytes(i));
    emit_surface_atomic(c, a, at.address, words, c.narrowed(at.may), result);
  } else {
    // The surface's format says whether its numbers have a sign.
    constexpr uint32_t kNumber = 7 << 12, kSigned = 5 << 12;
    const SurfaceTexel at = texel_address(c, s);
    const Reg number = c.make(Op::and_, Type::u32, {s.image[ir::image::format], imm(kNumber)});
    const Reg negative = c.reg(Width::pred);
    c.emit(Op::icmp, Type::u32, {negative}, {number, imm(kSigned)});
    const Reg positive = c.make(Op::not_, Type::pred, {negative});
    for (const auto& [when, kind] :
         {std::pair(negative, Type::s32), std::pair(positive, Type::u32)}) {
      a.type = kind;
      emit_surface_atomic(c, a, at.address, words,
                          c.narrowed(c.make(Op::and_, Type::pred, {at.may, when})), result);
    }
  }
  put_surface_residency(c, i);
  if (old == kRZ) return;
  if (!a.wide()) return put_registers(c, old, result);
  c.emit(Op::unpack64, Type::u32, {c.writable(old), c.writable(old + 1)}, {result[0]});
}

AtomOp surface_operation(const Instruction& i, Field at) {
  const unsigned code = surface_field(i, at);
  refuse(code >= std::size(kAtoms), "such an operation does not exist");
  return kAtoms[code];
}

}  // namespace

void lower_sured(LowerContext& c, const Instruction& i) {
  const std::optional<Field> type = is_formatted(i) ? std::nullopt : std::optional(Field{20, 3});
  operate(c, i, {surface_operation(i, {24, 3})}, type, {surface_field(i, kSurfaceData)}, kRZ);
}

void lower_suatom(LowerContext& c, const Instruction& i) {
  const bool number = i.operand(Role::c)->kind == OperandSpec::Kind::imm;
  std::optional<Field> type;
  if (!is_formatted(i)) type = number ? Field{51, 3} : Field{36, 3};
  operate(c, i, {surface_operation(i, {29, 4})}, type, {surface_field(i, kSource)},
          surface_field(i, kSurfaceData));
}

/// The value to compare with stands first, the new one behind it.
void lower_suatom_cas(LowerContext& c, const Instruction& i) {
  const bool number = i.operand(Role::c)->kind == OperandSpec::Kind::imm;
  refuse(is_formatted(i) && surface_field(i, {29, 4}) != 0, "such an operation does not exist");
  std::optional<Field> type;
  if (!is_formatted(i)) type = number ? Field{51, 3} : Field{36, 3};
  const bool wide = type && ir::size_of(surface_type(i, *type)) == 8;
  const unsigned first = surface_field(i, kSource);
  c.check_vector(first, wide ? 4 : 2);
  operate(c, i, {AtomOp::cas}, type, {first, first == kRZ ? kRZ : first + (wide ? 2 : 1)},
          surface_field(i, kSurfaceData));
}

}  // namespace lanewise::sass
