#include "runtime/host/core/operation.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/host/core/hostcall.hpp"
#include "runtime/host/core/status.hpp"

namespace lanewise::core {
namespace {

template <typename Each>
void each_row(const Copy& c, const Each& each) {
  const bool whole = c.to.pitch == c.width && c.from.pitch == c.width;
  const uint64_t rows = whole ? 1 : c.height, row = whole ? c.width * c.height : c.width;
  for (uint64_t z = 0; z < c.depth; ++z)
    for (uint64_t y = 0; y < rows; ++y)
      each(c.to.address + z * c.to.layer + y * c.to.pitch,
           c.from.address + z * c.from.layer + y * c.from.pitch, row);
}

/// Shorter runs may be the padding of structs.
constexpr uint64_t kLeastUnwritten = 16;

/// What the host gets may be used there, where nobody follows it (--check init).
void check_row(Context& context, uint64_t from, uint64_t bytes) {
  uint64_t offset = 0, run = 0;
  const MemoryPtr memory = context.memory().find(from);
  if (memory == nullptr) return;
  check(lw_memory_unwritten(context.device(), from, bytes, std::min(bytes, kLeastUnwritten),
                            &offset, &run));
  if (run == 0) return;
  const uint64_t first = from + offset - memory->address;
  findings::Finding finding;
  finding.rule = "init-host";
  finding.subject = "host program";
  finding.places.emplace_back();
  finding.places.back().text = memory->name;
  finding.message = finding.report =
      "a copy of " + std::to_string(bytes) + " bytes from '" + memory->name +
      "' to the host has bytes that nobody has written: " + std::to_string(run) + " from offset " +
      std::to_string(first) + " of " + std::to_string(memory->bytes) + " on";
  context.add_finding(std::move(finding));
}

void copy_row(Context& context, const Copy& c, uint64_t to, uint64_t from, uint64_t bytes) {
  lw_device* device = context.device();
  if (bytes == 0) return;
  if (c.to.on_device && c.from.on_device) return check(lw_memory_copy(device, to, from, bytes));
  if (c.to.on_device) {
    const auto* data = pointer_at(from);
    context.memory().expose(data, bytes);
    return check(lw_memory_write(device, to, data, bytes));
  }
  if (c.from.on_device && context.settings().init) check_row(context, from, bytes);
  if (c.from.on_device) return check(lw_memory_read(device, from, pointer_at(to), bytes));
  std::memmove(pointer_at(to), pointer_at(from), bytes);
}

void fill_host(const Fill& f, uint64_t address) {
  auto* at = pointer_at<std::byte>(address);
  if (f.size == 1) {
    std::memset(at, static_cast<int>(f.value), f.width);
    return;
  }
  for (uint64_t i = 0; i < f.width; ++i) std::memcpy(at + i * f.size, &f.value, f.size);
}

}  // namespace

void Launch::take_args(void* const* from) {
  const Function& f = *function;
  block.resize(f.info.param_bytes);
  args.resize(f.param_sizes.size());
  for (size_t i = 0; i < args.size(); ++i) {
    args[i] = block.data() + f.param_offsets[i];
    std::memcpy(args[i], from[i], f.param_sizes[i]);
  }
}

namespace {

/// All groups are there at the same time.
void check_resident(const Function& f, const Shape& s, int threads) {
  const uint64_t groups = uint64_t{s.grid[0]} * s.grid[1] * s.grid[2];
  const uint64_t most = resident_groups(f, threads, s.dynamic_shared);
  if (groups <= most) return;
  report_line("the cooperative launch of kernel " + f.name + " has " + std::to_string(groups) +
              " thread blocks of " + std::to_string(threads) + " threads; at most " +
              std::to_string(most) + " are resident at the same time on " +
              Context::current().info().name);
  fail(Code::cooperative_too_large);
}

}  // namespace

void check_shape(const Function& f, const Shape& s) {
  const Limits& most = limits();
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    require(s.grid[i] != 0 && s.block[i] != 0 && s.grid[i] <= most.grid[i] &&
                s.block[i] <= (f.any_side ? most.threads : most.block[i]),
            Code::invalid_configuration);
    threads *= s.block[i];
  }
  require(threads <= most.threads, Code::invalid_configuration);
  require(f.info.max_threads == 0 || threads <= f.info.max_threads, f.out_of_bounds);
  const uint64_t shared = std::max<uint64_t>(most.shared, f.max_dynamic_shared);
  require(s.dynamic_shared + f.info.static_shared <= shared, Code::invalid_value);
  if (s.cooperative) check_resident(f, s, static_cast<int>(threads));
}

