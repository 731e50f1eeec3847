// Variable-length integers of the trace format: 7 bits a byte, low bits first; signed by zigzag.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/support/error.hpp"

namespace lanewise::trace {

class Put {
 public:
  explicit Put(std::string& out) : out_(out) {}
  void byte(uint8_t v) { out_.push_back(static_cast<char>(v)); }
  void u(uint64_t v) {
    for (; v >= 0x80; v >>= 7) byte(static_cast<uint8_t>(v | 0x80));
    byte(static_cast<uint8_t>(v));
  }
  void s(int64_t v) { u((static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63)); }
  void text(std::string_view t) {
    u(t.size());
    out_.append(t);
  }

 private:
  std::string& out_;
};

/// Reads what Put wrote; running past the end or a number over 64 bits throws Error(usage).
class Take {
 public:
  explicit Take(std::string_view in) : in_(in) {}
  bool done() const { return at_ == in_.size(); }
  size_t left() const { return in_.size() - at_; }
  uint8_t byte() {
    if (done()) fail("ends inside an item");
    return static_cast<uint8_t>(in_[at_++]);
  }
  uint64_t u() {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t b = byte();
      v |= static_cast<uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return v;
    }
    fail("holds a number of more than 64 bits");
  }
  int64_t s() {
    const uint64_t v = u();
    return static_cast<int64_t>((v >> 1) ^ (~(v & 1) + 1));
  }
  /// A count that cannot be larger than the bytes left (every element takes at least one).
  size_t count() {
    const uint64_t n = u();
    if (n > left()) fail("holds a count larger than the block");
    return static_cast<size_t>(n);
  }
  std::string text() {
    const size_t n = count();
    const std::string t(in_.substr(at_, n));
    at_ += n;
    return t;
  }
  /// A number that must be below `limit`: an enumeration or a narrow field.
  uint64_t below(uint64_t limit, const char* what) {
    const uint64_t v = u();
    if (v >= limit) fail(std::string("holds an unknown ") + what + " (" + std::to_string(v) + ")");
    return v;
  }
  template <class E>
  E one_of(E last, const char* what) {
    return static_cast<E>(below(static_cast<uint64_t>(last) + 1, what));
  }
  [[noreturn]] static void fail(const std::string& why) {
    throw Error(ErrorKind::usage, "trace: a block " + why);
  }

 private:
  std::string_view in_;
  size_t at_ = 0;
};

}  // namespace lanewise::trace
