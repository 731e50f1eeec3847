// Memory by guest address, memory of the host in place, what kernels ask of launches.
#include <cstring>
#include <numeric>

#include "tests/unit/capi/support.hpp"

using namespace capi_test;
using api_test::kScale;

namespace {

uint64_t address_of(const Buffer& b) {
  uint64_t at = 0;
  REQUIRE(lw_buffer_address(b.get(), &at) == LW_OK);
  return at;
}

const char* const kVariables = R"(
.version 7.0
.target sm_75
.address_size 64
.const .align 4 .b8 table[64];
.global .align 8 .b8 values[32];
.visible .entry bounded(.param .u64 out) .maxntid 96, 1, 1
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  .shared .align 4 .b8 shared[400];
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  ld.const.u32 %r1, [table];
  st.shared.u32 [shared], %r1;
  ld.shared.u32 %r2, [shared];
  st.global.u32 [%rd2], %r2;
  ret;
}
)";

}  // namespace

TEST_CASE("C: memory is read, written, copied and filled by address") {
  const Device device = open();
  const Buffer a = buffer(device, 5000000), b = buffer(device, 100);
  const uint64_t at = address_of(a);
  std::vector<uint8_t> in(3000000), out(3000000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 7 / 5);
  CHECK(lw_memory_write(device.get(), at + 3, in.data(), in.size()) == LW_OK);
  // Ranges that overlap, longer than what is copied at once, both ways.
  CHECK(lw_memory_copy(device.get(), at + 1500001, at + 3, in.size()) == LW_OK);
  CHECK(lw_memory_read(device.get(), at + 1500001, out.data(), out.size()) == LW_OK);
  CHECK(out == in);
  CHECK(lw_memory_copy(device.get(), at, at + 1500001, in.size()) == LW_OK);
  CHECK(lw_memory_read(device.get(), at, out.data(), out.size()) == LW_OK);
  CHECK(out == in);
  CHECK(lw_memory_fill(device.get(), at + 2, 0x1234abcd, 4, 700000) == LW_OK);
  CHECK(lw_memory_fill(device.get(), at + 100, 0xfeed, 2, 3) == LW_OK);
  CHECK(lw_memory_read(device.get(), at, out.data(), out.size()) == LW_OK);
  CHECK(out[0] == in[0]);
  CHECK(out[2] == 0xcd);
  CHECK(out[100] == 0xed);
  CHECK(out[105] == 0xfe);
  CHECK(out[106] == 0xcd);
  CHECK(out[2800001] == 0x12);
  CHECK(out[2800002] == in[2800002]);
  const auto refused = [&](lw_status status) {
    CHECK(status == LW_ERROR_USAGE);
    CHECK(lw_last_detail() == LW_DETAIL_OUT_OF_RANGE);
  };
  const uint64_t other = address_of(b);
  refused(lw_memory_read(device.get(), other + 99, out.data(), 2));
  refused(lw_memory_write(device.get(), other - 1, out.data(), 1));
  refused(lw_memory_copy(device.get(), at, other, 101));
  refused(lw_memory_fill(device.get(), other, 1, 4, UINT64_MAX / 2));
  refused(lw_memory_read(device.get(), 0, out.data(), 1));
  CHECK(lw_memory_read(device.get(), other + 100, out.data(), 0) == LW_OK);
  CHECK(lw_memory_fill(device.get(), other, 1, 3, 1) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_INVALID_VALUE);
}

TEST_CASE("C: variables are memory, too, and a kernel says what it asks for") {
  const Device device = open();
  const Module module = load(device, kVariables);
  uint64_t table = 0;
  REQUIRE(lw_module_symbol(module.get(), "table", &table, nullptr) == LW_OK);
  const uint32_t word = 77;
  CHECK(lw_memory_write(device.get(), table, &word, sizeof word) == LW_OK);
  CHECK(lw_memory_write(device.get(), table + 61, &word, sizeof word) == LW_ERROR_USAGE);
  const Kernel k = kernel(module);
  lw_kernel_info info{};
  info.struct_size = sizeof info;
  REQUIRE(lw_kernel_get_info(k.get(), &info) == LW_OK);
  CHECK(info.static_shared == 400);
  CHECK(info.max_threads == 96);
  CHECK(info.param_bytes == 8);
  CHECK(info.constant_bytes == 64);
  CHECK(info.block[0] == 0);
  CHECK(std::string(info.isa) == "ptx");
  CHECK(std::string(info.target) == "sm_75");
  const Buffer out = buffer(device, 4);
  const lw_launch_options o = options(1, 1);
  const lw_arg args[] = {lw_arg_buffer(out.get())};
  CHECK(lw_kernel_launch(k.get(), &o, args, 1, nullptr) == LW_OK);
  CHECK(contents<uint32_t>(out) == std::vector<uint32_t>{77});
}

