// Texture and surface objects, over those of the runtime.
#include "runtime/host/cuda/textures.hpp"

#include <algorithm>

#include "runtime/host/driver/arrays.hpp"
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {
namespace {

using cuda::Resource;
using cuda::Sampling;
using cuda::View;

/// CUDA_RESOURCE_DESC
struct DriverResource {
  int kind;
  union {
    cuda::Array* array;
    cuda::MipmappedArray* mipmapped;
    struct {
      Address address;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      Address address;
      int format;
      unsigned channels;
      size_t width, height, pitch;
    } pitched;
    int reserved[32];
  };
  unsigned flags;
};
static_assert(sizeof(DriverResource) == 144);

/// CUDA_TEXTURE_DESC
struct DriverSampling {
  int address_mode[3], filter;
  unsigned flags, anisotropy;
  int mip_filter;
  float bias, least, most, border[4];
  int reserved[12];
};
static_assert(sizeof(DriverSampling) == 104);
constexpr unsigned kAsIntegers = 1, kNormalised = 2, kSrgb = 0x10, kNoShortcuts = 0x20,
                   kSeamless = 0x40;

/// CUDA_RESOURCE_VIEW_DESC begins as the runtime's does.
using DriverView = View;

extern "C" int cudaCreateTextureObject(uint64_t* object, const Resource* resource,
                                       const Sampling* sampling, const View* view);
extern "C" int cudaDestroyTextureObject(uint64_t object);
extern "C" int cudaGetTextureObjectResourceDesc(Resource* out, uint64_t object);
extern "C" int cudaGetTextureObjectTextureDesc(Sampling* out, uint64_t object);
extern "C" int cudaCreateSurfaceObject(uint64_t* object, const Resource* resource);
extern "C" int cudaGetSurfaceObjectResourceDesc(Resource* out, uint64_t object);

Resource runtimes(const DriverResource* of) {
  required(of);
  Resource r{};
  r.kind = of->kind;
  switch (of->kind) {
    case Resource::kArray:
      r.array = of->array;
      break;
    case Resource::kMipmappedArray:
      r.mipmapped = of->mipmapped;
      break;
    case Resource::kLinear:
      r.linear = {pointer_at(of->linear.address),
                  channels_of(of->linear.format, of->linear.channels), of->linear.bytes};
      break;
    case Resource::kPitch2D:
      r.pitched = {pointer_at(of->pitched.address),
                   channels_of(of->pitched.format, of->pitched.channels), of->pitched.width,
                   of->pitched.height, of->pitched.pitch};
      break;
    default:
      fail(Code::invalid_value);
  }
  return r;
}

DriverResource drivers(const Resource& r) {
  DriverResource out{};
  out.kind = r.kind;
  if (r.kind == Resource::kArray) out.array = r.array;
  if (r.kind == Resource::kMipmappedArray) out.mipmapped = r.mipmapped;
  if (r.kind == Resource::kLinear) {
    out.linear = {reinterpret_cast<Address>(r.linear.pointer), 0, 0, r.linear.bytes};
    name_channels(r.linear.format, out.linear.format, out.linear.channels);
  }
  if (r.kind == Resource::kPitch2D) {
    out.pitched = {reinterpret_cast<Address>(r.pitched.pointer),
                   0,
                   0,
                   r.pitched.width,
                   r.pitched.height,
                   r.pitched.pitch};
    name_channels(r.pitched.format, out.pitched.format, out.pitched.channels);
  }
  return out;
}

/// Whole numbers of 32 bits, which are never read as fractions.
bool has_whole_words(const Resource& r, const DriverView* view) {
  constexpr int kUnsignedInt1 = 13, kSignedInt4 = 18;
  if (view != nullptr && view->format != 0)
    return view->format >= kUnsignedInt1 && view->format <= kSignedInt4;
  return cuda::is_whole_word(cuda::format_of(r));
}

Sampling runtimes(const DriverSampling* of, const Resource& resource, const DriverView* view) {
  required(of);
  Sampling s{};
  cuda::copy_sampling(*of, s);
  s.read = (of->flags & kAsIntegers) == 0 && !has_whole_words(resource, view) ? 1 : 0;
  s.srgb = (of->flags & kSrgb) != 0 ? 1 : 0;
  std::copy_n(of->border, 4, s.border);
  s.normalised = (of->flags & kNormalised) != 0 ? 1 : 0;
  s.no_trilinear_shortcuts = (of->flags & kNoShortcuts) != 0 ? 1 : 0;
  s.seamless = (of->flags & kSeamless) != 0 ? 1 : 0;
  return s;
}

DriverSampling drivers(const Sampling& s) {
  DriverSampling out{};
  cuda::copy_sampling(s, out);
  out.flags = (s.read == 0 ? kAsIntegers : 0) | (s.normalised != 0 ? kNormalised : 0) |
              (s.srgb != 0 ? kSrgb : 0) | (s.no_trilinear_shortcuts != 0 ? kNoShortcuts : 0) |
              (s.seamless != 0 ? kSeamless : 0);
  std::copy_n(s.border, 4, out.border);
  return out;
}

}  // namespace
}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY(cuTexObjectCreate, (uint64_t * object, const DriverResource* resource,
                          const DriverSampling* sampling, const DriverView* view)) {
  return forward([&] {
    const Resource of = runtimes(resource);
    const Sampling by = runtimes(sampling, of, view);
    return cudaCreateTextureObject(object, &of, &by, view);
  });
}
SAME(cuTexObjectDestroy, cudaDestroyTextureObject, (uint64_t object), (object))
ENTRY(cuTexObjectGetResourceDesc, (DriverResource * out, uint64_t object)) {
  return forward([&] {
    Resource of{};
    const int number = cudaGetTextureObjectResourceDesc(&of, object);
    if (number == 0) *required(out) = drivers(of);
    return number;
  });
}
ENTRY(cuTexObjectGetTextureDesc, (DriverSampling * out, uint64_t object)) {
  return forward([&] {
    Sampling of{};
    const int number = cudaGetTextureObjectTextureDesc(&of, object);
    if (number == 0) *required(out) = drivers(of);
    return number;
  });
}
SAME(cuTexObjectGetResourceViewDesc, cudaGetTextureObjectResourceViewDesc,
     (DriverView * out, uint64_t object), (out, object))
ENTRY(cuSurfObjectCreate, (uint64_t * object, const DriverResource* resource)) {
  return forward([&] {
    const Resource of = runtimes(resource);
    return cudaCreateSurfaceObject(object, &of);
  });
}
SAME(cuSurfObjectDestroy, cudaDestroySurfaceObject, (uint64_t object), (object))
ENTRY(cuSurfObjectGetResourceDesc, (DriverResource * out, uint64_t object)) {
  return forward([&] {
    Resource of{};
    const int number = cudaGetSurfaceObjectResourceDesc(&of, object);
    if (number == 0) *required(out) = drivers(of);
    return number;
  });
}
