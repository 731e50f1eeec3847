#include "runtime/cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <sstream>

#include "runtime/cli/process/streams.hpp"

namespace lanewise::cli {

const Option& Option::required() const {
  option_->required();
  return *this;
}
const Option& Option::one_of(const std::vector<std::string>& values) const {
  option_->check(CLI::IsMember(values));
  return *this;
}
const Option& Option::between(uint32_t low, uint32_t high) const {
  option_->check(CLI::Range(low, high));
  return *this;
}
const Option& Option::not_negative() const {
  option_->check(CLI::NonNegativeNumber);
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
  return {app_->add_subcommand(name, help), chosen_};
}
void Command::needs_command() const {
  app_->require_subcommand(1);
}
Option Command::option(const char* name, std::string& value, const char* help) const {
  return Option(app_->add_option(name, value, help));
}
Option Command::option(const char* name, std::vector<std::string>& values, const char* help) const {
  return Option(app_->add_option(name, values, help));
}
Option Command::option(const char* name, uint32_t& value, const char* help) const {
  return Option(app_->add_option(name, value, help));
}
Option Command::option(const char* name, size_t& value, const char* help) const {
  return Option(app_->add_option(name, value, help));
}
Option Command::option(const char* name, double& value, const char* help) const {
  return Option(app_->add_option(name, value, help));
}
Option Command::option(const char* name, std::optional<uint32_t>& value, const char* help) const {
  return Option(app_->add_option(name, value, help));
}
void Command::flag(const char* name, bool& value, const char* help) const {
  app_->add_flag(name, value, help);
}
void Command::does(Action action) const {
  app_->callback([action = std::move(action), chosen = chosen_] { *chosen = action; });
}

CommandLine::CommandLine(const char* name, const char* about, const std::string& version)
    : name_(name), app_(std::make_unique<CLI::App>(about)) {
  app_->name(name);
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
}
CommandLine::~CommandLine() = default;

int CommandLine::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      app_->exit(e, text, text);
      fmt::print("{}", text.str());
      return 0;
    }
    say("{0}: error: {1} (see '{0} --help')\n", name_, e.what());
    return 2;
  }
  return chosen_();
}

}  // namespace lanewise::cli
