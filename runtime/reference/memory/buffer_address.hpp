// GCN buffer addressing: from a 128-bit descriptor and the instruction's operands to a byte address
// and a range verdict, for GFX6 to GFX8. Pure functions; the formulas:
// docs/gcn-addressing.md.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/ir/ir.hpp"

namespace lanewise::reference {

/// The buffer descriptor's fields that decide addresses.
struct BufferDescriptor {
  uint64_t base;
  uint32_t stride, num_records;
  uint32_t element_size, index_stride;  ///< bytes and records, decoded
  uint32_t data_format, type;
  bool swizzle, add_tid;
};
BufferDescriptor decode_descriptor(const std::array<uint32_t, 4>& words);

struct BufferOperands {
  uint32_t index, offset, soffset;  ///< ADDR64: index and offset are the low and high address words
  uint32_t lane;                    ///< lane in the wave, 0..63
};
struct BufferAddress {
  uint64_t address;
  bool in_range;
};
BufferAddress buffer_address(const ir::BufferAccess& access, const std::array<uint32_t, 4>& words,
                             const BufferOperands& operands);

}  // namespace lanewise::reference
