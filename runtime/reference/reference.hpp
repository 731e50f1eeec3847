// The literal CPU engine: interprets the IR lane by lane. Slow, obvious, single-step capable.
#pragma once

#include <memory>

#include "runtime/guest/engine.hpp"

namespace lanewise::reference {

/// Called before each instruction when set: for `explain`, debuggers and traces.
struct Step {
  uint32_t group[3];
  uint32_t lane;
  uint32_t block, inst;
};
using StepHook = std::function<void(const Step&)>;

std::unique_ptr<Engine> make_engine(StepHook hook = {});

}  // namespace lanewise::reference
