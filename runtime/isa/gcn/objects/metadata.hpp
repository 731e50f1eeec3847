// The parts of an assembly file that say how kernels are called: .amdhsa_kernel blocks and the YAML
// of .amdgpu_metadata.
#pragma once

#include <initializer_list>
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
/// Mesa reports nothing of arguments; behind them it puts values of the launch.
void add_mesa_values(Kernel& kernel);

/// What metadata say of kernels, as they are read event by event (the names and results are those
/// of nlohmann's readers): argument lists in the words of code objects from version 3 on
/// (amdhsa.kernels, .value_kind: global_buffer), or of version 2 (Kernels, ValueKind:
/// GlobalBuffer), whose arguments have alignments in place of offsets. The rest is passed over.
class Metadata {
 public:
  /// Gives the kernel its parameters; says what is wrong or missing, empty when nothing is.
  std::string apply(Kernel& kernel) const;
  const std::vector<std::string>& print_formats() const { return print_formats_; }
  /// False from where lists and maps stood too deep in each other.
  bool is_shallow() const { return levels_.size() < kMostLevels; }

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(int64_t) { return true; }
  bool number_unsigned(uint64_t n) { return value(std::to_string(n)); }
  bool number_float(double, const std::string&) { return true; }
  bool string(std::string& text) { return value(text); }
  bool binary(const std::vector<uint8_t>&) { return true; }
  bool key(const std::string& name);
  bool start_object(size_t = 0) { return open(true); }
  bool end_object() { return close(); }
  bool start_array(size_t = 0) { return open(false); }
  bool end_array() { return close(); }
  template <class Problem>
  bool parse_error(size_t, const std::string&, const Problem&) {
    return false;
  }

 private:
  static constexpr size_t kMostLevels = 64;
  using Fields = std::map<std::string, std::string>;
  struct Level {
    bool is_map;
    std::string key;  ///< the one in work
  };
  bool open(bool map);
  bool close();
  bool value(const std::string& text);
  bool stands_in(std::initializer_list<std::string_view> keys) const;
  bool in_arguments() const { return stands_in({"amdhsa.kernels", "", ".args", ""}); }

  std::vector<Level> levels_;
  bool version_2_ = false;
  Fields fields_;  ///< of the kernel in work
  std::vector<Fields> args_;
  std::map<std::string, std::vector<std::pair<Fields, std::vector<Fields>>>> kernels_;
  std::vector<std::string> print_formats_;
};

/// The lines of metadata as text.
class MetadataText {
 public:
  /// A line, and where it stands in the file.
  void line(std::string_view text, uint32_t number = 1);
  /// Reads the lines so far; what is wrong with them.
  std::optional<Diagnostic> read(Metadata& to);

 private:
  std::string text_;
  std::vector<uint32_t> lines_;
};

}  // namespace lanewise::gcn
