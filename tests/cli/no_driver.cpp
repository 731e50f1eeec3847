// What needs no Vulkan device opens no driver, and not the loader either: starting them takes most
// of a short run.
#include <fmt/format.h>

#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

/// Below a driver that crashes as soon as it is asked; what the dynamic linker opened is in `log`.
int code_without_driver(const std::string& arguments, const std::string& log) {
  const std::string manifest = write(
      "no_driver.json", fmt::format("{{\"file_format_version\": \"1.0.0\", \"ICD\": "
                                    "{{\"library_path\": \"{}\", \"api_version\": \"1.3.0\"}}}}",
                                    LANEWISE_CRASHING_DRIVER));
  const std::string line = fmt::format(
      "env -u LANEWISE_DEVICE VK_ICD_FILENAMES={0} VK_DRIVER_FILES={0} LD_DEBUG=files "
      "LD_DEBUG_OUTPUT={1} timeout 120 "
      "" LANEWISE_PROGRAM " {2} >{1}.out 2>&1",
      manifest, log, arguments);
  const int status = std::system(line.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The linker adds the process's number to the name.
std::string take_logs(const std::string& log) {
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(scratch()))
    if (entry.path().string().starts_with(log + ".") && entry.path().extension() != ".out") {
      all += slurp(entry.path().string());
      std::filesystem::remove(entry.path());
    }
  return all;
}

}  // namespace

TEST_CASE("commands that need no Vulkan device open no driver" * kHostCase) {
  const std::string data = LANEWISE_TEST_DATA "/kernels/data/";
  const std::string saxpy = LANEWISE_TEST_DATA "/../samples/kernels/saxpy.ptx";
  const std::string sizes =
      " --grid 1 --block 32 --arg i32:9 --arg f32:2 --arg zero:f32[9] --arg zero:f32[9]";
  const std::string script =
      write("no_driver.lw",
            "isa ptx\ncase \"c\" {\n  reg .b32 %a = 1\n  code \"\"\" add.u32 "
            "%a, %a, 1; \"\"\"\n  expect %a == 2\n}\n");
  const std::string suite = scratch() + "/no_driver_suite", log = scratch() + "/no_driver_log";
  std::filesystem::create_directories(suite);
  std::filesystem::copy_file(script, suite + "/a.lw",
                             std::filesystem::copy_options::overwrite_existing);
  const std::string trace = write("no_driver.din", "0 1000\n1 2000\n");
  for (const std::string& command :
       {std::string("--version"),
        std::string("--help"),
        std::string("help run"),
        "run --device reference " + saxpy + sizes,
        "run --device reference " + script,
        "run --device reference --cache gv100 " + saxpy + sizes,
        "check " + saxpy,
        "check --target sm_90 " + saxpy,
        "check " + script,
        "translate --emit ir " + saxpy,
        "translate --emit ir-optimised --block 32 " + saxpy,
        "translate --device profile:vega10 --block 32 " + saxpy,
        std::string("coverage --isa gcn"),
        "asm --isa sass " + data + "sass/k01_saxpy.sass -o " + scratch() + "/no_driver.bin",
        "disasm " + data + "sass/k01_saxpy.cubin",
        "cache " + trace + " --preset gv100",
        "trace convert " + trace + " " + scratch() + "/no_driver.lwt",
        std::string("preset list"),
        "explain " + script,
        "selftest --device reference --suite " + suite}) {
    CAPTURE(command);
    CHECK(code_without_driver(command, log) == 0);
    CAPTURE(slurp(log + ".out"));
    const std::string opened = take_logs(log);
    CHECK(contains(opened, "libc.so"));
    CHECK(!contains(opened, "libvulkan"));
  }
  // What does need one meets that driver, where there is a loader to open it.
  CHECK(code_without_driver("run --device 0 " + saxpy + sizes, log) == 3);
  CHECK(contains(take_logs(log), "libvulkan"));
}
