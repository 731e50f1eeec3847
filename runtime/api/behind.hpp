// The runtime's own objects behind handles of the C API, for tools that look further than it.
#pragma once

#include "runtime/api/objects/objects.hpp"
#include "runtime/trace/event.hpp"

namespace lanewise::host {

/// Throws Error(usage) for a handle that is none.
std::shared_ptr<Device> device_behind(lw_device* device);
/// A device on an engine of the caller's.
lw_device* device_on(std::unique_ptr<Engine> engine);

/// Trackers and a trace file that follow no device: what runs elsewhere feeds their sink. Errors
/// are thrown. `origin` is where reports say that it was.
lw_cache* cache_of_nothing(const lw_cache_options& options, const std::string& origin);
/// Lives as long as the handle.
trace::Sink& sink_behind(lw_cache* cache);

/// The SPIR-V words of a launch with these arguments; errors are thrown. lw_kernel_translate() has
/// those of any launch.
std::vector<uint32_t> words_of_launch(lw_kernel* kernel, const lw_launch_options& options,
                                      std::span<const lw_arg> args);

}  // namespace lanewise::host
