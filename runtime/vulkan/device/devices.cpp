#include "runtime/vulkan/device/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>

#include "lanewise/error_detail.hpp"
#include "runtime/support/beside.hpp"
#include "runtime/support/error.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/vulkan/device/features.hpp"
#include "runtime/vulkan/device/profiles.hpp"
#include "runtime/vulkan/vulkan_engine.hpp"

namespace lanewise::vulkan {
namespace {

using Extensions = std::set<std::string, std::less<>>;

Extensions extensions_of(const vk::raii::PhysicalDevice& device) {
  Extensions names;
  for (const auto& e : device.enumerateDeviceExtensionProperties()) {
    names.insert(e.extensionName.data());
  }
  return names;
}

constexpr uint32_t kNeverCore = VK_MAKE_API_VERSION(0, 99, 0, 0);

/// Appends structures to a pNext chain, each only when the device knows it: as part of Vulkan 1.2
/// or through the extension that it came from.
class Chain {
 public:
  Chain(void** head, const Extensions& have, uint32_t api) : tail_(head), have_(have), api_(api) {}
  template <class T>
  bool add(T& node, const char* extension, uint32_t core = VK_API_VERSION_1_2) {
    if (api_ < core) {
      if (!have_.contains(extension)) return false;
      used_.push_back(extension);
    }
    *tail_ = &node;
    tail_ = &node.pNext;
    return true;
  }
  const std::vector<const char*>& used() const { return used_; }

