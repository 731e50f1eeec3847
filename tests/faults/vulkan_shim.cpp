#include "tests/faults/vulkan_shim.hpp"

#include <dlfcn.h>
#include <vulkan/vulkan.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <tuple>

namespace lanewise::shim {
namespace {

std::atomic<long> count{0}, fail_at{0}, alive{0};
std::atomic<const char*> failed_call{nullptr};

/// What a driver would answer. Only work on a queue can lose the device.
VkResult error_of(std::string_view name) {
  for (const char* part : {"Submit", "Wait", "Fence"})
    if (name.find(part) != std::string_view::npos && !name.starts_with("vkCreate"))
      return VK_ERROR_DEVICE_LOST;
  return name.find("Alloc") != std::string_view::npos ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                                                      : VK_ERROR_OUT_OF_HOST_MEMORY;
}

bool fails_now(const char* name) {
  const long at = fail_at;
  if (++count != at || at == 0) return false;
  failed_call = name;
  return true;
}

/// +1 for what makes an object, -1 for what destroys one.
enum class Role { other, makes, destroys };

constexpr Role role_of(std::string_view name) {
  // Sets and command buffers belong to their pools.
  if (name == "vkAllocateDescriptorSets" || name == "vkAllocateCommandBuffers") return Role::other;
  if (name.starts_with("vkCreate") || name.starts_with("vkAllocate")) return Role::makes;
  if (name.starts_with("vkDestroy") || name == "vkFreeMemory") return Role::destroys;
  return Role::other;
}

constexpr const char* kNames[] = {
#define NAME(f) #f,
#include "tests/faults/vulkan_calls.inc"
#undef NAME
};

template <int N, typename F>
struct Hook;

template <int N, typename... A>
struct Hook<N, VkResult(VKAPI_PTR*)(A...)> {
  static inline VkResult(VKAPI_PTR* real)(A...) = nullptr;
  static VKAPI_ATTR VkResult VKAPI_CALL call(A... a) {
    if (fails_now(kNames[N])) {
      // A lost device works no more, so what it uses may be destroyed.
      if (std::string_view(kNames[N]).find("Wait") != std::string_view::npos) real(a...);
      return error_of(kNames[N]);
    }
    const VkResult result = real(a...);
    if (result == VK_SUCCESS && role_of(kNames[N]) == Role::makes) ++alive;
    return result;
  }
};

template <int N, typename... A>
struct Hook<N, void(VKAPI_PTR*)(A...)> {
  static inline void(VKAPI_PTR* real)(A...) = nullptr;
  static VKAPI_ATTR void VKAPI_CALL call(A... a) {
    // The last two parameters are the object and its allocator.
    if (std::get<sizeof...(A) - 2>(std::tuple(a...)) != VK_NULL_HANDLE) --alive;
    real(a...);
  }
};

enum Index : int {
#define NAME(f) k_##f,
#include "tests/faults/vulkan_calls.inc"
#undef NAME
};

PFN_vkVoidFunction hooked(std::string_view name, PFN_vkVoidFunction real) {
  if (real == nullptr) return nullptr;
#define NAME(f)                                            \
  if (name == #f) {                                        \
    using H = Hook<k_##f, decltype(&::f)>;                 \
    H::real = reinterpret_cast<decltype(&::f)>(real);      \
    return reinterpret_cast<PFN_vkVoidFunction>(&H::call); \
  }
#include "tests/faults/vulkan_calls.inc"
#undef NAME
  return real;
}

PFN_vkGetInstanceProcAddr loader() {
  static const auto found = [] {
    void* library = dlopen(LANEWISE_REAL_LOADER, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "vulkan_shim: %s\n", dlerror());
      std::abort();
    }
    return reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  }();
  return found;
}

PFN_vkGetDeviceProcAddr device_loader = nullptr;

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_device(VkDevice device, const char* name) {
  if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
    return reinterpret_cast<PFN_vkVoidFunction>(&of_device);
  return hooked(name, device_loader(device, name));
}

}  // namespace

long calls() {
  return count;
}
void arm(long nth) {
  failed_call = nullptr;
  count = 0;
  fail_at = nth;
}
const char* failed() {
  return failed_call;
}
long living() {
  return alive;
}

}  // namespace lanewise::shim

extern "C" VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                                          const char* name) {
  using namespace lanewise::shim;
  const std::string_view wanted = name;
  if (wanted == "vkGetInstanceProcAddr")
    return reinterpret_cast<PFN_vkVoidFunction>(&vkGetInstanceProcAddr);
  const PFN_vkVoidFunction real = loader()(instance, name);
  if (wanted != "vkGetDeviceProcAddr" || real == nullptr) return hooked(wanted, real);
  device_loader = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
  return reinterpret_cast<PFN_vkVoidFunction>(&of_device);
}
