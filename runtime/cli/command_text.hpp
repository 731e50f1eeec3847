// What the command line says about itself: usage errors, manual page, shell completion.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/cli/command_table.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace lanewise::cli {

/// "run" for "runn": the word that few changes away is one of these; empty when none is.
std::string nearest(std::string_view word, std::span<const std::string> known);

/// What is wrong with the arguments, in one line that names the command to ask for help.
std::string usage_error(CLI::App& root, const CLI::ParseError& error);

/// At the end of every help text.
std::string help_footer(std::span<const std::string> examples);

/// lanewise(1), as roff.
std::string man_page(const std::string& about, const std::vector<CommandRow>& rows,
                     const std::string& version);

/// For bash, and for zsh by way of bashcompinit.
std::string bash_completion(const std::vector<CommandRow>& rows);

}  // namespace lanewise::cli
