// The checker against the real assembler over all opcodes: LANEWISE_WHOLE names the table,
// LANEWISE_WHOLE_OUT a file for what differs.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "tests/unit/ptx/check_support.hpp"

using namespace lanewise;
using namespace check_test;

namespace {

struct Column {
  std::string target;
  bool old;
};

/// Of the header: `verdicts[sm_50/7.8 sm_80/9.0]`.
std::vector<Column> columns_of(const std::string& header) {
  std::vector<Column> out;
  const size_t from = header.find('[') + 1, to = header.find(']');
  std::istringstream in(header.substr(from, to - from));
  for (std::string name; in >> name;) {
    const size_t slash = name.find('/');
    out.push_back({name.substr(0, slash), name.substr(slash + 1) == "7.8"});
  }
  return out;
}

struct Row {
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
void judge(std::span<Row*> rows, const Frame& frame, const std::vector<Column>& columns, bool old) {
  std::string text = frame.head;
  for (const Row* r : rows) text += r->text + "\n";
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
        Row& r =
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

void judge_all(std::vector<Row*>& rows, const std::string& prologue,
               const std::vector<Column>& columns, bool old) {
  const std::string mark = "// <candidate line>";
  const std::string text = read(std::string(std::getenv("LANEWISE_WHOLE_DIR")) + prologue);
  const size_t at = text.find(mark);
  REQUIRE(at != text.npos);
  Frame frame{text.substr(0, at), text.substr(at + mark.size()), 1};
  frame.first += static_cast<size_t>(std::ranges::count(frame.head, '\n'));
  for (size_t i = 0; i < rows.size(); i += 64)
    judge(std::span(rows).subspan(i, std::min<size_t>(64, rows.size() - i)), frame, columns, old);
}

}  // namespace

TEST_CASE("whole table") {
  const char* path = std::getenv("LANEWISE_WHOLE");
  if (path == nullptr) return;
  std::istringstream in(read(path));
  std::string line;
  std::getline(in, line);
  const std::vector<Column> columns = columns_of(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const auto c = cells(line);
    rows.push_back({c[0], c[1], c[2], c[3], std::string(columns.size(), 'A'), {}});
  }
  std::vector<Row*> plain, independent;
  for (Row& r : rows) {
    if (r.group.starts_with("module.")) continue;
    (r.group.starts_with("ti_") ? independent : plain).push_back(&r);
  }
  for (const bool old : {true, false}) {
    judge_all(plain, old ? "/prologue_7.8.ptx" : "/prologue_9.0.ptx", columns, old);
    judge_all(independent, old ? "/prologue_7.8_independent.ptx" : "/prologue_9.0_independent.ptx",
              columns, old);
  }
  struct Score {
    size_t all = 0, fine = 0, accepted = 0, refused = 0;
  };
  std::map<std::string, Score> groups;
  std::ofstream out(std::getenv("LANEWISE_WHOLE_OUT"));
  for (const auto* list : {&plain, &independent})
    for (const Row* r : *list) {
      bool differs = false;
      for (Score* s : {&groups[r->group], &groups["TOTAL"]})
        for (size_t i = 0; i < columns.size(); ++i) {
          if (r->verdicts[i] == '?') continue;
          ++s->all;
          const bool same = r->verdicts[i] == r->found[i];
          s->fine += same;
          differs = differs || !same;
          if (!same) ++(r->found[i] == 'A' ? s->accepted : s->refused);
        }
      if (!differs) continue;
      out << r->group << '\t' << r->verdicts << '\t' << r->found << '\t' << r->text << '\t'
          << r->message << '\t' << (r->why.empty() ? "" : r->why.rbegin()->second) << '\n';
    }
  std::ostringstream table;
  for (const auto& [name, s] : groups)
    if (s.fine != s.all || name == "TOTAL")
      table << name << "  " << 100.0 * static_cast<double>(s.fine) / static_cast<double>(s.all)
            << "  wrongly accepted " << s.accepted << " refused " << s.refused << " of " << s.all
            << "\n";
  MESSAGE(table.str());
}
