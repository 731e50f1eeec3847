// From a launch's arguments to the bytes of its parameters.
#pragma once

#include "runtime/api/objects/objects.hpp"

namespace lanewise::host {

/// Throws Error(usage) when a buffer among them is another device's.
void check_devices(const Device& device, std::span<const Argument> args);

/// Why the parameter takes no buffer; empty when it does.
std::string no_buffer(const ir::Program& p, size_t index);

/// The parameters as the kernel expects them. Throws Error(usage) for a wrong count, size or kind.
std::vector<std::byte> parameter_block(const ir::Program& p, std::span<const Argument> args,
                                       uint32_t dimensions);

}  // namespace lanewise::host
