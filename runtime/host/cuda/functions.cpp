// Attributes of functions, occupancy, launches with attributes.
#include "runtime/host/cuda/functions.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/host/core/gpu.hpp"

namespace lanewise::cuda {
namespace {

/// A figure: what a compiler for the GPU would take is not known.
constexpr int kRegisters = 32;

int version_of(const Function& f) {
  const std::string target = f.info.target;
  const size_t digits = target.find_first_of("0123456789");
  return digits != std::string::npos ? std::atoi(target.c_str() + digits) : 0;
}

}  // namespace

FunctionAttributes attributes_of(const void* host) {
  const Function& f = Program::get().function(host);
  const Gpu& gpu = current_gpu();
  const auto threads = static_cast<int>(limits().threads);
  const auto most = std::max<uint64_t>(gpu.shared_per_block, f.max_dynamic_shared);
  return {
      f.info.static_shared,
      static_cast<size_t>(f.info.constant_bytes),
      f.info.local_bytes,
      f.info.max_threads != 0 ? std::min(threads, static_cast<int>(f.info.max_threads)) : threads,
      kRegisters,
      version_of(f),
      gpu.major * 10 + gpu.minor,
      0,
      static_cast<int>(most - std::min<uint64_t>(most, f.info.static_shared)),
      f.preferred_carveout};
}

int active_blocks(const void* host, int threads, size_t dynamic_shared) {
  return active_groups(Program::get().function(host), threads, dynamic_shared);
}

void set_attribute(const void* host, int attribute, int value) {
  constexpr int kDynamicShared = 8, kCarveout = 9, kLast = 15;
  Function& f = Program::get().function(host);
  require(attribute >= kDynamicShared && attribute <= kLast);
  if (attribute == kDynamicShared) {
    require(value >= 0 && f.info.static_shared + static_cast<uint64_t>(value) <=
                              std::max(limits().shared, limits().shared_optin));
    f.max_dynamic_shared = static_cast<uint32_t>(value) + f.info.static_shared;
  } else if (attribute == kCarveout) {
    require(value >= -1 && value <= 100);
    f.preferred_carveout = value;
  } else {
    require(value <= 1, Code::not_supported);  // clusters of more than one group
  }
}

void apply(Shape& shape, const LaunchAttribute* attributes, unsigned count, const char* call) {
  constexpr int kCooperative = 2, kCluster = 4;
  for (unsigned i = 0; i < count; ++i) {
    const LaunchAttribute& a = required(attributes)[i];
    if (a.id == kCooperative) shape.cooperative = a.number != 0;
    if (a.id == kCluster && (a.cluster[0] > 1 || a.cluster[1] > 1 || a.cluster[2] > 1)) {
      report_line(std::string(call) + ": clusters of more than one thread block are not supported");
      fail(Code::not_supported);
    }
  }
}

namespace {

struct LaunchConfiguration {
  Dim grid, block;
  size_t shared;
  StreamHandle stream;
  const LaunchAttribute* attributes;
  unsigned count;
};

Shape shape_of(const LaunchConfiguration& c) {
  Shape shape{{c.grid.x, c.grid.y, c.grid.z}, {c.block.x, c.block.y, c.block.z}, c.shared, false};
  apply(shape, c.attributes, c.count, "cudaLaunchKernelExC");
  return shape;
}

}  // namespace
int attribute_of(const void* function, int attribute) {
  constexpr int kLast = 15;
  require(attribute >= 0 && attribute <= kLast);
  const FunctionAttributes a = attributes_of(function);
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

Occupancy best_block(const void* function, size_t (*shared_of)(int), size_t shared, int limit,
                     int wave) {
  const FunctionAttributes a = attributes_of(function);
  const int most = limit > 0 ? std::min(limit, a.threads) : a.threads;
  int most_threads = 0;
  Occupancy best;
  for (int size = most; size > 0; size = (size - 1) / wave * wave) {
    const size_t bytes = shared_of != nullptr ? shared_of(size) : shared;
    const int active = active_blocks(function, size, bytes);
    if (active * size <= most_threads) continue;
    most_threads = active * size, best = {size, active};
  }
  return best;
}

}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaFuncGetAttributes, (FunctionAttributes12 * out, const void* host)) {
  return answer([&] {
    *required(out) = {};
    static_cast<FunctionAttributes&>(*out) = attributes_of(host);
  });
}
ENTRY_OF(11, cudaFuncGetAttributes, (FunctionAttributes * out, const void* host)) {
  return answer([&] { *required(out) = attributes_of(host); });
}
ENTRY(cudaFuncSetAttribute, (const void* host, int attribute, int value)) {
  return answer([&] { set_attribute(host, attribute, value); });
}
ENTRY(cudaFuncSetCacheConfig, (const void* host, int config)) {
  return answer([&] {
    Program::get().function(host);
    require(config >= 0 && config <= 3);
  });
}
ENTRY(cudaFuncSetSharedMemConfig, (const void* host, int config)) {
  return answer([&] {
    Program::get().function(host);
    require(config >= 0 && config <= 2);
  });
}
ENTRY(cudaFuncGetName, (const char** name, const void* host)) {
  return answer([&] { *required(name) = Program::get().function(host).name.c_str(); });
}
ENTRY(cudaGetKernel, (const void** kernel, const void* host)) {
  return answer([&] { *required(kernel) = &Program::get().function(host); });
}
ENTRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
      (int* blocks, const void* host, int threads, size_t shared)) {
  return answer([&] { *required(blocks) = active_blocks(host, threads, shared); });
}
ENTRY(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
      (int* blocks, const void* host, int threads, size_t shared, unsigned flags)) {
  return answer([&] {
    require(flags <= 1);
    *required(blocks) = active_blocks(host, threads, shared);
  });
}
ENTRY(cudaOccupancyAvailableDynamicSMemPerBlock,
      (size_t * bytes, const void* host, int blocks, int threads)) {
  return answer([&] {
    const Function& f = Program::get().function(host);
    const Gpu& gpu = current_gpu();
    require(blocks > 0 && threads > 0);
    const uint64_t each =
        std::min<uint64_t>(std::max<uint64_t>(gpu.shared_per_block, f.max_dynamic_shared),
                           gpu.shared_per_multiprocessor / static_cast<unsigned>(blocks));
    *required(bytes) = each - std::min<uint64_t>(each, f.info.static_shared);
  });
}
ENTRY(cudaOccupancyMaxActiveClusters,
      (int* clusters, const void* host, const LaunchConfiguration* c)) {
  return answer([&] {
    shape_of(*required(c));
    const auto threads = static_cast<int>(c->block.x * c->block.y * c->block.z);
    *required(clusters) = active_blocks(host, threads, c->shared) * current_gpu().multiprocessors;
  });
}
ENTRY(cudaOccupancyMaxPotentialClusterSize,
      (int* size, const void* host, const LaunchConfiguration* c)) {
  return answer([&] {
    Program::get().function(host);
    required(c);
    *required(size) = 1;
  });
}
ENTRY_PTSZ(cudaLaunchKernelExC, (const LaunchConfiguration* c, const void* host, void** args)) {
  return answer([&] {
    Function& function = Program::get().function(host);
    enqueue_launch(stream_of(required(c)->stream), function, shape_of(*c), args);
  });
}
