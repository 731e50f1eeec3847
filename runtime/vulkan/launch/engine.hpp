// The parts of one engine, for this layer and its tests.
#pragma once

#include <memory>
#include <optional>

#include "runtime/vulkan/launch/dispatch.hpp"
#include "runtime/vulkan/probe/target_probe.hpp"
#include "runtime/vulkan/vulkan_engine.hpp"

namespace lanewise::vulkan {

class VulkanEngine : public Engine {
 public:
  VulkanEngine(ChosenDevice chosen, const Options& options, Translator translator);
  ~VulkanEngine() override;

  const EngineInfo& info() const override { return info_; }
  void reserve(uint64_t bytes) override;
  void write(uint64_t address, std::span<const std::byte> data) override;
  void read(uint64_t address, std::span<std::byte> data) override;
  LaunchResult launch(const LaunchRequest& request) override;
  std::vector<LaunchOutcome> launch_in_turn(std::span<const LaunchRequest> requests) override;
  bool map_host(uint64_t address, std::span<std::byte> memory) override;
  void unmap(uint64_t address) override;
  Translated translate(const LaunchRequest& request) override;

  int index() const;
  const spirv::Target& target() const;
  const std::string& arena_limit() const;
  const ProbeResult& probed() const;
  // For interop.cpp.
  Device& device();
  Arena& arena();
  ImportedMemory& imported();
  /// How long a kernel that was asked to  may take to end.
  void set_stop_timeout(std::chrono::milliseconds timeout);

 private:
  struct Parts;
  LaunchResult launch_recorded(const LaunchRequest& request);
  LaunchResult launch_derived(const LaunchRequest& request, const events::Paths& paths);
  std::optional<std::vector<guest::PointerBounds>> bounds_of(const Kernel& kernel,
                                                             const LaunchRequest& request) const;
  std::vector<Batched> batched(std::span<const LaunchRequest> requests) const;
  template <typename Work>
  void guarded(const char* what, Work work);
  void refuse_when_lost() const;
  bool small_arena(const LaunchRequest& request) const;
  void bring_map(const LaunchRequest& request);
  bool take_map(const LaunchRequest& request);

  EngineInfo info_;
  std::unique_ptr<Parts> parts_;
  std::string lost_;  ///< why the engine cannot run anything any more, empty when it can
  bool never_ended_ = false;
};

/// make_engine with a translator of one's own, for devices that run kernels.
std::unique_ptr<VulkanEngine> make_engine_with(std::string_view selector, const Options& options,
                                               Translator translator);

}  // namespace lanewise::vulkan
