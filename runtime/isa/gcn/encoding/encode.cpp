// Instructions to words and back, by the fields of their formats.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/gcn/encoding/formats.hpp"
#include "runtime/isa/gcn/encoding/lane_form.hpp"
#include "runtime/isa/gcn/rules/modifier_rules.hpp"
#include "runtime/isa/gcn/text/operands/graphics_text.hpp"
#include "runtime/isa/gcn/text/operands/number_text.hpp"
#include "runtime/isa/gcn/text/operands/register_text.hpp"

namespace lanewise::gcn {
namespace {

uint32_t bits(uint64_t w, unsigned pos, unsigned len) {
  return static_cast<uint32_t>(w >> pos & ((uint64_t{1} << len) - 1));
}

/// GCN2's scalar loads take offsets that do not fit the byte from a literal.
bool is_literal_offset(const Operand& o, const OperandField& f, Gen gen) {
  return f.holds == Holds::offset && gen == Gen::gfx7 && o.immediate && o.value > 255;
}

uint64_t stored(const Operand& o, const OperandField& f) {
  const uint64_t value = bits(o.value, 0, f.len);
  switch (f.holds) {
    case Holds::code:
      return bits(o.code, 0, f.len);
    case Holds::vgpr:
      return o.code >= kVgpr0 ? o.code - kVgpr0 : 0;  // one that no flag asks for has no code
    case Holds::pairs:
      return o.code / 2;
    case Holds::quads:
      return o.code / 4;
    case Holds::number:
      return value;
    case Holds::offset:
      return o.immediate ? value : o.code;
    case Holds::attribute:
      return (o.value & 63) << 2 | (o.value >> 6 & 3);
  }
  return 0;
}

Operand read_back(uint64_t w, const OperandField* f, const SlotSpec& spec) {
  Operand o;
  o.count = spec.count;
  if (f == nullptr) {
    o.immediate = spec.slot == Slot::literal;
    if (spec.slot == Slot::vcc) o.code = kVccLo;
    if (spec.slot == Slot::vcc) o.count = 2;
    return o;
  }
  const unsigned value = bits(w, f->pos, f->len);
  o.code = f->holds == Holds::vgpr    ? kVgpr0 + value
           : f->holds == Holds::pairs ? value * 2
           : f->holds == Holds::quads ? value * 4
                                      : value;
  o.immediate = f->holds == Holds::number || f->holds == Holds::attribute ||
                (f->holds == Holds::offset && bits(w, f->flag, 1) != 0);
  if (o.immediate) o.value = f->holds == Holds::attribute ? value >> 2 | (value & 3) << 6 : value;
  return o;
}

/// Has a sign and an absolute value in VOP3. The attribute's place has bits for them, too.
bool is_float_source(Slot s) {
  return s == Slot::src0 || s == Slot::src1 || s == Slot::src2 || s == Slot::ivsrc ||
         s == Slot::ivsrc2;
}
/// Calls visit(operand, bit of its absolute value, bit of its sign) for each source that can have
/// them. The absolute values' bits of a carry's instruction are its mask register.
template <class I, class Visit>
void each_sign(I& i, Visit visit) {
  const bool has_abs = !(i.row->has(Slot::mask_dst) && i.row->has(Slot::vdst));
  unsigned n = i.row->has(Slot::attr) ? 1 : 0;
  for (size_t k = 0; k < i.operands.size(); ++k)
    if (is_float_source(i.row->operands[k].slot)) {
      visit(i.operands[k], has_abs ? 8 + n : 64, 61 + n);
      ++n;
    }
}

/// Exports have a bit and a register for each component.
template <class I, class Visit>
void each_component(I& i, Visit visit) {
  // With halves, two registers stand for four components.
  for (unsigned n = 0; n < 4; ++n)
    visit(i.operands[n + 1], n, 32 + 8 * (i.graphics.compr ? n / 2 : n));
}

uint64_t modifier_bits(const Instruction& i, std::span<const Modifier> all, Gen gen) {
  uint64_t w = 0;
  each_modifier(i, all, gen, [&](const Modifier& m) {
    w |= uint64_t{bits(m.member.get(i), 0, m.len)} << m.pos;
  });
  return w;
}
void read_modifiers(Instruction& i, std::span<const Modifier> all, uint64_t w, Gen gen) {
  each_modifier(i, all, gen, [&](const Modifier& m) { m.member.set(i, bits(w, m.pos, m.len)); });
}

/// Floats alone have signs.
bool only_floats_signed(const Instruction& i) {
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const Operand& o = i.operands[k];
    if ((o.neg || o.abs) && !ir::is_float(i.row->operands[k].type)) return false;
  }
  return true;
}

/// Whether there is such a register or constant in this place.
bool readable(const Operand& o, Slot s, const Row& row, Gen gen) {
  if (s == Slot::target) return is_target(o.value);
  if (s == Slot::ipoint) return o.value <= 2;
  if (s == Slot::gpr_idx) return o.value <= 15;
  if (s == Slot::attr) return o.value < kAttributeHigh || row.meaning.type == ir::Type::f16;
  if (o.immediate || s == Slot::vcc) return true;
  if (s == Slot::ivsrc || s == Slot::ivsrc2) return o.code >= kVgpr0;
  if ((s == Slot::mask_dst || s == Slot::sdst) && o.code >= kZero) return false;
  if (o.code >= kVgpr0) return o.code + o.count <= kVgpr0 + 256;
  if (o.code < kZero) return is_scalar_register(o.code, o.count, gen);
  if (o.code == kLiteral) return row.encoding != Encoding::vop3 && !is_buffer(row.encoding);
  if (o.code == kInverseTwoPi) return gen == Gen::gfx8;
  if (o.code == kLdsDirect) return s == Slot::src0 && o.count == 1;
  return inline_constant(o.code).has_value() || (o.code >= kVccz && o.code <= kScc);
}

/// Does the first word alone say that another one follows: a literal, lanes or parts?
bool names_second_word(Encoding e, uint32_t word, Gen gen) {
  const unsigned first = bits(word, 0, 9), byte = first & 255;
  switch (e) {
    case Encoding::sop1:
      return byte == kLiteral;
    case Encoding::sop2:
    case Encoding::sopc:
      return byte == kLiteral || bits(word, 8, 8) == kLiteral;
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
      return first == kLiteral || (gen == Gen::gfx8 && (first == kSdwaCode || first == kDppCode));
    default:
      return false;
  }
}

/// A DPP or SDWA dword behind the instruction; false when it cannot be there.
bool read_form(Instruction& i, const std::vector<uint32_t>& words, Gen gen) {
  const Operand* source = i.operand(Slot::src0);
  if (gen != Gen::gfx8 || source == nullptr || i.row->encoding == Encoding::vop3) return true;
  if (source->code != kDppCode && source->code != kSdwaCode) return true;
  i.form = source->code == kDppCode ? Form::dpp : Form::sdwa;
  if (!takes_lane_form(*i.row) || words.size() < 2) return false;
  read_modifiers(i, form_modifiers(i.form), words[1], gen);
  return form_exists(i);
}

/// Registers whose number modifiers say.
void count_registers(Instruction& i) {
  for (size_t n = 0; n < i.operands.size(); ++n) {
    uint8_t& count = i.operands[n].count;
    switch (i.row->operands[n].slot) {
      case Slot::vaddr:
        count = i.addr64 || (i.offen && i.idxen) ? 2 : i.offen || i.idxen ? 1 : 0;
        break;
      case Slot::idata:
        count = static_cast<uint8_t>(data_registers(i));
        break;
      case Slot::iaddr:
        count = i.row->least_address;
        break;
      default:
        break;
    }
  }
}

/// Flat atomics with and without a result share an opcode; GLC says which.
const Row* row_at(const InstructionFormat& format, uint64_t w, Gen gen) {
  const Row* row = row_of(format.encoding, bits(w, format.opcode_pos, format.opcode_len), gen);
  if (row == nullptr || format.encoding != Encoding::flat || row->meaning.op != ir::Op::atom)
    return row;
  for (const Row* r : rows_named(row->name))
    if (r->encoding == Encoding::flat && r->meaning.returns == (bits(w, 16, 1) != 0)) row = r;
  return row;
}

/// Literals stand behind the instruction. False where an operand is none that there is.
bool read_operands(Instruction& i, const std::vector<uint32_t>& words, Gen gen) {
  for (size_t n = 0; n < i.operands.size(); ++n) {
    Operand& o = i.operands[n];
    const Slot slot = i.row->operands[n].slot;
    const bool literal = slot == Slot::literal || (!o.immediate && o.code == kLiteral);
    // A constant in a register's place: its text would read as the immediate form.
    if (slot == Slot::soff && !o.immediate && o.code >= kZero && (!literal || gen != Gen::gfx7))
      return false;
    if (!readable(o, slot, *i.row, gen) || (literal && words.size() < 2)) return false;
    if (!literal) continue;
    o.immediate = o.immediate || slot == Slot::soff;
    o.value = words[1];
  }
  return true;
}

}  // namespace

