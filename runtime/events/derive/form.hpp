// Integers that are linear in the place of a lane: constant + sum of factor * coordinate.
//
// Registers wrap, so a form stands for a class of integers, one for each multiple of 2^bits. Linear
// operations need nothing more. What looks at the value itself (a widening, a compare, a shift to
// the right) asks for its one integer between two bounds, which the coordinates' extents decide.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace lanewise::events {

/// What forms are linear in. Where waves are rows of a block or parts of rows, tid.x is the lane's
/// place in its wave plus a wave's lanes for each wave before it in the row; else that is one wave.
enum class Coordinate : uint8_t { x, y, z, wave, ctaid_x, ctaid_y, ctaid_z };
inline constexpr size_t kCoordinates = 7;
/// Of one lane.
using Place = std::array<int64_t, kCoordinates>;

struct Form {
  uint64_t constant = 0;
  std::array<int64_t, kCoordinates> factor{};

  static Form of(uint64_t constant) { return {constant, {}}; }
  bool is_constant() const { return factor == std::array<int64_t, kCoordinates>{}; }
  /// Wraps at 2^64, as addresses do.
  uint64_t at(const Place& place) const {
    uint64_t sum = constant;
    for (size_t i = 0; i < kCoordinates; ++i)
      sum += static_cast<uint64_t>(factor[i]) * static_cast<uint64_t>(place[i]);
    return sum;
  }
  bool operator==(const Form&) const = default;
};

/// A form whose sum is the value itself, with no multiple of 2^bits left out, and the least and the
/// greatest value of a launch. All of them fit 62 bits: sums of two do not wrap.
struct Exact {
  Form form;
  int64_t low = 0, high = 0;
};

Form sum(const Form& a, const Form& b);
Form scaled(const Form& a, uint64_t by);
inline Form negated(const Form& a) {
  return scaled(a, ~uint64_t{0});
}
/// The same register bits, with the factors nearest to 0.
Form cut(const Form& a, unsigned bits);

/// Numbers of a launch: what a coordinate is at most.
class Extents {
 public:
  explicit Extents(const Place& counts) : counts_(counts) {}
  int64_t count(Coordinate c) const { return counts_[static_cast<size_t>(c)]; }
  /// The value as an unsigned or a signed integer of so many bits (32, 64); nothing when it passes
  /// from one end of these to the other within the launch.
  std::optional<Exact> as_unsigned(const Form& a, unsigned bits) const;
  std::optional<Exact> as_signed(const Form& a, unsigned bits) const;
  /// Bounds of the sum as it stands; nothing when they do not fit 62 bits.
  std::optional<Exact> bounded(const Form& a) const;

 private:
  std::optional<Exact> between(const Form& a, unsigned bits, int64_t least, int64_t most) const;
  Place counts_;
};

/// The low bits that are the same for every lane: all factors are multiples of 2^n.
unsigned even_bits(const Form& a);

}  // namespace lanewise::events
