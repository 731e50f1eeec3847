// Arrays, texture objects and surface objects of the mock driver.
#include <algorithm>
#include <cstring>

#include "tests/hardware/mock/state.hpp"
#include "tests/hardware/truth/driver_structs.hpp"

namespace mock {
namespace {

namespace cuda = truth::cuda;

const TextureOptions kPlain;

/// A level of texels that others may share.
struct Array {
  cuda::ArrayDescriptor shape;
  TextureOptions options;
  lw_texture_level level;
  Buffer texels;
  size_t row_bytes() const { return level.width * options.channels * options.channel_bits / 8; }
};
struct Mipmaps {
  std::vector<Array> levels;
};

Mipmaps make_levels(const cuda::ArrayDescriptor& shape, TextureOptions options, unsigned count) {
  options.levels = count;
  Buffer texels = state().device.allocate(Texture::layout(options, count - 1).end, "array");
  Mipmaps all;
  for (unsigned l = 0; l < count; ++l)
    all.levels.push_back({shape, options, Texture::layout(options, l), texels});
  return all;
}

std::map<uint64_t, Texture>& objects() {
  static std::map<uint64_t, Texture> all;
  return all;
}

TextureOptions options_of(const cuda::ArrayDescriptor& d) {
  TextureOptions o = kPlain;
  o.texel_kind = d.format >= cuda::kHalf ? LW_TEXEL_FLOAT
                 : d.format >= cuda::kS8 ? LW_TEXEL_SIGNED
                                         : LW_TEXEL_UNSIGNED;
  const bool bytes = d.format == cuda::kU8 || d.format == cuda::kS8;
  const bool words = d.format == cuda::kU32 || d.format == cuda::kS32 || d.format == cuda::kFloat;
  o.channel_bits = bytes ? 8 : words ? 32 : 16;
  o.channels = d.channels;
  o.width = static_cast<uint32_t>(d.width);
  o.height = static_cast<uint32_t>(d.height);
  const bool layers = (d.flags & (cuda::kLayered | cuda::kCubes)) != 0;
  (layers ? o.layers : o.depth) = static_cast<uint32_t>(d.depth);
  o.cube = (d.flags & cuda::kCubes) != 0 ? 1 : 0;
  o.levels = 1;
  return o;
}

int make_object(uint64_t* handle, const cuda::Resource* resource, const cuda::Sampling* sampling) {
  return call([&] {
    if (resource->type != cuda::kArrayResource && resource->type != cuda::kMipmapResource)
      return kInvalidValue;
    const Array& array = resource->type == cuda::kArrayResource
                             ? *static_cast<const Array*>(resource->array)
                             : static_cast<const Mipmaps*>(resource->array)->levels[0];
    TextureOptions o = array.options;
    if (sampling != nullptr) {
      o.unnormalised = (sampling->flags & cuda::kNormalised) != 0 ? 0 : 1;
      o.fractions = o.texel_kind != LW_TEXEL_FLOAT && (sampling->flags & cuda::kAsIntegers) == 0;
      o.filter = static_cast<uint32_t>(sampling->filter);
      if (o.levels > 1) o.mip_filter = sampling->mip_filter != 0 ? LW_MIP_LINEAR : LW_MIP_NEAREST;
      o.bias = sampling->bias;
      o.least_level = sampling->least;
      o.most_level = sampling->most;
      for (size_t i = 0; i < 3; ++i)
        o.address_mode[i] = static_cast<uint32_t>(sampling->address[i]);
    } else if ((array.shape.flags & cuda::kSurface) == 0) {
      return kInvalidValue;
    }
    const Texture texture = state().device.texture(o, array.texels);
    *handle = texture.handle();
    objects().insert_or_assign(*handle, texture);
    return kSuccess;
  });
}

}  // namespace
}  // namespace mock

using namespace mock;

extern "C" {

int cuArray3DCreate_v2(void** array, const cuda::ArrayDescriptor* shape) {
  return call([&] {
    *array = new Array(make_levels(*shape, options_of(*shape), 1).levels[0]);
    return kSuccess;
  });
}
int cuMipmappedArrayCreate(void** array, const cuda::ArrayDescriptor* shape, unsigned levels) {
  return call([&] {
    *array = new Mipmaps(make_levels(*shape, options_of(*shape), levels));
    return kSuccess;
  });
}
int cuMipmappedArrayGetLevel(void** level, void* array, unsigned number) {
  return call([&] {
    *level = &static_cast<Mipmaps*>(array)->levels.at(number);
    return kSuccess;
  });
}
int cuMipmappedArrayDestroy(void* array) {
  delete static_cast<Mipmaps*>(array);
  return kSuccess;
}
int cuArrayDestroy(void* array) {
  delete static_cast<Array*>(array);
  return kSuccess;
}

int cuMemcpy3D_v2(const cuda::Copy3d* c) {
  return call([&] {
    const bool up = c->from.type == cuda::kHostMemory;
    const cuda::CopyEnd &host = up ? c->from : c->to, &there = up ? c->to : c->from;
    auto& array = *static_cast<Array*>(there.array);
    if (c->width_bytes != array.row_bytes()) return kInvalidValue;
    for (size_t z = 0; z < c->depth; ++z)
      for (size_t y = 0; y < c->height; ++y) {
        auto* const bytes = static_cast<std::byte*>(host.host) + (z * host.height + y) * host.pitch;
        const uint64_t at =
            array.level.offset + z * array.level.slice_pitch + y * array.level.row_pitch;
        if (up)
          array.texels.write(std::span(bytes, c->width_bytes), at);
        else
          array.texels.read(std::span(bytes, c->width_bytes), at);
      }
    return kSuccess;
  });
}

int cuTexObjectCreate(uint64_t* handle, const cuda::Resource* resource,
                      const cuda::Sampling* sampling, const void*) {
  return make_object(handle, resource, sampling);
}
int cuTexObjectDestroy(uint64_t handle) {
  objects().erase(handle);
  return kSuccess;
}
int cuSurfObjectCreate(uint64_t* handle, const cuda::Resource* resource) {
  return make_object(handle, resource, nullptr);
}
int cuSurfObjectDestroy(uint64_t handle) {
  objects().erase(handle);
  return kSuccess;
}

}  // extern "C"
