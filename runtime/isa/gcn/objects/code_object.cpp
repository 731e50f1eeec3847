#include "runtime/isa/gcn/objects/code_object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/gcn/objects/image.hpp"
#include "runtime/isa/gcn/objects/kernel_descriptor.hpp"

namespace lanewise::gcn {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint8_t kHsaAbi = 0x40, kMesaAbi = 0x42;
constexpr uint8_t kOldKernelSymbol = 10;  ///< of code objects before version 3
constexpr size_t kOldHeaderBytes = 256;
constexpr uint32_t kMetadataNote = 32, kOldMetadataNote = 10;
constexpr size_t kDescriptorBytes = 64, kMostKernels = 100000;

std::optional<Gen> generation(uint32_t flags) {
  const uint32_t machine = flags & 0xff;
  if (machine >= 0x20 && machine <= 0x21) return Gen::gfx6;
  if (machine >= 0x22 && machine <= 0x27) return Gen::gfx7;
  if (machine >= 0x28 && machine <= 0x2b) return Gen::gfx8;
  return std::nullopt;
}

/// The bytes of a symbol in its section.
Bytes bytes_of(const elf::File& file, const elf::Symbol& s, uint64_t size) {
  if (s.section >= file.sections.size())
    throw elf::ElfError("symbol '" + s.name + "' is in no section of the file");
  const elf::Section& section = file.sections[s.section];
  const uint64_t at = s.value - section.address;
  if (s.value < section.address || at > section.data.size() || size > section.data.size() - at)
    throw elf::ElfError("symbol '" + s.name + "' lies outside its section");
  return section.data.subspan(at, size);
}

/// The first note of this type for which fits(bytes) is true; nothing when there is none.
template <class Fits>
std::optional<std::string_view> note_of(const elf::File& file, uint32_t type, Fits fits) {
  for (const elf::Section& s : file.sections) {
    if (s.type != elf::kNote) continue;
    const auto u32 = [&](uint64_t at) { return elf::read<uint32_t>(s.data, at, "a note"); };
    const auto padded = [](uint64_t n) { return (n + 3) & ~uint64_t{3}; };
    for (uint64_t at = 0; at + 12 <= s.data.size();) {
      const uint64_t name = at + 12, desc = name + padded(u32(at)), bytes = u32(at + 4);
      if (desc > s.data.size() || bytes > s.data.size() - desc)
        throw elf::ElfError("a note lies outside its section");
      const std::string_view note(reinterpret_cast<const char*>(s.data.data()) + desc, bytes);
      if (u32(at + 8) == type && fits(note)) return note;
      at = desc + padded(bytes);
    }
  }
  return std::nullopt;
}
std::optional<std::string_view> note_of(const elf::File& file, uint32_t type) {
  return note_of(file, type, [](std::string_view) { return true; });
}

/// Of files whose flags do not say it: the note with the instruction set's version.
std::optional<Gen> noted_generation(const elf::File& file) {
  constexpr uint32_t kIsaNote = 3;
  std::optional<Gen> gen;
  note_of(file, kIsaNote, [&](std::string_view note) {
    if (note.size() < 8) return false;
    const uint32_t major = elf::read<uint32_t>(std::as_bytes(std::span(note)), 4, "a note");
    if (major >= 6 && major <= 8) gen = static_cast<Gen>(major - 6);
    return gen.has_value();
  });
  return gen;
}

/// Which machine a file is for: its target's name in the metadata, else the number of its flags.
std::string machine_text(const elf::File& file) {
  constexpr std::string_view kBefore = "amdhsa--gfx";
  for (const elf::Section& s : file.sections) {
    const std::string_view data(reinterpret_cast<const char*>(s.data.data()), s.data.size());
    const size_t at = data.find(kBefore);
    if (at == std::string_view::npos) continue;
    const std::string_view from = data.substr(at + kBefore.size() - 3);
    const auto other = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; };
    return std::string(from.begin(), std::ranges::find_if(from, other));
  }
  return fmt::format("machine {:#x}", file.flags & 0xff);
}

class Reader {
 public:
  Reader(Bytes bytes, size_t max_errors) : bytes_(bytes), max_errors_(max_errors) {}

  Listing run() {
    try {
      read();
    } catch (const elf::ElfError& e) {
      error(e.what());
    }
    return std::move(listing_);
  }

