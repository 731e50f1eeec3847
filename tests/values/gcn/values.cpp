// Runs the value cases of the three generations.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <span>

#include "tests/values/gcn/gcn.hpp"

using namespace values;
using namespace values::gcn;

namespace {

bool on_reference() {
  const char* wanted = std::getenv("LANEWISE_TEST_DEVICE");
  return wanted == nullptr || std::strcmp(wanted, "reference") == 0;
}

/// Families whose members differ in one field of one IR operation, which other tests run on
/// devices: of each one, devices run these.
const std::set<std::string>& chosen_members() {
  static const std::set<std::string> rows = {
      "s_cmp_lt_i32",         "s_cmp_ge_u32",        "v_cmp_lt_i32_e64",
      "v_cmp_ge_u32_e64",     "v_cmp_lt_f32_e64",    "v_cmp_lg_f32_e64",
      "v_cmp_ge_f32_e64",     "v_cmp_gt_i64_e64",    "v_cmp_le_u64_e64",
      "flat_atomic_smin glc", "flat_atomic_dec glc", "flat_atomic_cmpswap glc",
      "flat_atomic_add",      "flat_atomic_inc_x2",  "flat_atomic_cmpswap_x2 glc",
      "ds_dec_rtn_u32",       "ds_min_rtn_i32",      "ds_cmpst_rtn_b32",
      "ds_add_u32",           "buffer_atomic_fmin",  "buffer_atomic_fcmpswap_x2",
      "v_mov_b32.dpp",        "v_mac_f32.dpp",       "v_mul_f32.sdwa",
      "v_add_u32.sdwa",       "v_cmp_gt_f32.sdwa",   "v_cndmask_b32.dpp",
      "v_or_b32.sdwa"};
  return rows;
}
bool is_of_family(const std::string& row) {
  for (const char* start : {"s_cmp", "v_cmp", "flat_atomic", "buffer_atomic"})
    if (row.starts_with(start)) return true;
  const bool lds_atomic = row.starts_with("ds_") && !row.starts_with("ds_read") &&
                          !row.starts_with("ds_write") && row.find("perm") == std::string::npos &&
                          row != "ds_swizzle_b32";
  return lds_atomic || row.find('.') != std::string::npos;
}
/// Scalar instructions on numbers become the operations of vector ones.
bool is_scalar_number(const Case& c) {
  static const std::set<std::string> kChosen = {
      "s_addc_u32",     "s_subb_u32", "s_sub_i32",     "s_lshl_b64",           "s_ashr_i64",
      "s_bfe_i32",      "s_bfm_b32",  "s_ff1_i32_b64", "s_bcnt1_i32_b64",      "s_cselect_b64",
      "s_load_dwordx4", "s_min_i32",  "s_cmp_lt_i32",  "s_buffer_load_dwordx2"};
  return c.text.starts_with(";scalar") && !kChosen.contains(c.row);
}
/// Behind the front end the short encoding is the long one.
bool runs_on_devices(const Case& c, const std::set<std::string>& rows) {
  if (rows.contains(c.row + "_e64") || is_scalar_number(c)) return false;
  return !is_of_family(c.row) || chosen_members().contains(c.row);
}

/// Devices run each row once: the generations share everything behind the front end.
void check_generation(Generation g, std::set<std::string>& seen) {
  std::vector<Case> cases = all_cases(g);
  std::set<std::string> rows;
  for (const Case& c : cases) rows.insert(c.row);
  if (!on_reference())
    std::erase_if(cases,
                  [&](const Case& c) { return seen.contains(c.row) || !runs_on_devices(c, rows); });
  seen.insert(rows.begin(), rows.end());
  check(instruction_set(g), cases);
}

}  // namespace

TEST_CASE("gcn values: every row of every generation") {
  std::set<std::string> seen;
  for (const Generation g : {kGfx8, kGfx6, kGfx7}) {
    CAPTURE(target_of(g));
    check_generation(g, seen);
  }
}

TEST_CASE("gcn values: f32 with subnormals, and in the other rounding directions") {
  const Mode modes[] = {{false, 0}, {true, 3}, {false, 1}, {false, 2}};
  for (const Mode& mode : std::span(modes).first(on_reference() ? 4 : 2)) {
    CAPTURE(mode.flush);
    CAPTURE(mode.rounding);
    std::vector<Case> cases;
    float_cases(kGfx6, mode, cases);
    float_compare_cases(kGfx6, mode, cases);
    // Each instruction once: the long encoding, where there is one.
    std::set<std::string> rows;
    for (const Case& c : cases) rows.insert(c.row);
    std::erase_if(cases, [&](const Case& c) { return rows.contains(c.row + "_e64"); });
    static const std::set<std::string> kOnDevices = {
        "v_add_f32_e64", "v_mul_f32_e64",     "v_max_f32_e64",  "v_fma_f32",
        "v_mad_f32",     "v_cvt_f32_u32_e64", "v_ceil_f32_e64", "v_cmp_lt_f32_e64"};
    if (!on_reference())
      std::erase_if(cases, [](const Case& c) { return !kOnDevices.contains(c.row); });
    check(instruction_set(kGfx6, mode), cases);
  }
}
