// Arguments for a kernel that nobody gave any for.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/api/program/loader.hpp"
#include "runtime/diff/diff.hpp"
#include "runtime/support/input_file.hpp"
#include "runtime/support/npy.hpp"

namespace lanewise::diff {
namespace {

/// The widest floating-point type that the kernel computes with; u32 where there is none.
std::string element_type(const ir::Program& program) {
  std::string best = "u32";
  for (const ir::Block& block : program.blocks)
    for (const ir::Inst& inst : block.insts) {
      if (inst.type == ir::Type::f64) return "f64";
      if (inst.type == ir::Type::f32 && ir::info(inst.op).name[0] == 'f') best = "f32";
    }
  return best;
}

Input scalar(const ir::Param& param, uint64_t threads) {
  Input in;
  in.name = param.name;
  in.bytes.resize(param.size);
  in.integer = param.size <= 8 && !ir::is_float(param.type);
  uint64_t bits = threads;
  if (param.type == ir::Type::f32) bits = 0x3fc00000;          // 1.5
  if (param.type == ir::Type::f64) bits = 0x3ff8000000000000;  // 1.5
  for (size_t i = 0; i < std::min<size_t>(param.size, 8); ++i)
    in.bytes[i] = static_cast<std::byte>(bits >> (8 * i));
  return in;
}

uint64_t product(const Dim3& d) {
  return uint64_t{d.x} * d.y * d.z;
}

}  // namespace

host::detail::Compiled compile(const Form& form) {
  return host::detail::compile(read_file(form.file),
                               {form.isa, form.file, form.target, folder_of(form.file)});
}

std::vector<std::string> kernel_names(const Form& form) {
  std::vector<std::string> names;
  const host::detail::Compiled compiled = compile(form);
  for (const ir::Program& p : compiled.module.kernels) names.push_back(p.name);
  for (const isa::RejectedKernel& r : compiled.rejected) names.push_back(r.name);
  return names;
}

std::vector<Input> guess_inputs(const Form& form, const LaunchOptions& options,
                                std::string& reported) {
  const host::detail::Compiled compiled = compile(form);
  const auto& kernels = compiled.module.kernels;
  const auto found = form.kernel.empty()
                         ? kernels.begin()
                         : std::ranges::find(kernels, form.kernel, &ir::Program::name);
  if (found == kernels.end()) return {};  // loading says why
  const uint64_t threads = product(options.grid) * product(options.block);
  const std::string type = element_type(*found);
  const uint64_t elements = std::max<uint64_t>(1024, 4 * threads);
  std::vector<Input> inputs;
  for (const ir::Param& param : found->params) {
    const bool pointer = param.pointer || (param.size == 8 && param.type != ir::Type::f64);
    if (!pointer) {
      inputs.push_back(scalar(param, threads));
    } else {
      Input in;
      in.kind = Input::Kind::buffer;
      in.name = param.name;
      in.type = type;
      in.bytes.resize(elements * npy::element_size(type));
      in.filled = true;
      inputs.push_back(std::move(in));
    }
    reported += fmt::format("{}{} = {}", reported.empty() ? "" : ", ", param.name,
                            pointer ? fmt::format("{}[{}]", type, elements)
                            : param.type == ir::Type::f32 || param.type == ir::Type::f64
                                ? std::string("1.5")
                                : fmt::format("{}", threads));
  }
  return inputs;
}

}  // namespace lanewise::diff
