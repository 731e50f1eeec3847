// Any bytes as an ELF file: tables that lie inside the file, or an error.
#include <cstdlib>

#include "runtime/isa/elf/elf.hpp"

using namespace lanewise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const elf::File file = elf::parse(bytes);
    uint64_t claimed = 0, names = 0;
    for (const elf::Section& s : file.sections) {
      claimed += s.data.size();
      names += s.name.size();
      if (!s.data.empty() && (s.data.data() < bytes.data() ||
                              s.data.data() + s.data.size() > bytes.data() + bytes.size()))
        std::abort();
      const elf::Section* first = file.section(s.name);
      if (first == nullptr || first->name != s.name || first > &s) std::abort();
      if (s.type != elf::kRel && s.type != elf::kRela) continue;
      try {
        for (const elf::Reloc& r : file.relocations(s))
          if (r.symbol >= file.symbols.size()) std::abort();
      } catch (const elf::ElfError&) {
      }
    }
    for (const elf::Symbol& s : file.symbols) names += s.name.size();
    if (claimed > 2 * size || names > 8 * size) std::abort();
  } catch (const elf::ElfError& e) {
    if (e.what()[0] == '\0') std::abort();
  }
  return 0;
}
