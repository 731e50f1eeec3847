// What streams and graphs do: launches, copies, fills, calls of the host.
#pragma once

#include <variant>

#include "runtime/host/core/context.hpp"
#include "runtime/host/core/program.hpp"
#include "runtime/host/core/stream_order.hpp"

namespace lanewise::core {

struct Shape {
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  size_t dynamic_shared = 0;
  bool cooperative = false;
};

/// Most bytes of shared memory that a launch gets without and with an attribute, most threads ...
struct Limits {
  uint32_t threads = 1024, block[3] = {1024, 1024, 64}, grid[3] = {0x7fffffff, 65535, 65535};
  uint64_t shared = 48 << 10, shared_optin = 64 << 10;
};
/// As the current device has them.
const Limits& limits();
/// Groups that a multiprocessor of that GPU runs at the same time.
int active_groups(const Function& function, int threads, size_t dynamic_shared);
/// Groups that may wait for each other. Devices promise no more than one; the reference engine runs
/// as many as the GPU would.
uint64_t resident_groups(const Function& function, int threads, size_t dynamic_shared);

struct Launch {
  std::shared_ptr<Function> function;
  Shape shape;
  std::vector<std::byte> block;  ///< arguments, as the kernel's parameter block has them
  std::vector<void*> args;       ///< into `block`

  void take_args(void* const* from);
};

/// Rows of bytes in layers.
struct Region {
  uint64_t address = 0;  ///< of the device, or of the host
  bool on_device = false;
  uint64_t pitch = 0, layer = 0;  ///< bytes from row to row, from layer to layer
};
struct Copy {
  Region to, from;
  uint64_t width = 0, height = 1, depth = 1;  ///< bytes, rows, layers
};
struct Fill {
  uint64_t address = 0, pitch = 0;
  bool on_device = false;
  uint32_t value = 0, size = 1;    ///< bytes of a value
  uint64_t width = 0, height = 1;  ///< values, rows
  uint64_t depth = 1, layer = 0;
};
struct HostCall {
  void (*function)(void*) = nullptr;
  void* user = nullptr;
};
struct Release {
  MemoryPtr memory;
};
struct Work {
  std::function<void()> function;
};
struct Nothing {};

using Operation = std::variant<Nothing, Launch, Copy, Fill, HostCall, Release, Work>;

/// Checks the shape; throws what a launch of it fails with.
void check_shape(const Function& function, const Shape& shape);
/// Behind everything that was put in before.
void submit_launch(Function& function, const Shape& shape, void* const* args,
                   const StampPtr& stamp = nullptr);
/// `stamp`: where the check of races between streams looks; else null.
void submit(const Operation& operation, const StampPtr& stamp = nullptr);
StampPtr stamp_of(const Stream& stream, const Operation& operation);
/// What the operation is, and the kernel that it launches, or "".
std::pair<std::string, std::string> names_of(const Operation& operation);
/// At once, on the calling thread, which has synchronised.
void perform(const Copy& copy);
void perform(const Fill& fill);

/// Whether the byte is the device's own, or host memory; what lies in neither is the host's.
Region region(const void* pointer, uint64_t pitch = 0, uint64_t layer = 0);

}  // namespace lanewise::core
