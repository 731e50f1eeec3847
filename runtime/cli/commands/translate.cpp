#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/input.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/watchdog.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cli {
namespace {

struct TranslateArgs {
  std::string kernel, isa, device = "auto", emit = "spirv-text", out;
  std::vector<std::string> files;
  LaunchArgs launch;
  bool json = false;
};

std::string words_as_bytes(const std::vector<uint32_t>& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint32_t)};
}

struct Emitted {
  std::string data, kernel;
};

Emitted emit(const TranslateArgs& a) {
  const bool of_ir = a.emit == "ir" || a.emit == "ir-optimised";
  // The IR needs no device: where none is named, none has to be there.
  Device device = Device::open(of_ir && a.device == "auto" ? "reference" : a.device);
  const Kernel kernel = load_input(device, a.files, to_isa(a.isa)).kernel(a.kernel);
  const std::string& name = kernel.name();
  if (a.emit == "ir") return {kernel.ir(), name};
  if (of_ir) return {kernel.optimised_ir(to_options(a.launch)), name};
  if (a.emit == "spirv-text") return {kernel.spirv_text(to_options(a.launch)), name};
  return {words_as_bytes(kernel.spirv(to_options(a.launch))), name};
}

/// Text that has no file of its own is part of the object.
void print_json(const TranslateArgs& a, const Emitted& made) {
  nlohmann::json j = {
      {"files", a.files}, {"kernel", made.kernel}, {"emit", a.emit}, {"bytes", made.data.size()}};
  j[a.out.empty() ? "text" : "output"] = a.out.empty() ? made.data : a.out;
  fmt::print("{}", json_document(std::move(j)));
}

int translate(const TranslateArgs& a) {
  if (a.emit == "spirv" && a.out.empty()) {
    throw Error(ErrorKind::usage,
                "--emit spirv writes a binary file: name it with -o OUT (- is standard output)");
  }
  const Watchdog watchdog(to_options(a.launch).timeout_seconds);
  if (a.json && a.out == "-")
    throw Error(ErrorKind::usage, "--json and -o - both want standard output");
  const Emitted made = emit(a);
  if (!a.json || !a.out.empty()) write_output(a.out, made.data);
  if (a.json) print_json(a, made);
  return 0;
}

}  // namespace

void add_translate(const Command& app) {
  const Command sub =
      app.command("translate", "show or save what the translator makes of a kernel");
  auto a = std::make_shared<TranslateArgs>();
  sub.option("FILE", a->files,
             "PTX, SASS or GCN as text or object, or a file with code of nvcc in it; several are "
             "linked")
      .required();
  sub.option("--kernel", a->kernel, "which kernel, when the file holds several");
  add_isa_option(sub, a->isa);
  sub.option("--emit", a->emit, "which stage")
      .one_of({"spirv", "spirv-text", "ir", "ir-optimised"});
  sub.option("-o", a->out, "output file (default: standard output)");
  sub.option("--device", a->device, "whose abilities to translate for").suggests(ValueKind::device);
  add_launch_options(sub, a->launch);
  sub.json(a->json);
  sub.examples({"lanewise translate samples/kernels/saxpy.ptx --emit ir"});
  sub.does([a] { return translate(*a); });
}

}  // namespace lanewise::cli
