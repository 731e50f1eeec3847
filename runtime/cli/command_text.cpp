#include "runtime/cli/command_text.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

namespace lanewise::cli {
namespace {

constexpr std::string_view kExitCodes[][2] = {
    {"0", "done"},
    {"1", "the guest was at fault or a check failed"},
    {"2", "usage or host input error"},
    {"3", "device or driver error"},
    {"4", "time or step budget exceeded"},
    {"125-127", "exec alone: its program was not started; otherwise the code is the program's"},
};

/// Insertions, deletions and replacements that make one word of the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* c : commands_of(app)) names.push_back(c->get_name());
  return names;
}

std::vector<std::string> option_names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& n : option.get_snames()) names.push_back("-" + n);
  for (const std::string& n : option.get_lnames()) names.push_back("--" + n);
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options())
    for (std::string& n : option_names_of(*o)) names.push_back(std::move(n));
  return names;
}

/// The command that the arguments have come to: "lanewise trace convert".
const CLI::App& innermost(const CLI::App& root, std::string& path) {
  path = root.get_name();
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    path += " " + app->get_name();
  }
  return *app;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string best = nearest(word, known);
  return best.empty() ? "" : fmt::format("; did you mean '{}'?", best);
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Words that nothing takes: an option that does not exist explains those behind it.
std::string unexpected(const CLI::App& app, std::vector<std::string> words) {
  const auto option =
      std::ranges::find_if(words, [](const std::string& w) { return w.starts_with('-'); });
  if (option != words.end())
    return fmt::format("there is no option '{}'{}", *option,
                       did_you_mean(*option, option_names(app)));
  return fmt::format("'{}' is one word too many", words.front());
}

std::string missing_command(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<std::string> names = command_names(app);
  const auto word =
      std::ranges::find_if(words, [](const std::string& w) { return !w.starts_with('-'); });
  if (word == words.end()) return "a command is missing; there are: " + joined(names);
  const std::string meant = did_you_mean(*word, names);
  return fmt::format("there is no command '{}'{}", *word,
                     meant.empty() ? "; there are: " + joined(names) : meant);
}

/// The library's own words for what a user need not know.
std::string in_plain_words(std::string text) {
  constexpr std::string_view kConvert = "Could not convert: ";
  if (text.starts_with(kConvert)) {
    text.erase(0, kConvert.size());
    const size_t equals = text.find(" = ");
    if (equals != std::string::npos)
      return fmt::format("{}: '{}' is no number of the kind expected", text.substr(0, equals),
                         text.substr(equals + 3));
  }
  if (const size_t received = text.find(" required but received "); received != std::string::npos)
    return text.substr(0, text.find(": ")) + " is given more than once";
  if (const size_t required = text.find(" required "); required != std::string::npos) {
    if (const size_t colon = text.find(": "); colon < required)
      return text.substr(0, colon) + ": its value is missing";
  }
  constexpr std::string_view kIsRequired = " is required";
  if (text.ends_with(kIsRequired))
    return text.substr(0, text.size() - kIsRequired.size()) + " is missing";
  return text;
}

std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '-') out += '\\';
    out += c;
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

/// "--grid VALUE", "--wave auto|lane|packed|serial" or "FILE".
std::string option_heading(const OptionRow& o) {
  if (o.positional) return o.names.front();
  if (!o.takes_value) return joined(o.names);
  const std::string choice = choice_text(o.values);
  return joined(o.names) + " " + (choice.empty() ? "VALUE" : choice);
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
  const std::string* best = nullptr;
  size_t least = std::max<size_t>(word.size() / 3, 1) + 1;
  for (const std::string& k : known) {
    const size_t d = distance(word, k);
    if (d >= least) continue;
    least = d;
    best = &k;
  }
  return best != nullptr ? *best : std::string();
}

std::string usage_error(CLI::App& root, const CLI::ParseError& error) {
  std::string path;
  const CLI::App& app = innermost(root, path);
  const std::vector<std::string> left = root.remaining(true);
  std::string what = in_plain_words(error.what());
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !left.empty()) {
    what = unexpected(app, left);
  } else if (what.starts_with("A subcommand is")) {
    what = missing_command(app, left);
  }
  return fmt::format("{} (see '{} --help')", what, path);
}

std::string help_footer(std::span<const std::string> examples) {
  std::string out;
  if (!examples.empty()) out += "Examples:\n";
  for (const std::string& e : examples) out += "  " + e + "\n";
  out += examples.empty() ? "Exit codes:\n" : "\nExit codes:\n";
  for (const auto& [code, meaning] : kExitCodes) out += fmt::format("  {}  {}\n", code, meaning);
  return out;
}

std::string man_page(const std::string& about, const std::vector<CommandRow>& rows,
                     const std::string& version) {
  std::string out = fmt::format(
      ".TH LANEWISE 1 \"\" \"lanewise {}\" \"User Commands\"\n"
      ".SH NAME\nlanewise \\- run foreign GPU kernels on any Vulkan device\n"
      ".SH SYNOPSIS\n.B lanewise\n.I COMMAND\n[options]\n"
      ".SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      version, roff(about));
  for (const CommandRow& row : rows) {
    out += fmt::format(".SS {}\n{}\n", roff(row.path), roff(row.help));
    for (const OptionRow& o : row.options)
      out += fmt::format(".TP\n.B {}\n{}\n", roff(option_heading(o)), roff(o.help));
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : kExitCodes)
    out += fmt::format(".TP\n.B {}\n{}\n", code, roff(meaning));
  return out;
}

}  // namespace lanewise::cli
