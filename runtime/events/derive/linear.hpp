// What instructions compute when their sources are linear in the lane's place.
#pragma once

#include <functional>
#include <span>

#include "runtime/events/derive/form.hpp"
#include "runtime/ir/ir.hpp"

namespace lanewise::events {

/// A question whose answer differs between the lanes of a launch: is the sum below 0, or is it 0?
/// The sum is exact (Exact::form).
struct Test {
  Form form;
  bool is_zero = false;  ///< else: is it below 0?

  bool at(const Place& place) const {
    const auto value = static_cast<int64_t>(form.at(place));
    return is_zero ? value == 0 : value < 0;
  }
  bool operator==(const Test&) const = default;
};

/// What is known of a register. Predicates that all lanes agree about are forms, 0 or 1.
struct Value {
  enum class Kind : uint8_t { unknown, form, test };
  Kind kind = Kind::unknown;
  bool negated = false;  ///< of a test
  Form form;
  Test test;

  static Value of(const Form& f) { return {Kind::form, false, f, {}}; }
  static Value of(bool b) { return of(Form::of(b ? 1 : 0)); }
  static Value of(const Test& t, bool negated) { return {Kind::test, negated, {}, t}; }
  bool is_constant() const { return kind == Kind::form && form.is_constant(); }
};
using Results = std::array<Value, 2>;

/// The answer for the lanes that are followed; nothing when nobody has asked yet.
using Decide = std::function<std::optional<bool>(const Test&)>;

/// Moves, integers, logic and compares; the results of all else are unknown. Sources that are
/// predicates are constants. `decide` is asked by min and max.
Results linear_results(const ir::Inst& inst, std::span<const Form> sources, const Extents& extents,
                       const Decide& decide);

}  // namespace lanewise::events
