#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lanewise/lanewise.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cli {
namespace {

nlohmann::json device_json(const DeviceInfo& d) {
  return {{"index", d.index},
          {"name", d.name},
          {"driver", d.driver},
          {"tier", d.tier},
          {"type", d.type},
          {"subgroup_size", d.subgroup_size},
          {"max_invocations", d.max_invocations},
          {"max_shared", d.max_shared},
          {"max_arena", d.max_arena},
          {"compile_only", !d.profile.empty()},
          {"int64", d.int64},
          {"int16", d.int16},
          {"int8", d.int8},
          {"float16", d.float16},
          {"float64", d.float64}};
}

int list_devices(bool json) {
  const auto devices = Device::list();
  if (json) {
    nlohmann::json all = nlohmann::json::array();
    for (const DeviceInfo& d : devices) all.push_back(device_json(d));
    fmt::print("{}", json_document(nlohmann::json{{"devices", all}}));
    return 0;
  }
  fmt::print("{:>5}  {:4} {:10} {:>8} {:>9} {:>10} {:>9}  {}\n", "index", "tier", "type",
             "subgroup", "threads", "shared", "arena", "name (driver)");
  for (const DeviceInfo& d : devices) {
    const std::string compile_only =
        d.profile.empty() ? "" : fmt::format(", compile-only (profile {})", d.profile);
    fmt::print("{:>5}  {:4} {:10} {:>8} {:>9} {:>6} KiB {:>5} MiB  {} ({}){}\n",
               d.index < 0 ? "-" : std::to_string(d.index), d.tier, d.type, d.subgroup_size,
               d.max_invocations, d.max_shared / 1024, d.max_arena >> 20, d.name, d.driver,
               compile_only);
  }
  return 0;
}

}  // namespace

void add_devices(const Command& app) {
  const Command sub = app.command("devices", "list every Vulkan device and the reference engine");
  auto json = std::make_shared<bool>(false);
  sub.json(*json);
  sub.examples({"lanewise devices --json"});
  sub.does([json] { return list_devices(*json); });
}

}  // namespace lanewise::cli
