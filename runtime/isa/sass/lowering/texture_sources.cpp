#include "runtime/isa/sass/lowering/texture_sources.hpp"

#include <algorithm>

#include "lanewise/types.hpp"

namespace lanewise::sass {

using guest::TextureWord;

Handle numbered_handle(LowerContext& c, unsigned number) {
  const unsigned offset = 4 * number;
  if (const Reference* r = c.reference_at(offset); r != nullptr) {
    const auto address = [&](const std::string& name) {
      return Operand(c.make(Op::mov, Type::u64, {c.symbol(name)}));
    };
    const Operand image = address(r->image);
    return {image, r->sampler.empty() ? image : address(r->sampler)};
  }
  constexpr unsigned kParams = 0x140, kBytes = 8;
  if (offset < kParams || offset % kBytes != 0) {
    const Operand low = c.constant(0, offset), high = c.constant(0, offset + 4);
    const Operand both = c.make(Op::pack64, Type::u64, {low, high});
    return {both, both};
  }
  // One load, by which launches find the handle.
  ir::Program& p = c.program();
  p.param_bytes = std::max<uint32_t>(p.param_bytes, offset - kParams + kBytes);
  const Reg whole = c.reg(Width::b64);
  ir::Inst& load = c.emit(Op::load, Type::none, {whole}, {imm(offset - kParams)});
  load.mem.emplace();
  load.mem->space = Space::param;
  load.mem->elem = Type::u64;
  return {whole, whole};
}

Handle register_handle(LowerContext& c, Operand value) {
  const Operand both = c.make(Op::pack64, Type::u64, {value, imm(0)});
  return {both, both};
}

Words block_words(LowerContext& c, Operand handle, TextureWord first, uint32_t more,
                  unsigned count) {
  std::vector<Reg> to;
  for (unsigned n = 0; n < count; ++n) to.push_back(c.reg(Width::b32));
  ir::Inst& load = c.emit(Op::load, Type::none, to, {handle});
  load.mode = static_cast<uint8_t>(ir::LoadMode::descriptor);
  load.mem.emplace();
  load.mem->space = Space::constant;
  load.mem->count = static_cast<uint8_t>(count);
  load.mem->offset = guest::texture_offset(first, more);
  return {to.begin(), to.end()};
}

namespace {

void check_block(LowerContext& c, Operand kind) {
  const Reg magic = c.make(Op::shr, Type::u32, {kind, imm(16)});
  const Reg bad = c.compare(Cond::ne, Type::u32, magic, imm(guest::kTextureMagic));
  c.set_guard(c.narrowed(bad));
  c.emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::illegal_encoding);
  c.set_guard(c.guard());
}

}  // namespace

Words image_words(LowerContext& c, Operand handle, bool levels) {
  const Words a = block_words(c, handle, TextureWord::image, 0, 4);
  const Words b = block_words(c, handle, TextureWord::image, 4, 4);
  const Words rest = block_words(c, handle, TextureWord::image, 8, 2);
  check_block(c, rest[1]);
  return {c.make(Op::pack64, Type::u64, {a[0], a[1]}),
          a[2],
          a[3],
          b[0],
          b[1],
          b[2],
          b[3],
          levels ? rest[0] : imm(0),
          rest[1]};
}

Words sampler_words(LowerContext& c, Operand handle) {
  Words all = block_words(c, handle, TextureWord::sampler, 0, 4);
  const Words more = block_words(c, handle, TextureWord::sampler, 4, 4);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Operand Sources::take_layer() {
  return c_.make(Op::and_, Type::u32, {take(), imm(0xffff)});
}

void put_registers(LowerContext& c, unsigned first, const std::vector<Reg>& values) {
  for (unsigned n = 0; n < values.size(); ++n)
    if (first < kRZ && first + n < kRZ)
      c.emit(Op::mov, Type::u32, {c.writable(first + n)}, {values[n]});
}

}  // namespace lanewise::sass
