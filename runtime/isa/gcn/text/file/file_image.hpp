// The bytes of an assembled file as the guest's addresses see them.
#pragma once

#include <functional>
#include <string>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/gcn/text/file/sections.hpp"
#include "runtime/isa/gcn/text/file/symbols.hpp"
#include "runtime/isa/gcn/text/file/text_section.hpp"

namespace lanewise::gcn {

class FileImage {
 public:
  /// Gives everything its place: code in the order of the file, data behind it.
  FileImage(Listing& listing, Symbols& symbols, TextSection& text, Sections& sections);
  /// Code is in memory like anything else: constants may stand in it.
  void write_code(const Kernel& kernel);
  using Report = std::function<void(uint32_t line, std::string message)>;
  /// Differences of places, and addresses, which are those that the loader chooses.
  void write_late_values(const Report& report);

 private:
  Listing& listing_;
  Symbols& symbols_;
  TextSection& text_;
};

}  // namespace lanewise::gcn
