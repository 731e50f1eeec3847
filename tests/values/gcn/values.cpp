// Runs the value cases of the three generations.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <span>

#include "tests/support/exclusions.hpp"
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
  static const std::set<std::string> rows = {"s_cmp_lt_i32",
                                             "s_cmp_ge_u32",
                                             "v_cmp_lt_i32_e64",
                                             "v_cmp_ge_u32_e64",
                                             "v_cmp_lt_f32_e64",
                                             "v_cmp_lg_f32_e64",
                                             "v_cmp_ge_f32_e64",
                                             "v_cmp_gt_i64_e64",
                                             "v_cmp_le_u64_e64",
                                             "flat_atomic_smin glc",
                                             "flat_atomic_dec glc",
                                             "flat_atomic_cmpswap glc",
                                             "flat_atomic_add",
                                             "flat_atomic_inc_x2",
                                             "flat_atomic_cmpswap_x2 glc",
                                             "ds_dec_rtn_u32",
                                             "ds_min_rtn_i32",
                                             "ds_cmpst_rtn_b32",
                                             "ds_add_u32",
                                             "buffer_atomic_fmin",
                                             "buffer_atomic_fcmpswap_x2",
                                             "v_mov_b32.dpp",
                                             "v_mac_f32.dpp",
                                             "v_mul_f32.sdwa",
                                             "v_add_u32.sdwa",
                                             "v_cmp_gt_f32.sdwa",
                                             "v_cndmask_b32.dpp",
                                             "v_or_b32.sdwa",
                                             "v_cmp_gt_f32.dpp",
                                             "v_cmp_nlt_f32_e64",
                                             "v_cmp_class_f32_e64",
                                             "v_cvt_f32_ubyte2_e64",
                                             "v_cvt_f16_f32_e64",
                                             "v_med3_f32",
                                             "v_med3_i32",
                                             "v_mad_f32",
                                             "v_msad_u8",
                                             "v_mul_f32_e64",
                                             "v_max_f32_e64",
                                             "v_min_i32_e64",
                                             "v_mul_hi_u32",
                                             "v_madmk_f32",
                                             "v_mul_legacy_f32_e64",
                                             "v_movrels_b32_e64",
                                             "v_mbcnt_lo_u32_b32",
                                             "v_mac_f32_e64",
                                             "v_cvt_u32_f32_e64",
                                             "v_cvt_f32_i32_e64",
                                             "v_mul_lo_u32"};
  return rows;
}
bool is_of_family(const std::string& row) {
  for (const char* start : {"s_cmp", "v_cmp", "v_cvt_", "v_sad", "v_m", "v_qsad", "v_min", "v_max",
                            "v_frexp", "v_ldexp", "flat_atomic", "buffer_atomic"})
    if (row.starts_with(start)) return true;
  const bool lds_atomic = row.starts_with("ds_") && !row.starts_with("ds_read") &&
                          !row.starts_with("ds_write") && row.find("perm") == std::string::npos &&
                          row != "ds_swizzle_b32";
  return lds_atomic || row.find('.') != std::string::npos;
}
/// Scalar instructions on numbers become the operations of vector ones.
bool is_scalar_number(const Case& c) {
  static const std::set<std::string> kChosen = {"s_addc_u32",
                                                "s_subb_u32",
                                                "s_sub_i32",
                                                "s_lshl_b64",
                                                "s_ashr_i64",
                                                "s_bfe_i32",
                                                "s_bfm_b32",
                                                "s_ff1_i32_b64",
                                                "s_bcnt1_i32_b64",
                                                "s_cselect_b64",
                                                "s_load_dwordx4",
                                                "s_store_dwordx2",
                                                "s_buffer_store_dwordx4",
                                                "s_min_i32",
                                                "s_cmp_lt_i32",
                                                "s_buffer_load_dwordx2"};
  return c.text.starts_with(";scalar") && !kChosen.contains(c.row);
}
bool is_left_to_others(const std::string& row) {
  static const auto kExcluded = lanewise::test::excluded_patterns("values_gcn", "row");
  return lanewise::test::is_excluded(kExcluded, row) ||
         !(lanewise::test::is_kept(kExcluded, row) || lanewise::test::lavapipes_turn(row));
}
/// Behind the front end the short encoding is the long one.
bool runs_on_devices(const Case& c, const std::set<std::string>& rows) {
  if (rows.contains(c.row + "_e64") || is_scalar_number(c) || is_left_to_others(c.row))
    return false;
  // Doubles and quotients become operations that other tests run on devices; these suffice here.
  static const std::set<std::string> kWide = {"v_fma_f64", "v_ldexp_f64", "v_cvt_i32_f64_e64",
                                              "v_div_fixup_f32"};
  if (c.doubles || c.row.starts_with("v_div_")) return kWide.contains(c.row);
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
  // The steps of a division are for kernels that keep subnormals.
  const auto divides = [](const Case& c) { return c.row.starts_with("v_div_"); };
  std::vector<Case> divisions;
  std::ranges::copy_if(cases, std::back_inserter(divisions), divides);
  std::erase_if(cases, divides);
  check(instruction_set(g), cases);
  if (!divisions.empty()) check(instruction_set(g, {false}), divisions);
}

}  // namespace

