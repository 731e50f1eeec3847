// What a site of a function that a kernel calls says of it: its name, where it begins and who calls
// it, in one text. The report of a fault takes it apart.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace lanewise::isa {

struct FunctionSite {
  std::string name;
  uint64_t begin = 0;             ///< Site::pc of its first instruction
  std::set<std::string> callers;  ///< functions, or the kernel

  std::string text() const {
    std::string out = fmt::format("{}\n{}", name, begin);
    for (const std::string& c : callers) out += '\n' + c;
    return out;
  }
  /// Nothing of a text that says something else: the name of an assertion's function.
  static std::optional<FunctionSite> of(std::string_view text) {
    const auto take = [&] {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      return line;
    };
    if (text.find('\n') == std::string_view::npos) return std::nullopt;
    FunctionSite out;
    out.name = take();
    const std::string_view begin = take();
    std::from_chars(begin.data(), begin.data() + begin.size(), out.begin);
    while (!text.empty()) out.callers.emplace(take());
    return out;
  }
  std::string callers_text() const {
    constexpr size_t kMost = 3;
    std::string out;
    size_t n = 0;
    for (const std::string& c : callers) {
      if (n == kMost) return out + " or others";
      out += (n++ == 0 ? "" : n == callers.size() || n == kMost ? " or " : ", ") + c;
    }
    return out;
  }
};

}  // namespace lanewise::isa
