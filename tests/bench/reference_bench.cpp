// What the reference engine makes of a second of processor time, beside a loop written by hand over
// the same lanes (saxpy alone). Arguments: the folder samples/kernels; then names of kernels, none
// = all. With the environment variable LANEWISE_THREADS=1 on one thread.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "lanewise/lanewise.hpp"

namespace {

using lanewise::Buffer;
using lanewise::Device;

constexpr const char* kHeader = ".version 7.5\n.target sm_75\n.address_size 64\n";

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The best of some runs: millions of units in a second of processor time, and of real time.
void measure(const char* name, const char* unit, double units, const std::function<void()>& run) {
  double best = 1e9, wall = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double before = processor_seconds();
    run();
    best = std::min(best, processor_seconds() - before);
    const std::chrono::duration<double> real = std::chrono::steady_clock::now() - start;
    wall = std::min(wall, real.count());
  }
  std::printf("%-10s %9.2f M %s a processor second, %9.2f a second\n", name, units / best / 1e6,
              unit, units / wall / 1e6);
}

// --- by hand: 32 lanes at a time, an array for each register, one step after another, all accesses
// checked against the buffer. What an interpreter of this kind could make at most.
constexpr uint32_t kLanes = 32;
template <typename T>
using Lanes = T[kLanes];

__attribute__((target_clones("avx2,arch=haswell", "default"))) void saxpy_by_hand(uint32_t n,
                                                                                  float a,
                                                                                  const float* x,
                                                                                  float* y) {
  static Lanes<uint32_t> i;
  static Lanes<uint64_t> offset;
  static Lanes<float> vx, vy, r;
  for (uint32_t first = 0; first < n; first += kLanes) {
    for (uint32_t l = 0; l < kLanes; ++l) i[l] = first + l;
    uint32_t outside = 0;
    for (uint32_t l = 0; l < kLanes; ++l) outside |= i[l] >= n ? 1 : 0;
    if (outside != 0) return;
    for (uint32_t l = 0; l < kLanes; ++l) offset[l] = uint64_t{i[l]} * 4;
    for (int access = 0; access < 3; ++access) {
      uint64_t bad = 0;
      for (uint32_t l = 0; l < kLanes; ++l)
        bad |= (offset[l] > uint64_t{n} * 4 - 4 ? 1 : 0) | (offset[l] & 3);
      if (bad != 0) return;
      for (uint32_t l = 0; l < kLanes; ++l) {
        if (access == 0) vx[l] = x[offset[l] / 4];
        if (access == 1) vy[l] = y[offset[l] / 4];
        if (access == 2) y[offset[l] / 4] = r[l];
      }
      if (access == 1)
        for (uint32_t l = 0; l < kLanes; ++l) {
          const float v = std::fma(a, vx[l], vy[l]);
          r[l] = v != v ? NAN : v;
        }
    }
  }
}

void saxpy(Device& device, const std::string& folder) {
  constexpr uint32_t n = 1 << 22;
  auto kernel = device.load_file(folder + "/saxpy.ptx").kernel("saxpy");
  const std::vector<float> ones(n, 1.0F);
  Buffer x = device.buffer(ones), y = device.buffer(ones);
  measure("saxpy", "elements", n,
          [&] { kernel.launch({.grid = {n / 256}, .block = {256}}, n, 2.0F, x, y).check(); });
  std::vector<float> host_x = ones, host_y = ones;
  measure("by hand", "elements", n, [&] { saxpy_by_hand(n, 2.0F, host_x.data(), host_y.data()); });
}

void mandelbrot(Device& device, const std::string& folder) {
  constexpr uint32_t side = 512;
  auto kernel = device.load_file(folder + "/mandelbrot.ptx").kernel("mandelbrot");
  Buffer pixels = device.allocate(uint64_t{4} * side * side);
  measure("mandelbrot", "pixels", side * side, [&] {
    kernel
        .launch({.grid = {side / 16, side / 16}, .block = {16, 16}}, pixels, side, side, -2.2F,
                -1.2F, 0.005F, 100)
        .check();
  });
}

void sgemm(Device& device, const std::string& folder) {
  constexpr uint32_t side = 192;
  auto kernel = device.load_file(folder + "/sgemm.ptx").kernel("sgemm");
  const std::vector<float> ones(side * side, 1.0F);
  Buffer a = device.buffer(ones), b = device.buffer(ones), c = device.buffer(ones);
  measure("sgemm", "multiply-adds", double{side} * side * side, [&] {
    kernel
        .launch({.grid = {side / 16, side / 16}, .block = {16, 16}}, side, side, side, 1.0F, a, b,
                0.0F, c)
        .check();
  });
}

constexpr const char* kSum = R"(
.visible .entry sum(.param .u64 data)
{
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r1, [%rd3];
  shfl.sync.bfly.b32 %r6, %r1, 16, 31, -1;
  add.u32 %r1, %r1, %r6;
  shfl.sync.bfly.b32 %r6, %r1, 8, 31, -1;
  add.u32 %r1, %r1, %r6;
  shfl.sync.bfly.b32 %r6, %r1, 4, 31, -1;
  add.u32 %r1, %r1, %r6;
  shfl.sync.bfly.b32 %r6, %r1, 2, 31, -1;
  add.u32 %r1, %r1, %r6;
  shfl.sync.bfly.b32 %r6, %r1, 1, 31, -1;
  add.u32 %r1, %r1, %r6;
  st.global.u32 [%rd3], %r1;
  ret;
}
)";

