#include "tests/bench/isa/table.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace lanewise::isa_gate {
namespace {

using nlohmann::json;

Code code_of(const json& statistics) {
  Code c;
  c.instructions = std::lround(statistics.at("Instructions").get<double>());
  c.throughput = std::lround(statistics.at("Inverse Throughput").get<double>());
  return c;
}

/// "+4.1 %" of what the table says.
std::string change(const std::string& what, long expected, long found) {
  return fmt::format("{} {} -> {} ({:+.1f} %)", what, expected, found,
                     expected == 0 ? 100.0
                                   : 100.0 * static_cast<double>(found - expected) /
                                         static_cast<double>(expected));
}

bool too_much(long expected, long found) {
  return static_cast<double>(found) > static_cast<double>(expected) * (1 + kTolerance);
}

std::string difference(const std::string& name, const Code& e, const Code& f) {
  if (e.failed || f.failed)
    return fmt::format("{}: {}", name, f.failed ? "no longer compiled" : "compiled now");
  return fmt::format("{}: {}, {}", name, change("instructions", e.instructions, f.instructions),
                     change("inverse throughput", e.throughput, f.throughput));
}

void judge(const std::string& name, const Code& e, const Code& f, Verdict& verdict) {
  const bool worse = e.failed ? false
                              : f.failed || too_much(e.instructions, f.instructions) ||
                                    too_much(e.throughput, f.throughput);
  if (worse) {
    verdict.worse.push_back(difference(name, e, f));
  } else if (e.failed != f.failed || f.instructions < e.instructions ||
             f.throughput < e.throughput) {
    verdict.better.push_back(difference(name, e, f));
  }
}

}  // namespace

Verdict compare(const Table& expected, const Table& found) {
  Verdict verdict;
  for (const auto& [name, e] : expected) {
    const auto it = found.find(name);
    if (it != found.end())
      judge(name, e, it->second, verdict);
    else if (!name.ends_with(kByHand) && !e.failed)
      verdict.other.push_back(name + " is in the table only");
  }
  // The hand-written side is known where the translated one was compiled, too.
  for (const auto& [name, f] : found)
    if (!expected.contains(name) && !name.ends_with(kByHand))
      verdict.other.push_back(name + " is not in the table");
  return verdict;
}

Table from_json(const std::string& text) {
  Table table;
  const json j = json::parse(text);
  for (const json& row : j.at("benchmarks")) {
    const std::string name = row.at("name");
    if (row.contains("failed"))
      table[name].failed = true;
    else
      table[name] = code_of(row.at("translated"));
    const bool plain = name.find('/', name.find('/') + 1) == std::string::npos;
    if (row.contains("glsl") && plain) table[name + kByHand] = code_of(row["glsl"]);
  }
  return table;
}

std::vector<std::string> failures(const std::string& json_text) {
  std::vector<std::string> lines;
  const json j = json::parse(json_text);
  for (const json& row : j.at("benchmarks"))
    if (row.contains("failed"))
      lines.push_back(fmt::format("{}: {}", row.at("name").get<std::string>(),
                                  row["failed"].get<std::string>()));
  return lines;
}

std::string file_name(const std::string& json_text) {
  const json j = json::parse(json_text);
  std::string device = j.at("device");
  // "Null hardware (RADV VEGA10)", "AMD Radeon RX 6800 (RADV NAVI21)"
  if (const size_t at = device.find("RADV "); at != std::string::npos)
    device = device.substr(at + 5, device.find(')', at) - at - 5);
  std::string name = j.at("driver").get<std::string>() + "_" + device;
  for (char& c : name) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) c = static_cast<char>(std::tolower(c));
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_') c = '-';
  }
  return name + ".tsv";
}

std::string compiled_only(const Table& table) {
  std::string names;
  for (const auto& [name, c] : table) {
    if (!c.failed) continue;
    names += names.empty() ? "" : "|";
    for (const char letter : name) names += letter == '.' ? "\\." : std::string(1, letter);
  }
  return names.empty() ? "" : "^(?!(" + names + ")$)";
}

std::string print(const Table& table) {
  std::string text = "kernel\tinstructions\tinverse throughput\n";
  for (const auto& [name, c] : table)
    text += c.failed ? fmt::format("{}\t-\t-\n", name)
                     : fmt::format("{}\t{}\t{}\n", name, c.instructions, c.throughput);
  return text;
}

Table parse(const std::string& text) {
  Table table;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const size_t one = line.find('\t'), two = line.rfind('\t');
    if (one == std::string::npos || one == two)
      throw std::runtime_error("the table's line '" + line + "' has no three columns");
    Code& c = table[line.substr(0, one)];
    c.failed = line[one + 1] == '-';
    if (c.failed) continue;
    c.instructions = std::stol(line.substr(one + 1));
    c.throughput = std::stol(line.substr(two + 1));
  }
  return table;
}

}  // namespace lanewise::isa_gate
