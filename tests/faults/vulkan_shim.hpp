// Stands between the program and the Vulkan loader: fails calls on purpose, counts objects.
#pragma once

namespace lanewise::shim {

/// Calls that can fail since the last arm().
long calls();
/// The nth call from now on fails (1 = the next); 0 = none does.
void arm(long nth);
/// The name of the call that was made to fail; null while none was.
const char* failed();
/// Objects and memory that were made and not destroyed.
long living();

}  // namespace lanewise::shim
