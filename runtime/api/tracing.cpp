#include "runtime/api/tracing.hpp"

#include "runtime/api/state.hpp"

namespace lanewise::host::detail {

void start_tracing(const Device& device, trace::Sink& sink, uint64_t buffer_bytes,
                   trace::ExactMemory* exact, const std::string& input, bool derive) {
  DeviceState& state = DeviceAccess::state(device);
  const auto lock = state.enter();
  if (state.events != nullptr)
    throw Error(ErrorKind::usage, "the device " + state.info.name + " is being traced already");
  state.events = std::make_unique<events::Collector>(sink, buffer_bytes);
  state.events->set_exact(exact);
  state.events->set_input(input);
  state.events->set_derives(derive);
}

void stop_tracing(const Device& device) {
  DeviceState& state = DeviceAccess::state(device);
  const std::lock_guard lock(state.mutex);
  state.events.reset();
}

std::unique_lock<std::recursive_mutex> lock_device(const Device& device) {
  return std::unique_lock(DeviceAccess::state(device).mutex);
}

Result launch_in_place(const Kernel& kernel, const LaunchOptions& options,
                       const std::vector<Arg>& args, std::span<const HostRange> memory) {
  return DeviceAccess::launch(kernel, options, args, memory);
}

}  // namespace lanewise::host::detail
