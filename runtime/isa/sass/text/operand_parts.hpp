// What reading and writing of operands share.
#pragma once

#include <string>

#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

inline constexpr Field kBase{8, 8};   ///< register of an address operand
inline constexpr Field kBank{36, 5};  ///< bank of an indexed constant

inline constexpr std::string_view kSigns[] = {"PP", "NP", "PN", "ZP"};
/// Index of a part's name; the row of names belongs to the operand's type.
inline uint64_t part_key(const OperandSpec& spec, uint64_t word) {
  return spec.part_key.get(word) << spec.part.len;
}
inline std::string_view part_name(const OperandSpec& spec, uint64_t word) {
  return spec.part_names[part_key(spec, word) | spec.part.get(word)];
}

inline bool flagged(Field field, uint64_t word) {
  return field.present() && field.get(word) != 0;
}

std::string register_name(unsigned number);
std::string write_special(uint64_t code);
/// What the vendor's disassembler prints for register 255 where no RZ can stand.
inline constexpr std::string_view kNoRegister = "???255";
/// The register behind the one in the field, two further for 64-bit values.
unsigned next_register(const OperandSpec& spec, const Instruction& i);

}  // namespace lanewise::sass
