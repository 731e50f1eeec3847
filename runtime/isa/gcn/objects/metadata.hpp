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
void apply_amdhsa(const AmdhsaValues& values, Kernel& kernel);

/// One argument of the metadata.
void add_parameter(Kernel& kernel, const std::string& name, uint32_t offset, uint32_t size,
                   const std::string& kind, const std::string& type_name);

/// Reads the kernels' argument lists: the words of code objects from version 3 on (amdhsa.kernels,
/// .value_kind: global_buffer), and those of version 2 (Kernels, ValueKind: GlobalBuffer), whose
/// arguments have alignments in place of offsets.
class MetadataReader {
 public:
  /// A line, and where it stands in the file.
  void line(std::string_view text, uint32_t number = 1);
  /// Reads the lines so far; what is wrong with them.
  std::optional<Diagnostic> read();
  /// Gives kernels their parameters; says what is wrong or missing, empty when nothing is.
  std::string apply(std::vector<Kernel>& kernels);
  const std::vector<std::string>& print_formats() const { return print_formats_; }

 private:
  using Fields = std::map<std::string, std::string>;
  struct Entry {
    Fields fields;
    std::vector<Fields> args;
  };
  std::string text_;
  std::vector<uint32_t> lines_;
  std::vector<Entry> entries_;
  std::vector<std::string> print_formats_;
};

}  // namespace lanewise::gcn
