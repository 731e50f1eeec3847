// Devices that take turns: of the cases that several of them would run, each runs on one of them.
// LANEWISE_TEST_TURNS names the test and those devices, the one of this program first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>

#include "tests/support/exclusions.hpp"

namespace lanewise::test {

class Turns {
 public:
  /// `turns`: "kernels llvmpipe25 llvmpipe", or nullptr for none.
  explicit Turns(const char* turns) {
    std::istringstream words(turns == nullptr ? "" : turns);
    std::string test;
    words >> test >> own_;
    std::vector<std::string> names(std::istream_iterator<std::string>(words), {});
    if (names.empty()) return;
    names.push_back(own_);
    std::ranges::sort(names);
    for (const std::string& device : names)
      devices_.push_back({device, excluded_patterns(test, "case", device),
                          excluded_patterns(test, "file", device)});
  }

  /// The case's name alone decides, so that a new case or exclusion moves no other case to another
  /// device. A case that this device leaves out altogether is not its business here.
  bool runs(const std::string& file, const std::string& name) const {
    const std::string stem = std::filesystem::path(file).stem().string();
    std::vector<std::string_view> able;
    for (const Device& d : devices_)
      if (!is_excluded(d.cases, name) && !is_excluded(d.files, stem)) able.push_back(d.name);
    if (able.size() < 2) return true;
    return able[hash(name) % able.size()] == own_ || std::ranges::find(able, own_) == able.end();
  }

 private:
  struct Device {
    std::string name;
    std::vector<std::string> cases, files;
  };
  // FNV-1a: std::hash may differ from one library to the next.
  static uint64_t hash(std::string_view name) {
    uint64_t h = 0xcbf29ce484222325;
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return h ^ h >> 32;
  }

  std::string own_;
  std::vector<Device> devices_;
};

}  // namespace lanewise::test
