#include "runtime/host/core/status.hpp"

namespace lanewise::core {

Code code_of(lw_status status) {
  if (status == LW_OK) return Code::success;
  switch (lw_last_detail()) {
    case LW_DETAIL_DEVICE_MEMORY:
    case LW_DETAIL_HOST_MEMORY:
      return Code::out_of_memory;
    case LW_DETAIL_REJECTED:
      return Code::invalid_program;
    case LW_DETAIL_UNSUPPORTED:
    case LW_DETAIL_FORMAT:
      return Code::no_binary;
    case LW_DETAIL_NO_DEVICE:
      return Code::no_device;
    case LW_DETAIL_NOT_FOUND:
      return Code::not_found;
    case LW_DETAIL_TIMEOUT:
    case LW_DETAIL_STEP_BUDGET:
    case LW_DETAIL_CANCELLED:
      return Code::timeout;
    case LW_DETAIL_DRIVER:
    case LW_DETAIL_DEVICE_LOST:
      return Code::launch_failure;
    default:
      return status == LW_ERROR_USAGE ? Code::invalid_value : Code::launch_failure;
  }
}

void check(lw_status status) {
  if (status != LW_OK) fail(code_of(status), lw_last_error());
}

}  // namespace lanewise::core
