#include "runtime/vulkan/pipeline/pipeline_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "runtime/support/error.hpp"
#include "runtime/vulkan/pipeline/compute_stage.hpp"

namespace lanewise::vulkan {

vk::raii::DescriptorSetLayout kernel_set_layout(const vk::raii::Device& device) {
  std::array<vk::DescriptorSetLayoutBinding, kBindings> bindings;
  for (uint32_t i = 0; i < kBindings; ++i) {
    bindings[i] = vk::DescriptorSetLayoutBinding(i, vk::DescriptorType::eStorageBuffer, 1,
                                                 vk::ShaderStageFlagBits::eCompute);
  }
  return {device, vk::DescriptorSetLayoutCreateInfo({}, bindings)};
}

vk::raii::PipelineLayout kernel_layout(const vk::raii::Device& device,
                                       const vk::raii::DescriptorSetLayout& set) {
  const vk::PushConstantRange push(vk::ShaderStageFlagBits::eCompute, 0, sizeof(PushWords));
  return {device, vk::PipelineLayoutCreateInfo({}, *set, push)};
}

namespace {

vk::raii::DescriptorPool make_pool(const vk::raii::Device& device) {
  const vk::DescriptorPoolSize size(vk::DescriptorType::eStorageBuffer, kBindings);
  return {device, vk::DescriptorPoolCreateInfo(vk::DescriptorPoolCreateFlagBits::eFreeDescriptorSet,
                                               1, size)};
}

/// Drivers should refuse data of another device or version themselves; not all do.
bool made_by(const vk::PhysicalDeviceProperties& device, std::span<const std::byte> data) {
  vk::PipelineCacheHeaderVersionOne header;
  if (data.size() < sizeof header) return false;
  std::memcpy(&header, data.data(), sizeof header);
  return header.headerSize >= sizeof header && header.vendorID == device.vendorID &&
         header.deviceID == device.deviceID && header.pipelineCacheUUID == device.pipelineCacheUUID;
}

vk::raii::PipelineCache make_cache(const Device& device, DiskCache& disk, const CacheKey& key) {
  std::vector<std::byte> data =
      disk.load(CacheKind::pipelines, key).value_or(std::vector<std::byte>());
  if (!made_by(device.properties(), data)) data.clear();
  return {device.vk(), vk::PipelineCacheCreateInfo({}, data.size(), data.data())};
}

}  // namespace

Pipelines::Pipelines(Device& device, DiskCache& disk)
    : device_(device),
      disk_(disk),
      key_(make_key(fmt::format("pipelines {:016x}", device.facts().fingerprint))),
      set_layout_(kernel_set_layout(device.vk())),
      layout_(kernel_layout(device.vk(), set_layout_)),
      cache_(make_cache(device, disk, key_)) {}

Pipelines::~Pipelines() {
  try {
    save();
  } catch (const std::exception&) {
    // The next process compiles again; nothing else is lost.
    unsaved_ = true;
  }
}

void Pipelines::save() {
  if (!unsaved_ || !disk_.usable()) return;
  const auto data = cache_.getData();
  disk_.store(CacheKind::pipelines, key_, std::as_bytes(std::span(data)));
  unsaved_ = false;
}

Pipeline Pipelines::create(std::span<const uint32_t> spirv, uint32_t subgroup_size) {
  const auto start = Clock::now();
  const vk::raii::ShaderModule module(
      device_.vk(), vk::ShaderModuleCreateInfo({}, spirv.size_bytes(), spirv.data()));
  const ComputeStage stage(*module, device_.facts(), subgroup_size);
  Pipeline made;
  made.number = new_number();
  made.handle = vk::raii::Pipeline(device_.vk(), cache_,
                                   vk::ComputePipelineCreateInfo({}, stage.info, *layout_));
  unsaved_ = true;
  // What was expensive should survive even a crash of this process.
  if (Clock::now() - start > std::chrono::milliseconds(250)) save();
  return made;
}

size_t Pipelines::add_set() {
  Set made{make_pool(device_.vk())};
  vk::raii::DescriptorSets sets(device_.vk(),
                                vk::DescriptorSetAllocateInfo(*made.pool, *set_layout_));
  made.handle = std::move(sets.front());
  sets_.push_back(std::move(made));
  return sets_.size() - 1;
}

void Pipelines::bind(size_t set, const std::array<Binding, kBindings>& bindings) {
  std::array<std::pair<uint64_t, uint64_t>, kBindings> wanted;
  std::ranges::transform(bindings, wanted.begin(),
                         [](const Binding& b) { return std::pair(b.buffer->number, b.range); });
  if (wanted == sets_[set].buffers) return;
  std::array<vk::DescriptorBufferInfo, kBindings> infos;
  std::array<vk::WriteDescriptorSet, kBindings> writes;
  for (uint32_t i = 0; i < kBindings; ++i) {
    infos[i] = vk::DescriptorBufferInfo(*bindings[i].buffer->handle, 0, bindings[i].range);
    writes[i] = vk::WriteDescriptorSet(*sets_[set].handle, i, 0, 1,
                                       vk::DescriptorType::eStorageBuffer, nullptr, &infos[i]);
  }
  device_.vk().updateDescriptorSets(writes, {});
  sets_[set].buffers = wanted;
  sets_[set].bound = new_number();
}

void Pipelines::record(const vk::raii::CommandBuffer& commands, const Pipeline& pipeline,
                       size_t set, const PushWords& push, const std::array<uint32_t, 3>& base,
                       const std::array<uint32_t, 3>& groups) const {
  commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline.handle);
  commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, *layout_, 0, *sets_[set].handle, {});
  PushWords words = push;
  std::ranges::copy(base, words.begin() + guest::kPushBase);
  commands.pushConstants<uint32_t>(*layout_, vk::ShaderStageFlagBits::eCompute, 0, words);
  commands.dispatch(groups[0], groups[1], groups[2]);
}

}  // namespace lanewise::vulkan
