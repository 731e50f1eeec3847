// From the structs of a launch to the C++ API's.
#pragma once

#include "runtime/capi/objects.hpp"

namespace lanewise::capi {

/// The options, and what must live as long as the launch.
struct Launching {
  LaunchOptions options;
  std::shared_ptr<CancelObject> cancel;
};
Launching to_cpp(const lw_launch_options* options);

/// Every argument but host memory, which is refused.
Arg to_cpp(const lw_arg& arg);
lw_arg read_arg(const lw_arg* args, size_t index);
std::vector<Arg> to_cpp(const lw_arg* args, size_t count);

/// The status of a launch that ran, and its result's handle where `out` is not null.
lw_status finish(Result result, const std::string& kernel, lw_result** out);

}  // namespace lanewise::capi