 private:
  void** tail_;
  const Extensions& have_;
  uint32_t api_;
  std::vector<const char*> used_;
};

void read_features(const vk::raii::PhysicalDevice& device, const Extensions& have,
                   DeviceFacts& facts) {
  FeatureStructures all;
  auto& [base, storage16, storage8, small, address, atomics, model, sizes, statistics] = all;
  Chain chain(&base.pNext, have, facts.api_version);
  chain.add(storage16, VK_KHR_16BIT_STORAGE_EXTENSION_NAME, VK_API_VERSION_1_1);
  chain.add(storage8, VK_KHR_8BIT_STORAGE_EXTENSION_NAME);
  chain.add(small, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME);
  chain.add(address, VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME);
  chain.add(atomics, VK_KHR_SHADER_ATOMIC_INT64_EXTENSION_NAME);
  chain.add(model, VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME);
  chain.add(sizes, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_API_VERSION_1_3);
  facts.extensions = chain.used();
  // Asked for, but switched on only where statistics are wanted.
  chain.add(statistics, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, kNeverCore);
  (*device).getFeatures2(&base, *device.getDispatcher());
  facts.has_statistics = statistics.pipelineExecutableInfo;
  if (have.contains(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME))
    facts.extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  if (have.contains("VK_KHR_portability_subset")) {
    facts.extensions.push_back("VK_KHR_portability_subset");
  }
  FeatureSet& f = facts.features;
  f = features_in(&base);
  f.full_subgroups = f.full_subgroups && f.subgroup_sizes;
}

/// Those that are taken first, where nobody names a device, stand first.
constexpr std::pair<vk::PhysicalDeviceType, std::string_view> kTypes[] = {
    {vk::PhysicalDeviceType::eDiscreteGpu, "discrete"},
    {vk::PhysicalDeviceType::eIntegratedGpu, "integrated"},
    {vk::PhysicalDeviceType::eVirtualGpu, "virtual"},
    {vk::PhysicalDeviceType::eCpu, "cpu"},
};

void fill_float_controls(const vk::PhysicalDeviceFloatControlsProperties& p, DeviceFacts& facts) {
  spirv::Target& t = facts.target;
  t.denorm_preserve = p.shaderDenormPreserveFloat32;
  t.flush_mode = p.shaderDenormFlushToZeroFloat32;
  t.rte = p.shaderRoundingModeRTEFloat32;
  t.signed_zero_inf_nan = p.shaderSignedZeroInfNanPreserveFloat32;
  if (!facts.features.float64) return;
  t.denorm_preserve64 = p.shaderDenormPreserveFloat64;
  t.rte64 = p.shaderRoundingModeRTEFloat64;
  t.signed_zero_inf_nan64 = p.shaderSignedZeroInfNanPreserveFloat64;
  // Without independence the two widths must ask for the same thing.
  using I = vk::ShaderFloatControlsIndependence;
  if (p.denormBehaviorIndependence == I::eNone) {
    t.flush_mode = false;
    if (t.denorm_preserve != t.denorm_preserve64) t.denorm_preserve = t.denorm_preserve64 = false;
  }
  if (p.roundingModeIndependence == I::eNone && t.rte != t.rte64) t.rte = t.rte64 = false;
}

bool has_memory(const vk::PhysicalDeviceMemoryProperties& memory) {
  return std::any_of(memory.memoryHeaps.begin(),
                     memory.memoryHeaps.begin() + memory.memoryHeapCount,
                     [](const vk::MemoryHeap& heap) { return heap.size != 0; });
}

uint64_t largest_heap(const vk::PhysicalDeviceMemoryProperties& memory) {
  uint64_t largest = 0;
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    if (memory.memoryHeaps[i].flags & vk::MemoryHeapFlagBits::eDeviceLocal) {
      largest = std::max<uint64_t>(largest, memory.memoryHeaps[i].size);
    }
  }
  return largest;
}

void fill_target(const vk::PhysicalDeviceLimits& limits, uint32_t subgroup, DeviceFacts& facts) {
  spirv::Target& t = facts.target;
  const FeatureSet& f = facts.features;
  t.int64 = f.int64;
  t.bda = f.bda;
  t.storage8 = f.storage8;
  t.storage16 = f.storage16;
  t.float64 = f.float64;
  t.int64_atomics = f.buffer_int64_atomics;
  t.subgroup_size = subgroup;
  t.max_invocations =
      std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
  t.max_shared = limits.maxComputeSharedMemorySize;
}

/// Wave mode needs votes, ballots and shuffles, and subgroups of one known size.
void fill_wave_operations(const vk::PhysicalDeviceSubgroupProperties& p,
                          const vk::PhysicalDeviceSubgroupSizeControlProperties& sizes,
                          DeviceFacts& facts) {
  using enum vk::SubgroupFeatureFlagBits;
  const vk::SubgroupFeatureFlags needed = eBasic | eVote | eBallot | eShuffle;
  const auto stage = vk::ShaderStageFlagBits::eCompute;
  FeatureSet& f = facts.features;
  const bool several = sizes.minSubgroupSize < sizes.maxSubgroupSize;
  f.subgroup_sizes = f.subgroup_sizes && several && (sizes.requiredSubgroupSizeStages & stage);
  facts.target.quad_operations = (p.supportedOperations & eQuad) && (p.supportedStages & stage);
  facts.target.wave_operations = (p.supportedOperations & needed) == needed &&
                                 (p.supportedStages & stage) && (!several || f.subgroup_sizes);
  if (!f.subgroup_sizes) return;
  facts.target.most_in_waves = sizes.maxComputeWorkgroupSubgroups * p.subgroupSize;
  facts.target.least_subgroup = sizes.minSubgroupSize;
}

void limit_arena(DeviceFacts& facts, uint64_t bytes, const char* by) {
  if (!facts.arena_limit.empty() && bytes >= facts.info.max_arena) return;
  facts.info.max_arena = bytes;
  facts.arena_limit = by;
}

void read_properties(const vk::raii::PhysicalDevice& device, const Extensions& have,
                     DeviceFacts& facts) {
  vk::PhysicalDeviceProperties2 base;
  vk::PhysicalDeviceIDProperties id;
  vk::PhysicalDeviceSubgroupProperties subgroup;
  vk::PhysicalDeviceSubgroupSizeControlProperties sizes;
  vk::PhysicalDeviceMaintenance3Properties allocation;
  vk::PhysicalDeviceDriverProperties driver;
  vk::PhysicalDeviceFloatControlsProperties floats;
  vk::PhysicalDeviceMaintenance4Properties buffers;
  vk::PhysicalDeviceExternalMemoryHostPropertiesEXT host;
  Chain chain(&base.pNext, have, facts.api_version);
  chain.add(id, "", VK_API_VERSION_1_1);
  chain.add(subgroup, "", VK_API_VERSION_1_1);
  chain.add(allocation, "", VK_API_VERSION_1_1);
  if (facts.features.subgroup_sizes)
    chain.add(sizes, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_API_VERSION_1_3);
  const bool has_driver = chain.add(driver, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
  chain.add(floats, VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME);
  const bool has_buffers =
      chain.add(buffers, VK_KHR_MAINTENANCE_4_EXTENSION_NAME, VK_API_VERSION_1_3);
  chain.add(host, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, kNeverCore);
  (*device).getProperties2(&base, *device.getDispatcher());
  const vk::PhysicalDeviceProperties& p = base.properties;
  facts.host_import_alignment = host.minImportedHostPointerAlignment;
  for (const char* used : chain.used()) facts.extensions.push_back(used);

  const vk::PhysicalDeviceMemoryProperties memory = device.getMemoryProperties();
  facts.compile_only = !has_memory(memory);
  fill_target(p.limits, std::max(1u, subgroup.subgroupSize), facts);
  fill_wave_operations(subgroup, sizes, facts);
  fill_float_controls(floats, facts);
  std::copy_n(p.limits.maxComputeWorkGroupCount.data(), 3, facts.max_groups.begin());
  facts.type = p.deviceType;
  facts.subgroup_operations = static_cast<uint32_t>(subgroup.supportedOperations);
  facts.max_storage_range = p.limits.maxStorageBufferRange;

  EngineInfo& info = facts.info;
  info.name = p.deviceName.data();
  info.driver = has_driver
                    ? fmt::format("{} {}", driver.driverName.data(), driver.driverInfo.data())
                    : fmt::format("driver version {:#x}", p.driverVersion);
  while (info.driver.ends_with(' ')) info.driver.pop_back();
  info.type = beside(kTypes, p.deviceType, std::string_view("other"));
  info.tier = fmt::format("T{}", facts.target.tier());
  info.subgroup_size = facts.target.subgroup_size;
  info.max_invocations = facts.target.max_invocations;
  info.max_shared = facts.target.max_shared;
  limit_arena(facts, allocation.maxMemoryAllocationSize, "maxMemoryAllocationSize");
  limit_arena(facts, largest_heap(memory), "the largest heap");
  if (has_buffers) limit_arena(facts, buffers.maxBufferSize, "maxBufferSize");
  if (facts.target.tier() == 0)
    limit_arena(facts, facts.max_storage_range, "maxStorageBufferRange");
  if (facts.compile_only) {
    info.profile = kCompilerProfile;
    info.max_arena = 0;
  }
  info.int64 = facts.features.int64;
  info.int16 = facts.features.int16;
  info.int8 = facts.features.int8;
  info.float16 = facts.features.float16;
  info.float64 = facts.features.float64;

  uint64_t h = hash_bytes(id.deviceUUID.data(), id.deviceUUID.size());
  h = hash_bytes(id.driverUUID.data(), id.driverUUID.size(), h);
  h = hash_bytes(p.pipelineCacheUUID.data(), p.pipelineCacheUUID.size(), h);
  h = hash_bytes(&p.driverVersion, sizeof p.driverVersion, h);
  facts.fingerprint = hash_text(info.driver, hash_text(info.name, h));
}

/// A compute queue, preferably one that does not also draw.
std::optional<uint32_t> compute_queue(const vk::raii::PhysicalDevice& device) {
  std::optional<uint32_t> found;
  const auto families = device.getQueueFamilyProperties();
  for (uint32_t i = 0; i < families.size(); ++i) {
    if (families[i].queueCount == 0 || !(families[i].queueFlags & vk::QueueFlagBits::eCompute)) {
      continue;
    }
    if (!(families[i].queueFlags & vk::QueueFlagBits::eGraphics)) return i;
    if (!found) found = i;
  }
  return found;
}

std::ptrdiff_t preference(const DeviceFacts& device) {
  const auto* const known = std::ranges::find(
      kTypes, device.type, &std::pair<vk::PhysicalDeviceType, std::string_view>::first);
  // Never by itself where anything can run.
  return device.compile_only ? std::ssize(kTypes) + 1 : known - kTypes;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string listing(const std::vector<DeviceFacts>& devices) {
  std::string out;
  for (size_t i = 0; i < devices.size(); ++i) {
    out += fmt::format("{} = {}, ", i, devices[i].info.name);
  }
  return out + "and the CPU engine 'reference'";
}

/// The best of the devices of which this text has the part in it.
std::optional<size_t> preferred(const std::vector<DeviceFacts>& devices,
                                std::string EngineInfo::*text, const std::string& part) {
  std::optional<size_t> best;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (lower(devices[i].info.*text).find(part) == std::string::npos) continue;
    if (!best || preference(devices[i]) < preference(devices[*best])) best = i;
  }
  return best;
}

}  // namespace

DeviceFacts facts_of(const vk::raii::PhysicalDevice& device, uint32_t instance_version,
                     const VkDeviceCreateInfo* created) {
  DeviceFacts facts;
  facts.api_version = std::min(device.getProperties().apiVersion, instance_version);
  const Extensions have = extensions_of(device);
  read_features(device, have, facts);
  if (created != nullptr) {
    facts.features = both(facts.features, enabled_in(*created));
    // Kernels of the tiers above 0 use both.
    if (!facts.features.storage16) facts.features.storage8 = false;
  }
  read_properties(device, have, facts);
  if (created == nullptr) return facts;
  const auto on = [&](const char* name) { return extension_in(*created, name); };
  if (facts.api_version < VK_API_VERSION_1_2 && !on(VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME))
    fill_float_controls({}, facts);
  if (!on(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) facts.host_import_alignment = 0;
  facts.has_statistics = false;
  std::erase_if(facts.extensions, [&](const char* name) { return !on(name); });
  // What is found out about the device holds for these features alone.
  facts.fingerprint = hash_text("of a program's own", facts.fingerprint);
  for (const char* name : feature_names(facts.features))
    facts.fingerprint = hash_text(name, facts.fingerprint);
  return facts;
}

std::vector<FoundDevice> find_devices(const Instance& instance) {
  std::vector<FoundDevice> found;
  for (auto& handle : vk::raii::PhysicalDevices(instance.vk())) {
    const auto queue = compute_queue(handle);
    const uint32_t version = handle.getProperties().apiVersion;
    if (!queue || std::min(version, instance.api_version()) < VK_API_VERSION_1_1) continue;
    DeviceFacts facts = facts_of(handle, instance.api_version());
    facts.queue_family = *queue;
    facts.index = static_cast<int>(found.size());
    found.push_back({std::move(handle), std::move(facts)});
  }
  return found;
}

size_t choose_device(const std::vector<DeviceFacts>& devices, std::string_view selector) {
  if (devices.empty()) {
    throw DetailedError(ErrorKind::device, ErrorDetail::no_device,
                        "no Vulkan device found that can compute; install a Vulkan driver "
                        "(Debian: mesa-vulkan-drivers) or use --device reference");
  }
  if (selector.empty()) selector = "auto";
  if (selector == "auto") {
    const char* wanted = std::getenv("LANEWISE_DEVICE");
    if (wanted != nullptr && *wanted != 0) selector = wanted;
  }
  uint32_t index = 0;
  const char* end = selector.data() + selector.size();
  const auto parsed = std::from_chars(selector.data(), end, index);
  if (parsed.ec == std::errc() && parsed.ptr == end) {
    if (index < devices.size()) return index;
    throw DetailedError(
        ErrorKind::device, ErrorDetail::no_device,
        fmt::format("there is no Vulkan device {}; the devices are {}", index, listing(devices)));
  }
  const std::string part = selector == "auto" ? "" : lower(selector);
  // The driver distinguishes what has one name, two versions of Mesa for instance.
  for (const auto text : {&EngineInfo::name, &EngineInfo::driver}) {
    if (const auto best = preferred(devices, text, part)) return *best;
  }
  throw DetailedError(ErrorKind::device, ErrorDetail::no_device,
                      fmt::format("no Vulkan device is called '{}'; the devices are {}", selector,
                                  listing(devices)));
}

ChosenDevice find_device(std::string_view selector, bool validation) {
  try {
    auto instance = Instance::get(validation);
    auto found = find_devices(*instance);
    std::vector<DeviceFacts> facts;
    facts.reserve(found.size());
    for (const FoundDevice& device : found) facts.push_back(device.facts);
    const size_t chosen = choose_device(facts, selector);
    return {std::move(instance), std::move(found[chosen]), nullptr};
  } catch (const vk::SystemError& error) {
    throw DetailedError(ErrorKind::device, ErrorDetail::no_device,
                        fmt::format("no Vulkan device can be opened: {}", error.what()));
  }
}

std::vector<EngineInfo> list_devices() {
  std::vector<EngineInfo> infos;
  try {
    const auto instance = Instance::get(validation_from_environment());
    for (auto& device : find_devices(*instance)) infos.push_back(std::move(device.facts.info));
  } catch (const std::runtime_error&) {
    infos.clear();  // no loader, no driver, or none that starts: nothing to list
  }
  return infos;
}

}  // namespace lanewise::vulkan
