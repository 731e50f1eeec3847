// Devices, and guest memory on them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "runtime/api/behind.hpp"
#include "runtime/api/objects/objects.hpp"
#include "runtime/api/objects/structs.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/reference/reference.hpp"
#include "runtime/vulkan/vulkan_engine.hpp"

namespace lanewise::host {
namespace {

std::string environment(const char* variable) {
  return text_or(std::getenv(variable));
}

lw_device_info to_c(const EngineInfo& e, int index) {
  lw_device_info out{};
  out.index = index;
  lanewise::detail::each_device_field(e, out, ToC{});
  return out;
}

std::vector<lw_device_info> list_devices() {
  std::vector<lw_device_info> all;
  for (const EngineInfo& e : vulkan::list_devices())
    all.push_back(to_c(e, static_cast<int>(all.size())));
  all.push_back(to_c(reference::make_engine()->info(), -1));
  return all;
}

}  // namespace

std::unique_ptr<Engine> open_engine(const std::string& selector) {
  const std::string env = selector == "auto" ? environment("LANEWISE_DEVICE") : "";
  const std::string& wanted = env.empty() ? selector : env;
  if (wanted == "reference") return reference::make_engine();
  return vulkan::make_engine(wanted, {});
}

Device::Device(std::unique_ptr<Engine> on, int index)
    : engine(std::move(on)),
      info(to_c(engine->info(), index)),
      wave_environment(environment("LANEWISE_WAVE")) {}

std::unique_lock<std::recursive_mutex> Device::enter() {
  std::unique_lock lock(mutex);
  if (engine == nullptr)
    fail(ErrorDetail::device_closed, fmt::format("the device {} was closed", info.name));
  return lock;
}

void Device::close() {
  const std::lock_guard lock(mutex);
  events.reset();
  engine.reset();
}

void Device::fill_zero(uint64_t address, uint64_t bytes) {
  constexpr std::array<std::byte, 1024> kFew{};  // arguments, mostly
  if (bytes <= kFew.size()) return engine->write(address, std::span(kFew).first(bytes));
  const std::vector<std::byte> zeros(std::min<uint64_t>(bytes, 1 << 20));
  for (uint64_t done = 0; done < bytes; done += zeros.size()) {
    const uint64_t n = std::min<uint64_t>(zeros.size(), bytes - done);
    engine->write(address + done, std::span(zeros).first(n));
  }
}

template <typename Allocate>
uint64_t Device::allocate_by(uint64_t bytes, const Allocate& allocate) {
  const auto lock = enter();
  const guest::Allocator::Marks before = allocator.marks();
  const auto allocate_once = [&] {
    const uint64_t address = allocate();
    try {
      engine->reserve(allocator.high_water());
      // Memory beyond the old high-water mark is still zero from reserve().
      if (bytes != 0 && address - guest::kArenaBase < before.high_water) fill_zero(address, bytes);
    } catch (...) {
      allocator.undo(address, before);
      throw;
    }
    return address;
  };
  try {
    return allocate_once();
  } catch (const Error&) {
    if (!allocator.give_back_held()) throw;
  }
  return allocate_once();
}

uint64_t Device::allocate(uint64_t bytes, std::string name, bool read_only, uint64_t align) {
  return allocate_by(bytes, [&] { return allocator.allocate(bytes, name, read_only, align); });
}

uint64_t Device::reserve(uint64_t bytes, const std::string& name, uint64_t align) {
  // Parts of it become zeros when they are mapped.
  return allocate_by(0, [&] { return allocator.reserve(bytes, name, align); });
}

void Device::set_mapped(uint64_t address, uint64_t bytes, bool mapped) {
  const auto lock = enter();
  if (!allocator.set_mapped(address, bytes, mapped))
    fail(ErrorDetail::out_of_range,
         fmt::format("{} bytes at {:#x} do not lie in one reservation, or are {} already", bytes,
                     address, mapped ? "mapped" : "not mapped"));
  if (!mapped) return unwritten.remove(address);
  fill_zero(address, bytes);
  unwritten.add(address, bytes);
}

uint64_t Device::allocate_parameters(uint64_t bytes) {
  return allocate_by(bytes,
                     [&] { return allocator.allocate_parameters(bytes, "kernel parameters"); });
}

Allocated::Allocated(std::shared_ptr<Device> of, uint64_t bytes, std::string name, bool read_only,
                     uint64_t align)
    : device(std::move(of)),
      address(device->allocate(bytes, std::move(name), read_only, align)),
      size(bytes) {}

Allocated::Allocated(std::shared_ptr<Device> of, Place at)
    : device(std::move(of)), address(at.address), size(at.size), parameters(at.parameters) {}

Allocated::~Allocated() {
  const std::lock_guard lock(device->mutex);
  if (parameters) {
    device->allocator.free_parameters(address);
    return;
  }
  if (address >= guest::kImportedBase && device->engine != nullptr) device->engine->unmap(address);
  device->allocator.free(address);
  device->forget_textures(address, size);
  device->unwritten.remove(address);
}

void Device::start_tracing(trace::Sink& sink, uint64_t buffer_bytes, trace::ExactMemory* exact,
                           const std::string& input, bool derive) {
  const auto lock = enter();
  if (events != nullptr)
    fail(ErrorDetail::invalid_value,
         fmt::format("the device {} is being traced already", info.name));
  events = std::make_unique<events::Collector>(sink, buffer_bytes);
  events->set_exact(exact);
  events->set_input(input);
  events->set_derives(derive);
}

void Device::stop_tracing() {
  const std::lock_guard lock(mutex);
  events.reset();
}

std::shared_ptr<Module> Device::program(const std::string& text, Isa isa) {
  constexpr size_t kKept = 64;
  const std::lock_guard lock(programs_mutex_);
  const auto known = std::ranges::find(programs_, text, &Program::text);
  if (known != programs_.end()) {
    programs_.splice(programs_.begin(), programs_, known);
    return known->module;
  }
  auto made = std::make_shared<Module>(
      shared_from_this(), detail::LoadOptions{.isa = isa},
      [&](const detail::LoadOptions& o) { return detail::compile(text, o); });
  if (!released_) programs_.push_front({text, made});
  if (programs_.size() > kKept) programs_.pop_back();
  return made;
}

void Device::released() noexcept {
  std::list<Program> dropped;
  const std::lock_guard lock(programs_mutex_);
  released_ = true;
  dropped.swap(programs_);
}

std::shared_ptr<Device> device_behind(lw_device* device) {
  return find<Device>(device);
}

lw_device* device_on(std::unique_ptr<Engine> engine) {
  return new_handle(std::make_shared<Device>(std::move(engine)));
}

}  // namespace lanewise::host

