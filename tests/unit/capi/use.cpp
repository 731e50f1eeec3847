// What the C API does when it is used as it should be.
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "tests/unit/capi/support.hpp"

using namespace capi_test;
using api_test::kEndless;
using api_test::kHeader;
using api_test::kScale;

TEST_CASE("C: every device is listed, the reference engine last") {
  size_t count = 0;
  REQUIRE(lw_list_devices(nullptr, &count) == LW_OK);
  REQUIRE(count >= 1);
  std::vector<lw_device_info> infos(count);
  infos[0].struct_size = sizeof(lw_device_info);
  REQUIRE(lw_list_devices(infos.data(), &count) == LW_OK);
  CHECK(std::string(infos.back().name) == "reference");
  CHECK(infos.back().index == -1);
  CHECK(infos.back().struct_size == sizeof(lw_device_info));
  const Device device = open("reference");
  lw_device_info info{};
  info.struct_size = sizeof info;
  REQUIRE(lw_device_get_info(device.get(), &info) == LW_OK);
  CHECK(std::string(info.tier) == "cpu");
  CHECK(info.max_arena > 0);
}

TEST_CASE("C: a kernel runs on buffers") {
  const Device device = open();
  const Module module = load(device, kScale);
  REQUIRE(lw_module_kernel_count(module.get()) == 1);
  CHECK(std::string(lw_module_kernel_name(module.get(), 0)) == "scale");
  const Kernel k = kernel(module, "scale");
  CHECK(std::string(lw_kernel_name(k.get())) == "scale");
  REQUIRE(lw_kernel_param_count(k.get()) == 3);
  lw_param_info param{};
  param.struct_size = sizeof param;
  REQUIRE(lw_kernel_param(k.get(), 1, &param) == LW_OK);
  CHECK(std::string(param.name) == "a");
  CHECK(std::string(param.type) == "f32");
  CHECK(param.offset == 8);
  CHECK(param.size == 4);
  const Buffer b = buffer_of<float>(device, {1, 2, 3, 4});
  const lw_launch_options o = options(1, 4);
  const lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(10), lw_arg_u32(4)};
  const Result result =
      made<Result>([&](auto out) { return lw_kernel_launch(k.get(), &o, args, 3, out); });
  CHECK(contents<float>(b) == std::vector<float>{10, 21, 32, 43});
  lw_result_info info{};
  info.struct_size = sizeof info;
  REQUIRE(lw_result_get_info(result.get(), &info) == LW_OK);
  CHECK(info.fault_count == 0);
  CHECK(info.dispatch_ms > 0);
  CHECK(std::string(info.wave_mode) == "lane");
  CHECK(std::string(info.policies).find("ptx.align=trap\n") != std::string::npos);
  CHECK(std::string(lw_last_error()).empty());
  CHECK(lw_last_detail() == LW_DETAIL_NONE);
}

TEST_CASE("C: an argument may point into a buffer, and offsets are checked") {
  const Device device = open();
  const Kernel k = kernel(load(device, kScale));
  const Buffer b = buffer_of<float>(device, {1, 2, 3, 4});
  const lw_launch_options o = options(1, 2);
  lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(10), lw_arg_u32(2)};
  args[0].bits = 8;
  REQUIRE(lw_kernel_launch(k.get(), &o, args, 3, nullptr) == LW_OK);
  CHECK(contents<float>(b) == std::vector<float>{1, 2, 30, 41});
  args[0].bits = 17;
  CHECK(lw_kernel_launch(k.get(), &o, args, 3, nullptr) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_OUT_OF_RANGE);
}

