// printf's formats beside the host's own printf.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "runtime/support/print_format.hpp"

using namespace lanewise;

namespace {

template <typename T>
std::string host(const char* format, T value) {
  char out[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  std::snprintf(out, sizeof out, format, value);
#pragma GCC diagnostic pop
  return out;
}

Conversion only(const std::string& format) {
  const auto chunks = parse_format(format);
  REQUIRE(chunks.size() == 1);
  return chunks[0].conversion;
}

}  // namespace

TEST_CASE("print format: text and conversions") {
  const auto chunks = parse_format("a%%b %-08.3lld|%s%v4hlf");
  REQUIRE(chunks.size() == 5);
  CHECK(chunks[0].text == "a%b ");
  CHECK(chunks[1].conversion == Conversion{.flags = "-0",
                                           .width = "8",
                                           .precision = "3",
                                           .has_precision = true,
                                           .vector = 1,
                                           .length = "ll",
                                           .type = 'd'});
  CHECK(chunks[2].text == "|");
  CHECK(chunks[3].conversion.type == 's');
  CHECK(chunks[3].text == "%s");
  CHECK(chunks[4].conversion.vector == 4);
  CHECK(chunks[4].conversion.length == "hl");
}

TEST_CASE("print format: what is no conversion stays text") {
  for (const char* text : {"100%", "%", "% y", "%5", "%.", "%v5d", "%v", "%l", "%-", "%q"}) {
    CAPTURE(text);
    std::string all;
    for (const FormatChunk& chunk : parse_format(text)) {
      CHECK(chunk.conversion.type == 0);
      all += chunk.text;
    }
    CHECK(all == text);
  }
}

TEST_CASE("print format: integers as the host prints them") {
  for (const long long value :
       {0LL, 1LL, -1LL, 42LL, -2147483648LL, 0x7fffffffLL, 0x80LL, 0xffffLL}) {
    CAPTURE(value);
    const auto bits = static_cast<uint64_t>(value);
    const auto word = static_cast<uint32_t>(bits);
    for (const char* f : {"%d", "%5d", "%-7d|", "%+d", "% d", "%05d", "%.3d", "%i"})
      CHECK(
          format_integer(only(std::string(f).substr(0, std::string(f).find('|'))), word, 4) ==
          host(std::string(f).substr(0, std::string(f).find('|')).c_str(), static_cast<int>(word)));
    for (const char* f : {"%u", "%x", "%#X", "%o", "%08x"})
      CHECK(format_integer(only(f), word, 4) == host(f, word));
    for (const char* f : {"%lld", "%llu", "%llx", "%20lld"})
      CHECK(format_integer(only(f), bits, 8) == host(f, value));
    CHECK(format_integer(only("%hd"), word, 4) == host("%hd", static_cast<short>(word)));
    CHECK(format_integer(only("%hhu"), word, 4) == host("%hhu", static_cast<unsigned char>(word)));
  }
  CHECK(format_integer(only("%c"), 'x', 4) == "x");
  CHECK(format_integer(only("%c"), 0, 4) == std::string(1, '\0'));
  CHECK(format_integer(only("%p"), 0x1234, 8) == host("%p", reinterpret_cast<void*>(0x1234)));
  CHECK(format_integer(only("%p"), 0, 8) == "(nil)");
}

TEST_CASE("print format: floats and strings as the host prints them") {
  for (const double value : {0.0, -0.0, 1.5, -3.25e-9, 6.02214076e23,
                             std::numeric_limits<double>::infinity(), std::nan("")})
    for (const char* f : {"%f", "%e", "%G", "%a", "%8.2f", "%-12.4e", "%+.0f", "%#g"})
      CHECK(format_float(only(f), value) == host(f, value));
  for (const char* f : {"%s", "%8s", "%-8s", "%.2s"})
    CHECK(format_string(only(f), "abc") == host(f, "abc"));
  // A field wider than anybody wants is cut, not made.
  CHECK(format_string(only("%999999999s"), "abc").size() == 4096);
}

TEST_CASE("print format: what a call reads of its arguments") {
  const auto needs = [](const char* format) {
    const VariableArguments a = variable_arguments(format);
    return std::pair(a.bytes, a.count);
  };
  CHECK(needs("plain 100%%") == std::pair<size_t, size_t>(0, 0));
  CHECK(needs("%d") == std::pair<size_t, size_t>(4, 1));
  CHECK(needs("%d %f") == std::pair<size_t, size_t>(16, 2));
  CHECK(needs("%d %d %f %c") == std::pair<size_t, size_t>(20, 4));
  CHECK(needs("%s %lld %hhd") == std::pair<size_t, size_t>(20, 3));
  CHECK(needs("%*.*f") == std::pair<size_t, size_t>(16, 3));
}
