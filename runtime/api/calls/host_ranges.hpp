// Memory of the host that guests may reach: what the user has registered, and what is mapped.
#pragma once

#include <vector>

#include "runtime/guest/engine.hpp"

namespace lanewise::host {

/// Throws Error(usage) when it is empty or overlaps another one.
void register_range(void* data, uint64_t bytes);
/// Throws Error(usage) when no range begins there.
void unregister_range(void* data);

/// By address.
std::vector<HostRange> registered_ranges();
/// The registered range that holds the address; size 0 = none does.
HostRange range_around(const void* data);

/// Every readable mapping of the process, by address; neighbours of the same rights are one.
std::vector<HostRange> mapped_ranges();

}  // namespace lanewise::host
