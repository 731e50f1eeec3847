// Contexts of the CUDA driver: whose memory and modules are given back with them. Those of a device
// share its failures.
#pragma once

#include <vector>

#include "runtime/host/core/handles.hpp"

namespace lanewise::driver {

struct Module;

/// CUcontext
struct DriverContext {
  int device = 0;
  bool primary = false;
  unsigned flags = 0;
  uint64_t id = 0;
  int retained = 0;  ///< of a primary one
  int attached = 1;  ///< of another one: cuCtxAttach
  std::vector<Module*> modules;

  /// What memory of it is known by; a primary one's is the runtime's.
  const void* owner() const { return primary ? nullptr : this; }
};

/// The calling thread's; null for none. A thread that called the runtime has the primary one of its
/// device.
DriverContext* current_context();
DriverContext& primary_context(int device);
bool is_initialised();

}  // namespace lanewise::driver
