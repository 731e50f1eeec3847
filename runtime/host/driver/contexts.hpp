// Contexts of the CUDA driver: whose memory and modules are given back with them. All share the
// device, its addresses and its queue.
#pragma once

#include <vector>

#include "runtime/host/core/handles.hpp"

namespace lanewise::driver {

struct Module;

/// CUcontext
struct DriverContext {
  bool primary = false;
  unsigned flags = 0;
  uint64_t id = 0;
  int retained = 0;  ///< of a primary one
  int attached = 1;  ///< of another one: cuCtxAttach
  std::vector<Module*> modules;

  /// What memory of it is known by; the primary one's is the runtime's.
  const void* owner() const { return primary ? nullptr : this; }
};

/// The calling thread's; null for none. A thread that called the runtime has the primary one.
DriverContext* current_context();
DriverContext& primary_context();
bool is_initialised();

/// The device, which there is one of.
constexpr int kDevice = 0;
void check_device(int device);

}  // namespace lanewise::driver
