#include "runtime/host/cuda/textures.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/host/cuda/allocation.hpp"

namespace lanewise::cuda {
namespace {

/// A texture or surface object: its number is the handle that kernels take.
struct Object {
  lw_texture* texture = nullptr;
  Resource resource{};
  Sampling sampling{};
  std::optional<View> view;
  ~Object() { lw_texture_release(texture); }
};
/// A variable of a module.
struct Reference {
  std::shared_ptr<Image> image;
  std::string name;
  bool fractions = false;
};

template <typename Key, typename Value>
class Table {
 public:
  void add(Key key, Value value) {
    const std::lock_guard lock(mutex_);
    all_[key] = std::move(value);
  }
  Value find(Key key, Code otherwise) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(key);
    if (found == all_.end()) fail(otherwise);
    return found->second;
  }
  bool remove(Key key) {
    const std::lock_guard lock(mutex_);
    return all_.erase(key) != 0;
  }

 private:
  std::mutex mutex_;
  std::map<Key, Value> all_;
};
Table<uint64_t, std::shared_ptr<Object>>& objects() {
  static auto* const all = new Table<uint64_t, std::shared_ptr<Object>>;
  return *all;
}
Table<const void*, Reference>& references() {
  static auto* const all = new Table<const void*, Reference>;
  return *all;
}

void call(lw_status status) {
  if (status == LW_OK) return;
  report_line(lw_last_error());
  fail(Code::invalid_value);
}

lw_texture_options options_for(const ChannelFormat& f) {
  constexpr uint32_t kKinds[] = {LW_TEXEL_SIGNED, LW_TEXEL_UNSIGNED, LW_TEXEL_FLOAT};
  require(f.kind >= 0 && f.kind < 3, Code::invalid_channels);
  lw_texture_options o{};
  o.struct_size = sizeof o;
  o.texel_kind = kKinds[f.kind];
  for (const int bits : {f.x, f.y, f.z, f.w})
    if (bits != 0) {
      require(bits == f.x, Code::invalid_channels);
      ++o.channels;
    }
  require(o.channels == 1 || o.channels == 2 || o.channels == 4, Code::invalid_channels);
  o.channel_bits = static_cast<uint32_t>(f.x);
  o.most_level = 0;
  return o;
}

constexpr unsigned kLayered = 1, kCube = 4;

void set_array(lw_texture_options& o, const Array& a) {
  o.width = static_cast<uint32_t>(a.extent.width);
  o.height = static_cast<uint32_t>(a.extent.height);
  o.cube = (a.flags & kCube) != 0 ? 1 : 0;
  const bool layers = (a.flags & (kLayered | kCube)) != 0;
  (layers ? o.layers : o.depth) = static_cast<uint32_t>(a.extent.depth);
  o.offset = a.memory->address + a.offset;
}

lw_texture_options options_of(const Resource& r) {
  switch (r.kind) {
    case Resource::kArray: {
      const auto array = Handles<Array>::find(r.array);
      lw_texture_options o = options_for(array->format);
      set_array(o, *array);
      o.row_pitch = array->pitch;
      o.slice_pitch = array->pitch * array->rows();
      return o;
    }
    case Resource::kMipmappedArray: {
      const auto mipmapped = Handles<MipmappedArray>::find(r.mipmapped);
      lw_texture_options o = options_for(mipmapped->levels[0]->format);
      set_array(o, *mipmapped->levels[0]);
      o.levels = static_cast<uint32_t>(mipmapped->levels.size());
      return o;
    }
    case Resource::kLinear: {
      lw_texture_options o = options_for(r.linear.format);
      o.width = static_cast<uint32_t>(r.linear.bytes / (o.channels * o.channel_bits / 8));
      require(o.width != 0);
      o.texel_buffer = 1;
      o.offset = reinterpret_cast<uint64_t>(required(r.linear.pointer));
      return o;
    }
    case Resource::kPitch2D: {
      require(r.pitched.width != 0 && r.pitched.height != 0);
      lw_texture_options o = options_for(r.pitched.format);
      o.width = static_cast<uint32_t>(r.pitched.width);
      o.height = static_cast<uint32_t>(r.pitched.height);
      o.row_pitch = r.pitched.pitch;
      o.offset = reinterpret_cast<uint64_t>(required(r.pitched.pointer));
      return o;
    }
    default:
      fail(Code::invalid_value);
  }
}

void sample_by(lw_texture_options& o, const Sampling& s) {
  if (s.anisotropy > 1) refuse_view("anisotropic filtering (maxAnisotropy)");
  constexpr int kMost = 3;
  for (int n = 0; n < 3; ++n) {
    require(s.address_mode[n] >= 0 && s.address_mode[n] <= kMost);
    o.address_mode[n] = static_cast<uint32_t>(s.address_mode[n]);
  }
  o.filter = s.filter != 0 ? LW_FILTER_LINEAR : LW_FILTER_NEAREST;
  o.unnormalised = s.normalised != 0 ? 0 : 1;
  o.fractions = s.read != 0 && o.texel_kind != LW_TEXEL_FLOAT ? 1 : 0;
  o.srgb = s.srgb != 0 && o.fractions != 0 ? 1 : 0;
  std::copy_n(s.border, 4, o.border);
  if (o.levels <= 1) return;  // a chain of one is sampled as an image, by coordinates of any kind
  o.mip_filter = s.mip_filter != 0 ? LW_MIP_LINEAR : LW_MIP_NEAREST;
  o.bias = s.bias;
  o.least_level = s.least;
  o.most_level = s.most;
}

std::shared_ptr<Object> made_of(const lw_texture_options& o) {
  auto object = std::make_shared<Object>();
  call(lw_texture_create(Context::current().device(), &o, &object->texture));
  return object;
}

/// nvcc registers `::name`; of a namespace's variable the program has the mangled name.
std::string in_program(std::string_view name) {
  std::vector<std::string_view> parts;
  while (!name.empty()) {
    const size_t end = std::min(name.find("::"), name.size());
    if (end != 0) parts.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 2, name.size()));
  }
  if (parts.size() == 1) return std::string(parts[0]);
  std::string mangled = "_ZN";
  for (const std::string_view part : parts)
    mangled.append(std::to_string(part.size())).append(part);
  return mangled + "E";
}