TEST_CASE("gcn values: every row of every generation") {
  std::set<std::string> seen;
  for (const Generation g : {kGfx8, kGfx6, kGfx7}) {
    CAPTURE(target_of(g));
    check_generation(g, seen);
  }
}

TEST_CASE("gcn values: f32 with subnormals, in the other rounding directions, without IEEE mode") {
  const Mode modes[] = {{false, 0}, {true, 3}, {false, 1}, {false, 2}, {false, 0, 3, false}};
  for (const Mode& mode : std::span(modes).first(on_reference() ? 5 : 2)) {
    CAPTURE(mode.flush);
    CAPTURE(mode.ieee);
    CAPTURE(mode.rounding);
    std::vector<Case> cases;
    vector_float::cases(kGfx7, mode, cases);
    compares::float_cases(kGfx7, mode, cases);
    functions::cases(kGfx7, mode, cases);
    doubles::cases(kGfx7, mode, cases);
    // Each instruction once: the long encoding, where there is one.
    std::set<std::string> rows;
    for (const Case& c : cases) rows.insert(c.row);
    std::erase_if(cases, [&](const Case& c) { return rows.contains(c.row + "_e64"); });
    static const std::set<std::string> kOnDevices = {
        "v_add_f32_e64", "v_mul_f32_e64",     "v_max_f32_e64",  "v_fma_f32",
        "v_mad_f32",     "v_cvt_f32_u32_e64", "v_ceil_f32_e64", "v_cmp_lt_f32_e64"};
    if (!on_reference())
      std::erase_if(cases, [](const Case& c) { return !kOnDevices.contains(c.row); });
    check(instruction_set(kGfx7, mode), cases);
  }
}

TEST_CASE("gcn values: output modifiers, in the modes that heed them and those that do not") {
  const auto run = [](Generation g, Mode mode) {
    CAPTURE(mode.ieee);
    CAPTURE(mode.flush);
    CAPTURE(mode.rounding);
    CAPTURE(mode.wide_subnormals);
    std::vector<Case> cases;
    modifiers::output_scale_cases(g, mode, cases);
    if (!on_reference())
      std::erase_if(cases, [](const Case& c) {
        return c.row != "v_mul_f32_e64" && c.row != "v_add_f16_e64" && c.row != "v_mac_f32_e64";
      });
    check(instruction_set(g, mode), cases);
  };
  run(kGfx8, {true, 0, 0, false});
  if (!on_reference()) return;
  for (const Generation g : {kGfx6, kGfx7, kGfx8}) {
    for (unsigned rounding = 0; rounding < 4; ++rounding)
      for (unsigned wide = 0; wide < 4; ++wide) run(g, {wide % 2 == 0, rounding, wide, false});
    run(g, {true, 0, 0, true});
    run(g, {false, 0, 3, true});
  }
}

TEST_CASE("gcn values: conditions as operands") {
  for (const Generation g : {kGfx6, kGfx7, kGfx8}) {
    std::vector<Case> cases;
    modifiers::condition_cases(g, cases);
    check(instruction_set(g), cases);
    if (!on_reference()) return;
  }
}

