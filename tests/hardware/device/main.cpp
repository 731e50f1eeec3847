// kit_device: what the hardware kit asks a Vulkan device beyond the tests and benchmarks.
#include <CLI/CLI.hpp>

#include "lanewise/error.hpp"
#include "tests/hardware/device/device.hpp"
#include "tests/hardware/device/rows.hpp"

using namespace lanewise;

int main(int argc, char** argv) {
  kit::DeviceArguments a;
  int (*chosen)(const kit::DeviceArguments&) = nullptr;
  CLI::App app("kit_device: facts and figures of a Vulkan device, a JSON object a line");
  app.require_subcommand(1);
  struct Part {
    const char *name, *text;
    int (*run)(const kit::DeviceArguments&);
  };
  for (const Part& part : {Part{"facts", "the device and what the probes found", kit::facts},
                           {"compile", "compile times of the bench kernels", kit::compile_times},
                           {"copy", "bandwidth of copies", kit::copy_bandwidth},
                           {"large", "a buffer of more than 4 GiB", kit::large_buffer}}) {
    CLI::App* sub = app.add_subcommand(part.name, part.text);
    sub->add_option("--device", a.device);
    sub->add_flag("--small", a.small);
    sub->callback([&chosen, run = part.run] { chosen = run; });
  }
  CLI11_PARSE(app, argc, argv);
  try {
    return chosen(a);
  } catch (const Error& e) {
    std::fprintf(stderr, "kit_device: %s\n", e.what());
    return static_cast<int>(e.kind());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kit_device: %s\n", e.what());
    return kit::kDeviceError;
  }
}