/// The object's number is given to kernels, so it is the handle of the library.
void give(uint64_t* out, std::shared_ptr<Object> object) {
  call(lw_texture_handle(object->texture, out));
  objects().add(*out, std::move(object));
}

/// cudaResourceViewFormat: for each kind of channel the formats of one, two and four of them, then
/// compressed blocks.
void read_as(lw_texture_options& o, int format) {
  struct Kind {
    uint32_t kind, bits;
  };
  constexpr Kind kKinds[] = {{LW_TEXEL_UNSIGNED, 8},  {LW_TEXEL_SIGNED, 8},
                             {LW_TEXEL_UNSIGNED, 16}, {LW_TEXEL_SIGNED, 16},
                             {LW_TEXEL_UNSIGNED, 32}, {LW_TEXEL_SIGNED, 32},
                             {LW_TEXEL_FLOAT, 16},    {LW_TEXEL_FLOAT, 32}};
  constexpr int kPlain = 3 * static_cast<int>(std::size(kKinds));
  if (format == 0) return;
  require(format > 0);
  if (format > kPlain) refuse_view("textures of compressed blocks");
  const uint32_t texel = o.channels * o.channel_bits;
  const auto& [kind, bits] = kKinds[(format - 1) / 3];
  o.texel_kind = kind;
  o.channel_bits = bits;
  o.channels = 1U << ((format - 1) % 3);
  require(o.channels * o.channel_bits == texel);
}

