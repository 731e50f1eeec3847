// The code of an assembly file: kernels and functions one after another, data and alignment
// between them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/gcn/text/file/data_section.hpp"
#include "runtime/isa/gcn/text/file/directives.hpp"

namespace lanewise::gcn {

class TextSection {
 public:
  /// `declared`: names that directives anywhere in the file call functions or kernels.
  TextSection(Listing& listing, const std::set<std::string, std::less<>>& declared)
      : listing_(listing), declared_(declared) {}

  /// All of these throw SyntaxError. `line` is where they stand in the file.
  void label(std::string_view name, uint32_t line);
  void instruction(Instruction i, uint32_t line, uint32_t column);
  void align(const Alignment& a, uint32_t line);
  /// Data between instructions, which may be machine code by its words: `fill` appends them.
  void data(uint32_t line, const std::function<void(DataSection&)>& fill);
  /// What is still open at the end.
  void finish();

  /// The kernel in work; code without a label is one named "stream".
  Kernel& kernel();
  /// Where the next byte goes, alignments that wait included.
  uint64_t here(uint32_t line);
  uint64_t end_of_code() const;
  /// Where labels stand that are known by their address alone.
  const std::map<std::string, uint64_t>& data_labels() const { return data_labels_; }
  std::vector<LateValue>& late() { return late_; }
  /// Kernels in name only: labels in front of data that no code ends.
  bool holds_data_only(const Kernel& k) const;

 private:
  bool starts_kernel(std::string_view name) const;
  void begin_kernel(std::string_view name);
  void pad(uint32_t line);
  uint64_t take_padding(uint64_t bytes, uint64_t most);
  void end_data();
  void decode_data(const DataSection& data, const std::vector<bool>& late);
  void add(Instruction i, uint32_t line, uint32_t column);

  static constexpr uint64_t kMostPadding = uint64_t{1} << 20, kMostGaps = uint64_t{1} << 24,
                            kMostData = uint64_t{2} << 20;
  Listing& listing_;
  const std::set<std::string, std::less<>>& declared_;
  std::set<std::string, std::less<>> branched_to_;  ///< by the kernel in work, so far
  std::set<std::string, std::less<>> with_code_;    ///< kernels that have instructions as text
  std::vector<Alignment> alignments_;               ///< in front of what comes next
  uint64_t padding_ = 0, data_bytes_ = 0;
  std::optional<DataSection> run_;  ///< data so far, behind the last instruction
  uint32_t run_line_ = 0;
  std::map<std::string, uint64_t> data_labels_;
  std::vector<LateValue> late_;
};

}  // namespace lanewise::gcn
