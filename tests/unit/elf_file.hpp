// Writes 64-bit little-endian ELF files that say whatever a test wants, true or not.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace lanewise::test {

struct ElfSection {
  std::string name = {};
  uint32_t type = 1;  ///< SHT_PROGBITS
  std::string data = {};
  uint64_t flags = 0, address = 0;
  uint32_t link = 0, info = 0;
  // What the header says in place of the truth.
  bool lies = false;
  uint64_t offset = 0, size = 0;
};

struct ElfSymbol {
  uint32_t name = 0;  ///< offset in the string table
  uint8_t info = 0, other = 0;
  uint16_t section = 0;
  uint64_t value = 0, size = 0;
};

template <typename T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::string symbol_table(const std::vector<ElfSymbol>& symbols) {
  std::string out(24, '\0');  // the first one is none
  for (const ElfSymbol& s : symbols) {
    append(out, s.name);
    append(out, s.info);
    append(out, s.other);
    append(out, s.section);
    append(out, s.value);
    append(out, s.size);
  }
  return out;
}

struct ElfFile {
  uint16_t machine = 190;
  uint8_t abi = 0;
  uint32_t flags = 50;
  std::vector<ElfSection> sections =
      {};  ///< from number 1 on; the names follow as the last section

  std::string bytes() const {
    std::string names(1, '\0'), data, table(64, '\0');
    constexpr uint64_t kData = 64;
    const auto header = [&](const ElfSection& s, uint64_t offset, uint64_t size) {
      append(table, static_cast<uint32_t>(names.size()));
      append(table, s.type);
      append(table, s.flags);
      append(table, s.address);
      append(table, s.lies ? s.offset : offset);
      append(table, s.lies ? s.size : size);
      append(table, s.link);
      append(table, s.info);
      append(table, uint64_t{1});
      append(table, uint64_t{24});
      names += s.name + '\0';
    };
    for (const ElfSection& s : sections) {
      header(s, kData + data.size(), s.data.size());
      data += s.data;
    }
    const uint64_t names_at = kData + data.size();
    header({.name = ".shstrtab", .type = 3}, names_at, names.size() + sizeof(".shstrtab"));
    data += names;
    std::string out(
        "\x7f"
        "ELF\x02\x01\x01",
        7);
    append(out, abi);
    out.resize(16);
    append(out, uint16_t{2});
    append(out, machine);
    append(out, uint32_t{1});
    append(out, uint64_t{0});                    // entry
    append(out, uint64_t{0});                    // program headers
    append(out, uint64_t{kData + data.size()});  // section headers
    append(out, flags);
    append(out, uint16_t{64});
    append(out, uint16_t{0});
    append(out, uint16_t{0});
    append(out, uint16_t{64});
    append(out, static_cast<uint16_t>(sections.size() + 2));
    append(out, static_cast<uint16_t>(sections.size() + 1));
    return out + data + table;
  }
};

}  // namespace lanewise::test
