#include "tests/hardware/truth/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace lanewise::truth {

namespace {

using Result = int;
using Handle = void*;
using Address = uint64_t;

// Names and numbers of the driver API's manual.
constexpr int kMultiprocessors = 16, kL2Bytes = 38, kMajor = 75, kMinor = 76;
constexpr int kErrorLog = 5, kErrorLogBytes = 6;
constexpr Result kSuccess = 0, kInvalidImage = 200, kInvalidPtx = 218, kUnsupportedPtx = 222;
constexpr Result kNoBinary = 209, kJitOff = 223;
constexpr size_t kLogBytes = 8192;

std::string first_lines(const char* log) {
  std::string text(log);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.substr(0, 300);
}

}  // namespace

struct Entries {
  Result (*init)(unsigned);
  Result (*driver_version)(int*);
  Result (*error_name)(Result, const char**);
  Result (*device_count)(int*);
  Result (*device_get)(int*, int);
  Result (*device_name)(char*, int, int);
  Result (*device_attribute)(int*, int, int);
  Result (*device_memory)(size_t*, int);
  Result (*retain_context)(Handle*, int);
  Result (*set_context)(Handle);
  Result (*synchronize)();
  Result (*load)(Handle*, const void*, unsigned, int*, void**);
  Result (*unload)(Handle);
  Result (*function)(Handle*, Handle, const char*);
  Result (*variable)(Address*, size_t*, Handle, const char*);
  Result (*allocate)(Address*, size_t);
  Result (*release)(Address);
  Result (*to_device)(Address, const void*, size_t);
  Result (*to_host)(void*, Address, size_t);
  Result (*on_device)(Address, Address, size_t);
  Result (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Handle, void**, void**);
  Result (*event_create)(Handle*, unsigned);
  Result (*event_record)(Handle, Handle);
  Result (*event_synchronize)(Handle);
  Result (*event_elapsed)(float*, Handle, Handle);
  Result (*event_destroy)(Handle);
  Result (*array_create)(Handle*, const cuda::ArrayDescriptor*);
  Result (*array_destroy)(Handle);
  Result (*mipmap_create)(Handle*, const cuda::ArrayDescriptor*, unsigned);
  Result (*mipmap_level)(Handle*, Handle, unsigned);
  Result (*mipmap_destroy)(Handle);
  Result (*copy_3d)(const cuda::Copy3d*);
  Result (*texture_create)(uint64_t*, const cuda::Resource*, const cuda::Sampling*, const void*);
  Result (*texture_destroy)(uint64_t);
  Result (*surface_create)(uint64_t*, const cuda::Resource*);
  Result (*surface_destroy)(uint64_t);
  Result (*reset_persisting)();

  explicit Entries(void* library) {
    const auto take = [&](auto& entry, const char* name) {
      void* const symbol = ::dlsym(library, name);
      if (symbol == nullptr) throw NoCuda(fmt::format("the CUDA driver has no {}", name));
      entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(symbol);
    };
    take(init, "cuInit");
    take(driver_version, "cuDriverGetVersion");
    take(error_name, "cuGetErrorName");
    take(device_count, "cuDeviceGetCount");
    take(device_get, "cuDeviceGet");
    take(device_name, "cuDeviceGetName");
    take(device_attribute, "cuDeviceGetAttribute");
    take(device_memory, "cuDeviceTotalMem_v2");
    take(retain_context, "cuDevicePrimaryCtxRetain");
    take(set_context, "cuCtxSetCurrent");
    take(synchronize, "cuCtxSynchronize");
    take(load, "cuModuleLoadDataEx");
    take(unload, "cuModuleUnload");
    take(function, "cuModuleGetFunction");
    take(variable, "cuModuleGetGlobal_v2");
    take(allocate, "cuMemAlloc_v2");
    take(release, "cuMemFree_v2");
    take(to_device, "cuMemcpyHtoD_v2");
    take(to_host, "cuMemcpyDtoH_v2");
    take(on_device, "cuMemcpyDtoD_v2");
    take(launch, "cuLaunchKernel");
    take(event_create, "cuEventCreate");
    take(event_record, "cuEventRecord");
    take(event_synchronize, "cuEventSynchronize");
    take(event_elapsed, "cuEventElapsedTime");
    take(event_destroy, "cuEventDestroy_v2");
    take(array_create, "cuArray3DCreate_v2");
    take(array_destroy, "cuArrayDestroy");
    take(mipmap_create, "cuMipmappedArrayCreate");
    take(mipmap_level, "cuMipmappedArrayGetLevel");
    take(mipmap_destroy, "cuMipmappedArrayDestroy");
    take(copy_3d, "cuMemcpy3D_v2");
    take(texture_create, "cuTexObjectCreate");
    take(texture_destroy, "cuTexObjectDestroy");
    take(surface_create, "cuSurfObjectCreate");
    take(surface_destroy, "cuSurfObjectDestroy");
    take(reset_persisting, "cuCtxResetPersistingL2Cache");
  }