/// Levels and layers of a part. Their texels are where the whole has them.
void look_through(lw_texture_options& o, const View& v) {
  read_as(o, v.format);
  const uint32_t levels = std::max(o.levels, 1U);
  require(v.first_layer <= v.last_layer && v.last_layer < std::max(o.layers, 1U));
  // All layers where the view names none.
  const bool part = v.last_layer != 0 && v.last_layer - v.first_layer + 1 != o.layers;
  if (part) {
    if (o.slice_pitch == 0) refuse_view("views of some layers of a mipmapped array");
    o.offset += v.first_layer * o.slice_pitch;
    o.layers = v.last_layer - v.first_layer + 1;
    require(o.cube == 0 || o.layers % 6 == 0);
  }
  require(v.first_level <= v.last_level && v.last_level < levels);
  if (v.first_level != 0) {
    lw_texture_level first{};
    first.struct_size = sizeof first;
    call(lw_texture_layout(&o, v.first_level, &first));
    o.offset += first.offset;
    o.width = first.width;
    if (o.height != 0) o.height = first.height;
    if (o.depth != 0) o.depth = first.slices;
  }
  o.levels = v.last_level - v.first_level + 1;
}

void create_texture(uint64_t* out, const Resource* resource, const Sampling* sampling,
                    const View* view, bool with_seams) {
  *required(out) = 0;
  required(resource);
  required(sampling);
  if (with_seams && sampling->seamless != 0)
    refuse_view("cube maps that are filtered across their edges (seamlessCubemap)");
  // Views are of arrays.
  require(view == nullptr || resource->kind == Resource::kArray ||
          resource->kind == Resource::kMipmappedArray);
  lw_texture_options o = options_of(*resource);
  if (view != nullptr) look_through(o, *view);
  sample_by(o, *sampling);
  auto object = made_of(o);
  object->resource = *resource;
  object->sampling = *sampling;
  if (view != nullptr) object->view = *view;
  if (!with_seams) object->sampling.seamless = 0;
  give(out, std::move(object));
}

void destroy(uint64_t object) {
  if (object == 0) return;
  Context::current().synchronise();
  require(objects().remove(object));
}

void bind(const void* host, const lw_texture_options& o) {
  const Reference reference = references().find(required(host), Code::invalid_texture);
  // What was put in before reads the texels that were bound then.
  Context::current().synchronise();
  const auto object = made_of(o);
  call(lw_module_bind_texture(Program::get().image(reference.image)->loaded(),
                              reference.name.c_str(), object->texture));
}

void bind_texture(const TextureReference* host, const Resource& resource) {
  const Reference reference = references().find(required(host), Code::invalid_texture);
  Sampling s{};
  copy_sampling(*host, s);
  s.normalised = host->normalised;
  s.srgb = host->srgb;
  s.read = reference.fractions ? 1 : 0;
  lw_texture_options o = options_of(resource);
  sample_by(o, s);
  bind(host, o);
}

lw_texture_options layout_of(const Array& a, unsigned levels) {
  lw_texture_options o = options_for(a.format);
  o.width = static_cast<uint32_t>(a.extent.width);
  o.height = static_cast<uint32_t>(a.extent.height);
  const bool layers = (a.flags & (kLayered | kCube)) != 0;
  (layers ? o.layers : o.depth) = static_cast<uint32_t>(a.extent.depth);
  o.levels = levels;
  return o;
}

void make_mipmapped(MipmappedArray** out, const ChannelFormat* format, const Extent& extent,
                    unsigned levels, unsigned flags) {
  *required(out) = nullptr;
  Array base;
  base.format = *required(format);
  base.extent = extent;
  base.flags = flags;
  const size_t largest =
      std::max({extent.width, extent.height, (flags & (kLayered | kCube)) != 0 ? 0 : extent.depth});
  require(extent.width != 0 && levels != 0);
  unsigned most = 1;
  while (largest >> most != 0) ++most;
  levels = std::min(levels, most);
  const lw_texture_options o = layout_of(base, levels);
  auto made = std::make_shared<MipmappedArray>();
  for (unsigned n = 0; n < levels; ++n) {
    lw_texture_level l{};
    l.struct_size = sizeof l;
    call(lw_texture_layout(&o, n, &l));
    auto level = std::make_shared<Array>(base);
    level->extent = {l.width, extent.height != 0 ? l.height : 0, extent.depth != 0 ? l.slices : 0};
    level->element = o.channels * o.channel_bits / 8;
    level->pitch = l.row_pitch;
    level->offset = l.offset;
    made->levels.push_back(std::move(level));
    if (n + 1 == levels)
      made->memory = device_memory(l.offset + l.slice_pitch * l.slices, "cudaMallocMipmappedArray");
  }
  for (const auto& level : made->levels) level->memory = made->memory;
  made->given.resize(levels);
  *out = Handles<MipmappedArray>::add(std::move(made));
}

}  // namespace