 private:
  void error(std::string message) {
    listing_.diagnostics.push_back({1, 1, std::move(message), false});
  }

  void read() {
    elf::File file = elf::parse(bytes_);
    if (file.machine != kElfMachine) return error("this is no AMD GPU code object");
    if (file.os_abi != kHsaAbi && file.os_abi != kMesaAbi)
      return error(
          fmt::format("code object for another system (OS/ABI {:#x}), expected amdhsa or "
                      "mesa3d",
                      file.os_abi));
    const auto gen = generation(file.flags) ? generation(file.flags) : noted_generation(file);
    if (!gen)
      return error("code object for " + machine_text(file) +
                   ", expected gfx600 to gfx810: compile it for one of these, as with "
                   "-mcpu=gfx803");
    listing_.gen = *gen;
    unaligned_ = file.os_abi == kHsaAbi && *gen != Gen::gfx6;
    image_.build(file, listing_);
    image_base_ = image_.base();
    if (!read_metadata(file)) return;
    listing_.print_formats = metadata_.print_formats();
    for (elf::Symbol& s : file.symbols)
      if (s.kind == elf::kFunction || s.kind == elf::kObject || s.kind == kOldKernelSymbol)
        starts_.insert({s.section, s.value});
    for (elf::Symbol& s : file.symbols) {
      const bool is_code = s.kind == elf::kFunction || s.kind == kOldKernelSymbol;
      if (is_code) s.size = size_of_symbol(file, s);
      if (is_code || !code_symbols_.contains(s.name)) code_symbols_[s.name] = &s;
    }
    for (const elf::Symbol& s : file.symbols)
      if (s.name.size() > 3 && s.name.ends_with(".kd") && known_.insert(s.name).second)
        kernel(file, s);
    for (const elf::Symbol& s : file.symbols)
      if ((s.kind == elf::kFunction || s.kind == kOldKernelSymbol) &&
          listing_.kernels.size() < kMostKernels && has_old_header(file, s) &&
          known_.insert(s.name + ".kd").second)
        old_kernel(file, s);
    for (const elf::Symbol& s : file.symbols)
      if (s.kind == elf::kFunction && s.size != 0 && !known_.contains(s.name + ".kd") &&
          known_.insert(s.name).second)
        listing_.functions.push_back(code_of(file, s));
    for (Kernel& k : listing_.kernels)
      if (const std::string bad = metadata_.apply(k); !bad.empty())
        k.problems.push_back({1, 1, bad, false});
    if (listing_.kernels.empty() && listing_.ok()) error("the code object has no kernel");
  }

