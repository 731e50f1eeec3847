// The shader library as words: every function links alone, in every variant, to a valid module.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <spirv-tools/libspirv.hpp>
#include <spirv/unified1/spirv.hpp>

#include "runtime/spirv/binary/library.hpp"
#include "runtime/support/error.hpp"
#include "tests/support/library_kernel.hpp"

using namespace lanewise;
using namespace lanewise::spirv::library;

namespace {

std::string validate(const std::vector<uint32_t>& words, spv_target_env env) {
  std::string message;
  spvtools::SpirvTools tools(env);
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&,
                               const char* text) { message += text; });
  return tools.Validate(words) ? "" : message + " (rejected)";
}

size_t count(const std::vector<uint32_t>& words, spv::Op op) {
  size_t n = 0;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) n += (words[at] & 0xffff) == op;
  return n;
}

size_t global_variables(const std::vector<uint32_t>& words) {
  size_t n = 0;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16)
    n += (words[at] & 0xffff) == spv::OpVariable && words[at + 3] != spv::StorageClassFunction;
  return n;
}

}  // namespace

TEST_CASE("every library function can be cut out of every variant, and is valid") {
  REQUIRE(functions().size() > 300);
  for (const Variant variant : kVariants) {
    std::vector<std::string> all;
    for (const Signature& s : functions()) {
      CAPTURE(name(variant));
      CAPTURE(s.name);
      CHECK(validate(trim({s.name}, variant), SPV_ENV_UNIVERSAL_1_3) == "");
      all.push_back(s.name);
    }
    CHECK(validate(trim(all, variant), SPV_ENV_UNIVERSAL_1_3) == "");
  }
}

TEST_CASE("linked and frozen modules are valid for Vulkan") {
  for (const Variant variant : kVariants) {
    const spv_target_env env = variant == Variant::t0 ? SPV_ENV_VULKAN_1_1 : SPV_ENV_VULKAN_1_2;
    for (const char* function :
         {"lw_ffma_f64", "lw_get_generic_128_align4", "lw_put_generic_16_aligned",
          "lw_atom_generic_add_f64", "lw_atom_shared_cas_u64", "lw_get_param_64_aligned",
          "lw_refill", "lw_div_s64", "lw_barrier", "lw_buffer_address", "lw_fsin_approx_f32",
          "lw_get_local_8_aligned", "lw_f2i_s64_f16"}) {
      CAPTURE(name(variant));
      CAPTURE(function);
      const auto linked = link(test::caller_of(function, variant, true), variant);
      CHECK(validate(linked, env) == "");
      const auto frozen = freeze(linked, {{lanes, 4}, {local_words, 8}});
      CHECK(validate(frozen, env) == "");
      CHECK(count(frozen, spv::OpSpecConstant) == 0);
      CHECK(count(frozen, spv::OpSpecConstantOp) == 0);
    }
  }
}

TEST_CASE("signatures") {
  REQUIRE(find("lw_ffma_f32") != nullptr);
  CHECK(find("lw_ffma_f32")->params == std::vector<Kind>(4, Kind::u32));
  CHECK(find("lw_ffma_f32")->result == Kind::u32);
  CHECK(find("lw_mulwide_s32")->result == Kind::b64);
  CHECK(find("lw_icmp_s64")->params == std::vector{Kind::b64, Kind::b64, Kind::u32});
  CHECK(find("lw_icmp_s64")->result == Kind::pred);
  CHECK(find("lw_get_global_128_aligned")->params == std::vector{Kind::b64});
  CHECK(find("lw_get_global_128_aligned", Variant::t0)->params == std::vector{Kind::u32});
  CHECK(find("lw_get_global_128_aligned")->result == Kind::vec4);
  CHECK(find("lw_put_shared_64_aligned")->params == std::vector{Kind::u32, Kind::vec2});
  CHECK(find("lw_put_shared_64_aligned")->result == Kind::none);
  CHECK(find("lw_ffma_f3") == nullptr);
  CHECK(find("add64") == nullptr);
  CHECK_THROWS_AS(trim({"lw_nothing"}, Variant::t0), Error);
}

TEST_CASE("only what a body reaches is linked") {
  const auto shift = link(test::caller_of("lw_shl_u32", Variant::t1, false), Variant::t1);
  CHECK(count(shift, spv::OpFunction) == 2);
  CHECK(global_variables(shift) == 4);  // the caller's own
  const auto fma = link(test::caller_of("lw_ffma_f32", Variant::t1, false), Variant::t1);
  CHECK(count(fma, spv::OpFunction) > 5);
  CHECK(count(fma, spv::OpFunction) < 45);
}

TEST_CASE("cutting the library is fast") {
  trim({"lw_popc_u32"}, Variant::t2);  // takes the library apart
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    trim({"lw_get_generic_32_aligned", "lw_put_global_32_aligned", "lw_ffma_f32", "lw_begin"},
         Variant::t2);
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                  .count());
  }
  MESSAGE("trim: " << best << " ms");
  CHECK(best < 50);  // 5 ms on a quiet machine; the bound allows for a loaded one
}

TEST_CASE("variants follow the device's features") {
  lanewise::spirv::Target t;
  CHECK(variant_for(t) == Variant::t0);
  t.int64 = t.bda = t.storage8 = true;
  CHECK(variant_for(t) == Variant::t0);  // no 16-bit storage
  t.storage16 = true;
  CHECK(variant_for(t) == Variant::t1);
  t.float64 = true;
  CHECK(variant_for(t) == Variant::t1f);
  t.int64_atomics = true;
  CHECK(variant_for(t) == Variant::t2);
  t.float64 = false;
  CHECK(variant_for(t) == Variant::t1a);
}

TEST_CASE("freezing gives array lengths and constants their values") {
  const auto linked =
      link(test::caller_of("lw_get_local_32_aligned", Variant::t0, true), Variant::t0);
  CHECK(count(linked, spv::OpSpecConstant) > 0);
  const auto frozen = freeze(linked, {{local_words, 6}, {lanes, 8}});
  bool found = false;
  for (size_t at = 5; at < frozen.size(); at += frozen[at] >> 16)
    found = found || ((frozen[at] & 0xffff) == spv::OpConstant && frozen[at + 3] == 48);
  CHECK(found);
}
