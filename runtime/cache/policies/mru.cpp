// The line used last goes.
#include "runtime/cache/policies/policy.hpp"

namespace lanewise::cache {

extern const Policy mru_policy = {
    .name = "mru", .note = Policy::Note::last_use, .victim = [](SetView& s) {
      return s.first([](uint32_t a, uint32_t b) { return a > b; });
    }};

}  // namespace lanewise::cache