namespace {

/// The long encoding says it all.
void drop_other_forms(std::vector<Case>& cases) {
  std::set<std::string> rows;
  for (const Case& c : cases) rows.insert(c.row);
  std::erase_if(cases, [&](const Case& c) {
    return c.row.ends_with(".sdwa") || c.row.ends_with(".dpp") || rows.contains(c.row + "_e64");
  });
}

/// What the mode's fields for f64 and f16 bear on.
std::vector<Case> wide_cases(Generation g, Mode mode) {
  std::vector<Case> cases, others;
  doubles::cases(g, mode, cases);
  special::cases(g, mode, others);
  quotients::cases(mode, others);
  std::ranges::copy_if(others, std::back_inserter(cases),
                       [](const Case& c) { return c.row.find("_f32") == std::string::npos; });
  if (g == kGfx8) {
    halves::cases(mode, cases);
    special::half_cases(mode, cases);
  }
  drop_other_forms(cases);
  return cases;
}

/// The same of compares; no mode bears on classes.
std::vector<Case> wide_compare_cases(Generation g, Mode mode) {
  std::vector<Case> cases;
  compares::double_cases(g, mode, cases);
  if (g == kGfx8) compares::half_cases(mode, cases);
  compares::class_cases(g, cases);
  drop_other_forms(cases);
  return cases;
}

}  // namespace

TEST_CASE("gcn values: doubles and halves in every mode") {
  if (!on_reference()) return;
  for (const Generation g : {kGfx6, kGfx7, kGfx8}) {
    CAPTURE(target_of(g));
    std::vector<Mode> modes = {{true, 0, 3, false}};
    for (unsigned rounding = 0; rounding < 4; ++rounding)
      for (unsigned subnormals = 0; subnormals < 4; ++subnormals)
        modes.push_back({true, rounding, subnormals});
    for (const Mode& mode : modes) {
      CAPTURE(mode.wide_subnormals);
      CAPTURE(mode.rounding);
      check(instruction_set(g, mode), wide_cases(g, mode));
      check(instruction_set(g, mode), wide_compare_cases(g, mode));
    }
  }
}

TEST_CASE("gcn values: doubles while f32 has another mode") {
  if (!on_reference()) return;
  for (unsigned rounding = 0; rounding < 4; ++rounding)
    for (unsigned subnormals = 0; subnormals < 4; ++subnormals) {
      CAPTURE(subnormals);
      CAPTURE(rounding);
      Mode mode{false, rounding, subnormals};
      std::vector<Case> conversions;
      doubles::conversion_cases(mode, conversions);
      check(instruction_set(kGfx8, mode), conversions);
      mode.apart = true;
      std::vector<Case> cases = wide_cases(kGfx8, mode);
      std::erase_if(cases, [](const Case& c) { return c.row.find("f32") != std::string::npos; });
      check(instruction_set(kGfx8, mode), cases);
    }
}

TEST_CASE("gcn values: the steps of a division, and cubes, in every mode of f32") {
  std::vector<Mode> modes;
  for (unsigned rounding = 0; rounding < 4; ++rounding)
    for (const bool flush : {true, false}) modes.push_back({flush, rounding});
  // Lavapipe's compilers take seconds for each of these.
  if (!on_reference()) modes = {{false, 1, 2}, {true, 2, 1}};
  for (const Generation g : {kGfx8, kGfx6, kGfx7}) {
    CAPTURE(target_of(g));
    for (const Mode& mode : modes) {
      CAPTURE(mode.flush);
      CAPTURE(mode.rounding);
      std::vector<Case> cases;
      quotients::cases(mode, cases);
      if (on_reference()) special::cases(g, mode, cases);
      check(instruction_set(g, mode), cases);
    }
    if (!on_reference()) return;
  }
}

TEST_CASE("gcn values: atomics of floats heed no mode") {
  if (!on_reference()) return;
  const Mode other{false, 1, 0, false};
  for (const Generation g : {kGfx6, kGfx7, kGfx8}) {
    CAPTURE(target_of(g));
    std::vector<Case> cases;
    lds_atomics::cases(g, cases);
    memory::cases(g, cases);
    std::erase_if(cases, [](const Case& c) {
      return c.row.find("_f32") == std::string::npos && c.row.find("_f64") == std::string::npos &&
             c.row.find("atomic_f") == std::string::npos;
    });
    CHECK(cases.size() >= 8);
    check(instruction_set(g, other), cases);
  }
}
