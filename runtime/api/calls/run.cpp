// lw_run: a kernel on memory of the host, in place where the device reaches it, else by way of
// copies.
#include <fmt/format.h>

#include "runtime/api/calls/host_ranges.hpp"
#include "runtime/api/launch/launch.hpp"

namespace lanewise::host {
namespace {

/// The device of callers that name none. It is never closed: their programs are kept on it.
std::shared_ptr<Device> default_device() {
  static std::mutex mutex;
  static auto* const device = new std::shared_ptr<Device>;
  const std::lock_guard lock(mutex);
  if (*device == nullptr) *device = std::make_shared<Device>(open_engine("auto"));
  return *device;
}

/// Below this size copying costs less than making the memory known to the driver.
constexpr uint64_t kInPlaceBytes = 64 * 1024;

/// One range of the host and the buffer that stands for it during the run.
struct Copy {
  HostRange range;
  std::shared_ptr<Buffer> buffer;
  bool in_place = false;  ///< the buffer is the range itself
  std::span<std::byte> host() const {
    return {reinterpret_cast<std::byte*>(range.address), static_cast<size_t>(range.size)};
  }
};

class Copies {
 public:
  explicit Copies(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  /// Ranges are gathered first: two arguments may name parts of one range of memory.
  void add(const lw_arg& arg) {
    required(arg.data, "data of an argument");
    const auto address = reinterpret_cast<uint64_t>(arg.data);
    if (arg.size > UINT64_MAX - address)
      fail(ErrorDetail::invalid_value, fmt::format("host memory of {} bytes", arg.size));
    if (arg.bits > LW_HOST_READ_ONLY)
      fail(ErrorDetail::invalid_value, "bits of host memory are 0 or LW_HOST_READ_ONLY");
    const bool read_only = arg.bits == LW_HOST_READ_ONLY;
    HostRange range{address, arg.size, read_only};
    if (arg.size == 0) range = range_around(arg.data);
    range.read_only = read_only;
    if (range.size == 0)
      fail(ErrorDetail::not_found,
           fmt::format("no registered range holds {:#x}: give the size, or lw_host_register the "
                       "memory",
                       address));
    merge(range);
  }

  void copy_in(bool in_place_allowed) {
    for (Copy& c : copies_) {
      const std::string name = fmt::format("host memory at {:#x}", c.range.address);
      if (in_place_allowed && c.range.size >= kInPlaceBytes) {
        c.buffer = map_host(device_, c.host(), name, c.range.read_only);
        if (c.buffer != nullptr) {
          c.in_place = true;
          log(LW_LOG_INFO, fmt::format("{} ({} bytes) is used in place", name, c.range.size));
          continue;
        }
      }
      c.buffer = allocate(device_, c.range.size, name);
      c.buffer->write(c.host());
    }
  }
  /// Throws Error(guest) when memory that must not be written was; the rest is copied all the same.
  void copy_out() {
    for (const Copy& c : copies_)
      if (!c.range.read_only && !c.in_place) c.buffer->read(c.host());
    for (const Copy& c : copies_)
      if (c.range.read_only && !c.in_place) refuse_changes(c);
  }

  Argument pointer(const lw_arg& arg) const {
    const auto address = reinterpret_cast<uint64_t>(arg.data);
    for (const Copy& c : copies_)
      if (address - c.range.address < c.range.size)
        return buffer_argument(c.buffer, address - c.range.address);
    fail(ErrorDetail::not_found, "an argument lost its memory");
  }

 private:
  static void refuse_changes(const Copy& c) {
    std::vector<std::byte> now(c.range.size);
    c.buffer->read(now);
    const auto [host, device] = std::ranges::mismatch(c.host(), now);
    if (device == now.end()) return;
    throw DetailedError(
        ErrorKind::guest, ErrorDetail::fault,
        fmt::format("the kernel wrote to byte {} of the host memory at {:#x}, which "
                    "was given to be read only; it was not changed",
                    device - now.begin(), c.range.address));
  }

  void merge(HostRange range) {
    uint64_t end = range.address + range.size;
    std::erase_if(copies_, [&](const Copy& c) {
      const uint64_t c_end = c.range.address + c.range.size;
      if (c_end <= range.address || end <= c.range.address) return false;
      range.address = std::min(range.address, c.range.address);
      end = std::max(end, c_end);
      range.read_only = range.read_only && c.range.read_only;
      return true;
    });
    range.size = end - range.address;
    copies_.push_back({range, {}, false});
  }

  const std::shared_ptr<Device> device_;
  std::vector<Copy> copies_;
};

/// Memory in place has addresses beyond 32 bits, and is guarded by checks alone.
bool can_work_in_place(const std::vector<ir::Param>& params, const std::vector<lw_arg>& args,
                       Memcheck memcheck) {
  if (memcheck == Memcheck::off || params.size() != args.size()) return false;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].kind == LW_ARG_HOST && params[i].size != sizeof(uint64_t)) return false;
  return true;
}

std::shared_ptr<Outcome> run(const std::shared_ptr<Device>& device, const char* text,
                             const char* name, const lw_launch_options* options, const lw_arg* args,
                             size_t count) {
  LaunchOrder order;
  order.options = options_of(options, order.kept);
  const Kernel kernel(device->program(text, Isa::automatic), text_or(name));
  order.module = kernel.module;
  order.index = kernel.index;
  std::vector<lw_arg> given;
  Copies copies(device);
  for (size_t i = 0; i < count; ++i) {
    given.push_back(read_arg(args, i));
    if (given.back().kind == LW_ARG_HOST) copies.add(given.back());
  }
  copies.copy_in(can_work_in_place(kernel.program().params, given, order.options.memcheck));
  for (const lw_arg& a : given)
    order.args.push_back(a.kind == LW_ARG_HOST ? copies.pointer(a) : argument_of(a));
  auto outcome = launch(order);
  // After faults, too: what was written is the caller's.
  copies.copy_out();
  return outcome;
}

}  // namespace
}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

lw_status lw_host_register(void* data, uint64_t bytes) {
  return guarded([&] { register_range(data, bytes); });
}

lw_status lw_host_unregister(void* data) {
  return guarded([&] { unregister_range(required(data, "data")); });
}

lw_status lw_run(lw_device* device, const char* text, const char* kernel,
                 const lw_launch_options* options, const lw_arg* args, size_t arg_count,
                 lw_result** out) {
  return guarded([&] {
    if (out != nullptr) *out = nullptr;
    const auto on = device != nullptr ? find<Device>(device) : default_device();
    return finish(run(on, required(text, "text"), kernel, options, args, arg_count), out);
  });
}
