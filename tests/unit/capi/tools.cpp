// The C API beside launches: translator, assembler, coverage, cache tracker.
#include <cstring>
#include <filesystem>

#include "tests/unit/capi/support.hpp"

using namespace capi_test;
using api_test::kScale;

TEST_CASE("C: IR and SPIR-V of a kernel") {
  const Device device = open();
  const Kernel k = kernel(load(device, kScale));
  const lw_launch_options o = options(1, 64);
  const auto emit = [&](uint32_t what, const lw_launch_options* given) {
    return made<Blob>([&](auto out) { return lw_kernel_translate(k.get(), given, what, out); });
  };
  CHECK(text(emit(LW_EMIT_IR, nullptr)).find("ffma") != std::string::npos);
  CHECK(text(emit(LW_EMIT_IR_OPTIMISED, &o)).find("ffma") != std::string::npos);
  lw_blob* none = nullptr;
  CHECK(lw_kernel_translate(k.get(), nullptr, LW_EMIT_SPIRV, &none) == LW_ERROR_USAGE);
  CHECK(lw_kernel_translate(k.get(), &o, 99, &none) == LW_ERROR_USAGE);
  if (api_test::selector() == "reference") {
    CHECK(lw_kernel_translate(k.get(), &o, LW_EMIT_SPIRV, &none) == LW_ERROR_USAGE);
    return;
  }
  const Blob spirv = emit(LW_EMIT_SPIRV, &o);
  REQUIRE(lw_blob_size(spirv.get()) % 4 == 0);
  uint32_t magic = 0;
  std::memcpy(&magic, lw_blob_data(spirv.get()), 4);
  CHECK(magic == 0x07230203);
  CHECK(std::string(lw_blob_note(spirv.get(), "wave_mode")) == "lane");
  CHECK(std::string(lw_blob_note(spirv.get(), "wave_reason")) != "");
  CHECK(std::string(lw_blob_note(spirv.get(), "something else")) == "");
  CHECK(lw_blob_note(nullptr, "wave_mode") == nullptr);
  CHECK(text(emit(LW_EMIT_SPIRV_TEXT, &o)).find("OpEntryPoint") != std::string::npos);
}

TEST_CASE("C: assembling and disassembling are each other's reverse") {
  const std::string source = "s_mov_b32 s0, 1\ns_endpgm\n";
  lw_code_options o = code("gcn", "gfx803");
  const Blob words =
      made<Blob>([&](auto out) { return lw_assemble(source.data(), source.size(), &o, out); });
  CHECK(lw_blob_size(words.get()) == 8);
  o.flags = LW_CODE_RAW | LW_CODE_TSV;
  const Blob rows = made<Blob>([&](auto out) {
    return lw_disassemble(lw_blob_data(words.get()), lw_blob_size(words.get()), &o, out);
  });
  CHECK(text(rows) == "0000\t810080be\ts_mov_b32 s0, 1\n0004\t000081bf\ts_endpgm\n");
  lw_blob* none = nullptr;
  o = code("gcn");
  CHECK(lw_assemble("frob\n", 5, &o, &none) == LW_ERROR_GUEST);
  CHECK(lw_last_diagnostic_count() == 1);
  o.isa = "ptx";
  CHECK(lw_assemble("", 0, &o, &none) == LW_ERROR_USAGE);
  o = code(nullptr);
  CHECK(lw_disassemble("abcd", 4, &o, &none) == LW_ERROR_USAGE);
  o = code("gcn", nullptr, 64);
  CHECK(lw_disassemble("abcd", 4, &o, &none) == LW_ERROR_USAGE);
}

