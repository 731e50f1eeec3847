// The formats of instructions: which bits hold which operand and which modifier, each reported once
// for the assembler, the disassembler and the decoder.
#pragma once

#include <span>

#include "runtime/isa/gcn/gcn.hpp"

namespace lanewise::gcn {

/// What the bits of an operand's field hold.
enum class Holds : uint8_t {
  code,       ///< the operand's code
  vgpr,       ///< the register's number
  pairs,      ///< the code divided by 2
  quads,      ///< the code divided by 4
  number,     ///< an immediate
  offset,     ///< of scalar loads: an immediate where the bit `flag` is set, else a code
  attribute,  ///< number and channel, with the channel in the lowest bits
};
/// `pos` counts through both dwords of long formats.
struct OperandField {
  Slot slot;
  uint8_t pos, len;
  Holds holds = Holds::code;
  uint8_t flag = 0;
};

/// A part of an Instruction that stands in a field of its own.
struct Member {
  uint32_t (*get)(const Instruction&) = nullptr;
  void (*set)(Instruction&, uint32_t) = nullptr;
};

/// Which instructions of the format have the modifier.
enum class Needs : uint8_t {
  nothing,
  operands,
  scalar_offset,  ///< a scalar load or store
  counted,        ///< LDS: accesses, and semaphores of the global share
  one_place,      ///< LDS: one offset, or two of a pair
  two_places,
  clamp,
  scale,
  half,  ///< of an attribute
  destination,
  second_source,
};

/// How the text says what a modifier holds.
enum class Says : uint8_t {
  nothing,  ///< operands say it
  flag,     ///< the name alone; where it is off, nothing
  number,   ///< name:N; where it is 0, nothing
  hex,
  mask,   ///< name:0xN, always
  on,     ///< name:1; where it is off, nothing
  part,   ///< of a register, by name
  rest,   ///< what becomes of the rest of the destination, by name
  lanes,  ///< a choice of lanes: names and numbers of its own
  format,
  scale,  ///< mul:2, mul:4, div:2
};

struct Modifier {
  std::string_view name;
  uint8_t pos, len;
  Member member;
  Says says = Says::flag;
  Needs needs = Needs::nothing;
};
bool has_modifier(const Row& row, const Modifier& modifier, Gen gen);

struct InstructionFormat {
  Encoding encoding;
  std::string_view name;
  uint8_t gens;  ///< a bit each
  uint32_t mask, match;
  uint8_t opcode_pos, opcode_len, words;
  std::span<const OperandField> fields;
  std::span<const Modifier> modifiers;  ///< in the order of the text
};
const InstructionFormat& format_of(Encoding encoding, Gen gen);
/// Null for operands that no field holds: vcc, literals, registers of an export.
const OperandField* field_of(const InstructionFormat& format, const Row& row, Slot slot);
/// Of the instruction that begins with the word; null where there is none.
const InstructionFormat* format_at(uint32_t word, Gen gen);
/// Of the second dword of a DPP or SDWA form.
std::span<const Modifier> form_modifiers(Form form);
/// The format's modifiers or the form's that this instruction can have: calls visit(modifier).
template <class Visit>
void each_modifier(const Instruction& i, std::span<const Modifier> all, Gen gen, Visit visit) {
  for (const Modifier& m : all)
    if (has_modifier(*i.row, m, gen)) visit(m);
}

/// What stands in the place of source 0 when such a dword follows.
inline constexpr unsigned kSdwaCode = 249, kDppCode = 250;
/// Half of the attribute is read or written: in the attribute's operand.
inline constexpr uint32_t kAttributeHigh = 256;
inline bool is_graphics(Encoding e) {
  return e == Encoding::mimg || e == Encoding::exp || e == Encoding::vintrp;
}

}  // namespace lanewise::gcn
