// Guest registers as scripts name them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/script/case.hpp"

namespace lanewise::script {

struct RegisterPart {
  std::string ir_name;  ///< name of the IR register
  ir::Width width = ir::Width::b32;
};

/// One register or several that hold one value, low word first.
struct Register {
  std::string name;
  std::vector<RegisterPart> parts;
  unsigned bits = 32;  ///< of the value; 1 for predicates
  Takes takes = Takes::any;
  std::optional<ir::Type> as;  ///< how values are shown
  bool exec = false;           ///< a mask of the wave made of one predicate per lane
  unsigned words() const { return static_cast<unsigned>(parts.size()); }
};

/// Problem when the case's ISA has no such register, or PTX did not declare it.
Register resolve_register(const Case& c, const std::string& name, Loc loc);

}  // namespace lanewise::script
