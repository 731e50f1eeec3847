// Kernels: what they take, launching them, what a translator makes of them.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/api/behind.hpp"
#include "runtime/api/launch/launch.hpp"
#include "runtime/api/objects/structs.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/pipeline.hpp"
#include "runtime/spirv/translate.hpp"

namespace lanewise::host {
namespace {

std::string optimised_ir(ir::Program program, const Dim3& block) {
  ir::lower_switches(program);
  ir::optimise(program, {{{block.x, block.y, block.z}}});
  return ir::print(program);
}

std::shared_ptr<Blob> emit(const Kernel& kernel, const lw_launch_options* options, uint32_t what) {
  if (what > LW_EMIT_SPIRV_TEXT)
    fail(ErrorDetail::invalid_value, "what is none of the LW_EMIT_ numbers");
  if (options == nullptr && what != LW_EMIT_IR)
    fail(ErrorDetail::null_argument, "options are needed: code depends on the block's size");
  const LaunchOrder order = options != nullptr
                                ? order_of(kernel, options, nullptr, 0)
                                : LaunchOrder{kernel.module, kernel.index, {}, {}, {}, {}};
  if (what == LW_EMIT_IR) return std::make_shared<Blob>(ir::print(kernel.program()));
  if (what == LW_EMIT_IR_OPTIMISED)
    return std::make_shared<Blob>(
        optimised_ir(*kernel.module->launched_program(kernel.index, order.options.policies).program,
                     order.options.block));
  const Translated made = translate(order);
  const auto* const words = reinterpret_cast<const char*>(made.words.data());
  return std::make_shared<Blob>(
      what == LW_EMIT_SPIRV ? std::string(words, made.words.size() * sizeof(uint32_t))
                            : spirv::disassemble(made.words),
      Blob::Notes{{"wave_mode", made.wave_mode}, {"wave_reason", made.wave_reason}});
}

}  // namespace

std::vector<uint32_t> words_of_launch(lw_kernel* kernel, const lw_launch_options& options,
                                      std::span<const lw_arg> args) {
  return translate(order_of(*find<Kernel>(kernel), &options, args.data(), args.size())).words;
}

}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

lw_status lw_kernel_get(lw_module* module, const char* name, lw_kernel** out) {
  return gives(out, [&] { return std::make_shared<Kernel>(find<Module>(module), text_or(name)); });
}

const char* lw_kernel_name(lw_kernel* kernel) {
  return quiet<const char*>(nullptr, [&] { return find<Kernel>(kernel)->program().name.c_str(); });
}

size_t lw_kernel_param_count(lw_kernel* kernel) {
  return quiet<size_t>(0, [&] { return find<Kernel>(kernel)->program().params.size(); });
}

lw_status lw_kernel_param(lw_kernel* kernel, size_t index, lw_param_info* out) {
  return guarded([&] {
    const auto object = find<Kernel>(kernel);
    const ir::Program& program = object->program();
    if (index >= program.params.size())
      fail(ErrorDetail::out_of_range,
           fmt::format("kernel '{}' names {} parameters", program.name, program.params.size()));
    const ir::Param& p = program.params[index];
    lw_param_info value{};
    value.offset = p.offset;
    value.size = p.size;
    value.is_pointer = p.pointer ? 1 : 0;
    value.name = p.name.c_str();
    value.type = p.type != ir::Type::none ? ir::name(p.type).data() : "";
    write_struct(out, value, "lw_param_info");
  });
}

lw_status lw_kernel_get_info(lw_kernel* kernel, lw_kernel_info* out) {
  return guarded([&] {
    const auto object = find<Kernel>(kernel);
    const ir::Program& p = object->program();
    const ir::Module& module = object->module->module;
    lw_kernel_info value{};
    value.static_shared = p.shared_bytes;
    value.local_bytes = p.local_bytes;
    value.param_bytes = p.param_bytes;
    value.max_threads = p.max_block;
    std::ranges::copy(p.required_block, value.block);
    for (const ir::Global& g : module.globals)
      if (g.space == ir::Space::constant) value.constant_bytes += g.size;
    value.isa = p.isa == ir::Isa::ptx ? "ptx" : p.isa == ir::Isa::sass ? "sass" : "gcn";
    value.target = module.target.c_str();
    write_struct(out, value, "lw_kernel_info");
  });
}

lw_status lw_kernel_launch(lw_kernel* kernel, const lw_launch_options* options, const lw_arg* args,
                           size_t arg_count, lw_result** out) {
  return guarded([&] {
    if (out != nullptr) *out = nullptr;
    return finish(launch(order_of(*find<Kernel>(kernel), options, args, arg_count)), out);
  });
}

lw_status lw_kernel_translate(lw_kernel* kernel, const lw_launch_options* options, uint32_t what,
                              lw_blob** out) {
  return gives(out, [&] { return emit(*find<Kernel>(kernel), options, what); });
}

lw_status lw_cancel_create(lw_cancel** out) {
  return gives(out, [] { return std::make_shared<Cancel>(); });
}

lw_status lw_cancel_request(lw_cancel* cancel) {
  return guarded([&] { find<Cancel>(cancel)->requested = true; });
}
