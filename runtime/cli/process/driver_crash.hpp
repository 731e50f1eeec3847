// A crash inside a Vulkan driver, reported in words.
#pragma once

namespace lanewise::cli {

/// From now on a fault of the processor (SIGSEGV, SIGBUS, SIGFPE, SIGILL) in code that was loaded
/// or made later ends the process with exit code 3 and a message: such code is a driver's, a
/// layer's, or what a driver compiled. Faults of code that is there already are left to the system,
/// and so are signals that somebody else handles. The program does this, the library never touches
/// signals.
void report_driver_crashes();

}  // namespace lanewise::cli
