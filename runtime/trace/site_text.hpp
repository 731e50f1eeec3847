// What an instruction asks of the caches, read from its text. Used for imported traces, where the
// opcode's text is all there is, and for hand-written event streams.
#pragma once

#include <string_view>

#include "runtime/trace/event.hpp"

namespace lanewise::trace {

/// SASS, Maxwell to Hopper: `LDG.E.CG.128 R4, [R2]`, `CCTL.IVALL`, or the opcode alone.
/// Instructions without a memory effect give OpKind::none. Throws Error(guest) for a suffix of a
/// memory instruction that is not known, naming it.
Site sass_site(std::string_view text);
/// The same where suffixes may be unknown: they are listed (".FOO") and say nothing of the access.
Site sass_site(std::string_view text, std::vector<std::string>& unknown);
/// PTX: `ld.global.cg.u32`, `prefetch.global.L2 [a]`, `fence.acq_rel.gpu`.
Site ptx_site(std::string_view text);
/// GCN: `buffer_load_dword v1, v0, s[4:7], 0 offen glc`.
Site gcn_site(std::string_view text);

Site site_from_text(Dialect dialect, std::string_view text);

}  // namespace lanewise::trace
