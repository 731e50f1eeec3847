// One kernel per instruction form serves every format: each work-group of 256 lanes takes its
// descriptor from a table, each lane one element. The literal oracle says what must come out.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/layout/addresses.hpp"
#include "tests/oracle/gcn_format.hpp"
#include "tests/support/devices.hpp"

namespace lanewise::test::formats {

namespace spec = lanewise::oracle::gcn;

constexpr uint32_t kGroup = 256;
constexpr uint32_t kIdentity = 4 | 5 << 3 | 6 << 6 | 7 << 9;

/// LANEWISE_FORMATS=full adds 10^6 random values for each format and direction.
inline bool full_run() {
  const char* asked = std::getenv("LANEWISE_FORMATS");
  return asked != nullptr && std::string_view(asked) == "full";
}

inline ir::Program lower_stream(const std::string& text, gcn::Gen gen) {
  const gcn::Listing listing = gcn::parse(text, gen);
  for (const Diagnostic& d : listing.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  gcn::LowerResult r = gcn::lower(listing);
  for (const Diagnostic& d : r.diagnostics)
    if (!d.warning) FAIL_CHECK(d.line << ": " << d.message);
  REQUIRE(r.module.kernels.size() == 1);
  return std::move(r.module.kernels[0]);
}

/// s[8:11]: the descriptor of this group, s[12:15]: elements of 16 bytes (results of loads, data of
/// stores), s[20:23]: bytes of the packed elements; v0: element of the group, v1: of the launch.
inline std::string frame(const std::string& body, gcn::Gen gen) {
  const bool vi = gen == gcn::Gen::gfx8;
  return fmt::format(
      "s_load_dwordx4 s[12:15], s[0:1], {}\ns_load_dwordx2 s[18:19], s[0:1], {}\n"
      "s_waitcnt lgkmcnt(0)\ns_lshl_b32 s17, s2, 4\ns_add_u32 s18, s18, s17\n"
      "s_addc_u32 s19, s19, 0\ns_load_dwordx4 s[8:11], s[18:19], 0\ns_lshl_b32 s16, s2, 8\n"
      "v_add_{} v1, vcc, s16, v0\ns_waitcnt lgkmcnt(0)\n{}s_endpgm\n",
      0, vi ? 16 : 4, vi ? "u32" : "i32", body);
}

using Words = std::vector<uint32_t>;

/// What one launch works on: a descriptor per group, memory behind them, 4 dwords per lane.
struct Batch {
  std::vector<std::array<uint32_t, 4>> descriptors;  ///< base counted from the start of `memory`
  Words memory;
  Words lanes;
  uint32_t groups = 0;  ///< 0: one for each descriptor
};
struct Done {
  Words memory, lanes;
  uint64_t faults = 0;
};

inline uint64_t whole_lines(uint64_t n) {
  return (n + 255) / 256 * 256;
}
/// Where the elements lie: the parameters and `descriptors` descriptors come first.
inline uint64_t memory_address(size_t descriptors) {
  return guest::kArenaBase + 256 + whole_lines(16 * descriptors);
}

inline Done run_batch(Engine& engine, const ir::Program& program, const Batch& b) {
  const uint64_t params = guest::kArenaBase, table = params + 256;
  const uint64_t memory = memory_address(b.descriptors.size());
  const uint64_t lanes = memory + whole_lines(4 * b.memory.size());
  engine.reserve(lanes + whole_lines(4 * b.lanes.size()) - guest::kArenaBase);
  auto descriptors = b.descriptors;
  for (auto& d : descriptors) d[0] += static_cast<uint32_t>(memory);
  const uint32_t block[] = {static_cast<uint32_t>(lanes), 16U << 16, 0xffffffff, 0x0000f000,
                            static_cast<uint32_t>(table), 0};
  engine.write(table, std::as_bytes(std::span(descriptors)));
  engine.write(memory, std::as_bytes(std::span(b.memory)));
  engine.write(lanes, std::as_bytes(std::span(b.lanes)));
  engine.write(params, std::as_bytes(std::span(block)));
  LaunchRequest request;
  request.program = &program;
  const auto groups = b.groups != 0 ? b.groups : static_cast<uint32_t>(b.descriptors.size());
  request.grid = {groups, 1, 1};
  request.block = {kGroup, 1, 1};
  request.params.resize(sizeof block);
  std::memcpy(request.params.data(), block, sizeof block);
  request.param_address = params;
  Done done{Words(b.memory.size()), Words(b.lanes.size()), engine.launch(request).fault_count};
  engine.read(memory, std::as_writable_bytes(std::span(done.memory)));
  engine.read(lanes, std::as_writable_bytes(std::span(done.lanes)));
  return done;
}

inline std::array<unsigned, 4> selectors(uint32_t select) {
  return {select & 7, select >> 3 & 7, select >> 6 & 7, select >> 9 & 7};
}
inline uint32_t stride_of(unsigned dfmt) {
  return std::max(spec::layout(dfmt).bytes, 4U);
}

/// Fails with the first difference; `what` is called for its text.
template <typename What>
void compare_words(const Words& got, const Words& want, const What& what) {
  REQUIRE(got.size() == want.size());
  size_t wrong = 0, first = 0;
  for (size_t n = got.size(); n-- > 0;)
    if (got[n] != want[n]) {
      ++wrong;
      first = n;
    }
  if (wrong != 0)
    FAIL_CHECK(fmt::format("{} words differ, first {}: {:08x}, oracle {:08x}; {}", wrong, first,
                           got[first], want[first], what(first)));
}

}  // namespace lanewise::test::formats
