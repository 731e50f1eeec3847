// Symbols of a cubin as the linker sees them.
#pragma once

#include <map>
#include <string>

#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/linked_name.hpp"

namespace lanewise::sass {

inline constexpr uint8_t kEntry = 0x10;      ///< Symbol::other of kernels
inline constexpr uint8_t kCudaObject = 13;   ///< kind of a variable's symbol before the linker ran
inline constexpr uint16_t kCommon = 0xfff2;  ///< section of variables that several files may define

inline bool is_variable(const elf::Symbol& s) {
  return s.kind == elf::kObject || s.kind == kCudaObject;
}
inline bool is_common(const elf::Symbol& s) {
  return is_variable(s) && s.section == kCommon;
}

/// Names that other files see or have, and what this one says of them.
std::map<std::string, isa::LinkedName> linked_names(const elf::File& file);

}  // namespace lanewise::sass
