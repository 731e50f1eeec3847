// Errors of the public API.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lanewise {

/// What went wrong, as the exit code of the command line says it.
enum class ErrorKind : uint8_t {
  guest = 1,   ///< the input program is wrong or a check failed
  usage = 2,   ///< wrong arguments, unreadable or malformed host files
  device = 3,  ///< no such device, driver failure, device lost
  budget = 4,  ///< time or step budget exceeded
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// A message about a place in an input program. line and column count from 1; 0 = unknown.
struct Diagnostic {
  uint32_t line = 0;
  uint32_t column = 0;
  std::string message;  ///< what is wrong, and what was expected
  bool warning = false;
  std::string file = {};  ///< of several that were linked; empty: the one that was asked about
};

namespace detail {
/// Words that no name is as long as are cut: a message quotes what it is about, and a file may hold
/// one token of ten megabytes.
inline std::string cut_long_words(std::string_view text) {
  constexpr size_t kLongest = 1000, kKept = 100;  // mangled names and paths are shorter
  std::string out;
  while (!text.empty()) {
    const size_t found = text.find_first_of(" \t\n");
    const size_t end = found == std::string_view::npos ? text.size() : found;
    const std::string_view word = text.substr(0, end);
    if (word.size() <= kLongest) {
      out += word;
    } else {
      out.append(word.substr(0, kKept)).append("... (").append(std::to_string(word.size()));
      out.append(" characters) ...").append(word.substr(word.size() - kKept / 4));
    }
    const size_t behind = text.find_first_not_of(" \t\n", end);
    const size_t next = behind == std::string_view::npos ? text.size() : behind;
    out += text.substr(end, next - end);
    text.remove_prefix(next);
  }
  return out;
}
}  // namespace detail

/// "FILE:LINE:COL: error: message" (or "warning:").
inline std::string format(const std::string& file, const Diagnostic& d) {
  std::string out = d.file.empty() ? file : d.file;
  out.append(":").append(std::to_string(d.line)).append(":").append(std::to_string(d.column));
  return out.append(d.warning ? ": warning: " : ": error: ")
      .append(detail::cut_long_words(d.message));
}

/// Thrown when an input program is rejected: every defect that was found, in line order.
/// what() holds them all, one "FILE:LINE:COL: error: ..." a line.
class CompileError : public Error {
 public:
  CompileError(std::string file, std::vector<Diagnostic> diagnostics)
      : Error(ErrorKind::guest, joined(file, diagnostics)),
        file_(std::move(file)),
        diagnostics_(std::move(diagnostics)) {}
  const std::string& file() const { return file_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  static std::string joined(const std::string& file, const std::vector<Diagnostic>& diagnostics) {
    std::string all;
    for (const Diagnostic& d : diagnostics) {
      if (!all.empty()) all += '\n';
      all += format(file, d);
    }
    return all;
  }

  std::string file_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace lanewise
