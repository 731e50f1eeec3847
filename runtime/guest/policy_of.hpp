// One policy of a launch.
#pragma once

#include <string>
#include <string_view>

#include "runtime/guest/engine.hpp"

namespace lanewise::guest {

/// Its value; empty where it is not in force.
inline std::string_view policy_of(const LaunchRequest& request, const std::string& name) {
  const auto found = request.policies.find(name);
  return found != request.policies.end() ? found->second : std::string_view();
}

}  // namespace lanewise::guest
