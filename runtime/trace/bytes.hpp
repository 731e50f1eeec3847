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
    char bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) bytes[n++] = static_cast<char>(v | 0x80);
    bytes[n++] = static_cast<char>(v);
    out_.append(bytes, n);
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
  explicit Take(std::string_view in) : at_(in.data()), end_(in.data() + in.size()) {}
  bool done() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  uint8_t byte() {
    if (done()) fail("ends inside an item");
    return static_cast<uint8_t>(*at_++);
  }
  uint64_t u() {
    if (left() >= 10) [[likely]] {  // so many bytes hold any number
      uint64_t v = static_cast<uint8_t>(*at_++);
      if (v < 0x80) [[likely]]
        return v;
      v &= 0x7f;
      for (unsigned shift = 7; shift < 64; shift += 7) {
        const uint64_t b = static_cast<uint8_t>(*at_++);
        v |= (b & 0x7f) << shift;
        if (b < 0x80) return v;
      }
      fail("holds a number of more than 64 bits");
    }
    return u_at_the_end();
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
    const std::string t(at_, n);
    at_ += n;
    return t;
  }
  /// A number that must be below `limit`: an enumeration or a narrow field.
  uint64_t below(uint64_t limit, const char* what) {
    const uint64_t v = u();
    if (v >= limit) [[unlikely]]
      unknown(what, v);
    return v;
  }
  template <class E>
  E one_of(E last, const char* what) {
    return static_cast<E>(below(static_cast<uint64_t>(last) + 1, what));
  }
  [[noreturn, gnu::noinline]] static void fail(const std::string& why) {
    throw Error(ErrorKind::usage, "trace: a block " + why);
  }

 private:
  [[noreturn, gnu::noinline]] static void unknown(const char* what, uint64_t v) {
    fail(std::string("holds an unknown ") + what + " (" + std::to_string(v) + ")");
  }
  [[gnu::noinline]] uint64_t u_at_the_end() {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t b = byte();
      v |= static_cast<uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return v;
    }
    fail("holds a number of more than 64 bits");
  }

  const char *at_, *end_;
};

}  // namespace lanewise::trace
