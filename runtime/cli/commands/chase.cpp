// lanewise chase: the caches of a preset, or of a device, as a pointer chase sees them.
#include <fmt/format.h>

#include <memory>

#include "runtime/cache/chase/method.hpp"
#include "runtime/cli/commands/chase_device.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/progress.hpp"
#include "runtime/cli/process/watchdog.hpp"

namespace lanewise::cli {
namespace {

struct ChaseArgs {
  std::string preset, device;
  uint32_t buffer_mib = 256;
  double timeout = 0;
  bool json = false;
};

int run_chase(const ChaseArgs& a) {
  if (a.preset.empty() == a.device.empty())
    throw Error(ErrorKind::usage, "chase needs either --preset P or --device D");
  const Watchdog watchdog(a.timeout, Watchdog::Parts::end_at_once);
  std::unique_ptr<cache::ChaseTarget> target;
  if (!a.preset.empty())
    target = cache::modelled_target(cache::load_preset(a.preset));
  else
    target = device_target(Device::open(a.device), uint64_t{a.buffer_mib} << 20);
  const cache::ChaseResult r = [&] {
    const Progress progress("chasing pointers through " + (a.preset.empty() ? a.device : a.preset));
    return cache::chase(*target);
  }();
  fmt::print("{}", a.json ? cache::chase_json(r, *target) : cache::chase_text(r, *target));
  return 0;
}

}  // namespace

void add_chase(const Command& app) {
  const Command sub = app.command(
      "chase", "size, line, ways, sets and replacement of L1 and L2, found by a pointer chase");
  auto a = std::make_shared<ChaseArgs>();
  sub.option("--preset", a->preset, "of the modelled caches: a GPU, or file:PRESET.json")
      .suggests(ValueKind::preset);
  sub.option("--device", a->device, "of a device, by time: auto, a number or part of its name")
      .suggests(ValueKind::device);
  sub.option("--buffer", a->buffer_mib, "with --device: MiB that may be used (256)")
      .between(1, 2048);
  add_timeout_option(sub, a->timeout);
  sub.json(a->json);
  sub.examples({"lanewise chase --preset gm204"});
  sub.does([a] { return run_chase(*a); });
}

}  // namespace lanewise::cli
