// Encodings of GCN1 and GCN2; of GCN3 the buffer instructions.
#include <fmt/format.h>

#include "runtime/isa/gcn/text/graphics_text.hpp"
#include "runtime/isa/gcn/text/lane_form.hpp"
#include "runtime/isa/gcn/text/number_text.hpp"
#include "runtime/isa/gcn/text/register_text.hpp"

namespace lanewise::gcn {
namespace {

struct Base {
  Encoding encoding;
  uint32_t mask, match;
  unsigned opcode_pos, opcode_len;
};
/// Most specific patterns first.
constexpr Base kBases[] = {{Encoding::sop1, 0xff800000, 0xbe800000, 8, 8},
                           {Encoding::sopc, 0xff800000, 0xbf000000, 16, 7},
                           {Encoding::sopp, 0xff800000, 0xbf800000, 16, 7},
                           {Encoding::sopk, 0xf0000000, 0xb0000000, 23, 5},
                           {Encoding::sop2, 0xc0000000, 0x80000000, 23, 7},
                           {Encoding::smrd, 0xf8000000, 0xc0000000, 22, 5},
                           {Encoding::vop3, 0xfc000000, 0xd0000000, 17, 9},
                           {Encoding::mubuf, 0xfc000000, 0xe0000000, 18, 7},
                           {Encoding::mtbuf, 0xfc000000, 0xe8000000, 16, 3},
                           {Encoding::ds, 0xfc000000, 0xd8000000, 18, 8},
                           {Encoding::flat, 0xfc000000, 0xdc000000, 18, 7},
                           {Encoding::mimg, 0xfc000000, 0xf0000000, 18, 7},
                           {Encoding::exp, 0xfc000000, 0xf8000000, 0, 0},
                           {Encoding::vintrp, 0xfc000000, 0xc8000000, 16, 2},
                           {Encoding::vop1, 0xfe000000, 0x7e000000, 9, 8},
                           {Encoding::vopc, 0xfe000000, 0x7c000000, 17, 8},
                           {Encoding::vop2, 0x80000000, 0x00000000, 25, 6}};

/// Where GCN3 differs: scalar loads are two dwords, opcodes of VOP3 and MTBUF have a bit more.
constexpr Base kGcn3[] = {{Encoding::smrd, 0xfc000000, 0xc0000000, 18, 8},
                          {Encoding::vop3, 0xfc000000, 0xd0000000, 16, 10},
                          {Encoding::ds, 0xfc000000, 0xd8000000, 17, 8},
                          {Encoding::exp, 0xfc000000, 0xc4000000, 0, 0},
                          {Encoding::vintrp, 0xfc000000, 0xd4000000, 16, 2},
                          {Encoding::mtbuf, 0xfc000000, 0xe8000000, 15, 4}};

const Base& of_generation(const Base& b, Gen gen) {
  if (gen == Gen::gfx8)
    for (const Base& newer : kGcn3)
      if (newer.encoding == b.encoding) return newer;
  return b;
}
const Base& base_of(Encoding e, Gen gen) {
  for (const Base& b : kBases)
    if (b.encoding == e) return of_generation(b, gen);
  return kBases[0];
}

/// Bits of a slot: `pos` counts through both dwords of long encodings.
struct Place {
  unsigned pos = 0, len = 0;
};
Place place(Encoding e, Slot s, Gen gen) {
  const bool wide_scalar = e == Encoding::smrd && gen == Gen::gfx8;
  const bool long_form = e == Encoding::vop3;
  switch (s) {
    case Slot::sdst:
      if (e == Encoding::vop1 || e == Encoding::vop2) return {17, 8};
      if (e == Encoding::vop3) return {0, 8};
      return wide_scalar ? Place{6, 7} : e == Encoding::smrd ? Place{15, 7} : Place{16, 7};
    case Slot::ksrc:
      return {16, 7};
    case Slot::sdata:
    case Slot::probe:
      return {6, 7};
    case Slot::gpr_idx:
      return e == Encoding::sopc ? Place{8, 8} : Place{0, 16};
    case Slot::ssrc0:  // of vector instructions: where others have src0 and src1
      if (long_form) return {32, 9};
      return e == Encoding::vop2 ? Place{0, 9} : Place{0, 8};
    case Slot::ssrc1:
      if (long_form) return {41, 9};
      return e == Encoding::vop2 ? Place{9, 8} : Place{8, 8};
    case Slot::sbase:
      return wide_scalar ? Place{0, 6} : Place{9, 6};
    case Slot::soff:
      return wide_scalar ? Place{32, 20} : Place{0, 8};
    case Slot::ds_addr:
      return {32, 8};
    case Slot::data0:
      return {40, 8};
    case Slot::data1:
      return {48, 8};
    case Slot::vdst:
      if (e == Encoding::ds || e == Encoding::flat) return {56, 8};
      if (e == Encoding::vintrp) return {18, 8};
      return long_form ? Place{0, 8} : Place{17, 8};
    case Slot::src0:
      return long_form ? Place{32, 9} : Place{0, 9};
    case Slot::src1:
      return {41, 9};
    case Slot::src2:
    case Slot::mask_src:
      return {50, 9};
    case Slot::vsrc1:
      return {9, 8};
    case Slot::simm16:
    case Slot::label:
    case Slot::waitcnt:
    case Slot::hwreg:
    case Slot::message:
      return {0, 16};
    case Slot::vdata:
      return {40, 8};
    case Slot::vaddr:
      return {32, 8};
    case Slot::srsrc:
      return {48, 5};
    case Slot::soffset:
      return {56, 8};
    case Slot::idata:
      return {40, 8};
    case Slot::iaddr:
      return {32, 8};
    case Slot::irsrc:
      return {48, 5};
    case Slot::isamp:
      return {53, 5};
    case Slot::target:
      return {4, 6};
    case Slot::attr:
      return long_form ? Place{32, 9} : Place{8, 8};
    case Slot::ipoint:
      return long_form ? Place{41, 9} : Place{0, 8};
    case Slot::ivsrc:
      return long_form ? Place{41, 9} : Place{0, 8};
    case Slot::ivsrc2:
      return {50, 9};
    default:
      return {};
  }
}

/// VOP3 compares write their mask where others have the VGPR; carries have a field of their own.
Place mask_place(const Row& row) {
  return row.has(Slot::vdst) ? Place{8, 7} : Place{0, 8};
}

/// GCN2's scalar loads take offsets that do not fit the byte from a literal.
bool is_literal_offset(const Operand& o, Slot s, Gen gen) {
  return s == Slot::soff && gen == Gen::gfx7 && o.immediate && o.value > 255;
}

/// VINTRP has the channel below the attribute, VOP3 above it.
uint64_t stored_attribute(uint32_t value, Encoding e) {
  return e == Encoding::vintrp ? (value & 63) << 2 | (value >> 6 & 3) : value;
}
uint32_t read_attribute(uint32_t field, Encoding e) {
  return e == Encoding::vintrp ? field >> 2 | (field & 3) << 6 : field;
}

uint64_t stored(const Operand& o, Slot s, Encoding e) {
  if (s == Slot::attr) return stored_attribute(o.value, e);
  const bool long_source = e == Encoding::vop3 && (s == Slot::ivsrc || s == Slot::ivsrc2);
  if (long_source) return o.code;
  if (o.immediate) return s == Slot::soff ? o.value & 0xfffff : o.value & 0xffff;
  if (s == Slot::sbase) return o.code / 2;
  if (s == Slot::srsrc || s == Slot::irsrc || s == Slot::isamp) return o.code / 4;
  // An address register that no flag asks for is not read, but it may be there.
  if (s == Slot::vaddr && o.count == 0) return o.code >= kVgpr0 ? o.code - kVgpr0 : 0;
  return o.code >= kVgpr0 && s != Slot::src0 && s != Slot::src1 && s != Slot::src2 ? o.code - kVgpr0
                                                                                   : o.code;
}

/// Has a sign and an absolute value in VOP3. The attribute's place has bits for them, too.
bool is_float_source(Slot s) {
  return s == Slot::src0 || s == Slot::src1 || s == Slot::src2 || s == Slot::ivsrc ||
         s == Slot::ivsrc2;
}
unsigned first_modifier(const Row& row) {
  return row.has(Slot::attr) ? 1 : 0;
}

uint64_t buffer_flags(const Instruction& i, Gen gen) {
  uint64_t w = i.offset | uint64_t{i.offen} << 12 | uint64_t{i.idxen} << 13 |
               uint64_t{i.glc} << 14 | uint64_t{i.lds} << 16 | uint64_t{i.tfe} << 55;
  if (i.row->encoding == Encoding::mtbuf)
    return w | uint64_t{i.addr64} << 15 | uint64_t{i.slc} << 54 | uint64_t{i.dfmt} << 19 |
           uint64_t{i.nfmt} << 23;
  if (gen == Gen::gfx8) return w | uint64_t{i.slc} << 17;
  return w | uint64_t{i.addr64} << 15 | uint64_t{i.slc} << 54;
}

unsigned clamp_bit(Gen gen) {
  return gen == Gen::gfx8 ? 15 : 11;
}

uint64_t vop3_flags(const Instruction& i, Gen gen) {
  uint64_t w = uint64_t{i.clamp} << clamp_bit(gen) | uint64_t{i.omod} << 59;
  unsigned n = first_modifier(*i.row);
  for (size_t k = 0; k < i.operands.size(); ++k) {
    if (!is_float_source(i.row->operands[k].slot)) continue;
    w |= uint64_t{i.operands[k].abs} << (8 + n) | uint64_t{i.operands[k].neg} << (61 + n);
    ++n;
  }
  return w;
}

bool is_long(Encoding e, Gen gen) {
  return e == Encoding::vop3 || e == Encoding::ds || e == Encoding::flat || is_buffer(e) ||
         e == Encoding::mimg || e == Encoding::exp || (e == Encoding::smrd && gen == Gen::gfx8);
}

uint64_t bits(uint64_t w, unsigned pos, unsigned len) {
  return w >> pos & ((uint64_t{1} << len) - 1);
}

/// The bit of scalar loads that says that the offset is a number.
unsigned immediate_bit(Gen gen) {
  return gen == Gen::gfx8 ? 17 : 8;
}

Operand read_back(uint64_t w, const Row& row, const SlotSpec& spec, Gen gen) {
  Operand o;
  o.count = spec.count;
  if (spec.slot == Slot::literal) {
    o.immediate = true;
    return o;
  }
  if (spec.slot == Slot::vcc) {
    o.code = kVccLo;
    o.count = 2;
    return o;
  }
  const Place p =
      spec.slot == Slot::mask_dst ? mask_place(row) : place(row.encoding, spec.slot, gen);
  const auto value = static_cast<unsigned>(bits(w, p.pos, p.len));
  o.code = value;
  switch (spec.slot) {
    case Slot::simm16:
    case Slot::label:
    case Slot::waitcnt:
    case Slot::hwreg:
    case Slot::message:
    case Slot::gpr_idx:
    case Slot::probe:
    case Slot::target:
    case Slot::ipoint:
      o.immediate = true;
      o.value = value;
      break;
    case Slot::attr:
      o.immediate = true;
      o.value = read_attribute(value, row.encoding);
      break;
    case Slot::soff:
      o.immediate = bits(w, immediate_bit(gen), 1) != 0;
      o.value = value;
      break;
    case Slot::sbase:
      o.code = value * 2;
      break;
    case Slot::srsrc:
    case Slot::irsrc:
    case Slot::isamp:
      o.code = value * 4;
      break;
    case Slot::ivsrc:
    case Slot::ivsrc2:
      o.code = row.encoding == Encoding::vop3 ? value : kVgpr0 + value;
      break;
    case Slot::idata:
    case Slot::iaddr:
    case Slot::vdst:
    case Slot::vsrc1:
    case Slot::ds_addr:
    case Slot::data0:
    case Slot::data1:
    case Slot::vdata:
    case Slot::vaddr:
      o.code = kVgpr0 + value;
      break;
    default:
      break;
  }
  return o;
}

void read_buffer(Instruction& i, uint64_t w, Gen gen) {
  i.offset = static_cast<uint16_t>(bits(w, 0, 12));
  i.offen = bits(w, 12, 1) != 0;
  i.idxen = bits(w, 13, 1) != 0;
  i.glc = bits(w, 14, 1) != 0;
  i.addr64 = gen != Gen::gfx8 && bits(w, 15, 1) != 0;
  const bool typed = i.row->encoding == Encoding::mtbuf;
  i.lds = !typed && bits(w, 16, 1) != 0;
  i.slc = bits(w, gen == Gen::gfx8 && !typed ? 17 : 54, 1) != 0;
  if (typed) {
    i.dfmt = static_cast<uint8_t>(bits(w, 19, 4));
    i.nfmt = static_cast<uint8_t>(bits(w, 23, 3));
  }
  i.tfe = bits(w, 55, 1) != 0;
  for (size_t n = 0; n < i.operands.size(); ++n)
    if (i.row->operands[n].slot == Slot::vaddr)
      i.operands[n].count = static_cast<uint8_t>(i.addr64 || (i.offen && i.idxen) ? 2
                                                 : i.offen || i.idxen             ? 1
                                                                                  : 0);
}

/// The abs bits of a carry's instruction are its mask register.
bool has_abs(const Row& row) {
  return !(row.has(Slot::mask_dst) && row.has(Slot::vdst));
}

void read_vop3(Instruction& i, uint64_t w, Gen gen) {
  i.clamp = (has_abs(*i.row) || gen == Gen::gfx8) && bits(w, clamp_bit(gen), 1) != 0;
  i.omod = static_cast<uint8_t>(bits(w, 59, 2));
  unsigned n = first_modifier(*i.row);
  for (size_t k = 0; k < i.operands.size(); ++k) {
    if (!is_float_source(i.row->operands[k].slot)) continue;
    i.operands[k].abs = has_abs(*i.row) && bits(w, 8 + n, 1) != 0;
    i.operands[k].neg = bits(w, 61 + n, 1) != 0;
    ++n;
  }
}

/// Signs of floats alone, and modifiers that the instruction has.
bool modifiers_exist(const Instruction& i, Gen gen) {
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const Operand& o = i.operands[k];
    if ((o.neg || o.abs) && !ir::is_float(i.row->operands[k].type)) return false;
  }
  return (!i.clamp || i.row->takes_clamp(gen)) && (i.omod == 0 || i.row->takes_output_scale());
}

/// Whether there is such a register or constant in this place.
bool readable(const Operand& o, Slot s, Encoding e, Gen gen) {
  if (s == Slot::target)
    return write_graphics_operand(o, s, gen).find("invalid") == std::string::npos;
  if (s == Slot::ipoint) return o.value <= 2;
  if (s == Slot::gpr_idx) return o.value <= 15;
  if (o.immediate || s == Slot::vcc) return true;
  if (s == Slot::ivsrc || s == Slot::ivsrc2) return o.code >= kVgpr0;
  if (s == Slot::mask_dst && o.code >= kZero) return false;
  if (o.code >= kVgpr0) return o.code + o.count <= kVgpr0 + 256;
  if (o.code < kZero) return is_scalar_register(o.code, o.count, gen);
  if (o.code == kLiteral) return e != Encoding::vop3 && !is_buffer(e);
  if (o.code == kInverseTwoPi) return gen == Gen::gfx8;
  if (o.code == kLdsDirect) return s == Slot::src0 && o.count == 1;
  return inline_constant(o.code).has_value() || (o.code >= kVccz && o.code <= kScc);
}

std::string_view family_name(Encoding e) {
  static constexpr std::string_view kNames[] = {"SOP1", "SOP2", "SOPK", "SOPC", "SOPP",   "SMRD",
                                                "VOP1", "VOP2", "VOPC", "VOP3", "MUBUF",  "MTBUF",
                                                "DS",   "FLAT", "MIMG", "EXP",  "VINTRP", "data"};
  return kNames[static_cast<size_t>(e)];
}

const Base* family_of(uint32_t word, Gen gen) {
  for (const Base& b : kBases)
    if (const Base& here = of_generation(b, gen); (word & here.mask) == here.match) return &here;
  return nullptr;
}

/// Does the first word alone say that another one follows: a literal, lanes or parts?
bool names_second_word(Encoding e, uint32_t word, Gen gen) {
  const auto first = static_cast<unsigned>(bits(word, 0, 9)), byte = first & 255;
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
  return takes_lane_form(*i.row) && words.size() >= 2 && decode_form(i, words[1]);
}

/// Flat atomics with and without a result share an opcode; GLC says which.
void read_flat(Instruction& i, uint64_t w) {
  i.glc = bits(w, 16, 1) != 0;
  i.slc = bits(w, 17, 1) != 0;
  if (i.row->meaning.op != ir::Op::atom) return;
  for (const Row* r : rows_named(i.row->name))
    if (r->encoding == Encoding::flat && r->meaning.returns == i.glc) i.row = r;
}

}  // namespace

