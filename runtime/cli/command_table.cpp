#include "runtime/cli/command_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "runtime/support/json_document.hpp"

namespace lanewise::cli {
namespace {

OptionRow option_row(const CLI::Option& o, const ValuesByOption& values, const KnownWords& known) {
  OptionRow row;
  row.positional = o.get_positional();
  if (row.positional) row.names.push_back(o.get_name(true));
  for (const std::string& n : o.get_snames()) row.names.push_back("-" + n);
  for (const std::string& n : o.get_lnames()) row.names.push_back("--" + n);
  row.takes_value = o.get_items_expected_max() != 0;
  row.required = o.get_required();
  row.help = o.get_description();
  if (const auto found = values.find(&o); found != values.end()) row.values = found->second;
  if (row.values.kind != ValueKind::listed) row.values.words = known(row.values.kind);
  return row;
}

void add_rows(const CLI::App& app, const std::string& prefix, const ValuesByOption& values,
              const KnownWords& known, std::vector<CommandRow>& out) {
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandRow row;
    row.path = prefix + c->get_name();
    row.help = c->get_description();
    for (const CLI::Option* o : c->get_options())
      if (!o->get_group().empty()) row.options.push_back(option_row(*o, values, known));
    for (const CLI::App* inner : c->get_subcommands([](const CLI::App*) { return true; }))
      row.commands.push_back(inner->get_name());
    const std::string inside = row.path + " ";
    out.push_back(std::move(row));
    add_rows(*c, inside, values, known, out);
  }
}

}  // namespace

std::vector<CommandRow> command_rows(const CLI::App& root, const ValuesByOption& values,
                                     const KnownWords& known) {
  std::vector<CommandRow> rows;
  add_rows(root, "", values, known, rows);
  return rows;
}

std::string choice_text(const OptionValues& values) {
  return values.closed ? fmt::format("{}", fmt::join(values.words, "|")) : std::string();
}

std::string command_json(const std::vector<CommandRow>& rows,
                         const std::vector<std::string>& words) {
  using Json = nlohmann::ordered_json;
  Json commands = Json::array();
  const std::string path = fmt::format("{}", fmt::join(words, " "));
  for (const CommandRow& row : rows) {
    if (!path.empty() && row.path != path && !row.path.starts_with(path + " ")) continue;
    Json options = Json::array();
    for (const OptionRow& o : row.options) {
      Json j = {{"names", o.names},
                {"positional", o.positional},
                {"takes_value", o.takes_value},
                {"required", o.required},
                {"help", o.help}};
      if (!o.values.words.empty()) {
        j["values"] = o.values.words;
        j["other_values"] = !o.values.closed;
      }
      options.push_back(std::move(j));
    }
    commands.push_back({{"command", row.path},
                        {"help", row.help},
                        {"commands", row.commands},
                        {"options", std::move(options)}});
  }
  return json_document(Json{{"commands", std::move(commands)}});
}

}  // namespace lanewise::cli
