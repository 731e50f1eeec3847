// Hand-written SPIR-V on a device, for comparison with translated kernels: buffers by address,
// parameters in push constants. No Vulkan type is visible here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "lanewise/types.hpp"

namespace lanewise::vulkan {

/// What hand-written kernels need to know of a device.
struct NativeAbilities {
  bool pointers = false;  ///< buffer addresses in shaders
  bool int64 = false, float64 = false, storage8 = false;
  bool ballot = false, shuffle = false;
  uint32_t subgroup_size = 1;
};

class NativeDevice {
 public:
  /// Throws Error(device) when nothing runs there.
  explicit NativeDevice(std::string_view selector);
  ~NativeDevice();

  NativeAbilities abilities() const;
  /// Each returns the number of what it made.
  size_t add_buffer(uint64_t bytes);
  size_t add_kernel(std::span<const uint32_t> spirv);

  uint64_t address(size_t buffer) const;
  void write(size_t buffer, std::span<const std::byte> bytes);
  void read(size_t buffer, std::span<std::byte> bytes);
  /// One dispatch from submission to its end; milliseconds.
  double run(size_t kernel, std::span<const std::byte> push_constants, Dim3 groups);
  /// The device's own copy of the first `bytes` of a buffer, timed in the same way.
  double copy(size_t from, size_t to, uint64_t bytes);
  /// A submission without a dispatch, and the wait for its fence.
  void run_nothing();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lanewise::vulkan
