// Which function an instruction belongs to, where a kernel calls some: by the targets of its calls
// that have a name.
#pragma once

#include <map>
#include <string>

#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

class Functions {
 public:
  explicit Functions(const Kernel& kernel);
  /// For Site::function; empty in the kernel's own code.
  std::string declared_name(size_t instruction) const;

 private:
  struct Function {
    std::string name, reported;
  };
  /// The one whose code this is; null for the kernel's own.
  const Function* at(size_t instruction) const;

  std::map<size_t, Function> by_begin_;
};

}  // namespace lanewise::sass
