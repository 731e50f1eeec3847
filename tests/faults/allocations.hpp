// How many allocations this program made with operator new, the library's among them.
#pragma once

namespace lanewise::faults {

/// By this thread.
long allocations_made();

}  // namespace lanewise::faults
