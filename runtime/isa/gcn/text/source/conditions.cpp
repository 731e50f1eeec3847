#include "runtime/isa/gcn/text/source/conditions.hpp"

#include <algorithm>
#include <string>

#include "runtime/isa/gcn/text/source/macro.hpp"

namespace lanewise::gcn {
namespace {

constexpr std::string_view kOpening[] = {
    ".if",   ".ifeq", ".ifne", ".ifgt",  ".ifge",  ".iflt",  ".ifle",   ".ifb",
    ".ifnb", ".ifc",  ".ifnc", ".ifeqs", ".ifnes", ".ifdef", ".ifndef", ".ifnotdef"};

bool opens(std::string_view name) {
  return std::ranges::find(kOpening, name) != std::end(kOpening);
}

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = s.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view()
                                         : s.substr(first, s.find_last_not_of(kBlanks) - first + 1);
}

std::string_view rest_of(Cursor& in) {
  const std::string_view rest = in.rest();
  in.seek(in.at() + rest.size());
  return trimmed(rest);
}

std::string_view quoted(Cursor& in) {
  in.expect('"', "before the text");
  const std::string_view text = in.until("\"");
  in.expect('"', "behind the text");
  return text;
}

/// .ifc compares as it stands, .ifeqs what stands in quotes.
bool equal_texts(Cursor& in, bool in_quotes) {
  const std::string_view first = in_quotes ? quoted(in) : trimmed(in.until(","));
  in.expect(',', "between the two texts");
  return first == (in_quotes ? quoted(in) : rest_of(in));
}

}  // namespace

bool Conditions::is_condition(std::string_view name) {
  return opens(name) || name == ".else" || name == ".elseif" || name == ".endif";
}

bool Conditions::asked(std::string_view name, Cursor& in) {
  if (name == ".ifb") return rest_of(in).empty();
  if (name == ".ifnb") return !rest_of(in).empty();
  if (name == ".ifc" || name == ".ifeqs") return equal_texts(in, name == ".ifeqs");
  if (name == ".ifnc" || name == ".ifnes") return !equal_texts(in, name == ".ifnes");
  if (name == ".ifdef" || name == ".ifndef" || name == ".ifnotdef") {
    const std::string_view symbol = read_name(in);
    if (symbol.empty()) in.fail("expected a symbol" + in.found());
    return ask_.defined(symbol) == (name == ".ifdef");
  }
  const int64_t value = ask_.evaluate(in);
  if (name == ".ifeq") return value == 0;
  if (name == ".ifgt") return value > 0;
  if (name == ".ifge") return value >= 0;
  if (name == ".iflt") return value < 0;
  if (name == ".ifle") return value <= 0;
  return value != 0;
}

void Conditions::take(std::string_view name, Cursor& in, uint32_t line) {
  const std::string shown(name);
  if (opens(name)) {
    const bool skipped = skips();
    open_.push_back({.met = true, .skips = true, .line = line});
    if (skipped) return;
    const bool met = asked(name, in);
    if (!in.done()) in.fail("unexpected text behind the condition" + in.found());
    open_.back().met = met;
    open_.back().skips = !met;
    return;
  }
  const bool ends = name == ".endif";
  if (open_.empty() || (!ends && open_.back().has_else))
    in.fail(shown + " without an .if in front of it");
  Open& now = open_.back();
  if (name != ".elseif" && !in.done()) in.fail("unexpected text behind " + shown + in.found());
  if (ends) {
    open_.pop_back();
    return;
  }
  now.has_else = name == ".else";
  const bool decided = outer_skips() || now.met;
  now.skips = true;
  if (decided) return;
  now.met = true;
  const bool met = now.has_else || asked(name, in);
  if (!in.done()) in.fail("unexpected text behind the condition" + in.found());
  now.met = met;
  now.skips = !met;
}

}  // namespace lanewise::gcn
