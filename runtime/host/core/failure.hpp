// How calls of a host program's API fail: each surface has its own number for each code.
#pragma once

#include <stdexcept>
#include <string>

namespace lanewise::core {

enum class Code {
  success,
  invalid_value,
  out_of_memory,
  invalid_configuration,    ///< a launch of a shape that no device has
  launch_out_of_resources,  ///< of a shape that this kernel cannot have
  invalid_pitch,
  invalid_symbol,
  invalid_texture,   ///< no texture or surface of the program
  invalid_channels,  ///< no format of texels
  invalid_copy_kind,
  invalid_device_function,
  invalid_device,
  peer_enabled,
  peer_not_enabled,
  no_device,
  not_initialised,
  invalid_context,
  invalid_image,  ///< no format that there is
  file_not_found,
  no_binary,        ///< none of the program's images can run here
  invalid_program,  ///< PTX with defects
  invalid_handle,   ///< of a stream, event, graph ...
  not_found,
  not_ready,
  already_registered,
  not_registered,
  not_permitted,
  not_supported,
  cooperative_too_large,
  // What kernels do: these stay.
  illegal_address,
  misaligned_address,
  illegal_instruction,
  hardware_stack,
  assertion,
  timeout,
  launch_failure,
  // Capture of streams.
  capture_unsupported,
  capture_invalidated,
  capture_unmatched,
  capture_unjoined,
  capture_isolation,
  capture_implicit,
  captured_event,
  capture_wrong_thread,
  graph_update_failure,
  unknown
};

class Failure : public std::runtime_error {
 public:
  explicit Failure(Code code, const std::string& why = {}) : std::runtime_error(why), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

[[noreturn]] inline void fail(Code code, const std::string& why = {}) {
  throw Failure(code, why);
}
inline void require(bool holds, Code code = Code::invalid_value) {
  if (!holds) fail(code);
}

/// One line on standard error, which begins with "lanewise: ".
void report_line(const std::string& text);

}  // namespace lanewise::core
