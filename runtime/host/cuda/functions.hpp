// What the entry points for functions share with those of the driver.
#pragma once

#include "runtime/host/cuda/entry.hpp"

namespace lanewise::cuda {

/// cudaFuncAttributes; CUDA 11's ends before the clusters.
struct FunctionAttributes {
  size_t shared, constant, local;
  int threads, registers, ptx_version, binary_version, caches_globals, dynamic_shared, carveout;
};
struct FunctionAttributes12 : FunctionAttributes {
  int clusters[6], reserved[16];
};

struct LaunchAttribute {
  int id, padding;
  union {
    int number;
    unsigned cluster[3];
    char bytes[64];
  };
};
FunctionAttributes attributes_of(const void* function);
/// Thread blocks that a multiprocessor runs at the same time.
int active_blocks(const void* function, int threads, size_t dynamic_shared);
void set_attribute(const void* function, int attribute, int value);
/// By the driver's numbers.
int attribute_of(const void* function, int attribute);
struct Occupancy {
  int threads = 0;  ///< of a block
  int blocks = 0;   ///< at the same time on a multiprocessor
};
/// Of the block sizes with the most threads at the same time, the largest, in steps of a wave;
/// `shared_of` is null where all sizes take `shared` bytes.
Occupancy best_block(const void* function, size_t (*shared_of)(int), size_t shared, int limit,
                     int wave = 32);
/// Hints change nothing; clusters of more than one group are refused, under the call's name.
void apply(Shape& shape, const LaunchAttribute* attributes, unsigned count, const char* call);

}  // namespace lanewise::cuda
