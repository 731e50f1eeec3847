// Texture references: a module's textures, bound to arrays and memory. The runtime binds them; the
// driver's calls set one property each, and what is set at a launch counts.
#include <cstring>
#include <functional>

#include "runtime/host/cuda/textures.hpp"
#include "runtime/host/driver/arrays.hpp"
#include "runtime/host/driver/entry.hpp"
#include "runtime/host/driver/modules.hpp"

namespace lanewise::driver {

/// CUtexref. The runtime knows it by the address of `sampling`.
struct TextureReference {
  cuda::TextureReference sampling{};
  std::shared_ptr<Image> image;
  std::string name;
  unsigned flags = 0;
  int format = 0x20;  ///< CU_AD_FORMAT_FLOAT
  unsigned channels = 1;
  cuda::Array* array = nullptr;
  cuda::MipmappedArray* mipmapped = nullptr;
  Address address = 0;
  /// Binds to what was set last; an answer of the runtime.
  std::function<int(const TextureReference&)> bind;
};

namespace {

extern "C" int cudaBindTexture(size_t* offset, const cuda::TextureReference* texture,
                               const void* pointer, const cuda::ChannelFormat* format,
                               size_t bytes);
extern "C" int cudaBindTexture2D(size_t* offset, const cuda::TextureReference* texture,
                                 const void* pointer, const cuda::ChannelFormat* format,
                                 size_t width, size_t height, size_t pitch);
extern "C" int cudaBindTextureToArray(const cuda::TextureReference* texture, cuda::Array* array,
                                      const cuda::ChannelFormat* format);
extern "C" int cudaBindTextureToMipmappedArray(const cuda::TextureReference* texture,
                                               cuda::MipmappedArray* array,
                                               const cuda::ChannelFormat* format);

constexpr unsigned kAsIntegers = 1, kNormalised = 2, kSrgb = 0x10, kNoShortcuts = 0x20;
constexpr unsigned kOverrideFormat = 1;

/// Changes the reference, and what is bound by it.
template <typename Change>
int set(void* handle, const Change& change) {
  return forward([&] {
    const auto reference = Handles<TextureReference>::find(handle);
    change(*reference);
    if (!reference->bind) return 0;
    const bool words = cuda::is_whole_word(channels_of(reference->format, reference->channels));
    cuda::add_texture(&reference->sampling, reference->image, reference->name.c_str(),
                      (reference->flags & kAsIntegers) == 0 && !words);
    return reference->bind(*reference);
  });
}

/// Of a reference that reads what it was set to.
template <typename Get>
int get(void* handle, const Get& read) {
  return answer([&] { read(*Handles<TextureReference>::find(handle)); });
}

void forget_bound(TextureReference& r) {
  r.array = nullptr;
  r.mipmapped = nullptr;
  r.address = 0;
}

}  // namespace
}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY(cuModuleGetTexRef, (TextureReference * *out, Module* handle, const char* name)) {
  return answer([&] {
    *required(out) = nullptr;
    const auto module = Handles<Module>::find(handle);
    TextureReference*& known = module->textures[required(name)];
    if (known == nullptr) {
      Address address = 0;
      uint64_t bytes = 0;
      module->image->symbol(name, &address, &bytes, Code::not_found);
      auto made = std::make_shared<TextureReference>();
      made->image = module->image;
      made->name = name;
      known = Handles<TextureReference>::add(std::move(made));
    }
    *out = known;
  });
}
ENTRY(cuTexRefSetArray, (TextureReference * handle, cuda::Array* array, unsigned flags)) {
  return set(handle, [&](TextureReference& r) {
    require(flags == kOverrideFormat);
    name_channels(Handles<cuda::Array>::find(array)->format, r.format, r.channels);
    forget_bound(r);
    r.array = array;
    r.bind = [](const TextureReference& t) {
      return cudaBindTextureToArray(&t.sampling, t.array, nullptr);
    };
  });
}
ENTRY(cuTexRefSetMipmappedArray,
      (TextureReference * handle, cuda::MipmappedArray* array, unsigned flags)) {
  return set(handle, [&](TextureReference& r) {
    require(flags == kOverrideFormat);
    name_channels(Handles<cuda::MipmappedArray>::find(array)->levels[0]->format, r.format,
                  r.channels);
    forget_bound(r);
    r.mipmapped = array;
    r.bind = [](const TextureReference& t) {
      return cudaBindTextureToMipmappedArray(&t.sampling, t.mipmapped, nullptr);
    };
  });
}
ENTRY(cuTexRefSetAddress_v2,
      (size_t * offset, TextureReference* handle, Address address, size_t bytes)) {
  return set(handle, [&](TextureReference& r) {
    if (offset != nullptr) *offset = 0;
    forget_bound(r);
    r.address = address;
    r.bind = [bytes](const TextureReference& t) {
      const cuda::ChannelFormat format = channels_of(t.format, t.channels);
      return cudaBindTexture(nullptr, &t.sampling, pointer_at(t.address), &format, bytes);
    };
  });
}
ENTRY(cuTexRefSetAddress2D_v3,
      (TextureReference * handle, const Descriptor2D* shape, Address address, size_t pitch)) {
  return set(handle, [&](TextureReference& r) {
    r.format = required(shape)->format;
    r.channels = shape->channels;
    forget_bound(r);
    r.address = address;
    r.bind = [pitch, of = *shape](const TextureReference& t) {
      const cuda::ChannelFormat format = channels_of(of.format, of.channels);
      return cudaBindTexture2D(nullptr, &t.sampling, pointer_at(t.address), &format, of.width,
                               of.height, pitch);
    };
  });
}
ALSO(cuTexRefSetAddress2D_v2, cuTexRefSetAddress2D_v3);
ENTRY(cuTexRefSetFormat, (TextureReference * handle, int format, int channels)) {
  return set(handle, [&](TextureReference& r) {
    channels_of(format, static_cast<unsigned>(channels));
    r.format = format;
    r.channels = static_cast<unsigned>(channels);
  });
}
ENTRY(cuTexRefSetAddressMode, (TextureReference * handle, int dimension, int mode)) {
  return set(handle, [&](TextureReference& r) {
    require(dimension >= 0 && dimension < 3 && mode >= 0 && mode < 4);
    r.sampling.address_mode[dimension] = mode;
  });
}
ENTRY(cuTexRefSetFilterMode, (TextureReference * handle, int mode)) {
  return set(handle, [&](TextureReference& r) {
    require(mode == 0 || mode == 1);
    r.sampling.filter = mode;
  });
}
ENTRY(cuTexRefSetMipmapFilterMode, (TextureReference * handle, int mode)) {
  return set(handle, [&](TextureReference& r) {
    require(mode == 0 || mode == 1);
    r.sampling.mip_filter = mode;
  });
}
ENTRY(cuTexRefSetMipmapLevelBias, (TextureReference * handle, float bias)) {
  return set(handle, [&](TextureReference& r) { r.sampling.bias = bias; });
}
ENTRY(cuTexRefSetMipmapLevelClamp, (TextureReference * handle, float least, float most)) {
  return set(handle, [&](TextureReference& r) {
    r.sampling.least = least;
    r.sampling.most = most;
  });
}
ENTRY(cuTexRefSetMaxAnisotropy, (TextureReference * handle, unsigned most)) {
  return set(handle, [&](TextureReference& r) { r.sampling.anisotropy = most; });
}
ENTRY(cuTexRefSetFlags, (TextureReference * handle, unsigned flags)) {
  return set(handle, [&](TextureReference& r) {
    require((flags & ~(kAsIntegers | kNormalised | kSrgb | kNoShortcuts)) == 0);
    r.flags = flags;
    r.sampling.normalised = (flags & kNormalised) != 0 ? 1 : 0;
    r.sampling.srgb = (flags & kSrgb) != 0 ? 1 : 0;
  });
}