bool takes_scalar_glc(const Row& row, Gen gen) {
  return gen == Gen::gfx8 && row.encoding == Encoding::smrd && row.has(Slot::soff) &&
         !row.has(Slot::probe);
}

std::vector<uint32_t> encode(const Instruction& i, Gen gen) {
  const Row& row = *i.row;
  if (row.encoding == Encoding::data) {
    std::vector<uint32_t> words;
    for (const Operand& o : i.operands) words.push_back(o.value);
    return words;
  }
  const Base& base = base_of(row.encoding, gen);
  uint64_t w = base.match;
  w |= static_cast<uint64_t>(row.opcode[static_cast<int>(gen)]) << base.opcode_pos;
  std::vector<uint32_t> literal;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    const Slot s = row.operands[n].slot;
    if (s == Slot::vcc || s == Slot::esrc) continue;
    if (s == Slot::literal) {
      literal = {o.value};
      continue;
    }
    const Place p = s == Slot::mask_dst ? mask_place(row) : place(row.encoding, s, gen);
    if (i.form != Form::plain && s == Slot::src0) {
      w |= i.form == Form::dpp ? kDppCode : kSdwaCode;
      continue;
    }
    const bool offset = is_literal_offset(o, s, gen);
    w |= (offset ? kLiteral : stored(o, s, row.encoding)) << p.pos;
    if (s == Slot::soff && o.immediate && !offset) w |= uint64_t{1} << immediate_bit(gen);
    if (offset || (!o.immediate && o.code == kLiteral)) literal = {o.value};
  }
  if (is_buffer(row.encoding)) w |= buffer_flags(i, gen);
  if (row.encoding == Encoding::vop3) w |= vop3_flags(i, gen);
  if (is_graphics(row.encoding)) w |= graphics_flags(i);
  if (row.encoding == Encoding::flat) w |= uint64_t{i.glc} << 16 | uint64_t{i.slc} << 17;
  if (takes_scalar_glc(row, gen)) w |= uint64_t{i.glc} << 16;
  if (row.encoding == Encoding::ds) w |= i.offset | uint64_t{i.gds} << (gen == Gen::gfx8 ? 16 : 17);
  std::vector<uint32_t> out = {static_cast<uint32_t>(w)};
  if (is_long(row.encoding, gen)) out.push_back(static_cast<uint32_t>(w >> 32));
  out.insert(out.end(), literal.begin(), literal.end());
  if (i.form != Form::plain) out.push_back(encode_form(i));
  return out;
}