void sum(Device& device, const std::string& /*folder*/) {
  constexpr uint32_t n = 1 << 19;
  auto kernel = device.load_text(std::string(kHeader) + kSum, lanewise::Isa::ptx).kernel("sum");
  Buffer data = device.buffer(std::vector<uint32_t>(n, 1));
  measure("shuffles", "elements", n,
          [&] { kernel.launch({.grid = {n / 256}, .block = {256}}, data).check(); });
}

/// One level of a search in breadth: `claim` says how a lane takes a node that nobody has seen.
std::string level_kernel(const char* claim) {
  return std::string(kHeader) + R"(
.visible .entry level(.param .u64 rows, .param .u64 columns, .param .u64 depth, .param .u64 next,
                      .param .u64 count, .param .u32 d, .param .u32 n)
{
  .reg .pred %p<6>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [rows];
  ld.param.u64 %rd2, [columns];
  ld.param.u64 %rd3, [depth];
  ld.param.u64 %rd4, [next];
  ld.param.u64 %rd5, [count];
  ld.param.u32 %r1, [d];
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p1, %r6, %r2;
  @%p1 bra done;
  add.u32 %r15, %r1, 1;
  mul.wide.u32 %rd6, %r6, 4;
  add.s64 %rd7, %rd3, %rd6;
  ld.global.u32 %r7, [%rd7];
  setp.ne.u32 %p2, %r7, %r1;
  @%p2 bra done;
  add.s64 %rd8, %rd1, %rd6;
  ld.global.u32 %r8, [%rd8];
  ld.global.u32 %r9, [%rd8+4];
  setp.ge.u32 %p3, %r8, %r9;
  @%p3 bra done;
edge:
  mul.wide.u32 %rd9, %r8, 4;
  add.s64 %rd10, %rd2, %rd9;
  ld.global.u32 %r10, [%rd10];
  mul.wide.u32 %rd11, %r10, 4;
  add.s64 %rd12, %rd3, %rd11;
)" + claim +
         R"(
behind:
  add.u32 %r8, %r8, 1;
  setp.lt.u32 %p5, %r8, %r9;
  @%p5 bra edge;
done:
  ret;
}
)";
}

void search(Device& device, const char* name, const char* claim) {
  constexpr uint32_t n = 1 << 16;
  std::vector<uint32_t> rows{0}, columns;
  std::mt19937 random(1);
  for (uint32_t v = 0; v < n; ++v) {
    for (uint32_t e = random() % 16; e != 0; --e) columns.push_back(random() % n);
    rows.push_back(static_cast<uint32_t>(columns.size()));
  }
  auto kernel = device.load_text(level_kernel(claim), lanewise::Isa::ptx).kernel("level");
  Buffer r = device.buffer(rows), c = device.buffer(columns);
  std::vector<uint32_t> start(n, ~0U);
  start[0] = 0;
  Buffer depth = device.buffer(start), next = device.allocate(uint64_t{4} * n),
         count = device.allocate(4);
  measure(name, "edges", static_cast<double>(columns.size()), [&] {
    depth.write(start);
    count.write(std::vector<uint32_t>{0});
    for (uint32_t d = 0; d < 10; ++d)
      kernel.launch({.grid = {n / 256}, .block = {256}}, r, c, depth, next, count, d, n).check();
  });
}

void bfs(Device& device, const std::string& /*folder*/) {
  search(device, "bfs", R"(
  ld.global.u32 %r11, [%rd12];
  setp.ne.u32 %p4, %r11, -1;
  @%p4 bra behind;
  st.global.u32 [%rd12], %r15;)");
}

void bfs_atomic(Device& device, const std::string& /*folder*/) {
  search(device, "bfs, cas", R"(
  atom.global.cas.b32 %r11, [%rd12], -1, %r15;
  setp.ne.u32 %p4, %r11, -1;
  @%p4 bra behind;
  atom.global.add.u32 %r12, [%rd5], 1;
  mul.wide.u32 %rd13, %r12, 4;
  add.s64 %rd14, %rd4, %rd13;
  st.global.u32 [%rd14], %r10;)");
}

}  // namespace

int main(int argc, char** argv) {
  struct Bench {
    const char* name;
    void (*run)(Device&, const std::string&);
  };
  constexpr Bench kBenches[] = {{"saxpy", saxpy}, {"mandelbrot", mandelbrot},
                                {"sgemm", sgemm}, {"shuffles", sum},
                                {"bfs", bfs},     {"bfs-cas", bfs_atomic}};
  const std::string folder = argc > 1 ? argv[1] : "samples/kernels";
  Device device = Device::open("reference");
  for (const Bench& bench : kBenches) {
    bool wanted = argc <= 2;
    for (int i = 2; i < argc; ++i) wanted = wanted || std::strcmp(argv[i], bench.name) == 0;
    if (wanted) bench.run(device, folder);
  }
}
