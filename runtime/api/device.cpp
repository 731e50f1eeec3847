#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "lanewise/error_detail.hpp"
#include "runtime/api/globals.hpp"
#include "runtime/api/loader.hpp"
#include "runtime/api/state.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/reference/reference.hpp"
#include "runtime/support/input_file.hpp"
#include "runtime/vulkan/device/interop.hpp"
#include "runtime/vulkan/vulkan_engine.hpp"

namespace lanewise::host {
namespace {

DeviceInfo to_public(const EngineInfo& e, int index) {
  DeviceInfo d;
  d.index = index;
  d.name = e.name;
  d.driver = e.driver;
  d.tier = e.tier;
  d.type = e.type;
  d.subgroup_size = e.subgroup_size;
  d.max_invocations = e.max_invocations;
  d.max_shared = e.max_shared;
  d.max_arena = e.max_arena;
  d.profile = e.profile;
  d.int64 = e.int64;
  d.int16 = e.int16;
  d.int8 = e.int8;
  d.float16 = e.float16;
  d.float64 = e.float64;
  return d;
}

/// The guest address space ends there; sizes beyond it would overflow when they are rounded.
void refuse_huge(uint64_t bytes, const std::string& name) {
  if (bytes <= guest::kMaxAllocation) return;
  throw DetailedError(ErrorKind::usage, ErrorDetail::invalid_value,
                      fmt::format("buffer '{}' of {} bytes is larger than the guest address space "
                                  "({} bytes)",
                                  name, bytes, guest::kMaxAllocation));
}

/// Gives every variable its memory and every symbol its address.
void load_globals(detail::ModuleState& m) {
  const auto lock = m.device->enter();
  const auto placed = detail::place_globals(m.module, [&](const ir::Global& g) {
    const bool read_only = g.space == ir::Space::constant;
    m.globals.emplace_back(
        g.name, std::make_unique<detail::Allocated>(m.device, g.size, g.name, read_only));
    return m.globals.back().second->address;
  });
  for (const detail::PlacedGlobal& g : placed) {
    if (!g.bytes.empty()) m.device->engine->write(g.address, g.bytes);
  }
}

}  // namespace

namespace detail {

void refuse_empty(const char* what) {
  throw DetailedError(ErrorKind::usage, ErrorDetail::bad_handle,
                      fmt::format("an empty {0} handle was used: it was made by {0}() and nothing "
                                  "was assigned to it",
                                  what));
}

std::unique_ptr<Engine> open_engine(const std::string& selector) {
  std::string wanted = selector;
  if (selector == "auto") {
    if (const char* env = std::getenv("LANEWISE_DEVICE"); env != nullptr && *env != '\0') {
      wanted = env;
    }
  }
  if (wanted == "reference") return reference::make_engine();
  return vulkan::make_engine(wanted, {});
}

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}

void DeviceState::fill_zero(uint64_t address, uint64_t bytes) {
  constexpr std::array<std::byte, 1024> kFew{};  // arguments, mostly
  if (bytes <= kFew.size()) return engine->write(address, std::span(kFew).first(bytes));
  const std::vector<std::byte> zeros(std::min<uint64_t>(bytes, 1 << 20));
  for (uint64_t done = 0; done < bytes; done += zeros.size()) {
    const uint64_t n = std::min<uint64_t>(zeros.size(), bytes - done);
    engine->write(address + done, std::span(zeros).first(n));
  }
}

std::unique_lock<std::recursive_mutex> DeviceState::enter() {
  std::unique_lock lock(mutex);
  if (engine == nullptr)
    throw DetailedError(ErrorKind::usage, ErrorDetail::device_closed,
                        "the device " + info.name + " was closed");
  return lock;
}

template <typename Allocate>
uint64_t DeviceState::allocate_by(uint64_t bytes, const Allocate& allocate) {
  const auto lock = enter();
  const guest::Allocator::Marks before = allocator.marks();
  const uint64_t address = allocate();
  try {
    engine->reserve(allocator.high_water());
    // Memory beyond the old high-water mark is still zero from reserve().
    if (address - guest::kArenaBase < before.high_water) fill_zero(address, bytes);
  } catch (...) {
    allocator.undo(address, before);
    throw;
  }
  return address;
}

uint64_t DeviceState::allocate(uint64_t bytes, std::string name, bool read_only, uint64_t align) {
  return allocate_by(bytes,
                     [&] { return allocator.allocate(bytes, std::move(name), read_only, align); });
}

uint64_t DeviceState::allocate_parameters(uint64_t bytes) {
  return allocate_by(bytes,
                     [&] { return allocator.allocate_parameters(bytes, "kernel parameters"); });
}

AllocatedParameters::AllocatedParameters(std::shared_ptr<DeviceState> d, uint64_t bytes)
    : device(std::move(d)), address(device->allocate_parameters(bytes)), size(bytes) {}

AllocatedParameters::~AllocatedParameters() {
  const std::lock_guard lock(device->mutex);
  device->allocator.free_parameters(address);
}

Allocated::Allocated(std::shared_ptr<DeviceState> d, uint64_t bytes, std::string name,
                     bool read_only, uint64_t align)
    : device(std::move(d)),
      address(device->allocate(bytes, std::move(name), read_only, align)),
      size(bytes) {}

Allocated::Allocated(std::shared_ptr<DeviceState> d, Elsewhere place)
    : device(std::move(d)), address(place.address), size(place.size) {}

Allocated::~Allocated() {
  const std::lock_guard lock(device->mutex);
  if (address >= guest::kImportedBase && device->engine != nullptr) device->engine->unmap(address);
  device->allocator.free(address);
  device->unwritten.remove(address);
}

Device DeviceAccess::on(std::unique_ptr<Engine> engine) {
  Device device;
  device.state_ = std::make_shared<DeviceState>();
  device.state_->engine = std::move(engine);
  device.state_->info = to_public(device.state_->engine->info(), -1);
  return device;
}

/// Whoever gets the memory next finds it resident.
BufferState::~BufferState() {
  if (!paged && !exported) return;
  const std::lock_guard lock(memory.device->mutex);
  if (exported && memory.device->engine != nullptr) vulkan::let_go(*memory.device->engine);
  if (!paged) return;
  memory.device->residency.set(memory.address, memory.size >> guest::kSparsePageBits, true);
}

}  // namespace detail

