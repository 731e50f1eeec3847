#include "tests/support/vk_compute.hpp"

#include <vulkan/vulkan.h>

#include <cstdlib>
#include <cstring>
#include <map>

namespace lanewise::test {

/// A module compiled for one number of buffers.
struct Pipeline {
  VkDevice device = VK_NULL_HANDLE;
  VkShaderModule module = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkPipeline pipeline = VK_NULL_HANDLE;
  explicit Pipeline(VkDevice d) : device(d) {}
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() {
    vkDestroyPipeline(device, pipeline, nullptr);
    vkDestroyPipelineLayout(device, layout, nullptr);
    vkDestroyDescriptorSetLayout(device, set_layout, nullptr);
    vkDestroyShaderModule(device, module, nullptr);
  }
};

struct Compute::State {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  ComputeFacts facts;
  /// By number of buffers and words: tests call a function many times, and compiling it takes
  /// longest.
  std::map<std::pair<size_t, std::vector<uint32_t>>, Pipeline> pipelines;

  ~State() {
    pipelines.clear();
    if (device != VK_NULL_HANDLE) vkDestroyDevice(device, nullptr);
    if (instance != VK_NULL_HANDLE) vkDestroyInstance(instance, nullptr);
  }
};

namespace {

/// A zeroed Vulkan structure that knows what it is.
template <typename T>
T typed(VkStructureType type) {
  T t{};
  t.sType = type;
  return t;
}

struct Buffer {
  VkDevice device = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  void* map = nullptr;
  ~Buffer() {
    if (buffer != VK_NULL_HANDLE) vkDestroyBuffer(device, buffer, nullptr);
    if (memory != VK_NULL_HANDLE) vkFreeMemory(device, memory, nullptr);
  }
};

/// Everything else that one dispatch makes, destroyed together.
struct Dispatch {
  VkDevice device;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  VkCommandPool commands = VK_NULL_HANDLE;
  explicit Dispatch(VkDevice d) : device(d) {}
  ~Dispatch() {
    vkDestroyCommandPool(device, commands, nullptr);
    vkDestroyDescriptorPool(device, pool, nullptr);
  }
};

uint32_t host_memory_type(VkPhysicalDevice physical, uint32_t allowed) {
  VkPhysicalDeviceMemoryProperties props;
  vkGetPhysicalDeviceMemoryProperties(physical, &props);
  const uint32_t wanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (uint32_t i = 0; i < props.memoryTypeCount; ++i)
    if ((allowed >> i & 1) != 0 && (props.memoryTypes[i].propertyFlags & wanted) == wanted)
      return i;
  return UINT32_MAX;
}

bool make_buffer(VkPhysicalDevice physical, VkDevice device, bool address, size_t bytes,
                 Buffer& out) {
  out.device = device;
  VkBufferCreateInfo info = typed<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
               (address ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0);
  if (vkCreateBuffer(device, &info, nullptr, &out.buffer) != VK_SUCCESS) return false;
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device, out.buffer, &needs);
  VkMemoryAllocateFlagsInfo flags =
      typed<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo memory = typed<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  memory.pNext = address ? &flags : nullptr;
  memory.allocationSize = needs.size;
  memory.memoryTypeIndex = host_memory_type(physical, needs.memoryTypeBits);
  return memory.memoryTypeIndex != UINT32_MAX &&
         vkAllocateMemory(device, &memory, nullptr, &out.memory) == VK_SUCCESS &&
         vkBindBufferMemory(device, out.buffer, out.memory, 0) == VK_SUCCESS &&
         vkMapMemory(device, out.memory, 0, VK_WHOLE_SIZE, 0, &out.map) == VK_SUCCESS;
}

struct Features {
  VkPhysicalDeviceFeatures2 base =
      typed<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  VkPhysicalDeviceVulkan11Features v11 = typed<VkPhysicalDeviceVulkan11Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  VkPhysicalDeviceVulkan12Features v12 = typed<VkPhysicalDeviceVulkan12Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  Features() {
    base.pNext = &v11;
    v11.pNext = &v12;
  }
};

/// Leaves on only what the library may need; robustness stays off on purpose.
void choose(Features& f, ComputeFacts& facts) {
  Features asked;
  facts.int64 = (asked.base.features.shaderInt64 = f.base.features.shaderInt64) != 0;
  facts.float64 = (asked.base.features.shaderFloat64 = f.base.features.shaderFloat64) != 0;
  facts.storage16 = (asked.v11.storageBuffer16BitAccess = f.v11.storageBuffer16BitAccess) != 0;
  facts.storage8 = (asked.v12.storageBuffer8BitAccess = f.v12.storageBuffer8BitAccess) != 0;
  facts.int64_atomics = (asked.v12.shaderBufferInt64Atomics = f.v12.shaderBufferInt64Atomics) != 0;
  facts.device_address = (asked.v12.bufferDeviceAddress = f.v12.bufferDeviceAddress) != 0;
  f.base.features = asked.base.features;
  const auto keep = [](auto& to, const auto& from) {
    void* next = to.pNext;
    to = from;
    to.pNext = next;
  };
  keep(f.v11, asked.v11);
  keep(f.v12, asked.v12);
}

bool fill_pipeline(Pipeline& d, const Compute::Job& job) {
  VkShaderModuleCreateInfo module =
      typed<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  module.codeSize = job.spirv.size() * 4;
  module.pCode = job.spirv.data();
  if (vkCreateShaderModule(d.device, &module, nullptr, &d.module) != VK_SUCCESS) return false;
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (uint32_t i = 0; i < job.buffers.size(); ++i)
    bindings.push_back(
        {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
  VkDescriptorSetLayoutCreateInfo set =
      typed<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
  set.bindingCount = static_cast<uint32_t>(bindings.size());
  set.pBindings = bindings.data();
  if (vkCreateDescriptorSetLayout(d.device, &set, nullptr, &d.set_layout) != VK_SUCCESS)
    return false;
  VkPipelineLayoutCreateInfo layout =
      typed<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &d.set_layout;
  if (vkCreatePipelineLayout(d.device, &layout, nullptr, &d.layout) != VK_SUCCESS) return false;
  VkComputePipelineCreateInfo pipeline =
      typed<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  pipeline.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                    nullptr,
                    0,
                    VK_SHADER_STAGE_COMPUTE_BIT,
                    d.module,
                    "main",
                    nullptr};
  pipeline.layout = d.layout;
  return vkCreateComputePipelines(d.device, VK_NULL_HANDLE, 1, &pipeline, nullptr, &d.pipeline) ==
         VK_SUCCESS;
}

VkDescriptorSet make_set(Dispatch& d, const Pipeline& p, const std::vector<Buffer>& buffers) {
  const auto count = static_cast<uint32_t>(buffers.size());
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count};
  VkDescriptorPoolCreateInfo pool =
      typed<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
  pool.maxSets = 1;
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  VkDescriptorSet set = VK_NULL_HANDLE;
  if (vkCreateDescriptorPool(d.device, &pool, nullptr, &d.pool) != VK_SUCCESS) return set;
  VkDescriptorSetAllocateInfo allocate =
      typed<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
  allocate.descriptorPool = d.pool;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &p.set_layout;
  if (vkAllocateDescriptorSets(d.device, &allocate, &set) != VK_SUCCESS) return VK_NULL_HANDLE;
  for (uint32_t i = 0; i < count; ++i) {
    const VkDescriptorBufferInfo info{buffers[i].buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write =
        typed<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
    write.dstSet = set;
    write.dstBinding = i;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &info;
    vkUpdateDescriptorSets(d.device, 1, &write, 0, nullptr);
  }
  return set;
}

bool submit(Dispatch& d, const Pipeline& p, VkQueue queue, uint32_t family, VkDescriptorSet set,
            uint32_t groups) {
  VkCommandPoolCreateInfo pool =
      typed<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.queueFamilyIndex = family;
  if (vkCreateCommandPool(d.device, &pool, nullptr, &d.commands) != VK_SUCCESS) return false;
  VkCommandBufferAllocateInfo allocate =
      typed<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  allocate.commandPool = d.commands;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands;
  if (vkAllocateCommandBuffers(d.device, &allocate, &commands) != VK_SUCCESS) return false;
  VkCommandBufferBeginInfo begin =
      typed<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  vkBeginCommandBuffer(commands, &begin);
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p.pipeline);
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p.layout, 0, 1, &set, 0,
                          nullptr);
  vkCmdDispatch(commands, groups, 1, 1);
  VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                          VK_ACCESS_HOST_READ_BIT};
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                       0, 1, &barrier, 0, nullptr, 0, nullptr);
  vkEndCommandBuffer(commands);
  VkSubmitInfo info = typed<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  return vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS &&
         vkQueueWaitIdle(queue) == VK_SUCCESS;
}

}  // namespace

