// Trace formats of other tools. Importers drive a Sink, exporters are Sinks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/trace/format.hpp"

namespace lanewise::trace {

/// In which order the warps of a .traceg execute, which has them one after the other.
enum class Interleave : uint8_t {
  serial,      ///< as they stand there
  round_robin  ///< the resident groups take turns, an instruction of each warp in a turn
};
struct ReadOptions {
  Interleave interleave = Interleave::serial;  ///< trace.interleave
  uint32_t resident = 64;                      ///< trace.resident: groups that run at once
  bool hash = false;                           ///< ReadResult::content is wanted
  /// Called now and then with how many bytes of a file were read, and how many it has.
  std::function<void(uint64_t done, uint64_t whole)> progress = {};
};
/// "trace.interleave=round-robin", "trace.resident=16". Throws Error(usage) for anything else.
void set_policy(ReadOptions& options, const std::string& text);

/// Accel-Sim: a kernel's .trace / .traceg, or a kernelslist(.g) that names several, with their
/// copies to the device. SASS opcodes keep their suffixes, so cache control is honoured; suffixes
/// and opcodes that are not known are warnings with a count. Raw .trace has the order of execution.
/// A file that ends early is read up to its last whole thread block (.trace: instruction).
ReadResult import_accelsim(const std::string& path, Sink& sink, const ReadOptions& options = {});

/// The output of NVBit's mem_trace, other lines between it or not. No PCs: instructions with equal
/// opcodes are one site.
ReadResult import_mem_trace(const std::string& path, Sink& sink);
/// True when one of the first 1000 lines is such.
bool is_mem_trace(const std::string& path);

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

/// Reads any known format, compressed or not (gzip, xz, zstd): by file ending (.lwt, .traceg,
/// .trace, kernelslist*, .din), or our own and mem_trace's by their content. Throws Error(usage)
/// for what is none of them.
ReadResult read_any(const std::string& path, Sink& sink, const ReadOptions& options = {});
/// The same into several sinks, each in a thread of its own, while this thread reads. What comes of
/// it is what read_any() into one after the other comes to, errors included.
ReadResult read_in_threads(const std::string& path, std::span<Sink* const> sinks,
                           const ReadOptions& options = {});
/// The policies that decide how this file is read, with their values.
std::vector<std::pair<std::string, std::string>> policies_of(const std::string& path,
                                                             const ReadOptions& options);
/// A sink for a file by its ending: .lwt, .traceg, .din, .json.
std::unique_ptr<Sink> open_output(const std::string& path);

}  // namespace lanewise::trace
