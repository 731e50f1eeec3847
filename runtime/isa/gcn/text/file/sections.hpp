// The sections of an assembly file that hold data, and which one the lines go to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/isa/gcn/text/file/data_section.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// A section's data, and whether a loader brings them to memory.
struct Section {
  std::string name;
  bool loaded = false;
  size_t number = 0;
  DataSection data;
};

class Sections {
 public:
  /// Switches to a section, or back to one; false for other directives. Throws SyntaxError.
  bool directive(std::string_view name, Cursor& in);
  /// The section in work; none is .text.
  Section* current() const { return current_; }
  Section& named(const std::string& name, std::string_view flags);
  /// Of Mesa's, which say how its kernels start.
  bool of_mesa() const { return of_mesa_; }
  const std::vector<std::unique_ptr<Section>>& all() const { return all_; }

 private:
  void read(Cursor& in);

  std::vector<std::unique_ptr<Section>> all_;
  Section* current_ = nullptr;
  std::optional<Section*> previous_;  ///< none before the first change
  std::vector<Section*> pushed_;
  bool of_mesa_ = false;
};

}  // namespace lanewise::gcn
