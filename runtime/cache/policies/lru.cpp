// The line used longest ago goes.
#include "runtime/cache/policies/policy.hpp"

namespace lanewise::cache {

extern const Policy lru_policy = {.name = "lru", .note = Policy::Note::last_use};

}  // namespace lanewise::cache
