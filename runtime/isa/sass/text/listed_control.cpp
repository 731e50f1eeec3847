#include "runtime/isa/sass/text/listed_control.hpp"

#include <charconv>

namespace lanewise::sass {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr unsigned kBundle = 3;

/// The word in the comment that ends a line, and what stands before it.
struct Listed {
  uint64_t word = 0;
  std::string_view before;
};
std::optional<Listed> word_comment(std::string_view line) {
  constexpr std::string_view kOpen = "/* 0x", kClose = " */";
  constexpr size_t kDigits = 16;
  const size_t last = line.find_last_not_of(kBlanks);
  line = line.substr(0, last == std::string_view::npos ? 0 : last + 1);
  const size_t at = line.rfind(kOpen);
  if (at == std::string_view::npos || !line.ends_with(kClose)) return std::nullopt;
  if (line.size() - at != kOpen.size() + kDigits + kClose.size()) return std::nullopt;
  const char* digits = line.data() + at + kOpen.size();
  Listed out{0, line.substr(0, at)};
  const auto [end, problem] = std::from_chars(digits, digits + kDigits, out.word, 16);
  if (problem != std::errc() || end != digits + kDigits) return std::nullopt;
  return out;
}

}  // namespace

void ListedControl::line(std::string_view text) {
  const std::optional<Listed> listed = word_comment(text);
  shown_ = listed.has_value();
  if (!listed || listed->before.find_first_not_of(kBlanks) != std::string_view::npos) return;
  word_ = listed->word;
  left_ = kBundle;
}

std::optional<Control> ListedControl::next() {
  if (!shown_ || left_ == 0) return std::nullopt;
  shown_ = false;
  return Control{static_cast<uint32_t>(word_ >> (21 * (kBundle - left_--)) & 0x1fffff)};
}

}  // namespace lanewise::sass
