#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lanewise/tools.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/stream_script.hpp"
#include "runtime/cli/diagnostics.hpp"
#include "runtime/cli/input.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/cli/process/watchdog.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cli {
namespace {

struct CheckArgs {
  std::vector<std::string> files;
  std::string isa, target, strict, assembler;
  size_t max_errors = 100;
  std::string report;
  findings::Options findings;
  double timeout = 0;
  bool json = false;
};

nlohmann::json to_json(const std::string& file, bool ok, const std::vector<Diagnostic>& found) {
  return {{"file", file}, {"ok", ok}, {"diagnostics", diagnostics_json(file, found)}};
}

findings::Finding finding_of(const std::string& file, const Diagnostic& d) {
  findings::Finding out;
  out.rule = d.warning ? "warning" : "error";
  out.subject = file;
  out.message = d.message;
  out.report = format(file, d);
  findings::Place& place = out.places.emplace_back();
  place.file = d.file.empty() ? file : d.file;
  place.line = d.line;
  place.column = d.line != 0 ? std::max(d.column, 1U) : 0;
  return out;
}

CheckOptions check_options(const CheckArgs& a, const std::string& file) {
  CheckOptions o;
  o.isa = to_isa(a.isa);
  o.name = input_name(file);
  o.include_folder = include_folder(file);
  o.target = a.target;
  if (!a.strict.empty())
    o.strict = a.strict == "manual" ? Strictness::manual : Strictness::assembler;
  if (!a.assembler.empty()) {
    if (a.strict == "manual")
      throw Error(ErrorKind::usage, "--assembler goes with --strict ptxas, found --strict manual");
    o.strict = a.assembler == "11.8" ? Strictness::cuda_11_8 : Strictness::cuda_13_0;
  }
  o.max_errors = a.max_errors;
  return o;
}

int check(const CheckArgs& a) {
  if (!a.report.empty() && !a.report.ends_with(".sarif"))
    throw Error(ErrorKind::usage,
                fmt::format("{}: no report for this ending, expected .sarif", a.report));
  const Watchdog watchdog(a.timeout, Watchdog::Parts::end_at_once);
  int code = 0;
  nlohmann::json all = nlohmann::json::array();
  findings::Options options = a.findings;
  if (!a.report.empty()) options.files.push_back(a.report);
  findings::Output output(std::move(options));
  for (const std::string& file : a.files) {
    if (is_script(file)) {
      const CheckedScript script = check_script(file, a.max_errors);
      if (!script.ok) code = 1;
      all.push_back(to_json(file, script.ok, script.diagnostics));
      all.back()["cases"] = script.cases;
      if (script.ok && !a.json) fmt::print("{}: ok, {} cases\n", file, script.cases);
      continue;
    }
    const std::string name = input_name(file);
    const Checked checked = check_program(read_input(file), check_options(a, file));
    output.add_subject(name);
    bool counted = false;
    for (const Diagnostic& d : checked.diagnostics) {
      if (!output.add(finding_of(name, d))) continue;
      say("{}\n", format(name, d));
      counted = counted || !d.warning;
    }
    all.push_back(to_json(name, checked.ok, checked.diagnostics));
    const bool judged = !(a.target.empty() && a.strict.empty() && a.assembler.empty());
    if (!judged) all.back()["kernels"] = checked.kernels;
    if (!checked.ok && counted) code = 1;
    if (!checked.ok || a.json) continue;
    if (judged)
      fmt::print("{}: legal\n", name);
    else
      fmt::print("{}: ok, {} kernels\n", name, checked.kernels);
  }
  if (a.json) fmt::print("{}", json_document(nlohmann::json{{"files", std::move(all)}}));
  for (const std::string& line : output.finish()) say("{}\n", line);
  return code;
}

}  // namespace

void add_check(const Command& app) {
  const Command sub = app.command("check", "parse and validate, run nothing");
  auto a = std::make_shared<CheckArgs>();
  sub.option("FILE", a->files,
             "programs: PTX, SASS or GCN as text or object, or files with code of nvcc in them")
      .required();
  add_isa_option(sub, a->isa);
  sub.option("--target", a->target,
             "judge PTX as compiled for this target (sm_80, as `ptxas -arch`), SASS for this one "
             "in place of "
             "the file's, without lowering it")
      .suggests(ValueKind::target);
  sub.option("--strict", a->strict,
             "judge PTX like the assembler (ptxas) or by the manual's text, SASS by the "
             "manual with its "
             "control words, without lowering it")
      .one_of({"ptxas", "manual"});
  sub.option(
         "--assembler", a->assembler,
         "judge PTX as the assembler of CUDA 11.8 or 13, without lowering it (default: 11.8 up to "
         ".version 7.8)")
      .one_of({"11.8", "13"});
  sub.option("--max-errors", a->max_errors, "stop after so many errors a file, 0 = never");
  sub.option("--report", a->report, "the same as --findings FILE.sarif; not for .lw scripts");
  add_finding_options(sub, a->findings);
  add_timeout_option(sub, a->timeout);
  sub.json(a->json);
  sub.examples({"lanewise check samples/kernels/saxpy.ptx samples/kernels/sgemm.ptx",
                "lanewise check samples/kernels/saxpy.ptx --target sm_90"});
  sub.does([a] { return check(*a); });
}

}  // namespace lanewise::cli
