// Call parameters that live in registers: parts of a little-endian array of words.
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {

using ir::Op;
using ir::Type;
namespace {

void write_word(Emit& e, ir::Reg word, ir::Operand value) {
  e.emit(Op::mov, Type::u32, {word}, {value});
}

void write_bits(Emit& e, ParamObject& object, uint32_t offset, unsigned bytes, ir::Operand value) {
  const ir::Reg word = object.words[offset / 4];
  const unsigned at = offset % 4;
  if (at == 0 && bytes == 4) return write_word(e, word, value);
  if (at + bytes <= 4) {
    e.emit(Op::bfi, Type::u32, {word}, {value, word, imm(8 * at), imm(8ULL * bytes)});
    return;
  }
  for (unsigned i = 0; i < bytes; ++i) {
    const ir::Operand byte = e.op(Op::shr, Type::u32, {value, imm(8ULL * i)});
    write_bits(e, object, offset + i, 1, byte);
  }
}

/// Up to 4 bytes at any offset, in the low bits.
ir::Operand read_bits(Emit& e, const ParamObject& object, uint32_t offset, unsigned bytes) {
  const uint32_t word = offset / 4;
  const unsigned at = offset % 4;
  if (at == 0) return object.words[word];
  if (at + bytes <= 4) return e.op(Op::shr, Type::u32, {object.words[word], imm(8ULL * at)});
  return e.op(Op::shf_r, Type::none, {object.words[word], object.words[word + 1], imm(8ULL * at)});
}

}  // namespace

ir::Operand read_words(Emit& e, const ParamObject& object, uint32_t offset, PType type) {
  if (type.bits == 64)
    return e.op(Op::pack64, Type::u64,
                {read_bits(e, object, offset, 4), read_bits(e, object, offset + 4, 4)});
  return e.extend(read_bits(e, object, offset, type.bytes()), type.bits, type.is_signed());
}

void write_words(Emit& e, ParamObject& object, uint32_t offset, PType type, ir::Operand value) {
  if (type.bits != 64) return write_bits(e, object, offset, type.bytes(), value);
  const ir::Reg low = e.temp(ir::Width::b32), high = e.temp(ir::Width::b32);
  e.emit(Op::unpack64, Type::none, {low, high}, {value});
  write_bits(e, object, offset, 4, low);
  write_bits(e, object, offset + 4, 4, high);
}

}  // namespace lanewise::ptx
