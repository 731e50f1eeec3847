// Static re-reference interval prediction of two bits; a note is 3 less the prediction.
#include "runtime/cache/policies/policy.hpp"

namespace lanewise::cache {

extern const Policy srrip_policy = {.name = "srrip",
                                    .first_note = 1,
                                    .used = [](SetView& s, uint32_t way) { s.set_note(way, 3); },
                                    .victim =
                                        [](SetView& s) {
                                          // All lines of the class age until the first is due.
                                          const uint32_t victim = s.least(), age = s.note(victim);
                                          for (uint32_t way = 0; way < s.ways(); ++way)
                                            if (s.is_candidate(way))
                                              s.set_note(way, s.note(way) - age);
                                          return victim;
                                        }};

}  // namespace lanewise::cache
