// HIP's services of the host: a kernel leaves a packet in a buffer that both sides reach, and waits
// until a thread of the host has answered. `printf`, `assert` and what prints to standard error go
// this way, and the allocator of kernels. The buffer is as the device library of ROCm (ockl,
// hostcall) reads it.
#pragma once

#include <cstdint>

namespace lanewise::core {

class Context;

/// The guest's address of the buffer; the first call makes it and starts the thread. Throws where
/// the device does not reach memory of the host in place.
uint64_t hostcall_buffer(Context& context);

}  // namespace lanewise::core
