#include "runtime/support/message.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise {
namespace {

// Mangled names of kernels and paths of files are shorter.
constexpr size_t kLongest = 1000;
constexpr size_t kKept = 100;

}  // namespace

std::string cut_long_words(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (word.size() <= kLongest) {
      out += word;
    } else {
      out += fmt::format("{}... ({} characters) ...{}", word.substr(0, kKept), word.size(),
                         word.substr(word.size() - kKept / 4));
    }
    const size_t next = std::min(text.find_first_not_of(" \t\n", end), text.size());
    out += text.substr(end, next - end);
    text.remove_prefix(next);
  }
  return out;
}

}  // namespace lanewise