std::optional<Instruction> decode(const std::vector<uint32_t>& words, Gen gen) {
  if (words.empty()) return std::nullopt;
  const Base* base = family_of(words[0], gen);
  if (base == nullptr || (is_long(base->encoding, gen) && words.size() < 2)) return std::nullopt;
  const uint64_t w = words[0] | (is_long(base->encoding, gen) ? uint64_t{words[1]} << 32 : 0);
  const auto opcode = static_cast<unsigned>(bits(w, base->opcode_pos, base->opcode_len));
  Instruction i;
  i.row = row_of(base->encoding, opcode, gen);
  if (i.row == nullptr) return std::nullopt;
  if (base->encoding == Encoding::flat) read_flat(i, w);
  for (const SlotSpec& s : i.row->operands) i.operands.push_back(read_back(w, *i.row, s, gen));
  if (is_buffer(base->encoding)) {
    read_buffer(i, w, gen);
    if (!buffer_problem(i, gen).empty()) return std::nullopt;
  }
  if (base->encoding == Encoding::vop3) {
    read_vop3(i, w, gen);
    if (!modifiers_exist(i, gen)) return std::nullopt;
  }
  if (is_graphics(base->encoding)) read_graphics_flags(i, w);
  if (!graphics_problem(i, gen).empty()) return std::nullopt;
  if (takes_scalar_glc(*i.row, gen)) i.glc = bits(w, 16, 1) != 0;
  if (!read_form(i, words, gen)) return std::nullopt;
  if (base->encoding == Encoding::ds) {
    i.offset = static_cast<uint16_t>(bits(w, 0, 16));
    i.gds = bits(w, gen == Gen::gfx8 ? 16 : 17, 1) != 0;
    if (i.row->kind == Kind::nothing && (i.offset != 0 || i.gds)) return std::nullopt;
    const bool semaphore = i.row->kind == Kind::absent && i.row->meaning.count == 0;
    if (semaphore && !i.gds) return std::nullopt;
  }
  for (size_t n = 0; n < i.operands.size(); ++n) {
    Operand& o = i.operands[n];
    const Slot slot = i.row->operands[n].slot;
    if (slot == Slot::literal) {
      if (words.size() < 2) return std::nullopt;
      o.value = words[1];
      continue;
    }
    const bool literal = !o.immediate && o.code == kLiteral;
    // A constant in a register's place: its text would read as the immediate form.
    if (slot == Slot::soff && !o.immediate && o.code >= kZero && (!literal || gen != Gen::gfx7))
      return std::nullopt;
    if (!readable(o, slot, base->encoding, gen)) return std::nullopt;
    if (!literal) continue;
    if (words.size() < 2) return std::nullopt;
    o.immediate = slot == Slot::soff;
    o.value = words[1];
  }
  // Whatever the row does not account for must be zero: nothing decoded is dropped.
  std::vector<uint32_t> again = encode(i, gen);
  for (size_t n = 0; n < again.size(); ++n)
    if (n >= words.size() || again[n] != words[n]) return std::nullopt;
  return i;
}

Instruction undecoded(const std::vector<uint32_t>& words, Gen gen) {
  const Base* base = family_of(words[0], gen);
  const bool two = base != nullptr && (is_long(base->encoding, gen) ||
                                       names_second_word(base->encoding, words[0], gen));
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
  for (const Operand& o : data.operands) words += fmt::format("{:08x} ", o.value);
  const uint32_t first = data.operands[0].value;
  const Base* base = family_of(first, gen);
  if (base == nullptr)
    return fmt::format("{}is no instruction of {} that is known here", words, name(gen));
  const auto opcode = static_cast<unsigned>(bits(first, base->opcode_pos, base->opcode_len));
  const Row* row = row_of(base->encoding, opcode, gen);
  return fmt::format("{}is no instruction of {} that is known here ({} {:#x}{}{})", words,
                     name(gen), family_name(base->encoding), opcode,
                     row != nullptr ? ", fields of " : "", row != nullptr ? row->name : "");
}

size_t size_of(const Instruction& i, Gen gen) {
  return 4 * encode(i, gen).size();
}

}  // namespace lanewise::gcn
