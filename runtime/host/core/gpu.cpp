#include "runtime/host/core/gpu.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "runtime/host/core/context.hpp"
#include "runtime/host/core/program.hpp"

namespace lanewise::core {
namespace {

constexpr uint64_t kKiB = 1024, kGiB = uint64_t{1} << 30;

/// Of the vendor's data sheets and the programming guide's table of compute capabilities.
constexpr std::array kGpus = {
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

/// The first that runs what the program is built for; the latest where none does.
const Gpu* usual() {
  const auto target = static_cast<int>(Program::get().least_target());
  const auto runs = [&](const Gpu& g) { return g.major * 10 + g.minor >= target; };
  const auto* const found = std::ranges::find_if(kGpus, runs);
  return found != kGpus.end() ? found : kGpus.end() - 1;
}

const Gpu& named(const std::string& name) {
  const auto* const found =
      std::ranges::find(kGpus, name, [](const Gpu& g) { return std::string(g.name); });
  if (found != kGpus.end()) return *found;
  std::string all;
  for (const Gpu& g : kGpus) all += (all.empty() ? "" : ", ") + std::string(g.name);
  report_line("LANEWISE_GPU is '" + Context::current().settings().gpu +
              "'; one of these was expected: " + all + ", a list of them, or a number of devices");
  fail(Code::no_device);
}

/// Of all devices.
std::vector<Gpu> chosen() {
  Context& context = Context::current();
  std::vector<std::string> names;
  std::string name;
  for (const char c : context.settings().gpu + ",")
    if (c == ',')
      names.push_back(std::exchange(name, {}));
    else
      name += c;
  const bool any = names.size() == 1 && names[0].find_first_not_of("0123456789") == names[0].npos;
  std::vector<Gpu> out;
  for (const int gpu : context.visible()) {
    out.push_back(any ? *usual() : named(names.at(static_cast<size_t>(gpu))));
    // Shared memory that the device does not have is kept in its memory.
    out.back().memory =
        std::min(out.back().memory, context.info().max_arena / context.visible().size());
  }
  return out;
}

}  // namespace

const Gpu& gpu_of(int device) {
  static const std::vector<Gpu> all = chosen();
  check_device(device);
  return all[static_cast<size_t>(device)];
}

const Gpu& current_gpu() {
  return gpu_of(current_device());
}

}  // namespace lanewise::core
