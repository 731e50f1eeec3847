// An ELF file of the host, mapped for reading. The library that is loaded into programs uses this,
// so nothing here allocates, throws or needs the C++ library.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanewise::exec {

class MappedObject {
 public:
  explicit MappedObject(const char* path);
  ~MappedObject();
  MappedObject(const MappedObject&) = delete;
  MappedObject& operator=(const MappedObject&) = delete;

  /// A 64-bit x86 ELF file whose header lies within the file.
  bool ok() const { return header_ != nullptr; }
  const Elf64_Ehdr& header() const { return *header_; }

  size_t section_count() const { return sections_ == nullptr ? 0 : header_->e_shnum; }
  const Elf64_Shdr& section(size_t n) const { return sections_[n]; }
  std::string_view section_name(size_t n) const;
  /// Its contents; empty where they are none or lie outside of the file.
  std::string_view contents(const Elf64_Shdr& section) const;
  const Elf64_Shdr* section_named(std::string_view name) const;
  const Elf64_Shdr* section_of_type(uint32_t type) const;
  bool has_segment(uint32_t type) const;
  /// What may lie at this place of a section of texts, empty where nothing does.
  static std::string_view text_at(std::string_view texts, uint64_t offset);

 private:
  std::string_view part(uint64_t offset, uint64_t size) const;

  const char* bytes_ = nullptr;
  size_t size_ = 0;
  const Elf64_Ehdr* header_ = nullptr;
  const Elf64_Shdr* sections_ = nullptr;
};

/// Each symbol of a table with its name.
template <typename Use>
void for_each_symbol(const MappedObject& object, const Elf64_Shdr& table, const Use& use) {
  const std::string_view symbols = object.contents(table);
  if (table.sh_link >= object.section_count()) return;
  const std::string_view texts = object.contents(object.section(table.sh_link));
  for (size_t n = 0; n < symbols.size() / sizeof(Elf64_Sym); ++n) {
    const auto& symbol = reinterpret_cast<const Elf64_Sym*>(symbols.data())[n];
    use(symbol, MappedObject::text_at(texts, symbol.st_name));
  }
}

/// The names that DT_NEEDED gives.
template <typename Use>
void for_each_needed(const MappedObject& object, const Use& use) {
  const Elf64_Shdr* dynamic = object.section_of_type(SHT_DYNAMIC);
  if (dynamic == nullptr || dynamic->sh_link >= object.section_count()) return;
  const std::string_view entries = object.contents(*dynamic);
  const std::string_view texts = object.contents(object.section(dynamic->sh_link));
  for (size_t n = 0; n < entries.size() / sizeof(Elf64_Dyn); ++n) {
    const auto& entry = reinterpret_cast<const Elf64_Dyn*>(entries.data())[n];
    if (entry.d_tag == DT_NULL) return;
    if (entry.d_tag == DT_NEEDED) use(MappedObject::text_at(texts, entry.d_un.d_val));
  }
}

}  // namespace lanewise::exec
