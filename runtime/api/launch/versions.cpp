#include "runtime/api/launch/versions.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/api/program/policies.hpp"
#include "runtime/guest/allocation_at.hpp"
#include "runtime/guest/certain_accesses.hpp"
#include "runtime/guest/descriptor_words.hpp"
#include "runtime/guest/launch_block.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::host {

using namespace detail;  // policies

namespace {

/// Words of a texture's block that decide what code its accesses need, and rarely change.
constexpr uint32_t kTextureClass[] = {
    static_cast<uint32_t>(guest::TextureWord::image) + 2,  // format
    static_cast<uint32_t>(guest::TextureWord::image) + 8,  // levels
    static_cast<uint32_t>(guest::TextureWord::image) + 9,  // kind
    static_cast<uint32_t>(guest::TextureWord::sampler),    // state
};

/// The same of what GCN finds at its begin: number, and bits that are no part of an address or a
/// size.
constexpr std::pair<uint32_t, uint32_t> kGcnImageClass[] = {
    {1, 0xffffff00}, {3, ~0U},  {6, ~0U},  {7, ~0U},  {8, ~0U},
    {9, ~0U},        {12, ~0U}, {13, ~0U}, {14, ~0U}, {15, ~0U}};
constexpr std::pair<uint32_t, uint32_t> kGcnSamplerClass[] = {
    {0, ~0U}, {1, ~0U}, {2, ~0U}, {3, ~0U}};

std::vector<ir::KnownWord> class_of(const guest::TextureBlock& words, ir::Isa isa) {
  std::vector<ir::KnownWord> out;
  if (isa != ir::Isa::gcn) {
    for (const uint32_t word : kTextureClass) out.push_back({word, words[word]});
    return out;
  }
  const uint32_t kind = words[static_cast<uint32_t>(guest::TextureWord::image) + 9];
  const auto add = [&](const auto& list) {
    for (const auto& [word, mask] : list) out.push_back({word, words[word] & mask, mask});
  };
  if ((kind & guest::kIsTexture) != 0)
    add(kGcnImageClass);
  else
    add(kGcnSamplerClass);
  return out;
}

/// The block that a handle leads to.
uint64_t block_address(const ir::TextureHandle& handle, std::span<const std::byte> parameters) {
  uint64_t address = handle.value;
  if (handle.parameter) {
    if (handle.value > parameters.size() || parameters.size() - handle.value < sizeof address)
      return 0;
    std::memcpy(&address, parameters.data() + handle.value, sizeof address);
  }
  return address;
}

/// What a launch need not ask about: the block is the host's, and what it describes is there.
ir::TexelMemory texel_memory(const Device& device, uint64_t block, const guest::TexelRange& texels,
                             bool checked) {
  const std::vector<Allocation>& live = device.allocator.reachable();
  const Allocation* own = guest::allocation_at(live, block, guest::kTextureBlockBytes);
  const bool safe = own != nullptr && own->read_only && !device.wrote_anywhere;
  if (checked && !safe) return ir::TexelMemory::unknown;
  const Allocation* memory = guest::allocation_at(live, texels.address, texels.bytes);
  // Parameters of launches lie behind the rest, and are gone with them.
  if (memory != nullptr && memory->address >= guest::kArenaBase + device.allocator.end() &&
      memory->address < guest::kImportedBase)
    memory = nullptr;
  if (texels.bytes == 0 || !texels.aligned || memory == nullptr) return ir::TexelMemory::block;
  return memory->read_only ? ir::TexelMemory::readable : ir::TexelMemory::writable;
}

/// Textures whose block's class is known, and a number for each class.
struct KnownTextures {
  std::vector<uint32_t> key;
  std::vector<ir::KnownBlock> blocks;
};
KnownTextures known_textures(const LaunchOrder& order, const LaunchedProgram& launched,
                             std::span<const std::byte> parameters) {
  const Device& device = *order.module->device;
  KnownTextures out;
  for (const ir::TextureHandle& handle : launched.textures) {
    const auto block = device.texture_blocks.find(block_address(handle, parameters));
    out.key.push_back(block != device.texture_blocks.end() ? 1 : 0);
    if (block == device.texture_blocks.end()) continue;
    const auto& [words, texels] = block->second;
    const auto memory =
        texel_memory(device, block->first, texels, order.options.memcheck != Memcheck::off);
    out.key.push_back(static_cast<uint32_t>(memory));
    std::vector<ir::KnownWord> known = class_of(words, launched.program->isa);
    out.key.push_back(static_cast<uint32_t>(known.size()));
    for (const ir::KnownWord& word : known) out.key.push_back(word.value);
    out.blocks.push_back({handle, std::move(known), memory});
  }
  if (out.blocks.empty()) out.key.clear();
  return out;
}

/// The arguments among the parameters: what the launch lays down behind or between them is not
/// there yet.
std::span<const std::byte> arguments_of(const ir::Program& program,
                                        std::span<const std::byte> parameters) {
  size_t end = parameters.size();
  for (const ir::Param& hidden : program.needs.hidden) end = std::min<size_t>(end, hidden.offset);
  if (program.needs.block_offset != 0) end = std::min<size_t>(end, program.needs.block_offset);
  return parameters.first(end);
}

/// The version that is kept under the key, made where there is none; null where there are too many.
const SpecialisedProgram* version(LaunchedProgram& launched,
                                  std::pair<std::vector<uint32_t>, std::vector<bool>> key,
                                  const std::function<ir::Program()>& make) {
  constexpr size_t kMostVersions = 32;
  const auto found = launched.specialised.find(key);
  if (found != launched.specialised.end()) return &found->second;
  if (launched.specialised.size() >= kMostVersions) return nullptr;
  return &launched.specialised.emplace(std::move(key), SpecialisedProgram{make(), new_program_id()})
              .first->second;
}

/// What every launch sees: parameters of those that wait beside it lie behind it.
std::vector<Allocation> seen_by_all(const Device& device) {
  std::vector<Allocation> out;
  const uint64_t parameters = guest::kArenaBase + device.allocator.end();
  for (const Allocation& a : device.allocator.reachable())
    if (a.address < parameters || a.address >= guest::kImportedBase)
      out.push_back({a.address, a.size, {}, a.read_only});
  return out;
}

/// The version whose accesses are not checked where that is certain in this launch, and whose
/// buffer descriptors have the launch's format and stride; null where nothing is known, or looked
/// at.
const SpecialisedProgram* certain_version(const LaunchOrder& order, LaunchedProgram& launched,
                                          const ir::Program& program,
                                          const std::vector<uint32_t>& textures,
                                          std::span<const std::byte> parameters) {
  constexpr size_t kMostKept = 4, kMostBlocks = 400;
  constexpr unsigned kMostLooks = 64;  // arguments that are never the same cost more than they save
  const Device& device = *order.module->device;
  const LaunchOptions& options = order.options;
  const bool wanted = !parameters.empty() && device.info.type != std::string_view("reference") &&
                      program.blocks.size() <= kMostBlocks;
  if (!wanted) return nullptr;
  const std::span<const std::byte> arguments = arguments_of(program, parameters);
  const Dim3 block = guest::launched_block(order.program(), options.block);
  for (const CertainLaunch& before : launched.certain)
    if (before.grid == options.grid && before.block == block &&
        before.memcheck == options.memcheck && before.changes == device.allocator.changes() &&
        before.textures == textures && std::ranges::equal(before.params, arguments))
      return before.version;
  if (++launched.looked_at > kMostLooks) return nullptr;
  const bool checked = options.memcheck != Memcheck::off;
  const std::vector<Allocation> live = checked ? seen_by_all(device) : std::vector<Allocation>{};
  const guest::CertainFacts facts{.grid = options.grid,
                                  .block = block,
                                  .params = arguments,
                                  .allocations = options.memcheck == Memcheck::alloc,
                                  .live = live};
  std::vector<uint32_t> key = textures;
  ir::Program described;
  const std::vector<guest::DescriptorWord> words = guest::descriptor_words(program, facts);
  if (!words.empty()) {
    described = program;
    guest::set_words(described, words);
    for (const guest::DescriptorWord& w : words)
      key.insert(key.end(), {w.block, w.inst, w.source, w.value});
  }
  const ir::Program& known = words.empty() ? program : described;
  const std::vector<bool> certain =
      checked ? guest::certain_accesses(known, facts) : std::vector<bool>{};
  CertainLaunch now{options.grid,     block,
                    options.memcheck, device.allocator.changes(),
                    textures,         {arguments.begin(), arguments.end()},
                    nullptr};
  if (!words.empty() || std::ranges::find(certain, true) != certain.end())
    now.version = version(launched, {std::move(key), certain}, [&] {
      ir::Program made = known;
      if (checked) guest::mark_certain(made, certain);
      return made;
    });
  if (launched.certain.size() == kMostKept) launched.certain.pop_front();
  launched.certain.push_back(std::move(now));
  return launched.certain.back().version;
}

}  // namespace

uint64_t new_program_id() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

const SpecialisedProgram* specialised(const LaunchOrder& order,
                                      std::span<const std::byte> parameters) {
  Module& module = *order.module;
  LaunchedProgram& launched = module.launched_program(order.index, order.options.policies);
  const KnownTextures textures = known_textures(order, launched, parameters);
  const SpecialisedProgram* special = nullptr;
  if (!textures.blocks.empty())
    special = version(launched, {textures.key, {}}, [&] {
      ir::Program made = module.module.kernels[order.index];
      ir::specialise_textures(made, textures.blocks);
      apply_policies(made, launched.policies);
      return made;
    });
  const ir::Program& program = special != nullptr ? special->program : *launched.program;
  const std::vector<uint32_t> key = special != nullptr ? textures.key : std::vector<uint32_t>{};
  const SpecialisedProgram* certain = certain_version(order, launched, program, key, parameters);
  return certain != nullptr ? certain : special;
}

}  // namespace lanewise::host
