// Data of an assembly file: what stands in .rodata, .data and the like, byte for byte.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

class DataSection {
 public:
  static bool holds_data(std::string_view section) {
    return section.starts_with(".rodata") || section.starts_with(".data") ||
           section.starts_with(".bss");
  }
  void label(std::string_view name) { labels_[std::string(name)] = bytes_.size(); }
  /// Carries the directive out; throws SyntaxError where it cannot, false where it holds no data.
  bool directive(std::string_view name, Cursor& in);

  const std::vector<std::byte>& bytes() const { return bytes_; }
  const std::map<std::string, size_t>& labels() const { return labels_; }

 private:
  void append(uint64_t value, size_t size);
  void numbers(Cursor& in, size_t size);
  void fill(Cursor& in);
  void align(std::string_view name, Cursor& in);
  void text(Cursor& in, bool ends);

  std::vector<std::byte> bytes_;
  std::map<std::string, size_t> labels_;
};

}  // namespace lanewise::gcn
