// What the entry points for copies share.
#pragma once

#include "runtime/host/cuda/entry.hpp"

namespace lanewise::cuda {

/// Bytes between rows are less: cudaDeviceProp::memPitch.
inline constexpr uint64_t kMostPitch = 0x7fffffff;

/// Throws where one of them is not where the kind says.
void check_kind(const Region& to, const Region& from, int kind);
/// The same, after these checks and those of the ranges; nothing where there is nothing to do.
Copy checked(const Copy& copy, int kind);
Fill checked(const Fill& fill);
Copy copy_of(void* to, const void* from, size_t bytes, int kind);
Fill fill_of(void* to, int value, size_t bytes);
/// Behind all other work, and done when the call returns.
void copy_now(Stream& stream, const Copy& copy);
void fill_now(Stream& stream, const Fill& fill);
void copy_later(Stream& stream, const Copy& copy);

}  // namespace lanewise::cuda