ENTRY(cuTexRefGetAddress_v2, (Address * out, TextureReference* handle)) {
  return get(handle, [&](const TextureReference& r) {
    require(r.address != 0);
    *required(out) = r.address;
  });
}
ENTRY(cuTexRefGetArray, (cuda::Array * *out, TextureReference* handle)) {
  return get(handle, [&](const TextureReference& r) {
    require(r.array != nullptr);
    *required(out) = r.array;
  });
}
ENTRY(cuTexRefGetMipmappedArray, (cuda::MipmappedArray * *out, TextureReference* handle)) {
  return get(handle, [&](const TextureReference& r) {
    require(r.mipmapped != nullptr);
    *required(out) = r.mipmapped;
  });
}
ENTRY(cuTexRefGetFormat, (int* format, int* channels, TextureReference* handle)) {
  return get(handle, [&](const TextureReference& r) {
    *required(format) = r.format;
    *required(channels) = static_cast<int>(r.channels);
  });
}
ENTRY(cuTexRefGetAddressMode, (int* mode, TextureReference* handle, int dimension)) {
  return get(handle, [&](const TextureReference& r) {
    require(dimension >= 0 && dimension < 3);
    *required(mode) = r.sampling.address_mode[dimension];
  });
}
ENTRY(cuTexRefGetFilterMode, (int* mode, TextureReference* handle)) {
  return get(handle, [&](const TextureReference& r) { *required(mode) = r.sampling.filter; });
}
ENTRY(cuTexRefGetMipmapFilterMode, (int* mode, TextureReference* handle)) {
  return get(handle, [&](const TextureReference& r) { *required(mode) = r.sampling.mip_filter; });
}
ENTRY(cuTexRefGetMipmapLevelBias, (float* bias, TextureReference* handle)) {
  return get(handle, [&](const TextureReference& r) { *required(bias) = r.sampling.bias; });
}
ENTRY(cuTexRefGetMipmapLevelClamp, (float* least, float* most, TextureReference* handle)) {
  return get(handle, [&](const TextureReference& r) {
    *required(least) = r.sampling.least;
    *required(most) = r.sampling.most;
  });
}
ENTRY(cuTexRefGetMaxAnisotropy, (int* most, TextureReference* handle)) {
  return get(handle, [&](const TextureReference& r) {
    *required(most) = static_cast<int>(r.sampling.anisotropy);
  });
}
ENTRY(cuTexRefGetFlags, (unsigned* flags, TextureReference* handle)) {
  return get(handle, [&](const TextureReference& r) { *required(flags) = r.flags; });
}
