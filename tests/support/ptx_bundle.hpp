// Many lines of PTX in one straight kernel, each with its own piece of every memory, so that one
// compilation runs dozens of table rows and what each of them did stays visible.
#pragma once

#include <string>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::test {

/// One instruction of the tables and the module it is legal in.
struct PtxRow {
  std::string text;
  std::string target = "sm_100", version = "9.0";
};

inline constexpr uint32_t kSlotBytes = 64;
inline constexpr uint32_t kBundleRows = 32;
inline constexpr uint32_t kBufferBytes = kSlotBytes * (kBundleRows + 32);  ///< gbuf, sbuf and lbuf
inline constexpr uint32_t kConstBytes = 1024;
/// The output: one word per row (a hash over every register written so far), then sbuf, then lbuf.
inline constexpr uint32_t kHashBytes = 4 * kBundleRows;
inline constexpr uint32_t kOutputBytes = kHashBytes + 2 * kBufferBytes;

/// The module text; parameters are kp0 (address of the output, whose first word is a seed) and the
/// 128 bytes kparr, the last 8 of which must be 0.
std::string bundle_text(const std::vector<PtxRow>& rows);

struct Bundle {
  ir::Program program;
  std::vector<size_t> refused;  ///< rows with a diagnostic; there is no program then
  std::vector<std::string> reasons;
};
/// Parses and lowers; gbuf, gvar and cbuf are bound to the addresses.
Bundle lower_bundle(const std::vector<PtxRow>& rows, uint64_t gbuf, uint64_t gvar, uint64_t cbuf);

}  // namespace lanewise::test
