// Kernels, launches and results.
#include "runtime/capi/launch.hpp"
#include "runtime/capi/structs.hpp"
#include "runtime/spirv/translate.hpp"

namespace lanewise::capi {

KernelObject::KernelObject(Kernel k)
    : Object(kKind), kernel(std::move(k)), params(kernel.params()) {}

ResultObject::ResultObject(Result r) : Object(kKind), result(std::move(r)) {
  for (const FaultReport& f : result.faults)
    texts.push_back({std::string(name(f.kind)), format(f)});
}

namespace {

lw_fault to_c(const FaultReport& f, const ResultObject::FaultText& text) {
  lw_fault out{};
  out.line = f.line;
  out.pc = f.pc;
  out.address = f.address;
  out.size = f.size;
  out.group[0] = f.group.x;
  out.group[1] = f.group.y;
  out.group[2] = f.group.z;
  out.wave = f.wave;
  out.lane = f.lane;
  out.kind = text.kind.c_str();
  out.kernel = f.kernel.c_str();
  out.text = f.text.c_str();
  out.source = f.source.c_str();
  out.nearest_allocation = f.nearest_allocation.c_str();
  out.allocation = f.allocation.c_str();
  out.allocation_address = f.allocation_address;
  out.allocation_size = f.allocation_size;
  out.report = text.report.c_str();
  out.parameter = f.parameter.c_str();
  out.parameter_allocation = f.parameter_allocation.c_str();
  out.parameter_allocation_address = f.parameter_allocation_address;
  out.assertion = f.assertion.c_str();
  out.function = f.function.c_str();
  out.allocation_freed = f.allocation_freed ? 1 : 0;
  out.space = f.space.c_str();
  out.space_size = f.space_size;
  out.reason = f.reason.c_str();
  out.called_from = f.called_from.c_str();
  return out;
}

/// What lw_kernel_translate needs no launch for.
LaunchOptions options_or_default(const lw_launch_options* options, uint32_t what) {
  if (options == nullptr && what != LW_EMIT_IR)
    fail(ErrorDetail::null_argument, "options are needed: code depends on the block's size");
  return options == nullptr ? LaunchOptions{} : to_cpp(options).options;
}

std::shared_ptr<BlobObject> emit(const Kernel& kernel, const LaunchOptions& options,
                                 uint32_t what) {
  if (what == LW_EMIT_IR) return std::make_shared<BlobObject>(kernel.ir());
  if (what == LW_EMIT_IR_OPTIMISED)
    return std::make_shared<BlobObject>(kernel.optimised_ir(options));
  if (what != LW_EMIT_SPIRV && what != LW_EMIT_SPIRV_TEXT)
    fail(ErrorDetail::invalid_value, "what is none of the LW_EMIT_ numbers");
  const TranslatedKernel made = kernel.translated(options);
  const auto* const words = reinterpret_cast<const char*>(made.spirv.data());
  return std::make_shared<BlobObject>(
      what == LW_EMIT_SPIRV ? std::string(words, made.spirv.size() * sizeof(uint32_t))
                            : spirv::disassemble(made.spirv),
      BlobObject::Notes{{"wave_mode", made.wave_mode}, {"wave_reason", made.wave_reason}});
}

}  // namespace
}  // namespace lanewise::capi

using namespace lanewise;
using namespace lanewise::capi;

lw_status lw_kernel_get(lw_module* module, const char* name, lw_kernel** out) {
  return guarded([&] {
    clear_out(out);
    give<KernelObject>(out, find<ModuleObject>(module)->module.kernel(name != nullptr ? name : ""));
  });
}

void lw_kernel_release(lw_kernel* kernel) {
  release<KernelObject>(kernel);
}

const char* lw_kernel_name(lw_kernel* kernel) {
  return quiet<const char*>(nullptr,
                            [&] { return find<KernelObject>(kernel)->kernel.name().c_str(); });
}

size_t lw_kernel_param_count(lw_kernel* kernel) {
  return quiet<size_t>(0, [&] { return find<KernelObject>(kernel)->params.size(); });
}

lw_status lw_kernel_param(lw_kernel* kernel, size_t index, lw_param_info* out) {
  return guarded([&] {
    const auto object = find<KernelObject>(kernel);
    if (index >= object->params.size())
      fail(ErrorDetail::out_of_range, fmt::format("kernel '{}' names {} parameters",
                                                  object->kernel.name(), object->params.size()));
    const ParamInfo& p = object->params[index];
    lw_param_info value{};
    value.offset = p.offset;
    value.size = p.size;
    value.is_pointer = p.pointer ? 1 : 0;
    value.name = p.name.c_str();
    value.type = p.type.c_str();
    write_struct(out, value, "lw_param_info");
  });
}

lw_status lw_kernel_launch(lw_kernel* kernel, const lw_launch_options* options, const lw_arg* args,
                           size_t arg_count, lw_result** out) {
  return guarded([&] {
    if (out != nullptr) *out = nullptr;
    const auto object = find<KernelObject>(kernel);
    const Launching launching = to_cpp(options);
    return finish(object->kernel.launch(launching.options, to_cpp(args, arg_count)),
                  object->kernel.name(), out);
  });
}

lw_status lw_kernel_translate(lw_kernel* kernel, const lw_launch_options* options, uint32_t what,
                              lw_blob** out) {
  return guarded([&] {
    clear_out(out);
    const auto object = find<KernelObject>(kernel);
    *out = new_handle(emit(object->kernel, options_or_default(options, what), what));
  });
}

lw_status lw_cancel_create(lw_cancel** out) {
  return guarded([&] {
    clear_out(out);
    give<CancelObject>(out);
  });
}

lw_status lw_cancel_request(lw_cancel* cancel) {
  return guarded([&] { find<CancelObject>(cancel)->requested = true; });
}

void lw_cancel_release(lw_cancel* cancel) {
  release<CancelObject>(cancel);
}

lw_status lw_result_get_info(lw_result* result, lw_result_info* out) {
  return guarded([&] {
    const auto object = find<ResultObject>(result);
    const Result& r = object->result;
    lw_result_info value{};
    value.reported_faults = static_cast<uint32_t>(r.faults.size());
    value.fault_count = r.fault_count;
    value.parse_ms = r.times.parse_ms;
    value.translate_ms = r.times.translate_ms;
    value.pipeline_ms = r.times.pipeline_ms;
    value.dispatch_ms = r.times.dispatch_ms;
    value.wave_mode = r.wave_mode.c_str();
    value.wave_reason = r.wave_reason.c_str();
    value.policies = r.policies.lines().c_str();
    value.printed = r.printed.c_str();
    value.printed_bytes = r.printed.size();
    write_struct(out, value, "lw_result_info");
  });
}

lw_status lw_result_fault(lw_result* result, size_t index, lw_fault* out) {
  return guarded([&] {
    const auto object = find<ResultObject>(result);
    if (index >= object->result.faults.size())
      fail(ErrorDetail::out_of_range,
           fmt::format("the result has {} reports", object->result.faults.size()));
    write_struct(out, to_c(object->result.faults[index], object->texts[index]), "lw_fault");
  });
}

void lw_result_release(lw_result* result) {
  release<ResultObject>(result);
}
