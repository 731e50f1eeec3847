#include "runtime/host/core/code_object.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace lanewise::core {
namespace {

constexpr uint16_t kAmdGpu = 224;

/// Of a file that may be broken: what lies outside it is zeros.
class Reader {
 public:
  Reader(const void* data, size_t bytes) : data_(static_cast<const char*>(data)), bytes_(bytes) {}

  template <typename T>
  T at(uint64_t offset) const {
    T value{};
    if (offset <= bytes_ && sizeof value <= bytes_ - offset)
      std::memcpy(&value, data_ + offset, sizeof value);
    return value;
  }
  bool is_name(uint64_t offset, const std::string& name) const {
    return offset <= bytes_ && name.size() < bytes_ - offset &&
           std::memcmp(data_ + offset, name.c_str(), name.size() + 1) == 0;
  }

 private:
  const char* data_;
  size_t bytes_;
};

}  // namespace

std::optional<CodeSymbol> symbol_in(const void* data, size_t bytes, const std::string& name) {
  if (data == nullptr || bytes < sizeof(Elf64_Ehdr)) return std::nullopt;
  const Reader file(data, bytes);
  const auto header = file.at<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != kAmdGpu)
    return std::nullopt;
  std::vector<Elf64_Shdr> sections;
  uint64_t base = ~uint64_t{0};
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    sections.push_back(file.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    const Elf64_Shdr& s = sections.back();
    if ((s.sh_flags & SHF_ALLOC) != 0 && s.sh_addr != 0 && s.sh_size != 0)
      base = std::min(base, s.sh_addr);
  }
  for (const Elf64_Shdr& s : sections) {
    if ((s.sh_type != SHT_DYNSYM && s.sh_type != SHT_SYMTAB) || s.sh_link >= sections.size())
      continue;
    const uint64_t count = std::min<uint64_t>(s.sh_size, bytes) / sizeof(Elf64_Sym);
    for (uint64_t n = 0; n < count; ++n) {
      const auto symbol = file.at<Elf64_Sym>(s.sh_offset + n * sizeof(Elf64_Sym));
      if (symbol.st_shndx != SHN_UNDEF && symbol.st_value >= base &&
          file.is_name(sections[s.sh_link].sh_offset + symbol.st_name, name))
        return CodeSymbol{symbol.st_value - base, symbol.st_size};
    }
  }
  return std::nullopt;
}

}  // namespace lanewise::core
