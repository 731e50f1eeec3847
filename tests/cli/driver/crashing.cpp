// A Vulkan driver that reads what is not there as soon as the loader greets it.
#include <cstdint>

extern "C" {

int vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* version) {
  const auto* const nothing = reinterpret_cast<const volatile int*>(uintptr_t{8});
  return *nothing + static_cast<int>(*version);
}

void* vk_icdGetInstanceProcAddr(void*, const char*) {
  return nullptr;
}
}
