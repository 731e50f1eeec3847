// Which members of a struct of the C API and of its C++ form belong together: one list, read both
// ways.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "lanewise/fault_report.hpp"

namespace lanewise::detail {

/// Calls each(name, member of the C++ struct, member of the C struct) for all that both have.
template <typename Cpp, typename C, typename Each>
void each_device_field(Cpp& cpp, C& c, const Each& each) {
  each("name", cpp.name, c.name);
  each("driver", cpp.driver, c.driver);
  each("tier", cpp.tier, c.tier);
  each("type", cpp.type, c.type);
  each("subgroup_size", cpp.subgroup_size, c.subgroup_size);
  each("max_invocations", cpp.max_invocations, c.max_invocations);
  each("max_shared", cpp.max_shared, c.max_shared);
  each("max_arena", cpp.max_arena, c.max_arena);
  each("profile", cpp.profile, c.profile);
  each("int64", cpp.int64, c.int64);
  each("int16", cpp.int16, c.int16);
  each("int8", cpp.int8, c.int8);
  each("float16", cpp.float16, c.float16);
  each("float64", cpp.float64, c.float64);
}

/// A member of the C++ struct gets what the C one has.
struct FromC {
  void operator()(const char* /*name*/, std::string& to, const char* from) const { to = from; }
  void operator()(const char* /*name*/, FaultKind& to, const char* from) const {
    to = fault_kind_named(from).value_or(FaultKind::none);
  }
  void operator()(const char* /*name*/, Dim3& to, const uint32_t (&from)[3]) const {
    to = {from[0], from[1], from[2]};
  }
  template <typename To, typename From>
  requires(std::is_arithmetic_v<To>&& std::is_arithmetic_v<From>) void operator()(
      const char* /*name*/, To& to, From from) const {
    to = static_cast<To>(from);
  }
};

}  // namespace lanewise::detail