Resource linear_texels(const void* pointer, const ChannelFormat& format, size_t bytes) {
  Resource r{};
  r.kind = Resource::kLinear;
  r.linear = {const_cast<void*>(required(pointer)), format, bytes};
  const auto memory = Context::current().memory().find(reinterpret_cast<uint64_t>(pointer));
  if (memory != nullptr) {
    const uint64_t rest = memory->address + memory->bytes - reinterpret_cast<uint64_t>(pointer);
    r.linear.bytes = std::min<uint64_t>(bytes, rest);
  }
  return r;
}
Resource rows_of_texels(const void* pointer, const ChannelFormat& format, size_t width,
                        size_t height, size_t pitch) {
  Resource r{};
  r.kind = Resource::kPitch2D;
  r.pitched = {const_cast<void*>(required(pointer)), format, width, height, pitch};
  return r;
}
ChannelFormat format_of(const Resource& r) {
  switch (r.kind) {
    case Resource::kArray:
      return Handles<Array>::find(r.array)->format;
    case Resource::kMipmappedArray:
      return Handles<MipmappedArray>::find(r.mipmapped)->levels[0]->format;
    case Resource::kLinear:
      return r.linear.format;
    default:
      return r.pitched.format;
  }
}
Resource texels_of(Array* array) {
  Resource r{};
  r.kind = Resource::kArray;
  r.array = array;
  return r;
}
Resource texels_of(MipmappedArray* array) {
  Resource r{};
  r.kind = Resource::kMipmappedArray;
  r.mipmapped = array;
  return r;
}

void refuse_view(const char* what) {
  report_line(std::string(what) + " are not supported");
  fail(Code::not_supported);
}

void add_texture(const void* host, std::shared_ptr<Image> image, const char* name, bool fractions) {
  references().add(host, {std::move(image), in_program(name), fractions});
}
void add_surface(const void* host, std::shared_ptr<Image> image, const char* name) {
  references().add(host, {std::move(image), in_program(name), false});
}

}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaCreateTextureObject,
      (uint64_t * object, const Resource* resource, const Sampling* sampling, const View* view)) {
  return answer([&] { create_texture(object, resource, sampling, view, true); });
}
ENTRY_OF(11, cudaCreateTextureObject,
         (uint64_t * object, const Resource* resource, const Sampling* sampling,
          const View* view)) {
  return answer([&] { create_texture(object, resource, sampling, view, false); });
}
ALSO(cudaCreateTextureObject_v2, cudaCreateTextureObject);
ENTRY(cudaDestroyTextureObject, (uint64_t object)) {
  return answer([&] { destroy(object); });
}
ENTRY(cudaGetTextureObjectResourceDesc, (Resource * out, uint64_t object)) {
  return answer([&] { *required(out) = objects().find(object, Code::invalid_value)->resource; });
}
ENTRY(cudaGetTextureObjectResourceViewDesc, (View * out, uint64_t object)) {
  return answer([&] {
    const auto found = objects().find(object, Code::invalid_value);
    require(found->view.has_value());
    *required(out) = *found->view;
  });
}
ENTRY(cudaGetTextureObjectTextureDesc, (Sampling * out, uint64_t object)) {
  return answer([&] {
    const auto found = objects().find(object, Code::invalid_value);
    *required(out) = found->sampling;
  });
}
ENTRY_OF(11, cudaGetTextureObjectTextureDesc, (Sampling * out, uint64_t object)) {
  return answer([&] {
    const auto found = objects().find(object, Code::invalid_value);
    std::memcpy(required(out), &found->sampling, offsetof(Sampling, seamless));
  });
}
ALSO(cudaGetTextureObjectTextureDesc_v2, cudaGetTextureObjectTextureDesc);
ENTRY(cudaCreateSurfaceObject, (uint64_t * object, const Resource* resource)) {
  return answer([&] {
    *required(object) = 0;
    require(required(resource)->kind == Resource::kArray);
    auto made = made_of(options_of(*resource));
    made->resource = *resource;
    give(object, std::move(made));
  });
}
ENTRY(cudaDestroySurfaceObject, (uint64_t object)) {
  return answer([&] { destroy(object); });
}
ENTRY(cudaGetSurfaceObjectResourceDesc, (Resource * out, uint64_t object)) {
  return answer([&] { *required(out) = objects().find(object, Code::invalid_value)->resource; });
}

