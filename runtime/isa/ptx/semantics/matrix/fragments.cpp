// Where the elements of a fragment are.
#include <charconv>

#include "runtime/isa/ptx/semantics/matrix/matrix.hpp"

namespace lanewise::ptx {

using ir::Op;
using ir::Type;

MatrixShape matrix_shape(std::string_view name) {
  MatrixShape s;
  const char* at = name.data();
  const char* const end = at + name.size();
  for (unsigned* part : {&s.m, &s.n, &s.k}) {
    if (at == end) break;
    at = std::from_chars(at + 1, end, *part).ptr;
  }
  return s;
}

unsigned MatrixType::bits() const {
  if (is("b1")) return 1;
  if (is("s4") || is("u4")) return 4;
  if (is("f16") || is("bf16")) return 16;
  if (is("tf32") || is("f32") || is("s32")) return 32;
  return is("f64") ? 64 : 8;
}

ir::Element MatrixType::element() const {
  using ir::Element;
  constexpr std::pair<std::string_view, Element> kElements[] = {
      {"f16", Element::f16},   {"bf16", Element::bf16}, {"tf32", Element::tf32},
      {"e4m3", Element::e4m3}, {"e5m2", Element::e5m2}, {"s8", Element::s8},
      {"u8", Element::u8},     {"s4", Element::s4},     {"u4", Element::u4}};
  for (const auto& [text, element] : kElements)
    if (text == name) return element;
  return Element::f16;
}

PType MatrixType::reg() const {
  if (is("f64")) return kF64;
  return is("f32") ? kF32 : is("s32") ? kS32 : kB32;
}

FragmentSize fragment_size(unsigned extent, unsigned k, MatrixType type) {
  return {extent / 8, std::max(k / (4 * type.in_unit()), 1U)};
}

unsigned unit_at(FragmentSize size, bool is_a, unsigned group, unsigned unit) {
  if (!is_a || size.groups == 1) return group * size.units + unit;
  return group / 2 * 2 * size.units + 2 * unit + group % 2;
}

LanePlace::LanePlace(Emit& e) {
  const ir::Reg id = e.temp(ir::Width::b32);
  e.emit(Op::sreg, Type::u32, {id}, {}).mode = static_cast<uint8_t>(ir::SReg::laneid);
  lane = id;
  group = e.op(Op::shr, Type::u32, {lane, imm(2)});
  place = e.op(Op::and_, Type::u32, {lane, imm(3)});
}

ir::Operand of_lane(Emit& e, ir::Operand value, ir::Operand from) {
  const ir::Reg got = e.temp(ir::Width::b32), valid = e.temp(ir::Width::pred);
  e.emit(Op::shfl, Type::none, {got, valid}, {value, from, imm(31), imm(0xffffffff)}).mode =
      static_cast<uint8_t>(ir::ShflMode::idx);
  return got;
}

ir::Operand of_quad(Emit& e, ir::Operand value, unsigned place) {
  const ir::Reg got = e.temp(ir::Width::b32), valid = e.temp(ir::Width::pred);
  constexpr uint64_t kSegmentsOfFour = 28 << 8 | 31;
  e.emit(Op::shfl, Type::none, {got, valid},
         {value, imm(place), imm(kSegmentsOfFour), imm(0xffffffff)})
      .mode = static_cast<uint8_t>(ir::ShflMode::idx);
  return got;
}

OperandList read_fragment(Emit& e, size_t operand, PType type) {
  OperandList values;
  const Operand& o = e.operand(operand);
  for (const Operand& element : o.elements) values.push_back(e.raw(element, type));
  if (o.kind != Operand::Kind::vector) values.push_back(e.raw(o, type));
  return values;
}

void write_fragment(Emit& e, size_t operand, PType type, const OperandList& values) {
  const Operand& o = e.operand(operand);
  if (o.kind != Operand::Kind::vector) return e.set(o, type, values[0], Fit::exact, true);
  for (size_t i = 0; i < o.elements.size(); ++i)
    e.set(o.elements[i], type, values[i % values.size()], Fit::exact, true);
}

}  // namespace lanewise::ptx
