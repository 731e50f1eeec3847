// An engine for targets that nothing runs on: kernels are translated for it, and that is all.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/guest/engine.hpp"
#include "runtime/vulkan/pipeline/kernel_cache.hpp"

namespace lanewise::vulkan {

class CompileOnlyEngine final : public Engine {
 public:
  CompileOnlyEngine(EngineInfo info, int index, spirv::Target target, Translator translator)
      : info_(std::move(info)),
        index_(index),
        target_(target),
        translator_(std::move(translator)) {}

  const EngineInfo& info() const override { return info_; }
  int index() const { return index_; }
  const spirv::Target& target() const { return target_; }
  // There is no memory, but a kernel's variables and parameters have addresses: what is written
  // there has no effect on a translation.
  void reserve(uint64_t) override {}
  void write(uint64_t, std::span<const std::byte>) override {}
  void read(uint64_t address, std::span<std::byte> data) override;
  LaunchResult launch(const LaunchRequest& request) override;
  Translated translate(const LaunchRequest& request) override;

 private:
  EngineInfo info_;
  int index_;  ///< of the device, -1 where there is none
  spirv::Target target_;
  Translator translator_;
};

/// Throws Error(device) saying that the device compiles only.
[[noreturn]] void refuse_to_run(const EngineInfo& info);

/// The engine of the named target ("vega10") without any device. Throws Error(device).
std::unique_ptr<Engine> make_profile_engine(std::string_view name, Translator translator);

}  // namespace lanewise::vulkan
