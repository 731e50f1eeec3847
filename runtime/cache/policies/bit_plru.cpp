// A bit a line, set by its use; when all are set, those of the others are cleared.
#include "runtime/cache/policies/policy.hpp"

namespace lanewise::cache {

extern const Policy bit_plru_policy = {
    .name = "bit_plru", .fill_is_use = true, .used = [](SetView& s, uint32_t way) {
      s.set_note(way, 1);
      bool all = true;
      for (uint32_t w = 0; w < s.ways(); ++w) all = all && s.note(w) == 1;
      for (uint32_t w = 0; all && w < s.ways(); ++w)
        if (w != way) s.set_note(w, 0);
    }};

}  // namespace lanewise::cache