  /// Version 2 has them as text. False, with an error, where they are neither.
  bool read_metadata(const elf::File& file) {
    if (const auto note = note_of(file, kMetadataNote)) {
      if (nlohmann::json::sax_parse(note->begin(), note->end(), &metadata_,
                                    nlohmann::json::input_format_t::msgpack))
        return true;
      error(metadata_.is_shallow() ? "the metadata note is no MessagePack map"
                                   : "its metadata are nested too deeply");
      return false;
    }
    const auto note = note_of(file, kOldMetadataNote);
    MetadataText lines;
    for (std::string_view text = note.value_or(""); !text.empty();) {
      const size_t end = std::min(text.find('\n'), text.size());
      lines.line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    const auto bad = lines.read(metadata_);
    if (bad) error(bad->message);
    return !bad;
  }

  /// Symbols that say no size reach to the next function or variable, or to their section's end.
  uint64_t size_of_symbol(const elf::File& file, const elf::Symbol& symbol) const {
    if (symbol.size != 0 || symbol.section >= file.sections.size()) return symbol.size;
    const elf::Section& section = file.sections[symbol.section];
    if (symbol.value < section.address || symbol.value - section.address > section.data.size())
      return 0;
    const auto next = starts_.upper_bound({symbol.section, symbol.value});
    const uint64_t end = section.address + section.data.size();
    const bool inside = next != starts_.end() && next->first == symbol.section;
    return (inside ? std::min(next->second, end) : end) - symbol.value;
  }

  /// Every symbol may claim the same code, which is decoded for each.
  Kernel code_of(const elf::File& file, const elf::Symbol& symbol) {
    constexpr uint64_t kAliases = 4;
    Kernel k;
    k.name = symbol.name;
    k.gen = listing_.gen;
    k.unaligned = unaligned_;
    const Bytes bytes = bytes_of(file, symbol, symbol.size);
    claimed_ += bytes.size();
    if (claimed_ > kAliases * bytes_.size())
      throw elf::ElfError("its functions lie on top of each other");
    const uint64_t section = file.sections[symbol.section].address;
    k.text = section - std::min(section, image_base_);
    k.base = symbol.value - image_base_;
    k.code = decode_code(bytes, k.gen, k.problems, max_errors_);
    return k;
  }

  /// Version 1 of the header, and code behind it.
  static bool has_old_header(const elf::File& file, const elf::Symbol& s) {
    if (s.size <= kOldHeaderBytes) return false;
    const Bytes d = bytes_of(file, s, kOldHeaderBytes);
    return elf::read<uint32_t>(d, 0, "a kernel's header") == 1 &&
           elf::read<uint64_t>(d, 16, "a kernel's header") == kOldHeaderBytes;
  }
  /// These files say nothing of arguments.
  void old_kernel(const elf::File& file, const elf::Symbol& symbol) {
    const Bytes d = bytes_of(file, symbol, kOldHeaderBytes);
    elf::Symbol code = symbol;
    code.value += kOldHeaderBytes;
    code.size -= kOldHeaderBytes;
    Kernel k = code_of(file, code);
    apply_amdhsa(descriptor_values(d, true), k);
    if (file.os_abi == kMesaAbi) add_mesa_values(k);
    listing_.kernels.push_back(std::move(k));
  }
  /// What is wrong with one kernel leaves the others usable.
  void kernel(const elf::File& file, const elf::Symbol& descriptor) {
    const std::string name = descriptor.name.substr(0, descriptor.name.size() - 3);
    try {
      read_kernel(file, descriptor, name);
    } catch (const elf::ElfError& e) {
      Kernel broken;
      broken.name = name;
      broken.problems.push_back({1, 1, e.what(), false});
      listing_.kernels.push_back(std::move(broken));
    }
  }

  void read_kernel(const elf::File& file, const elf::Symbol& descriptor, const std::string& name) {
    const Bytes d = bytes_of(file, descriptor, kDescriptorBytes);
    const auto entry = descriptor.value + elf::read<uint64_t>(d, 16, "the kernel descriptor");
    const auto found = code_symbols_.find(name);
    if (found == code_symbols_.end() || found->second->value != entry)
      throw elf::ElfError(
          fmt::format("the descriptor of '{}' does not point at its function", name));
    elf::Symbol code = *found->second;
    code.size = size_of_symbol(file, code);
    Kernel k = code_of(file, code);
    apply_amdhsa(descriptor_values(d, false), k);
    if (k.code.empty()) throw elf::ElfError(fmt::format("'{}' has no instructions", name));
    listing_.kernels.push_back(std::move(k));
  }

  Bytes bytes_;
  size_t max_errors_;
  Listing listing_;
  ImageBuilder image_;
  Metadata metadata_;
  uint64_t image_base_ = 0, claimed_ = 0;
  std::set<std::pair<uint16_t, uint64_t>> starts_;  ///< of functions and variables, by section
  bool unaligned_ = false;                          ///< Kernel::unaligned
  std::map<std::string, const elf::Symbol*> code_symbols_;
  std::set<std::string> known_;
};

}  // namespace

Listing read_code_object(Bytes file, size_t max_errors) {
  return Reader(file, max_errors).run();
}

std::vector<Instruction> decode_code(Bytes code, Gen gen, std::vector<Diagnostic>& diagnostics,
                                     size_t max_errors) {
  std::vector<Instruction> out;
  const size_t count = code.size() / 4;
  const auto word = [&](size_t n) { return elf::read<uint32_t>(code, 4 * n, "an instruction"); };
  const auto report = [&](std::string message) {
    if (max_errors == 0 || diagnostics.size() < max_errors)
      diagnostics.push_back({1, 1, std::move(message), false});
  };
  for (size_t n = 0; n < count;) {
    std::vector<uint32_t> words;
    for (size_t k = n; k < count && k < n + 3; ++k) words.push_back(word(k));
    auto i = decode(words, gen);
    if (!i) i = undecoded(words, gen);
    i->pc = 4 * n;
    i->text = print(*i, gen);
    n += size_of(*i, gen) / 4;
    out.push_back(std::move(*i));
  }
  if (code.size() % 4 != 0) report("the code ends in the middle of a word");
  return out;
}

}  // namespace lanewise::gcn
