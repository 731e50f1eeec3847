// Every program of tests/host/cuda checks its own results.
#include <fmt/format.h>

#include <algorithm>

#include "tests/host/support.hpp"

using namespace host_test;

namespace {

void check_ok(const std::string& program, const std::string& environment = {}) {
  INFO(program, " ", environment);
  const Output o = run(program, {}, environment);
  INFO(o.out, o.err);
  CHECK(o.code == 0);
  CHECK(o.out.ends_with(program.substr(0, program.find('.')) + ": ok\n"));
  const bool faults = is(program, "printing") || is(program, "runtime_state") ||
                      is(program, "drv_errors") || is(program, "dev_assert") ||
                      is(program, "hip_errors");
  CHECK(reports(o) == (faults ? 1 : 0));
}

}  // namespace

TEST_CASE("programs: each checks its own results") {
  size_t seen = 0;
  for (const std::string& program : all_programs()) {
    // jit is run below.
    if (is(program, "errors") || is(program, "jit") || is(program, "drv_devices") ||
        is(program, "blur_first") || !is_served(program))
      continue;
    // Drivers' compilers take half a minute for the sort, and longer for some that allocate; in
    // dev_assert lanes wait for a subgroup that lavapipe 22.3 starts last, and which may not start
    // once its limit has ended their loops.
    bool slow = is(program, "cub_sort") || is(program, "hip_printf") || is(program, "hip_malloc") ||
                program.starts_with("dev_");
    for (const char* quick : {"dev_leak", "dev_lists", "dev_one_block", "dev_printf", "dev_tree"})
      slow = slow && !is(program, quick);
    // Groups that wait for each other, and code for descriptors that are known at run time alone.
    slow = slow || is(program, "hip_grid_sync") || is(program, "hip_textures") ||
           is(program, "hip_references");
    if (slow && !on_reference()) continue;
    check_ok(program);
    ++seen;
  }
  CHECK(seen >= 45);
}

#ifdef LANEWISE_NVRTC_DOUBLE
TEST_CASE("programs: as nvcc builds them by itself, with a static runtime") {
  if (!on_reference()) return;
  const std::string folder = std::string(LANEWISE_TEST_DATA) + "/host/static/programs";
  size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string program = entry.path().filename().string();
    // Those whose arguments say what they do, which are run with a shared runtime.
    if (is(program, "errors") || is(program, "stream_order") || is(program, "jit")) continue;
    make_executable(entry.path().string());
    const Output o = cli_test::program("exec --device reference " + entry.path().string());
    INFO(program, o.out, o.err);
    const bool fault = is(program, "printing") || is(program, "runtime_state");
    CHECK(o.code == (fault ? 1 : 0));
    CHECK(reports(o) == (fault ? 1 : 0));
    CHECK(o.out.ends_with(program.substr(0, program.find('.')) + ": ok\n"));
    ++seen;
  }
  CHECK(seen >= 29);
}
#endif

TEST_CASE("programs: the same where no host memory is used in place") {
  for (const char* program : {"managed.cuda13", "reductions.cuda13", "graphs.cuda13",
                              "virtual_functions.cuda13", "conjugate_gradient.cuda13"})
    check_ok(program, "LANEWISE_HOST_MEMORY=copy");
}

TEST_CASE("programs: the README's first example has a mistake, which its report names") {
  const Output o = run("blur_first.cuda13");
  CHECK(o.code == 1);
  CHECK(reports(o) == 1);
  CHECK(o.err.find("blur.cu:8]") != std::string::npos);
  CHECK(o.err.find("nearest allocation: 'cudaMalloc #1' (4000 bytes; right behind its end)") !=
        std::string::npos);
}

TEST_CASE("programs: what kernels print comes at synchronisation, a failed assertion once") {
  const Output o = run("printing.cuda13");
  CHECK(o.out ==
        "launch 1 thread 0 text 0.00\nlaunch 1 thread 1 text 0.25\nlaunch 2 thread 0 text 0.00\n"
        "host\nlaunch 3 thread 0 text 0.00\nprinting: ok\n");
  CHECK(o.err.find("assertion failed: static_cast<int>(threadIdx.x) < limit") != std::string::npos);
  CHECK(o.err.find("printing.cu:6") != std::string::npos);
}

