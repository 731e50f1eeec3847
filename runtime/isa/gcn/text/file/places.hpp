// Labels that have been passed, and what expressions with them and with symbols give so far.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "runtime/isa/gcn/text/file/sections.hpp"
#include "runtime/isa/gcn/text/file/symbols.hpp"

namespace lanewise::gcn {

class Places {
 public:
  using Here = std::function<std::string()>;  ///< makes a label for the place in work
  explicit Places(const Symbols& symbols) : symbols_(symbols) {}

  bool contains(std::string_view name) const { return places_.contains(name); }
  /// Without a section, of .text.
  void add(const std::string& name, const Section* section, uint64_t at) {
    places_[name] = {section, at};
  }
  KnownPlaces known(Here here);

 private:
  static constexpr int kMostAliases = 8;  ///< of symbols whose values are symbols
  std::optional<int64_t> value_of(const Expression& e, const Here& here);
  std::optional<int64_t> value_of_symbol(const std::string& name, const Here& here);

  const Symbols& symbols_;
  std::map<std::string, std::pair<const Section*, uint64_t>, std::less<>> places_;
  int aliases_ = 0;
};

}  // namespace lanewise::gcn
