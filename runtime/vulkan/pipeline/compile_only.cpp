#include "runtime/vulkan/pipeline/compile_only.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lanewise/error_detail.hpp"
#include "runtime/guest/validate.hpp"
#include "runtime/support/error.hpp"
#include "runtime/vulkan/device/profiles.hpp"

namespace lanewise::vulkan {

void refuse_to_run(const EngineInfo& info) {
  throw Error(
      ErrorKind::device,
      fmt::format("{} ({}) compiles kernels and runs none: there is no such hardware behind "
                  "it, and what it computes is assumed (profile '{}'), not known; use "
                  "translate or bench --isa with it",
                  info.name, info.driver, info.profile));
}

void CompileOnlyEngine::read(uint64_t, std::span<std::byte>) {
  refuse_to_run(info_);
}

LaunchResult CompileOnlyEngine::launch(const LaunchRequest&) {
  refuse_to_run(info_);
}

Translated CompileOnlyEngine::translate(const LaunchRequest& request) {
  guest::validate(request);
  spirv::Module module =
      translator_(*request.program, options_of(request, true, target_.quirks), target_);
  return {std::move(module.words), std::move(module.wave_mode), std::move(module.wave_reason)};
}

std::unique_ptr<Engine> make_profile_engine(std::string_view name, Translator translator) {
  const auto target = named_target(name);
  if (!target) {
    throw DetailedError(ErrorKind::device, ErrorDetail::no_device,
                        fmt::format("there is no profile '{}'; there are: {}", name,
                                    fmt::join(named_targets(), ", ")));
  }
  EngineInfo info;
  info.name = fmt::format("profile:{}", name);
  info.driver = "no driver";
  info.type = "other";
  info.profile = name;
  info.tier = fmt::format("T{}", target->tier());
  info.subgroup_size = target->subgroup_size;
  info.max_invocations = target->max_invocations;
  info.max_shared = target->max_shared;
  info.int64 = target->int64;
  info.float64 = target->float64;
  return std::make_unique<CompileOnlyEngine>(std::move(info), -1, *target, std::move(translator));
}

}  // namespace lanewise::vulkan
