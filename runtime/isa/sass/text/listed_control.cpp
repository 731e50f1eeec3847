#include "runtime/isa/sass/text/listed_control.hpp"

#include <charconv>

namespace lanewise::sass {
namespace {

constexpr size_t kInBundle = 3, kWordsOfBundle = kInBundle + 1;

/// The word in the comment that ends a line.
std::optional<uint64_t> word_comment(std::string_view line) {
  constexpr std::string_view kOpen = "/* 0x", kClose = " */", kBlanksAtEnd = " \t\r";
  constexpr size_t kDigits = 16;
  const size_t last = line.find_last_not_of(kBlanksAtEnd);
  line = line.substr(0, last == std::string_view::npos ? 0 : last + 1);
  const size_t at = line.rfind(kOpen);
  if (at == std::string_view::npos || !line.ends_with(kClose)) return std::nullopt;
  if (line.size() - at != kOpen.size() + kDigits + kClose.size()) return std::nullopt;
  const char* digits = line.data() + at + kOpen.size();
  uint64_t word = 0;
  const auto [end, problem] = std::from_chars(digits, digits + kDigits, word, 16);
  return problem == std::errc() && end == digits + kDigits ? std::optional(word) : std::nullopt;
}

}  // namespace

void ListedWords::line(std::string_view text) {
  if (const auto word = word_comment(text)) words_.push_back(*word);
}

void ListedWords::give_control(Kernel& kernel, std::vector<Diagnostic>& out) const {
  std::vector<Instruction>& code = kernel.code;
  const size_t bundles = (code.size() + kInBundle - 1) / kInBundle;
  if (words_.size() != bundles * kWordsOfBundle || code.size() % kInBundle != 0) return;
  for (size_t n = 0; n < code.size(); ++n) {
    Instruction& i = code[n];
    if (i.has_control) continue;
    const uint64_t word = words_[n / kInBundle * kWordsOfBundle];
    const Control control{static_cast<uint32_t>(word >> (21 * (n % kInBundle)) & 0x1fffff)};
    if (std::string complaint = control_complaint(*i.form, i.word, control); !complaint.empty()) {
      out.push_back({i.line, i.column, std::move(complaint), false});
      continue;
    }
    i.control = control;
    i.has_control = true;
  }
}

}  // namespace lanewise::sass
