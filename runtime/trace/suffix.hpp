// Tables that map one suffix of an instruction to what it sets in a Site.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/trace/event.hpp"

namespace lanewise::trace {

/// One suffix, and the field it sets; the tables of the three decoders consist of these.
struct Suffix {
  std::string_view text;
  void (*set)(Site&);
};

template <size_t N>
bool apply_suffix(const Suffix (&table)[N], std::string_view text, Site& site) {
  for (const Suffix& s : table)
    if (s.text == text) {
      s.set(site);
      return true;
    }
  return false;
}

inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    if (at != 0) parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace lanewise::trace