std::vector<uint32_t> encode(const Instruction& i, Gen gen) {
  const Row& row = *i.row;
  std::vector<uint32_t> out;
  if (row.encoding == Encoding::data) {
    for (const Operand& o : i.operands) out.push_back(o.value);
    return out;
  }
  const InstructionFormat& format = format_of(row.encoding, gen);
  uint64_t w = format.match;
  w |= static_cast<uint64_t>(row.opcode[static_cast<int>(gen)]) << format.opcode_pos;
  std::optional<uint32_t> literal;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    const Slot slot = row.operands[n].slot;
    const OperandField* f = field_of(format, row, slot);
    if (slot == Slot::literal) literal = o.value;
    if (f == nullptr) continue;
    if (i.form != Form::plain && slot == Slot::src0) {
      w |= i.form == Form::dpp ? kDppCode : kSdwaCode;
      continue;
    }
    const bool offset = is_literal_offset(o, *f, gen);
    w |= (offset ? kLiteral : stored(o, *f)) << f->pos;
    if (f->holds == Holds::offset && o.immediate && !offset) w |= uint64_t{1} << f->flag;
    if (offset || (!o.immediate && o.code == kLiteral)) literal = o.value;
  }
  w |= modifier_bits(i, format.modifiers, gen);
  if (row.encoding == Encoding::vop3)
    each_sign(i, [&](const Operand& o, unsigned abs, unsigned neg) {
      if (o.abs && abs < 64) w |= uint64_t{1} << abs;
      if (o.neg) w |= uint64_t{1} << neg;
    });
  if (row.encoding == Encoding::exp)
    each_component(i, [&](const Operand& o, unsigned bit, unsigned place) {
      w |= uint64_t{o.count} << bit;
      if (o.count != 0) w |= uint64_t{o.code - kVgpr0} << place;
    });
  out.push_back(static_cast<uint32_t>(w));
  if (format.words == 2) out.push_back(static_cast<uint32_t>(w >> 32));
  if (literal) out.push_back(*literal);
  if (i.form != Form::plain)
    out.push_back(static_cast<uint32_t>(modifier_bits(i, form_modifiers(i.form), gen)));
  return out;
}

