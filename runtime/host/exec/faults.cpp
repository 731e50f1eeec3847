// Part of liblanewise_cuda.so: what the code that ends a process asks.
#include "runtime/host/core/context.hpp"

/// Lanes that have faulted so far.
extern "C" __attribute__((visibility("default"))) unsigned long lanewise_cuda_faults() {
  lanewise::core::Context* context = lanewise::core::Context::opened();
  return context == nullptr ? 0 : context->counts().faults.load();
}
