// Texture and surface objects, and texture references. A kernel finds descriptors at the object; a
// reference is a variable with the object in it, of the program and of its code object.
#include "runtime/host/cuda/textures.hpp"

#include <cstring>
#include <functional>

#include "runtime/host/driver/arrays.hpp"
#include "runtime/host/driver/modules.hpp"
#include "runtime/host/hip/entry.hpp"

namespace lanewise::hip {

using cuda::Array;
using cuda::ChannelFormat;
using cuda::MipmappedArray;
using cuda::Resource;
using cuda::Sampling;
using cuda::View;
using driver::Descriptor2D;
using driver::Module;

namespace {

/// textureReference
struct Reference {
  int normalised, read, filter, address_mode[3];
  ChannelFormat format;
  int srgb;
  unsigned anisotropy;
  int mip_filter;
  float bias, least, most;
  uint64_t object;
  int channels, array_format;
};
static_assert(sizeof(Reference) == kReferenceBytes && offsetof(Reference, object) == 72);

constexpr unsigned kAsIntegers = 1, kNormalised = 2, kSrgb = 0x10;

extern "C" int cudaCreateTextureObject(uint64_t* object, const Resource* resource,
                                       const Sampling* sampling, const View* view);
extern "C" int cudaDestroyTextureObject(uint64_t object);

/// What a reference is bound to, and where kernels have it.
struct Binding {
  std::optional<Resource> resource;
  std::function<uint64_t()> variable;  ///< its address
};
std::map<const Reference*, Binding>& bindings() {
  static auto* const all = new std::map<const Reference*, Binding>;
  return *all;
}
std::mutex& bindings_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

/// Makes the object of what the reference is bound to and says, and gives it to kernels; an answer
/// of the runtime.
int bind(Reference& r, const Binding& binding) {
  Sampling s{};
  cuda::copy_sampling(r, s);
  s.srgb = r.srgb;
  s.normalised = r.normalised;
  uint64_t made = 0;
  if (binding.resource) {
    const int known = answer(
        [&] { s.read = cuda::is_whole_word(cuda::format_of(*binding.resource)) ? 0 : r.read; });
    if (known != 0) return known;
    const int error = cudaCreateTextureObject(&made, &*binding.resource, &s, nullptr);
    if (error != 0) return error;
  }
  // Work that reads through the object of before ends in this.
  const int error = r.object != 0 ? cudaDestroyTextureObject(r.object) : 0;
  r.object = made;
  if (error != 0) return error;
  return answer([&] {
    cuda::copy_now(stream_of(nullptr), cuda::copy_of(pointer_at(binding.variable()), &r, sizeof r,
                                                     cuda::kHostToDevice));
  });
}

/// Of a reference that the program declares.
int bind_to(const Reference* constant, const std::function<Resource()>& what) {
  auto* const reference = const_cast<Reference*>(constant);
  const std::lock_guard lock(bindings_mutex());
  const int error = answer([&] {
    Program::get().variable(required(reference));
    Binding& binding = bindings()[reference];
    binding.resource = what();
    if (!binding.variable)
      binding.variable = [reference] { return Program::get().variable(reference).address(); };
  });
  return error != 0 ? error : bind(*reference, bindings()[reference]);
}

/// Changes a module's reference, and the object of what it is bound to.
template <typename Change>
int set(Reference* reference, const Change& change) {
  const std::lock_guard lock(bindings_mutex());
  Binding* binding = nullptr;
  const int error = answer([&] {
    const auto found = bindings().find(required(reference));
    require(found != bindings().end());
    binding = &found->second;
    change(*reference, *binding);
  });
  return error != 0 || !binding->resource ? error : bind(*reference, *binding);
}

template <typename Value>
int get(const Reference* reference, Value Reference::*member, Value* out) {
  return answer([&] { *required(out) = required(reference)->*member; });
}

}  // namespace
}  // namespace lanewise::hip

using namespace lanewise::hip;

