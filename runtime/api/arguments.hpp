// From a launch's arguments to the bytes of its parameters.
#pragma once

#include "runtime/api/api.hpp"
#include "runtime/ir/ir.hpp"

namespace lanewise::host::detail {

/// Throws Error(usage) when a buffer among them is another device's.
void check_devices(const DeviceState& device, const std::vector<Arg>& args);

/// Why the parameter takes no buffer; empty when it does.
std::string no_buffer(const ir::Program& p, size_t index);

/// The parameters as the kernel expects them. Throws Error(usage) for a wrong count, size or kind.
std::vector<std::byte> parameter_block(const ir::Program& p, const std::vector<Arg>& args,
                                       uint32_t dimensions = 1);

}  // namespace lanewise::host::detail
