// Macros of an assembly file and what they share with .irp: arguments, and bodies with the
// arguments in place of \names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// Lines of the file that stand for others, and where the first of them is.
struct Body {
  std::string text;
  uint32_t line = 1;
  std::string file;  ///< empty: the assembled file itself
};

struct MacroParameter {
  std::string name;
  std::optional<std::string> otherwise;  ///< its default
  bool required = false, rest = false;   ///< `:req`, `:vararg`
};

struct Macro {
  std::string name;
  std::vector<MacroParameter> parameters;
  Body body;
};

/// How arguments are read: after .altmacro `%expression` stands for its value and `<text>` for a
/// text, and names of parameters need no backslash.
struct ArgumentStyle {
  bool alternate = false;
  std::function<int64_t(Cursor&)> evaluate;
};

/// `name a, b=1, c:req, d:vararg` behind .macro.
Macro read_macro_head(Cursor& in, const ArgumentStyle& style);
/// The values of a call, one for each parameter.
std::vector<std::string> read_call(Cursor& in, const Macro& macro, const ArgumentStyle& style);
/// Any number of values, as .irp has them.
std::vector<std::string> read_values(Cursor& in, const ArgumentStyle& style);
/// A name of the assembler's: letters, digits, `_`, `.`, `$` and `@`; empty where none stands.
std::string_view read_name(Cursor& in);

/// The body with `values` in place of the parameters' names; `\@` is `count` where there is one,
/// and `\()` nothing, which separates names from what follows.
std::string substituted(const std::string& body, const std::vector<MacroParameter>& parameters,
                        const std::vector<std::string>& values, std::optional<uint64_t> count,
                        bool alternate);

}  // namespace lanewise::gcn
