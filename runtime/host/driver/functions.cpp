// Attributes of functions and kernels, occupancy.
#include "runtime/host/cuda/functions.hpp"

#include <algorithm>

#include "runtime/host/core/gpu.hpp"
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {
namespace {

int attribute_of(const Function* function, int attribute) {
  constexpr int kLast = 15;
  require(attribute >= 0 && attribute <= kLast);
  const cuda::FunctionAttributes a = cuda::attributes_of(function);
  const int values[] = {a.threads,
                        static_cast<int>(a.shared),
                        static_cast<int>(a.constant),
                        static_cast<int>(a.local),
                        a.registers,
                        a.ptx_version,
                        a.binary_version,
                        a.caches_globals,
                        a.dynamic_shared,
                        a.carveout};
  // The rest is of clusters.
  return static_cast<size_t>(attribute) < std::size(values) ? values[attribute] : 0;
}

/// Of the block size with the most threads at the same time, the largest.
void best_block(int* grid, int* block, Function* function, size_t (*shared_of)(int), size_t shared,
                int limit) {
  const cuda::FunctionAttributes a = cuda::attributes_of(function);
  const int most = limit > 0 ? std::min(limit, a.threads) : a.threads;
  constexpr int kWarp = 32;
  int best = 0, threads = 0, blocks = 0;
  for (int size = most; size > 0; size = (size - 1) / kWarp * kWarp) {
    const size_t bytes = shared_of != nullptr ? shared_of(size) : shared;
    const int active = cuda::active_blocks(function, size, bytes);
    if (active * size <= best) continue;
    best = active * size, threads = size, blocks = active;
  }
  *required(block) = threads;
  *required(grid) = blocks * current_gpu().multiprocessors;
}

void parameter(Function* handle, size_t index, size_t* offset, size_t* bytes) {
  const Function& function = Program::get().function(handle);
  require(index < function.param_sizes.size());
  *required(offset) = function.param_offsets[index];
  if (bytes != nullptr) *bytes = function.param_sizes[index];
}

}  // namespace
}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY(cuFuncGetAttribute, (int* value, int attribute, Function* function)) {
  return answer([&] { *required(value) = attribute_of(function, attribute); });
}
SAME(cuFuncSetAttribute, cudaFuncSetAttribute, (const void* function, int attribute, int value),
     (function, attribute, value))
SAME(cuFuncSetCacheConfig, cudaFuncSetCacheConfig, (const void* function, int config),
     (function, config))
SAME(cuFuncSetSharedMemConfig, cudaFuncSetSharedMemConfig, (const void* function, int config),
     (function, config))
ENTRY(cuFuncGetName, (const char** name, Function* function)) {
  return answer([&] { *required(name) = Program::get().function(function).name.c_str(); });
}
ENTRY(cuFuncGetParamInfo, (Function * function, size_t index, size_t* offset, size_t* bytes)) {
  return answer([&] { parameter(function, index, offset, bytes); });
}
ENTRY(cuFuncIsLoaded, (int* state, Function* function)) {
  return answer([&] {
    Program::get().function(function);
    *required(state) = 1;
  });
}
ENTRY(cuFuncLoad, (Function * function)) {
  return answer([&] { Program::get().function(function); });
}
ENTRY(cuKernelGetAttribute, (int* value, int attribute, Function* kernel, int device)) {
  return answer(
      [&] {
        check_device(device);
        const OnDevice its(device);
        *required(value) = attribute_of(kernel, attribute);
      },
      Needs::device);
}
ENTRY(cuKernelSetAttribute, (int attribute, int value, Function* kernel, int device)) {
  return answer(
      [&] {
        check_device(device);
        const OnDevice its(device);
        cuda::set_attribute(kernel, attribute, value);
      },
      Needs::device);
}
ENTRY(cuKernelSetCacheConfig, (Function * kernel, int config, int device)) {
  return answer(
      [&] {
        check_device(device);
        const OnDevice its(device);
        Program::get().function(kernel);
        require(config >= 0 && config <= 3);
      },
      Needs::device);
}
ENTRY(cuKernelGetName, (const char** name, Function* kernel)) {
  return answer([&] { *required(name) = Program::get().function(kernel).name.c_str(); },
                Needs::device);
}
ENTRY(cuKernelGetParamInfo, (Function * kernel, size_t index, size_t* offset, size_t* bytes)) {
  return answer([&] { parameter(kernel, index, offset, bytes); }, Needs::device);
}

SAME(cuOccupancyMaxActiveBlocksPerMultiprocessor, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
     (int* blocks, const void* function, int threads, size_t shared),
     (blocks, function, threads, shared))
SAME(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
     cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
     (int* blocks, const void* function, int threads, size_t shared, unsigned flags),
     (blocks, function, threads, shared, flags))
SAME(cuOccupancyAvailableDynamicSMemPerBlock, cudaOccupancyAvailableDynamicSMemPerBlock,
     (size_t * bytes, const void* function, int blocks, int threads),
     (bytes, function, blocks, threads))
ENTRY(cuOccupancyMaxPotentialBlockSizeWithFlags,
      (int* grid, int* block, Function* function, size_t (*shared_of)(int), size_t shared,
       int limit, unsigned flags)) {
  return answer([&] {
    require(flags <= 1);
    best_block(grid, block, function, shared_of, shared, limit);
  });
}
ENTRY(cuOccupancyMaxPotentialBlockSize, (int* grid, int* block, Function* function,
                                         size_t (*shared_of)(int), size_t shared, int limit)) {
  return answer([&] { best_block(grid, block, function, shared_of, shared, limit); });
}
