// The runtime's library itself, without a program: a launch costs about what the same launch
// through the C API costs, and an event with nothing before it is reached at once.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "lanewise/lanewise.h"
#include "tests/host/support.hpp"

namespace {

constexpr const char* kKernel = R"(.version 6.5
.target sm_52
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 out, .param .u32 n) {
  .reg .pred %p;
  .reg .b32 %i, %n, %a, %o;
  .reg .b64 %at, %pa, %po;
  ld.param.u64 %pa, [a];
  ld.param.u64 %po, [out];
  ld.param.u32 %n, [n];
  mov.u32 %i, %tid.x;
  setp.ge.u32 %p, %i, %n;
  @%p ret;
  mul.wide.u32 %at, %i, 4;
  add.u64 %pa, %pa, %at;
  add.u64 %po, %po, %at;
  ld.global.u32 %a, [%pa];
  ld.global.u32 %o, [%po];
  add.u32 %o, %o, %a;
  st.global.u32 [%po], %o;
  ret;
}
)";
constexpr int kLaunches = 400;
constexpr uint32_t kThreads = 64;
constexpr size_t kBytes = 4UL * kThreads;

struct Dim {
  unsigned x, y, z;
};

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The library of CUDA's runtime, and the library below it.
class Library {
 public:
  Library() : handle_(dlopen(LANEWISE_CUDA_LIBRARY, RTLD_NOW)) {
    INFO("this is " LANEWISE_CUDA_LIBRARY);
    REQUIRE(handle_ != nullptr);
  }
  template <typename Function>
  Function* get(const char* name) const {
    void* const found = dlsym(handle_, name);
    INFO(name);
    REQUIRE(found != nullptr);
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* handle_;  // never closed: it works until the process ends
};

/// Seconds of all threads, a launch.
template <typename Launches>
double cost(const Launches& launches) {
  const double before = processor_seconds();
  launches();
  return (processor_seconds() - before) / kLaunches;
}

}  // namespace

#define OF(name) const auto name = library.get<decltype(::name)>(#name)

