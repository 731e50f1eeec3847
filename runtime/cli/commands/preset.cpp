#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lanewise/cache.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cli {

void add_preset(const Command& app) {
  const Command sub = app.command("preset", "the GPUs whose caches the tracker knows");
  sub.needs_command();
  const Command list = sub.command("list", "their names");
  auto list_json = std::make_shared<bool>(false);
  list.json(*list_json);  // titles by name, variants as NAME+VARIANT
  list.examples({"lanewise preset list"});
  list.does([list_json] {
    const auto all = cache_presets();
    if (*list_json) {
      nlohmann::json titles = nlohmann::json::object();
      for (const auto& [name, title] : all) titles[name] = title;
      fmt::print("{}", json_document(titles));
      return 0;
    }
    const auto print = [&](bool variants) {
      for (const auto& [name, title] : all)
        if ((name.find('+') != std::string::npos) == variants)
          fmt::print("{:22} {}\n", name, title);
    };
    print(false);
    fmt::print("\nvariants\n");
    print(true);
    return 0;
  });
  const Command show = sub.command("show", "caches, behaviour, and where each figure comes from");
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  show.option("PRESET", *name, "a name, NAME+VARIANT, or file:PRESET.json")
      .suggests(ValueKind::preset)
      .required();
  show.json(*json);  // a preset file with every default filled in
  show.examples({"lanewise preset show gv100"});
  show.does([=] {
    fmt::print("{}", cache_preset(*name, *json ? "json" : "txt"));
    return 0;
  });
}

}  // namespace lanewise::cli
