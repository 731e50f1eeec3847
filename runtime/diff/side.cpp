#include "runtime/diff/side.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/api/behind.hpp"
#include "runtime/diff/watcher.hpp"

namespace lanewise::diff {
namespace {

ir::Program program_named(const ir::Module& module, const std::string& name) {
  return *std::ranges::find(module.kernels, name, &ir::Program::name);
}

Arg argument(const Input& input, const Buffer& buffer, uint32_t& local_bytes) {
  if (input.kind == Input::Kind::buffer) return {buffer};
  if (input.kind == Input::Kind::scalar)
    return input.integer ? Arg::integer(input.bytes, input.is_signed) : Arg::raw(input.bytes);
  // As `run` places them: behind what came before, 16-aligned.
  const Arg place(local_bytes);
  local_bytes = (local_bytes + static_cast<uint32_t>(input.local_bytes) + 15) / 16 * 16;
  return place;
}

}  // namespace

Side::Side(const Form& form, const std::string& device)
    : form_(form), freedom_(ir::Program{}), device_(Device::open(device)) {
  module_ = device_.load_file(form.file, form.isa, form.target);
  kernel_ = module_.kernel(form.kernel).name();
  const host::detail::Compiled compiled = compile(form);
  program_ = program_named(compiled.module, kernel_);
  freedom_ = Freedom(program_);
  for (const ir::Global& g : compiled.module.globals) {
    if (g.size == 0) continue;
    all_variables_[g.name] = g.size;
    if (g.space == ir::Space::constant) continue;
    variables_[g.name] = g.size;
    std::vector<std::byte>& bytes = initial_[g.name];
    bytes.resize(g.size);
    module_.read_symbol(g.name, bytes);
  }
}

Outcome Side::run_on(Device& device, Module& module, const LaunchOptions& asked,
                     const std::vector<Input>& inputs) const {
  LaunchOptions options = asked;
  std::vector<Buffer> buffers(inputs.size());
  std::vector<Arg> arguments;
  uint32_t local_bytes = 0;
  Outcome out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind == Input::Kind::buffer) {
      buffers[i] = device.allocate(inputs[i].bytes.size(), inputs[i].name);
      buffers[i].write(std::span<const std::byte>(inputs[i].bytes));
    }
    out.addresses.push_back(inputs[i].kind == Input::Kind::buffer ? buffers[i].address() : 0);
    arguments.push_back(argument(inputs[i], buffers[i], local_bytes));
  }
  for (const auto& [name, bytes] : initial_) module.write_symbol(name, bytes);
  options.dynamic_shared += local_bytes;
  const Result result = module.kernel(kernel_).launch(options, arguments);
  for (const auto& [name, size] : all_variables_)
    out.variable_addresses[name] = {module.symbol(name).address, size};
  out.faults = result.faults;
  out.fault_count = result.fault_count;
  for (size_t i = 0; i < inputs.size(); ++i) {
    out.buffers.emplace_back(inputs[i].kind == Input::Kind::buffer ? inputs[i].bytes.size() : 0);
    if (!out.buffers.back().empty()) buffers[i].read(std::span(out.buffers.back()));
  }
  for (const auto& [name, bytes] : initial_) {
    std::vector<std::byte>& now = out.variables[name];
    now.resize(bytes.size());
    module.read_symbol(name, now);
    if (now != bytes) out.written.insert(name);
  }
  return out;
}

Outcome Side::run(const LaunchOptions& options, const std::vector<Input>& inputs) {
  return run_on(device_, module_, options, inputs);
}

Watched Side::watch(const LaunchOptions& options, const std::vector<Input>& inputs,
                    const Variation& variation) const {
  auto engine = std::make_unique<Watcher>(variation.schedule, variation.last_group_first);
  const Watcher& watcher = *engine;
  Device device = Device::from_c(host::device_on(std::move(engine)));
  constexpr uint64_t kAway = 0x131300;  // changes bits from 8 to 20
  Buffer before;
  if (variation.moved) before = device.allocate(kAway, "before");
  Module module = device.load_file(form_.file, form_.isa, form_.target);
  Watched out;
  LaunchOptions on_reference = options;
  on_reference.wave = WaveMode::automatic;
  out.outcome = run_on(device, module, on_reference, inputs);
  const std::vector<uint64_t>& addresses = out.outcome.addresses;
  out.bound = watcher.bound();
  out.all_stores = watcher.all_writes();
  for (const Watcher::Write& w : watcher.writes()) {
    Store s{inputs.size(), w.address, w.bytes, w.group, w.lane, {}};
    for (size_t i = 0; i < inputs.size(); ++i)
      if (w.address - addresses[i] < inputs[i].bytes.size() &&
          inputs[i].kind == Input::Kind::buffer) {
        s.input = i;
        s.offset = w.address - addresses[i];
      }
    if (w.site < watcher.program().sites.size()) {
      const ir::Site& site = watcher.program().sites[w.site];
      s.place = {site.text, site.line, site.pc};
    }
    out.stores.push_back(std::move(s));
  }
  return out;
}

}  // namespace lanewise::diff
