#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/host/core/gpu.hpp"
#include "runtime/host/core/operation.hpp"

namespace lanewise::core {

const Limits& limits() {
  static const std::vector<Limits> of_all = [] {
    std::vector<Limits> all;
    for (int device = 0; device < device_count(); ++device) {
      all.emplace_back();
      all.back().shared = gpu_of(device).shared_per_block;
      all.back().shared_optin = gpu_of(device).shared_optin;
    }
    return all;
  }();
  return of_all[static_cast<size_t>(current_device())];
}

int active_groups(const Function& f, int threads, size_t dynamic_shared) {
  const Gpu& gpu = current_gpu();
  require(threads > 0);
  if (static_cast<unsigned>(threads) > limits().threads) return 0;
  if (f.info.max_threads != 0 && static_cast<unsigned>(threads) > f.info.max_threads) return 0;
  constexpr int kWarp = 32;
  const int rounded = (threads + kWarp - 1) / kWarp * kWarp;
  int blocks = std::min(gpu.blocks_per_multiprocessor, gpu.threads_per_multiprocessor / rounded);
  const uint64_t shared = f.info.static_shared + dynamic_shared;
  if (shared > std::max<uint64_t>(gpu.shared_per_block, f.max_dynamic_shared)) return 0;
  if (shared != 0)
    blocks = static_cast<int>(
        std::min<uint64_t>(static_cast<uint64_t>(blocks), gpu.shared_per_multiprocessor / shared));
  return blocks;
}

uint64_t resident_groups(const Function& f, int threads, size_t dynamic_shared) {
  if (std::string_view(Context::current().info().type) != "reference") return 1;
  return static_cast<uint64_t>(active_groups(f, threads, dynamic_shared)) *
         static_cast<uint64_t>(current_gpu().multiprocessors);
}

}  // namespace lanewise::core