void submit_launch(Function& f, const Shape& shape, void* const* args, const StampPtr& stamp) {
  Context& context = Context::current();
  const OnDevice device(f.image->device);  // a node of a graph may be another device's
  check_shape(f, shape);
  if (f.image->asks_host) context.set_hostcall(hostcall_buffer(context));
  lw_launch_options options = context.launch_options(shape.cooperative);
  if (f.heap_variable != 0) context.note_heap(f.heap_variable);
  std::copy_n(shape.grid, 3, options.grid);
  std::copy_n(shape.block, 3, options.block);
  options.dynamic_shared = static_cast<uint32_t>(shape.dynamic_shared);
  constexpr size_t kFew = 32;
  std::array<lw_arg, kFew> few;
  std::vector<lw_arg> many;
  const size_t count = f.param_sizes.size();
  if (count > kFew) many.resize(count);
  lw_arg* const out = count > kFew ? many.data() : few.data();
  for (size_t i = 0; i < count; ++i) {
    out[i] = lw_arg_bytes(args[i], f.param_sizes[i]);
    if (context.memory().has_hidden()) context.memory().expose(args[i], f.param_sizes[i]);
  }
  const CountedLaunchPtr counted =
      context.counts_costs() ? CostWatch::counted(f.name, options) : nullptr;
  context.put_launch(f.kernel, options, out, count, stamp, counted);
}

void perform(const Copy& copy) {
  Context& context = Context::current();
  each_row(copy, [&](uint64_t to, uint64_t from, uint64_t bytes) {
    copy_row(context, copy, to, from, bytes);
  });
  ++context.counts().copies;
  context.counts().copied_bytes += copy.width * copy.height * copy.depth;
}

void perform(const Fill& f) {
  Context& context = Context::current();
  const bool whole = f.pitch == f.width * f.size;
  const uint64_t rows = whole ? 1 : f.height;
  Fill row = f;
  if (whole) row.width = f.width * f.height;
  for (uint64_t z = 0; z < f.depth; ++z)
    for (uint64_t y = 0; y < rows; ++y) {
      const uint64_t at = f.address + z * f.layer + y * f.pitch;
      if (f.on_device)
        check(lw_memory_fill(context.device(), at, f.value, f.size, row.width));
      else
        fill_host(row, at);
    }
}

namespace {

struct Submit {
  Context& context;
  const StampPtr& stamp;

  void operator()(const Nothing&) const {}
  void operator()(const Launch& l) const {
    submit_launch(*l.function, l.shape, l.args.data(), stamp);
  }
  /// What the host changed reaches the device first, and what the device changed the host.
  template <typename What>
  void operator()(const What& what) const {
    context.put([what, &c = context, of = stamp] {
      if (c.memory().has_mirrors()) c.memory().mirrors_to_host();
      perform(what);
      if (of != nullptr) c.order()->done(of, footprint_of(what));
      if (c.memory().has_mirrors()) c.memory().mirrors_to_device();
    });
  }
  void operator()(const HostCall& call) const {
    context.put([call, &c = context] {
      if (c.memory().has_mirrors()) c.memory().mirrors_to_host();
      Context::call([&] { call.function(call.user); });
    });
  }
  void operator()(const Release& release) const {
    context.put(
        [memory = release.memory, &c = context, of = stamp] {
          if (of != nullptr) {
            Footprint whole;
            whole.add(memory->address, memory->bytes, true);
            c.order()->done(of, std::move(whole));
            c.order()->forget(memory->address, memory->bytes);
          }
          c.memory().remove(memory);
        },
        true);
  }
  void operator()(const Work& work) const { context.put(work.function, true); }
};

}  // namespace

void submit(const Operation& operation, const StampPtr& stamp) {
  std::visit(Submit{Context::current(), stamp}, operation);
}

std::pair<std::string, std::string> names_of(const Operation& operation) {
  if (const auto* launch = std::get_if<Launch>(&operation))
    return {"kernel", launch->function->name};
  if (std::holds_alternative<Copy>(operation)) return {"a copy", ""};
  if (std::holds_alternative<Fill>(operation)) return {"a fill (cudaMemset)", ""};
  if (std::holds_alternative<Release>(operation)) return {"cudaFreeAsync", ""};
  return {"work", ""};
}

StampPtr stamp_of(const Stream& stream, const Operation& operation) {
  StreamOrder* const order = Context::current().order();
  if (order == nullptr) return nullptr;
  const auto [what, kernel] = names_of(operation);
  return order->stamp(stream, what, kernel);
}

Region region(const void* pointer, uint64_t pitch, uint64_t layer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  Region out{address, false, pitch, layer};
  if (!AddressSpace::is_device_address(address)) return out;
  // A mirrored allocation is host memory as well: the host's copy is current here.
  const MemoryPtr memory = Context::current().memory().find(address);
  out.on_device = memory == nullptr || memory->mirror == nullptr;
  return out;
}

}  // namespace lanewise::core
