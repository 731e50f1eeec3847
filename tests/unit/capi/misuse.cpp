// What can be done wrong with the C API: a status, a detail and a message, whatever the handle.
#include <cstring>
#include <limits>

#include "tests/unit/capi/support.hpp"

using namespace capi_test;
using api_test::kScale;

namespace {

/// Says whether the last call was refused for this reason, with a message.
bool refused(lw_status status, lw_detail detail) {
  return status == LW_ERROR_USAGE && lw_last_detail() == detail && std::strlen(lw_last_error()) > 5;
}

}  // namespace

TEST_CASE("C: null, released and other objects' handles are refused") {
  lw_buffer* none = nullptr;
  uint64_t n = 1;
  CHECK(refused(lw_buffer_size(nullptr, &n), LW_DETAIL_BAD_HANDLE));
  CHECK(n == 0);
  CHECK(refused(lw_buffer_create(nullptr, 4, "x", &none), LW_DETAIL_BAD_HANDLE));
  CHECK(refused(lw_device_open(nullptr, nullptr), LW_DETAIL_NULL_ARGUMENT));
  const Device device = open("reference");
  lw_buffer* b = nullptr;
  REQUIRE(lw_buffer_create(device.get(), 4, nullptr, &b) == LW_OK);
  lw_buffer_release(b);
  CHECK(refused(lw_buffer_size(b, &n), LW_DETAIL_BAD_HANDLE));
  CHECK(std::string(lw_last_error()) == "the lw_buffer was released before");
  lw_buffer_release(b);  // once more is no harm
  CHECK(refused(lw_buffer_size(reinterpret_cast<lw_buffer*>(device.get()), &n),
                LW_DETAIL_BAD_HANDLE));
  CHECK(std::string(lw_last_error()) == "a lw_device was given where a lw_buffer is expected");
  int local = 0;
  CHECK(refused(lw_buffer_size(reinterpret_cast<lw_buffer*>(&local), &n), LW_DETAIL_BAD_HANDLE));
  // Releasing something else releases nothing.
  lw_buffer_release(reinterpret_cast<lw_buffer*>(device.get()));
  CHECK(lw_buffer_create(device.get(), 4, "x", &b) == LW_OK);
  lw_buffer_release(b);
  CHECK(lw_kernel_name(nullptr) == nullptr);
  CHECK(lw_kernel_param_count(nullptr) == 0);
  CHECK(lw_module_kernel_count(nullptr) == 0);
  CHECK(lw_module_kernel_name(nullptr, 0) == nullptr);
  CHECK(lw_blob_data(nullptr) == nullptr);
  CHECK(lw_blob_size(nullptr) == 0);
  CHECK(refused(lw_kernel_launch(nullptr, nullptr, nullptr, 0, nullptr), LW_DETAIL_BAD_HANDLE));
  CHECK(refused(lw_cancel_request(nullptr), LW_DETAIL_BAD_HANDLE));
  CHECK(refused(lw_result_get_info(nullptr, nullptr), LW_DETAIL_BAD_HANDLE));
  lw_blob* blob = nullptr;
  CHECK(refused(lw_cache_report(nullptr, "txt", &blob), LW_DETAIL_BAD_HANDLE));
}

TEST_CASE("C: structs of no known size are refused, longer ones are read as far as known") {
  const Device device = open("reference");
  lw_device_info info{};
  CHECK(refused(lw_device_get_info(device.get(), &info), LW_DETAIL_STRUCT_SIZE));
  info.struct_size = 8;
  CHECK(refused(lw_device_get_info(device.get(), &info), LW_DETAIL_STRUCT_SIZE));
  // A caller of a later version: its struct is longer.
  struct Later {
    lw_device_info known;
    uint64_t more;
  } later{};
  later.known.struct_size = sizeof later;
  later.more = 7;
  REQUIRE(lw_device_get_info(device.get(), &later.known) == LW_OK);
  CHECK(later.known.struct_size == sizeof later);
  CHECK(later.more == 0);
  struct LaterOptions {
    lw_launch_options known;
    uint64_t more;
  } o{options(1, 4), 0};
  o.known.struct_size = sizeof o;
  const Kernel k = kernel(load(device, kScale));
  const Buffer b = buffer(device, 16);
  const lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(1), lw_arg_u32(4)};
  CHECK(lw_kernel_launch(k.get(), &o.known, args, 3, nullptr) == LW_OK);
  o.more = 1;
  CHECK(refused(lw_kernel_launch(k.get(), &o.known, args, 3, nullptr), LW_DETAIL_UNSUPPORTED));
}

