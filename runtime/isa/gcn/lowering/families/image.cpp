// Images: a T# and an S# in scalar registers, coordinates in vector registers whose number the T#
// decides. What texels lie where, and how samples are filtered, is ir/texture.hpp's.
#include "runtime/isa/gcn/lowering/families/image_address.hpp"
#include "runtime/isa/gcn/rules/modifier_rules.hpp"

namespace lanewise::gcn {

std::vector<Reg> zero_registers(LowerContext& c, unsigned count) {
  std::vector<Reg> out;
  for (unsigned n = 0; n < count; ++n) out.push_back(zeroed(c));
  return out;
}

void deliver_components(LowerContext& c, const Instruction& i, const std::vector<Reg>& values) {
  unsigned to = i.operand(Slot::idata)->code;
  const unsigned mask = i.row->image.gathers ? 15U : std::max<unsigned>(i.graphics.dmask, 1);
  for (unsigned n = 0; n < values.size(); ++n)
    if ((mask >> n & 1) != 0) c.emit_vector(Op::mov, Type::u32, {c.vgpr(to++)}, {values[n]});
  if (i.tfe) c.emit_vector(Op::mov, Type::u32, {c.vgpr(to)}, {imm(0)});
}

ir::TextureAccess described_access() {
  ir::TextureAccess t;
  t.dim = ir::TextureAccess::Dim::described;
  return t;
}

namespace {

using Last = ImageForm::Last;

/// The words of the image, and the place of one of its texels: x, y, z, layer, level.
std::vector<ir::Operand> texel_place(LowerContext& c, const Instruction& i, const ImageState& s) {
  Fold f(c);
  ImageAddress a(c, i, s);
  std::vector<ir::Operand> src(s.words.begin(), s.words.end());
  const ir::Operand slice = a.slice();
  const ir::Operand inside = f.compare(Cond::lt, Type::u32, slice, s.layers);
  const ir::Operand layer = f.select(inside, f.add(slice, s.first_layer), imm(0xffffffff));
  src.insert(src.end(), {a.x(), a.y(), a.z(), layer});
  ir::Operand level = imm(0);
  if (i.row->image.last == Last::mip) {
    // A level beside the chain is none of the image's: 16 is more than a chain has.
    const ir::Operand wanted = a.last();
    const ir::Operand most = f.sub(s.last_level, s.base_level);
    const ir::Operand there = f.compare(Cond::le, Type::u32, wanted, most);
    level = f.select(there, wanted, imm(16));
  }
  src.push_back(level);
  return src;
}

struct TexelAt {
  Reg address;
  ir::Operand may;
};
TexelAt texel_at(LowerContext& c, const Instruction& i, const ImageState& s,
                 const ir::Operand& usable) {
  TexelAt t{c.reg(Width::b64), {}};
  const Reg inside = c.reg(Width::pred);
  c.emit(Op::texel_address, Type::u64, {t.address, inside}, texel_place(c, i, s)).texture =
      described_access();
  Fold f(c);
  t.may = c.active(f.both(inside, usable));
  return t;
}

/// What bits of a texel's dword are its first component, by data format.
ir::Operand sign_extended_texel(LowerContext& c, const ImageState& s, ir::Operand word) {
  constexpr uint64_t kBytes = 1U << 1 | 1U << 3 | 1U << 10, kHalves = 1U << 2 | 1U << 5 | 1U << 12;
  Fold f(c);
  const ir::Operand data = f.field(s.word(ir::image::format), 15, 4);
  const auto is_in = [&](uint64_t set) {
    return f.eq(f.field(f.shr(imm(set), data), 0, 1), imm(1));
  };
  const ir::Operand whole = f.select(is_in(kHalves), f.op(Op::sext16, Type::u32, {word}), word);
  return f.select(is_in(kBytes), f.op(Op::sext8, Type::u32, {word}), whole);
}

}  // namespace

void lower_image_load(LowerContext& c, const Instruction& i) {
  const ImageState s = image_state(c, i);
  const std::vector<Reg> values = zero_registers(c, 4);
  if (!i.row->image.packed) {
    std::vector<ir::Operand> src = texel_place(c, i, s);
    guarded(c, s.usable, [&] {
      ir::Inst& load = c.emit(Op::texel_load, Type::none, values, std::move(src));
      load.texture = described_access();
      load.mode = format_mode(c, i);
      load.mem = buffer_memory(i, Type::u32);
    });
    return deliver_components(c, i, values);
  }
  const TexelAt t = texel_at(c, i, s, s.usable);
  for_each_part(c, s.bytes, t.may, [&](const Part& p) {
    ir::Inst& load = c.emit(Op::load, Type::u32, {values[p.word]}, {t.address});
    load.mem = buffer_memory(i, p.elem);
    load.mem->offset = 4 * int64_t{p.word};
  });
  if (i.row->image.extends)
    for (const Reg v : values) c.emit(Op::mov, Type::u32, {v}, {sign_extended_texel(c, s, v)});
  deliver_components(c, i, values);
}

/// Components that dmask leaves out are stored as 0.
void lower_image_store(LowerContext& c, const Instruction& i) {
  refuse_tfe_on_store(i);
  const ImageState s = image_state(c, i);
  std::vector<ir::Operand> values;
  unsigned next = 0;
  const unsigned mask = std::max<unsigned>(i.graphics.dmask, 1);
  for (unsigned n = 0; n < 4; ++n)
    values.push_back((mask >> n & 1) != 0 ? c.read32(*i.operand(Slot::idata), next++)
                                          : ir::Operand(imm(0)));
  if (!i.row->image.packed) {
    std::vector<ir::Operand> src = texel_place(c, i, s);
    src.insert(src.end(), values.begin(), values.end());
    guarded(c, s.usable, [&] {
      ir::Inst& store = c.emit(Op::texel_store, Type::none, {}, std::move(src));
      store.texture = described_access();
      store.mode = format_mode(c, i);
      store.mem = buffer_memory(i, Type::u32);
    });
    return;
  }
  const TexelAt t = texel_at(c, i, s, s.usable);
  for_each_part(c, s.bytes, t.may, [&](const Part& p) {
    ir::Inst& store = c.emit(Op::store, Type::u32, {}, {t.address, values[p.word]});
    store.mem = buffer_memory(i, p.elem);
    store.mem->offset = 4 * int64_t{p.word};
  });
}

/// On texels that are as wide as the data; others are reported. The old value comes back with GLC
/// only. Compare and swap: the new value first, the value to compare with behind it.
void lower_image_atomic(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const bool compares = i.row->compares();
  const bool wide = i.graphics.dmask == (compares ? 15 : 3);
  const ImageState s = image_state(c, i);
  Fold f(c);
  const ir::Operand fits = f.eq(s.bytes, imm(wide ? 8 : 4));
  report_encoding(c, f.both(s.usable, f.compare(Cond::ne, Type::u32, s.bytes, imm(wide ? 8 : 4))));
  const TexelAt t = texel_at(c, i, s, f.both(s.usable, fits));
  const Operand& data = *i.operand(Slot::idata);
  const auto value = [&](unsigned first) -> ir::Operand {
    if (!wide) return c.read32(data, first);
    const Reg r = c.reg(Width::b64);
    c.emit(Op::pack64, Type::u64, {r}, {c.read32(data, first), c.read32(data, first + 1)});
    return r;
  };
  const Type bits = wide ? Type::u64 : Type::u32;
  std::vector<ir::Operand> src = {t.address};
  if (compares) src.push_back(value(wide ? 2 : 1));
  src.push_back(value(0));
  std::vector<Reg> old;
  if (i.glc) {
    old.push_back(c.reg(ir::width_of(bits)));
    c.emit(Op::mov, bits, old, {imm(0)});
  }
  ir::Mem mem = buffer_memory(i, bits);
  mem.align_bytes = 0;
  mem.order = ir::Order::relaxed;
  mem.scope = ir::Scope::gpu;
  mem.atom = m.atom;
  mem.atom_type = !wide                 ? m.type
                  : m.type == Type::f32 ? Type::f64
                  : m.type == Type::s32 ? Type::s64
                                        : Type::u64;
  if (t.may.is_reg()) c.set_guard({t.may.reg(), false});
  c.emit(Op::atom, bits, old, std::move(src)).mem = mem;
  c.set_guard({});
  const unsigned to = i.operand(Slot::idata)->code;
  if (i.glc && !wide) c.emit_vector(Op::mov, Type::u32, {c.vgpr(to)}, {old[0]});
  if (i.glc && wide) c.emit_vector(Op::unpack64, Type::u64, {c.vgpr(to), c.vgpr(to + 1)}, {old[0]});
  if (i.tfe) c.emit_vector(Op::mov, Type::u32, {c.vgpr(to + data_registers(i) - 1)}, {imm(0)});
}

/// Width, height, depth or layers, and how many levels; all 0 for a level that is not there.
void lower_image_size(LowerContext& c, const Instruction& i) {
  const ImageState s = image_state(c, i);
  Fold f(c);
  const ir::Operand wanted = c.vgpr(i.operand(Slot::iaddr)->code);
  const ir::Operand most = f.sub(s.last_level, s.base_level);
  const ir::Operand there = f.compare(Cond::le, Type::u32, wanted, most);
  const ir::Operand level = f.add(f.select(there, wanted, imm(0)), s.base_level);
  const auto at_level = [&](ir::Operand size) { return f.umax(imm(1), f.shr(size, level)); };
  const ir::Operand sizes[] = {
      at_level(s.word(ir::image::width)),
      f.select(s.one, s.layers, at_level(s.word(ir::image::height))),
      f.select(s.three, at_level(s.word(ir::image::depth)), f.select(s.one, imm(1), s.layers))};
  std::vector<Reg> values = zero_registers(c, 4);
  guarded(c, s.usable, [&] {
    for (unsigned n = 0; n < 3; ++n)
      c.emit(Op::select, Type::u32, {values[n]}, {there, sizes[n], imm(0)});
    c.emit(Op::add, Type::u32, {values[3]}, {most, imm(1)});
  });
  deliver_components(c, i, values);
}

}  // namespace lanewise::gcn
