// Data of an assembly file, byte for byte: what stands in .rodata, .data and the like, and between
// instructions.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/isa/gcn/text/expression.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// A value that is known when everything has its place.
struct LateValue {
  uint64_t at = 0;
  size_t size = 8;
  std::string value;  ///< an expression
  uint32_t line = 0;
  std::string from;  ///< macros and files of its line: see Source::placed
};

class DataSection {
 public:
  /// `base`: where its first byte lies in the section.
  explicit DataSection(uint64_t base = 0) : base_(base) {}

  struct Surroundings {
    std::function<std::string(Cursor&)> included;  ///< bytes of a file, for .incbin
    KnownPlaces known;
    std::function<std::string()> here;  ///< a label for the next byte
  };

  static bool is_data(std::string_view directive);
  /// Carries the directive out; throws SyntaxError where it cannot.
  void directive(std::string_view name, Cursor& in, const Surroundings& around);
  void label(std::string_view name) { labels_[std::string(name)] = bytes_.size(); }
  void append(uint64_t value, size_t size);
  void fill(uint64_t count, std::byte value);

  uint64_t end() const { return base_ + bytes_.size(); }
  uint64_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  uint64_t alignment() const { return alignment_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<LateValue>& late() { return late_; }
  /// By name: where the label stands, from the section's first byte on.
  const std::map<std::string, size_t>& labels() const { return labels_; }

 private:
  uint64_t number(Cursor& in) const;
  void numbers(Cursor& in, size_t size);
  void floats(Cursor& in, bool wide);
  void fill(Cursor& in);
  void space(Cursor& in);
  void origin(Cursor& in);
  void align(std::string_view name, Cursor& in);
  void text(Cursor& in, bool ends);
  void leb(Cursor& in, bool is_signed);

  std::vector<std::byte> bytes_;
  std::vector<LateValue> late_;
  std::map<std::string, size_t> labels_;
  uint64_t base_, alignment_ = 1;
  KnownPlaces known_;
  std::function<std::string()> here_;
};

}  // namespace lanewise::gcn
