#include "runtime/host/exec/object/mapped_object.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace lanewise::exec {

MappedObject::MappedObject(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size >= static_cast<off_t>(sizeof(Elf64_Ehdr))) {
    size_ = static_cast<size_t>(status.st_size);
    void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) bytes_ = static_cast<const char*>(mapped);
  }
  close(file);
  if (bytes_ == nullptr) return;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes_);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != EM_X86_64)
    return;
  header_ = header;
  if (header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shoff % alignof(Elf64_Shdr) == 0) {
    const std::string_view table = part(header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
    if (!table.empty()) sections_ = reinterpret_cast<const Elf64_Shdr*>(table.data());
  }
}

MappedObject::~MappedObject() {
  if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
}

std::string_view MappedObject::part(uint64_t offset, uint64_t size) const {
  if (offset > size_ || size > size_ - offset) return {};
  return {bytes_ + offset, size};
}

std::string_view MappedObject::contents(const Elf64_Shdr& section) const {
  // The tables are read in place, so they have to lie as their entries must.
  if (section.sh_type == SHT_NOBITS ||
      (section.sh_type != SHT_PROGBITS && section.sh_type != SHT_STRTAB && section.sh_offset % 8))
    return {};
  return part(section.sh_offset, section.sh_size);
}

std::string_view MappedObject::text_at(std::string_view texts, uint64_t offset) {
  if (offset >= texts.size()) return {};
  const void* end = std::memchr(texts.data() + offset, 0, texts.size() - offset);
  if (end == nullptr) return {};
  return {texts.data() + offset,
          static_cast<size_t>(static_cast<const char*>(end) - texts.data()) - offset};
}

std::string_view MappedObject::section_name(size_t n) const {
  if (header_->e_shstrndx >= section_count()) return {};
  return text_at(contents(sections_[header_->e_shstrndx]), sections_[n].sh_name);
}

const Elf64_Shdr* MappedObject::section_named(std::string_view name) const {
  for (size_t n = 0; n < section_count(); ++n)
    if (section_name(n) == name) return &sections_[n];
  return nullptr;
}

const Elf64_Shdr* MappedObject::section_of_type(uint32_t type) const {
  for (size_t n = 0; n < section_count(); ++n)
    if (sections_[n].sh_type == type) return &sections_[n];
  return nullptr;
}

bool MappedObject::has_segment(uint32_t type) const {
  if (header_->e_phentsize != sizeof(Elf64_Phdr) || header_->e_phoff % 8 != 0) return false;
  const std::string_view table = part(header_->e_phoff, header_->e_phnum * sizeof(Elf64_Phdr));
  for (size_t n = 0; n < table.size() / sizeof(Elf64_Phdr); ++n)
    if (reinterpret_cast<const Elf64_Phdr*>(table.data())[n].p_type == type) return true;
  return false;
}

}  // namespace lanewise::exec