ENTRY(hipCreateTextureObject,
      (uint64_t * object, const Resource* resource, const Sampling* sampling, const View* view)) {
  // HIP's description ends before CUDA's last member.
  Sampling own{};
  if (sampling != nullptr) std::memcpy(&own, sampling, offsetof(Sampling, no_trilinear_shortcuts));
  return cudaCreateTextureObject(object, resource, sampling != nullptr ? &own : nullptr, view);
}
ENTRY(hipDestroyTextureObject, (uint64_t object)) {
  return cudaDestroyTextureObject(object);
}
SAME(hipGetTextureObjectResourceDesc, cudaGetTextureObjectResourceDesc,
     (Resource * out, uint64_t object), (out, object))
SAME(hipGetTextureObjectResourceViewDesc, cudaGetTextureObjectResourceViewDesc,
     (View * out, uint64_t object), (out, object))
extern "C" int cudaGetTextureObjectTextureDesc(Sampling* out, uint64_t object);
ENTRY(hipGetTextureObjectTextureDesc, (Sampling * out, uint64_t object)) {
  Sampling all{};
  const int error = cudaGetTextureObjectTextureDesc(&all, object);
  if (error != 0) return error;
  return answer(
      [&] { std::memcpy(required(out), &all, offsetof(Sampling, no_trilinear_shortcuts)); });
}
SAME(hipCreateSurfaceObject, cudaCreateSurfaceObject, (uint64_t * object, const Resource* resource),
     (object, resource))
SAME(hipDestroySurfaceObject, cudaDestroySurfaceObject, (uint64_t object), (object))
// The header declares these two as functions of C++.
// NOLINTBEGIN(bugprone-reserved-identifier)
ALSO(_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc, hipCreateSurfaceObject);
ALSO(_Z23hipDestroySurfaceObjectP13__hip_surface, hipDestroySurfaceObject);
// NOLINTEND(bugprone-reserved-identifier)

extern "C" int cuTexObjectCreate(uint64_t* object, const void* resource, const void* sampling,
                                 const View* view);
ENTRY(hipTexObjectCreate,
      (uint64_t * object, const void* resource, const void* sampling, const View* view)) {
  return in_driver([&] { return cuTexObjectCreate(object, resource, sampling, view); });
}
ENTRY(hipTexObjectDestroy, (uint64_t object)) {
  return cudaDestroyTextureObject(object);
}
extern "C" int cuTexObjectGetResourceDesc(void* out, uint64_t object);
ENTRY(hipTexObjectGetResourceDesc, (void* out, uint64_t object)) {
  return in_driver([&] { return cuTexObjectGetResourceDesc(out, object); });
}
ENTRY(hipTexObjectGetResourceViewDesc, (View * out, uint64_t object)) {
  return cudaGetTextureObjectResourceViewDesc(out, object);
}
extern "C" int cuTexObjectGetTextureDesc(void* out, uint64_t object);
ENTRY(hipTexObjectGetTextureDesc, (void* out, uint64_t object)) {
  return in_driver([&] { return cuTexObjectGetTextureDesc(out, object); });
}