std::optional<Instruction> decode(const std::vector<uint32_t>& words, Gen gen) {
  const InstructionFormat* format = words.empty() ? nullptr : format_at(words[0], gen);
  if (format == nullptr || words.size() < format->words) return std::nullopt;
  const uint64_t w = words[0] | (format->words == 2 ? uint64_t{words[1]} << 32 : 0);
  Instruction i;
  i.row = row_at(*format, w, gen);
  if (i.row == nullptr) return std::nullopt;
  for (const SlotSpec& s : i.row->operands)
    i.operands.push_back(read_back(w, field_of(*format, *i.row, s.slot), s));
  read_modifiers(i, format->modifiers, w, gen);
  if (format->encoding == Encoding::vop3)
    each_sign(i, [&](Operand& o, unsigned abs, unsigned neg) {
      o.abs = abs < 64 && bits(w, abs, 1) != 0;
      o.neg = bits(w, neg, 1) != 0;
    });
  if (format->encoding == Encoding::exp)
    each_component(i, [&](Operand& o, unsigned bit, unsigned place) {
      o.count = static_cast<uint8_t>(bits(w, bit, 1));
      o.code = kVgpr0 + (o.count != 0 ? bits(w, place, 8) : 0);
    });
  count_registers(i);
  if (!modifier_problem(i, gen).empty() ||
      (format->encoding == Encoding::vop3 && !only_floats_signed(i)) || !read_form(i, words, gen) ||
      !read_operands(i, words, gen))
    return std::nullopt;
  // Whatever the row does not account for must be zero: nothing decoded is dropped.
  const std::vector<uint32_t> again = encode(i, gen);
  if (again.size() > words.size() || !std::equal(again.begin(), again.end(), words.begin()))
    return std::nullopt;
  return i;
}

Instruction undecoded(const std::vector<uint32_t>& words, Gen gen) {
  const InstructionFormat* format = format_at(words[0], gen);
  const bool two = format != nullptr &&
                   (format->words == 2 || names_second_word(format->encoding, words[0], gen));
  Instruction i;
  i.row = &data_row(two && words.size() >= 2 ? 2 : 1);
  for (size_t n = 0; n < i.row->operands.size(); ++n) {
    Operand o;
    o.immediate = true;
    o.value = words[n];
    i.operands.push_back(o);
  }
  return i;
}

std::string nameless(const Instruction& data, Gen gen) {
  std::string words;
  std::vector<uint32_t> values;
  for (const Operand& o : data.operands) {
    words += fmt::format("{:08x} ", o.value);
    values.push_back(o.value);
  }
  std::string known;
  if (const InstructionFormat* format = format_at(values[0], gen)) {
    const unsigned opcode = bits(values[0], format->opcode_pos, format->opcode_len);
    const Row* row = row_of(format->encoding, opcode, gen);
    known = fmt::format("{} {:#x}{}{}", format->name, opcode, row != nullptr ? ", fields of " : "",
                        row != nullptr ? row->name : "");
  }
  // Words for another machine are the likely reason.
  for (const Gen other : {Gen::gfx6, Gen::gfx7, Gen::gfx8}) {
    const auto there = other != gen ? decode(values, other) : std::nullopt;
    if (!there) continue;
    known += fmt::format("{}of {} it is {}", known.empty() ? "" : "; ", name(other),
                         print(*there, other));
    break;
  }
  return fmt::format("{}is no instruction of {} that is known here{}", words, name(gen),
                     known.empty() ? "" : " (" + known + ")");
}

size_t size_of(const Instruction& i, Gen gen) {
  return 4 * encode(i, gen).size();
}

}  // namespace lanewise::gcn
