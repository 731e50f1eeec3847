// The program's standard streams: one may be closed, full, or a pipe whose reader is gone.
#pragma once

#include <fmt/format.h>

#include <csignal>
#include <string_view>
#include <utility>

namespace lanewise::cli {

/// Before anything else: a closed stream is filled in, so that no file of ours becomes standard
/// output, and a write that cannot succeed becomes an error instead of a signal.
void guard_streams();

/// As they were before guard_streams(), for a program that takes this one's place.
void restore_streams();

/// Of a program whose standard output nobody reads any more (`lanewise ... | head -1`).
inline constexpr int kReaderLeft = 128 + SIGPIPE;
/// Has a write found that so?
bool reader_left();
/// Ends the process as the signal does that other programs get for it.
[[noreturn]] void end_without_reader();

/// To standard error. Where nobody reads it, the exit code has to do.
void say_text(std::string_view text);

template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  say_text(fmt::format(format, std::forward<Args>(args)...));
}

/// A write to standard output failed: the exit code, after one message with the system's reason.
int output_failed(int reason);

/// The exit code once all output is out: `code`, or, where standard output did not take what a run
/// that was fine had to say, 2 with a message, kReaderLeft without one.
int deliver_output(int code);

}  // namespace lanewise::cli
