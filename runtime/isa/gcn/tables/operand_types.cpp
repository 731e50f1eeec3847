// The type of each source: what a number in its place is made of, and whether it has a sign and an
// absolute value. It follows from what the row computes with.
#include <array>

#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// Sources behind the first that count or name bits, whatever type the first has.
bool counts_behind(const Row& row) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "v_ldexp_f16",      "v_ldexp_f32",     "v_ldexp_f64",
      "v_trig_preop_f64", "v_cvt_pk_u8_f32", "v_cvt_pkaccum_u8_f32"};
  return row.tests_class() || is_one_of(row.name, kNames);
}

Type of_dwords(Type type, unsigned dwords) {
  if (dwords > 1) return type == Type::f64 ? type : Type::u64;
  switch (type) {
    case Type::f16:
    case Type::f32:
      return type;
    case Type::u16:
    case Type::s16:
      return Type::u16;
    default:
      return Type::u32;
  }
}

bool is_number(Slot s) {
  return s == Slot::src0 || s == Slot::src1 || s == Slot::src2 || s == Slot::vsrc1 ||
         s == Slot::literal || s == Slot::ivsrc || s == Slot::ivsrc2;
}

}  // namespace

void set_operand_types(std::vector<Row>& rows) {
  for (Row& r : rows) {
    const Meaning& m = r.meaning;
    // A selection moves bits, and knows the signs of floats.
    const Type type = r.name == "v_cndmask_b32" || r.has(Slot::attr) ? Type::f32
                      : m.from != Type::none                         ? m.from
                                                                     : m.type;
    bool first = true;
    for (SlotSpec& s : r.operands) {
      const bool vector = r.is_vector_alu() && is_number(s.slot);
      const bool counts = !first && counts_behind(r);
      s.type = of_dwords(vector && !counts ? type : Type::u32, s.count);
      first = first && !vector;
    }
  }
}

bool Row::takes_output_scale() const {
  static constexpr std::array<std::string_view, 3> kAlso = {
      "v_cvt_pkrtz_f16_f32", "v_frexp_exp_i32_f64", "v_frexp_exp_i16_f16"};
  if (has(Slot::attr)) return encoding == Encoding::vop3 && name != "v_interp_p2_f16";
  if (encoding != Encoding::vop3 || !has(Slot::vdst)) return false;
  const bool to_integer = meaning.op == Op::f2i && ir::is_float(meaning.from);
  return ((ir::is_float(meaning.type) || to_integer) && !does(kNumberResult)) ||
         is_one_of(name, kAlso);
}

bool Row::takes_clamp(Gen gen) const {
  if (does(kClampsInteger)) return gen == Gen::gfx8;
  if (tests_class() || name == "v_cndmask_b32") return false;
  if (has(Slot::attr)) return encoding == Encoding::vop3;
  const bool real = ir::is_float(meaning.type) || ir::is_float(meaning.from);
  if (gen == Gen::gfx8) return real;
  // Before GCN3 only one float that comes out has a range, and a mask beside it takes the bit.
  const bool scales = ir::is_float(meaning.type) && takes_output_scale() && !has(Slot::mask_dst);
  return scales && name != "v_frexp_exp_i32_f64";
}

}  // namespace lanewise::gcn
