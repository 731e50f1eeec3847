// The CPU engine: interprets the IR, a wave at a time where nobody can see that. Single-step
// capable.
#pragma once

#include <memory>

#include "runtime/guest/engine.hpp"

namespace lanewise::reference {

/// A lane's registers as they are now, by register id.
class Registers {
 public:
  virtual uint64_t operator[](uint32_t id) const = 0;

 protected:
  ~Registers() = default;
};

/// Called before each instruction when set: for `explain`, debuggers and traces.
struct Step {
  uint32_t group[3];
  uint32_t lane;
  uint32_t block, inst;
  const Registers& registers;  ///< until the hook returns
};
using StepHook = std::function<void(const Step&)>;

/// Called for each load, store and atomic that one lane carries out (or is refused).
struct Touch {
  uint32_t group[3];
  uint32_t lane;
  uint32_t block, inst;
  ir::Space space;   ///< as the instruction names it
  uint64_t address;  ///< in that space, after dropped low bits
  uint32_t bytes;
  bool write;       ///< a store or an atomic
  FaultKind fault;  ///< none: the bytes were touched
};
using TouchHook = std::function<void(const Touch&)>;

std::unique_ptr<Engine> make_engine(StepHook hook = {}, TouchHook touch = {});

}  // namespace lanewise::reference
