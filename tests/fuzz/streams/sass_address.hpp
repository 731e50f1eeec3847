// What Maxwell's instructions with an address in registers have in common: guard, address operand,
// four data registers.
#pragma once

#include "tests/fuzz/streams/model.hpp"
#include "tests/oracle/sass_address.hpp"

namespace lanewise::fuzz {

struct SassAddress {
  bool extended = false, absolute = false;
  unsigned field_bits = 24;
  unsigned guard = 0;  ///< none, @P, @!P
  int64_t offset = 0;
};

/// An offset of so many bits, with a liking for the ends.
int64_t random_sass_offset(Random& random, unsigned field_bits);

/// Values: low and high address register, guard, four data registers.
class SassInstruction : public Instruction {
 public:
  std::vector<Value> in(unsigned place) const override;
  unsigned outputs() const override { return 4; }
  void draw(Random& random, const Region& region, std::span<Lane> wave) const override;
  void redraw(Random& random, const Region& region, std::span<Lane> wave,
              size_t lane) const override;
  void disable(std::span<Lane> wave, size_t lane) const override;
  void move(Lane& lane, int64_t delta) const override;

 protected:
  explicit SassInstruction(const SassAddress& address) : a_(address) {}
  virtual unsigned bytes() const = 0;
  bool enabled(const Lane& lane) const {
    return a_.guard == 0 || (lane.in[2] != 0) == (a_.guard == 1);
  }
  uint64_t effective(const Lane& lane) const;
  std::string guard_text(unsigned place) const;
  std::string address_text(unsigned place) const;
  /// The same operand with less to it.
  std::vector<SassAddress> simpler_addresses() const;

  SassAddress a_;

 private:
  void aim(Lane& lane, uint64_t address) const;
  void outside(Random& random, Lane& lane) const;
};

}  // namespace lanewise::fuzz
