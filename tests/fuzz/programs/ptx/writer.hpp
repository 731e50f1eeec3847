// PTX as compilers write it: the parts of the printer.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/fuzz/programs/print.hpp"

namespace lanewise::programs::ptx {

/// What operations across lanes name as their members. What the tree holds together is what sm_60
/// takes whatever the mask; from sm_70 on an operation waits for its members, so they are the lanes
/// that are active.
enum class Masks : uint8_t { none, all, active };

/// Text, and names that are used once.
class Writer {
 public:
  Writer(const Program& program, const Style& style, std::string prefix)
      : program(program), style(style), random(style.seed), prefix_(std::move(prefix)) {}

  template <typename... Args>
  void line(const std::string& format, const Args&... args) {
    text += "  " + fmt::format(fmt::runtime(format), args...) + ";\n";
  }
  void label(const std::string& name) { text += name + ":\n"; }
  std::string new_label(const std::string& what) {
    return fmt::format("{}_{}{}", what, prefix_, labels_++);
  }
  std::string word() { return fmt::format("%t{}", words_++); }
  std::string wide() { return fmt::format("%w{}", wides_++); }
  std::string predicate() { return fmt::format("%p{}", predicates_++); }
  static std::string reg(uint32_t number) { return fmt::format("%r{}", number); }
  static std::string operand(const Operand& o) {
    return o.immediate ? fmt::format("{}", static_cast<int32_t>(o.value)) : reg(o.value);
  }
  std::string declarations(uint32_t registers) const;

  const Program& program;
  const Style& style;
  Random random;
  Masks masks = Masks::none;
  std::string text;

 private:
  std::string prefix_;
  uint32_t labels_ = 0, words_ = 0, wides_ = 0, predicates_ = 0;
};

/// A predicate register with the value of the condition.
std::string test(Writer& w, const Condition& c);
/// "@%p0 " for a guard, computed here; empty for none.
std::string guard(Writer& w, const Guard& g);
/// Address of word `index` behind `base`.
std::string element(Writer& w, const std::string& base, const std::string& index);

/// Statements without control flow. `lead` is a guard of the surrounding if, as text; only
/// statements without one of their own have it.
bool is_plain(const Statement& s);
void plain(Writer& w, const Statement& s, const std::string& lead = {});
void cross(Writer& w, const Cross& s);
void exchange(Writer& w, const Exchange& s);
void combine(Writer& w, const Combine& s);
void pool(Writer& w, const Pool& s);

}  // namespace lanewise::programs::ptx
