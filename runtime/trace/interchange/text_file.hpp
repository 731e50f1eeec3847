// Line by line through a text file, and errors that say where.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/error.hpp"
#include "runtime/trace/interchange/input.hpp"

namespace lanewise::trace {

class TextFile {
 public:
  explicit TextFile(const std::string& path) : path_(path), in_(path) {}
  /// False at the end. A carriage return at the end of a line is dropped. A file of some kilobytes
  /// may unpack to one line of gigabytes, so lines have a limit.
  bool next() {
    std::istream& in = in_.stream();
    line_.clear();
    bool more = true;
    while (more) {
      in.getline(chunk_.data(), static_cast<std::streamsize>(chunk_.size()));
      const bool ended = !in.fail() && !in.eof();  // with the line break, which is counted
      line_.append(chunk_.data(), static_cast<size_t>(in.gcount()) - (ended ? 1 : 0));
      more = in.fail() && !in.eof() && in.gcount() != 0;
      if (more) in.clear();
      if (line_.size() > kMaxLine) {
        ++number_;
        fail(fmt::format("the line is longer than {} bytes", kMaxLine));
      }
    }
    if (in.eof() && line_.empty()) return false;
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    ++number_;
    return true;
  }
  /// True when the file has ended without a line break behind this line: it may be a part of one.
  bool unfinished_line() const { return in_.stream().eof(); }
  /// The file's compressed data end too early. Known at the end.
  bool cut() const { return in_.cut(); }
  const std::string& line() const { return line_; }
  const std::string& path() const { return path_; }
  uint64_t number() const { return number_; }
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::usage, fmt::format("{}:{}: {}", path_, number_, why));
  }

 private:
  static constexpr size_t kMaxLine = size_t{1} << 20;

  std::string path_;
  Input in_;
  std::vector<char> chunk_ = std::vector<char>(size_t{1} << 14);
  std::string line_;
  uint64_t number_ = 0;
};

/// The words of a line, one after the other.
class Words {
 public:
  Words(const TextFile& file, std::string_view text) : file_(file), text_(text) {}
  bool done() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t'))
      text_.remove_prefix(1);
    return text_.empty();
  }
  std::string_view word(const char* what) {
    if (done()) file_.fail(fmt::format("expected {}, found the end of the line", what));
    const size_t end = std::min(text_.find_first_of(" \t"), text_.size());
    const std::string_view w = text_.substr(0, end);
    text_.remove_prefix(end);
    return w;
  }
  uint64_t hex(const char* what) {
    std::string_view w = word(what);
    const std::string_view all = w;
    if (w.size() > 2 && w[0] == '0' && (w[1] == 'x' || w[1] == 'X')) w.remove_prefix(2);
    return parse<uint64_t>(w, 16, all, what);
  }
  uint64_t decimal(const char* what) {
    const std::string_view w = word(what);
    return parse<uint64_t>(w, 10, w, what);
  }
  int64_t signed_decimal(const char* what) {
    const std::string_view w = word(what);
    return parse<int64_t>(w, 10, w, what);
  }

 private:
  template <class T>
  T parse(std::string_view digits, int base, std::string_view all, const char* what) {
    T v{};
    const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), v, base);
    if (r.ec != std::errc{} || r.ptr != digits.data() + digits.size())
      file_.fail(fmt::format("expected {}, found '{}'", what, all));
    return v;
  }
  const TextFile& file_;
  std::string_view text_;
};

}  // namespace lanewise::trace
