// What exactly went wrong, beside the exit code that an Error's kind is.
#pragma once

#include "lanewise/error.hpp"

namespace lanewise {

/// The numbers are those of lw_detail in lanewise.h and never change.
enum class ErrorDetail : int32_t {
  none = 0,
  // guest
  rejected = 1,     ///< the program has defects; see the diagnostics
  unsupported = 2,  ///< the program is fine, but it, or this use of it, is not supported
  fault = 3,        ///< lanes faulted; see the result
  // usage
  invalid_value = 20,   ///< an argument makes no sense
  null_argument = 21,   ///< a pointer that must not be null is null
  bad_handle = 22,      ///< an empty or released handle, or one of another kind
  struct_size = 23,     ///< struct_size names no size of this struct
  other_device = 24,    ///< a buffer of one device was given to another
  argument_count = 25,  ///< a kernel takes more or fewer arguments
  argument_kind = 26,   ///< an argument's size or kind contradicts the parameter
  out_of_range = 27,    ///< bytes outside a buffer or variable, or an index beyond the last
  not_found = 28,       ///< no kernel, variable, policy or preset of this name
  host_file = 29,       ///< a file cannot be read or written
  device_closed = 30,   ///< the device was closed
  host_memory = 31,     ///< the host has no memory left
  format = 32,          ///< the bytes are of no format that the function reads
  // device
  driver = 40,         ///< the driver failed
  device_lost = 41,    ///< the device runs nothing any more; open it again
  device_memory = 42,  ///< the device cannot hold that much
  no_device = 43,      ///< no device of this name
  // budget
  timeout = 60,      ///< timeout_seconds were over
  step_budget = 61,  ///< a lane took more loop iterations than allowed
  cancelled = 62,    ///< somebody asked the launch to end
};

/// An Error whose thrower knows more than its kind.
class DetailedError : public Error {
 public:
  DetailedError(ErrorKind kind, ErrorDetail detail, const std::string& what)
      : Error(kind, what), detail_(detail) {}
  ErrorDetail detail() const { return detail_; }

 private:
  ErrorDetail detail_;
};

/// Of any error: what its thrower stated, else the usual one of its kind.
inline ErrorDetail detail_of(const Error& error) {
  if (const auto* own = dynamic_cast<const DetailedError*>(&error)) return own->detail();
  if (dynamic_cast<const CompileError*>(&error) != nullptr) return ErrorDetail::rejected;
  switch (error.kind()) {
    case ErrorKind::guest:
      return ErrorDetail::unsupported;
    case ErrorKind::usage:
      return ErrorDetail::invalid_value;
    case ErrorKind::device:
      return ErrorDetail::driver;
    case ErrorKind::budget:
      return ErrorDetail::timeout;
  }
  return ErrorDetail::none;
}

}  // namespace lanewise