TEST_CASE("C: launch options of the first version, which end before cancel_flag") {
  const Device device = open("reference");
  const Kernel k = kernel(load(device, kScale));
  const Buffer b = buffer(device, 16);
  const lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(1), lw_arg_u32(4)};
  lw_launch_options o = options(1, 4);
  const unsigned char flag = 1;
  o.cancel_flag = &flag;
  CHECK(lw_kernel_launch(k.get(), &o, args, 3, nullptr) == LW_ERROR_BUDGET);
  CHECK(lw_last_detail() == LW_DETAIL_CANCELLED);
  lw_cancel* cancel = nullptr;
  REQUIRE(lw_cancel_create(&cancel) == LW_OK);
  o.cancel = cancel;
  CHECK(refused(lw_kernel_launch(k.get(), &o, args, 3, nullptr), LW_DETAIL_INVALID_VALUE));
  o.cancel = nullptr;
  lw_cancel_release(cancel);
  o.struct_size = offsetof(lw_launch_options, cancel_flag);  // what is behind is not looked at
  CHECK(lw_kernel_launch(k.get(), &o, args, 3, nullptr) == LW_OK);
}

TEST_CASE("C: a device that was closed keeps its handle") {
  const Device device = open("reference");
  const Buffer b = buffer(device, 4);
  REQUIRE(lw_device_close(device.get()) == LW_OK);
  lw_buffer* more = nullptr;
  CHECK(refused(lw_buffer_create(device.get(), 4, "x", &more), LW_DETAIL_DEVICE_CLOSED));
  CHECK(lw_device_close(device.get()) == LW_OK);
  CHECK(refused(lw_device_close(nullptr), LW_DETAIL_BAD_HANDLE));
}

TEST_CASE("C: launch options that make no sense") {
  const Device device = open("reference");
  const Kernel k = kernel(load(device, kScale));
  const Buffer b = buffer(device, 16);
  const lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(1), lw_arg_u32(4)};
  const auto launch = [&](const lw_launch_options& o) {
    return lw_kernel_launch(k.get(), &o, args, 3, nullptr);
  };
  const lw_launch_options good = options(1, 4);
  CHECK(launch(good) == LW_OK);
  lw_launch_options o = good;
  o.grid[0] = 0;
  CHECK(refused(launch(o), LW_DETAIL_INVALID_VALUE));
  o = good;
  o.block[2] = 2;
  CHECK(refused(launch(o), LW_DETAIL_INVALID_VALUE));
  o = good;
  o.memcheck = 3;
  CHECK(refused(launch(o), LW_DETAIL_INVALID_VALUE));
  o = good;
  o.wave = 9;
  CHECK(refused(launch(o), LW_DETAIL_INVALID_VALUE));
  o = good;
  o.timeout_seconds = -1;
  CHECK(refused(launch(o), LW_DETAIL_INVALID_VALUE));
  o.timeout_seconds = std::numeric_limits<double>::quiet_NaN();
  CHECK(refused(launch(o), LW_DETAIL_INVALID_VALUE));
  o = good;
  o.policy_count = 1;
  CHECK(refused(launch(o), LW_DETAIL_NULL_ARGUMENT));
  const char* const policies[] = {"steps"};
  o.policies = policies;
  CHECK(refused(launch(o), LW_DETAIL_INVALID_VALUE));
  CHECK(refused(lw_kernel_launch(k.get(), nullptr, args, 3, nullptr), LW_DETAIL_NULL_ARGUMENT));
  CHECK(refused(lw_kernel_launch(k.get(), &good, nullptr, 3, nullptr), LW_DETAIL_NULL_ARGUMENT));
}

