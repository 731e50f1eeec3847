// The runtime's own objects behind handles of the C API, for tools that look further than it.
#pragma once

#include "lanewise/lanewise.h"
#include "runtime/api/api.hpp"
#include "runtime/trace/event.hpp"

namespace lanewise::capi {

/// Throws Error(usage) for a handle that is none.
host::Device device_behind(lw_device* device);

/// Trackers and a trace file that follow no device: what runs elsewhere feeds their sink. Errors
/// are thrown.
lw_cache* cache_of_nothing(const lw_cache_options& options);
/// Lives as long as the handle.
trace::Sink& sink_behind(lw_cache* cache);

}  // namespace lanewise::capi