  std::string name(Result r) const {
    const char* text = nullptr;
    error_name(r, &text);
    return text == nullptr ? fmt::format("error {}", r) : text;
  }
  void check(Result r, const char* what) const {
    if (r != kSuccess) throw CudaError(fmt::format("{}: {}", what, name(r)));
  }
};

Memory::Memory(std::shared_ptr<const Entries> entries, uint64_t bytes)
    : entries_(std::move(entries)) {
  entries_->check(entries_->allocate(&address_, std::max<uint64_t>(bytes, 4)), "cuMemAlloc");
}
Memory::~Memory() {
  entries_->release(address_);
}
void Memory::write(std::span<const std::byte> bytes, uint64_t offset) {
  if (bytes.empty()) return;
  entries_->check(entries_->to_device(address_ + offset, bytes.data(), bytes.size()),
                  "cuMemcpyHtoD");
}
void Memory::read(std::span<std::byte> bytes, uint64_t offset) const {
  if (bytes.empty()) return;
  entries_->check(entries_->to_host(bytes.data(), address_ + offset, bytes.size()), "cuMemcpyDtoH");
}
void Memory::copy_from(const Memory& other, uint64_t bytes) {
  entries_->check(entries_->on_device(address_, other.address_, bytes), "cuMemcpyDtoD");
  entries_->check(entries_->synchronize(), "cuCtxSynchronize");
}

Program::Program(std::shared_ptr<const Entries> entries, const std::string& text)
    : entries_(std::move(entries)) {
  std::string log(kLogBytes, '\0');
  int options[] = {kErrorLog, kErrorLogBytes};
  void* values[] = {log.data(), nullptr};
  std::memcpy(&values[1], &kLogBytes, sizeof kLogBytes);  // a number where pointers are
  const Result r = entries_->load(&module_, text.c_str(), 2, options, values);
  for (const Result refused : {kInvalidImage, kInvalidPtx, kUnsupportedPtx, kNoBinary, kJitOff})
    if (r == refused) throw Refused(log[0] == 0 ? entries_->name(r) : first_lines(log.c_str()));
  entries_->check(r, "cuModuleLoadDataEx");
}
Program::~Program() {
  entries_->unload(module_);
}

void Program::start(const std::string& kernel, const Shape& s,
                    std::span<const std::vector<std::byte>> arguments) const {
  Handle function = nullptr;
  entries_->check(entries_->function(&function, module_, kernel.c_str()), "cuModuleGetFunction");
  std::vector<void*> values;
  for (const auto& a : arguments) values.push_back(const_cast<std::byte*>(a.data()));
  entries_->check(
      entries_->launch(function, s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1],
                       s.block[2], s.shared, nullptr, values.data(), nullptr),
      "cuLaunchKernel");
}

void Program::launch(const std::string& kernel, const Shape& shape,
                     std::span<const std::vector<std::byte>> arguments) const {
  start(kernel, shape, arguments);
  entries_->check(entries_->synchronize(), "cuCtxSynchronize");
}

