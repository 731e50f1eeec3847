// lanewise help: what --help says, and the same as a manual page and as shell completion.
#include <fmt/format.h>

#include "lanewise/lanewise.hpp"
#include "runtime/cli/commands/commands.hpp"

namespace lanewise::cli {
namespace {

struct HelpArgs {
  std::vector<std::string> words;
  bool man = false, completion = false;
};

int help(const Command& app, const HelpArgs& a) {
  if (a.man) {
    fmt::print("{}", app.man_page(version()));
  } else if (a.completion) {
    fmt::print("{}", app.bash_completion());
  } else {
    fmt::print("{}", app.help(a.words));
  }
  return 0;
}

}  // namespace

void add_help(const Command& app) {
  const Command sub = app.command("help", "how a command is used");
  auto a = std::make_shared<HelpArgs>();
  sub.option("COMMAND", a->words, "which one; all of them when none is named");
  sub.flag("--man", a->man, "the manual page, as roff");
  sub.flag("--completion", a->completion, "completion for bash");
  sub.examples({"lanewise help run", "lanewise help trace convert"});
  sub.does([app, a] { return help(app, *a); });
}

}  // namespace lanewise::cli
