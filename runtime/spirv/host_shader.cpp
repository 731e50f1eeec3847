// Numbers that host and shader share, where the runtime has them under names of its own.
#include "runtime/layout/host_shader.h"

#include "runtime/guest/engine.hpp"
#include "runtime/guest/event_words.hpp"
#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/types.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::host_shader {

static_assert(RN == static_cast<uint32_t>(ir::Round::rn));
static_assert(RZ == static_cast<uint32_t>(ir::Round::rz));
static_assert(RM == static_cast<uint32_t>(ir::Round::rm));
static_assert(RP == static_cast<uint32_t>(ir::Round::rp));
static_assert(RNA == static_cast<uint32_t>(ir::Round::rna));
static_assert(RENDEZVOUS_KIND == ir::kRendezvousKind);
static_assert(MAX_FAULTS == kMaxFaults);
static_assert(MAX_POINTERS == ir::kMostPointers);
static_assert(LAUNCH_POINTER_BASES + 2 * MAX_POINTERS <= LAUNCH_ALLOCATIONS);
static_assert(LAUNCH_BEYOND == LAUNCH_POINTERS + MAX_POINTERS * POINTER_WORDS);
static_assert(LAUNCH_PARAMS == LAUNCH_BEYOND + MAX_POINTERS * BEYOND_WORDS);
static_assert(ARENA_BASE == guest::kArenaBase);
static_assert(FORM_ARENA == guest::kFormArena);
static_assert(FORM_ANYWHERE == guest::kFormAnywhere);
static_assert(FORM_WINDOWS == guest::kFormWindows);
static_assert(FORM_FORCE == guest::kFormForce);
static_assert(FORM_NO_ADDRESS == guest::kFormNoAddress);
static_assert(FORM_FITS == guest::kFormFits);
static_assert(FORM_SHORT == guest::kFormShort);

}  // namespace lanewise::host_shader