double Program::timed(const std::string& kernel, const Shape& shape,
                      std::span<const std::vector<std::byte>> arguments) const {
  Handle events[2] = {};
  for (Handle& e : events) entries_->check(entries_->event_create(&e, 0), "cuEventCreate");
  entries_->check(entries_->event_record(events[0], nullptr), "cuEventRecord");
  start(kernel, shape, arguments);
  entries_->check(entries_->event_record(events[1], nullptr), "cuEventRecord");
  entries_->check(entries_->event_synchronize(events[1]), "cuEventSynchronize");
  float ms = 0;
  entries_->check(entries_->event_elapsed(&ms, events[0], events[1]), "cuEventElapsedTime");
  for (Handle e : events) entries_->event_destroy(e);
  return ms;
}

void Program::write_variable(const std::string& name, std::span<const std::byte> bytes) const {
  Address address = 0;
  size_t size = 0;
  entries_->check(entries_->variable(&address, &size, module_, name.c_str()), "cuModuleGetGlobal");
  entries_->check(entries_->to_device(address, bytes.data(), std::min(size, bytes.size())),
                  "cuMemcpyHtoD");
}

Array::Array(std::shared_ptr<const Entries> entries, const cuda::ArrayDescriptor& shape,
             unsigned texel_bytes, unsigned levels)
    : entries_(std::move(entries)), shape_(shape), texel_bytes_(texel_bytes), levels_(levels) {
  if (levels == 1)
    entries_->check(entries_->array_create(&array_, &shape), "cuArray3DCreate");
  else
    entries_->check(entries_->mipmap_create(&array_, &shape, levels), "cuMipmappedArrayCreate");
}
Array::~Array() {
  for (const uint64_t t : textures_) entries_->texture_destroy(t);
  for (const uint64_t s : surfaces_) entries_->surface_destroy(s);
  (levels_ == 1 ? entries_->array_destroy : entries_->mipmap_destroy)(array_);
}
/// One level after the other.
void Array::copy(std::byte* host, bool to_device) const {
  for (unsigned level = 0; level < levels_; ++level) {
    void* array = array_;
    if (levels_ > 1)
      entries_->check(entries_->mipmap_level(&array, array_, level), "cuMipmappedArrayGetLevel");
    const auto size = [&](size_t whole) { return std::max<size_t>(1, whole >> level); };
    const size_t row = size(shape_.width) * texel_bytes_, rows = size(shape_.height);
    const bool layers = (shape_.flags & (cuda::kLayered | cuda::kCubes)) != 0;
    cuda::Copy3d copy{};
    cuda::CopyEnd& here = to_device ? copy.from : copy.to;
    here.type = cuda::kHostMemory;
    here.host = host;
    here.pitch = row;
    here.height = rows;
    cuda::CopyEnd& there = to_device ? copy.to : copy.from;
    there.type = cuda::kArrayMemory;
    there.array = array;
    copy.width_bytes = row;
    copy.height = rows;
    copy.depth = layers ? std::max<size_t>(1, shape_.depth) : size(shape_.depth);
    entries_->check(entries_->copy_3d(&copy), "cuMemcpy3D");
    host += row * rows * copy.depth;
  }
}
void Array::write(std::span<const std::byte> texels) const {
  copy(const_cast<std::byte*>(texels.data()), true);
}
void Array::read(std::span<std::byte> texels) const {
  copy(texels.data(), false);
}
cuda::Resource Array::resource() const {
  cuda::Resource r{};
  r.type = levels_ == 1 ? cuda::kArrayResource : cuda::kMipmapResource;
  r.array = array_;
  return r;
}
uint64_t Array::texture(const cuda::Sampling& sampling) {
  const cuda::Resource r = resource();
  uint64_t handle = 0;
  entries_->check(entries_->texture_create(&handle, &r, &sampling, nullptr), "cuTexObjectCreate");
  textures_.push_back(handle);
  return handle;
}
uint64_t Array::surface() {
  const cuda::Resource r = resource();
  uint64_t handle = 0;
  entries_->check(entries_->surface_create(&handle, &r), "cuSurfObjectCreate");
  surfaces_.push_back(handle);
  return handle;
}

