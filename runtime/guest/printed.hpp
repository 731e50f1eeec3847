// What kernels printed, as text.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/guest/engine.hpp"

namespace lanewise::guest {

/// The string at a guest address; nothing when it cannot be read.
using ReadString = std::function<std::optional<std::string>(uint64_t address)>;

/// Records of CUDA kernels (print_layout.hpp). Arguments lie as a C compiler's variable arguments
/// do: each at a multiple of its size, numbers in words or pairs of them, floats as doubles.
std::string printed_by_cuda(std::span<const std::byte> records, const ReadString& read_string);

/// Records of OpenCL kernels. `formats` are those of the code object's metadata:
/// `number:count:size:...:size:format`, sizes in bytes, strings in the record itself.
std::string printed_by_opencl(std::span<const std::byte> records,
                              std::span<const std::string> formats);

/// What a launch of the program printed to the buffer at this address, which is empty then.
std::string take_printed(Engine& engine, std::span<const Allocation> memory,
                         const ir::Program& program, uint64_t buffer);

}  // namespace lanewise::guest
