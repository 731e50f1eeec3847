#include "runtime/guest/ended.hpp"

#include <fmt/format.h>

namespace lanewise::guest {

DetailedError timed_out(double seconds) {
  return {ErrorKind::budget, ErrorDetail::timeout,
          fmt::format("the kernel did not end within {} s and was stopped; its buffers hold what "
                      "it had written",
                      seconds)};
}

DetailedError cancelled() {
  return {ErrorKind::budget, ErrorDetail::cancelled,
          "the launch was cancelled; its buffers hold what the kernel had written"};
}

}  // namespace lanewise::guest