ENTRY(cudaMallocMipmappedArray, (MipmappedArray * *array, const ChannelFormat* format,
                                 Extent extent, unsigned levels, unsigned flags)) {
  return answer([&] { make_mipmapped(array, format, extent, levels, flags); });
}
ENTRY(cudaGetMipmappedArrayLevel, (Array * *level, MipmappedArray* array, unsigned number)) {
  return answer([&] {
    *required(level) = nullptr;
    const auto of = Handles<MipmappedArray>::find(array);
    require(number < of->levels.size());
    if (!of->given[number]) Handles<Array>::add(of->levels[number]);
    of->given[number] = true;
    *level = of->levels[number].get();
  });
}
ENTRY(cudaFreeMipmappedArray, (MipmappedArray * array)) {
  return answer([&] {
    Context::current().synchronise();
    if (array == nullptr) return;
    const auto taken = Handles<MipmappedArray>::take(array);
    for (size_t n = 0; n < taken->levels.size(); ++n)
      if (taken->given[n]) Handles<Array>::take(taken->levels[n].get());
    Context::current().memory().remove(taken->memory);
  });
}

ENTRY(cudaBindTexture, (size_t * offset, const TextureReference* texture, const void* pointer,
                        const ChannelFormat* format, size_t bytes)) {
  return answer([&] {
    if (offset != nullptr) *offset = 0;
    bind_texture(texture, linear_texels(pointer, *required(format), bytes));
  });
}
ENTRY(cudaBindTexture2D, (size_t * offset, const TextureReference* texture, const void* pointer,
                          const ChannelFormat* format, size_t width, size_t height, size_t pitch)) {
  return answer([&] {
    if (offset != nullptr) *offset = 0;
    bind_texture(texture, rows_of_texels(pointer, *required(format), width, height, pitch));
  });
}
ENTRY(cudaBindTextureToArray,
      (const TextureReference* texture, Array* array, const ChannelFormat* /*format*/)) {
  return answer([&] { bind_texture(texture, texels_of(array)); });
}
ENTRY(cudaBindTextureToMipmappedArray,
      (const TextureReference* texture, MipmappedArray* array, const ChannelFormat* /*format*/)) {
  return answer([&] { bind_texture(texture, texels_of(array)); });
}
ENTRY(cudaUnbindTexture, (const TextureReference* texture)) {
  return answer([&] {
    const Reference r = references().find(required(texture), Code::invalid_texture);
    Context::current().synchronise();
    call(lw_module_bind_texture(Program::get().image(r.image)->loaded(), r.name.c_str(), nullptr));
  });
}
ENTRY(cudaGetTextureAlignmentOffset, (size_t * offset, const TextureReference* /*texture*/)) {
  return answer([&] { *required(offset) = 0; });
}
ENTRY(cudaGetTextureReference, (const TextureReference** out, const void* symbol)) {
  return answer([&] {
    references().find(required(symbol), Code::invalid_texture);
    *required(out) = static_cast<const TextureReference*>(symbol);
  });
}
ENTRY(cudaBindSurfaceToArray,
      (const void* surface, Array* array, const ChannelFormat* /*format*/)) {
  return answer([&] { bind(surface, options_of(texels_of(array))); });
}
ENTRY(cudaGetSurfaceReference, (const void** out, const void* symbol)) {
  return answer([&] {
    references().find(required(symbol), Code::invalid_texture);
    *required(out) = symbol;
  });
}
ENTRY(cudaDeviceGetTexture1DLinearMaxWidth,
      (size_t * width, const ChannelFormat* format, int /*device*/)) {
  return answer([&] {
    options_for(*required(format));
    *required(width) = size_t{1} << 27;
  });
}