TEST_CASE("C: faults are a status and reports") {
  const Device device = open();
  const Kernel k = kernel(load(device, kScale));
  const Buffer b = buffer(device, 8, "short one");
  lw_launch_options o = options(1, 4);
  o.memcheck = LW_MEMCHECK_ALLOC;
  const lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(10), lw_arg_u32(4)};
  lw_result* raw = nullptr;
  CHECK(lw_kernel_launch(k.get(), &o, args, 3, &raw) == LW_ERROR_GUEST);
  CHECK(lw_last_detail() == LW_DETAIL_FAULT);
  CHECK(std::string(lw_last_error()).find("2 lanes faulted") != std::string::npos);
  const Result result(raw);
  lw_result_info info{};
  info.struct_size = sizeof info;
  REQUIRE(lw_result_get_info(result.get(), &info) == LW_OK);
  CHECK(info.fault_count == 2);
  REQUIRE(info.reported_faults == 2);
  lw_fault fault{};
  fault.struct_size = sizeof fault;
  REQUIRE(lw_result_fault(result.get(), 0, &fault) == LW_OK);
  CHECK(std::string(fault.kind) == "out_of_range");
  CHECK(fault.lane == 2);
  CHECK(fault.size == 4);
  CHECK(std::string(fault.allocation) == "short one");
  CHECK(fault.allocation_size == 8);
  CHECK(std::string(fault.text).find("ld.global.f32") != std::string::npos);
  CHECK(std::string(fault.report).find("nearest allocation: 'short one'") != std::string::npos);
  CHECK(std::string(fault.parameter) == "p");
  CHECK(std::string(fault.parameter_allocation) == "short one");
  CHECK(fault.parameter_allocation_address == fault.allocation_address);
  CHECK(std::string(fault.assertion).empty());
  CHECK(std::string(fault.function).empty());
  CHECK(lw_result_fault(result.get(), 2, &fault) == LW_ERROR_USAGE);
  // A caller of the first version has no member for the parameter.
  lw_fault old{};
  old.struct_size = offsetof(lw_fault, parameter);
  REQUIRE(lw_result_fault(result.get(), 0, &old) == LW_OK);
  CHECK(old.lane == 2);
  CHECK(old.parameter == nullptr);
}

TEST_CASE("C: used-up steps have a status of their own") {
  const Device device = open();
  const Kernel k = kernel(load(device, kEndless));
  const Buffer b = buffer(device, 4);
  lw_launch_options o = options(1, 1);
  const char* const policies[] = {"steps=100"};
  o.policies = policies;
  o.policy_count = 1;
  const lw_arg args[] = {lw_arg_buffer(b.get())};
  CHECK(lw_kernel_launch(k.get(), &o, args, 1, nullptr) == LW_ERROR_BUDGET);
  CHECK(lw_last_detail() == LW_DETAIL_STEP_BUDGET);
}

TEST_CASE("C: a rejected program leaves its diagnostics") {
  const Device device = open("reference");
  std::string bad = kScale;
  bad.replace(bad.find("fma.rn.f32"), 10, "frobnicate");
  lw_module_options o = LW_MODULE_OPTIONS_INIT;
  o.name = "bad.ptx";
  o.isa = "ptx";
  lw_module* module = reinterpret_cast<lw_module*>(1);
  CHECK(lw_module_load_memory(device.get(), bad.data(), bad.size(), &o, &module) == LW_ERROR_GUEST);
  CHECK(module == nullptr);
  CHECK(lw_last_detail() == LW_DETAIL_REJECTED);
  REQUIRE(lw_last_diagnostic_count() >= 1);
  lw_diagnostic d{};
  d.struct_size = sizeof d;
  REQUIRE(lw_last_diagnostic(0, &d) == LW_OK);
  CHECK(std::string(d.file) == "bad.ptx");
  CHECK(d.line > 10);
  CHECK(d.is_warning == 0);
  CHECK(std::string(d.message).find("frobnicate") != std::string::npos);
  CHECK(lw_check(bad.data(), bad.size(), &o, nullptr) == LW_ERROR_GUEST);
  CHECK(lw_last_diagnostic_count() >= 1);
  CHECK(lw_check(kScale.data(), kScale.size(), &o, nullptr) == LW_OK);
  CHECK(lw_last_diagnostic_count() == 0);
}

