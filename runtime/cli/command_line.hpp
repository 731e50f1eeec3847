// Commands and their options. The library that parses them costs seconds to compile wherever it is
// included, so that is done in one place only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/command_table.hpp"

namespace lanewise::cli {

/// What the chosen command does; returns the exit code.
using Action = std::function<int()>;

/// What else describes an option.
class Option {
 public:
  Option(CLI::Option* option, OptionValues* values) : option_(option), values_(values) {}
  const Option& required() const;
  const Option& one_of(const std::vector<std::string>& values) const;
  /// Shells offer these; others are taken, too.
  const Option& suggests(const std::vector<std::string>& values) const;
  const Option& suggests(ValueKind kind) const;
  const Option& between(uint32_t low, uint32_t high) const;
  /// A finite number of at least 0.
  const Option& not_negative() const;
  /// A list may stand in one word, between these.
  const Option& split_at(char separator) const;
  /// One value each time it is there.
  const Option& repeated() const;

 private:
  CLI::Option* option_;
  OptionValues* values_;
};

class Command {
 public:
  /// What the commands share: the chosen one's action, and whose rest goes where.
  struct Line {
    Action chosen;
    std::map<CLI::App*, std::vector<std::string>*> rests;
    ValuesByOption values;
  };
  Command(CLI::App* app, Line* line) : app_(app), line_(line) {}
  Command command(const char* name, const char* help) const;
  /// It does nothing without one of its own commands.
  void needs_command() const;
  /// What the command around it requires is not required with it. After that command's options.
  void stands_alone() const;
  /// From the first word on that is no option, or from behind --, all words are `rest` as they are,
  /// options among them. `name` is what the help calls them.
  void takes_rest(const char* name, std::vector<std::string>& rest, const char* help) const;
  /// Shown by --help; each is run by a test, in the folder of the sources.
  void examples(const std::vector<std::string>& lines) const;

  /// The help of a command, by the words that call it. Error(usage) for unknown ones.
  std::string help(const std::vector<std::string>& words) const;
  std::string about() const;
  std::vector<std::string> command_names() const;
  std::vector<CommandRow> rows(const KnownWords& known) const;

  Option option(const char* name, std::string& value, const char* help) const;
  Option option(const char* name, std::vector<std::string>& values, const char* help) const;
  Option option(const char* name, uint32_t& value, const char* help) const;
  Option option(const char* name, size_t& value, const char* help) const;
  Option option(const char* name, double& value, const char* help) const;
  Option option(const char* name, std::optional<uint32_t>& value, const char* help) const;
  void flag(const char* name, bool& value, const char* help) const;
  /// --json.
  void json(bool& value) const;
  /// `--json` is refused: where else its data can be had.
  void no_json(const char* where) const;
  void does(Action action) const;

 private:
  Option made(CLI::Option* option) const { return {option, &line_->values[option]}; }

  CLI::App* app_;
  Line* line_;
};

class CommandLine {
 public:
  CommandLine(const char* name, const char* about, const std::string& version);
  ~CommandLine();
  Command root() { return {app_.get(), &line_}; }
  /// Does what the arguments ask for. Error(usage) when they make no sense.
  int run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  Command::Line line_;
};

}  // namespace lanewise::cli