using namespace lanewise::host;

lw_status lw_list_devices(lw_device_info* infos, size_t* count) {
  return guarded([&] {
    const size_t capacity = *required(count, "count");
    const std::vector<lw_device_info> all = list_devices();
    *count = all.size();
    if (infos == nullptr || capacity == 0) return;
    // Callers of another version have structs of another size.
    const auto step = static_cast<uint32_t>(checked_size(infos, "lw_device_info"));
    for (size_t i = 0; i < std::min(capacity, all.size()); ++i) {
      auto* at = reinterpret_cast<lw_device_info*>(reinterpret_cast<char*>(infos) + i * step);
      at->struct_size = step;
      write_struct(at, all[i], "lw_device_info");
    }
  });
}

lw_status lw_device_open(const char* selector, lw_device** out) {
  return gives(out, [&] {
    auto engine = open_engine(text_or(selector, "auto"));
    const int index = lanewise::vulkan::index_of(*engine);
    auto device = std::make_shared<Device>(std::move(engine), index);
    log(LW_LOG_INFO, fmt::format("opened {}", device->info.name));
    return device;
  });
}

lw_status lw_device_get_info(lw_device* device, lw_device_info* out) {
  return guarded([&] { write_struct(out, find<Device>(device)->info, "lw_device_info"); });
}

lw_status lw_device_close(lw_device* device) {
  return guarded([&] { find<Device>(device)->close(); });
}
