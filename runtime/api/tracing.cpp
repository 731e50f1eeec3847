#include "runtime/api/tracing.hpp"

#include "runtime/api/state.hpp"

namespace lanewise::detail {

void start_tracing(const Device& device, trace::Sink& sink, uint64_t buffer_bytes,
                   events::ExactMemory* exact, const std::string& input) {
  DeviceAccess::state(device).events = std::make_unique<events::Collector>(sink, buffer_bytes);
  DeviceAccess::state(device).events->set_exact(exact);
  DeviceAccess::state(device).events->set_input(input);
}

void stop_tracing(const Device& device) {
  DeviceAccess::state(device).events.reset();
}

}  // namespace lanewise::detail
