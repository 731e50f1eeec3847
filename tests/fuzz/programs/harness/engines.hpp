// The devices of a campaign. Engines are not thread-safe, so each thread opens its own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/guest/engine.hpp"

namespace lanewise::programs {

struct Target {
  std::string label;     ///< "reference", "lavapipe", "swiftshader", ...
  std::string selector;  ///< how the device is found
};
/// all: the reference engine and the software drivers of the tests; else one of these, or any
/// device with this part in its name.
std::vector<Target> targets(const std::string& device);

class Engines {
 public:
  Engine& at(const Target& target);

 private:
  struct Open {
    std::unique_ptr<Engine> engine;
    unsigned runs = 0;
  };
  std::map<std::string, Open> open_;
};

}  // namespace lanewise::programs
