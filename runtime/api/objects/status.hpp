// Nothing thrown leaves a C function: it becomes a status, a message and a detail of the thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lanewise/error_detail.hpp"
#include "lanewise/lanewise.h"

namespace lanewise::host {

/// What a thread's last call left behind.
struct Last {
  std::string message;
  const char* fixed = nullptr;  ///< in place of the message when there was no memory for one
  lw_detail detail = LW_DETAIL_NONE;
  std::string file;  ///< that the diagnostics are of
  std::vector<Diagnostic> diagnostics;

  void clear();
};
Last& last();

/// What the exception that is being handled means. Call it in a catch block.
lw_status report_exception() noexcept;

/// A status of its own that is no exception, with its message.
lw_status report(lw_status status, ErrorDetail detail, const std::string& message);

/// The body of every function that returns a status: what it throws is reported, what it returns (a
/// status) is passed on.
template <typename Body>
lw_status guarded(const Body& body) noexcept {
  try {
    last().clear();
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return LW_OK;
    } else {
      return body();
    }
  } catch (...) {
    return report_exception();
  }
}

/// The body of functions that answer without a status: `otherwise` when something goes wrong. The
/// last error stays as it is.
template <typename T, typename Body>
T quiet(T otherwise, const Body& body) noexcept {
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}

/// What was found in a program that was not rejected: diagnostics of the thread; warnings are
/// logged.
void keep_diagnostics(const std::string& file, std::vector<Diagnostic> found);

[[noreturn]] void fail(ErrorDetail detail, const std::string& message);

/// Throws when the pointer is null.
template <typename T>
T* required(T* pointer, const char* what) {
  if (pointer == nullptr)
    fail(ErrorDetail::null_argument, std::string(what) + " is NULL, which is not allowed here");
  return pointer;
}

/// Zero bytes may come from nowhere.
template <typename Byte, typename Data>
std::span<Byte> span_of(Data* data, uint64_t bytes) {
  if (bytes != 0) required(data, "data");
  return {static_cast<Byte*>(data), static_cast<size_t>(bytes)};
}
inline std::string text_or(const char* text, const char* otherwise = "") {
  return text != nullptr ? text : otherwise;
}

/// Does somebody observe messages of the level? Worth asking before one is put together.
bool logs(lw_log_level level);
void log(lw_log_level level, const std::string& message);

}  // namespace lanewise::host
