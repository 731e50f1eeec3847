// Tracing for the layers above the public API: every launch on the device tells the sink what its
// waves do to memory, and copies by the host are told as well.
#pragma once

#include <cstdint>

#include "lanewise/lanewise.hpp"
#include "runtime/events/exact.hpp"
#include "runtime/trace/event.hpp"

namespace lanewise::detail {

inline constexpr uint64_t kDefaultTraceBuffer = uint64_t{64} << 20;

/// buffer_bytes: events that may wait on the device before they are handed on. The sink must live
/// until tracing stops. exact: where loads get their values from (the reference engine only).
/// input: the file whose lines the kernels' instructions are, for findings.
void start_tracing(const Device& device, trace::Sink& sink,
                   uint64_t buffer_bytes = kDefaultTraceBuffer,
                   events::ExactMemory* exact = nullptr, const std::string& input = {});
void stop_tracing(const Device& device);

}  // namespace lanewise::detail
