// Foreign trace formats. Importers drive a Sink, exporters are Sinks.
#pragma once

#include <memory>
#include <string>

#include "runtime/trace/format.hpp"

namespace lanewise::trace {

/// Accel-Sim: a kernel's .trace / .traceg, or a kernelslist(.g) that names several, with their
/// copies to the device. SASS opcodes keep their suffixes, so cache control is honoured.
/// Warps are taken in the order of the file: work-group by work-group.
ReadResult import_accelsim(const std::string& path, Sink& sink);

/// Dinero: `0|1|2 hex` (read, write, instruction fetch), and the extended form with letters and
/// sizes: `r|w|i|m addr size`, `c` = copy back, `v` = invalidate. One SM, one lane an access.
ReadResult import_dinero(const std::string& path, Sink& sink);

/// Dinero text: every lane access of loads, stores (atomics: both) and fetches, in order.
std::unique_ptr<Sink> export_dinero(const std::string& path);
/// Accel-Sim's .traceg, one kernel launch of waves up to 32 lanes: the opcode is SASS, whatever the
/// guest was; copies by the host, buffers and values have no place in it. Warps follow each other
/// in a thread block, as the format wants it. Throws Error(usage) for what does not fit.
std::unique_ptr<Sink> export_accelsim(const std::string& path);
/// Chrome / Perfetto JSON: one event a wave instruction, process = SM, thread = wave.
std::unique_ptr<Sink> export_perfetto(const std::string& path);

/// Reads any known format: by file ending (.lwt, .traceg, .trace, kernelslist*, .din), or our own
/// by its first bytes. Throws Error(usage) for an ending that is not known.
ReadResult read_any(const std::string& path, Sink& sink);
/// A sink for a file by its ending: .lwt, .traceg, .din, .json.
std::unique_ptr<Sink> open_output(const std::string& path);

}  // namespace lanewise::trace
