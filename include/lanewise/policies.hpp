// The policies of a launch that ran.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace lanewise {

/// Policies by name, with their values: a map that nobody changes, so that copies share it.
class PoliciesInForce {
 public:
  using Map = std::map<std::string, std::string>;
  using key_type = Map::key_type;
  using mapped_type = Map::mapped_type;
  using value_type = Map::value_type;
  using const_iterator = Map::const_iterator;
  using iterator = const_iterator;

  PoliciesInForce() = default;
  PoliciesInForce(Map map)  // NOLINT: meant to convert
      : shared_(std::make_shared<const Shared>(std::move(map))) {}
  PoliciesInForce(std::initializer_list<value_type> list) : PoliciesInForce(Map(list)) {}

  const Map& map() const { return shared().map; }
  operator const Map&() const { return map(); }  // NOLINT: meant to convert
  /// NAME=VALUE, one a line.
  const std::string& lines() const { return shared().lines; }

  const_iterator begin() const { return map().begin(); }
  const_iterator end() const { return map().end(); }
  size_t size() const { return map().size(); }
  bool empty() const { return map().empty(); }
  const_iterator find(const std::string& name) const { return map().find(name); }
  size_t count(const std::string& name) const { return map().count(name); }
  bool contains(const std::string& name) const { return map().contains(name); }
  const std::string& at(const std::string& name) const { return map().at(name); }

  bool operator==(const PoliciesInForce& other) const {
    return shared_ == other.shared_ || map() == other.map();
  }

 private:
  struct Shared {
    Map map;
    std::string lines;
    Shared() = default;
    explicit Shared(Map m) : map(std::move(m)) {
      for (const auto& [name, value] : map)
        lines.append(name).append("=").append(value).append("\n");
    }
  };
  const Shared& shared() const {
    static const Shared none;
    return shared_ != nullptr ? *shared_ : none;
  }
  std::shared_ptr<const Shared> shared_;
};

}  // namespace lanewise
