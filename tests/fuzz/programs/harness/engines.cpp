#include "tests/fuzz/programs/harness/engines.hpp"

#include <mutex>
#include <stdexcept>

#include "runtime/reference/reference.hpp"
#include "runtime/vulkan/vulkan_engine.hpp"
#include "tests/support/selectors.hpp"

namespace lanewise::programs {
namespace {

/// An engine keeps every pipeline that it has made, and no program comes twice.
constexpr unsigned kRunsOfOne = 400;

std::unique_ptr<Engine> open(const Target& target) {
  if (target.label == "reference") return reference::make_engine();
  // Opening a device tries what it can do; the answers are kept, not the programs.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  vulkan::Options options;
  options.cache_dir = "off";
  return vulkan::make_engine(target.selector, options);
}

}  // namespace

std::vector<Target> targets(const std::string& device) {
  std::vector<Target> list;
  if (device == "all" || device == "reference") list.push_back({"reference", ""});
  if (device == "reference") return list;
  if (!test::names_software_drivers(device)) return {{device, device}};
  for (const test::SoftwareDriver& d : test::selectable_drivers())
    if (device == "all" || device == d.label) list.push_back({d.label, d.part});
  return list;
}

Engine& Engines::at(const Target& target) {
  Open& o = open_[target.label];
  if (o.engine == nullptr || o.runs >= kRunsOfOne) {
    o.engine.reset();
    o = {open(target), 0};
  }
  ++o.runs;
  return *o.engine;
}

}  // namespace lanewise::programs
