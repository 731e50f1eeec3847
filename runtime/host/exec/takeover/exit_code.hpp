// The exit code of a program with faults.
#pragma once

namespace lanewise::exec {

/// From here on the process's exit code 0 becomes LANEWISE_FAULT_EXIT_CODE (unset or 0: it stays)
/// once `library` has reported faults, however the process ends by itself.
void watch_exit(void* library);

}  // namespace lanewise::exec