TEST_CASE("C: arguments that make no sense") {
  const Device device = open("reference"), other = open("reference");
  const Kernel k = kernel(load(device, kScale));
  const Buffer b = buffer(device, 16), other_device = buffer(other, 16);
  const lw_launch_options o = options(1, 4);
  const auto launch = [&](const lw_arg& first, const lw_arg& second) {
    const lw_arg args[] = {first, second, lw_arg_u32(4)};
    return lw_kernel_launch(k.get(), &o, args, 3, nullptr);
  };
  const lw_arg p = lw_arg_buffer(b.get()), a = lw_arg_f32(1);
  CHECK(launch(p, a) == LW_OK);
  CHECK(refused(launch(lw_arg_buffer(other_device.get()), a), LW_DETAIL_OTHER_DEVICE));
  CHECK(refused(launch(lw_arg_buffer(nullptr), a), LW_DETAIL_BAD_HANDLE));
  CHECK(refused(launch(p, lw_arg_i32(1)), LW_DETAIL_ARGUMENT_KIND));
  CHECK(refused(launch(p, lw_arg_f64(1)), LW_DETAIL_ARGUMENT_KIND));
  CHECK(refused(launch(lw_arg_host_const(&o, 8), a), LW_DETAIL_ARGUMENT_KIND));
  CHECK(refused(launch(p, lw_arg_bytes(nullptr, 4)), LW_DETAIL_NULL_ARGUMENT));
  CHECK(refused(launch(p, lw_arg_scalar(LW_ARG_SIGNED, 1, 3)), LW_DETAIL_ARGUMENT_KIND));
  CHECK(refused(launch(p, lw_arg_scalar(77, 1, 4)), LW_DETAIL_INVALID_VALUE));
  lw_arg unsized_one = a;
  unsized_one.struct_size = 0;
  CHECK(refused(launch(p, unsized_one), LW_DETAIL_STRUCT_SIZE));
}

TEST_CASE("C: sizes that no device has") {
  const Device device = open();
  for (const uint64_t bytes : {~uint64_t{0}, (uint64_t{1} << 40) + 1, uint64_t{1} << 39}) {
    CAPTURE(bytes);
    lw_buffer* b = nullptr;
    CHECK(lw_buffer_create(device.get(), bytes, "huge", &b) != LW_OK);
    CHECK(b == nullptr);
    CHECK(lw_buffer_create_paged(device.get(), bytes, "huge", &b) != LW_OK);
    CHECK(b == nullptr);
  }
  const Buffer b = buffer_of<int>(device, {5});
  CHECK(contents<int>(b) == std::vector<int>{5});
  int value = 0;
  CHECK(refused(lw_buffer_read(b.get(), 1, &value, 4), LW_DETAIL_OUT_OF_RANGE));
  CHECK(refused(lw_buffer_read(b.get(), 0, nullptr, 4), LW_DETAIL_NULL_ARGUMENT));
  CHECK(refused(lw_buffer_write(b.get(), ~uint64_t{0}, &value, 4), LW_DETAIL_OUT_OF_RANGE));
}

TEST_CASE("C: the handles of a closed device answer that it was closed") {
  const Device device = open();
  const Module module = load(device, kScale);
  const Kernel k = kernel(module);
  const Buffer b = buffer(device, 16);
  REQUIRE(lw_device_close(device.get()) == LW_OK);
  int value = 0;
  CHECK(refused(lw_buffer_read(b.get(), 0, &value, 4), LW_DETAIL_DEVICE_CLOSED));
  const lw_launch_options o = options(1, 4);
  const lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(1), lw_arg_u32(4)};
  CHECK(refused(lw_kernel_launch(k.get(), &o, args, 3, nullptr), LW_DETAIL_DEVICE_CLOSED));
  CHECK(lw_module_kernel_count(module.get()) == 1);
}
