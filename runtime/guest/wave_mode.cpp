#include <algorithm>
#include <array>

#include "lanewise/types.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"auto", "lane", "packed", "serial"};

}  // namespace

std::string_view name(WaveMode mode) {
  return kNames[static_cast<size_t>(mode)];
}

std::optional<WaveMode> wave_mode_named(std::string_view text) {
  const auto* found = std::ranges::find(kNames, text);
  if (found == kNames.end()) return {};
  return static_cast<WaveMode>(found - kNames.begin());
}

}  // namespace lanewise
