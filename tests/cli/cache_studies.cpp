// docs/studies.md: every command runs, and says what is quoted below it.
#include <sstream>

#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

/// Runs of blanks count as one.
std::string even(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' || out.empty() || (out.back() != ' ' && out.back() != '\n')) out += c;
  return out;
}

/// The page's commands are given in the folder of the sources.
std::string from_here(std::string arguments) {
  if (const size_t at = arguments.find("samples/"); at != std::string::npos)
    arguments.insert(at, LANEWISE_TEST_DATA "/../");
  return arguments;
}

}  // namespace

TEST_CASE("docs/studies.md: commands and what they print") {
  if (std::string(device()) != "reference") return;
  std::istringstream page(slurp(LANEWISE_TEST_DATA "/../docs/studies.md"));
  const std::string start = "    lanewise ";
  std::string output;
  size_t commands = 0, lines = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind(start, 0) == 0) {
      ++commands;
      const Output o = program(from_here(line.substr(start.size())));
      CHECK_MESSAGE((o.code == 0 || contains(line, "--check")), o.err);
      output = even(o.out + o.err + "exit code " + std::to_string(o.code) + "\n");
    } else if (line.rfind("    ", 0) == 0) {
      ++lines;
      const std::string wanted = even(line.substr(4));
      CHECK_MESSAGE(contains(output, wanted), wanted);
    }
  }
  CHECK(commands == 9);
  CHECK(lines > 30);
}
