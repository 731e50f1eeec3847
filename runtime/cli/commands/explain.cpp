// `explain`: what an instruction does in every lane, with the numbers of a script's state.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <span>

#include "runtime/api/program/loader.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/explain_output.hpp"
#include "runtime/cli/commands/stream_script.hpp"
#include "runtime/cli/diagnostics.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/cli/process/watchdog.hpp"
#include "runtime/script/script.hpp"
#include "runtime/support/input_file.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cli {
namespace {

struct ExplainArgs {
  std::string place, text, isa, target, case_name, launch;
  std::vector<std::string> set;
  std::optional<uint32_t> lane;
  uint32_t group = 0, visit = 1;
  double timeout = 0;
  bool json = false;
};

/// FILE or FILE:LINE.
struct Place {
  std::string file;
  uint32_t line = 0;
};
Place place_of(const std::string& text) {
  const size_t colon = text.rfind(':');
  Place p{text, 0};
  if (colon == std::string::npos || std::filesystem::exists(text)) return p;
  const char* end = text.data() + text.size();
  const auto [stop, ec] = std::from_chars(text.data() + colon + 1, end, p.line);
  if (ec != std::errc() || stop != end || p.line == 0) return {text, 0};
  p.file = text.substr(0, colon);
  return p;
}

/// The instruction set by the look of one instruction.
std::string isa_of(const ExplainArgs& a) {
  if (!a.isa.empty() && a.isa != "auto") return a.isa;
  for (const char* prefix : {"s_", "v_", "buffer_", "tbuffer_", "ds_", "flat_"})
    if (a.text.starts_with(prefix)) return "gcn";
  const size_t first = a.text.find_first_not_of(" \t@!");
  const bool upper = first != std::string::npos && (std::isupper(a.text[first]) != 0);
  return upper ? "sass" : "ptx";
}

std::string settings(const ExplainArgs& a) {
  std::string out;
  for (const std::string& s : a.set) out += s + "\n";
  return out;
}

/// The text as one stretch of code; SASS and PTX end an instruction with `;`.
std::string instruction(const ExplainArgs& a, bool semicolon) {
  const size_t last = a.text.find_last_not_of(" \t\n");
  const bool ended = last != std::string::npos && (a.text[last] == ';' || a.text[last] == '}');
  return semicolon && !ended ? a.text + ";" : a.text;
}

/// Registers that a PTX instruction names and nobody declared, by nvcc's custom: %r %rd %rs %f %fd
/// %p and a number.
void declare_registers(script::Case& c, const std::string& code) {
  static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"rd", "b64"}, {"rs", "b16"}, {"fd", "f64"}, {"r", "b32"}, {"f", "f32"}, {"p", "pred"}};
  for (size_t at = code.find('%'); at != std::string::npos; at = code.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < code.size() && (std::isalnum(code[end]) != 0 || code[end] == '_')) ++end;
    const std::string name = code.substr(at, end - at);
    const size_t digits = name.find_first_of("0123456789");
    if (digits == std::string::npos ||
        name.find_first_not_of("0123456789", digits) != std::string::npos)
      continue;
    const std::string kind = name.substr(1, digits - 1);
    const auto row = std::ranges::find(kKinds, kind, [](const auto& k) { return k.first; });
    if (row == std::end(kKinds)) continue;
    if (std::ranges::find(c.regs, name, &script::RegDecl::name) != c.regs.end()) continue;
    script::RegDecl r;
    r.loc = c.loc;
    r.type = row->second;
    r.name = name;
    c.regs.push_back(std::move(r));
  }
}

/// A script made of --text and --set alone, or of a kernel file, --launch and --set.
std::string made_script(const ExplainArgs& a, const Place& place) {
  if (place.file.empty()) {
    const std::string isa = isa_of(a);
    return fmt::format("isa {}\n{}{}case \"text\" {{\n  code \"\"\"\n{}\n\"\"\"\n}}\n", isa,
                       a.target.empty() ? std::string() : fmt::format("target {}\n", a.target),
                       settings(a), instruction(a, isa != "gcn"));
  }
  if (a.launch.empty()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("'{}' is no stream script: say how its kernel runs, as in --set 'buffer "
                    "x f32[256] = iota' --launch 'saxpy grid 1 block 32 args 256, 2.0, x'",
                    place.file));
  }
  return fmt::format("{}case \"launch\" {{\n  module \"{}\"\n  launch {}\n}}\n", settings(a),
                     std::filesystem::absolute(place.file).string(), a.launch);
}

