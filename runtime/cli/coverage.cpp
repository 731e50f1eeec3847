#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/api/loader.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/isa/ptx/lower.hpp"

namespace lanewise::cli {
namespace {

struct CoverageArgs {
  std::string isa, forms;
  bool json = false;
};

const char* state_name(ptx::FormState s) {
  switch (s) {
    case ptx::FormState::exact:
      return "exact";
    case ptx::FormState::approximate:
      return "approximate";
    case ptx::FormState::unsupported:
      return "unsupported";
  }
  return "?";
}

int answer_forms(const CoverageArgs& a) {
  std::istringstream lines(detail::read_file(a.forms));
  for (std::string form; std::getline(lines, form);) {
    if (form.ends_with('\r')) form.pop_back();
    if (form.empty()) continue;
    fmt::print("{}\t{}\n", form, state_name(ptx::coverage_of(form).state));
  }
  return 0;
}

int list(const CoverageArgs& a) {
  const auto rows = ptx::coverage();
  if (a.json) {
    nlohmann::json forms = nlohmann::json::array();
    for (const ptx::Coverage& c : rows) {
      forms.push_back({{"form", c.form}, {"state", state_name(c.state)}, {"note", c.note}});
    }
    fmt::print("{}\n", nlohmann::json{{"isa", a.isa}, {"forms", forms}}.dump(1));
    return 0;
  }
  for (const ptx::Coverage& c : rows) {
    fmt::print("{}\t{}{}\n", c.form, state_name(c.state), c.note.empty() ? "" : "\t" + c.note);
  }
  return 0;
}

}  // namespace

void add_coverage(CLI::App& app, Action& action) {
  auto* sub = app.add_subcommand("coverage", "every instruction form and how well it is supported");
  auto a = std::make_shared<CoverageArgs>();
  sub->add_option("--isa", a->isa, "which instruction set")
      ->required()
      ->check(CLI::IsMember({"ptx"}));
  sub->add_option("--forms", a->forms, "answer for the forms in this file, one a line");
  sub->add_flag("--json", a->json, "print one JSON object");
  sub->callback(
      [=, &action] { action = [a] { return a->forms.empty() ? list(*a) : answer_forms(*a); }; });
}

}  // namespace lanewise::cli
