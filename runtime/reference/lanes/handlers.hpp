// Handlers of the common instructions. They are compiled once for each kind of host; what has none
// there is carried out lane by lane (interpret.hpp), with the same results.
#pragma once

#include "runtime/reference/decode.hpp"

namespace lanewise::reference {

/// Handlers of what the instruction does itself; null where there are none.
using Finder = Handlers (*)(const Code&);

namespace lanes_portable {
Handlers find(const Code& code);
}
#ifdef LANEWISE_LANES_X86
namespace lanes_avx2 {
Handlers find(const Code& code);
}
namespace lanes_avx512 {
Handlers find(const Code& code);
}
#endif

/// Those for this host, or for what the environment variable LANEWISE_LANES names (portable, avx2,
/// avx512). Throws Error(usage) when the host cannot run it.
Finder host_finder();

/// Gives a code of a decoded program its handlers.
void set_handlers(Code& code, Finder find, Wishes wishes);

/// The access did not lie in its range: another is looked for. Null: there is none for the first
/// of the active lanes.
bool find_range(Wave& wave, const Code* code);
/// Loads and stores, each lane by itself.
const Code* access_lanes(Wave& wave, const Code* code);
/// The same, and fences, where races are looked for.
const Code* access_watched(Wave& wave, const Code* code);
/// Loads and stores of whole words, where it is asked who has written them.
const Code* access_followed(Wave& wave, const Code* code);
/// What asynchronous copies are about, where accesses are held against it.
const Code* note_copies(Wave& wave, const Code* code);

}  // namespace lanewise::reference
