// Random straight-line PTX kernels over the arithmetic of sm_50.
#pragma once

#include <cstdint>
#include <string>

namespace ptxas {

inline constexpr unsigned kThreads = 64, kInputs = 4, kResults = 24;

enum class Family : uint8_t { integer, exact_float, approximate };

/// A kernel `name` with eight pointers: u32, u64, f32, f64 that are read (kInputs a thread), then
/// the same that are written (kResults a thread). Every instruction's result is stored.
std::string kernel(const std::string& name, Family family, uint64_t seed);
/// The same of one instruction of a family, by its number; empty behind the last.
std::string single(const std::string& name, Family family, size_t form, uint64_t seed);
/// What stands in front of the kernels of a file.
std::string header();

}  // namespace ptxas
