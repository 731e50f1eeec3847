// The parts of an assembly file that say how kernels are called: .amdhsa_kernel blocks and the YAML
// of .amdgpu_metadata.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/isa/gcn/gcn.hpp"

namespace lanewise::gcn {

/// Values of the .amdhsa_ directives, without the prefix.
using AmdhsaValues = std::map<std::string, uint64_t>;
/// Directives that lead to registers or modes we model, or that say nothing about execution.
bool known_amdhsa(const std::string& key);
void apply_amdhsa(const AmdhsaValues& values, Kernel& kernel);

/// One argument of the metadata.
void add_parameter(Kernel& kernel, const std::string& name, uint32_t offset, uint32_t size,
                   const std::string& kind, const std::string& type_name);

/// Reads the kernels' argument lists line by line: the words of code objects from version 3 on
/// (amdhsa.kernels, .value_kind: global_buffer), and those of version 2 (Kernels, ValueKind:
/// GlobalBuffer), whose arguments have alignments in place of offsets. Of YAML it knows what
/// compilers write: lists and maps by indentation.
class MetadataReader {
 public:
  /// What is wrong with the line; empty when nothing is.
  std::string line(std::string_view text);
  /// Gives kernels their parameters; says what is missing, empty when nothing is.
  std::string apply(std::vector<Kernel>& kernels) const;
  const std::vector<std::string>& print_formats() const { return print_formats_; }

 private:
  struct Argument {
    std::map<std::string, std::string> fields;
  };
  struct Entry {
    std::map<std::string, std::string> fields;
    std::vector<Argument> args;
  };
  std::vector<Entry> entries_;
  std::optional<size_t> first_item_;  ///< where the dashes of kernels stand
  std::vector<std::string> print_formats_;
  bool in_kernels_ = false, in_args_ = false, in_formats_ = false, version_2_ = false;
};

}  // namespace lanewise::gcn