TEST_CASE("C: module variables are found, written and read") {
  const Device device = open();
  const Module module = load(device, kHeader + R"(
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.visible .entry k() { ret; }
)");
  uint64_t address = 0, bytes = 0;
  REQUIRE(lw_module_symbol(module.get(), "table", &address, &bytes) == LW_OK);
  CHECK(bytes == 16);
  CHECK(address >= 0x10000000);
  const uint32_t nine = 9;
  REQUIRE(lw_module_write_symbol(module.get(), "table", &nine, 4) == LW_OK);
  uint32_t all[4] = {};
  REQUIRE(lw_module_read_symbol(module.get(), "table", all, 16) == LW_OK);
  CHECK(all[0] == 9);
  CHECK(all[3] == 4);
  CHECK(lw_module_symbol(module.get(), "nope", nullptr, nullptr) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_NOT_FOUND);
  CHECK(lw_module_read_symbol(module.get(), "table", all, 17) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_OUT_OF_RANGE);
}

TEST_CASE("C: modules come from files of every kind") {
  const Device device = open("reference");
  const std::string data = std::string(LANEWISE_TEST_DATA) + "/kernels/data/";
  for (const char* file : {"ptx/saxpy.sm75.ptx", "sass/k29_cacheops.cubin"}) {
    CAPTURE(file);
    const Module module = made<Module>([&](auto out) {
      return lw_module_load_file(device.get(), (data + file).c_str(), nullptr, out);
    });
    CHECK(lw_module_kernel_count(module.get()) >= 1);
  }
  lw_module* module = nullptr;
  CHECK(lw_module_load_file(device.get(), "/nonexistent.ptx", nullptr, &module) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_HOST_FILE);
}

TEST_CASE("C: a cancelled launch ends") {
  const Device device = open("reference");
  const Kernel k = kernel(load(device, kEndless));
  const Buffer b = buffer(device, 4);
  const Cancel cancel = made<Cancel>([](auto out) { return lw_cancel_create(out); });
  lw_launch_options o = options(1, 1);
  o.cancel = cancel.get();
  o.timeout_seconds = 60;
  const char* const policies[] = {"steps=unlimited"};
  o.policies = policies;
  o.policy_count = 1;
  lw_status status = LW_OK;
  lw_detail detail = LW_DETAIL_NONE;
  std::thread runs([&] {
    const lw_arg args[] = {lw_arg_buffer(b.get())};
    status = lw_kernel_launch(k.get(), &o, args, 1, nullptr);
    detail = lw_last_detail();  // of this thread
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  REQUIRE(lw_cancel_request(cancel.get()) == LW_OK);
  runs.join();
  CHECK(status == LW_ERROR_BUDGET);
  CHECK(detail == LW_DETAIL_CANCELLED);
  CHECK(lw_last_detail() == LW_DETAIL_NONE);
}

TEST_CASE("C: the log reports devices, launches, warnings and errors") {
  std::vector<std::pair<lw_log_level, std::string>> messages;
  lw_set_log(
      [](lw_log_level level, const char* message, void* user) {
        static_cast<decltype(messages)*>(user)->emplace_back(level, message);
      },
      LW_LOG_INFO, &messages);
  {
    const Device device = open("reference");
    const Kernel k = kernel(load(device, kScale));
    const Buffer b = buffer(device, 16);
    const lw_launch_options o = options(1, 4);
    const lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(1), lw_arg_u32(4)};
    REQUIRE(lw_kernel_launch(k.get(), &o, args, 3, nullptr) == LW_OK);
    lw_kernel_launch(k.get(), &o, args, 2, nullptr);
  }
  lw_set_log(nullptr, LW_LOG_INFO, nullptr);
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].second == "opened reference");
  CHECK(messages[1].first == LW_LOG_INFO);
  CHECK(messages[1].second.starts_with("scale: "));
  CHECK(messages[2].first == LW_LOG_ERROR);
  CHECK(messages[2].second.find("takes 3 arguments, 2 were given") != std::string::npos);
  lw_device_open("no such device", nullptr);
  CHECK(messages.size() == 3);
}