TEST_CASE("C: memory of the host is a buffer at its own address, where the device reaches it") {
  const Device device = open();
  std::vector<float> memory(32 * 1024);
  std::iota(memory.begin(), memory.end(), 0.0F);
  lw_buffer* raw = nullptr;
  const lw_status status =
      lw_buffer_map_host(device.get(), memory.data(), memory.size() * 4, "mine", 0, &raw);
  const Buffer b(raw);
  if (status != LW_OK) {  // SwiftShader
    CHECK(lw_last_detail() == LW_DETAIL_UNSUPPORTED);
    return;
  }
  const uint64_t at = address_of(b);
  const auto host = reinterpret_cast<uint64_t>(memory.data());
  if (host >= uint64_t{1} << 46) CHECK(at == host);
  const Kernel k = kernel(load(device, kScale));
  const lw_launch_options o = options(1, 64);
  // By address, as a program has it.
  const lw_arg args[] = {lw_arg_u64(at + 400), lw_arg_f32(10), lw_arg_u32(64)};
  REQUIRE(lw_kernel_launch(k.get(), &o, args, 3, nullptr) == LW_OK);
  CHECK(memory[99] == 99);
  CHECK(memory[100] == 100 * 10);
  CHECK(memory[163] == 163 * 10 + 63);
  CHECK(memory[164] == 164);
  const float one = 1;
  CHECK(lw_memory_write(device.get(), at, &one, 4) == LW_OK);
  CHECK(memory[0] == 1);
  // The address is taken: a second buffer gets another one.
  lw_buffer* again = nullptr;
  CHECK(lw_buffer_map_host(device.get(), memory.data(), 4096, "again", 0, &again) == LW_OK);
  const Buffer second(again);
  CHECK(address_of(second) != at);
  CHECK(lw_buffer_map_host(device.get(), memory.data(), 4096, "flags", 2, &again) ==
        LW_ERROR_USAGE);
}

TEST_CASE("C: reserved addresses are accessed where they are mapped") {
  const Device device = open();
  const uint64_t part = 1 << 16;
  const Buffer range = made<Buffer>(
      [&](auto out) { return lw_buffer_reserve(device.get(), 4 * part, part, "range", out); });
  const uint64_t at = address_of(range);
  CHECK(at % part == 0);
  uint32_t word = 7;
  CHECK(lw_memory_write(device.get(), at, &word, 4) != LW_OK);
  CHECK(lw_buffer_set_mapped(range.get(), 0, part, 1) == LW_OK);
  CHECK(lw_buffer_set_mapped(range.get(), part, part, 1) == LW_OK);
  CHECK(lw_buffer_set_mapped(range.get(), part, part, 1) != LW_OK);
  CHECK(lw_last_detail() == LW_DETAIL_OUT_OF_RANGE);
  CHECK(lw_memory_fill(device.get(), at + part - 8, 0x01020304, 4, 4) == LW_OK);  // across both
  CHECK(lw_memory_read(device.get(), at + part + 4, &word, 4) == LW_OK);
  CHECK(word == 0x01020304);
  CHECK(lw_buffer_set_mapped(range.get(), part, part, 0) == LW_OK);
  CHECK(lw_memory_read(device.get(), at + part, &word, 4) != LW_OK);
  CHECK(lw_buffer_set_mapped(range.get(), part, part, 1) == LW_OK);
  CHECK(lw_memory_read(device.get(), at + part, &word, 4) == LW_OK);
  CHECK(word == 0);  // it comes back as zeros
  CHECK(lw_buffer_write(range.get(), 0, &word, 4) != LW_OK);
  CHECK(lw_buffer_set_mapped(buffer(device, 64).get(), 0, 64, 1) != LW_OK);
  lw_buffer* none = nullptr;
  CHECK(lw_buffer_reserve(device.get(), part, 3, "range", &none) != LW_OK);
  CHECK(lw_buffer_reserve(device.get(), 0, 0, "range", &none) != LW_OK);
}
