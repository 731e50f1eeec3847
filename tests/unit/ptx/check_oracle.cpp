// The checker against what the real assembler accepts: every row, for eight targets.
// LANEWISE_SHOW_DISAGREEMENTS=1 prints the rows that differ.
#include <array>
#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/support/sanitized.hpp"
#include "tests/unit/ptx/check_support.hpp"

using namespace lanewise;
using namespace check_test;

namespace {

struct Column {
  const char* target;
  const char* version;
};
constexpr std::array<Column, 8> kColumns = {{{"sm_50", "7.8"},
                                             {"sm_70", "7.8"},
                                             {"sm_80", "7.8"},
                                             {"sm_90", "7.8"},
                                             {"sm_75", "9.0"},
                                             {"sm_90", "9.0"},
                                             {"sm_100", "9.0"},
                                             {"sm_120", "9.0"}}};

struct Row {
  std::string text, verdicts, group;
};

std::vector<Row> rows_of(const std::string& table) {
  std::istringstream in(read(LANEWISE_TEST_DATA "/data/oracle/" + table));
  std::vector<Row> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    rows.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1),
                    line.substr(second + 1)});
  }
  return rows;
}

std::string verdicts(const Row& row) {
  std::string out;
  for (const char* version : {"7.8", "9.0"}) {
    const std::string text = module_with(row.text, version);
    const ptx::ParseResult parsed = ptx::parse(text, 0);
    for (const Column& c : kColumns) {
      if (std::string(c.version) != version) continue;
      if (std::string(c.target) == "sm_50") {
        // The table was made without the declaration that this target does not have.
        std::string old = text;
        const size_t line = old.find(".reg .f16x2");
        old.erase(line, old.find('\n', line) + 1 - line);
        const ptx::ParseResult without = ptx::parse(old, 0);
        ptx::CheckOptions options;
        options.target = c.target;
        out += without.ok() && errors_of(ptx::check(without.module, options)).empty() ? 'A' : 'R';
        continue;
      }
      ptx::CheckOptions options;
      options.target = c.target;
      const bool fine = parsed.ok() && errors_of(ptx::check(parsed.module, options)).empty();
      out += fine ? 'A' : 'R';
    }
  }
  return out;
}

void score(const std::string& table) {
  std::vector<Row> rows = rows_of(table);
  REQUIRE(rows.size() > 6000);
  // The release build judges all of them; what memory that touches an eighth shows.
  const size_t part = lanewise::test::kSanitized ? 8 : 1;
  size_t row_number = 0;
  std::erase_if(rows, [&](const Row&) { return row_number++ % part != 0; });
  const bool show = std::getenv("LANEWISE_SHOW_DISAGREEMENTS") != nullptr;
  std::array<size_t, 8> agreed{}, scored{}, accepted{};
  std::map<std::string, size_t> groups;
  for (const Row& row : rows) {
    const std::string got = verdicts(row);
    bool differs = false;
    for (size_t i = 0; i < 8; ++i) {
      if (row.verdicts[i] == 'C') continue;  // the assembler died
      ++scored[i];
      accepted[i] += row.verdicts[i] == 'A' ? 1 : 0;
      agreed[i] += row.verdicts[i] == got[i] ? 1 : 0;
      differs = differs || row.verdicts[i] != got[i];
    }
    if (!differs) continue;
    ++groups[row.group];
    if (show) MESSAGE(row.group, ": ", row.text, " is ", row.verdicts, ", found ", got);
  }
  for (size_t i = 0; i < 8; ++i) {
    MESSAGE(table, " ", std::string(kColumns[i].target), "/", std::string(kColumns[i].version),
            ": ", agreed[i], " of ", scored[i], " agree, ", accepted[i], " of them are legal");
    CHECK(scored[i] > 6000 / part);
    CHECK(accepted[i] > 400 / part);
    CHECK(static_cast<double>(agreed[i]) >= 0.995 * static_cast<double>(scored[i]));
  }
  for (const auto& [group, count] : groups) MESSAGE("disagreements in ", group, ": ", count);
}

}  // namespace

TEST_CASE("st is judged as the assembler judges it") {
  score("ptx_st.tsv");
}

TEST_CASE("ld is judged as the assembler judges it") {
  score("ptx_ld.tsv");
}

TEST_CASE("everything else is judged as the assembler judges it") {
  score("ptx_misc.tsv");
}

TEST_CASE("the version that first accepts an instruction") {
  // These have no version of their own in the newer assembler; the older one refuses them, so the
  // checker asks for a version that only the newer one knows.
  const auto later = [](const std::string& text) {
    return text.starts_with("st.shared.v8.b8") || text.starts_with("fence.acquire");
  };
  const auto crashed = [](const std::string& text) { return text.starts_with("atom.global.v4"); };
  size_t compared = 0;
  for (const Row& row : rows_of("ptx_version_gate.tsv")) {
    const std::string &target = row.verdicts, &first = row.group;
    if (later(row.text) || crashed(row.text)) continue;
    ++compared;
    CAPTURE(row.text);
    CAPTURE(target);
    const ptx::ParseResult parsed = ptx::parse(module_with(row.text), 0);
    const bool wide = row.text.find("%q") != std::string::npos;
    const auto accepts = [&](uint32_t version) {
      ptx::CheckOptions options;
      options.target = target;
      options.version = version;
      for (const std::string& e : errors_of(ptx::check(parsed.module, options))) {
        // The module declares .b128 registers also where the line has none.
        if (wide || e.find("a register of .b128") == std::string::npos) return false;
      }
      return parsed.ok();
    };
    if (first == "never") {
      CHECK_FALSE(accepts(90));
      continue;
    }
    const auto version = static_cast<uint32_t>(std::stoul(first.substr(0, first.find('.'))) * 10 +
                                               std::stoul(first.substr(first.find('.') + 1)));
    CHECK(accepts(version));
    const uint32_t lowest = target == "sm_75" ? 63 : target == "sm_90" ? 78 : 86;
    if (version > lowest) CHECK_FALSE(accepts(version - (version % 10 == 0 ? 2 : 1)));
  }
  CHECK(compared > 90);
}
