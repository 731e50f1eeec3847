#include "runtime/isa/gcn/objects/image.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise::gcn {
namespace {

using elf::ElfError;

constexpr uint64_t kMostBytes = uint64_t{64} << 20, kPage = 4096;

/// Types of relocations, by the numbers of the format.
enum RelocationType : uint32_t {
  kNone = 0,
  kAbs32Lo = 1,
  kAbs32Hi = 2,
  kAbs64 = 3,
  kRel32 = 4,
  kRel64 = 5,
  kAbs32 = 6,
  kGotRel = 7,
  kGotRelLo = 8,
  kGotRelHi = 9,
  kRel32Lo = 10,
  kRel32Hi = 11,
  kRelative64 = 13,
  kRel16 = 14,
};
constexpr const char* kNames[] = {"none",          "abs32_lo",      "abs32_hi", "abs64",
                                  "rel32",         "rel64",         "abs32",    "gotpcrel",
                                  "gotpcrel32_lo", "gotpcrel32_hi", "rel32_lo", "rel32_hi",
                                  "type 12",       "relative64",    "rel16"};

std::string type_name(uint32_t type) {
  return type < std::size(kNames) ? kNames[type] : fmt::format("type {}", type);
}
bool wants_slot(uint32_t type) {
  return type == kGotRel || type == kGotRelLo || type == kGotRelHi;
}
unsigned width(uint32_t type) {
  return type == kAbs64 || type == kRel64 || type == kRelative64 ? 8 : type == kRel16 ? 2 : 4;
}

bool is_loaded(const elf::Section& s) {
  return (s.flags & kLoaded) != 0 && s.address != 0 && s.size != 0 &&
         s.address + s.size > s.address;
}
/// Nobody writes there once the relocations are carried out.
bool is_constant(const elf::Section& s) {
  return (s.flags & kWritten) == 0 || s.name == ".got" || s.name.starts_with(".data.rel.ro");
}

std::string undefined(const std::string& name) {
  return fmt::format("'{}' is defined nowhere in this file", name);
}

/// One relocation of an object that is not linked.
struct Linking {
  const elf::Section& section;
  const elf::Reloc& reloc;
  const std::string& name;  ///< of the symbol, or of the section that it stands for
  std::string where() const {
    return fmt::format("relocation {} of '{}' at {}+{:#x}", type_name(reloc.type), name,
                       section.name, reloc.offset);
  }
};

}  // namespace

void ImageBuilder::place(elf::File& file) {
  uint64_t at = kPage;
  const auto next = [&](uint64_t bytes, uint64_t align) {
    align = std::clamp<uint64_t>(align, 1, kMostBytes);
    at = (at + align - 1) / align * align;
    const uint64_t here = at;
    if (bytes > kMostBytes || at > kMostBytes) throw ElfError("the object needs too much memory");
    at += bytes;
    return here;
  };
  for (elf::Section& s : file.sections)
    if ((s.flags & kLoaded) != 0) {
      s.address = next(s.size, s.align);
      bytes_.emplace_back(s.data.begin(), s.data.end());
      s.data = bytes_.back();
    }
  elf::Section more;
  more.name = ".bss of common symbols";
  more.type = elf::kNobits;
  more.flags = kLoaded | kWritten;
  for (elf::Symbol& s : file.symbols) {
    if (s.section < kFirstReserved && s.section < file.sections.size()) {
      s.value += file.sections[s.section].address;
    } else if (s.section == kCommon) {
      s.value = next(s.size, s.value);
      s.section = static_cast<uint16_t>(file.sections.size());
      if (more.address == 0) more.address = s.value;
      more.size = at - more.address;
    }
  }
  elf::Section got;
  got.name = ".got";
  got.flags = kLoaded;
  for (const elf::Section& s : file.sections)
    if (s.type == elf::kRela || s.type == elf::kRel)
      for (const elf::Reloc& r : file.relocations(s))
        if (wants_slot(r.type) && slots_.try_emplace(r.symbol, 0).second) got.size += 8;
  got.address = next(got.size, 8);
  uint64_t slot = got.address;
  for (auto& [symbol, address] : slots_) {
    address = slot;
    slot += 8;
  }
  bytes_.emplace_back(got.size);
  got.data = bytes_.back();
  file.sections.push_back(more);
  file.sections.push_back(got);
}

