// Devices.
#include "runtime/capi/behind.hpp"
#include "runtime/capi/objects.hpp"
#include "runtime/capi/structs.hpp"

namespace lanewise::capi {

Module DeviceObject::program(const std::string& text, Isa isa) {
  constexpr size_t kKept = 64;
  const std::lock_guard lock(programs_mutex_);
  const auto known = std::ranges::find(programs_, text, &Program::text);
  if (known != programs_.end()) {
    programs_.splice(programs_.begin(), programs_, known);
  } else {
    programs_.push_front({text, device.load_text(text, isa, "<memory>")});
    if (programs_.size() > kKept) programs_.pop_back();
  }
  return programs_.front().module;
}

host::Device device_behind(lw_device* device) {
  return find<DeviceObject>(device)->device;
}

}  // namespace lanewise::capi

using namespace lanewise;
using namespace lanewise::capi;

namespace {

template <size_t N>
void copy_text(char (&to)[N], const std::string& from) {
  const size_t n = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), n);
  to[n] = 0;
}

lw_device_info to_c(const DeviceInfo& d) {
  lw_device_info out{};
  out.index = d.index;
  out.subgroup_size = d.subgroup_size;
  out.max_invocations = d.max_invocations;
  out.max_shared = d.max_shared;
  out.max_arena = d.max_arena;
  out.int64 = d.int64;
  out.int16 = d.int16;
  out.int8 = d.int8;
  out.float16 = d.float16;
  out.float64 = d.float64;
  copy_text(out.name, d.name);
  copy_text(out.driver, d.driver);
  copy_text(out.tier, d.tier);
  copy_text(out.type, d.type);
  copy_text(out.profile, d.profile);
  return out;
}

}  // namespace

lw_status lw_list_devices(lw_device_info* infos, size_t* count) {
  return guarded([&] {
    const size_t capacity = *required(count, "count");
    const std::vector<DeviceInfo> all = Device::list();
    *count = all.size();
    if (infos == nullptr || capacity == 0) return;
    // Callers of another version have structs of another size.
    const uint32_t step = static_cast<uint32_t>(checked_size(infos, "lw_device_info"));
    for (size_t i = 0; i < std::min(capacity, all.size()); ++i) {
      auto* at = reinterpret_cast<lw_device_info*>(reinterpret_cast<char*>(infos) + i * step);
      at->struct_size = step;
      write_struct(at, to_c(all[i]), "lw_device_info");
    }
  });
}

lw_status lw_device_open(const char* selector, lw_device** out) {
  return guarded([&] {
    clear_out(out);
    auto device = Device::open(selector != nullptr ? selector : "auto");
    log(LW_LOG_INFO, "opened " + device.info().name);
    give<DeviceObject>(out, std::move(device));
  });
}

lw_status lw_device_get_info(lw_device* device, lw_device_info* out) {
  return guarded([&] {
    const auto object = find<DeviceObject>(device);
    write_struct(out, to_c(object->device.info()), "lw_device_info");
  });
}

void lw_device_close(lw_device* device) {
  quiet(0, [&] {
    find<DeviceObject>(device)->device.close();
    return 0;
  });
  release<DeviceObject>(device);
}

lw_status lw_device_shut(lw_device* device) {
  return guarded([&] { find<DeviceObject>(device)->device.close(); });
}

void lw_device_release(lw_device* device) {
  release<DeviceObject>(device);
}
