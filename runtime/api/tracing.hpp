// What the layers above the public API need beside it. Tracing: every launch on the device reports
// to the sink what its waves do to memory, and copies by the host are reported as well.
#pragma once

#include <cstdint>
#include <mutex>

#include "runtime/api/api.hpp"
#include "runtime/guest/engine.hpp"
#include "runtime/trace/event.hpp"
#include "runtime/trace/exact.hpp"

namespace lanewise::host::detail {

inline constexpr uint64_t kDefaultTraceBuffer = uint64_t{64} << 20;

/// buffer_bytes: events that may wait on the device before they are handed on. The sink must live
/// until tracing stops. exact: where loads get their values from (the reference engine only).
/// input: the file whose lines the kernels' instructions are, for findings. derive: launches whose
/// events depend on no memory are not recorded (events/derive/paths.hpp).
void start_tracing(const Device& device, trace::Sink& sink,
                   uint64_t buffer_bytes = kDefaultTraceBuffer, trace::ExactMemory* exact = nullptr,
                   const std::string& input = {}, bool derive = true);
void stop_tracing(const Device& device);

/// Nobody else uses the device while the lock lives.
std::unique_lock<std::recursive_mutex> lock_device(const Device& device);

/// Kernel::launch, with memory of the host that the kernel may reach at the host's addresses; by
/// address. The reference engine's alone.
Result launch_in_place(const Kernel& kernel, const LaunchOptions& options,
                       const std::vector<Arg>& args, std::span<const HostRange> memory);

}  // namespace lanewise::host::detail
