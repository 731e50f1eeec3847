// Attributes of functions, occupancy.
#include "runtime/host/cuda/functions.hpp"

#include <array>

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

LANEWISE_ENTRY const char* hipKernelNameRef(const Function* function) {
  return function != nullptr ? function->name.c_str() : nullptr;
}
LANEWISE_ENTRY const char* hipKernelNameRefByPtr(const void* function, StreamHandle /*stream*/) {
  const Function* found = nullptr;
  answer([&] { found = Program::get().find_function(function); }, After::works);
  return found != nullptr ? found->name.c_str() : nullptr;
}
/// Numbers of entry points are the profiler's.
LANEWISE_ENTRY const char* hipApiName(unsigned /*number*/) {
  return "unknown";
}
/// hiprtcResult; the calls that compile are refused, and programs print the reason by this.
LANEWISE_ENTRY const char* hiprtcGetErrorString(int result) {
  constexpr std::array kNames = {"HIPRTC_SUCCESS",
                                 "HIPRTC_ERROR_OUT_OF_MEMORY",
                                 "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                 "HIPRTC_ERROR_INVALID_INPUT",
                                 "HIPRTC_ERROR_INVALID_PROGRAM",
                                 "HIPRTC_ERROR_INVALID_OPTION",
                                 "HIPRTC_ERROR_COMPILATION",
                                 "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                 "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                 "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                 "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                 "HIPRTC_ERROR_INTERNAL_ERROR"};
  const auto at = static_cast<size_t>(result);
  return at < kNames.size() ? kNames[at] : "Unknown HIPRTC error";
}
