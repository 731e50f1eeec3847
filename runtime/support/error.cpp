#include "lanewise/error.hpp"

#include <fmt/format.h>

#include "runtime/support/message.hpp"

namespace lanewise {
namespace {

std::string join(const std::string& file, const std::vector<Diagnostic>& diagnostics) {
  std::string all;
  for (const Diagnostic& d : diagnostics) {
    if (!all.empty()) all += '\n';
    all += format(file, d);
  }
  return all;
}

}  // namespace

CompileError::CompileError(std::string file, std::vector<Diagnostic> diagnostics)
    : Error(ErrorKind::guest, join(file, diagnostics)),
      file_(std::move(file)),
      diagnostics_(std::move(diagnostics)) {}

std::string format(const std::string& file, const Diagnostic& d) {
  const char* severity = d.warning ? "warning" : "error";
  return fmt::format("{}:{}:{}: {}: {}", file, d.line, d.column, severity,
                     cut_long_words(d.message));
}

}  // namespace lanewise
