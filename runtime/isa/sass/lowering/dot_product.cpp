// IDP, which PTX calls dp4a and dp2a.
#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

/// As dp4a and dp2a are defined in PTX, which these forms were made for.
void lower_idp(LowerContext& c, const Instruction& i) {
  const bool bytes = i.mod(ModId::mode) == 0;
  const unsigned terms = bytes ? 4 : 2, width = bytes ? 8 : 16;
  const unsigned first = !bytes && i.mod(ModId::parts) != 0 ? 16 : 0;
  const Type type_a = i.mod(ModId::type) != 0 ? Type::s32 : Type::u32,
             type_b = i.mod(ModId::size) != 0 ? Type::s32 : Type::u32;
  const Operand a = c.raw(i, Role::a), b = c.raw(i, Role::b);
  Operand sum = c.raw(i, Role::c);
  for (unsigned n = 0; n < terms; ++n) {
    const Operand x = c.make(Op::bfe, type_a, {a, imm(n * width), imm(width)}),
                  y = c.make(Op::bfe, type_b, {b, imm(first + 8 * n), imm(8)});
    sum = c.make(Op::add, Type::u32, {sum, c.make(Op::mul, Type::u32, {x, y})});
  }
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {sum});
}

}  // namespace lanewise::sass
