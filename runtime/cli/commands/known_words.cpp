#include "runtime/cli/commands/known_words.hpp"

#include <fmt/format.h>

#include "lanewise/cache.hpp"
#include "runtime/api/program/policies.hpp"
#include "runtime/cache/hazards/hazards.hpp"
#include "runtime/cli/arg_spec.hpp"
#include "runtime/host/core/gpu_table.hpp"
#include "runtime/isa/ptx/check.hpp"
#include "runtime/vulkan/device/profiles.hpp"

namespace lanewise::cli {
namespace {

std::vector<std::string> presets() {
  std::vector<std::string> all;
  for (const auto& [name, title] : cache_presets()) all.push_back(name);
  all.emplace_back("file:");
  return all;
}

std::vector<std::string> devices() {
  std::vector<std::string> all = {"auto", "reference"};
  for (const std::string& name : vulkan::named_targets()) all.push_back("profile:" + name);
  return all;
}

std::vector<std::string> targets() {
  std::vector<std::string> all;
  constexpr unsigned kAbove = 200;
  for (unsigned sm = 50; sm < kAbove; ++sm)
    if (const std::string name = fmt::format("sm_{}", sm); ptx::is_target(name))
      all.push_back(name);
  for (const char* gfx : {"gfx600", "gfx700", "gfx803"}) all.emplace_back(gfx);
  return all;
}

std::vector<std::string> gpus() {
  std::vector<std::string> all;
  all.reserve(core::kGpus.size());
  for (const core::Gpu& gpu : core::kGpus) all.emplace_back(gpu.name);
  return all;
}

std::vector<std::string> rules() {
  std::vector<std::string> all = {"any", "E", "W"};
  for (unsigned n = 1; n <= cache::kRules; ++n) all.emplace_back(cache::rule(n).id);
  return all;
}

}  // namespace

std::vector<std::string> known_words(ValueKind kind) {
  switch (kind) {
    case ValueKind::preset:
      return presets();
    case ValueKind::policy:
      return host::detail::policy_words();
    case ValueKind::device:
      return devices();
    case ValueKind::target:
      return targets();
    case ValueKind::gpu:
      return gpus();
    case ValueKind::rule:
      return rules();
    case ValueKind::listed:
      break;
  }
  return {};
}

}  // namespace lanewise::cli
