// Every row of the table, on every generation that has it, has what it claims.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "runtime/isa/gcn/gcn.hpp"
#include "tests/values/claims.hpp"
#include "tests/values/gcn/gcn.hpp"

using namespace values;
using namespace values::gcn;
namespace isa_gcn = lanewise::gcn;

namespace {

/// The name, with _e64 for the long encoding and glc for atomics that return.
std::string row_key(const isa_gcn::Row& r) {
  const bool returns = r.encoding == isa_gcn::Encoding::flat && r.meaning.returns;
  return r.name + (r.e64 ? "_e64" : "") + (returns ? " glc" : "");
}

std::vector<TableRow> table_rows(Generation g) {
  std::vector<TableRow> out;
  std::map<std::string, TableRow> lane_forms;
  for (const isa_gcn::Row& r : isa_gcn::rows()) {
    if (r.opcode[g] < 0) continue;
    out.push_back({row_key(r), r.claim, r.lower != nullptr});
    if (g != kGfx8) continue;
    for (const isa_gcn::LaneFormClaim& f : isa_gcn::lane_form_claims(r))
      lane_forms[f.form] = {f.form, f.claim, f.claim != lanewise::isa::Claim::none};
  }
  for (const auto& [name, row] : lane_forms) out.push_back(row);
  return out;
}

/// Untyped buffer accesses and integer atomics: streams of random ones against an oracle, by name.
void add_streams(std::vector<Elsewhere>& all) {
  const auto add = [&](const std::string& row, const std::string& part) {
    all.push_back({row, "fuzz/streams/family_gcn.cpp", '"' + part + '"',
                   "addresses, limits and EXEC matter: random streams against an oracle"});
  };
  for (const char* load :
       {"ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx2", "dwordx3", "dwordx4"})
    add(std::string("buffer_load_") + load, load);
  for (const char* store : {"byte", "short", "dword", "dwordx2", "dwordx3", "dwordx4"})
    add(std::string("buffer_store_") + store, store);
  for (const char* atomic : {"swap", "cmpswap", "add", "sub", "rsub", "smin", "umin", "smax",
                             "umax", "and", "or", "xor", "inc", "dec"}) {
    add(std::string("buffer_atomic_") + atomic, atomic);
    add(std::string("buffer_atomic_") + atomic + "_x2", atomic);
  }
}

/// What has no value of its own to show. Generations that lack a row leave its line out.
std::vector<Elsewhere> elsewhere(const std::vector<TableRow>& rows) {
  const std::string typed = "typed accesses: random streams against an oracle of every format",
                    caches = "changes what caches hold: stale values that it ends";
  std::vector<Elsewhere> all = {
      {"tbuffer_*", "fuzz/streams/family_gcn_format.cpp", "f_.mtbuf ? \"t\"", typed},
      {"buffer_load_format_*", "fuzz/streams/family_gcn_format.cpp", "buffer_{}_format_", typed},
      {"buffer_store_format_*", "fuzz/streams/family_gcn_format.cpp", "buffer_{}_format_", typed},
      {"buffer_store_lds_dword", "unit/gcn/buffer_run.cpp", "buffer_store_lds_dword",
       "from LDS to memory, at an address that M0 gives"},
      {"buffer_wbinvl1", "conformance/gcn_cache.lw", "(gfx600, buffer_wbinvl1)", caches},
      {"buffer_wbinvl1_sc", "conformance/gcn_cache.lw", "(gfx600, buffer_wbinvl1_sc)", caches},
      {"buffer_wbinvl1_vol", "conformance/gcn_cache.lw", "(gfx700, buffer_wbinvl1_vol)", caches},
      {"s_dcache_inv", "conformance/gcn_cache.lw", "(gfx600, s_dcache_inv,", caches},
      {"s_dcache_inv_vol", "conformance/gcn_cache.lw", "(gfx700, s_dcache_inv_vol,", caches},
      {"s_dcache_wb", "conformance/gcn_cache.lw", "(gfx800, s_dcache_wb,", caches},
      {"image_*", "unit/gcn/images.cpp", "image_load",
       "descriptors and texels: random ones against tests/oracle/gcn_image.hpp"},
      {"s_barrier", "conformance/gcn_buffer_flags.lw", "s_barrier",
       "order between waves: LDS that one wave writes and another reads"},
      {"ds_gws_barrier", "kernels/gcn_grid_barrier.cpp", "ds_gws_barrier",
       "order between waves and groups: memory that one writes and another reads"},
      {"s_waitcnt", "values/gcn/kernel.cpp", "s_waitcnt vmcnt(0)",
       "no value: every kernel of these cases waits"},
      {"s_nop", "conformance/gcn_cache.lw", "(gfx600, s_nop 0,", "does nothing"},
      {"s_getpc_b64", "unit/gcn/calls.cpp", "s_getpc_b64", "data and functions are found by it"},
      {"s_setpc_b64", "unit/gcn/calls.cpp", "s_setpc_b64", "functions come back"},
      {"s_swappc_b64", "unit/gcn/calls.cpp", "s_swappc_b64", "functions are called"},
      {"s_getreg_b32", "unit/gcn/machine.cpp", "s_getreg_b32", "a kernel reads what it set"},
      {"s_setreg_b32", "unit/gcn/machine.cpp", "s_setreg_b32", "arithmetic behind it rounds so"},
      {"s_setreg_imm32_b32", "unit/gcn/machine.cpp", "s_setreg_imm32_b32", "the same"},
      {"s_memtime", "unit/gcn/machine.cpp", "s_memtime", "a clock that grows"},
      {"s_memrealtime", "unit/gcn/machine.cpp", "s_memrealtime", "a clock that grows"},
      {"s_trap", "unit/gcn/machine.cpp", "s_trap", "a fault"},
      {"s_sethalt", "unit/gcn/machine.cpp", "s_sethalt", "a fault, or nothing"},
      {"s_dcache_wb_vol", "unit/gcn/machine.cpp", "s_dcache_wb_vol", "as s_dcache_wb"},
      {"s_endpgm", "values/gcn/kernel.cpp", "s_endpgm", "ends every kernel of these cases"}};
  for (const char* quiet :
       {"s_sleep", "s_setprio", "s_incperflevel", "s_decperflevel", "s_icache_inv", "s_ttracedata",
        "s_wakeup", "s_atc_probe", "s_atc_probe_buffer", "v_nop", "v_clrexcp", "ds_nop"})
    for (const char* form : {"", "_e64"})
      all.push_back({std::string(quiet) + form, "unit/gcn/machine.cpp", quiet,
                     "a kernel full of them computes what it does without them"});
  add_streams(all);
  std::erase_if(all, [&](const Elsewhere& e) {
    return std::ranges::none_of(rows, [&](const TableRow& r) {
      return e.row.ends_with('*') ? r.key.starts_with(e.row.substr(0, e.row.size() - 1))
                                  : r.key == e.row;
    });
  });
  return all;
}

}  // namespace

TEST_CASE("gcn rows: each generation's rows have their cases") {
  for (const Generation g : {kGfx6, kGfx7, kGfx8}) {
    CAPTURE(target_of(g));
    const std::vector<TableRow> rows = table_rows(g);
    CHECK(rows.size() > 300);
    for (const std::string& c : complaints(rows, all_cases(g), elsewhere(rows), LANEWISE_TEST_DATA))
      FAIL_CHECK(c);
  }
}

TEST_CASE("gcn rows: a case that is taken out is missed") {
  const std::vector<TableRow> rows = table_rows(kGfx8);
  std::vector<Case> cases = all_cases(kGfx8);
  for (const std::string row : {"v_mul_f32_e64", "s_bfe_i32", "ds_permute_b32", "v_or_b32.dpp"}) {
    std::vector<Case> fewer = cases;
    std::erase_if(fewer, [&](const Case& c) { return c.row == row; });
    REQUIRE(fewer.size() < cases.size());
    const auto found = complaints(rows, fewer, elsewhere(rows), LANEWISE_TEST_DATA);
    CHECK(found == std::vector<std::string>{row + ": has no value case"});
  }
}