void ImageBuilder::link(const elf::File& file, Listing& listing) {
  ir::Global& image = *listing.image;
  const auto put = [&](uint64_t at, uint64_t value, unsigned bytes) {
    for (unsigned n = 0; n < bytes; ++n)
      image.init.at(at + n) = static_cast<std::byte>(value >> (8 * n) & 0xff);
  };
  const auto get = [&](uint64_t at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned n = 0; n < bytes; ++n)
      value |= std::to_integer<uint64_t>(image.init.at(at + n)) << (8 * n);
    return value;
  };
  /// The address of a symbol, 0 of a weak one that is not there.
  const auto keep_address = [&](uint64_t at, const elf::Symbol& s, int64_t addend) {
    const uint64_t value = s.value + static_cast<uint64_t>(addend);
    if (s.section == kAbsolute || (s.section == kUndefined && s.binding == elf::kWeak))
      put(at, value, 8);
    else if (s.section == kUndefined)
      listing.unresolved[at] = undefined(s.name);
    else
      image.relocs.push_back({at, image.name, static_cast<int64_t>(value - base_), 8});
  };
  for (const auto& [symbol, address] : slots_)
    keep_address(address - base_, file.symbols[symbol], 0);
  for (const elf::Section& table : file.sections) {
    if (table.type != elf::kRela && table.type != elf::kRel) continue;
    if (table.info >= file.sections.size() || !is_loaded(file.sections[table.info])) continue;
    const elf::Section& section = file.sections[table.info];
    for (const elf::Reloc& r : file.relocations(table)) {
      const elf::Symbol& s = file.symbols[r.symbol];
      const bool of_section = s.name.empty() && s.section < file.sections.size();
      const Linking what{section, r, of_section ? file.sections[s.section].name : s.name};
      const unsigned bytes = width(r.type);
      if (r.offset > section.size || section.size - r.offset < bytes)
        throw ElfError(what.where() + " lies outside its section");
      const uint64_t at = section.address - base_ + r.offset, place = section.address + r.offset;
      int64_t addend = r.addend;
      if (table.type == elf::kRel) {
        const uint64_t there = get(at, bytes);
        addend = bytes == 8   ? static_cast<int64_t>(there)
                 : bytes == 4 ? int64_t{static_cast<int32_t>(there)}
                              : 4 * int64_t{static_cast<int16_t>(there)} + 4;
      }
      const bool code = (section.flags & kCode) != 0;
      const auto lack = [&](const std::string& why) {
        if (!code) throw ElfError(what.where() + ": " + why);
        listing.unresolved[at & ~uint64_t{3}] = what.where() + ": " + why;
      };
      const bool absolute = s.section == kAbsolute;
      const bool weak = s.section == kUndefined && s.binding == elf::kWeak;
      const uint64_t target =
          (wants_slot(r.type) ? slots_.at(r.symbol) : s.value) + static_cast<uint64_t>(addend);
      const uint64_t distance = target - place;
      if (r.type == kNone) continue;
      if (!wants_slot(r.type) && s.section == kInLds) {
        lack("places of variables in LDS are not given here");
        continue;
      }
      if (s.section >= kFirstReserved && !absolute && s.section != kInLds) {
        lack(fmt::format("its section {:#x} is not known", s.section));
        continue;
      }
      const bool missing = s.section == kUndefined && r.symbol != 0 && !weak;
      if (missing && !wants_slot(r.type)) {
        if (r.type == kAbs64)
          keep_address(at, s, addend);
        else
          lack(undefined(s.name));
        continue;
      }
      switch (r.type) {
        case kRel32:
        case kRel32Lo:
        case kGotRel:
        case kGotRelLo:
          put(at, distance, 4);
          break;
        case kRel32Hi:
        case kGotRelHi:
          put(at, distance >> 32, 4);
          break;
        case kRel64:
          put(at, distance, 8);
          break;
        case kRel16: {
          const auto steps = static_cast<int64_t>(distance - 4) / 4;
          if (distance % 4 != 0 || steps != int64_t{static_cast<int16_t>(steps)})
            lack("its target is too far away for a branch");
          else
            put(at, static_cast<uint64_t>(steps), 2);
          break;
        }
        case kAbs64:
          keep_address(at, s, addend);
          break;
        case kAbs32:
        case kAbs32Lo:
        case kAbs32Hi:
          if (absolute || weak)
            put(at, r.type == kAbs32Hi ? target >> 32 : target, 4);
          else if (code && r.type != kAbs32)
            listing.address_words[at] = {target - base_, r.type == kAbs32Hi};
          else
            lack("an address does not fit into 32 bits");
          break;
        default:
          lack("this type of relocation is not known");
      }
    }
  }
}

