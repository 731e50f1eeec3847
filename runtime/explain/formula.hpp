// Where a value comes from, as text with numbers: `R3:R2 (0x10000010) + 0x4`.
#pragma once

#include <string>

#include "runtime/explain/recorder.hpp"

namespace lanewise::explain {

/// As many digits as its width has; short decimal numbers stay short.
std::string hex(uint64_t value, bool wide);
/// The number as an address or an operand: small ones in decimal.
std::string number(uint64_t value);

class Formula {
 public:
  Formula(const ir::Program& program, const Visit& visit) : program_(program), visit_(visit) {}

  /// Operand n of step k, with its value.
  std::string operand(size_t k, size_t n) const { return operand(k, n, 0); }
  /// What step k computes.
  std::string result(size_t k) const { return expand(k, 0, 0); }
  /// The step of this visit that made operand n of step k; none = it was there before.
  std::optional<size_t> maker(size_t k, size_t n) const;
  std::string register_name(ir::Reg reg) const { return program_.regs[reg.id].name; }

 private:
  std::string operand(size_t k, size_t n, unsigned depth) const;
  std::string expand(size_t k, size_t which, unsigned depth) const;
  std::string pair(size_t k, unsigned depth) const;
  bool is_wide(const ir::Operand& o) const;

  const ir::Program& program_;
  const Visit& visit_;
};

}  // namespace lanewise::explain
