// All commands with their options as rows: what the manual page, shells and `help --json` show.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/cli/option_values.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lanewise::cli {

using ValuesByOption = std::map<const CLI::Option*, OptionValues>;

struct OptionRow {
  std::vector<std::string> names;  ///< "-o", "--grid"; of a positional the one that help shows
  bool positional = false, takes_value = false, required = false;
  std::string help;
  OptionValues values;
};

struct CommandRow {
  std::string path;  ///< "trace convert"
  std::string help;
  std::vector<OptionRow> options;
  std::vector<std::string> commands;  ///< the ones within it
};

/// Outer commands stand in front of their inner ones.
std::vector<CommandRow> command_rows(const CLI::App& root, const ValuesByOption& values,
                                     const KnownWords& known);

/// "arena|alloc|off"; empty where other values are taken, too.
std::string choice_text(const OptionValues& values);

/// The rows as a JSON document; with the words of a command only that one's and those within it.
std::string command_json(const std::vector<CommandRow>& rows,
                         const std::vector<std::string>& words);

}  // namespace lanewise::cli
