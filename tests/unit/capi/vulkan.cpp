// Guest kernels on the device and the buffers of a Vulkan program.
#include "tests/unit/capi/vulkan.hpp"

#include <algorithm>

using namespace capi_test;
using api_test::kHeader;
using api_test::kScale;

namespace {

/// *p, which is a pointer in memory, points at n words that become what lane i was.
const std::string kThrough = kHeader + R"(
.visible .entry through(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<3>; .reg .b64 %d<4>; .reg .pred %q;
  ld.param.u64 %d1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %q, %r2, %r1;
  @%q bra done;
  ld.global.u64 %d2, [%d1];
  mul.wide.u32 %d3, %r2, 4;
  add.u64 %d2, %d2, %d3;
  atom.global.add.u32 %r1, [%d2], %r2;
done:
  ret;
}
)";

float as_float(uint32_t word) {
  float f;
  std::memcpy(&f, &word, 4);
  return f;
}
constexpr uint32_t kOne = 0x3f800000, kThree = 0x40400000;

}  // namespace

TEST_CASE("Vulkan: a kernel works on a program's buffer in place, in the order of the queue") {
  if (on_reference()) return;
  Embedding e;
  e.import();
  const Kernel k = kernel(load(e.device, kScale));
  if (!e.addresses) {
    MESSAGE("tier T0: no buffer can be imported");
    return;
  }
  {
    const auto mine = e.program.make_buffer(4096, kShared),
               copy = e.program.make_buffer(4096, kShared);
    lw_vulkan_buffer_info what = e.of(mine, 1024);
    what.offset = 256;
    const Buffer b = e.take(what);
    uint64_t address = 0, size = 0;
    REQUIRE(lw_buffer_address(b.get(), &address) == LW_OK);
    REQUIRE(lw_buffer_size(b.get(), &size) == LW_OK);
    CHECK(address >= uint64_t{1} << 46);
    CHECK(size == 1024);
    // Nobody waits for the fill but the kernel, and nobody but the copy for the kernel.
    e.program.fill(mine.handle, 4096, kOne);
    const unsigned before = e.locked;
    REQUIRE(scale(k, b, 256, options(4, 64)) == LW_OK);
    CHECK(e.locked > before);
    CHECK(e.locked == e.unlocked);
    e.program.copy(mine.handle, 0, copy.handle, 4096);
    e.program.wait();
    bool right = true;
    for (uint32_t i = 0; i < 1024; ++i) {
      const bool inside = i >= 64 && i < 64 + 256;
      const float wanted = inside ? 2.0f + static_cast<float>(i - 64) : 1.0f;
      right = right && as_float(copy.words[i]) == wanted && as_float(mine.words[i]) == wanted;
    }
    CHECK(right);
    // The host's copies reach it as well.
    const uint32_t three = kThree;
    REQUIRE(lw_buffer_write(b.get(), 4, &three, 4) == LW_OK);
    CHECK(mine.words[65] == kThree);
    CHECK(contents<uint32_t>(b)[1] == kThree);
  }
  CHECK(e.program.complaints() == 0);
}

TEST_CASE("Vulkan: kernels leave alone what was not imported") {
  if (on_reference()) return;
  Embedding e;
  e.import();
  if (!e.addresses) return;
  const Kernel k = kernel(load(e.device, kScale));
  const auto mine = e.program.make_buffer(1024, kShared);
  lw_vulkan_buffer_info what = e.of(mine, 16);
  what.offset = 64;
  for (const uint32_t memcheck : {LW_MEMCHECK_ALLOC, LW_MEMCHECK_ARENA}) {
    CAPTURE(memcheck);
    const Buffer b = e.take(what);
    lw_launch_options o = options(1, 8);
    o.memcheck = memcheck;
    CHECK(scale(k, b, 8, o) == LW_ERROR_GUEST);
    CHECK(std::string(lw_last_error()).find("'shared'") != std::string::npos);
    CHECK(mine.words[15] == 0);
    CHECK(as_float(mine.words[17]) != 0);
    CHECK(mine.words[20] == 0);
  }
  std::fill_n(mine.words, 256, kOne);
  what.flags = LW_VULKAN_READ_ONLY;
  const Buffer b = e.take(what);
  CHECK(scale(k, b, 4, options(1, 4)) == LW_ERROR_GUEST);
  CHECK(std::all_of(mine.words, mine.words + 256, [](uint32_t w) { return w == kOne; }));
}

TEST_CASE("Vulkan: pointers in memory lead to imported buffers, checked or not") {
  if (on_reference()) return;
  Embedding e;
  e.import();
  if (!e.addresses) return;
  const Kernel k = kernel(load(e.device, kThrough));
  const auto first = e.program.make_buffer(256, kShared),
             second = e.program.make_buffer(256, kShared);
  const Buffer a = e.take(e.of(first, 256)), b = e.take(e.of(second, 256));
  const Buffer own = buffer(e.device, 256);
  uint32_t rounds = 0;
  for (const uint32_t memcheck : {LW_MEMCHECK_ALLOC, LW_MEMCHECK_ARENA, LW_MEMCHECK_OFF}) {
    ++rounds;
    for (const Buffer* target : {&a, &b, &own}) {
      uint64_t address = 0;
      REQUIRE(lw_buffer_address(target->get(), &address) == LW_OK);
      const Buffer cell = buffer_of(e.device, std::vector<uint64_t>{address});
      lw_launch_options o = options(1, 64);
      o.memcheck = memcheck;
      const lw_arg args[] = {lw_arg_buffer(cell.get()), lw_arg_u32(64)};
      REQUIRE(lw_kernel_launch(k.get(), &o, args, 2, nullptr) == LW_OK);
    }
  }
  const auto kept = contents<uint32_t>(own);
  for (uint32_t i = 0; i < 64; ++i) {
    CAPTURE(i);
    CHECK(first.words[i] == rounds * i);
    CHECK(second.words[i] == rounds * i);
    CHECK(kept[i] == rounds * i);
  }
}

