// The passes that every program goes through before it is translated for a device.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// What is known of the launch that a program is made ready for.
struct PassOptions {
  /// Threads of a block, when the program is for blocks of this size alone.
  std::optional<std::array<uint32_t, 3>> block;
};

/// A pass changes what a program costs, never what it does: results, memory accesses with their
/// order, addresses, sites and trace points, faults, operations across lanes with the lanes that
/// take part, and the count of back edges stay.
struct Pass {
  const char* name;
  /// True when something has changed.
  bool (*run)(Program&, const PassOptions&);
};

/// The list, in the order of a round.
std::span<const Pass> passes();

/// Rounds of all passes until nothing changes, four at most. In debug builds verify() looks at the
/// program after each pass and throws Error; `after` is called there in all builds, for tests.
void optimise(Program& program, const PassOptions& options = {},
              const std::function<void(const Pass&, const Program&)>& after = {});
/// The same with other passes.
void run_passes(std::span<const Pass> list, Program& program, const PassOptions& options,
                const std::function<void(const Pass&, const Program&)>& after = {});

}  // namespace lanewise::ir