TEST_CASE("programs: a planted error has CUDA's code at CUDA's call, and one report") {
  // Of what a kernel did; the others are found before anything runs.
  const std::vector<int> faults = {0, 1, 2, 3, 4, 5, 6, 24, 25};
  const int last = 25;
  for (int which = 0; which <= last; ++which) {
    INFO("error ", which);
    const Output o = run("errors.cuda13", std::to_string(which));
    INFO(o.out, o.err);
    CHECK(o.code == 0);
    CHECK(o.out == "errors: ok\n");
    const bool fault = std::find(faults.begin(), faults.end(), which) != faults.end();
    CHECK(reports(o) == (fault ? 1 : 0));
    if (fault) CHECK(o.err.find("errors.cu:") != std::string::npos);
    const bool of_host = o.err.find("it is memory of the host") != std::string::npos;
    CHECK(of_host == (which == 25));
  }
}

TEST_CASE("programs: what kernels leave, free twice or ask too much is one clear line") {
  const Output leak = run("dev_leak.cuda13", {}, "LANEWISE_CHECK=leaks");
  INFO(leak.out, leak.err);
  CHECK(leak.code == 0);
  CHECK(
      leak.err.find("lanewise: leak: 11 blocks of 1100 bytes in all, which kernels allocated, not "
                    "freed: 0x") != std::string::npos);
  CHECK(leak.err.find("lanewise: leak: cudaMalloc #1 of 128 bytes was not freed\n") !=
        std::string::npos);
  CHECK(run("dev_leak.cuda13").err.empty());
  if (!on_reference()) {
    const Output grid = run("dev_barriers.cuda13");
    CHECK(grid.err.find("at most 1 are resident at the same time") != std::string::npos);
    return;
  }
  for (const char* how : {"0", "1"}) {
    const Output twice = run("dev_double_free.cuda13", how);
    CHECK(twice.code == 0);
    CHECK(reports(twice) == 1);
    CHECK(twice.err.find("free() of what malloc() did not give, or of what is free already") !=
          std::string::npos);
  }
  // Once, where several launches find none.
  const Output none_left = run("dev_exhausted.cuda13");
  CHECK(none_left.err ==
        "lanewise: malloc() of a kernel gave null: kernels have a heap of 1048576 bytes; "
        "cudaDeviceSetLimit(cudaLimitMallocHeapSize, ...) sets it before its first use\n");
  CHECK(run("dev_tree.cuda13").err.empty());
  const Output semaphore = run("hip_functions.hip5", "1");
  CHECK(semaphore.code != 0);
  CHECK(semaphore.err.find("illegal instruction") != std::string::npos);
  CHECK(semaphore.err.find("ds_gws_barrier") != std::string::npos);
  const Output apart = run("hip_grid_sync.hip5", "1");
  CHECK(apart.code != 0);
  CHECK(apart.err.find("this is another one: hipLaunchCooperativeKernel, or the policy "
                       "groups=resident") != std::string::npos);
  CHECK(run("hip_malloc.hip5").err ==
        "lanewise: malloc() of a kernel gave null: kernels have a heap of 134217728 bytes, in "
        "slabs of 2 MiB\n");
  // Their allocator is no race, and a store of many lanes to one element is.
  CHECK(reports(run("dev_leak.cuda13", {}, "LANEWISE_CHECK=race")) == 0);
  const Output race = run("attributes.cuda13", {}, "LANEWISE_CHECK=race");
  CHECK(reports(race) == 1);
  CHECK(race.err.find("data race: store") != std::string::npos);
  CHECK(race.err.find("attributes.cu:9") != std::string::npos);
  // Where a key comes to lie depends on who is first; what the program finds does not.
  const Output order = run("hash_table.cuda13", {}, "LANEWISE_SCHEDULE=search:3");
  CHECK(reports(order) != 0);
  CHECK(order.err.find("memory differs in ") != std::string::npos);
  CHECK(order.out.ends_with("hash_table: ok\n"));
  CHECK(run("jacobi.cuda13", {}, "LANEWISE_SCHEDULE=random:9").out.ends_with("jacobi: ok\n"));
  const Output grid = run("dev_grid_sync.cuda13");
  CHECK(grid.err.find("has 321 thread blocks of 128 threads; at most 320 are resident") !=
        std::string::npos);
  const Output flood = run("dev_printf.cuda13");
  CHECK(count(flood.out, "\n") == 8 * 32 * 8 + 3);
  CHECK(flood.out.find("line 7 of block 7 thread 31: odd 0.875 123456789abcdef\n") !=
        std::string::npos);
  CHECK(flood.out.ends_with("between\n1 2 3\ndev_printf: ok\n"));
}

