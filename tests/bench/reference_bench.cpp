// What the reference engine makes of a second of processor time, saxpy beside
// the prototype of its kind. Arguments: the folder samples/kernels; then names of kernels, none
// = all. With the environment variable LANEWISE_THREADS=1 on one thread.
#include <bit>
#include <chrono>
#include <cstddef>
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

// --- the prototype that the engine is measured beside: 32 lanes side by side, registers of 64
// bits, one jump for each instruction of saxpy, every access checked against its buffer.
namespace prototype {

constexpr uint32_t kLanes = 32;
enum class Op : uint8_t {
  param,
  special,
  mul,
  add,
  ge,
  leave,
  move,
  wide,
  add64,
  load,
  store,
  fma,
  end
};
struct Code {
  Op op;
  uint8_t d = 0, a = 0, b = 0, c = 0;
  uint32_t number = 0;
};
using Register = uint64_t[kLanes];
struct Buffer {
  uint64_t base, size;
};
struct Machine {
  std::vector<std::byte> memory, params;
  std::vector<Buffer> buffers;
  Register r[32] = {};
};

bool check(const Machine& m, const uint64_t* at, uint64_t mask) {
  const uint64_t first = at[__builtin_ctzll(mask)];
  for (const Buffer& b : m.buffers) {
    if (first - b.base >= b.size) continue;
    uint64_t bad = 0;
    for (uint32_t i = 0; i < kLanes; ++i) {
      const uint64_t offset = at[i] - b.base;
      bad |= uint64_t{(offset > b.size - 4) || (offset & 3) != 0} << i;
    }
    return (bad & mask) == 0;
  }
  return false;
}

/// False: an access lay outside.
__attribute__((target_clones("arch=haswell", "default"))) bool run(Machine& m, const Code* p,
                                                                   uint32_t group, uint32_t first) {
  uint64_t mask = 0xffffffff;
  const auto each = [&](auto value) __attribute__((always_inline)) {
    uint64_t* d = m.r[p->d];
    for (uint32_t i = 0; i < kLanes; ++i) d[i] = value(i);
  };
  for (;; ++p) {
    const uint64_t *a = m.r[p->a], *b = m.r[p->b], *c = m.r[p->c];
    switch (p->op) {
      case Op::param: {
        uint64_t v = 0;
        std::memcpy(&v, m.params.data() + p->number, p->b);
        each([&](uint32_t) { return v; });
        break;
      }
      case Op::special:
        each([&](uint32_t i) {
          return p->number == 0 ? group : p->number == 1 ? 256U : first + i;
        });
        break;
      case Op::mul:
        each([&](uint32_t i) { return static_cast<uint32_t>(a[i]) * static_cast<uint32_t>(b[i]); });
        break;
      case Op::add:
        each([&](uint32_t i) { return static_cast<uint32_t>(a[i] + b[i]); });
        break;
      case Op::ge:
        each([&](uint32_t i) {
          return uint64_t{static_cast<int32_t>(a[i]) >= static_cast<int32_t>(b[i])};
        });
        break;
      case Op::leave: {
        uint64_t taken = 0;
        for (uint32_t i = 0; i < kLanes; ++i) taken |= (a[i] & 1) << i;
        mask &= ~taken;
        if (mask == 0) return true;
        break;
      }
      case Op::move:
        each([&](uint32_t i) { return a[i]; });
        break;
      case Op::wide:
        each([&](uint32_t i) {
          return static_cast<uint64_t>(int64_t{static_cast<int32_t>(a[i])} * 4);
        });
        break;
      case Op::add64:
        each([&](uint32_t i) { return a[i] + b[i]; });
        break;
      case Op::load: {
        if (!check(m, a, mask)) return false;
        uint64_t* d = m.r[p->d];
        for (uint32_t i = 0; i < kLanes; ++i) {
          uint32_t v = 0;
          if ((mask >> i & 1) != 0) std::memcpy(&v, m.memory.data() + a[i], 4);
          d[i] = v;
        }
        break;
      }
      case Op::store:
        if (!check(m, a, mask)) return false;
        for (uint32_t i = 0; i < kLanes; ++i)
          if ((mask >> i & 1) != 0) std::memcpy(m.memory.data() + a[i], &b[i], 4);
        break;
      case Op::fma:
        each([&](uint32_t i) {
          const auto real = [](uint64_t v) {
            return std::bit_cast<float>(static_cast<uint32_t>(v));
          };
          const float v = __builtin_fmaf(real(a[i]), real(b[i]), real(c[i]));
          return v != v ? 0x7fffffffU : std::bit_cast<uint32_t>(v);
        });
        break;
      case Op::end:
        return true;
    }
  }
}

bool saxpy(Machine& m, uint32_t n) {
  static constexpr Code kCodes[] = {{Op::param, 0, 0, 4, 0, 0},
                                    {Op::param, 1, 0, 4, 0, 4},
                                    {Op::param, 2, 0, 8, 0, 8},
                                    {Op::param, 3, 0, 8, 0, 16},
                                    {Op::special, 4, 0, 0, 0, 0},
                                    {Op::move, 5, 4},
                                    {Op::special, 6, 0, 0, 0, 1},
                                    {Op::move, 7, 6},
                                    {Op::special, 8, 0, 0, 0, 2},
                                    {Op::move, 9, 8},
                                    {Op::mul, 10, 5, 7},
                                    {Op::add, 11, 10, 9},
                                    {Op::move, 12, 11},
                                    {Op::ge, 13, 12, 0},
                                    {Op::leave, 0, 13},
                                    {Op::move, 15, 3},
                                    {Op::move, 16, 2},
                                    {Op::wide, 17, 12},
                                    {Op::move, 18, 17},
                                    {Op::add64, 19, 16, 18},
                                    {Op::move, 20, 19},
                                    {Op::load, 21, 20},
                                    {Op::add64, 22, 15, 18},
                                    {Op::move, 23, 22},
                                    {Op::load, 24, 23},
                                    {Op::fma, 25, 21, 1, 24},
                                    {Op::move, 26, 25},
                                    {Op::store, 0, 23, 26},
                                    {Op::end}};
  bool right = true;
  for (uint32_t group = 0; group < n / 256; ++group)
    for (uint32_t first = 0; first < 256; first += kLanes)
      right = run(m, kCodes, group, first) && right;
  return right;
}

Machine machine(uint32_t n) {
  const uint64_t x = 4096, y = 8192 + uint64_t{n} * 4;
  const float a = 2;
  Machine m;
  m.memory.resize(uint64_t{n} * 8 + 65536);
  m.params.resize(24);
  m.buffers = {{x, uint64_t{n} * 4}, {y, uint64_t{n} * 4}};
  std::memcpy(m.params.data(), &n, 4);
  std::memcpy(m.params.data() + 4, &a, 4);
  std::memcpy(m.params.data() + 8, &x, 8);
  std::memcpy(m.params.data() + 16, &y, 8);
  return m;
}

}  // namespace prototype

void saxpy(Device& device, const std::string& folder) {
  constexpr uint32_t n = 1 << 22;
  auto kernel = device.load_file(folder + "/saxpy.ptx").kernel("saxpy");
  const std::vector<float> ones(n, 1.0F);
  Buffer x = device.buffer(ones), y = device.buffer(ones);
  measure("saxpy", "elements", n,
          [&] { kernel.launch({.grid = {n / 256}, .block = {256}}, n, 2.0F, x, y).check(); });
  prototype::Machine machine = prototype::machine(n);
  bool right = true;
  measure("prototype", "elements", n, [&] { right = prototype::saxpy(machine, n) && right; });
  if (!right) std::printf("the prototype saw a fault\n");
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