TEST_CASE("Vulkan: Lanewise's buffers as a program's, on every tier") {
  if (on_reference()) return;
  for (const bool everything : {true, false}) {
    CAPTURE(everything);
    Embedding e(everything);
    e.import(1 << 20);
    CHECK((everything || !e.addresses));
    const Kernel k = kernel(load(e.device, kScale));
    Buffer b = buffer_of(e.device, std::vector<float>(64, 3.0f));
    lw_vulkan_region region{};
    region.struct_size = sizeof region;
    REQUIRE(lw_vulkan_buffer_export(b.get(), &region) == LW_OK);
    CHECK(region.size == 256);
    CHECK((region.address != 0 || !e.addresses));
    const auto mine = e.program.make_buffer(256, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    REQUIRE(scale(k, b, 64, options(1, 64)) == LW_OK);
    e.program.copy(region.buffer, region.offset, mine.handle, 256);
    e.program.wait();
    bool right = true;
    for (uint32_t i = 0; i < 64; ++i)
      right = right && as_float(mine.words[i]) == 6.0f + static_cast<float>(i);
    CHECK(right);
    // What was reserved is there; beyond it nothing moves while the region is somebody's.
    const Buffer fits = buffer(e.device, 900000);
    lw_buffer* none = nullptr;
    CHECK(lw_buffer_create(e.device.get(), 4 << 20, "more", &none) == LW_ERROR_DEVICE);
    CHECK(lw_last_detail() == LW_DETAIL_DEVICE_MEMORY);
    CHECK(std::string(lw_last_error()).find("reserve_bytes") != std::string::npos);
    CHECK(contents<float>(b)[1] == 7.0f);
    b.reset();
    CHECK(buffer(e.device, 4 << 20) != nullptr);
    CHECK(e.program.complaints() == 0);
  }
}

TEST_CASE("Vulkan: the handles behind a device") {
  lw_vulkan_handles handles{};
  handles.struct_size = sizeof handles;
  const Device own = open();
  if (on_reference()) {
    CHECK(lw_vulkan_device_export(own.get(), &handles) == LW_ERROR_USAGE);
    CHECK(lw_last_detail() == LW_DETAIL_UNSUPPORTED);
    return;
  }
  REQUIRE(lw_vulkan_device_export(own.get(), &handles) == LW_OK);
  CHECK(handles.device != VK_NULL_HANDLE);
  Embedding e;
  e.import();
  REQUIRE(lw_vulkan_device_export(e.device.get(), &handles) == LW_OK);
  CHECK(handles.instance == e.program.instance);
  CHECK(handles.physical_device == e.program.physical);
  CHECK(handles.device == e.program.device);
  CHECK(handles.queue == e.program.queue);
  CHECK(handles.queue_family == e.program.family);
}

TEST_CASE("Vulkan: what to switch on has names, and is what the device then has") {
  if (on_reference()) return;
  Embedding e;
  std::vector<std::string> names;
  for (size_t i = 0; const char* name = lw_vulkan_needs_feature_name(e.needs.get(), i); ++i)
    names.push_back(name);
  e.import();
  const bool listed = std::ranges::find(names, "bufferDeviceAddress") != names.end() &&
                      std::ranges::find(names, "shaderInt64") != names.end();
  CHECK(listed == e.addresses);
  lw_device_info imported{}, opened{};
  imported.struct_size = opened.struct_size = sizeof imported;
  REQUIRE(lw_device_get_info(e.device.get(), &imported) == LW_OK);
  REQUIRE(lw_device_get_info(open().get(), &opened) == LW_OK);
  CHECK(std::string(imported.tier) == opened.tier);
  CHECK(std::string(imported.name) == opened.name);
}

TEST_CASE("Vulkan: the same in C++") {
  if (on_reference()) return;
  Embedding e;
  const auto device = lanewise::interop::import_device(e.info());
  auto module = lanewise::Device(device).load_text(kScale, lanewise::Isa::ptx);
  lanewise::Buffer own = lanewise::Device(device).buffer(std::vector<float>(4, 1.0f));
  CHECK(lanewise::interop::export_buffer(own).size == 16);
  CHECK(lanewise::interop::export_device(device).queue == e.program.queue);
  if (device.info().tier == "T0") return;
  const auto mine = e.program.make_buffer(64, kShared);
  {
    const auto b = lanewise::interop::import_buffer(device, e.of(mine, 64), "positions");
    module.kernel().launch({.grid = {1}, .block = {16}}, b, 1.0f, 16).check();
  }
  CHECK(as_float(mine.words[15]) == 15.0f);
}