Compute::Compute(std::unique_ptr<State> state) : state_(std::move(state)), facts_(state_->facts) {}
Compute::~Compute() = default;

std::unique_ptr<Compute> Compute::open(const std::string& icd_file) {
  setenv("VK_ICD_FILENAMES", icd_file.c_str(), 1);
  setenv("VK_DRIVER_FILES", icd_file.c_str(), 1);
  auto s = std::make_unique<State>();
  VkApplicationInfo app = typed<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  app.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo instance =
      typed<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  instance.pApplicationInfo = &app;
  if (vkCreateInstance(&instance, nullptr, &s->instance) != VK_SUCCESS) return nullptr;
  uint32_t count = 1;
  const VkResult found = vkEnumeratePhysicalDevices(s->instance, &count, &s->physical);
  if ((found != VK_SUCCESS && found != VK_INCOMPLETE) || count == 0) return nullptr;
  VkPhysicalDeviceProperties props;
  vkGetPhysicalDeviceProperties(s->physical, &props);
  s->facts.name = props.deviceName;
  Features features;
  vkGetPhysicalDeviceFeatures2(s->physical, &features.base);
  choose(features, s->facts);
  uint32_t families = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(s->physical, &families, nullptr);
  std::vector<VkQueueFamilyProperties> list(families);
  vkGetPhysicalDeviceQueueFamilyProperties(s->physical, &families, list.data());
  while (s->family < families && (list[s->family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0)
    ++s->family;
  if (s->family == families) return nullptr;
  const float priority = 1;
  VkDeviceQueueCreateInfo queue =
      typed<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = s->family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo device = typed<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  device.pNext = &features.base;
  device.queueCreateInfoCount = 1;
  device.pQueueCreateInfos = &queue;
  if (vkCreateDevice(s->physical, &device, nullptr, &s->device) != VK_SUCCESS) return nullptr;
  vkGetDeviceQueue(s->device, s->family, 0, &s->queue);
  return std::unique_ptr<Compute>(new Compute(std::move(s)));
}

std::string Compute::run(const Job& job) {
  std::vector<Buffer> buffers(job.buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const std::vector<uint32_t>* data = job.buffers[i];
    const size_t bytes = data == nullptr || data->empty() ? 16 : data->size() * 4;
    if (!make_buffer(state_->physical, state_->device, facts_.device_address, bytes, buffers[i]))
      return "cannot make a buffer";
    if (data != nullptr) std::memcpy(buffers[i].map, data->data(), data->size() * 4);
  }
  if (!job.addresses.empty() && facts_.device_address) {
    for (const auto& [buffer, word] : job.addresses) {
      VkBufferDeviceAddressInfo info =
          typed<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
      info.buffer = buffers[buffer].buffer;
      const uint64_t address = vkGetBufferDeviceAddress(state_->device, &info);
      std::memcpy(static_cast<std::byte*>(buffers[1].map) + 4 * word, &address, 8);
    }
  }
  const auto [kept, is_new] =
      state_->pipelines.try_emplace({job.buffers.size(), job.spirv}, state_->device);
  const Pipeline& pipeline = kept->second;
  if (is_new && !fill_pipeline(kept->second, job)) {
    state_->pipelines.erase(kept);
    return "cannot make the pipeline";
  }
  Dispatch d(state_->device);
  const VkDescriptorSet set = make_set(d, pipeline, buffers);
  if (set == VK_NULL_HANDLE) return "cannot make the descriptor set";
  if (!submit(d, pipeline, state_->queue, state_->family, set, job.groups))
    return "the dispatch failed";
  for (size_t i = 0; i < buffers.size(); ++i)
    if (job.buffers[i] != nullptr)
      std::memcpy(job.buffers[i]->data(), buffers[i].map, job.buffers[i]->size() * 4);
  return {};
}

}  // namespace lanewise::test
