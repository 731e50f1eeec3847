// What a GPU compiler made of the benchmark kernels, as a table in the repository, and the
// comparison with what it makes of them now.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lanewise::isa_gate {

/// Figures of one kernel; the compiler counts in whole numbers.
struct Code {
  long instructions = 0,
       throughput = 0;  ///< throughput: RADV's "Inverse Throughput", less is better
  bool failed = false;  ///< not compiled: too slow, or refused
  bool operator==(const Code&) const = default;
};

/// By name, "glsl/saxpy/off"; the hand-written side under "glsl/saxpy" + kByHand.
using Table = std::map<std::string, Code>;
inline constexpr const char* kByHand = " (GLSL)";

struct Verdict {
  std::vector<std::string> worse;   ///< more than kTolerance, or no longer compiled
  std::vector<std::string> better;  ///< figures that the table should learn
  std::vector<std::string> other;   ///< kernels that are in one of the two only
  bool good() const { return worse.empty() && other.empty(); }
};

inline constexpr double kTolerance = 0.02;
Verdict compare(const Table& expected, const Table& found);

/// Out of `lanewise bench --isa --json`. Throws std::runtime_error.
Table from_json(const std::string& text);
/// Why kernels were not compiled, a line each.
std::vector<std::string> failures(const std::string& json_text);
/// "RADV VEGA10" of "radv Mesa 22.3.6": the name of the file that holds its table.
std::string file_name(const std::string& json_text);

/// A --filter that leaves out the kernels the table says are not compiled: each takes all of the
/// time limit to say so again.
std::string compiled_only(const Table& table);

std::string print(const Table& table);
Table parse(const std::string& text);

}  // namespace lanewise::isa_gate
