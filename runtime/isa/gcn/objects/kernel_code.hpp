// The block .amd_kernel_code_t of assembly files: the header of a kernel under Mesa and before
// version 3 of code objects, one field a line.
#pragma once

#include <string>
#include <string_view>

#include "runtime/isa/gcn/objects/metadata.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

class KernelCodeBlock {
 public:
  /// Fields that nobody writes are 0, as the assembler leaves them.
  KernelCodeBlock();
  /// `name = value`; throws where that is not what stands there. Values are cut to their fields,
  /// the last one of a field counts; what a cut value has become is the warning that is returned.
  std::string line(Cursor& in);
  const AmdhsaValues& values() const { return values_; }
  /// Why no launch here can be as the block asks; empty where one can. Such kernels assemble.
  const std::string& problem() const { return problem_; }
  /// The first number of the target's version, 0 where the block names none.
  int64_t machine() const { return static_cast<int64_t>(machine_); }

 private:
  AmdhsaValues values_;
  std::string problem_;
  uint64_t machine_ = 0;
};

}  // namespace lanewise::gcn
