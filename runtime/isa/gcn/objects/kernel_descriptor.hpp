// A kernel's descriptor: as bytes, and as the block .amdhsa_kernel of assembly files, one field a
// line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "runtime/isa/gcn/objects/metadata.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// The descriptor's bytes in the words of the directives. `old`: the header in front of the code,
/// before version 3 and under Mesa. Throws ElfError where bytes are missing.
AmdhsaValues descriptor_values(std::span<const std::byte> bytes, bool old);

class KernelDescriptorBlock {
 public:
  /// `xnack`: the target can have it, so that .amdhsa_reserve_xnack_mask may be 1.
  KernelDescriptorBlock(Gen gen, bool xnack) : gen_(gen), xnack_(xnack) {}

  /// `.amdhsa_NAME value`: each at most once, as wide as its field. Throws SyntaxError.
  std::string line(Cursor& in);
  /// Fields that must be there, and those that must fit together. Throws SyntaxError.
  void end() const;
  const AmdhsaValues& values() const { return values_; }

 private:
  uint64_t value(std::string_view name, uint64_t otherwise) const;
  void check_registers() const;

  Gen gen_;
  bool xnack_;
  AmdhsaValues values_;
  unsigned user_registers_ = 0;  ///< that its fields ask for
};

}  // namespace lanewise::gcn
