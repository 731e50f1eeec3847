#include "tests/values/claims.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace values {

namespace {

using lanewise::isa::Claim;

bool names(const Elsewhere& e, const std::string& key) {
  if (e.row.ends_with('*')) return key.starts_with(e.row.substr(0, e.row.size() - 1));
  return key == e.row;
}

bool holds(const std::string& path, const std::string& needle) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return !needle.empty() && text.find(needle) != std::string::npos;
}

struct Cases {
  size_t exact = 0, bounded = 0;
};

std::string complaint(const TableRow& row, const Cases& cases, bool elsewhere) {
  switch (row.claim) {
    case Claim::none:
      if (row.runs) return "runs, but claims nothing";
      return cases.exact + cases.bounded != 0 ? "has value cases, but claims nothing" : "";
    case Claim::exact:
      if (cases.bounded != 0) return "claims to be exact, but has a case with a bound";
      return cases.exact == 0 ? "has no value case" : "";
    case Claim::approximate:
      return cases.bounded == 0 && !elsewhere ? "has no value case with a bound" : "";
    case Claim::effect:
      return elsewhere ? "" : "has an effect that no test is named for";
  }
  return "has an unknown claim";
}

}  // namespace

std::vector<std::string> complaints(std::span<const TableRow> rows, std::span<const Case> cases,
                                    std::span<const Elsewhere> elsewhere,
                                    const std::string& folder) {
  std::vector<std::string> out;
  std::map<std::string, Cases> found;
  for (const Case& c : cases) {
    Cases& n = found[c.row];
    ++(c.bound ? n.bounded : n.exact);
    if (c.tuples.empty()) out.push_back(c.row + ": a case without inputs: " + c.text);
  }
  std::vector<bool> used(elsewhere.size());
  std::set<std::string> keys;
  for (const TableRow& row : rows) {
    if (!keys.insert(row.key).second) out.push_back(row.key + ": two rows have this key");
    bool has_other = false;
    for (size_t n = 0; n < elsewhere.size(); ++n)
      if (names(elsewhere[n], row.key) &&
          (row.claim == Claim::effect || row.claim == Claim::approximate))
        has_other = used[n] = true;
    const auto it = found.find(row.key);
    const std::string why = complaint(row, it == found.end() ? Cases{} : it->second, has_other);
    if (!why.empty()) out.push_back(fmt::format("{}: {}", row.key, why));
  }
  for (const auto& [key, n] : found)
    if (!keys.contains(key)) out.push_back(key + ": a case for a row that does not exist");
  for (size_t n = 0; n < elsewhere.size(); ++n) {
    const Elsewhere& e = elsewhere[n];
    if (!used[n]) out.push_back(e.row + ": named elsewhere, but no such row claims an effect");
    if (!holds(folder + "/" + e.file, e.needle))
      out.push_back(fmt::format("{}: '{}' does not stand in {}", e.row, e.needle, e.file));
    if (e.reason.empty()) out.push_back(e.row + ": named elsewhere without a reason");
  }
  return out;
}

}  // namespace values