ENTRY(hipBindTexture, (size_t * offset, const Reference* reference, const void* pointer,
                       const ChannelFormat* format, size_t bytes)) {
  if (offset != nullptr) *offset = 0;
  return bind_to(reference,
                 [&] { return lanewise::cuda::linear_texels(pointer, *required(format), bytes); });
}
ENTRY(hipBindTexture2D, (size_t * offset, const Reference* reference, const void* pointer,
                         const ChannelFormat* format, size_t width, size_t height, size_t pitch)) {
  if (offset != nullptr) *offset = 0;
  return bind_to(reference, [&] {
    return lanewise::cuda::rows_of_texels(pointer, *required(format), width, height, pitch);
  });
}
ENTRY(hipBindTextureToArray,
      (const Reference* reference, Array* array, const ChannelFormat* /*format*/)) {
  return bind_to(reference, [&] { return lanewise::cuda::texels_of(array); });
}
ENTRY(hipBindTextureToMipmappedArray,
      (const Reference* reference, MipmappedArray* array, const ChannelFormat* /*format*/)) {
  return bind_to(reference, [&] { return lanewise::cuda::texels_of(array); });
}
ENTRY(hipUnbindTexture, (const Reference* reference)) {
  return set(const_cast<Reference*>(reference), [&](Reference& r, Binding& binding) {
    binding.resource.reset();
    if (r.object != 0) require(cudaDestroyTextureObject(r.object) == 0);
    r.object = 0;
  });
}
ENTRY(hipGetTextureAlignmentOffset, (size_t * offset, const Reference* reference)) {
  return answer([&] {
    required(reference);
    *required(offset) = 0;
  });
}
ENTRY(hipGetTextureReference, (const Reference** out, const void* symbol)) {
  return answer([&] {
    *required(out) = nullptr;
    Program::get().variable(required(symbol));
    *out = static_cast<const Reference*>(symbol);
  });
}

ENTRY(hipModuleGetTexRef, (Reference * *out, Module* handle, const char* name)) {
  return answer([&] {
    *required(out) = nullptr;
    const auto module = Handles<Module>::find(handle);
    uint64_t address = 0;
    size_t bytes = 0;
    lanewise::driver::variable(*module, name, &address, &bytes);
    require(bytes == kReferenceBytes);
    const std::lock_guard lock(bindings_mutex());
    for (const auto& [reference, binding] : bindings())
      if (binding.variable && binding.variable() == address)
        *out = const_cast<Reference*>(reference);
    if (*out != nullptr) return;
    auto* const made = new Reference{};  // as long as the program runs: it has no end
    constexpr int kFloat = 0x20;
    made->array_format = kFloat;
    made->channels = 1;
    bindings()[made].variable = [address] { return address; };
    *out = made;
  });
}
ENTRY(hipTexRefSetArray, (Reference * reference, Array* array, unsigned /*flags*/)) {
  return set(reference, [&](Reference& r, Binding& binding) {
    unsigned channels = 0;
    lanewise::driver::name_channels(Handles<Array>::find(array)->format, r.array_format, channels);
    r.channels = static_cast<int>(channels);
    binding.resource = lanewise::cuda::texels_of(array);
  });
}
ENTRY(hipTexRefSetMipmappedArray,
      (Reference * reference, MipmappedArray* array, unsigned /*flags*/)) {
  return set(reference, [&](Reference& r, Binding& binding) {
    unsigned channels = 0;
    const auto of = Handles<MipmappedArray>::find(array);
    lanewise::driver::name_channels(of->levels[0]->format, r.array_format, channels);
    r.channels = static_cast<int>(channels);
    binding.resource = lanewise::cuda::texels_of(array);
  });
}
ENTRY(hipTexRefSetAddress,
      (size_t * offset, Reference* reference, const void* pointer, size_t bytes)) {
  if (offset != nullptr) *offset = 0;
  return set(reference, [&](Reference& r, Binding& binding) {
    binding.resource = lanewise::cuda::linear_texels(
        pointer, lanewise::driver::channels_of(r.array_format, static_cast<unsigned>(r.channels)),
        bytes);
  });
}
ENTRY(hipTexRefSetAddress2D,
      (Reference * reference, const Descriptor2D* shape, const void* pointer, size_t pitch)) {
  return set(reference, [&](Reference& r, Binding& binding) {
    const ChannelFormat format =
        lanewise::driver::channels_of(required(shape)->format, shape->channels);
    r.array_format = shape->format;
    r.channels = static_cast<int>(shape->channels);
    binding.resource =
        lanewise::cuda::rows_of_texels(pointer, format, shape->width, shape->height, pitch);
  });
}
ENTRY(hipTexRefSetFormat, (Reference * reference, int format, int channels)) {
  return set(reference, [&](Reference& r, Binding& /*binding*/) {
    lanewise::driver::channels_of(format, static_cast<unsigned>(channels));
    r.array_format = format;
    r.channels = channels;
  });
}
ENTRY(hipTexRefSetFlags, (Reference * reference, unsigned flags)) {
  return set(reference, [&](Reference& r, Binding& /*binding*/) {
    require((flags & ~(kAsIntegers | kNormalised | kSrgb)) == 0);
    r.read = (flags & kAsIntegers) == 0 ? 1 : 0;
    r.normalised = (flags & kNormalised) != 0 ? 1 : 0;
    r.srgb = (flags & kSrgb) != 0 ? 1 : 0;
  });
}
ENTRY(hipTexRefSetAddressMode, (Reference * reference, int dimension, int mode)) {
  return set(reference, [&](Reference& r, Binding& /*binding*/) {
    require(dimension >= 0 && dimension < 3 && mode >= 0 && mode < 4);
    r.address_mode[dimension] = mode;
  });
}
ENTRY(hipTexRefSetFilterMode, (Reference * reference, int mode)) {
  return set(reference, [&](Reference& r, Binding& /*binding*/) {
    require(mode == 0 || mode == 1);
    r.filter = mode;
  });
}
ENTRY(hipTexRefSetMipmapFilterMode, (Reference * reference, int mode)) {
  return set(reference, [&](Reference& r, Binding& /*binding*/) {
    require(mode == 0 || mode == 1);
    r.mip_filter = mode;
  });
}
ENTRY(hipTexRefSetMipmapLevelBias, (Reference * reference, float bias)) {
  return set(reference, [&](Reference& r, Binding& /*binding*/) { r.bias = bias; });
}
ENTRY(hipTexRefSetMipmapLevelClamp, (Reference * reference, float least, float most)) {
  return set(reference, [&](Reference& r, Binding& /*binding*/) {
    r.least = least;
    r.most = most;
  });
}
ENTRY(hipTexRefSetMaxAnisotropy, (Reference * reference, unsigned most)) {
  return set(reference, [&](Reference& r, Binding& /*binding*/) { r.anisotropy = most; });
}

