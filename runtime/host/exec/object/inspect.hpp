// What a program or library is to `lanewise exec`: whether it can be taken over, and if not, why
// and what to do. Used by the command and, in the program itself, by the library that takes it
// over.
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/host/exec/object/mapped_object.hpp"

namespace lanewise::exec {

/// A sentence without allocations.
class Line {
 public:
  Line& operator<<(std::string_view text);
  Line& operator<<(unsigned number);
  std::string_view text() const { return {text_, size_}; }
  bool empty() const { return size_ == 0; }

 private:
  char text_[2048];
  size_t size_ = 0;
};

/// CUDA's entry points as programs of 11, 12 or 13 expect them.
enum class CudaMajor : unsigned { none = 0, cuda11 = 11, cuda12 = 12, cuda13 = 13 };

/// A name of the runtime that programs call, as a text of its own; null for any other.
const char* runtime_name(std::string_view name);
/// An entry point of a runtime that is linked into the object: in a program they are the archive's,
/// which hides them; a shared runtime exports its own. Null for any other symbol.
const char* linked_entry(const Elf64_Sym& symbol, std::string_view name);
/// Which runtime is linked into the object, by the names that it has.
CudaMajor static_runtime(const MappedObject& object);
/// "libcudart.so.12", "libcudart-ab12.so.11.0": which shared runtime a file name stands for.
CudaMajor shared_runtime(std::string_view file_name);

/// Why this object cannot be run as a program, and the remedy; empty when it can. `path` is what
/// messages call it.
Line refusal(const MappedObject& object, std::string_view path);

/// "libcuda.so.1"
bool is_driver(std::string_view file_name);
/// "libamdhip64.so.5"
bool is_hip(std::string_view file_name);

/// Of a library that is loaded by name: the vendor's library that it stands for, or empty.
std::string_view vendor_library(std::string_view file_name);

}  // namespace lanewise::exec
