// The line that came first goes.
#include "runtime/cache/policies/policy.hpp"

namespace lanewise::cache {

extern const Policy fifo_policy = {.name = "fifo", .note = Policy::Note::fill};

}  // namespace lanewise::cache
