// Reading 64-bit little-endian ELF files: cubins and code objects. Every access is checked against
// the file's bytes; a file that lies about itself gives an ElfError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::elf {

struct ElfError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Bytes = std::span<const std::byte>;

/// Little-endian value of type T at `offset`; `what` names it in the error.
template <typename T>
T read(Bytes bytes, uint64_t offset, const char* what) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    throw ElfError(std::string(what) + " lies outside the file");
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(std::to_integer<uint8_t>(bytes[offset + i]))
                                       << (8 * i));
  return value;
}

enum : uint32_t {
  kProgbits = 1,
  kSymtab = 2,
  kRela = 4,
  kNote = 7,
  kNobits = 8,
  kRel = 9,
  kDynsym = 11
};
enum : uint8_t { kObject = 1, kFunction = 2, kSectionSymbol = 3 };
enum : uint8_t { kWeak = 2 };  ///< Symbol::binding

struct Section {
  std::string name;
  uint32_t type = 0, link = 0, info = 0;
  uint64_t flags = 0, offset = 0, size = 0, align = 0, address = 0;
  Bytes data;  ///< empty for sections without file contents
};

struct Symbol {
  std::string name;
  uint8_t kind = 0, binding = 0, other = 0;
  uint16_t section = 0;
  uint64_t value = 0, size = 0;
};

struct Reloc {
  uint64_t offset = 0;
  uint32_t symbol = 0, type = 0;
  int64_t addend = 0;
};

struct File {
  uint16_t machine = 0, type = 0;
  uint8_t os_abi = 0, abi_version = 0;
  uint32_t flags = 0;
  std::vector<Section> sections;
  std::vector<Symbol> symbols;
  std::map<std::string, size_t, std::less<>> by_name;  ///< the first section of each name

  const Section* section(std::string_view name) const;
  /// Entries of a REL or RELA section.
  std::vector<Reloc> relocations(const Section& section) const;
};

/// The text at this place of a section of names, up to its 0 or the section's end.
std::string text_at(Bytes strings, uint64_t offset);
/// The first four bytes say that this is an ELF file.
bool is_elf(Bytes bytes);
/// e_machine of an ELF file, 0 when there is none.
uint16_t machine(Bytes bytes);
/// A host's program has many symbols, which nobody here asks for.
enum class Symbols { all, none };
/// Section and symbol tables; views into `bytes`, which must outlive the result.
File parse(Bytes bytes, Symbols symbols = Symbols::all);

}  // namespace lanewise::elf
