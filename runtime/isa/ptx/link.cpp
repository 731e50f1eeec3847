#include "runtime/isa/ptx/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "runtime/isa/linked_name.hpp"

namespace lanewise::ptx {
namespace {

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

/// StatementWords, numbers, strings and single characters of a text; comments and blanks are
/// skipped.
class StatementWords {
 public:
  explicit StatementWords(std::string_view text) : text_(text) {}
  /// Empty at the end. Directives keep their dot: ".func".
  std::string_view next() {
    skip();
    const size_t from = at_;
    if (at_ == text_.size()) return {};
    const char c = text_[at_++];
    if (c == '"') {
      while (at_ < text_.size() && text_[at_++] != '"') {
      }
    } else if (starts_word(c) || in_word(c)) {
      while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    }
    return text_.substr(from, at_ - from);
  }
  /// Where the word that comes next begins.
  size_t begin() {
    skip();
    return at_;
  }
  size_t end() const { return at_; }
  void to_line_end() { at_ = std::min(text_.find('\n', at_), text_.size()); }

 private:
  void skip() {
    for (;;) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      if (text_.substr(at_, 2) == "//") {
        to_line_end();
      } else if (text_.substr(at_, 2) == "/*") {
        at_ = std::min(text_.find("*/", at_ + 2), text_.size());
        if (at_ < text_.size()) at_ += 2;
      } else {
        return;
      }
    }
  }
  std::string_view text_;
  size_t at_ = 0;
};

/// What stands outside of all braces: a declaration, a definition, a directive.
struct TopLevel {
  std::string_view text;
  std::string_view kind;     ///< ".func", ".entry", ".global", ".file" ...
  std::string_view linkage;  ///< ".visible", ".extern", ".weak", ".common", or empty
  std::string_view name;
  uint32_t line = 0;  ///< of its first word, in its file
  bool body = false;
  bool is_function() const { return kind == ".func" || kind == ".entry"; }
  bool is_variable() const { return kind == ".global" || kind == ".const" || kind == ".shared"; }
  bool defines() const {
    return is_function() ? body : is_variable() && linkage != ".extern" && !name.empty();
  }
  /// Other files do not see it.
  bool is_own() const { return linkage.empty() && kind != ".entry" && !name.empty(); }
};

constexpr std::array<std::string_view, 4> kLines = {".version", ".target", ".address_size",
                                                    ".file"};
template <typename List>
bool holds(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

/// The name is the first word outside of parentheses that is neither directive nor number; a
/// function's results stand before it.
void take_word(TopLevel& s, std::string_view word, int nested) {
  constexpr std::array<std::string_view, 4> kLinkage = {".visible", ".extern", ".weak", ".common"};
  constexpr std::array<std::string_view, 5> kKinds = {".func", ".entry", ".global", ".const",
                                                      ".shared"};
  if (nested != 0) return;
  if (holds(kLinkage, word)) s.linkage = word;
  if (s.kind.empty() && holds(kKinds, word)) s.kind = word;
  if (!s.kind.empty() && s.name.empty() && word[0] != '.' && starts_word(word[0])) s.name = word;
}

TopLevel next_statement(std::string_view text, StatementWords& words) {
  TopLevel s;
  const size_t from = words.begin();
  int nested = 0;
  bool value = false;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (words.end() - word.size() == from && holds(kLines, word)) {
      s.kind = word;
      words.to_line_end();
      break;
    }
    if (word == "(" || word == "{" || word == "[") {
      s.body = s.body || (word == "{" && nested == 0 && !value);
      ++nested;
    } else if (word == ")" || word == "}" || word == "]") {
      --nested;
      if (word == "}" && nested <= 0 && !value) break;
    } else if (word == ";" && nested <= 0) {
      break;
    } else {
      value = value || (word == "=" && nested == 0);
      if (!s.body && !value) take_word(s, word, nested);
    }
  }
  s.text = text.substr(from, words.end() - from);
  return s;
}

std::vector<TopLevel> statements_of(std::string_view text) {
  std::vector<TopLevel> all;
  StatementWords words(text);
  uint32_t line = 1;
  const auto lines_in = [](std::string_view part) {
    return static_cast<uint32_t>(std::ranges::count(part, '\n'));
  };
  for (size_t seen = 0; words.begin() < text.size();) {
    const size_t from = words.begin();
    line += lines_in(text.substr(seen, from - seen));
    seen = from;
    all.push_back(next_statement(text, words));
    all.back().line = line;
  }
  return all;
}

/// The letter of a type in prototypes; 0 for a word that is none.
char letter_of(std::string_view word) {
  if (word.size() < 3 || word[0] != '.') return 0;
  const std::string_view bits = word.substr(2);
  if (word[1] == 'f') return bits == "32" ? 'f' : bits == "64" ? 'd' : '\0';
  if (word[1] != 'b' && word[1] != 'u' && word[1] != 's') return 0;
  return bits == "8" ? 'b' : bits == "16" ? 'h' : bits == "32" ? 'i' : bits == "64" ? 'l' : '\0';
}
unsigned bytes_of(char letter) {
  return letter == 'b'                    ? 1
         : letter == 'h'                  ? 2
         : letter == 'i' || letter == 'f' ? 4
         : letter == 'l' || letter == 'd' ? 8
                                          : 0;
}

/// How a function's statement says what it returns and takes; empty for a form that it leaves open.
std::string prototype_of(const TopLevel& s) {
  std::string results, parameters;
  bool named = false;
  int nested = 0;
  StatementWords words(s.text);
  for (std::string_view word = words.next(); !word.empty() && word != "{"; word = words.next()) {
    std::string& list = named ? parameters : results;
    if (word == "(")
      ++nested;
    else if (word == ")")
      --nested;
    else if (nested == 0)
      named = named || word == s.name;
    else if (word == "[") {
      word = words.next();
      if (word == "]" || list.empty()) return {};
      list += word;
    } else if (const char letter = letter_of(word); letter != 0)
      list += letter;
    if (named && nested == 0 && word == ")") break;
  }
  return "#" + (results.empty() ? "v" : results) + parameters;
}

/// Bytes of a variable, as its statement says; 0 where that leaves them open.
uint64_t stated_bytes(const TopLevel& s) {
  uint64_t bytes = 0;
  StatementWords words(s.text);
  for (std::string_view word = words.next(); !word.empty() && word != "=" && word != ";";
       word = words.next()) {
    if (word == ".v2") bytes = 2;
    if (word == ".v4") bytes = 4;
    if (const char letter = letter_of(word); letter != 0)
      bytes = std::max<uint64_t>(bytes, 1) * bytes_of(letter);
    if (word == "[") {
      word = words.next();
      uint64_t count = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
      if (error != std::errc() || end != word.data() + word.size()) return 0;
      bytes *= count;
    }
  }
  return bytes;
}

isa::LinkedName stated_by(const TopLevel& s) {
  isa::LinkedName out;
  out.kind = s.kind;
  if (s.kind == ".func") out.prototype = prototype_of(s);
  out.common = s.linkage == ".common";
  if (s.is_variable()) out.bytes = stated_bytes(s);
  return out;
}

unsigned number_in(std::string_view text) {
  unsigned value = 0;
  const size_t at = std::min(text.find_first_of("0123456789"), text.size());
  std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

/// A header line, of which the latest holds: "8.10" is later than "8.9".
std::pair<unsigned, unsigned> age(const TopLevel& s) {
  const size_t dot = s.text.find('.', 1);
  return {number_in(s.text), dot == std::string_view::npos ? 0 : number_in(s.text.substr(dot))};
}

/// Which file's definition of a name stays: the first that is not weak, else the first.
struct Chosen {
  size_t file = 0;
  const TopLevel* statement = nullptr;
};
/// Who named something first, and what was stated of it there.
struct Named {
  Linked::Place place;
  isa::LinkedName stated;
};

struct Linker {
  std::vector<std::vector<TopLevel>> files;
  std::map<std::string_view, Chosen> definitions;
  std::map<std::string_view, std::set<size_t>> named_in;
  std::map<std::string_view, Named> first_named;
  std::optional<std::pair<unsigned, Linked::Place>> addresses;  ///< bits of the first file's
  unsigned file_numbers = 0;                                    ///< of the files before
  Linked out;

  /// Adds lines, of which the first stood at this place.
  void write(std::string_view lines, size_t file, uint32_t line) {
    out.text += lines;
    out.text += '\n';
    for (const char c : lines)
      if (c == '\n') out.lines.push_back({file, line++});
    out.lines.push_back({file, line});
  }

  static bool gives_way(std::string_view linkage) {
    return linkage == ".weak" || linkage == ".common";
  }

  void find_definitions() {
    for (size_t n = 0; n < files.size(); ++n)
      for (const TopLevel& s : files[n]) {
        if (s.kind == ".address_size") compare_addresses(s, n);
        if (s.name.empty()) continue;
        named_in[s.name].insert(n);
        if (s.is_own()) continue;
        const bool agrees = compare(s, n);
        if (s.defines()) choose(s, n, agrees);
      }
  }

  void clash(std::string_view name, Linked::Place first, Linked::Place second,
             std::string first_states, std::string second_states) {
    out.clashes.push_back(
        {std::string(name), first, second, std::move(first_states), std::move(second_states)});
  }

  bool compare(const TopLevel& s, size_t file) {
    const isa::LinkedName stated = stated_by(s);
    const auto [known, fresh] = first_named.try_emplace(s.name, Named{{file, s.line}, stated});
    isa::LinkedName& first = known->second.stated;
    if (const auto differs = isa::difference(first, stated)) {
      clash(s.name, known->second.place, {file, s.line}, differs->second, differs->first);
      return false;
    }
    if (first.bytes == 0 || first.common) first.bytes = stated.bytes, first.common = stated.common;
    return true;
  }

  void compare_addresses(const TopLevel& s, size_t file) {
    const unsigned bits = number_in(s.text);
    if (!addresses) addresses = {bits, {file, s.line}};
    const auto text = [](unsigned n) { return fmt::format("have {} bits", n); };
    if (addresses->first != bits)
      clash("", addresses->second, {file, s.line}, text(addresses->first), text(bits));
  }

  void choose(const TopLevel& s, size_t file, bool agrees) {
    const auto [known, fresh] = definitions.try_emplace(s.name, Chosen{file, &s});
    if (fresh) return;
    const TopLevel& before = *known->second.statement;
    const bool larger = s.linkage == ".common" && before.linkage == ".common" &&
                        stated_bytes(s) > stated_bytes(before);
    if (gives_way(s.linkage) && !larger) return;
    if (!gives_way(before.linkage) && agrees)
      clash(s.name, {known->second.file, before.line}, {file, s.line}, {}, {});
    known->second = {file, &s};
  }

  void write_header() {
    for (const std::string_view kind : {".version", ".target", ".address_size"}) {
      const TopLevel* latest = nullptr;
      size_t in = 0;
      for (size_t n = 0; n < files.size(); ++n)
        for (const TopLevel& s : files[n])
          if (s.kind == kind && (latest == nullptr || age(*latest) < age(s))) latest = &s, in = n;
      if (latest != nullptr) write(latest->text, in, latest->line);
    }
  }

  bool is_dropped(const TopLevel& s, size_t file) const {
    const auto found = definitions.find(s.name);
    if (s.name.empty() || s.is_own() || found == definitions.end()) return false;
    if (s.is_variable() && s.linkage == ".extern") return true;
    // A declaration stands before what it declares, or is not needed.
    if (s.is_function() && !s.body) return found->second.file < file;
    // Only what is weak gives way; what is defined twice is a mistake to be seen.
    return s.defines() && gives_way(s.linkage) && found->second.file != file;
  }

  /// The statement with the names and numbers of the linked text.
  std::string rewritten(const TopLevel& s, const std::set<std::string_view>& clashing,
                        size_t file) const {
    std::string text;
    size_t copied = 0;
    StatementWords words(s.text);
    bool file_number = false;
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
      std::string instead;
      if (clashing.contains(word) || (file != 0 && word.starts_with("$L__info_string")))
        instead = fmt::format("{}__in_{}", word, file);
      else if (file_number)
        instead = std::to_string(number_in(word) + file_numbers);
      else if (word == ".extern" && definitions.contains(s.name))
        instead = definitions.at(s.name).statement->linkage;
      file_number = word == ".loc" || word == ".file" || word == "inlined_at";
      if (instead.empty()) continue;
      text += s.text.substr(copied, words.end() - word.size() - copied);
      text += instead;
      copied = words.end();
    }
    text += s.text.substr(copied);
    return text;
  }

  void add(size_t file) {
    std::set<std::string_view> clashing;
    for (const TopLevel& s : files[file])
      if (s.is_own() && named_in[s.name].size() > 1) clashing.insert(s.name);
    unsigned most = 0;
    for (const TopLevel& s : files[file]) {
      if (s.kind == ".file") most = std::max(most, number_in(s.text));
      if (s.kind != ".file" && holds(kLines, s.kind)) continue;
      if (!is_dropped(s, file)) write(rewritten(s, clashing, file), file, s.line);
    }
    file_numbers += most;
  }
};

}  // namespace

std::string Linked::Clash::message(const std::string& first_file) const {
  if (first_states.empty())
    return fmt::format("'{}' is defined in {}, line {}, already", name, first_file, first.line);
  const std::string subject = name.empty() ? "addresses" : "'" + name + "'";
  return fmt::format("{} {} here, but {} in {}, line {}", subject, second_states, first_states,
                     first_file, first.line);
}

Linked link(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return {texts[0], {}, {}};
  Linker linker;
  for (const std::string& text : texts) linker.files.push_back(statements_of(text));
  linker.find_definitions();
  linker.write_header();
  for (size_t n = 0; n < texts.size(); ++n) linker.add(n);
  return std::move(linker.out);
}

}  // namespace lanewise::ptx
