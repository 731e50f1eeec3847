// Textures: descriptions that are checked, and the blocks of memory that kernels read them from.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/api/objects/objects.hpp"
#include "runtime/api/objects/structs.hpp"

namespace lanewise::host {
namespace {

constexpr uint32_t kMostTexels = 1 << 27;  ///< along an axis

[[noreturn]] void wrong(const std::string& why) {
  fail(ErrorDetail::invalid_value, why);
}

void check_format(const lw_texture_options& o) {
  if (o.texel_kind > LW_TEXEL_FLOAT) wrong("texel_kind is none of the LW_TEXEL_ numbers");
  if (o.channels != 1 && o.channels != 2 && o.channels != 4)
    wrong(fmt::format("{} channels: 1, 2 or 4 are possible", o.channels));
  const bool real = o.texel_kind == LW_TEXEL_FLOAT;
  if ((o.channel_bits != 8 || real) && o.channel_bits != 16 && o.channel_bits != 32)
    wrong(fmt::format("channels of {} bits: 8, 16 and 32 are possible, of floats 16 and 32",
                      o.channel_bits));
  if (o.fractions != 0 && (real || o.channel_bits == 32))
    wrong("fractions: for integers of 8 or 16 bits");
  if (o.srgb != 0 && (o.texel_kind != LW_TEXEL_UNSIGNED || o.channel_bits != 8 || o.channels != 4 ||
                      o.fractions == 0))
    wrong("srgb: for four channels of 8 bits without a sign that are read as fractions");
}

void check_shape(const lw_texture_options& o) {
  const uint32_t levels = std::max(o.levels, 1U);
  if (std::max({o.width, o.height, o.depth, o.layers}) > kMostTexels)
    wrong(fmt::format("an image has at most {} texels along an axis", kMostTexels));
  if (o.depth != 0 && (o.height == 0 || o.layers != 0))
    wrong("an image with a depth has a height, and no layers");
  if (o.cube != 0 && (o.layers == 0 || o.layers % 6 != 0 || o.width != o.height))
    wrong("the layers of cubes are six for each, as wide as they are high");
  if (levels > 16 || (o.width != 0 && std::max({o.width, o.height, o.depth}) >> (levels - 1) == 0))
    wrong(fmt::format("{} levels are more than the image has", levels));
  if ((o.row_pitch != 0 || o.slice_pitch != 0) && levels > 1)
    wrong("images with levels lie as lw_texture_layout says: their pitches are 0");
  if (std::max(o.row_pitch, o.slice_pitch) > UINT32_MAX) wrong("a pitch of 4 GiB or more");
  if (o.texel_buffer != 0 && (o.width == 0 || o.height != 0 || o.layers != 0 || levels > 1))
    wrong("a texel buffer is one row of texels, without levels and layers");
}

void check_sampler(const lw_texture_options& o) {
  if (o.filter > LW_FILTER_LINEAR) wrong("filter is none of the LW_FILTER_ numbers");
  if (o.mip_filter > LW_MIP_LINEAR) wrong("mip_filter is none of the LW_MIP_ numbers");
  for (const uint32_t mode : o.address_mode)
    if (mode > LW_ADDRESS_BORDER) wrong("address_mode is none of the LW_ADDRESS_ numbers");
  const bool integers = o.texel_kind != LW_TEXEL_FLOAT && o.fractions == 0;
  if (integers && o.width != 0 && o.filter == LW_FILTER_LINEAR)
    wrong("integers cannot be filtered: read them as fractions, or take LW_FILTER_NEAREST");
  if (o.unnormalised != 0 && o.mip_filter != LW_MIP_NONE)
    wrong("levels are chosen with normalised coordinates alone");
}

guest::TextureDescription description_of(const lw_texture_options& o) {
  check_format(o);
  check_shape(o);
  check_sampler(o);
  guest::TextureDescription d;
  d.kind = static_cast<guest::TexelKind>(o.texel_kind);
  d.channels = o.channels;
  d.channel_bits = o.channel_bits;
  d.width = o.width;
  d.height = o.height;
  d.depth = o.depth;
  d.layers = o.layers;
  d.cube = o.cube != 0;
  d.levels = std::max(o.levels, 1U);
  d.row_pitch = o.row_pitch;
  d.slice_pitch = o.slice_pitch;
  d.fractions = o.fractions != 0;
  d.srgb = o.srgb != 0;
  d.unnormalised = o.unnormalised != 0;
  d.linear = o.filter == LW_FILTER_LINEAR;
  d.mip_filter = o.mip_filter;
  for (size_t n = 0; n < 3; ++n)
    d.address_mode[n] = static_cast<ir::sampler::Address>(o.address_mode[n]);
  d.bias = o.bias;
  d.least_level = o.least_level;
  d.most_level = o.most_level;
  std::ranges::copy(o.border, d.border.begin());
  d.has_image = o.width != 0;
  d.texel_buffer = o.texel_buffer != 0;
  const guest::TextureLevel first = guest::texture_level(d, 0);
  if (d.has_image && (first.row_pitch < uint64_t{d.width} * d.texel_bytes() ||
                      first.row_pitch % d.texel_bytes() != 0))
    wrong(fmt::format("rows of {} texels of {} bytes do not lie {} bytes apart", d.width,
                      d.texel_bytes(), first.row_pitch));
  if (first.slice_pitch > UINT32_MAX) wrong("slices of 4 GiB or more");
  return d;
}

lw_texture_options complete(const lw_texture_options* options) {
  lw_texture_options o = read_struct(options, "lw_texture_options");
  if (o.width == 0) {  // a sampler
    o.channels = 1;
    o.channel_bits = 32;
    o.texel_kind = LW_TEXEL_FLOAT;
    o.levels = 0;
  }
  return o;
}

/// The variable begins as a block does.
bool is_texture(const ir::Module& module, const std::string& name) {
  const auto g = std::ranges::find(module.globals, name, &ir::Global::name);
  constexpr size_t kKind = guest::texture_offset(guest::TextureWord::image, 9);
  if (g == module.globals.end() || g->init.size() < guest::kTextureBlockBytes) return false;
  uint32_t kind = 0;
  std::memcpy(&kind, g->init.data() + kKind, sizeof kind);
  return (kind >> 16 | 1) == guest::kUnboundMagic;
}

std::shared_ptr<Texture> make_texture(const std::shared_ptr<Device>& device,
                                      const lw_texture_options& o) {
  guest::TextureDescription d = description_of(o);
  std::shared_ptr<Buffer> buffer;
  d.address = o.offset;
  if (o.buffer != nullptr) {
    buffer = find<Buffer>(o.buffer);
    if (buffer->memory.device != device)
      fail(ErrorDetail::other_device, "the buffer is of another device than the texture");
    const uint64_t bytes = guest::texture_bytes(d), size = buffer->memory.size;
    if (o.offset > size || bytes > size - o.offset)
      fail(ErrorDetail::out_of_range,
           fmt::format(
               "a texture of {} bytes from offset {} on does not lie in a buffer of {} bytes",
               bytes, o.offset, size));
    d.address += buffer->memory.address;
  } else if (d.has_image && o.offset == 0) {
    wrong("a texture has a buffer, or the address of its texels as offset");
  }
  if (d.has_image && d.address % std::min(d.texel_bytes(), 16U) != 0)
    wrong("texels begin at a multiple of their size");
  return std::make_shared<Texture>(device, d, std::move(buffer));
}

}  // namespace

Texture::Texture(const std::shared_ptr<Device>& device, const guest::TextureDescription& d,
                 std::shared_ptr<Buffer> from)
    : block(device, guest::kTextureBlockBytes, "texture", true),
      buffer(std::move(from)),
      known{guest::texture_block(d), guest::texel_range(d)} {
  const auto lock = device->enter();
  device->engine->write(block.address, std::as_bytes(std::span(known.words)));
  device->texture_blocks[block.address] = known;
}

void Device::forget_textures(uint64_t address, uint64_t bytes) {
  const uint64_t first = address - std::min<uint64_t>(address, guest::kTextureBlockBytes - 1);
  texture_blocks.erase(texture_blocks.lower_bound(first),
                       texture_blocks.lower_bound(address + bytes));
}

}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

