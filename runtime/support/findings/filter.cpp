#include "runtime/support/findings/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "runtime/support/error.hpp"
#include "runtime/support/findings/rules.hpp"

namespace lanewise::findings {
namespace {

/// A site is named with its folder or without.
bool is_site(std::string_view pattern, const Place& place) {
  const std::string site = place.site();
  const size_t slash = site.rfind('/');
  return matches(pattern, site) ||
         (slash != std::string::npos && matches(pattern, std::string_view(site).substr(slash + 1)));
}

/// A name as one word of a line.
std::string word(const std::string& text) {
  if (text.empty()) return "-";
  std::string out = text;
  for (char& c : out)
    if (c == ' ' || c == '\t' || c == '#') c = '?';
  return out;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

void Filter::read(const std::string& path) {
  std::ifstream in(path);
  std::error_code none;
  if (!in || std::filesystem::is_directory(path, none))
    throw Error(ErrorKind::usage, fmt::format("cannot read '{}'", path));
  uint32_t number = 0;
  for (std::string text; std::getline(in, text);) {
    std::istringstream words(text.substr(0, text.find('#')));
    Line line{fmt::format("{}:{}", path, ++number), "", "*", "*"};
    if (!(words >> line.rule)) continue;
    words >> line.subject >> line.site;
    if (std::string more; words >> more)
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: expected RULE SUBJECT SITE, found '{}' behind them", line.place, more));
    const bool known =
        std::ranges::any_of(rules(), [&](const Rule& r) { return matches(line.rule, r.id); });
    if (!known) {
      std::string all;
      for (const Rule& r : rules()) all += fmt::format("{}{}", all.empty() ? "" : ", ", r.id);
      throw Error(ErrorKind::usage, fmt::format("{}: no rule is named '{}'; there are: {}",
                                                line.place, line.rule, all));
    }
    lines_.push_back(std::move(line));
  }
}

std::string Filter::match(const Finding& finding) {
  std::string first;
  const std::string subject = word(finding.subject);
  for (Line& line : lines_) {
    const bool fits =
        matches(line.rule, finding.rule) && matches(line.subject, subject) &&
        std::ranges::any_of(finding.places, [&](const Place& p) { return is_site(line.site, p); });
    if (!fits) continue;
    line.used = true;
    if (first.empty()) first = line.place;
  }
  return first;
}

std::vector<std::string> Filter::unused() const {
  std::vector<std::string> out;
  for (const Line& line : lines_)
    if (!line.used)
      out.push_back(fmt::format("{}: {} {} {}", line.place, line.rule, line.subject, line.site));
  return out;
}

std::string baseline_text(const std::vector<Finding>& all) {
  std::set<std::string> lines;
  for (const Finding& f : all)
    lines.insert(fmt::format("{} {} {}\n", f.rule, word(f.subject), word(f.place().site())));
  std::string out = "# RULE SUBJECT SITE: what --baseline FILE takes as known\n";
  for (const std::string& line : lines) out += line;
  return out;
}

}  // namespace lanewise::findings
