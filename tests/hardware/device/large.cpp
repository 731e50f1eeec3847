#include <fmt/format.h>

#include "lanewise/lanewise.hpp"
#include "tests/hardware/device/device.hpp"
#include "tests/hardware/device/rows.hpp"

namespace lanewise::kit {
namespace {

constexpr uint64_t kBytes = (uint64_t{5} << 30) + 4096;
constexpr uint64_t kSmallBytes = (uint64_t{8} << 20) + 4096;  ///< for tests of the kit
constexpr uint64_t kRest = uint64_t{64} << 20;  ///< for parameters and what the engine keeps
constexpr uint32_t kLanes = 64;

/// Lane n reads the word at n * step and stores it, plus n, one word further.
constexpr const char* kKernel = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry far(.param .u64 p, .param .u64 step)
{
  .reg .b32 %r<4>; .reg .b64 %d<5>;
  ld.param.u64 %d1, [p];
  ld.param.u64 %d2, [step];
  mov.u32 %r1, %tid.x;
  cvt.u64.u32 %d3, %r1;
  mad.lo.u64 %d1, %d3, %d2, %d1;
  ld.global.u32 %r2, [%d1];
  add.u32 %r2, %r2, %r1;
  st.global.u32 [%d1+4], %r2;
  ret;
}
)";

/// How many lanes' words are wrong.
unsigned wrong_words(Buffer& buffer, const Kernel& kernel, Memcheck check, uint64_t step) {
  for (uint32_t n = 0; n < kLanes; ++n) {
    const std::vector<uint32_t> word = {1000 * n + static_cast<uint32_t>(check), 0};
    buffer.write(std::as_bytes(std::span(word)), n * step);
  }
  LaunchOptions options{.grid = {1}, .block = {kLanes}};
  options.memcheck = check;
  kernel.launch(options, buffer, step).check();
  unsigned wrong = 0;
  for (uint32_t n = 0; n < kLanes; ++n) {
    std::vector<uint32_t> words(2);
    buffer.read(std::as_writable_bytes(std::span(words)), n * step);
    wrong += words[1] != words[0] + n || words[0] != 1000 * n + static_cast<uint32_t>(check);
  }
  return wrong;
}

}  // namespace

int large_buffer(const DeviceArguments& a) {
  Device device = Device::open(a.device);
  const uint64_t most = device.info().max_arena;
  const uint64_t bytes = a.small ? kSmallBytes : kBytes;
  if (most < bytes + kRest)
    return skip(fmt::format("buffers of more than 4 GiB: {} has {} MiB of memory for guests",
                            device.info().name, most >> 20));
  Buffer buffer = device.allocate(bytes, "large");
  const Kernel kernel = device.load_text(kKernel, Isa::ptx, "large.ptx").kernel();
  const uint64_t step = (bytes - 8) / (kLanes - 1) / 4 * 4;
  bool good = true;
  for (const Memcheck check : {Memcheck::alloc, Memcheck::arena, Memcheck::off}) {
    const unsigned wrong = wrong_words(buffer, kernel, check, step);
    const char* const names[] = {"arena", "alloc", "off"};
    print_row({{"kind", "fact"},
               {"name", fmt::format("large/{}", names[static_cast<size_t>(check)])},
               {"bytes", bytes},
               {"wrong_lanes", wrong}});
    good = good && wrong == 0;
  }
  // The last lane goes beyond the end.
  LaunchOptions options{.grid = {1}, .block = {kLanes}};
  const Result beyond = kernel.launch(options, buffer, bytes / (kLanes - 1) / 4 * 4 + 4);
  print_row({{"kind", "fact"}, {"name", "large/faults"}, {"lanes", beyond.fault_count}});
  good = good && beyond.fault_count == 1;
  return good ? kPassed : kWrong;
}

}  // namespace lanewise::kit
