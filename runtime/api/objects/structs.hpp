// Structs across the boundary: what the caller's struct_size covers, and no more, is read or
// written.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "lanewise/detail/fields.hpp"
#include "runtime/api/objects/status.hpp"

namespace lanewise::host {

/// Bytes of the struct in the first version of the API: nobody has a smaller one. When a struct
/// grows, it gets a specialisation with its old size.
template <typename S>
inline constexpr size_t kFirstSize = sizeof(S);
template <>
inline constexpr size_t kFirstSize<lw_launch_options> = offsetof(lw_launch_options, cancel_flag);
template <>
inline constexpr size_t kFirstSize<lw_module_options> = offsetof(lw_module_options, include_folder);
template <>
inline constexpr size_t kFirstSize<lw_code_options> = offsetof(lw_code_options, include_folder);
template <>
inline constexpr size_t kFirstSize<lw_fault> = offsetof(lw_fault, parameter);
template <>
inline constexpr size_t kFirstSize<lw_result_info> = offsetof(lw_result_info, printed);
template <>
inline constexpr size_t kFirstSize<lw_cache_options> = offsetof(lw_cache_options, shard);

template <typename S>
size_t checked_size(const S* s, const char* name) {
  constexpr size_t kNobodyHasMore = 4096;
  const size_t size = required(s, name)->struct_size;
  if (size < kFirstSize<S> || size > kNobodyHasMore)
    fail(ErrorDetail::struct_size,
         fmt::format("struct_size of {} is {}; sizeof({}) is {}", name, size, name, sizeof(S)));
  return size;
}

/// The caller's struct; members it does not have are 0.
template <typename S>
S read_struct(const S* in, const char* name) {
  const size_t size = checked_size(in, name);
  S out{};
  std::memcpy(&out, in, std::min(size, sizeof(S)));
  const auto* bytes = reinterpret_cast<const unsigned char*>(in);
  for (size_t i = sizeof(S); i < size; ++i)
    if (bytes[i] != 0)
      fail(ErrorDetail::unsupported,
           fmt::format("{} says something at byte {} that this library is too old for", name, i));
  return out;
}

/// The members that the caller has; struct_size stays the caller's, what is beyond the
/// library's struct becomes 0.
template <typename S>
void write_struct(S* out, S value, const char* name) {
  const size_t size = checked_size(out, name);
  value.struct_size = static_cast<uint32_t>(size);
  std::memcpy(out, &value, std::min(size, sizeof(S)));
  if (size > sizeof(S)) std::memset(reinterpret_cast<char*>(out) + sizeof(S), 0, size - sizeof(S));
}

/// A member of a C struct gets what the C++ one has, which lives as long (lanewise::detail::FromC
/// is the other direction).
struct ToC {
  void operator()(const char* /*name*/, const std::string& from, const char*& to) const {
    to = from.c_str();
  }
  void operator()(const char* /*name*/, FaultKind from, const char*& to) const {
    to = lanewise::name(from).data();
  }
  void operator()(const char* /*name*/, const Dim3& from, uint32_t (&to)[3]) const {
    to[0] = from.x, to[1] = from.y, to[2] = from.z;
  }
  /// What is behind the text is 0 already.
  template <size_t N>
  void operator()(const char* /*name*/, const std::string& from, char (&to)[N]) const {
    from.copy(to, N - 1);
  }
  template <typename From, typename To>
  requires(std::is_arithmetic_v<To>&& std::is_arithmetic_v<From>) void operator()(
      const char* /*name*/, From from, To& to) const {
    to = static_cast<To>(from);
  }
};

}  // namespace lanewise::host
