#include <fmt/format.h>

#include <algorithm>

#include "lanewise/lanewise.hpp"
#include "runtime/vulkan/vulkan_engine.hpp"
#include "tests/hardware/device/device.hpp"
#include "tests/hardware/device/rows.hpp"

namespace lanewise::kit {
namespace {

constexpr uint64_t kBorder = uint64_t{1} << 32;
constexpr uint64_t kBytes = (uint64_t{5} << 30) + 4096;
constexpr uint64_t kSmallBytes = (uint64_t{8} << 20) + 4096;  ///< for tests of the kit
constexpr uint64_t kRest = uint64_t{64} << 20;  ///< for parameters and what the engine keeps
constexpr uint32_t kLanes = 64;

/// Arguments: the buffer, and a table with an offset of 64 bits for each lane. A lane loads the
/// word there and stores it, plus its number, one word further. The buffer's address is a pair of
/// registers in each set.
struct Set {
  const char* name;
  Isa isa;
  const char* text;
};
constexpr Set kSets[] = {{"ptx", Isa::ptx, R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry far(.param .u64 p, .param .u64 table)
{
  .reg .b32 %r<4>; .reg .b64 %d<5>;
  ld.param.u64 %d1, [p];
  ld.param.u64 %d2, [table];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %d3, %r1, 8, %d2;
  ld.global.u64 %d4, [%d3];
  add.u64 %d1, %d1, %d4;
  ld.global.u32 %r2, [%d1];
  add.u32 %r2, %r2, %r1;
  st.global.u32 [%d1+4], %r2;
  ret;
}
)"},
                         {"sass", Isa::sass, R"(far:
S2R R0, SR_TID.X ;
SHL R2, R0, 0x3 ;
IADD R2.CC, R2, c[0x0][0x148] ;
IADD.X R3, RZ, c[0x0][0x14c] ;
LDG.E.64 R4, [R2] ;
IADD R4.CC, R4, c[0x0][0x140] ;
IADD.X R5, R5, c[0x0][0x144] ;
LDG.E R6, [R4] ;
IADD R6, R6, R0 ;
STG.E [R4+0x4], R6 ;
EXIT ;
)"},
                         {"gcn", Isa::gcn, R"(.amdgcn_target "amdgcn-amd-amdhsa--gfx700"
far:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_mov_b32 s10, 0
  s_mov_b32 s11, 0xf000
  s_mov_b32 s14, 0
  s_mov_b32 s15, 0xf000
  v_lshlrev_b32 v1, 3, v0
  v_mov_b32 v2, 0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[8:9], s[4:5]
  s_mov_b64 s[12:13], s[6:7]
  buffer_load_dwordx2 v[4:5], v[1:2], s[12:15], 0 addr64
  s_waitcnt vmcnt(0)
  buffer_load_dword v6, v[4:5], s[8:11], 0 addr64
  s_waitcnt vmcnt(0)
  v_add_i32 v6, vcc, v6, v0
  buffer_store_dword v6, v[4:5], s[8:11], 0 addr64 offset:4
  s_endpgm
.section .rodata
.amdhsa_kernel far
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 7
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
)"}};

struct Check {
  Memcheck mode;
  const char* name;
};
constexpr Check kChecks[] = {
    {Memcheck::alloc, "alloc"}, {Memcheck::arena, "arena"}, {Memcheck::off, "off"}};

class Large {
 public:
  Large(Device& device, uint64_t bytes)
      : bytes_(bytes), buffer_(device.allocate(bytes, "large")), table_(device.buffer(offsets())) {}

  bool run(Device& device, const Set& set) {
    const Kernel kernel = device.load_text(set.text, set.isa, set.name).kernel("far");
    bool good = true;
    for (const Check& check : kChecks) {
      const unsigned wrong = wrong_words(kernel, check.mode);
      print_row({{"kind", "fact"},
                 {"name", fmt::format("large/{}/{}", set.name, check.name)},
                 {"bytes", bytes_},
                 {"beyond_4_gib",
                  std::ranges::count_if(offsets(), [](uint64_t at) { return at >= kBorder; })},
                 {"wrong_lanes", wrong}});
      good = good && wrong == 0;
    }
    return faults_behind(kernel, set) && good;
  }

 private:
  /// From the first word of the buffer to the last two, and around the border between.
  std::vector<uint64_t> offsets() const {
    std::vector<uint64_t> at;
    for (uint64_t n = 0; n < kLanes; ++n) at.push_back((bytes_ - 8) / (kLanes - 1) * n / 8 * 8);
    at.back() = bytes_ - 8;
    if (bytes_ > kBorder) {
      at[kLanes - 3] = kBorder - 4;  // the load before it, the store behind it
      at[kLanes - 2] = kBorder + 64;
    }
    return at;
  }

  /// How many lanes' words are wrong.
  unsigned wrong_words(const Kernel& kernel, Memcheck check) {
    const uint32_t salt = ++launches_ * 0x10000;
    const std::vector<uint64_t> at = offsets();
    for (uint32_t n = 0; n < kLanes; ++n) {
      const std::vector<uint32_t> words = {salt + 1000 * n, 0};
      buffer_.write(std::as_bytes(std::span(words)), at[n]);
    }
    launch(kernel, check).check();
    unsigned wrong = 0;
    for (uint32_t n = 0; n < kLanes; ++n) {
      std::vector<uint32_t> words(2);
      buffer_.read(std::as_writable_bytes(std::span(words)), at[n]);
      wrong += words[0] != salt + 1000 * n || words[1] != salt + 1001 * n;
    }
    return wrong;
  }

  /// The last lane's store goes beyond the end.
  bool faults_behind(const Kernel& kernel, const Set& set) {
    std::vector<uint64_t> at = offsets();
    at.back() += 4;
    table_.write(at);
    const Result result = launch(kernel, Memcheck::alloc);
    table_.write(offsets());
    print_row({{"kind", "fact"},
               {"name", fmt::format("large/{}/faults", set.name)},
               {"lanes", result.fault_count}});
    return result.fault_count == 1;
  }

  Result launch(const Kernel& kernel, Memcheck check) {
    LaunchOptions options{.grid = {1}, .block = {kLanes}};
    options.memcheck = check;
    return kernel.launch(options, buffer_, table_);
  }

  uint64_t bytes_;
  Buffer buffer_, table_;
  uint32_t launches_ = 0;
};

}  // namespace

int large_buffer(const DeviceArguments& a) {
  Device device = Device::open(a.device);
  const uint64_t most = device.info().max_arena;
  const uint64_t bytes = a.small ? kSmallBytes : std::min(kBytes, (most - kRest) / 4096 * 4096);
  bool good = true;
  {
    Large large(device, bytes);
    for (const Set& set : kSets) good = large.run(device, set) && good;
  }
  if (!good) return kWrong;
  if (a.small || bytes > kBorder) return kPassed;
  // Not what was asked for; what ran stands in the rows above.
  const bool vulkan = device.info().name != "reference";
  return skip(fmt::format(
      "no buffer of more than 4 GiB: {} has {} MiB of memory for guests ({}); "
      "{} MiB were right",
      device.info().name, most >> 20,
      vulkan ? vulkan::arena_limit_of(*vulkan::make_engine(a.device)) : "half of the machine's",
      bytes >> 20));
}

}  // namespace lanewise::kit
