// Masks written and read by halves. Programs without odd masks (Writer::has_odd_masks) get none of
// it.
#pragma once

#include "tests/fuzz/programs/gcn/writer.hpp"

namespace lanewise::programs::gcn {

/// "s24" of "s[24:25]", "vcc_hi" of "vcc".
std::string half_of(const std::string& pair, bool high);

/// The pair holds a mask and, in one half, a number. Nobody may want what it held.
void leave_numbers(Writer& w, const std::string& pair);
/// The same for VCC and for pairs that the code behind takes first.
void leave_numbers_behind(Writer& w);

/// The mask, perhaps as a copy that came by halves. Looks at other lanes.
std::string by_halves(Writer& w, const std::string& mask);
/// A mask within EXEC, perhaps in a pair where other lanes' bits are what they were.
std::string collected(Writer& w, const std::string& mask);
/// Perhaps to the label where no lane is in the mask: true then. VCC and SCC change.
bool skip_if_none(Writer& w, const std::string& mask, const std::string& to);
/// s_cbranch_scc0 or 1, or the same by VCC. A wave without lanes may jump instead of going on, and
/// unless it must jump then, the other way round.
void jump_by_scc(Writer& w, bool when_set, const std::string& to, bool also_without_lanes);

}  // namespace lanewise::programs::gcn