/// The cases that are meant: one by --case, else the one that holds the line, else the first.
std::vector<script::Case> chosen(const std::vector<script::Case>& all, const ExplainArgs& a,
                                 const Place& place) {
  const auto full_name = [](const script::Case& c) {
    return c.bindings.empty() ? c.name : fmt::format("{} [{}]", c.name, c.bindings);
  };
  std::string names;
  for (const script::Case& c : all) {
    if (a.case_name.empty() || c.name == a.case_name || full_name(c) == a.case_name) {
      const bool before = place.line == 0 || c.loc.line <= place.line;
      const auto next =
          std::ranges::find_if(all, [&](const script::Case& o) { return o.loc.line > c.loc.line; });
      const bool holds =
          before && (place.line == 0 || next == all.end() || place.line < next->loc.line);
      if (holds) return {c};
    }
    if (names.size() < 400) names += fmt::format("\n  {}", full_name(c));
  }
  if (all.empty()) throw Error(ErrorKind::usage, fmt::format("'{}' holds no case", place.file));
  throw Error(
      ErrorKind::usage,
      a.case_name.empty()
          ? fmt::format("'{}' has no case at line {}", place.file, place.line)
          : fmt::format("'{}' has no case '{}'{}; there are:{}", place.file, a.case_name,
                        place.line != 0 ? fmt::format(" at line {}", place.line) : "", names));
}

/// Leaves what sets the state up; expectations say nothing here. With --text the instruction takes
/// the place of the case's code.
void prepare(script::Case& c, const ExplainArgs& a) {
  std::erase_if(c.steps, [](const script::Step& s) {
    return !std::holds_alternative<script::Code>(s) && !std::holds_alternative<script::Launch>(s);
  });
  c.rejected.clear();
  for (script::Step& s : c.steps) {
    auto* code = std::get_if<script::Code>(&s);
    if (code == nullptr) continue;
    if (!a.text.empty()) code->text = instruction(a, c.isa != ir::Isa::gcn);
    if (!a.text.empty() && c.isa == ir::Isa::ptx) declare_registers(c, code->text);
  }
}

/// A line number in a script means its code; a launched kernel has lines of another file.
std::optional<size_t> code_launch(const script::Case& c) {
  for (size_t n = 0; n < c.steps.size(); ++n)
    if (std::holds_alternative<script::Code>(c.steps[n])) return n;
  return std::nullopt;
}

/// Nothing may be wrong with the script or its state.
void need_sound(const std::string& file, const std::vector<Diagnostic>& diagnostics, int code) {
  if (!diagnostics.empty()) throw Rejected{code, file, diagnostics};
}

/// Nothing is reported of lanes and groups that do not exist.
void refuse_missing(const ExplainArgs& a, const explain::Recorder& recorder) {
  uint64_t groups = 0, threads = 0;
  for (const auto& r : recorder.recordings()) {
    groups = std::max(groups, r->grid.total());
    threads = std::max(threads, r->block.total());
  }
  if (a.group >= groups)
    throw Error(ErrorKind::usage,
                fmt::format("there is no group {}: the launch has {}", a.group, groups));
  if (a.lane && *a.lane >= threads)
    throw Error(ErrorKind::usage,
                fmt::format("there is no lane {}: a group has {} threads", *a.lane, threads));
}

/// Nor of visits that no lane makes.
void refuse_visit(uint32_t visit, std::span<const explain::InstructionReport> reports) {
  uint32_t most = 1;
  for (const explain::InstructionReport& r : reports) most = std::max(most, r.times);
  if (visit > most)
    throw Error(ErrorKind::usage, fmt::format("there is no visit {}: a lane comes by {} time{} at "
                                              "most",
                                              visit, most, most == 1 ? "" : "s"));
}

/// Some lanes of some instructions would be missing.
void refuse_cut(const explain::Recorder& recorder) {
  for (const auto& recording : recorder.recordings())
    if (recording->cut)
      throw Error(ErrorKind::usage, fmt::format("more than {} lanes and instructions to explain: "
                                                "choose a line or --lane",
                                                explain::kMaxVisits));
}

/// The script as messages name it; what was made of options is no file.
std::string script_name(const Place& place, bool kernel_file) {
  return kernel_file ? "(made of --set and --launch)" : place.file.empty() ? "text" : place.file;
}

