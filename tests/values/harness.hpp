// Value cases: one instruction, inputs for many lanes, and a host function that says what must come
// out. Cases of one instruction set are put into kernels by the dozen, run through the public API
// and compared bit for bit. Oracles share nothing with runtime/.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lanewise/lanewise.hpp"
#include "tests/values/pools.hpp"

namespace values {

/// The words of one lane. 64-bit values take two, low word first; narrower ones take one.
using In = std::span<const uint32_t>;
using Out = std::span<uint32_t>;

/// What one lane's inputs make.
using Oracle = std::function<void(In, Out)>;
/// The same for a whole wave at once, lane 0 first: instructions that look at other lanes.
using WaveOracle = std::function<void(std::span<const In>, std::span<const Out>)>;

/// How far an approximate result may be from the true one.
struct Bound {
  std::string text;  ///< for people: "1 ulp", "2^-22 relative"
  std::function<bool(In in, In got)> holds;
};

struct Case {
  std::string row;                   ///< key of the table's row that it is about
  std::string text;                  ///< the instruction; more lines where operands need preparing
  unsigned inputs = 1, outputs = 1;  ///< 32-bit words of a lane
  Tuples tuples;                     ///< one for each lane; repeated to fill the last wave
  Oracle oracle;
  WaveOracle wave = nullptr;        ///< instead of oracle
  std::optional<Bound> bound = {};  ///< absent: every bit counts. `oracle` may be left out
  /// False: on the reference engine alone. For cases that become the same IR operations as others:
  /// drivers take long to compile them all.
  bool on_devices = true;
  /// Computes with doubles: left out on devices that have none. There it is the shader library's
  /// integer routines that count, which have tests of their own, and drivers take minutes.
  bool doubles = false;
  /// Which forms of a case that has several are wrong, and in which words; absent: `row` alone.
  std::function<std::vector<std::string>(In in, In got)> wrong_forms = nullptr;
};

/// A case's place in a kernel: byte offsets in the records that each lane has of its own.
struct Slot {
  const Case* test;
  unsigned in, out;
};

struct InstructionSet {
  lanewise::Isa isa;
  std::string target;
  unsigned wave;  ///< lanes
  /// A kernel with two pointer parameters, inputs and outputs, for groups of kGroup lanes in x.
  /// Lane n of the grid reads its inputs at n * in_bytes, writes its outputs at n * out_bytes.
  std::function<std::string(std::span<const Slot> slots, unsigned in_bytes, unsigned out_bytes)>
      kernel;
  unsigned cases_in_kernel = 24;
  unsigned record_bytes = 4096;  ///< most that a lane's record may take
  /// Further arguments behind the two pointers, 32 bits each: operands that are the same in every
  /// lane. The kernel reads the last one if there are any.
  std::vector<uint32_t> constants = {};
  unsigned shared_bytes = 0;  ///< shared memory of a group
};

inline constexpr unsigned kGroup = 64;

/// Runs the cases on the device named by LANEWISE_TEST_DEVICE. One message for each case that went
/// wrong: its text, the first lane's inputs, what came and what should have.
std::vector<std::string> failures(const InstructionSet& set, std::span<const Case> cases);

/// failures() as failed checks of the current doctest case.
void check(const InstructionSet& set, std::span<const Case> cases);

}  // namespace values
