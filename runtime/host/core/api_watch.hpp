// Calls that failed while the program asked for no error (--check api).
#pragma once

#include <string>

namespace lanewise::core {

/// Of the calling thread. `name` is an entry point's, `error` that of the error.
void note_failed_call(const char* name, const std::string& error);
/// The program asked for its last error, or for an error's name or text.
void note_errors_seen();
/// Says more of the call that is about to fail: it is reported whoever looks at it.
void note_misuse(const std::string& what);
/// What nobody has looked at becomes findings of the context.
void report_failed_calls();

}  // namespace lanewise::core
