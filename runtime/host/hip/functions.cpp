// Attributes of functions, occupancy.
#include "runtime/host/cuda/functions.hpp"

#include "runtime/host/hip/entry.hpp"

namespace lanewise::hip {
namespace {

/// hipFuncAttributes
struct FunctionAttributes {
  int binary_version, caches_globals;
  size_t constant, local;
  int dynamic_shared, threads, registers, carveout, ptx_version;
  size_t shared;
};

int best_block(int* grid, int* block, const void* function, size_t shared, int limit) {
  return answer([&] {
    const auto best = cuda::best_block(function, nullptr, shared, limit, kWave);
    *required(block) = best.threads;
    *required(grid) = best.blocks * kUnits;
  });
}

}  // namespace
}  // namespace lanewise::hip

using namespace lanewise::hip;

ENTRY(hipFuncGetAttributes, (FunctionAttributes * out, const void* function)) {
  return answer([&] {
    const auto a = lanewise::cuda::attributes_of(function);
    // Both versions are the target's: code for GCN has no other.
    *required(out) = {a.ptx_version, a.caches_globals, a.constant, a.local,       a.dynamic_shared,
                      a.threads,     a.registers,      a.carveout, a.ptx_version, a.shared};
  });
}
ENTRY(hipFuncGetAttribute, (int* value, int attribute, const void* function)) {
  return answer(
      [&] { *required(value) = lanewise::cuda::attribute_of(required(function), attribute); });
}
SAME(hipFuncSetAttribute, cudaFuncSetAttribute, (const void* function, int attribute, int value),
     (function, attribute, value))
SAME(hipFuncSetCacheConfig, cudaFuncSetCacheConfig, (const void* function, int config),
     (function, config))
SAME(hipFuncSetSharedMemConfig, cudaFuncSetSharedMemConfig, (const void* function, int config),
     (function, config))

SAME(hipOccupancyMaxActiveBlocksPerMultiprocessor, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
     (int* blocks, const void* function, int threads, size_t shared),
     (blocks, function, threads, shared))
ALSO(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
     hipOccupancyMaxActiveBlocksPerMultiprocessor);
SAME(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
     cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
     (int* blocks, const void* function, int threads, size_t shared, unsigned flags),
     (blocks, function, threads, shared, flags))
ALSO(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
     hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
ENTRY(hipOccupancyMaxPotentialBlockSize,
      (int* grid, int* block, const void* function, size_t shared, int limit)) {
  return best_block(grid, block, function, shared, limit);
}
ALSO(hipModuleOccupancyMaxPotentialBlockSize, hipOccupancyMaxPotentialBlockSize);
ENTRY(hipModuleOccupancyMaxPotentialBlockSizeWithFlags,
      (int* grid, int* block, const void* function, size_t shared, int limit, unsigned /*flags*/)) {
  return best_block(grid, block, function, shared, limit);
}
