#include <fmt/format.h>

#include "lanewise/cache.hpp"
#include "runtime/cli/commands/commands.hpp"

namespace lanewise::cli {

void add_preset(const Command& app) {
  const Command sub = app.command("preset", "the GPUs whose caches the tracker knows");
  sub.needs_command();
  const Command list = sub.command("list", "their names");
  list.examples({"lanewise preset list"});
  list.does([] {
    const auto all = cache_presets();
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
  show.option("PRESET", *name, "a name, NAME+VARIANT, or file:PRESET.json").required();
  show.flag("--json", *json, "print one JSON object: a preset file with every default filled in");
  show.examples({"lanewise preset show gv100"});
  show.does([=] {
    fmt::print("{}{}", cache_preset(*name, *json ? "json" : "txt"), *json ? "\n" : "");
    return 0;
  });
}

}  // namespace lanewise::cli
