#include "runtime/cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "lanewise/error.hpp"
#include "runtime/cli/command_text.hpp"
#include "runtime/cli/process/streams.hpp"

namespace lanewise::cli {

const Option& Option::required() const {
  option_->required();
  return *this;
}
const Option& Option::one_of(const std::vector<std::string>& values) const {
  *values_ = {ValueKind::listed, values, true};
  option_->type_name(choice_text(*values_));
  option_->check([values](const std::string& word) {
    if (std::ranges::find(values, word) != values.end()) return std::string();
    const std::string meant = nearest(word, values);
    return fmt::format("'{}' is none of {}{}", word, fmt::join(values, ", "),
                       meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant));
  });
  return *this;
}
const Option& Option::suggests(const std::vector<std::string>& values) const {
  *values_ = {ValueKind::listed, values, false};
  return *this;
}
const Option& Option::suggests(ValueKind kind) const {
  *values_ = {kind, {}, false};
  return *this;
}
const Option& Option::between(uint32_t low, uint32_t high) const {
  option_->check([low, high](const std::string& word) {
    uint32_t n = 0;
    const auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (ec == std::errc() && end == word.data() + word.size() && n >= low && n <= high)
      return std::string();
    return fmt::format("'{}' is no whole number from {} to {}", word, low, high);
  });
  return *this;
}
const Option& Option::not_negative() const {
  option_->check([](const std::string& word) {
    char* end = nullptr;
    const double n = std::strtod(word.c_str(), &end);
    if (end != word.c_str() && *end == 0 && n >= 0 && std::isfinite(n)) return std::string();
    return fmt::format("'{}' is no number of at least 0", word);
  });
  return *this;
}
const Option& Option::split_at(char separator) const {
  option_->delimiter(separator)->allow_extra_args(false);  // the next word is no value
  return *this;
}
const Option& Option::repeated() const {
  option_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

Command Command::command(const char* name, const char* help) const {
  CLI::App* made = app_->add_subcommand(name, help);
  made->footer(help_footer({}));
  return {made, line_};
}
void Command::needs_command() const {
  app_->require_subcommand(1);
}
void Command::stands_alone() const {
  CLI::App* const outer = app_->get_parent();
  std::vector<CLI::Option*> needed;
  for (CLI::Option* o : outer->get_options()) {
    if (!o->get_required()) continue;
    needed.push_back(o);
    // A positional that is required would take this command's name.
    o->required(false)->option_text(
        fmt::format("{}{} REQUIRED", o->get_type_name(), o->get_expected_max() > 1 ? " ..." : ""));
  }
  outer->parse_complete_callback([outer, needed] {
    if (!outer->get_subcommands().empty()) return;
    for (const CLI::Option* o : needed)
      if (o->count() == 0) throw CLI::RequiredError(o->get_name());
  });
}
void Command::takes_rest(const char* name, std::vector<std::string>& rest, const char* help) const {
  app_->add_option(name, rest, help);  // for the help: the parser sees none of its words
  line_->rests[app_] = &rest;
}
void Command::examples(const std::vector<std::string>& lines) const {
  app_->footer(help_footer(lines));
}

std::string Command::help(const std::vector<std::string>& words) const {
  CLI::App* app = app_;
  std::string path = app_->get_name();
  for (const std::string& word : words) {
    std::vector<std::string> names;
    CLI::App* inner = nullptr;
    for (CLI::App* c : app->get_subcommands([](CLI::App*) { return true; })) {
      names.push_back(c->get_name());
      if (c->get_name() == word) inner = c;
    }
    if (inner == nullptr) {
      const std::string meant = nearest(word, names);
      throw Error(ErrorKind::usage,
                  fmt::format("'{}' has no command '{}'{}", path, word,
                              meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
    }
    app = inner;
    path += " " + word;
  }
  // Not app->help(): that is about the command which runs, and this is `help`.
  return app->get_formatter()->make_help(app, path, CLI::AppFormatMode::Normal);
}

std::string Command::about() const {
  return app_->get_description();
}
std::vector<std::string> Command::command_names() const {
  std::vector<std::string> names;
  for (const CLI::App* c : app_->get_subcommands([](CLI::App*) { return true; }))
    names.push_back(c->get_name());
  return names;
}
std::vector<CommandRow> Command::rows(const KnownWords& known) const {
  return command_rows(*app_, line_->values, known);
}
Option Command::option(const char* name, std::string& value, const char* help) const {
  return made(app_->add_option(name, value, help));
}
Option Command::option(const char* name, std::vector<std::string>& values, const char* help) const {
  return made(app_->add_option(name, values, help));
}
Option Command::option(const char* name, uint32_t& value, const char* help) const {
  return made(app_->add_option(name, value, help));
}
Option Command::option(const char* name, size_t& value, const char* help) const {
  return made(app_->add_option(name, value, help));
}
Option Command::option(const char* name, double& value, const char* help) const {
  return made(app_->add_option(name, value, help));
}
Option Command::option(const char* name, std::optional<uint32_t>& value, const char* help) const {
  return made(app_->add_option(name, value, help));
}
void Command::flag(const char* name, bool& value, const char* help) const {
  app_->add_flag(name, value, help);
}
void Command::json(bool& value) const {
  flag("--json", value, "print one JSON object");
}
void Command::no_json(const char* where) const {
  const std::string message = fmt::format("'{}' has no --json: {}", app_->get_name(), where);
  app_->add_flag_callback("--json", [message] { throw Error(ErrorKind::usage, message); })
      ->group("");
}
void Command::does(Action action) const {
  // An inner command's turn comes before that of the one around it.
  app_->callback([action = std::move(action), chosen = &line_->chosen] {
    if (!*chosen) *chosen = action;
  });
}

CommandLine::CommandLine(const char* name, const char* about, const std::string& version)
    : app_(std::make_unique<CLI::App>(about)) {
  app_->name(name);
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
  app_->footer(help_footer(std::vector<std::string>{
      "lanewise devices",
      "lanewise help run",
  }));
}
CommandLine::~CommandLine() = default;

namespace {

/// Takes a command's rest out of the words behind its name.
void split_rest(const CLI::App& command, std::vector<std::string>& words,
                std::vector<std::string>& rest) {
  size_t at = 0;
  while (at < words.size() && words[at] != "--" && words[at].starts_with('-') && words[at] != "-") {
    const CLI::Option* option = command.get_option_no_throw(words[at]);
    at += option != nullptr && option->get_items_expected_max() != 0 ? 2 : 1;
  }
  at = std::min(at, words.size());
  const size_t first = at < words.size() && words[at] == "--" ? at + 1 : at;
  rest.assign(words.begin() + static_cast<ptrdiff_t>(first), words.end());
  words.resize(at);
}

}  // namespace

int CommandLine::run(int argc, char** argv) {
  try {
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    for (const auto& [command, rest] : line_.rests) {
      if (words.empty() || words[0] != command->get_name()) continue;
      std::vector<std::string> own(words.begin() + 1, words.end());
      split_rest(*command, own, *rest);
      words.resize(1);
      words.insert(words.end(), own.begin(), own.end());
    }
    std::ranges::reverse(words);  // as the parser takes them
    app_->parse(std::move(words));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      app_->exit(e, text, text);
      fmt::print("{}", text.str());
      return 0;
    }
    throw Error(ErrorKind::usage, usage_error(*app_, e));
  }
  return line_.chosen();
}

}  // namespace lanewise::cli
