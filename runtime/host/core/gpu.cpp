#include "runtime/host/core/gpu.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/host/core/context.hpp"
#include "runtime/host/core/gpu_table.hpp"
#include "runtime/host/core/program.hpp"

namespace lanewise::core {
namespace {

/// The first that runs what the program is built for; the latest where none does.
const Gpu* usual() {
  const auto target = static_cast<int>(Program::get().least_target());
  const auto runs = [&](const Gpu& g) { return g.major * 10 + g.minor >= target; };
  const auto* const found = std::ranges::find_if(kGpus, runs);
  return found != kGpus.end() ? found : kGpus.end() - 1;
}

/// Of all devices.
std::vector<Gpu> chosen() {
  Context& context = Context::current();
  const std::vector<std::string> names = gpu_list(context.settings().gpu);
  std::vector<Gpu> out;
  for (const int gpu : context.visible()) {
    out.push_back(names_no_gpu(names) ? *usual() : *gpu_named(names.at(static_cast<size_t>(gpu))));
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
