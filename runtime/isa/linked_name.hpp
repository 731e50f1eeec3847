// What files that are linked say of one name, and how they can disagree about it.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace lanewise::isa {

struct LinkedName {
  std::string kind;     ///< .func, .entry, .global, .const or .shared
  uint64_t bytes = 0;   ///< of a variable; 0 = not stated
  bool common = false;  ///< of several such variables the largest stays
  /// Of a function, as cubins write it: "#ih" returns 32 bits and takes 16. A letter for each value
  /// (`v` for none), with the count of its elements behind it; empty = not stated.
  std::string prototype;
};

/// Letters of prototypes. Numbers with a sign have those without.
struct PrototypeLetter {
  char letter;
  std::string_view type;
};
inline constexpr std::array kPrototypeLetters = {
    PrototypeLetter{'v', ""},     PrototypeLetter{'b', ".b8"},  PrototypeLetter{'h', ".b16"},
    PrototypeLetter{'i', ".b32"}, PrototypeLetter{'l', ".b64"}, PrototypeLetter{'f', ".f32"},
    PrototypeLetter{'d', ".f64"}};

/// "#ih" as "(.b32) (.b16)": what a function returns, and what it takes.
inline std::string prototype_text(std::string_view prototype) {
  std::string out;
  for (const char c : prototype.substr(1)) {
    if (c >= '0' && c <= '9') {
      out += c;
      continue;
    }
    out += out.empty() ? "(" : out.find(')') == std::string::npos ? ") (" : ", ";
    for (const PrototypeLetter& l : kPrototypeLetters)
      if (l.letter == c) out += l.type;
  }
  return out + (out.find(')') == std::string::npos ? ") ()" : ")");
}

/// What the later file says of the name, and what the first one does, where that is not the same.
inline std::optional<std::pair<std::string, std::string>> difference(const LinkedName& first,
                                                                     const LinkedName& later) {
  const auto both = [](const auto& say, const LinkedName& a, const LinkedName& b) {
    return std::pair(say(a), say(b));
  };
  if (first.kind != later.kind)
    return both([](const LinkedName& n) { return "is " + n.kind; }, later, first);
  if (!first.prototype.empty() && !later.prototype.empty() && first.prototype != later.prototype)
    return both([](const LinkedName& n) { return "is a function " + prototype_text(n.prototype); },
                later, first);
  if (!first.common && !later.common && first.bytes != 0 && later.bytes != 0 &&
      first.bytes != later.bytes)
    return both([](const LinkedName& n) { return fmt::format("has {} bytes", n.bytes); }, later,
                first);
  return {};
}

}  // namespace lanewise::isa
