// The checker against the real assembler over all opcodes, a line of each form and faulty ones.
// LANEWISE_SHOW_DISAGREEMENTS=1 prints the lines that differ; LANEWISE_PTX_TABLE names another
// table, of which all lines are judged.
#include <cstdlib>
#include <sstream>

#include "tests/support/ptx_lines.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/ptx/check_support.hpp"

using namespace lanewise;
using namespace check_test;

namespace {

/// Of the header, those of one assembler: `verdicts[sm_50/7.8 sm_80/9.0]`.
std::vector<std::string> targets_of(const std::string& header, const std::string& version) {
  std::vector<std::string> out;
  const size_t from = header.find('[') + 1, to = header.find(']');
  std::istringstream in(header.substr(from, to - from));
  for (std::string name; in >> name;) {
    const size_t slash = name.find('/');
    if (name.substr(slash + 1) == version) out.push_back(name.substr(0, slash));
  }
  return out;
}

struct Table {
  std::vector<std::string> texts, verdicts;
};

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == '\t')
      out.emplace_back();
    else
      out.back() += c;
  }
  out.resize(4);
  return out;
}

struct Score {
  size_t scored = 0, agreed = 0;
};

/// `column`: where the letters of these targets begin.
void compare(const Table& table, const std::string& prologue,
             const std::vector<std::string>& targets, size_t column, std::vector<Score>& scores) {
  const bool show = std::getenv("LANEWISE_SHOW_DISAGREEMENTS") != nullptr;
  const auto found = lanewise::test::judge_lines(
      table.texts,
      lanewise::test::frame_of(LANEWISE_TEST_DATA "/data/oracle/ptx_whole_" + prologue), targets);
  for (size_t n = 0; n < found.size(); ++n) {
    const std::string expected = table.verdicts[n].substr(column, targets.size());
    for (size_t i = 0; i < targets.size(); ++i) {
      if (expected[i] == '?') continue;
      ++scores[column + i].scored;
      scores[column + i].agreed += expected[i] == found[n].letters[i] ? 1 : 0;
    }
    if (show && expected != found[n].letters)
      MESSAGE(prologue, ": ", table.texts[n], " is ", expected, ", found ", found[n].letters, " ",
              found[n].why);
  }
}

}  // namespace

TEST_CASE("instructions of all opcodes are judged as the assembler judges them") {
  const char* other = std::getenv("LANEWISE_PTX_TABLE");
  std::istringstream in(read(other ? other : LANEWISE_TEST_DATA "/data/oracle/ptx_all.tsv"));
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> old = targets_of(line, "7.8"), now = targets_of(line, "9.0");
  Table plain, independent;
  // A part of them everywhere, fewer where memory is watched.
  const size_t part = other ? 1 : lanewise::test::kSanitized ? 16 : 2;
  for (size_t n = 0; std::getline(in, line); ++n) {
    if (n % part != 0) continue;
    const auto c = cells(line);
    if (c[2].starts_with("module")) continue;  // in a table of their own
    Table& table = c[2].starts_with("ti_") ? independent : plain;
    table.texts.push_back(c[0]);
    table.verdicts.push_back(c[1]);
  }
  REQUIRE(plain.texts.size() > 16000 / part);
  std::vector<Score> scores(old.size() + now.size());
  compare(plain, "7.8.ptx", old, 0, scores);
  compare(plain, "9.0.ptx", now, old.size(), scores);
  compare(independent, "7.8_independent.ptx", old, 0, scores);
  compare(independent, "9.0_independent.ptx", now, old.size(), scores);
  for (size_t i = 0; i < scores.size(); ++i) {
    const std::string& target = i < old.size() ? old[i] : now[i - old.size()];
    MESSAGE(target, ": ", scores[i].agreed, " of ", scores[i].scored, " agree");
    CHECK(static_cast<double>(scores[i].agreed) >= 0.995 * static_cast<double>(scores[i].scored));
  }
}
