// The GPU that a program sees: public figures of one that exists, held against what the device that
// runs the kernels can do.
#pragma once

#include <cstdint>
#include <string>

namespace lanewise::core {

struct Gpu {
  const char* name;         ///< as LANEWISE_GPU names it
  const char* market_name;  ///< as the program sees it
  int major, minor;         ///< compute capability
  int multiprocessors;
  int clock_khz, memory_clock_khz, bus_bits;
  uint64_t memory;  ///< bytes
  int l2;           ///< bytes
  uint64_t shared_per_block, shared_optin, shared_per_multiprocessor;
  int threads_per_multiprocessor, blocks_per_multiprocessor;
  int double_ratio;  ///< single-precision throughput by double-precision throughput
};

/// As LANEWISE_GPU says. The devices share the memory of what runs their kernels, where that has
/// less.
const Gpu& gpu_of(int device);
const Gpu& current_gpu();

}  // namespace lanewise::core
