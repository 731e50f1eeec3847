#include "runtime/isa/sass/text/dump_text.hpp"

#include <algorithm>

namespace lanewise::sass {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

DumpLine dump_line(std::string_view line) {
  using Kind = DumpLine::Kind;
  constexpr std::string_view kTarget = "code for sm_", kFunction = "Function : ";
  const std::string_view text = trimmed(line);
  if (text.starts_with(kTarget)) return {Kind::target, text.substr(kTarget.size())};
  if (text.starts_with(kFunction)) return {Kind::function, trimmed(text.substr(kFunction.size()))};
  if (text.ends_with(':') && (text.starts_with("Fatbin ") || text.starts_with("member ")))
    return {Kind::header, text};
  const bool dots = text.size() > 1 && text.find_first_not_of('.') == std::string_view::npos;
  return {dots ? Kind::rule : Kind::code, text};
}

std::vector<std::string_view> dumped_targets(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const DumpLine line = dump_line(text.substr(0, end));
    if (line.kind == DumpLine::Kind::target) all.push_back(line.text);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

}  // namespace lanewise::sass
