// From a launch as the host asks for it to what an engine takes, and back to what it left behind.
#pragma once

#include "runtime/api/objects/objects.hpp"

namespace lanewise::host {

/// A launch as it is asked for, with all that it needs until its end.
struct LaunchOrder {
  std::shared_ptr<Module> module;
  size_t index = 0;  ///< the kernel's
  LaunchOptions options;
  std::vector<Argument> args;
  std::shared_ptr<const void> kept;  ///< what the options point to
  /// Memory of the host that the kernel may reach at the host's addresses; the reference engine's
  /// alone.
  std::span<const HostRange> host_ranges;
  const ir::Program& program() const { return module->module.kernels[index]; }
};

/// Of the structs of the C API; args NULL: without arguments.
LaunchOptions options_of(const lw_launch_options* options, std::shared_ptr<const void>& kept);
LaunchOrder order_of(const Kernel& kernel, const lw_launch_options* options, const lw_arg* args,
                     size_t count);
/// Every argument but host memory, which is refused.
Argument argument_of(const lw_arg& arg);
/// The address of the buffer's byte `offset`, at most the one behind its end.
Argument buffer_argument(std::shared_ptr<Buffer> buffer, uint64_t offset);
lw_arg read_arg(const lw_arg* args, size_t index);

/// Runs to the end; throws what the call fails with. Faults are no failure.
std::shared_ptr<Outcome> launch(const LaunchOrder& order);

/// How a launch went: one of the two.
struct LaunchEnd {
  std::shared_ptr<Outcome> outcome;
  std::exception_ptr error;
};
/// All of them, in order, as if launched one after another; short ones share submissions. Every
/// module is of the device.
std::vector<LaunchEnd> launch_in_turn(Device& device, std::span<const LaunchOrder> orders);

/// What the device would run. Error(usage) on the reference engine.
Translated translate(const LaunchOrder& order);

/// The status of a launch that ran, and its result's handle where `out` is not null.
lw_status finish(std::shared_ptr<Outcome> outcome, lw_result** out);

}  // namespace lanewise::host
