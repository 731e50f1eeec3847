// Work that nobody can interrupt, waited for with a limit.
#pragma once

#include <functional>

#include "runtime/vulkan/device/device.hpp"

namespace lanewise::vulkan {

/// When `seconds` from now are over; never for 0.
Clock::time_point deadline_after(double seconds);

/// What a limit of so many seconds may be passed by until a kernel has noticed that it shall end:
/// the promise is a second or a tenth of the limit, and the caller wants some of that.
Clock::duration grace_after(double seconds);

/// Runs the work and waits for its end, at most until then: true, or what it threw, or false when
/// it was still running. It then goes on by itself, as a driver's compiler can neither be stopped
/// nor have its thread taken away; whatever it uses must stay until the process ends. With no limit
/// it runs on the calling thread.
bool ends_by(Clock::time_point deadline, std::function<void()> work);

/// Work that was given up and goes on, or a kernel that could not be stopped. Nothing that it uses
/// may be destroyed.
struct NeverEnded {
  std::string what;  ///< "the driver was still compiling ..."
};

}  // namespace lanewise::vulkan
