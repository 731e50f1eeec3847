// Source lines of code: the .debug_line section, DWARF versions 2 to 4.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/isa/elf/elf.hpp"

namespace lanewise::elf {

/// Code from an address on comes from this line.
struct LineRow {
  uint64_t address = 0;                     ///< in its section
  std::shared_ptr<const std::string> file;  ///< null: nothing is known from here on
  uint32_t line = 0;
};

/// Number of a section of code -> its rows in the order of addresses. Code whose place no
/// relocation says has no rows, nor has what other versions of DWARF describe. Throws ElfError
/// where the section is broken.
std::map<size_t, std::vector<LineRow>> source_lines(const File& file);

}  // namespace lanewise::elf
