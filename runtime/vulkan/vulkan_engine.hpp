// Engines that run translated kernels on Vulkan devices. No Vulkan type is visible here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/guest/engine.hpp"
#include "runtime/spirv/translate.hpp"

namespace lanewise::vulkan {

struct Options {
  /// Where translations, pipelines and probe results are kept. Empty: $LANEWISE_CACHE_DIR, else
  /// $XDG_CACHE_HOME/lanewise, else ~/.cache/lanewise. "off" keeps nothing on disk.
  std::string cache_dir;
  bool validation = false;  ///< also switched on by LANEWISE_VALIDATION=1
};

/// Every Vulkan device that can compute, in the order that make_engine's index counts. Empty when
/// there is no loader or no driver.
std::vector<EngineInfo> list_devices();

/// selector: "auto" (LANEWISE_DEVICE when set, else discrete, integrated, virtual, CPU), an index
/// into list_devices(), or a part of a device name in any case, or else of a driver's name and
/// version. A device that compiles only makes an engine that translates and launches nothing, and
/// so does "profile:NAME" (profiles.hpp) without any device. Throws Error(device).
std::unique_ptr<Engine> make_engine(std::string_view selector, const Options& options = {});

/// What the engine's kernels are translated for; null when it is no Vulkan engine.
const spirv::Target* target_of(const Engine& engine);

/// Which of the device's limits EngineInfo::max_arena is; empty when it is no Vulkan engine.
std::string arena_limit_of(const Engine& engine);

/// Where the engine's device stands in list_devices(); -1 when it is none of these.
int index_of(const Engine& engine);

/// True when a driver goes on compiling or running what a launch has given up on. It must be left
/// alone: a program had better end without the destructors of the driver's globals.
bool still_running();

/// Warnings and errors that the validation layer has reported in this process.
unsigned validation_messages();

}  // namespace lanewise::vulkan
