// A binary tree over the ways, whose nodes point to the half that was not used last.
#include "runtime/cache/policies/policy.hpp"

namespace lanewise::cache {

extern const Policy tree_plru_policy = {
    .name = "tree_plru",
    .fill_is_use = true,
    .word = Policy::Word::of_set,
    .takes = [](uint32_t ways) { return ways <= 64 && (ways & (ways - 1)) == 0; },
    .needs = "2, 4, ... 64",
    .used =
        [](SetView& s, uint32_t way) {
          for (uint32_t node = way + s.ways(); node > 1; node /= 2) {
            const uint64_t bit = uint64_t{1} << (node / 2);
            s.word() = (node & 1) != 0 ? s.word() & ~bit : s.word() | bit;
          }
        },
    .victim =
        [](SetView& s) {
          uint32_t node = 1;
          while (node < s.ways()) node = 2 * node + static_cast<uint32_t>(s.word() >> node & 1);
          return s.is_candidate(node - s.ways()) ? node - s.ways() : s.least();
        }};

}  // namespace lanewise::cache