lw_status lw_texture_layout(const lw_texture_options* options, uint32_t level,
                            lw_texture_level* out) {
  return guarded([&] {
    const guest::TextureDescription d = description_of(complete(options));
    if (level >= d.levels)
      fail(ErrorDetail::out_of_range, fmt::format("level {} of {} levels", level, d.levels));
    const guest::TextureLevel l = guest::texture_level(d, level);
    lw_texture_level value{};
    value.width = l.width;
    value.height = l.height;
    value.slices = l.slices;
    value.offset = l.offset;
    value.row_pitch = l.row_pitch;
    value.slice_pitch = l.slice_pitch;
    guest::TextureDescription until = d;
    until.levels = level + 1;
    value.end = guest::texture_bytes(until);
    write_struct(out, value, "lw_texture_level");
  });
}

lw_status lw_texture_create(lw_device* device, const lw_texture_options* options,
                            lw_texture** out) {
  return gives(out, [&] { return make_texture(find<Device>(device), complete(options)); });
}

lw_status lw_texture_handle(lw_texture* texture, uint64_t* out) {
  return guarded([&] {
    *required(out, "out") = 0;
    *out = find<Texture>(texture)->block.address;
  });
}

lw_status lw_module_bind_texture(lw_module* module, const char* name, lw_texture* texture) {
  return guarded([&] {
    const auto object = find<Module>(module);
    const Allocated* memory = object->find_variable(required(name, "name"));
    if (memory == nullptr || !is_texture(object->module, name))
      fail(ErrorDetail::not_found, fmt::format("the module has no texture '{}'", name));
    std::shared_ptr<Texture> bound;
    Device::KnownTexture known{};
    known.words[guest::texture_offset(guest::TextureWord::image, 9) / 4] = guest::kUnboundMagic
                                                                           << 16;
    if (texture != nullptr) {
      bound = find<Texture>(texture);
      if (bound->block.device != object->device)
        fail(ErrorDetail::other_device, "the texture is of another device than the module");
      known = bound->known;
    }
    const auto lock = object->device->enter();
    object->device->engine->write(memory->address, std::as_bytes(std::span(known.words)));
    object->device->texture_blocks[memory->address] = known;
    object->textures[name] = std::move(bound);
  });
}
