// What the rows say, and what two sets of rows say differently.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "tests/hardware/kit/results.hpp"

namespace lanewise::kit {

std::string text_of(const Json& row, const char* key) {
  const auto it = row.find(key);
  if (it == row.end()) return {};
  return it->is_string() ? it->get<std::string>() : it->dump();
}

std::map<std::string, Json> by_name(const std::vector<Json>& rows) {
  std::map<std::string, Json> map;
  for (const Json& r : rows) {
    const std::string kind = text_of(r, "kind");
    if (kind == "run" || kind == "script") continue;
    map[kind + " " + text_of(r, "name")] = r;
  }
  return map;
}

namespace {

double number_of(const Json& row, const char* key) {
  const auto it = row.find(key);
  return it != row.end() && it->is_number() ? it->get<double>() : std::nan("");
}

std::string first_part(const std::string& name) {
  return name.substr(0, name.find('/'));
}

/// The last line of a stage's output that says something.
std::string reason(const Json& row) {
  std::string text = text_of(row, "why");
  if (!text.empty()) return text;
  for (const Json& line : row.value("output", Json::array()))
    if (line.is_string() && !line.get<std::string>().empty()) text = line.get<std::string>();
  return text.substr(0, 160);
}

bool same_number(double a, double b, double tolerance) {
  if (a == b) return true;
  return std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
}

/// What differs between two rows, in words; empty for nothing. Times of a stage do not count.
std::string difference(const Json& a, const Json& b, double tolerance) {
  const std::string kind = text_of(a, "kind");
  if (kind == "stage") {
    const std::string x = text_of(a, "state"), y = text_of(b, "state");
    return x == y ? "" : x + " -> " + y;
  }
  if (kind == "figure") {
    const double x = number_of(a, "value"), y = number_of(b, "value");
    if (std::isnan(x) != std::isnan(y)) return text_of(a, "value") + " -> " + text_of(b, "value");
    if (std::isnan(x) || same_number(x, y, tolerance)) return {};
    return fmt::format("{:.4g} -> {:.4g} {} ({:+.1f} %)", x, y, text_of(a, "unit"),
                       x == 0 ? 0 : 100 * (y / x - 1));
  }
  std::string text;
  for (const auto& [key, value] : a.items()) {
    const auto other = b.find(key);
    if (other == b.end() || *other != value)
      text += fmt::format("{}{}: {} -> {}", text.empty() ? "" : "; ", key, value.dump(),
                          other == b.end() ? "nothing" : other->dump());
  }
  return text.substr(0, 300);
}

struct Count {
  std::map<std::string, unsigned> states;
  double seconds = 0;
};

void add_stages(std::string& out, const std::map<std::string, Json>& rows) {
  std::map<std::string, Count> families;
  std::string problems;
  for (const auto& [key, row] : rows) {
    if (text_of(row, "kind") != "stage") continue;
    const std::string name = text_of(row, "name"), state = text_of(row, "state");
    Count& c = families[first_part(name)];
    ++c.states[state];
    c.seconds += std::max(0.0, number_of(row, "seconds"));
    if (state != "passed") problems += fmt::format("  {:<12} {}: {}\n", state, name, reason(row));
  }
  out += "stages\n";
  for (const auto& [name, c] : families) {
    std::string states;
    for (const auto& [state, n] : c.states) states += fmt::format(" {} {}", n, state);
    out += fmt::format("  {:<12}{} ({:.0f} s)\n", name, states, c.seconds);
  }
  if (!problems.empty()) out += "\nnot passed\n" + problems;
}

void add_figures(std::string& out, const std::map<std::string, Json>& rows) {
  std::string text;
  for (const auto& [key, row] : rows) {
    // Latencies are tables for a program to read.
    if (text_of(row, "kind") != "figure" || text_of(row, "unit") == "cycles") continue;
    text += fmt::format("  {:<34} {:>10.4g} {}", text_of(row, "name"), number_of(row, "value"),
                        text_of(row, "unit"));
    const double other = number_of(row, "other");
    if (!std::isnan(other))
      text += fmt::format("   {} {:.4g}   ratio {:.2f}", text_of(row, "beside"), other,
                          number_of(row, "value") / other);
    text += "\n";
  }
  if (!text.empty()) out += "\nfigures\n" + text;
}

/// Tables of the truth program: how many rows of each say what, and those that differ.
void add_truth(std::string& out, const std::map<std::string, Json>& rows) {
  std::map<std::string, std::map<std::string, unsigned>> tables;
  std::string differing, presets;
  unsigned shown = 0;
  for (const auto& [key, row] : rows) {
    if (text_of(row, "kind") != "truth") continue;
    const std::string state = text_of(row, "state");
    ++tables[text_of(row, "table")][state];
    for (const char* level : {"l1", "l2"})
      if (const std::string unlike = text_of(row, ("unlike_" + std::string(level)).c_str());
          !unlike.empty())
        presets += fmt::format("  {} {}: {}\n", text_of(row, "name"), level, unlike);
    if ((state != "different" && state != "forbidden" && state != "faulted") || ++shown > 60)
      continue;
    const std::string what = text_of(row, state == "faulted" ? "why" : "first");
    differing += fmt::format("  {} {}\n", text_of(row, "name"), what.substr(0, 200));
  }
  if (tables.empty()) return;
  out += "\ntruth tables (card beside Lanewise)\n";
  for (const auto& [table, states] : tables) {
    out += fmt::format("  {:<12}", table);
    for (const auto& [state, n] : states) out += fmt::format(" {} {}", n, state);
    out += "\n";
  }
  if (!differing.empty()) out += "\ndifferent from the card\n" + differing;
  if (!presets.empty()) out += "\ncaches that are not the preset's\n" + presets;
}

}  // namespace

std::string summary(const std::vector<Json>& rows) {
  std::string out;
  for (const Json& row : rows)
    if (text_of(row, "kind") == "run")
      out = fmt::format("{}, kit {}\n", text_of(row, "date"), text_of(row, "kit"));
  const std::map<std::string, Json> named = by_name(rows);
  if (const auto it = named.find("fact device"); it != named.end())
    out += fmt::format("{} ({})\n", text_of(it->second, "device"), text_of(it->second, "driver"));
  out += "\n";
  add_stages(out, named);
  add_truth(out, named);
  add_figures(out, named);
  unsigned scripts = 0;
  for (const Json& row : rows) scripts += text_of(row, "kind") == "script" ? 1 : 0;
  if (scripts != 0) out += fmt::format("\n{} shrunk cases are in the results\n", scripts);
  return out;
}

std::string truth_table(const std::vector<Json>& rows) {
  std::string head, body;
  for (const auto& [key, row] : by_name(rows)) {
    if (key == "fact card")
      head = fmt::format("# card\t{}\n# driver\tCUDA {}\n", text_of(row, "card"),
                         text_of(row, "cuda_driver"));
    const std::string table = text_of(row, "table"), name = text_of(row, "name");
    const bool sums = row.contains("form");
    if (!table.starts_with("values-") && !sums) continue;
    const std::string form = sums ? text_of(row, "form") : name.substr(table.size() + 1);
    for (const Json& sample : row.value("card", Json::array()))
      body += fmt::format("{}\t{}\t{}\n", form, sample.at(0).get<std::string>(),
                          sample.at(1).get<std::string>());
  }
  for (const Json& row : rows)
    if (text_of(row, "kind") == "run") head += fmt::format("# date\t{}\n", text_of(row, "date"));
  return head + "# form\toperands\tresult\n" + body;
}

Comparison compare(const std::vector<Json>& before, const std::vector<Json>& after,
                   double tolerance) {
  Comparison c;
  const std::map<std::string, Json> a = by_name(before), b = by_name(after);
  unsigned same = 0;
  const auto line = [&](const std::string& key, const std::string& what) {
    ++c.differences;
    c.text += fmt::format("{}: {}\n", key, what);
  };
  for (const auto& [key, row] : a) {
    const auto other = b.find(key);
    if (other == b.end()) {
      line(key, "only in the first");
      continue;
    }
    const std::string what = difference(row, other->second, tolerance);
    if (what.empty())
      ++same;
    else
      line(key, what);
  }
  for (const auto& [key, row] : b)
    if (!a.contains(key)) line(key, "only in the second");
  c.text += fmt::format("{} rows agree, {} differ\n", same, c.differences);
  return c;
}

}  // namespace lanewise::kit