TEST_CASE("C: coverage of a form and of an instruction set") {
  const Blob one =
      made<Blob>([](auto out) { return lw_coverage("ptx", nullptr, "ld.global.v4.f32", out); });
  CHECK(text(one) == "ld.global.v4.f32\texact\t\n");
  const Blob all = made<Blob>([](auto out) { return lw_coverage("ptx", nullptr, nullptr, out); });
  CHECK(text(all).find("\texact\t") != std::string::npos);
  lw_blob* none = nullptr;
  CHECK(lw_coverage("x86", nullptr, nullptr, &none) == LW_ERROR_USAGE);
  const Blob gcn = made<Blob>([](auto out) { return lw_coverage("gcn", nullptr, "s_nop", out); });
  CHECK(std::string(lw_blob_note(gcn.get(), "target")) == "gfx600");
}

TEST_CASE("C: the cache tracker follows launches") {
  const Device device = open();
  lw_cache_options follow = presets("gv100,sm50-silicon");
  const Cache cache =
      made<Cache>([&](auto out) { return lw_cache_start(device.get(), &follow, out); });
  lw_cache* second = nullptr;
  CHECK(lw_cache_start(device.get(), &follow, &second) == LW_ERROR_USAGE);
  const Kernel k = kernel(load(device, kScale));
  const Buffer b = buffer(device, 4096);
  const lw_launch_options o = options(4, 256);
  const lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(1), lw_arg_u32(1000)};
  REQUIRE(lw_kernel_launch(k.get(), &o, args, 3, nullptr) == LW_OK);
  for (const char* format : {"txt", "json", "csv", "sarif", "html"}) {
    CAPTURE(format);
    const Blob report =
        made<Blob>([&](auto out) { return lw_cache_report(cache.get(), format, out); });
    CHECK(text(report).size() > 100);
  }
  const Blob csv = made<Blob>([&](auto out) { return lw_cache_report(cache.get(), "csv", out); });
  CHECK(text(csv).find("ld.global.f32") != std::string::npos);
  lw_blob* none = nullptr;
  CHECK(lw_cache_report(cache.get(), "pdf", &none) == LW_ERROR_USAGE);
  follow.presets = "no-such-gpu";
  CHECK(lw_cache_start(device.get(), &follow, &second) == LW_ERROR_USAGE);
}

TEST_CASE("C: after the tracker is released another one may start") {
  const Device device = open("reference");
  const lw_cache_options exact = presets("gv100", LW_CACHE_EXACT);
  for (int i = 0; i < 2; ++i) {
    const Cache cache =
        made<Cache>([&](auto out) { return lw_cache_start(device.get(), &exact, out); });
    CHECK(cache != nullptr);
  }
}

TEST_CASE("C: options of the assembler, and text beside defects") {
  lw_code_options o = code("gcn", "gfx803", LW_CODE_ROWS);
  const std::string source = "s_mov_b32 s0, 1\ns_endpgm\n";
  const Blob words =
      made<Blob>([&](auto out) { return lw_assemble(source.data(), source.size(), &o, out); });
  CHECK(lw_blob_size(words.get()) == 8);
  CHECK(std::string(lw_blob_note(words.get(), "tsv")) ==
        "0000\t810080be\ts_mov_b32 s0, 1\n0004\t000081bf\ts_endpgm\n");
  lw_blob* none = nullptr;
  o.name = "mine.s";
  CHECK(lw_assemble("frob\nfrob\n", 10, &o, &none) == LW_ERROR_GUEST);
  CHECK(none == nullptr);
  CHECK(lw_last_detail() == LW_DETAIL_REJECTED);
  CHECK(lw_last_diagnostic_count() == 2);
  CHECK(std::string(lw_last_error()).starts_with("mine.s:1:"));
  o.max_errors = 1;
  CHECK(lw_assemble("frob\nfrob\n", 10, &o, &none) == LW_ERROR_GUEST);
  CHECK(lw_last_diagnostic_count() == 1);
  CHECK(lw_disassemble("abcd", 4, nullptr, &none) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_FORMAT);
  o.flags = 64;
  CHECK(lw_assemble("", 0, &o, &none) == LW_ERROR_USAGE);
  o.flags = LW_CODE_RAW;
  CHECK(lw_assemble("", 0, &o, &none) == LW_ERROR_USAGE);
  o.flags = 0;
  o.reserved = 1;
  CHECK(lw_assemble("", 0, &o, &none) == LW_ERROR_USAGE);
  o.reserved = 0;
  o.struct_size = 4;
  CHECK(lw_assemble("", 0, &o, &none) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_STRUCT_SIZE);
  CHECK(lw_assemble(nullptr, 0, nullptr, &none) == LW_ERROR_USAGE);
  CHECK(lw_disassemble("abcd", 4, nullptr, nullptr) == LW_ERROR_USAGE);
}

