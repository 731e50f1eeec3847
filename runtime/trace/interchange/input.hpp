// A trace file as a stream of bytes, whatever it is compressed with. The content decides, not the
// name.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <string>

namespace lanewise::trace {

class Input {
 public:
  /// Plain, gzip (RFC 1952), xz or zstd; several compressed members may follow each other. Throws
  /// Error(usage) for a file that cannot be read, and for a compression this build has no library
  /// for.
  explicit Input(const std::string& path);
  ~Input();

  /// Reads throw Error(usage) where compressed data is damaged. Data that ends early is an end.
  std::istream& stream() const { return *stream_; }
  /// True once the end was met inside compressed data.
  bool cut() const;

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::istream> stream_;
};

/// While it lives, every Input of this thread says how much of its file was read.
class ReportProgress {
 public:
  using Listener = std::function<void(uint64_t done, uint64_t whole)>;
  explicit ReportProgress(const Listener& listener);
  ~ReportProgress();
  ReportProgress(const ReportProgress&) = delete;
  ReportProgress& operator=(const ReportProgress&) = delete;

 private:
  const Listener* before_;
};

/// While it lives, what every Input of this thread reads of its file goes into one hash.
class HashContent {
 public:
  HashContent();
  ~HashContent();
  HashContent(const HashContent&) = delete;
  HashContent& operator=(const HashContent&) = delete;
  uint64_t value() const { return value_; }

 private:
  friend class Input;
  HashContent* before_;
  uint64_t value_;
};

/// "run.traceg.xz" -> "run.traceg"
std::string without_compression(const std::string& name);

}  // namespace lanewise::trace
