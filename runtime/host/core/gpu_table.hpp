// The GPUs that programs can see, and what names them. A header alone: `lanewise exec` judges the
// list before it starts the program.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/host/core/devices.hpp"
#include "runtime/host/core/gpu.hpp"

namespace lanewise::core {

inline constexpr uint64_t kKiB = 1024, kGiB = uint64_t{1} << 30;

/// Of the vendor's data sheets and the programming guide's table of compute capabilities.
inline constexpr std::array kGpus = {
    Gpu{"t4", "Tesla T4", 7, 5, 40, 1590000, 5001000, 256, 16 * kGiB, 4 << 20, 48 * kKiB, 64 * kKiB,
        64 * kKiB, 1024, 16, 32},
    Gpu{"gtx980", "NVIDIA GeForce GTX 980", 5, 2, 16, 1216000, 3505000, 256, 4 * kGiB, 2 << 20,
        48 * kKiB, 48 * kKiB, 96 * kKiB, 2048, 32, 32},
    Gpu{"p100", "Tesla P100-PCIE-16GB", 6, 0, 56, 1328500, 715000, 4096, 16 * kGiB, 4 << 20,
        48 * kKiB, 48 * kKiB, 64 * kKiB, 2048, 32, 2},
    Gpu{"gtx1080ti", "NVIDIA GeForce GTX 1080 Ti", 6, 1, 28, 1582000, 5505000, 352, 11 * kGiB,
        2816 << 10, 48 * kKiB, 48 * kKiB, 96 * kKiB, 2048, 32, 32},
    Gpu{"gv100", "Tesla V100-PCIE-16GB", 7, 0, 80, 1380000, 877000, 4096, 16 * kGiB, 6 << 20,
        48 * kKiB, 96 * kKiB, 96 * kKiB, 2048, 32, 2},
    Gpu{"rtx2080ti", "NVIDIA GeForce RTX 2080 Ti", 7, 5, 68, 1545000, 7000000, 352, 11 * kGiB,
        5632 << 10, 48 * kKiB, 64 * kKiB, 64 * kKiB, 1024, 16, 32},
    Gpu{"ga100", "NVIDIA A100-PCIE-40GB", 8, 0, 108, 1410000, 1215000, 5120, 40 * kGiB, 40 << 20,
        48 * kKiB, 163 * kKiB, 164 * kKiB, 2048, 32, 2},
    Gpu{"rtx3090", "NVIDIA GeForce RTX 3090", 8, 6, 82, 1695000, 9751000, 384, 24 * kGiB, 6 << 20,
        48 * kKiB, 99 * kKiB, 100 * kKiB, 1536, 16, 64},
    Gpu{"gh100", "NVIDIA H100 PCIe", 9, 0, 114, 1755000, 1593000, 5120, 80 * kGiB, 50 << 20,
        48 * kKiB, 227 * kKiB, 228 * kKiB, 2048, 32, 2},
};

/// The names of LANEWISE_GPU, one for each device; one that is a number, or empty, where it names
/// none.
inline std::vector<std::string> gpu_list(const std::string& gpus) {
  std::vector<std::string> names(1);
  for (const char c : gpus)
    if (c == ',')
      names.emplace_back();
    else
      names.back() += c;
  return names;
}
inline bool names_no_gpu(const std::vector<std::string>& list) {
  return list.size() == 1 && list[0].find_first_not_of("0123456789") == std::string::npos;
}
/// How many GPUs there are before some are hidden: a number, or those of the list. Empty is one.
inline size_t gpu_count(const std::string& gpus) {
  const std::vector<std::string> list = gpu_list(gpus);
  if (!names_no_gpu(list) || list[0].empty()) return list.size();
  return std::strtoul(list[0].c_str(), nullptr, 10);
}
inline const Gpu* gpu_named(const std::string& name) {
  const auto* const found =
      std::ranges::find(kGpus, name, [](const Gpu& g) { return std::string(g.name); });
  return found != kGpus.end() ? found : nullptr;
}

/// What LANEWISE_GPU should have been instead of `gpus`; "" where nothing is wrong with it.
inline std::string expected_gpus(const std::string& gpus) {
  const size_t count = gpu_count(gpus);
  if (count < 1 || count > kMostDevices) return "1 to " + std::to_string(kMostDevices) + " devices";
  const std::vector<std::string> list = gpu_list(gpus);
  if (names_no_gpu(list) ||
      std::ranges::all_of(list, [](const std::string& name) { return gpu_named(name); }))
    return {};
  std::string all;
  for (const Gpu& g : kGpus) all += (all.empty() ? "" : ", ") + std::string(g.name);
  return "one of " + all + ", a list of them, or a number of devices";
}

}  // namespace lanewise::core
