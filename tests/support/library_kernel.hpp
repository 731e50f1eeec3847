// Runs one function of the shader library over a table of inputs on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/spirv/binary/library.hpp"
#include "tests/support/vk_compute.hpp"

namespace lanewise::test {

using spirv::library::Kind;
using spirv::library::Signature;
using spirv::library::Variant;

unsigned words_of(Kind kind);
unsigned argument_words(const Signature& s);

/// A module (with Linkage) whose invocation i reads the arguments of `name` from binding 5, calls
/// it, and writes the result to binding 6. With `lane_state` it is begun with lw_begin and
/// lw_begin_lock. A function without result is called i / 8 + 1 times by lane i of a group, which
/// then writes a 1.
std::vector<uint32_t> caller_of(const std::string& name, Variant variant, bool lane_state);

struct Driver {
  std::string label;  ///< as in drivers.hpp
  std::unique_ptr<Compute> compute;
  std::vector<Variant> variants;  ///< those that the device can run
};
/// Every software driver of this machine, opened one after the other.
std::vector<Driver> open_drivers();

/// Results of a pure function, one row per row of `arguments` (flat). Throws std::runtime_error.
std::vector<uint32_t> call(Compute& device, Variant variant, const std::string& name,
                           std::vector<uint32_t> arguments);

}  // namespace lanewise::test
