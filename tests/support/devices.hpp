// The engines that a conformance test runs on, one after another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/guest/engine.hpp"

namespace lanewise::test {

struct TestEngine {
  std::string label;  ///< "reference", "lavapipe", "swiftshader", "lavapipe25"
  std::shared_ptr<Engine> engine;
};

/// The reference engine first, then lavapipe and every other software driver, opened once per
/// process, validation layer on. A driver that is missing throws, unless
/// LANEWISE_ALLOW_MISSING_DEVICES=1 leaves it out.
const std::vector<TestEngine>& test_engines();

/// What a --device option names: "all" of them, one by its label, or any other device of this
/// machine by a selector, which is opened without the validation layer.
std::vector<TestEngine> engines_named(const std::string& device);

/// The reference engine and one of the others, at each call the next: the drivers' compilers take
/// most of the time, so the cases of a test share them. LANEWISE_TEST_EVERY_DEVICE=1 gives them
/// all.
std::vector<TestEngine> engines_in_turn();

/// Warnings and errors of the validation layer so far; a test ends with CHECK(... == 0).
unsigned validation_messages();

}  // namespace lanewise::test