int explain_case(const ExplainArgs& a, script::Case c, const Place& place, bool kernel_file,
                 const script::RunOptions& options) {
  explain::Query query;
  query.line = a.text.empty() ? place.line : 0;
  query.lane = a.lane;
  query.group = a.group;
  query.visit = a.visit;
  prepare(c, a);
  query.launch = code_launch(c);
  explain::Recorder recorder(query);
  const std::string name = place.file.empty() ? "text" : place.file;
  const script::CaseResult result = script::run(c, recorder, options);
  need_sound(script_name(place, kernel_file), result.diagnostics, kernel_file ? 2 : 1);
  if (!result.unsupported.empty()) throw Error(ErrorKind::guest, result.unsupported);
  need_sound(name, result.failures, 2);
  refuse_missing(a, recorder);
  refuse_cut(recorder);
  std::vector<explain::InstructionReport> found;
  for (const auto& recording : recorder.recordings())
    std::ranges::move(explain::reports(*recording, query), std::back_inserter(found));
  if (found.empty())
    throw Error(ErrorKind::usage,
                fmt::format("there is no instruction at {}:{}", name, place.line));
  refuse_visit(a.visit, found);
  nlohmann::json all = nlohmann::json::array();
  for (explain::InstructionReport& r : found) {
    if (!a.text.empty()) r.line = 0;  // of a text made here
    if (a.json)
      all.push_back(cli::to_json(r));
    else
      print_explanation(name, r, a.lane.has_value());
  }
  if (a.json)
    fmt::print("{}", json_document(nlohmann::json{
                         {"file", name}, {"case", result.name}, {"instructions", all}}));
  return 0;
}

int explain_command(const ExplainArgs& a) {
  const Watchdog watchdog(a.timeout, Watchdog::Parts::end_at_once);
  if (a.place.empty() && a.text.empty())
    throw Error(ErrorKind::usage, "nothing to explain: give FILE[:LINE] or --text \"INSTRUCTION\"");
  if (a.visit == 0) throw Error(ErrorKind::usage, "--visit counts from 1");
  const Place place = place_of(a.place);
  const bool is_lw = is_script(place.file);
  if (is_lw && !a.set.empty())
    throw Error(ErrorKind::usage,
                "--set is for --text and kernel files; the script holds the state");
  if (!is_lw && !place.file.empty() && !a.text.empty())
    throw Error(ErrorKind::usage, "--text goes with a stream script or stands alone");
  const std::string text = is_lw ? read_file(place.file) : made_script(a, place);
  if (!is_lw && !place.file.empty()) read_file(place.file);  // its own error is the clearest
  const script::Script s = script::parse(text, 100);
  need_sound(is_lw ? place.file : "(made of --text, --set and --launch)", s.diagnostics,
             is_lw || place.file.empty() ? 1 : 2);
  script::RunOptions options;
  options.judge_faults = false;  // they are part of the explanation
  if (is_lw) options.directory = std::filesystem::path(place.file).parent_path().string();
  Place in_script = place;
  if (!is_lw) in_script.line = 0;
  const script::Case c = chosen(s.cases, a, in_script).front();
  return explain_case(a, c, place, !is_lw && !place.file.empty(), options);
}

}  // namespace

void add_explain(const Command& app) {
  const Command sub =
      app.command("explain", "what an instruction does in every lane, with numbers");
  auto a = std::make_shared<ExplainArgs>();
  sub.option("FILE", a->place, "stream script or kernel file, with :LINE for one line");
  sub.option("--text", a->text, "an instruction in place of the script's, or on its own");
  sub.option("--case", a->case_name,
             "which case of the script (default: the line's, or the first)");
  sub.option("--lane", a->lane, "only this thread of the group");
  sub.option("--group", a->group, "which group, counted linearly (default 0)");
  sub.option("--visit", a->visit, "in a loop: the how manieth time (default 1)");
  add_isa_option(sub, a->isa);
  sub.option("--target", a->target, "sm_90, sm_50, gfx600, ... of --text")
      .suggests(ValueKind::target);
  sub.option("--set", a->set, "a line of a stream script: buffer, reg, waves, ... (repeat)")
      .repeated();
  sub.option("--launch", a->launch, "how a kernel file runs: NAME grid 1 block 32 args ...");
  add_timeout_option(sub, a->timeout);
  sub.json(a->json);
  sub.examples({"lanewise explain tests/conformance/ptx_loops.lw --lane 3"});
  sub.does([a] { return explain_command(*a); });
}

}  // namespace lanewise::cli
