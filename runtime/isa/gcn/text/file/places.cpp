#include "runtime/isa/gcn/text/file/places.hpp"

namespace lanewise::gcn {

KnownPlaces Places::known(Here here) {
  return [this, here = std::move(here)](const Expression& e) { return value_of(e, here); };
}

std::optional<int64_t> Places::value_of(const Expression& e, const Here& here) {
  if (e.upper || e.names_relation) return std::nullopt;
  auto value = static_cast<uint64_t>(e.number);
  std::map<const Section*, int> times;
  for (const Expression::Symbol& s : e.symbols) {
    const auto factor = static_cast<uint64_t>(static_cast<int64_t>(s.times));
    std::string name = s.name == "." ? here() : s.name;
    for (int n = 0; n < kMostAliases && symbols_.has_value(symbols_.text(name)); ++n)
      name = symbols_.text(name);
    if (places_.contains(symbols_.text(name))) name = symbols_.text(name);
    if (symbols_.has_value(name)) {
      const auto number = value_of_symbol(name, here);
      if (!number) return std::nullopt;
      value += static_cast<uint64_t>(*number) * factor;
      continue;
    }
    const auto place = places_.find(name);
    if (place == places_.end()) return std::nullopt;
    value += place->second.second * factor;
    times[place->second.first] += s.times;
  }
  for (const auto& [section, count] : times)
    if (count != 0) return std::nullopt;
  return static_cast<int64_t>(value);
}
std::optional<int64_t> Places::value_of_symbol(const std::string& name, const Here& here) {
  if (aliases_ == kMostAliases) return std::nullopt;
  ++aliases_;
  std::optional<int64_t> out;
  try {
    const std::string text = symbols_.text(name);
    Cursor in(text);
    out = read_constant(in, "a number", known(here));
  } catch (const SyntaxError&) {
    // It has no value yet, which the one who asks reports.
  }
  --aliases_;
  return out;
}

}  // namespace lanewise::gcn
