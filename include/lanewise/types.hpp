// Small types shared by the public API and the engines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lanewise {

/// Sizes in x, y, z. Grids count work-groups, blocks count threads of one group.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t total() const { return uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

/// What a lane did wrong. The lane's faulting load returns 0, its faulting store is dropped, and it
/// runs on; the first fault of each lane is what gets reported.
enum class FaultKind : uint8_t {
  none,
  out_of_range,         ///< outside every mapped range
  misaligned,           ///< not a multiple of the access size, and the policy says trap
  null,                 ///< inside the unmapped first 64 KiB
  illegal_instruction,  ///< e.g. an indirect call to something that is no function
  illegal_encoding,
  step_budget,  ///< more loop iterations than the launch allows
  stack_overflow,
  barrier_divergence,  ///< waits at a barrier that its partners never reach
  write_to_read_only,
  trap,           ///< the guest asked for it (PTX trap, SASS BPT.TRAP)
  uninitialised,  ///< a read of bytes that nobody wrote (--check init)
  /// Packed mode: lanes of an operation's member mask stand elsewhere, and it would have to wait
  /// for them. The low word of the address names these, the high word the lanes that have come.
  wave_divergence,
  data_race,        ///< two accesses that nothing orders, one a store (--check race)
  order_dependent,  ///< results differ between two orders of lanes (--schedule search:N)
};

namespace detail {
/// In the order of FaultKind.
inline constexpr std::array<std::string_view, 15> kFaultNames = {"none",
                                                                 "out_of_range",
                                                                 "misaligned",
                                                                 "null",
                                                                 "illegal_instruction",
                                                                 "illegal_encoding",
                                                                 "step_budget",
                                                                 "stack_overflow",
                                                                 "barrier_divergence",
                                                                 "write_to_read_only",
                                                                 "trap",
                                                                 "uninitialised",
                                                                 "wave_divergence",
                                                                 "data_race",
                                                                 "order_dependent"};
/// In the order of WaveMode.
inline constexpr std::array<std::string_view, 4> kWaveNames = {"auto", "lane", "packed", "serial"};
}  // namespace detail

inline std::string_view name(FaultKind kind) {
  const auto n = static_cast<size_t>(kind);
  return n < detail::kFaultNames.size() ? detail::kFaultNames[n] : "unknown";
}
/// The inverse; none for text that names nothing.
inline std::optional<FaultKind> fault_kind_named(std::string_view text) {
  for (size_t i = 0; i < detail::kFaultNames.size(); ++i)
    if (detail::kFaultNames[i] == text) return static_cast<FaultKind>(i);
  return {};
}

/// What every access must lie in. alloc: one allocation, and that which the pointer parameter
/// points into where the address is surely computed from one parameter; arena: the guest arena, so
/// that a buffer may run into its neighbour; off: nothing is checked, and a wrong address may end
/// the process.
enum class Memcheck : uint8_t { arena, alloc, off };

/// How guest lanes map to invocations; see docs/execution.md.
enum class WaveMode : uint8_t {
  automatic,
  lane,    ///< a lane each
  packed,  ///< the lanes of a wave together, over neighbouring invocations
  serial,  ///< an invocation carries a wave and runs its lanes one after another
};
/// auto, lane, packed, serial
inline std::string_view name(WaveMode mode) {
  return detail::kWaveNames[static_cast<size_t>(mode)];
}
inline std::optional<WaveMode> wave_mode_named(std::string_view text) {
  for (size_t i = 0; i < detail::kWaveNames.size(); ++i)
    if (detail::kWaveNames[i] == text) return static_cast<WaveMode>(i);
  return {};
}

}  // namespace lanewise
