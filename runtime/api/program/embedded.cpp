#include "runtime/api/program/embedded.hpp"

#include <fmt/format.h>

#include <charconv>

#include "lanewise/error_detail.hpp"
#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/elf/fat_entries.hpp"

namespace lanewise::host::detail {
namespace {

constexpr std::string_view kArchive = "!<arch>\n", kThinArchive = "!<thin>\n";
constexpr size_t kMemberHeader = 60;

[[noreturn]] void refuse_file(const std::string& why) {
  throw DetailedError(ErrorKind::usage, ErrorDetail::format, why);
}

/// A program or library for a CPU, or a part of one.
bool is_host_object(std::string_view file) {
  constexpr uint16_t kX86 = 62, kArm = 183;
  const uint16_t machine = elf::machine(std::as_bytes(std::span(file)));
  return machine == kX86 || machine == kArm;
}

struct Found {
  Embedded relocatable;
  std::vector<Embedded> linked;
};

void add_object(Found& found, std::string_view file, const std::string& where) {
  try {
    const elf::File object = elf::parse(std::as_bytes(std::span(file)), elf::Symbols::none);
    for (const elf::Section& section : object.sections) {
      const bool relocatable = section.name == "__nv_relfatbin";
      if (!relocatable && section.name != ".nv_fatbin") continue;
      elf::for_each_fat_binary(
          {reinterpret_cast<const char*>(section.data.data()), section.data.size()},
          [&](std::string_view fat) {
            if (relocatable)
              found.relocatable.fat_binaries.push_back(fat);
            else
              found.linked.push_back({{fat}, where, false});
          });
    }
  } catch (const elf::ElfError& error) {
    refuse_file(
        fmt::format("broken object file{}: {}", where.empty() ? "" : " " + where, error.what()));
  }
}

/// The name of an archive's member: in place, or in the table of long names.
std::string member_name(std::string_view field, std::string_view long_names) {
  if (field[0] == '/' && field[1] >= '0' && field[1] <= '9') {
    size_t at = 0;
    std::from_chars(field.data() + 1, field.data() + field.size(), at);
    if (at >= long_names.size()) refuse_file("broken archive: a member has no name");
    return std::string(long_names.substr(at, long_names.find('/', at) - at));
  }
  return std::string(field.substr(0, field.find('/')));
}

void add_archive(Found& found, std::string_view file) {
  std::string_view long_names;
  for (std::string_view rest = file.substr(kArchive.size()); !rest.empty();) {
    uint64_t size = 0;
    if (rest.size() < kMemberHeader || rest.substr(58, 2) != "`\n")
      refuse_file("broken archive: a member's header is none");
    const std::string_view field = rest.substr(48, 10);
    std::from_chars(field.data(), field.data() + field.size(), size);
    if (size > rest.size() - kMemberHeader)
      refuse_file("broken archive: a member is longer than it");
    const std::string_view name = rest.substr(0, 16), data = rest.substr(kMemberHeader, size);
    if (name.starts_with("// "))
      long_names = data;
    else if (is_host_object(data))
      add_object(found, data, member_name(name, long_names));
    rest.remove_prefix(std::min<size_t>(kMemberHeader + size + size % 2, rest.size()));
  }
}

}  // namespace

bool is_container(std::string_view file) {
  return elf::FatEntries::starts(file) || is_host_object(file) || file.starts_with(kArchive) ||
         file.starts_with(kThinArchive);
}

std::vector<Embedded> embedded_in(std::string_view file) {
  Found found;
  if (elf::FatEntries::starts(file)) {
    Embedded all;
    elf::for_each_fat_binary(file, [&](std::string_view fat) { all.fat_binaries.push_back(fat); });
    return {all};
  }
  if (file.starts_with(kThinArchive))
    refuse_file("a thin archive holds names of files only: name these files");
  if (file.starts_with(kArchive))
    add_archive(found, file);
  else
    add_object(found, file, "");
  if (!found.relocatable.fat_binaries.empty()) {
    found.relocatable.relocatable = true;
    found.linked.insert(found.linked.begin(), std::move(found.relocatable));
  }
  if (found.linked.empty())
    refuse_file(
        "it holds no code for a GPU (neither .nv_fatbin nor __nv_relfatbin, which nvcc makes)");
  return std::move(found.linked);
}

}  // namespace lanewise::host::detail