#ifdef LANEWISE_NVRTC_DOUBLE
TEST_CASE("programs: who asks NVRTC for machine code gets its PTX") {
  const std::string program = path_of("jit.cuda13");
  make_executable(program);
  for (const char* compiler : {LANEWISE_NVRTC_DOUBLE, ""}) {
    const Output o = cli_test::program(std::string("exec --device ") + cli_test::device() + " " +
                                       program + " " + compiler);
    INFO(compiler, o.out, o.err);
    CHECK(o.code == 0);
    CHECK(o.out.ends_with("jit: ok\n"));
    // What NVRTC asks the driver for is no call of the program's.
    CHECK(o.err.find("cuGetExportTable") == std::string::npos);
  }
}
#endif

TEST_CASE("programs: without a GPU that is named, one that the program has code for") {
  CHECK(run("ampere.cuda13").code == 0);
  const Output older = run("ampere.cuda13", {}, "LANEWISE_GPU=t4");
  CHECK(older.out.find("compute capability: 7, 8 was expected") != std::string::npos);
}

TEST_CASE("programs: a list of visible devices hides the only one, or not") {
  CHECK(run("drv_vector_add.cuda13", {}, "CUDA_VISIBLE_DEVICES=0,3").code == 0);
  for (const char* list : {"", "1", "-1", "GPU-none"}) {
    const Output o = run("drv_vector_add.cuda13", {}, std::string("CUDA_VISIBLE_DEVICES=") + list);
    CHECK(o.code == 1);
    CHECK(o.out.find("cuInit(0)") != std::string::npos);
  }
}

TEST_CASE("programs: several devices, each with its figures, variables, memory and failures") {
  const Output both = run("devices.cuda13", {}, "LANEWISE_GPU=t4,gv100");
  INFO(both.out, both.err);
  CHECK(both.code == 0);
  CHECK(both.out ==
        "device 0: Tesla T4, bus 1\ndevice 1: Tesla V100-PCIE-16GB, bus 2\ndevices: ok\n");
  CHECK(reports(both) == 1);
  const Output driver = run("drv_devices.cuda13", {}, "LANEWISE_GPU=2");
  INFO(driver.out, driver.err);
  CHECK(driver.out == "drv_devices: ok\n");
  if (!on_reference()) return;
  const Output some = run("devices.cuda13", "names",
                          "LANEWISE_GPU=t4,gv100,p100 "
                          "CUDA_VISIBLE_DEVICES=2,GPU-6c616e65-7769-7365-2d64-657669636500,5,1");
  CHECK(some.out ==
        "device 0: Tesla P100-PCIE-16GB, bus 3\ndevice 1: Tesla T4, bus 1\ndevices: ok\n");
  const Output twice = run("devices.cuda13", "names",
                           "LANEWISE_GPU=3 CUDA_VISIBLE_DEVICES=1,2,1,0 HIP_VISIBLE_DEVICES=1");
  CHECK(twice.out == "device 0: Tesla T4, bus 3\ndevices: ok\n");
  for (const char* count : {"LANEWISE_GPU=0", "LANEWISE_GPU=17"})
    CHECK(run("devices.cuda13", "names", count).err.find("1 to 16 devices") != std::string::npos);
  CHECK(run("devices.cuda13", "names", "LANEWISE_GPU=t4,none").code != 0);
  if (is_served("texture_references.cuda11"))  // bound in the module of the second device
    CHECK(run("texture_references.cuda11", "1", "LANEWISE_GPU=2").code == 0);
  const Output managed = run("managed.cuda13", {}, "LANEWISE_GPU=2");
  CHECK(managed.out.ends_with("managed: ok\n"));
}

TEST_CASE(
    "programs: a peer's memory is reached once that was asked for, managed variables by all") {
  const Output asked = run("peer_access.cuda13", {}, "LANEWISE_GPU=2");
  INFO(asked.out, asked.err);
  CHECK(asked.code == 0);
  CHECK(asked.out == "peer_access: ok\n");
  CHECK(reports(asked) == 0);
  if (!on_reference()) return;
  for (const char* how : {"argument", "memory"}) {
    const Output o = run("peer_access.cuda13", how, "LANEWISE_GPU=2");
    INFO(how, o.out, o.err);
    CHECK(o.code == 0);
    CHECK(reports(o) == 1);
    CHECK(o.err.find("of 16 bytes; out of this kernel's reach)") != std::string::npos);
    CHECK(o.err.find("it is memory of device 0, which kernels of device 1 reach once that has "
                     "called cudaDeviceEnablePeerAccess(0, 0)") != std::string::npos);
  }
}