Card::Card() {
  const char* const other = std::getenv("LANEWISE_CUDA_DRIVER");
  const char* const name = other != nullptr ? other : "libcuda.so.1";
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw NoCuda(fmt::format("no CUDA driver: {}", ::dlerror()));
  entries_ = std::make_shared<const Entries>(library);
  const Entries& e = *entries_;
  if (const Result r = e.init(0); r != kSuccess)
    throw NoCuda(fmt::format("the CUDA driver does not start: {}", e.name(r)));
  int count = 0, device = 0;
  if (e.device_count(&count) != kSuccess || count == 0)
    throw NoCuda("the CUDA driver has no device");
  e.check(e.driver_version(&facts_.driver), "cuDriverGetVersion");
  e.check(e.device_get(&device, 0), "cuDeviceGet");
  char text[256] = {};
  e.check(e.device_name(text, sizeof text - 1, device), "cuDeviceGetName");
  facts_.name = text;
  const auto attribute = [&](int& value, int which) {
    e.check(e.device_attribute(&value, which, device), "cuDeviceGetAttribute");
  };
  attribute(facts_.major, kMajor);
  attribute(facts_.minor, kMinor);
  attribute(facts_.multiprocessors, kMultiprocessors);
  attribute(facts_.l2_bytes, kL2Bytes);
  size_t memory = 0;
  e.check(e.device_memory(&memory, device), "cuDeviceTotalMem");
  facts_.memory = memory;
  Handle context = nullptr;
  e.check(e.retain_context(&context, device), "cuDevicePrimaryCtxRetain");
  e.check(e.set_context(context), "cuCtxSetCurrent");
}

std::string Card::target() const {
  return fmt::format("sm_{}{}", facts_.major, facts_.minor);
}

std::string Card::ptx_version() const {
  // Release notes of the PTX manual: CUDA 11.x has 7.x; of CUDA 12 some releases share a version.
  const int cuda = facts_.driver / 1000, release = facts_.driver % 1000 / 10;
  if (cuda <= 11) return fmt::format("7.{}", cuda < 11 ? 0 : release);
  if (cuda > 12) return fmt::format("9.{}", cuda == 13 ? std::min(release, 1) : 1);
  constexpr int kMinorOf[] = {0, 1, 2, 3, 4, 5, 5, 6, 7, 8};
  return fmt::format("8.{}", kMinorOf[std::min(release, 9)]);
}

std::string Card::header() const {
  return fmt::format(".version {}\n.target {}\n.address_size 64\n", ptx_version(), target());
}

std::unique_ptr<Memory> Card::allocate(uint64_t bytes) const {
  return std::make_unique<Memory>(entries_, bytes);
}
std::unique_ptr<Array> Card::array(const cuda::ArrayDescriptor& shape, unsigned texel_bytes,
                                   unsigned levels) const {
  return std::make_unique<Array>(entries_, shape, texel_bytes, levels);
}
void Card::reset_persisting_lines() const {
  entries_->reset_persisting();  // cards without such lines refuse
}
double Card::compile_ms(const std::string& text) const {
  // A comment of its own, so that no cache of the driver's has this text.
  static unsigned number = 0;
  const auto start = std::chrono::steady_clock::now();
  const Program program(
      entries_, fmt::format("{}// {} {}\n", text, start.time_since_epoch().count(), ++number));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}
std::shared_ptr<const Program> Card::load(const std::string& text) const {
  if (last_ != nullptr && last_text_ == text) return last_;
  last_.reset();
  last_ = std::make_shared<const Program>(entries_, text);
  last_text_ = text;
  return last_;
}

}  // namespace lanewise::truth