Device Device::open(const std::string& selector) {
  auto state = std::make_shared<detail::DeviceState>();
  state->engine = detail::open_engine(selector);
  state->info = to_public(state->engine->info(), vulkan::index_of(*state->engine));
  Device device;
  device.state_ = std::move(state);
  return device;
}

std::vector<DeviceInfo> Device::list() {
  std::vector<DeviceInfo> all;
  int index = 0;
  for (const EngineInfo& e : vulkan::list_devices()) all.push_back(to_public(e, index++));
  all.push_back(to_public(reference::make_engine()->info(), -1));
  return all;
}

const std::shared_ptr<detail::DeviceState>& Device::state() const {
  if (state_ == nullptr) detail::refuse_empty("Device");
  return state_;
}

const DeviceInfo& Device::info() const {
  return state()->info;
}

void Device::close() {
  const std::lock_guard lock(state()->mutex);
  state_->events.reset();
  state_->engine.reset();
}

Buffer Device::allocate(uint64_t bytes, const std::string& name) {
  const std::shared_ptr<detail::DeviceState>& device = state();
  const auto lock = device->enter();
  Buffer b;
  b.state_ = std::shared_ptr<detail::BufferState>(new detail::BufferState{{device, bytes, name}});
  device->unwritten.add(b.address(), bytes);
  return b;
}

Buffer Device::allocate_paged(uint64_t bytes, const std::string& name) {
  refuse_huge(bytes, name);
  const uint64_t pages = (std::max<uint64_t>(bytes, 1) - 1) / guest::kSparsePage + 1;
  const std::shared_ptr<detail::DeviceState>& device = state();
  const auto lock = device->enter();
  Buffer b;
  b.state_ = std::shared_ptr<detail::BufferState>(new detail::BufferState{
      {device, pages * guest::kSparsePage, name, false, guest::kSparsePage}, true, false});
  device->unwritten.add(b.address(), b.size());
  return b;
}

Module Device::load_file(const std::string& path, Isa isa, const std::string& target) {
  const std::string text = read_file(path);
  return load_text(text, isa == Isa::automatic ? detail::detect_isa(path, text) : isa, path, target,
                   folder_of(path));
}

Module Device::load_text(const std::string& text, Isa isa, const std::string& name,
                         const std::string& target, const std::string& include_folder) {
  state();  // an empty handle is found before the work
  const auto start = std::chrono::steady_clock::now();
  detail::Compiled compiled =
      detail::compile(text, isa == Isa::automatic ? detail::detect_isa(name, text) : isa, 100,
                      target, include_folder);
  if (!compiled.ok() && !compiled.usable())
    throw CompileError(name, std::move(compiled.diagnostics));
  Module module;
  module.state_ = std::make_shared<detail::ModuleState>();
  detail::ModuleState& made = *module.state_;
  made.device = state_;
  made.module = std::move(compiled.module);
  made.name = name;
  made.rejected = std::move(compiled.rejected);
  std::ranges::copy_if(compiled.diagnostics, std::back_inserter(made.warnings),
                       &Diagnostic::warning);
  load_globals(made);
  made.parse_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return module;
}

std::string version() {
  return "0.1.0";
}

}  // namespace lanewise::host