ENTRY(hipTexRefGetAddressMode, (int* mode, const Reference* reference, int dimension)) {
  return answer([&] {
    require(dimension >= 0 && dimension < 3);
    *required(mode) = required(reference)->address_mode[dimension];
  });
}
ENTRY(hipTexRefGetFilterMode, (int* mode, const Reference* reference)) {
  return get(reference, &Reference::filter, mode);
}
ENTRY(hipTexRefGetMipmapFilterMode, (int* mode, const Reference* reference)) {
  return get(reference, &Reference::mip_filter, mode);
}
ENTRY(hipTexRefGetMipmapLevelBias, (float* bias, const Reference* reference)) {
  return get(reference, &Reference::bias, bias);
}
ENTRY(hipTexRefGetMipmapLevelClamp, (float* least, float* most, const Reference* reference)) {
  const int error = get(reference, &Reference::least, least);
  return error != 0 ? error : get(reference, &Reference::most, most);
}
ENTRY(hipTexRefGetMaxAnisotropy, (int* most, const Reference* reference)) {
  return answer([&] { *required(most) = static_cast<int>(required(reference)->anisotropy); });
}
ENTRY(hipTexRefGetFlags, (unsigned* flags, const Reference* reference)) {
  return answer([&] {
    const Reference& r = *required(reference);
    *required(flags) = (r.read == 0 ? kAsIntegers : 0) | (r.normalised != 0 ? kNormalised : 0) |
                       (r.srgb != 0 ? kSrgb : 0);
  });
}
ENTRY(hipTexRefGetFormat, (int* format, int* channels, const Reference* reference)) {
  const int error = get(reference, &Reference::array_format, format);
  return error != 0 ? error : get(reference, &Reference::channels, channels);
}
