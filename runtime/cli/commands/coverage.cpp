#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "lanewise/tools.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/support/input_file.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cli {
namespace {

struct CoverageArgs {
  std::string isa, target, forms, device = "auto", block = "256";
  std::vector<std::string> waves, files;
  bool json = false;
};

void say_target(const CoverageArgs& a, const CoverageTable& table) {
  if (!table.target.empty())
    say("judged for {}{}\n", table.target, a.target.empty() ? ", --target names another" : "");
}

/// The text between two tabs; empty where there are fewer.
std::string_view column(std::string_view line, size_t n) {
  for (; n != 0; --n) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return {};
    line.remove_prefix(tab + 1);
  }
  return line.substr(0, line.find('\t'));
}

/// A table names its columns in the first line; the forms are those under "opcode" or "form".
std::optional<size_t> form_column(std::string_view header) {
  if (header.find('\t') == std::string_view::npos) return std::nullopt;
  for (size_t n = 0; !column(header, n).empty(); ++n)
    if (column(header, n) == "opcode" || column(header, n) == "form") return n;
  return std::nullopt;
}

int print_json(const nlohmann::json& all) {
  fmt::print("{}", json_document(all, 1));
  return 0;
}

int print_forms_json(const CoverageArgs& a, const CoverageTable& table) {
  nlohmann::json forms = nlohmann::json::array();
  for (const FormCoverage& c : table.forms)
    forms.push_back({{"form", c.form}, {"state", c.state}, {"note", c.note}});
  nlohmann::json all = {{"isa", a.isa}, {"forms", forms}};
  if (!table.target.empty()) all["target"] = table.target;
  return print_json(all);
}

int answer_forms(const CoverageArgs& a) {
  CoverageTable table = coverage(a.isa, a.target);
  table.forms.clear();
  std::istringstream lines(read_file(a.forms));
  std::optional<size_t> named;
  bool first = true;
  for (std::string line; std::getline(lines, line); first = false) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    if (first && (named = form_column(line))) continue;
    const std::string form(named ? column(line, *named) : std::string_view(line));
    FormCoverage answer = coverage_of(a.isa, form, a.target);
    answer.form = form;  // as the file has it
    table.forms.push_back(std::move(answer));
  }
  if (a.json) return print_forms_json(a, table);
  say_target(a, table);
  for (const FormCoverage& c : table.forms) fmt::print("{}\t{}\n", c.form, c.state);
  return 0;
}

int list(const CoverageArgs& a) {
  const CoverageTable table = coverage(a.isa, a.target);
  if (a.json) return print_forms_json(a, table);
  say_target(a, table);
  for (const FormCoverage& c : table.forms)
    fmt::print("{}\t{}{}\n", c.form, c.state, c.note.empty() ? "" : "\t" + c.note);
  return 0;
}

/// Which kernels of files run here, and why the others do not.
int answer_files(const CoverageArgs& a) {
  if (!a.forms.empty() || !a.target.empty())
    throw Error(ErrorKind::usage, "files have kernels, --forms and --target ask about forms");
  Device device = Device::open("reference");
  size_t refused = 0;
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& file : a.files) {
    const Module module = device.load_file(file, to_isa(a.isa));
    for (const std::string& name : module.kernels()) {
      std::string reason;
      try {
        static_cast<void>(module.kernel(name));
      } catch (const Error& error) {
        reason = error.what();
        ++refused;
      }
      const char* state = reason.empty() ? "supported" : "refused";
      if (a.json)
        list.push_back({{"file", file}, {"kernel", name}, {"state", state}, {"reason", reason}});
      else
        fmt::print("{}\t{}\t{}{}\n", file, name, state, reason.empty() ? "" : "\t" + reason);
    }
  }
  if (a.json) print_json({{"kernels", list}, {"refused", refused}});
  return refused == 0 ? 0 : 1;
}

/// How the kernels of files lay their lanes over invocations, and why; the last line counts those
/// that run lanes one after another.
int answer_waves(const CoverageArgs& a) {
  if (!a.forms.empty() || !a.target.empty())
    throw Error(ErrorKind::usage,
                fmt::format("--waves asks about kernels, {} about forms: ask for one of them",
                            a.forms.empty() ? "--target" : "--forms"));
  Device device = Device::open(a.device);
  if (device.info().type == "reference")
    throw Error(ErrorKind::usage,
                "--waves asks what a Vulkan device would run, and the reference engine is none; "
                "choose one with --device, or --device profile:vega10");
  LaunchArgs launch;
  launch.block = a.block;
  const LaunchOptions options = to_options(launch);
  size_t kernels = 0, serial = 0, refused = 0;
  nlohmann::json list = nlohmann::json::array();
  const auto answer = [&](const std::string& file, const std::string& kernel, std::string_view mode,
                          std::string_view reason) {
    if (a.json)
      list.push_back({{"file", file}, {"kernel", kernel}, {"mode", mode}, {"reason", reason}});
    else
      fmt::print("{}\t{}\t{}\t{}\n", file, kernel, mode, reason);
  };
  for (const std::string& file : a.waves) {
    const Module module = device.load_file(file, to_isa(a.isa));
    for (const std::string& name : module.kernels()) {
      ++kernels;
      try {
        const TranslatedKernel made = module.kernel(name).translated(options);
        serial += made.wave_mode == "serial" ? 1 : 0;
        answer(file, name, made.wave_mode, made.wave_reason);
      } catch (const Error& error) {
        ++refused;
        answer(file, name, "refused", error.what());
      }
    }
  }
  if (a.json) return print_json({{"kernels", list}, {"serial", serial}, {"refused", refused}});
  say("{} of {} kernels run their lanes one after another, {} are refused\n", serial, kernels,
      refused);
  return 0;
}

}  // namespace

void add_coverage(const Command& app) {
  const Command sub =
      app.command("coverage", "every instruction form and how well it is supported");
  auto a = std::make_shared<CoverageArgs>();
  sub.option("FILE", a->files, "instead: which kernels of these files run here");
  sub.option("--isa", a->isa, "which instruction set").one_of({"ptx", "sass", "gcn"});
  sub.option("--target", a->target, "gfx600 (default), gfx700 or gfx803 for GCN")
      .suggests(ValueKind::target);
  sub.option("--forms", a->forms,
             "answer for the forms in this file: one a line, or a table with a column 'opcode'");
  sub.json(a->json);
  sub.option("--waves", a->waves, "how the kernels of these files lay lanes over invocations");
  sub.option("--device", a->device, "with --waves: whose abilities to translate for")
      .suggests(ValueKind::device);
  sub.option("--block", a->block, "with --waves: threads per work-group: X[,Y[,Z]]");
  sub.examples({"lanewise coverage --isa sass",
                "lanewise coverage --isa gcn --target gfx803 --json",
                "lanewise coverage samples/cubin/sort.cubin"});
  sub.does([a] {
    if (!a->waves.empty()) return answer_waves(*a);
    if (!a->files.empty()) return answer_files(*a);
    if (a->isa.empty())
      throw Error(ErrorKind::usage,
                  "--isa is missing: ptx, sass or gcn (see 'lanewise coverage --help')");
    return a->forms.empty() ? list(*a) : answer_forms(*a);
  });
}

}  // namespace lanewise::cli
