// What the entry points for copies share.
#pragma once

#include "runtime/host/cuda/entry.hpp"

namespace lanewise::cuda {

/// Throws where one of them is not where the kind says.
void check_kind(const Region& to, const Region& from, int kind);
/// Behind all other work, and done when the call returns.
void copy_now(Stream& stream, const Copy& copy);
void copy_later(Stream& stream, const Copy& copy);

}  // namespace lanewise::cuda
