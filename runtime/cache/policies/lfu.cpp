// The line used least often goes: notes count uses.
#include "runtime/cache/policies/policy.hpp"

namespace lanewise::cache {

extern const Policy lfu_policy = {
    .name = "lfu", .first_note = 1, .used = [](SetView& s, uint32_t way) {
      if (s.note(way) != SetView::kMost) s.set_note(way, s.note(way) + 1);
    }};

}  // namespace lanewise::cache
