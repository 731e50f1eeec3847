#include "runtime/isa/gcn/code_object.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/gcn/metadata.hpp"

namespace lanewise::gcn {
namespace {

using Bytes = std::span<const std::byte>;
using Json = nlohmann::json;

constexpr uint8_t kHsaAbi = 0x40;
constexpr uint32_t kMetadataNote = 32;
constexpr size_t kDescriptorBytes = 64;

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

/// The kernel descriptor, in the words of the assembler's directives.
AmdhsaValues descriptor_values(Bytes d) {
  const auto u32 = [&](size_t at) { return elf::read<uint32_t>(d, at, "the kernel descriptor"); };
  const uint32_t rsrc1 = u32(48), rsrc2 = u32(52), properties = u32(56);
  const auto bit = [](uint32_t word, unsigned n) { return uint64_t{word >> n & 1}; };
  return {{"group_segment_fixed_size", u32(0)},
          {"private_segment_fixed_size", u32(4)},
          {"kernarg_size", u32(8)},
          {"user_sgpr_private_segment_buffer", bit(properties, 0)},
          {"user_sgpr_dispatch_ptr", bit(properties, 1)},
          {"user_sgpr_queue_ptr", bit(properties, 2)},
          {"user_sgpr_kernarg_segment_ptr", bit(properties, 3)},
          {"user_sgpr_dispatch_id", bit(properties, 4)},
          {"user_sgpr_flat_scratch_init", bit(properties, 5)},
          {"user_sgpr_private_segment_size", bit(properties, 6)},
          {"user_sgpr_count", rsrc2 >> 1 & 31},
          {"system_sgpr_private_segment_wavefront_offset", bit(rsrc2, 0)},
          {"system_sgpr_workgroup_id_x", bit(rsrc2, 7)},
          {"system_sgpr_workgroup_id_y", bit(rsrc2, 8)},
          {"system_sgpr_workgroup_id_z", bit(rsrc2, 9)},
          {"system_sgpr_workgroup_info", bit(rsrc2, 10)},
          {"system_vgpr_workitem_id", rsrc2 >> 11 & 3},
          {"float_round_mode_32", rsrc1 >> 12 & 3},
          {"float_denorm_mode_32", rsrc1 >> 16 & 3},
          {"dx10_clamp", bit(rsrc1, 21)},
          {"ieee_mode", bit(rsrc1, 23)}};
}

/// The metadata map of the file's notes; null when there is none.
Json metadata_of(const elf::File& file) {
  for (const elf::Section& s : file.sections) {
    if (s.type != elf::kNote) continue;
    const auto u32 = [&](uint64_t at) { return elf::read<uint32_t>(s.data, at, "a note"); };
    const auto padded = [](uint64_t n) { return (n + 3) & ~uint64_t{3}; };
    for (uint64_t at = 0; at + 12 <= s.data.size();) {
      const uint64_t name = at + 12, desc = name + padded(u32(at)), bytes = u32(at + 4);
      if (desc > s.data.size() || bytes > s.data.size() - desc)
        throw elf::ElfError("a note lies outside its section");
      if (u32(at + 8) == kMetadataNote) {
        const auto* first = reinterpret_cast<const uint8_t*>(s.data.data()) + desc;
        return Json::from_msgpack(first, first + bytes, true, false);
      }
      at = desc + padded(bytes);
    }
  }
  return nullptr;
}

std::string text(const Json& map, const char* key) {
  const auto found = map.find(key);
  return found != map.end() && found->is_string() ? found->get<std::string>() : std::string();
}
uint32_t number(const Json& map, const char* key) {
  const auto found = map.find(key);
  return found != map.end() && found->is_number_unsigned()
             ? static_cast<uint32_t>(std::min<uint64_t>(found->get<uint64_t>(), 0xffffffff))
             : 0;
}

void apply_metadata(const Json& root, Kernel& k) {
  if (!root.is_object()) return;
  const auto kernels = root.find("amdhsa.kernels");
  if (kernels == root.end() || !kernels->is_array()) return;
  for (const Json& entry : *kernels) {
    if (!entry.is_object() || text(entry, ".name") != k.name) continue;
    k.kernarg_bytes = std::max(k.kernarg_bytes, number(entry, ".kernarg_segment_size"));
    const auto args = entry.find(".args");
    if (args == entry.end() || !args->is_array()) continue;
    for (const Json& a : *args)
      if (a.is_object())
        add_parameter(k, text(a, ".name"), number(a, ".offset"), number(a, ".size"),
                      text(a, ".value_kind"), text(a, ".type_name"));
  }
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
    const elf::File file = elf::parse(bytes_);
    if (file.machine != kElfMachine) return error("this is no AMD GPU code object");
    if (file.os_abi != kHsaAbi)
      return error(fmt::format("code object for another system (OS/ABI {:#x}), expected amdhsa",
                               file.os_abi));
    const auto gen = generation(file.flags);
    if (!gen)
      return error(fmt::format("code object for machine {:#x}, expected gfx600 to gfx810",
                               file.flags & 0xff));
    listing_.gen = *gen;
    const Json metadata = metadata_of(file);
    if (metadata.is_discarded()) return error("the metadata note is no MessagePack map");
    for (const elf::Symbol& s : file.symbols)
      if (s.name.size() > 3 && s.name.ends_with(".kd") && known_.insert(s.name).second)
        kernel(file, s, metadata);
    if (listing_.kernels.empty() && listing_.ok()) error("the code object has no kernel");
  }

  void kernel(const elf::File& file, const elf::Symbol& descriptor, const Json& metadata) {
    const Bytes d = bytes_of(file, descriptor, kDescriptorBytes);
    const auto entry = descriptor.value + elf::read<uint64_t>(d, 16, "the kernel descriptor");
    const std::string name = descriptor.name.substr(0, descriptor.name.size() - 3);
    const elf::Symbol* code = nullptr;
    for (const elf::Symbol& s : file.symbols)
      if (s.kind == elf::kFunction && s.name == name) code = &s;
    if (code == nullptr || code->value != entry)
      return error(fmt::format("the descriptor of '{}' does not point at its function", name));
    Kernel k;
    k.name = name;
    k.gen = listing_.gen;
    apply_amdhsa(descriptor_values(d), k);
    apply_metadata(metadata, k);
    k.code =
        decode_code(bytes_of(file, *code, code->size), k.gen, listing_.diagnostics, max_errors_);
    if (k.code.empty()) return error(fmt::format("'{}' has no instructions", name));
    listing_.kernels.push_back(std::move(k));
  }

  Bytes bytes_;
  size_t max_errors_;
  Listing listing_;
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
    if (!i) {
      report(fmt::format("at {:#x}: {:08x} is no instruction of {} that is known here", 4 * n,
                         words[0], name(gen)));
      ++n;
      continue;
    }
    i->pc = 4 * n;
    i->text = print(*i, gen);
    n += size_of(*i, gen) / 4;
    out.push_back(std::move(*i));
  }
  if (code.size() % 4 != 0) report("the code ends in the middle of a word");
  return out;
}

}  // namespace lanewise::gcn
