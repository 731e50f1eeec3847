// lanewise help: what --help says, and the same as a manual page and as shell completion.
#include <fmt/format.h>

#include "lanewise/lanewise.hpp"
#include "runtime/cli/command_text.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/known_words.hpp"

namespace lanewise::cli {
namespace {

struct HelpArgs {
  std::vector<std::string> words;
  bool man = false, completion = false, json = false;
};

int help(const Command& app, const HelpArgs& a) {
  if (a.man) {
    fmt::print("{}", man_page(app.about(), app.rows(known_words), version()));
  } else if (a.completion) {
    fmt::print("{}", bash_completion(app.rows(known_words)));
  } else if (a.json) {
    static_cast<void>(app.help(a.words));  // what is wrong with them
    fmt::print("{}", command_json(app.rows(known_words), a.words));
  } else {
    fmt::print("{}", app.help(a.words));
  }
  return 0;
}

}  // namespace

void add_help(const Command& app) {
  const Command sub = app.command("help", "how a command is used");
  auto a = std::make_shared<HelpArgs>();
  sub.option("COMMAND", a->words, "which one; all of them when none is named")
      .suggests(app.command_names());
  sub.flag("--man", a->man, "the manual page, as roff");
  sub.flag("--completion", a->completion, "completion for bash");
  sub.json(a->json);
  sub.examples({"lanewise help run", "lanewise help trace convert"});
  sub.does([app, a] { return help(app, *a); });
}

}  // namespace lanewise::cli