/// What the loader of a linked file fills in: addresses inside the image are those that it chose.
void ImageBuilder::load(const elf::File& file, const elf::Section& section, Listing& listing) {
  constexpr uint64_t kSymbolBytes = 24;
  ir::Global& image = *listing.image;
  for (const elf::Reloc& r : file.relocations(section)) {
    const uint64_t at = r.offset - base_;
    if (r.type == kNone || r.offset < base_ || at > image.size || image.size - at < 8) continue;
    uint64_t value = static_cast<uint64_t>(r.addend);
    if (r.type == kAbs64 && section.link < file.sections.size()) {
      const elf::Section& symbols = file.sections[section.link];
      const uint64_t entry = kSymbolBytes * uint64_t{r.symbol};
      const auto name = elf::read<uint32_t>(symbols.data, entry, "a relocation's symbol");
      const auto binding =
          elf::read<uint8_t>(symbols.data, entry + 4, "a relocation's symbol") >> 4;
      const auto where = elf::read<uint16_t>(symbols.data, entry + 6, "a relocation's symbol");
      value += elf::read<uint64_t>(symbols.data, entry + 8, "a relocation's symbol");
      if (where == kUndefined && r.symbol != 0) {
        if (binding != elf::kWeak && symbols.link < file.sections.size())
          listing.unresolved[at] = undefined(elf::text_at(file.sections[symbols.link].data, name));
        continue;
      }
    } else if (r.type != kRelative64) {
      throw ElfError(fmt::format("relocation {} at {:#x}: no loader carries this type out",
                                 type_name(r.type), r.offset));
    }
    image.relocs.push_back({at, image.name, static_cast<int64_t>(value - base_), 8});
  }
}

void ImageBuilder::build(elf::File& file, Listing& listing) {
  const bool relocatable = file.type == kRelocatable;
  if (relocatable) place(file);
  uint64_t end = 0;
  base_ = ~uint64_t{0};
  for (const elf::Section& s : file.sections)
    if (is_loaded(s)) {
      base_ = std::min(base_, s.address);
      end = std::max(end, s.address + s.size);
    }
  if (end <= base_ || end - base_ > kMostBytes) {
    base_ = 0;
    return;
  }
  ir::Global image;
  image.name = "code object";
  image.align = kPage;
  image.size = end - base_;
  image.init.resize(image.size);
  for (const elf::Section& s : file.sections) {
    if (!is_loaded(s)) continue;
    if (s.data.size() <= s.size)
      std::ranges::copy(s.data,
                        image.init.begin() + static_cast<std::ptrdiff_t>(s.address - base_));
    if (is_constant(s))
      listing.constants.emplace_back(s.address - base_, s.address - base_ + s.size);
  }
  listing.image = std::move(image);
  if (!relocatable) {
    for (const elf::Section& s : file.sections)
      if (s.type == elf::kRela && (s.flags & kLoaded) != 0) load(file, s, listing);
    return;
  }
  link(file, listing);
  // What reads sections sees them linked, too.
  size_t n = 0;
  for (elf::Section& s : file.sections)
    if ((s.flags & kLoaded) != 0 && n < bytes_.size()) {
      std::vector<std::byte>& own = bytes_[n++];
      if (!own.empty())
        std::copy_n(listing.image->init.begin() + static_cast<std::ptrdiff_t>(s.address - base_),
                    own.size(), own.begin());
    }
}

}  // namespace lanewise::gcn
