#include "runtime/api/objects/status.hpp"

#include <atomic>
#include <mutex>
#include <utility>

#include "runtime/api/objects/structs.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::host {
namespace {

struct Log {
  std::recursive_mutex mutex;  ///< a callback may call the library
  lw_log_callback callback = nullptr;
  void* user = nullptr;
  std::atomic<int> most = -1;  ///< -1 = nobody observes
};
Log& the_log() {
  static auto* const log = new Log;  // never destroyed: threads may log while the process ends
  return *log;
}

lw_status keep(lw_status status, ErrorDetail detail, const char* message) {
  last().detail = static_cast<lw_detail>(detail);
  last().message = message;
  log(LW_LOG_ERROR, last().message);
  return status;
}

lw_status without_memory() noexcept {
  last().fixed = "the host has no memory left";
  last().detail = LW_DETAIL_HOST_MEMORY;
  return LW_ERROR_USAGE;
}

lw_status report_known() {
  try {
    throw;
  } catch (const CompileError& e) {
    last().file = e.file();
    last().diagnostics = e.diagnostics();
    return keep(LW_ERROR_GUEST, ErrorDetail::rejected, e.what());
  } catch (const Error& e) {
    return keep(static_cast<lw_status>(e.kind()), detail_of(e), e.what());
  } catch (const std::bad_alloc&) {
    return without_memory();
  } catch (const std::exception& e) {
    return keep(LW_ERROR_DEVICE, ErrorDetail::driver, e.what());
  } catch (...) {
    return keep(LW_ERROR_DEVICE, ErrorDetail::driver, "something that is no exception was thrown");
  }
}

}  // namespace

void Last::clear() {
  message.clear();
  fixed = nullptr;
  detail = LW_DETAIL_NONE;
  file.clear();
  diagnostics.clear();
}

Last& last() {
  static thread_local Last* of_thread = nullptr;
  struct End {
    ~End() { delete std::exchange(of_thread, nullptr); }
  };
  if (of_thread == nullptr) {
    // What calls behind it, as destructors of a program at its end do, gets one that stays.
    static thread_local const End end;
    static_cast<void>(&end);
    of_thread = new Last;
  }
  return *of_thread;
}

lw_status report_exception() noexcept {
  try {
    return report_known();
  } catch (...) {
    return without_memory();
  }
}

lw_status report(lw_status status, ErrorDetail detail, const std::string& message) {
  return keep(status, detail, message.c_str());
}

void keep_diagnostics(const std::string& file, std::vector<Diagnostic> found) {
  last().file = file;
  last().diagnostics = std::move(found);
  if (!logs(LW_LOG_WARNING)) return;
  for (const Diagnostic& d : std::vector(last().diagnostics))  // a callback may call the library
    if (d.warning) log(LW_LOG_WARNING, format(file, d));
}

void fail(ErrorDetail detail, const std::string& message) {
  throw DetailedError(ErrorKind::usage, detail, message);
}

bool logs(lw_log_level level) {
  return static_cast<int>(level) <= the_log().most.load(std::memory_order_relaxed);
}

void log(lw_log_level level, const std::string& message) {
  if (!logs(level)) return;
  Log& l = the_log();
  const std::lock_guard lock(l.mutex);
  if (l.callback == nullptr) return;
  const Last kept = last();  // the callback's own calls are not the caller's
  // It may be the very message that the callback replaces.
  const std::string text = message;  // NOLINT(performance-unnecessary-copy-initialization)
  l.callback(level, text.c_str(), l.user);
  last() = kept;
}

}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

const char* lw_version() {
  return program_version();
}

const char* lw_last_error() {
  const Last& l = last();
  return l.fixed != nullptr ? l.fixed : l.message.c_str();
}

lw_detail lw_last_detail() {
  return last().detail;
}

size_t lw_last_diagnostic_count() {
  return last().diagnostics.size();
}

lw_status lw_last_diagnostic(size_t index, lw_diagnostic* out) {
  // The list must survive the question, so this is no guarded() body.
  try {
    required(out, "out");
    const Last& l = last();
    if (index >= l.diagnostics.size())
      return report(LW_ERROR_USAGE, ErrorDetail::out_of_range,
                    "there is no diagnostic of this index");
    const Diagnostic& d = l.diagnostics[index];
    lw_diagnostic value{};
    value.line = d.line;
    value.column = d.column;
    value.is_warning = d.warning ? 1 : 0;
    value.file = d.file.empty() ? l.file.c_str() : d.file.c_str();
    value.message = d.message.c_str();
    write_struct(out, value, "lw_diagnostic");
    return LW_OK;
  } catch (...) {
    return report_exception();
  }
}

void lw_set_log(lw_log_callback callback, lw_log_level most, void* user) {
  auto& l = the_log();
  const std::lock_guard lock(l.mutex);
  l.callback = callback;
  l.user = user;
  l.most = callback != nullptr ? static_cast<int>(most) : -1;
}
