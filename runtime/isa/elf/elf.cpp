#include "runtime/isa/elf/elf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lanewise::elf {
namespace {

constexpr uint64_t kHeaderSize = 64, kSectionSize = 64, kSymbolSize = 24;

Bytes slice(Bytes bytes, uint64_t offset, uint64_t size, const std::string& what) {
  if (offset > bytes.size() || bytes.size() - offset < size)
    throw ElfError(fmt::format("{} ({} bytes at {:#x}) lies outside the file of {} bytes", what,
                               size, offset, bytes.size()));
  return bytes.subspan(offset, size);
}

/// Hands out names, all of which may lie on top of each other in a hostile file: a few megabytes of
/// symbols with one long name would become terabytes.
class Names {
 public:
  explicit Names(size_t file_bytes) : left_(kNameBytesPerByte * uint64_t{file_bytes}) {}

  std::string at(Bytes strings, uint64_t offset, const char* what) {
    if (offset >= strings.size()) throw ElfError(fmt::format("{} has no name", what));
    const auto* begin = reinterpret_cast<const char*>(strings.data()) + offset;
    const size_t most = std::min<uint64_t>(strings.size() - offset, left_);
    const auto* end = static_cast<const char*>(std::memchr(begin, 0, most));
    if (end == nullptr && most < strings.size() - offset)
      throw ElfError("its names are many times as long as the file");
    if (end == nullptr) throw ElfError(fmt::format("the name of {} never ends", what));
    left_ -= static_cast<uint64_t>(end - begin);
    return {begin, end};
  }

 private:
  static constexpr uint64_t kNameBytesPerByte = 8;
  uint64_t left_;
};

Section read_section(Bytes file, uint64_t at) {
  Section s;
  s.type = read<uint32_t>(file, at + 4, "a section header");
  s.flags = read<uint64_t>(file, at + 8, "a section header");
  s.address = read<uint64_t>(file, at + 16, "a section header");
  s.offset = read<uint64_t>(file, at + 24, "a section header");
  s.size = read<uint64_t>(file, at + 32, "a section header");
  s.link = read<uint32_t>(file, at + 40, "a section header");
  s.info = read<uint32_t>(file, at + 44, "a section header");
  s.align = read<uint64_t>(file, at + 48, "a section header");
  return s;
}

void read_sections(File& out, Bytes file, Names& names_of) {
  const auto table = read<uint64_t>(file, 0x28, "the file header");
  const auto entry = read<uint16_t>(file, 0x3a, "the file header");
  const auto count = read<uint16_t>(file, 0x3c, "the file header");
  const auto names = read<uint16_t>(file, 0x3e, "the file header");
  if (count == 0) throw ElfError("the file has no sections");
  if (entry != kSectionSize)
    throw ElfError(fmt::format("section headers of {} bytes, expected {}", entry, kSectionSize));
  slice(file, table, uint64_t{entry} * count, "the section table");
  // Every section may claim the whole file, and is read for what it claims.
  uint64_t claimed = 0;
  for (uint64_t n = 0; n < count; ++n) {
    out.sections.push_back(read_section(file, table + n * kSectionSize));
    Section& s = out.sections.back();
    if (s.type != kNobits && s.type != 0)
      s.data = slice(file, s.offset, s.size, fmt::format("section {}", n));
    claimed += s.data.size();
    if (claimed > 2 * uint64_t{file.size()})
      throw ElfError("its sections lie on top of each other");
  }
  if (names >= count) throw ElfError("the section of section names does not exist");
  const Bytes strings = out.sections[names].data;
  for (uint64_t n = 0; n < count; ++n)
    out.sections[n].name = names_of.at(
        strings, read<uint32_t>(file, table + n * kSectionSize, "a section name"), "a section");
  for (size_t n = 0; n < count; ++n) out.by_name.try_emplace(out.sections[n].name, n);
}

void read_symbols(File& out, const Section& table, Names& names) {
  if (table.link >= out.sections.size()) throw ElfError("the symbol names do not exist");
  const Bytes strings = out.sections[table.link].data;
  for (uint64_t at = 0; at + kSymbolSize <= table.data.size(); at += kSymbolSize) {
    Symbol s;
    s.name = names.at(strings, read<uint32_t>(table.data, at, "a symbol"), "a symbol");
    const auto info = read<uint8_t>(table.data, at + 4, "a symbol");
    s.kind = info & 15;
    s.binding = info >> 4;
    s.other = read<uint8_t>(table.data, at + 5, "a symbol");
    s.section = read<uint16_t>(table.data, at + 6, "a symbol");
    s.value = read<uint64_t>(table.data, at + 8, "a symbol");
    s.size = read<uint64_t>(table.data, at + 16, "a symbol");
    out.symbols.push_back(std::move(s));
  }
}

}  // namespace

const Section* File::section(std::string_view name) const {
  const auto found = by_name.find(name);
  return found != by_name.end() ? &sections[found->second] : nullptr;
}

std::vector<Reloc> File::relocations(const Section& s) const {
  const uint64_t entry = s.type == kRela ? 24 : 16;
  std::vector<Reloc> out;
  for (uint64_t at = 0; at + entry <= s.data.size(); at += entry) {
    const auto info = read<uint64_t>(s.data, at + 8, "a relocation");
    Reloc r;
    r.offset = read<uint64_t>(s.data, at, "a relocation");
    r.symbol = static_cast<uint32_t>(info >> 32);
    r.type = static_cast<uint32_t>(info);
    if (s.type == kRela)
      r.addend = static_cast<int64_t>(read<uint64_t>(s.data, at + 16, "a relocation"));
    if (r.symbol >= symbols.size()) throw ElfError("a relocation names a symbol that is not there");
    out.push_back(r);
  }
  return out;
}

std::string text_at(Bytes strings, uint64_t offset) {
  std::string out;
  for (; offset < strings.size() && strings[offset] != std::byte{0}; ++offset)
    out += static_cast<char>(strings[offset]);
  return out;
}

bool is_elf(Bytes bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(),
                                          "\x7f"
                                          "ELF",
                                          4) == 0;
}

uint16_t machine(Bytes bytes) {
  return is_elf(bytes) && bytes.size() >= 0x14 ? read<uint16_t>(bytes, 0x12, "the machine") : 0;
}

File parse(Bytes bytes, Symbols symbols) {
  if (!is_elf(bytes)) throw ElfError("this is no ELF file");
  slice(bytes, 0, kHeaderSize, "the file header");
  if (read<uint8_t>(bytes, 4, "the class") != 2) throw ElfError("expected a 64-bit ELF file");
  if (read<uint8_t>(bytes, 5, "the byte order") != 1)
    throw ElfError("expected a little-endian ELF file");
  File out;
  out.os_abi = read<uint8_t>(bytes, 7, "the file header");
  out.abi_version = read<uint8_t>(bytes, 8, "the file header");
  out.type = read<uint16_t>(bytes, 0x10, "the file header");
  out.machine = read<uint16_t>(bytes, 0x12, "the file header");
  out.flags = read<uint32_t>(bytes, 0x30, "the file header");
  Names names(bytes.size());
  read_sections(out, bytes, names);
  if (symbols == Symbols::none) return out;
  for (const Section& s : out.sections)
    if (s.type == kSymtab) read_symbols(out, s, names);
  // Stripped files still have the symbols that the loader needs.
  for (size_t n = 0; n < out.sections.size() && out.symbols.empty(); ++n)
    if (out.sections[n].type == kDynsym) read_symbols(out, out.sections[n], names);
  return out;
}

}  // namespace lanewise::elf
