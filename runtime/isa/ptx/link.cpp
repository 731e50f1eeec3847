#include "runtime/isa/ptx/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace lanewise::ptx {
namespace {

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

/// Words, numbers, strings and single characters of a text; comments and blanks are skipped.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}
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

TopLevel next_statement(std::string_view text, Words& words) {
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
  Words words(text);
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
  std::string_view linkage;
  uint32_t line = 0;
};

struct Linker {
  std::vector<std::vector<TopLevel>> files;
  std::map<std::string_view, Chosen> definitions;
  std::map<std::string_view, std::set<size_t>> named_in;
  unsigned file_numbers = 0;  ///< of the files before
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
        if (s.name.empty()) continue;
        named_in[s.name].insert(n);
        if (!s.defines() || s.is_own()) continue;
        const auto [known, fresh] = definitions.try_emplace(s.name, Chosen{n, s.linkage, s.line});
        if (fresh || gives_way(s.linkage)) continue;
        if (!gives_way(known->second.linkage))
          out.twice.push_back(
              {std::string(s.name), {known->second.file, known->second.line}, {n, s.line}});
        known->second = {n, s.linkage, s.line};
      }
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
    Words words(s.text);
    bool file_number = false;
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
      std::string instead;
      if (clashing.contains(word) || (file != 0 && word.starts_with("$L__info_string")))
        instead = fmt::format("{}__in_{}", word, file);
      else if (file_number)
        instead = std::to_string(number_in(word) + file_numbers);
      else if (word == ".extern" && definitions.contains(s.name))
        instead = definitions.at(s.name).linkage;
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
