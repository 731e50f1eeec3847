// Texture and surface objects, and references, which are variables that are bound to texels.
#pragma once

#include <algorithm>

#include "runtime/host/cuda/arrays.hpp"

namespace lanewise::cuda {

/// cudaMipmappedArray_t: one allocation, and an array for each level of it.
struct MipmappedArray {
  MemoryPtr memory;
  std::vector<std::shared_ptr<Array>> levels;
  std::vector<bool> given;  ///< the program has the level's handle
};

/// cudaResourceDesc
struct Resource {
  enum Kind : int { kArray, kMipmappedArray, kLinear, kPitch2D };
  int kind;
  union {
    Array* array;
    MipmappedArray* mipmapped;
    struct {
      void* pointer;
      ChannelFormat format;
      size_t bytes;
    } linear;
    struct {
      void* pointer;
      ChannelFormat format;
      size_t width, height, pitch;
    } pitched;
  };
};
static_assert(offsetof(Resource, array) == 8);

/// cudaTextureDesc
struct Sampling {
  int address_mode[3], filter, read, srgb;
  float border[4];
  int normalised;
  unsigned anisotropy;
  int mip_filter;
  float bias, least, most;
  int no_trilinear_shortcuts;
  int seamless;  ///< of CUDA 12 and later
};

/// cudaResourceViewDesc
struct View {
  int format;
  size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
};

/// textureReference, the base of texture<...>
struct TextureReference {
  int normalised, filter, address_mode[3];
  ChannelFormat format;
  int srgb;
  unsigned anisotropy;
  int mip_filter;
  float bias, least, most;
};

/// What the descriptions of the runtime, of the driver and of references say alike.
template <typename From, typename To>
void copy_sampling(const From& from, To& to) {
  std::copy_n(from.address_mode, 3, to.address_mode);
  to.filter = from.filter;
  to.anisotropy = from.anisotropy;
  to.mip_filter = from.mip_filter;
  to.bias = from.bias;
  to.least = from.least;
  to.most = from.most;
}

/// A texture may be as long as its allocation where the program does not say.
Resource linear_texels(const void* pointer, const ChannelFormat& format, size_t bytes);
Resource rows_of_texels(const void* pointer, const ChannelFormat& format, size_t width,
                        size_t height, size_t pitch);
ChannelFormat format_of(const Resource& r);
/// A whole number of 32 bits, which is never read as a fraction.
inline bool is_whole_word(const ChannelFormat& format) {
  constexpr int kWord = 32, kFloat = 2;
  return format.x == kWord && format.kind != kFloat;
}
Resource texels_of(Array* array);
Resource texels_of(MipmappedArray* array);

[[noreturn]] void refuse_view(const char* what);
void add_texture(const void* host, std::shared_ptr<Image> image, const char* name, bool fractions);
void add_surface(const void* host, std::shared_ptr<Image> image, const char* name);

}  // namespace lanewise::cuda
