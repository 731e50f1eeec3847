// Attributes of functions and kernels, occupancy.
#include "runtime/host/cuda/functions.hpp"

#include "runtime/host/core/gpu.hpp"
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {
namespace {

void give(const cuda::Occupancy& best, int* grid, int* block) {
  *required(block) = best.threads;
  *required(grid) = best.blocks * current_gpu().multiprocessors;
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
  return answer([&] { *required(value) = cuda::attribute_of(function, attribute); });
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
        *required(value) = cuda::attribute_of(kernel, attribute);
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
    give(cuda::best_block(function, shared_of, shared, limit), grid, block);
  });
}
ENTRY(cuOccupancyMaxPotentialBlockSize, (int* grid, int* block, Function* function,
                                         size_t (*shared_of)(int), size_t shared, int limit)) {
  return answer([&] { give(cuda::best_block(function, shared_of, shared, limit), grid, block); });
}