TEST_CASE("programs: a launch through the runtime costs at most 1.3 of one through the C API") {
  setenv("LANEWISE_DEVICE", cli_test::device(), 1);
  const Library library;
  const auto allocate = library.get<int(void**, size_t)>("cudaMalloc");
  const auto fill = library.get<int(void*, int, size_t)>("cudaMemset");
  const auto load =
      library.get<int(void**, const void*, int*, void**, unsigned, int*, void**, unsigned)>(
          "cudaLibraryLoadData");
  const auto kernel_of = library.get<int(void**, void*, const char*)>("cudaLibraryGetKernel");
  const auto launch =
      library.get<int(const void*, Dim, Dim, void**, size_t, void*)>("cudaLaunchKernel");
  const auto wait = library.get<int()>("cudaDeviceSynchronize");
  void *a = nullptr, *out = nullptr, *module = nullptr, *kernel = nullptr;
  REQUIRE(allocate(&a, kBytes) == 0);
  REQUIRE(allocate(&out, kBytes) == 0);
  REQUIRE(fill(a, 0, kBytes) == 0);
  REQUIRE(fill(out, 0, kBytes) == 0);
  REQUIRE(load(&module, kKernel, nullptr, nullptr, 0, nullptr, nullptr, 0) == 0);
  REQUIRE(kernel_of(&kernel, module, "add") == 0);

  OF(lw_device_open);
  OF(lw_queue_create);
  OF(lw_queue_launch);
  OF(lw_queue_finish);
  OF(lw_module_load_memory);
  OF(lw_kernel_get);
  OF(lw_buffer_create);
  OF(lw_buffer_address);
  OF(lw_event_wait);
  OF(lw_event_release);
  OF(lw_result_release);
  lw_device* device = nullptr;
  lw_queue* queue = nullptr;
  lw_module* own_module = nullptr;
  lw_kernel* own = nullptr;
  std::array<lw_buffer*, 2> buffers{};
  std::array<uint64_t, 2> at{};
  const lw_module_options options = LW_MODULE_OPTIONS_INIT;
  REQUIRE(lw_device_open(cli_test::device(), &device) == LW_OK);
  REQUIRE(lw_queue_create(device, &queue) == LW_OK);
  REQUIRE(lw_module_load_memory(device, kKernel, std::string_view(kKernel).size(), &options,
                                &own_module) == LW_OK);
  REQUIRE(lw_kernel_get(own_module, "add", &own) == LW_OK);
  for (size_t i = 0; i < buffers.size(); ++i) {
    REQUIRE(lw_buffer_create(device, kBytes, "buffer", &buffers[i]) == LW_OK);
    REQUIRE(lw_buffer_address(buffers[i], &at[i]) == LW_OK);
  }

  uint32_t n = kThreads;
  int failed = 0;
  const auto by_runtime = [&](bool each_is_waited_for) {
    std::array<void*, 3> args = {&a, &out, &n};
    for (int i = 0; i < kLaunches; ++i) {
      failed += launch(kernel, {1, 1, 1}, {kThreads, 1, 1}, args.data(), 0, nullptr) != 0 ? 1 : 0;
      if (each_is_waited_for) failed += wait();
    }
    failed += wait();
  };
  const auto by_api = [&](bool each_is_waited_for) {
    std::array<lw_event*, kLaunches> events{};
    const auto take = [&](lw_event* event) {
      lw_result* result = nullptr;
      failed += lw_event_wait(event, &result);
      lw_event_release(event);
      lw_result_release(result);
    };
    for (lw_event*& event : events) {
      lw_launch_options shape = LW_LAUNCH_OPTIONS_INIT;
      shape.grid[0] = 1;
      shape.block[0] = kThreads;
      shape.memcheck = LW_MEMCHECK_ALLOC;
      const std::array<lw_arg, 3> args = {lw_arg_bytes(at.data(), 8), lw_arg_bytes(&at[1], 8),
                                          lw_arg_bytes(&n, 4)};
      failed += lw_queue_launch(queue, own, &shape, args.data(), args.size(), &event);
      if (each_is_waited_for) take(event);
    }
    failed += lw_queue_finish(queue);
    if (!each_is_waited_for) std::ranges::for_each(events, take);
  };
  // The best of several, in turns: other processes come between.
  for (const bool each_is_waited_for : {false, true}) {
    double runtime = 1, api = 1;
    constexpr int kRounds = 12;
    for (int round = 0; round < kRounds && (round < 4 || runtime > 1.3 * api); ++round) {
      runtime = std::min(runtime, cost([&] { by_runtime(each_is_waited_for); }));
      api = std::min(api, cost([&] { by_api(each_is_waited_for); }));
    }
    INFO("waited for ", each_is_waited_for);
    INFO("microseconds of the processor: ", runtime * 1e6, " and ", api * 1e6);
    CHECK(runtime <= 1.3 * api);
  }
  CHECK(failed == 0);
}

TEST_CASE("programs: an event with nothing before it is reached at once") {
  setenv("LANEWISE_DEVICE", cli_test::device(), 1);
  const Library library;
  const auto create = library.get<int(void**)>("cudaEventCreate");
  const auto record = library.get<int(void*, void*)>("cudaEventRecord");
  const auto query = library.get<int(void*)>("cudaEventQuery");
  const auto elapsed = library.get<int(float*, void*, void*)>("cudaEventElapsedTime");
  const auto destroy = library.get<int(void*)>("cudaEventDestroy");
  REQUIRE(library.get<int()>("cudaDeviceSynchronize")() == 0);
  void* before = nullptr;
  for (int i = 0; i < 100; ++i) {
    void* event = nullptr;
    float milliseconds = -1;
    CHECK(create(&event) == 0);
    CHECK(record(event, nullptr) == 0);
    CHECK(query(event) == 0);
    if (before != nullptr) {
      CHECK(elapsed(&milliseconds, before, event) == 0);
      CHECK(milliseconds >= 0);
      CHECK(destroy(before) == 0);
    }
    before = event;
  }
  CHECK(library.get<int()>("cudaGetLastError")() == 0);
}
