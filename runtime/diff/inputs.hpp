// What both kernels of a comparison are launched with, and how its buffers are filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace lanewise::diff {

struct Input {
  enum class Kind : uint8_t { scalar, buffer, local };
  Kind kind = Kind::scalar;
  std::string name;              ///< as the user wrote it
  std::string type;              ///< of a buffer's elements: u8 ... f64
  std::vector<std::byte> bytes;  ///< a scalar's value, a buffer's contents before the launch
  bool integer = false, is_signed = false;
  uint64_t local_bytes = 0;
  bool filled = false;  ///< its contents are made up
};

/// What numbers a filled buffer gets.
enum class Fill : uint8_t {
  small,    ///< integers that can be indices, floats below 4
  full,     ///< all bits of integers, exponents from -20 to 20
  special,  ///< limits, zeros, infinities, NaNs and subnormal numbers among small ones
};
const char* name(Fill fill);

/// The same numbers for the same state of the generator, on every host.
void fill(Input& input, Fill how, std::mt19937_64& random);

/// Element `index` of a buffer as a person reads it.
std::string element_text(const Input& input, const std::vector<std::byte>& bytes, uint64_t index);
/// The same of one value.
std::string value_text(const std::string& type, const std::byte* at);
bool is_float(const std::string& type);
/// Value of a float of type f16, f32 or f64.
double float_value(const std::string& type, const std::byte* at);

}  // namespace lanewise::diff
