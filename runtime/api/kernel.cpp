#include "runtime/api/launch.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/pipeline.hpp"

namespace lanewise::host {

using detail::program_of;

detail::ModuleState& Kernel::state() const {
  if (module_ == nullptr) detail::refuse_empty("Kernel");
  return *module_;
}

const std::string& Kernel::name() const {
  return program_of(state(), index_).name;
}

std::vector<ParamInfo> Kernel::params() const {
  std::vector<ParamInfo> out;
  for (const ir::Param& p : program_of(state(), index_).params) {
    const bool typed = p.type != ir::Type::none;
    out.push_back({p.name, p.offset, p.size, p.pointer,
                   typed ? std::string(ir::name(p.type)) : std::string()});
  }
  return out;
}

std::string Kernel::ir() const {
  return ir::print(program_of(state(), index_));
}

std::string Kernel::optimised_ir(const LaunchOptions& options) const {
  ir::Program program = program_of(state(), index_);
  ir::lower_switches(program);
  ir::optimise(program, {{{options.block.x, options.block.y, options.block.z}}});
  return ir::print(program);
}

Result Kernel::launch(const LaunchOptions& options, const std::vector<Arg>& args) const {
  return detail::DeviceAccess::launch(state(), index_, options, args, {});
}

std::vector<uint32_t> Kernel::spirv(const LaunchOptions& options) const {
  return translated(options).spirv;
}

TranslatedKernel Kernel::translated(const LaunchOptions& options) const {
  const ir::Program& program = program_of(state(), index_);
  const auto lock = module_->device->enter();
  detail::Prepared prepared;
  detail::prepare(prepared, *module_, index_, options, program.param_bytes);
  prepared.request.params.resize(program.param_bytes);
  Translated made = module_->device->engine->translate(prepared.request);
  if (made.words.empty()) {
    throw Error(ErrorKind::usage, "the reference engine runs no SPIR-V; choose a Vulkan device");
  }
  return {std::move(made.words), std::move(made.wave_mode), std::move(made.wave_reason)};
}

}  // namespace lanewise::host
