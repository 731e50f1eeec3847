// The checker against the real assembler over all opcodes, a line of each form and faulty ones.
// LANEWISE_SHOW_DISAGREEMENTS=1 prints the lines that differ.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <span>
#include <sstream>

#include "tests/support/sanitized.hpp"
#include "tests/unit/ptx/check_support.hpp"

using namespace lanewise;
using namespace check_test;

namespace {

struct WholeColumn {
  std::string target;
  bool old;
};

/// Of the header: `verdicts[sm_50/7.8 sm_80/9.0]`.
std::vector<WholeColumn> columns_of(const std::string& header) {
  std::vector<WholeColumn> out;
  const size_t from = header.find('[') + 1, to = header.find(']');
  std::istringstream in(header.substr(from, to - from));
  for (std::string name; in >> name;) {
    const size_t slash = name.find('/');
    out.push_back({name.substr(0, slash), name.substr(slash + 1) == "7.8"});
  }
  return out;
}

struct WholeRow {
  std::string text, verdicts, group, message;
  std::string found;
  std::map<size_t, std::string> why;
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

struct Frame {
  std::string head, tail;
  size_t first = 0;  ///< line of the first candidate
};

/// Lines of one kernel; with a syntax error among them each in a kernel of its own, as one may hide
/// what follows.
void judge(std::span<WholeRow*> rows, const Frame& frame, const std::vector<WholeColumn>& columns,
           bool old) {
  std::string text = frame.head;
  for (const WholeRow* r : rows) text += r->text + "\n";
  const ptx::ParseResult parsed = ptx::parse(text + frame.tail, 0);
  if (!parsed.ok() && rows.size() > 1) {
    const size_t half = rows.size() / 2;
    judge(rows.first(half), frame, columns, old);
    judge(rows.subspan(half), frame, columns, old);
    return;
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].old != old) continue;
    const auto note = [&](const std::vector<Diagnostic>& list) {
      for (const Diagnostic& d : list) {
        if (d.warning || (d.line < frame.first && parsed.ok())) continue;
        WholeRow& r =
            *rows[std::min(std::max<size_t>(d.line, frame.first) - frame.first, rows.size() - 1)];
        r.found[i] = 'R';
        r.why[i] += d.message + " | ";
      }
    };
    ptx::CheckOptions options;
    options.target = columns[i].target;
    note(parsed.diagnostics);
    if (parsed.ok()) note(ptx::check(parsed.module, options));
  }
}

void judge_all(std::vector<WholeRow*>& rows, const std::string& prologue,
               const std::vector<WholeColumn>& columns, bool old) {
  const std::string mark = "// <candidate line>";
  const std::string text =
      read(std::string(LANEWISE_TEST_DATA "/data/oracle/ptx_whole_") + prologue);
  const size_t at = text.find(mark);
  REQUIRE(at != text.npos);
  Frame frame{text.substr(0, at), text.substr(at + mark.size()), 1};
  frame.first += static_cast<size_t>(std::ranges::count(frame.head, '\n'));
  for (size_t i = 0; i < rows.size(); i += 64)
    judge(std::span(rows).subspan(i, std::min<size_t>(64, rows.size() - i)), frame, columns, old);
}

}  // namespace

TEST_CASE("instructions of all opcodes are judged as the assembler judges them") {
  std::istringstream in(read(LANEWISE_TEST_DATA "/data/oracle/ptx_all.tsv"));
  std::string line;
  std::getline(in, line);
  const std::vector<WholeColumn> columns = columns_of(line);
  std::vector<WholeRow> rows;
  // A part of them everywhere, fewer where memory is watched.
  const size_t part = lanewise::test::kSanitized ? 16 : 2;
  for (size_t n = 0; std::getline(in, line); ++n) {
    if (n % part != 0) continue;
    const auto c = cells(line);
    rows.push_back({c[0], c[1], c[2], {}, std::string(columns.size(), 'A'), {}});
  }
  REQUIRE(rows.size() > 17000 / part);
  std::vector<WholeRow*> plain, independent;
  for (WholeRow& r : rows) (r.group.starts_with("ti_") ? independent : plain).push_back(&r);
  for (const bool old : {true, false}) {
    judge_all(plain, old ? "7.8.ptx" : "9.0.ptx", columns, old);
    judge_all(independent, old ? "7.8_independent.ptx" : "9.0_independent.ptx", columns, old);
  }
  const bool show = std::getenv("LANEWISE_SHOW_DISAGREEMENTS") != nullptr;
  for (size_t i = 0; i < columns.size(); ++i) {
    size_t scored = 0, agreed = 0;
    for (const WholeRow& r : rows) {
      if (r.verdicts[i] == '?') continue;
      ++scored;
      agreed += r.verdicts[i] == r.found[i] ? 1 : 0;
      if (show && r.verdicts[i] != r.found[i])
        MESSAGE(columns[i].target, " ", r.group, ": ", r.text, " is ", r.verdicts, ", found ",
                r.found);
    }
    MESSAGE(columns[i].target, ": ", agreed, " of ", scored, " agree");
    CHECK(static_cast<double>(agreed) >= 0.995 * static_cast<double>(scored));
  }
}
