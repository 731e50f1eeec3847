// Any candidate goes, by one sequence for the whole cache.
#include "runtime/cache/policies/policy.hpp"

namespace lanewise::cache {

extern const Policy random_policy = {
    .name = "random",
    .note = Policy::Note::fill,
    .word = Policy::Word::of_cache,
    .first_word = 0x2545f4914f6cdd1d,
    .victim =
        [](SetView& s) {
          uint32_t count = 0, way = 0;
          for (uint32_t w = 0; w < s.ways(); ++w) count += s.is_candidate(w) ? 1 : 0;
          uint64_t& state = s.word();
          state ^= state << 13;
          state ^= state >> 7;
          state ^= state << 17;
          uint32_t pick = static_cast<uint32_t>((state >> 32) % count);
          while (!s.is_candidate(way) || pick-- != 0) ++way;
          return way;
        },
};

}  // namespace lanewise::cache