TEST_CASE("programs: HIP's printf goes through a thread of the host, whole lines at a time") {
  if (!on_reference()) return;  // the library's code is large: lavapipe compiles it for minutes
  const Output o = run("hip_printf.hip5");
  INFO(o.err);
  CHECK(o.code == 0);
  std::vector<std::string> wanted, found;
  for (int block = 0; block < 3; ++block)
    for (int lane = 0; lane < 70; ++lane)
      for (int n = 0; n < 2; ++n)
        if ((lane + n) % 3 != 0)
          wanted.push_back(fmt::format(
              "block {} lane {} round {}: {:8.3f} {}", block, lane, n, lane * 0.25 - n,
              lane % 2 != 0 ? "odd"
                            : "even and long enough for a text of several packets of this kind"));
  const size_t end = o.out.find("   42|");
  REQUIRE(end != std::string::npos);
  for (size_t at = 0; at < end; at = o.out.find('\n', at) + 1)
    found.push_back(o.out.substr(at, o.out.find('\n', at) - at));
  std::ranges::sort(wanted);
  std::ranges::sort(found);
  CHECK(found == wanted);
  CHECK(o.out.substr(end) ==
        "   42|-42  |00007|beef|q|%|-123456789012345|     9|0.33\nnothing else\n"
        "[] [     right] [l   ]\n56 13 23\nhip_printf: ok\n");
}

TEST_CASE("programs: sixteen at once share a cache that none of them finds") {
  if (on_reference()) return;  // it keeps nothing on disk
  const std::string cache = cli_test::scratch() + "/cache";
  const std::string line =
      "env -u LANEWISE_CACHE_DIR XDG_CACHE_HOME=" + cache +
      " LD_LIBRARY_PATH=" LANEWISE_CUDART " LANEWISE_DEVICE=" + cli_test::device() + " " +
      path_of("vector_add.cuda13") + " || echo FAILED";
  make_executable(path_of("vector_add.cuda13"));
  std::string all;
  for (int i = 0; i < 16; ++i)
    all += "(" + line + ") >" + cli_test::scratch() + "/out" + std::to_string(i) + " 2>&1 & ";
  REQUIRE(std::system((all + "wait").c_str()) == 0);
  for (int i = 0; i < 16; ++i)
    CHECK(cli_test::slurp(cli_test::scratch() + "/out" + std::to_string(i)) == "vector_add: ok\n");
  CHECK(std::filesystem::exists(cache + "/lanewise"));
  CHECK(run("vector_add.cuda13", {}, "XDG_CACHE_HOME=" + cache).out == "vector_add: ok\n");
}

TEST_CASE("programs: settings of the environment") {
  const Output named = run("vector_add.cuda13", {}, "LANEWISE_GPU=gh100 LANEWISE_SUMMARY=1");
  CHECK(named.code == 0);
  CHECK(named.err.find("lanewise: 1 launches, 3 copies of 60000 bytes, 0 lanes faulted") !=
        std::string::npos);
  const Output unknown = run("vector_add.cuda13", {}, "LANEWISE_GPU=none");
  CHECK(unknown.code != 0);
  CHECK(unknown.err.find("LANEWISE_GPU is 'none'; expected one of t4, ") != std::string::npos);
  const Output check = run("vector_add.cuda13", {}, "LANEWISE_MEMCHECK=every");
  CHECK(check.err.find("LANEWISE_MEMCHECK is 'every'; alloc, arena or off was expected") !=
        std::string::npos);
  const Output budget = run("vector_add.cuda13", {}, "LANEWISE_POLICIES=step_budget=maybe");
  CHECK(budget.code != 0);
}

TEST_CASE("programs: a cache tracker follows all launches") {
  if (!on_reference()) return;
  const Output o = run("managed.cuda13", {}, "LANEWISE_CACHE=gv100");
  INFO(o.out, o.err);
  CHECK(o.out.ends_with("managed: ok\n"));
  CHECK(o.err.find("L2") != std::string::npos);
}