TEST_CASE("C: a check counts kernels and knows three ways to judge") {
  size_t kernels = 7;
  REQUIRE(lw_check(kScale.data(), kScale.size(), nullptr, &kernels) == LW_OK);
  CHECK(kernels == 1);
  lw_module_options o = LW_MODULE_OPTIONS_INIT;
  for (uint32_t strict : {LW_STRICT_MANUAL, LW_STRICT_ASSEMBLER}) {
    o.strict = strict;
    REQUIRE(lw_check(kScale.data(), kScale.size(), &o, &kernels) == LW_OK);
    CHECK(kernels == 0);
  }
  o.strict = 5;
  CHECK(lw_check(kScale.data(), kScale.size(), &o, &kernels) == LW_ERROR_USAGE);
  CHECK(lw_check(kScale.data(), kScale.size(), nullptr, nullptr) == LW_OK);
}

TEST_CASE("C: what the cache functions say of a trace, of rules and of presets") {
  lw_cache_options o = LW_CACHE_OPTIONS_INIT;
  lw_cache* none = nullptr;
  const Device device = open();
  CHECK(lw_cache_start(device.get(), &o, &none) == LW_ERROR_USAGE);
  CHECK(lw_cache_start(device.get(), nullptr, &none) == LW_ERROR_USAGE);
  CHECK(lw_cache_read("/no/such.lwt", &o, &none) == LW_ERROR_USAGE);
  o.presets = "gv100";
  o.policy_count = 1;
  CHECK(lw_cache_read("/no/such.lwt", &o, &none) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_NULL_ARGUMENT);
  o.policy_count = 0;
  const Cache cache = made<Cache>([&](auto out) { return lw_cache_start(device.get(), &o, out); });
  int matches = 7;
  CHECK(lw_cache_matches(cache.get(), "any", &matches) == LW_OK);
  CHECK(matches == 0);
  CHECK(lw_cache_matches(nullptr, "H1", &matches) == LW_OK);
  CHECK(lw_cache_matches(nullptr, "H0", &matches) == LW_ERROR_USAGE);
  CHECK(lw_cache_matches(cache.get(), nullptr, &matches) == LW_ERROR_USAGE);
  CHECK(lw_cache_finish(cache.get()) == LW_OK);
  CHECK(lw_cache_finish(nullptr) == LW_ERROR_USAGE);
  lw_cache_info info{};
  CHECK(lw_cache_get_info(cache.get(), &info) == LW_ERROR_USAGE);
  info.struct_size = sizeof info;
  REQUIRE(lw_cache_get_info(cache.get(), &info) == LW_OK);
  CHECK(info.complete == 1);
  CHECK(info.events == 0);
  CHECK(lw_cache_warning(cache.get(), 0) == nullptr);
  CHECK(lw_cache_warning(nullptr, 0) == nullptr);
  // Another one may start on the device, with the handle of the first still there.
  CHECK(made<Cache>([&](auto out) { return lw_cache_start(device.get(), &o, out); }) != nullptr);
  const Blob names = made<Blob>([](auto out) { return lw_cache_preset(nullptr, nullptr, out); });
  CHECK(text(names).find("gv100\t") != std::string::npos);
  lw_blob* blob = nullptr;
  CHECK(lw_cache_preset("gv100", nullptr, &blob) == LW_ERROR_USAGE);
}
