#include "runtime/isa/gcn/text/file/data_section.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "runtime/isa/gcn/text/file/directives.hpp"

namespace lanewise::gcn {
namespace {

constexpr size_t kMost = size_t{1} << 26;

struct Sized {
  std::string_view name;
  size_t size;
};
constexpr Sized kNumbers[] = {{".byte", 1},  {".dc.b", 1},  {".short", 2}, {".value", 2},
                              {".hword", 2}, {".2byte", 2}, {".dc", 2},    {".dc.w", 2},
                              {".long", 4},  {".int", 4},   {".4byte", 4}, {".dc.l", 4},
                              {".quad", 8},  {".8byte", 8}, {".dc.a", 8},  {".octa", 16}};
constexpr Sized kRealNumbers[] = {
    {".float", 4}, {".single", 4}, {".dc.s", 4}, {".double", 8}, {".dc.d", 8}};

template <size_t N>
size_t size_of(const Sized (&names)[N], std::string_view name) {
  for (const Sized& s : names)
    if (s.name == name) return s.size;
  return 0;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int letter = std::tolower(static_cast<unsigned char>(c));
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 99;
}

char escaped(Cursor& in) {
  const size_t at = in.at();
  const char c = in.peek();
  const bool hex = c == 'x' || c == 'X';
  if (hex) in.seek(at + 1);
  const int base = hex ? 16 : 8;
  int digits = 0;
  unsigned n = 0;
  for (; digit_of(in.peek()) < base && (hex || digits < 3); ++digits) {
    n = n * static_cast<unsigned>(base) + static_cast<unsigned>(digit_of(in.peek()));
    in.seek(in.at() + 1);
  }
  if (digits != 0) return static_cast<char>(n & 255);
  constexpr std::string_view kLetters = "bfnrt\"\\", kMeant = "\b\f\n\r\t\"\\";
  const size_t which = kLetters.find(c);
  if (hex || c == '\0' || which == std::string_view::npos)
    Cursor::fail_at(at, "no text has such a character behind '\\'");
  in.seek(at + 1);
  return kMeant[which];
}

double read_double(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  const bool minus = in.take('-');
  if (!minus) in.take('+');
  const std::string text(in.until(" \t\r,"));
  for (const char* name : {"infinity", "inf", "nan"})
    if (text == name) {
      const double n = name[0] == 'n' ? std::numeric_limits<double>::quiet_NaN()
                                      : std::numeric_limits<double>::infinity();
      return minus ? -n : n;
    }
  char* end = nullptr;
  const double n = std::strtod(text.c_str(), &end);
  const bool hex = text.starts_with("0x") && text.find('p') == std::string::npos;
  if (text.empty() || *end != '\0' || hex || std::isalpha(static_cast<unsigned char>(text[0])) != 0)
    Cursor::fail_at(at, "expected a floating-point number" + in.found(at));
  return minus ? -n : n;
}

/// Rounded once: a double between would round twice.
float read_single(Cursor& in) {
  Cursor again = in;
  const double wide = read_double(in);
  if (std::isnan(wide) || std::isinf(wide)) return static_cast<float>(wide);
  again.skip_blanks();
  return std::strtof(std::string(again.until(" \t\r,")).c_str(), nullptr);
}

}  // namespace

uint64_t DataSection::number(Cursor& in) const {
  return static_cast<uint64_t>(read_constant(in, "a number", known_));
}

void DataSection::fill(uint64_t count, std::byte value) {
  if (count > kMost - std::min<uint64_t>(kMost, bytes_.size()))
    Cursor::fail_value(0, "more than 64 MiB of data");
  bytes_.insert(bytes_.end(), count, value);
}

void DataSection::append(uint64_t value, size_t size) {
  if (bytes_.size() > kMost) Cursor::fail_value(0, "more than 64 MiB of data");
  for (size_t n = 0; n < size; ++n)
    bytes_.push_back(static_cast<std::byte>(n < 8 ? value >> (8 * n) & 255 : 0));
}

/// What symbols stand in is computed when they have their places.
void DataSection::numbers(Cursor& in, size_t size) {
  if (in.done()) return;
  do {
    in.skip_blanks();
    const size_t at = in.at();
    const std::string_view whole = in.rest();
    Expression e = read_expression(in, known_);
    if (!e.is_number() && !e.deferred && known_)
      if (const auto n = known_(e)) {
        e = Expression();
        e.number = *n;
      }
    if (!e.is_number()) {
      if (size < 4 || size > 8) Cursor::fail_value(at, "symbols need 4 or 8 bytes");
      std::string value(whole.substr(0, in.at() - at));
      if (uses_here(value)) value = with_here(value, here_());
      late_.push_back({bytes_.size(), size, std::move(value), 0, {}});
      append(0, size);
      continue;
    }
    const auto bits = static_cast<unsigned>(8 * size);
    const int64_t n = e.number;
    if (size < 8 && (n >> bits) != 0 && (n >> (bits - 1)) != -1)
      Cursor::fail_value(at, "number does not fit in " + std::to_string(bits) + " bits");
    append(static_cast<uint64_t>(n), size);
  } while (in.take(','));
}

void DataSection::floats(Cursor& in, bool wide) {
  if (in.done()) return;
  do
    wide ? append(std::bit_cast<uint64_t>(read_double(in)), 8)
         : append(std::bit_cast<uint32_t>(read_single(in)), 4);
  while (in.take(','));
}

/// `.fill count, size, value`: four bytes of the value, zeros behind.
void DataSection::fill(Cursor& in) {
  const int64_t count = read_constant(in, "a count", known_);
  const size_t at = in.at();
  const int64_t size = in.take(',') ? read_constant(in, "a size", known_) : 1;
  const uint64_t value = in.take(',') ? number(in) & 0xffffffff : 0;
  if (size < 0) Cursor::fail_value(at, "expected a size of 0 to 8");
  const auto bytes = static_cast<size_t>(std::min<int64_t>(size, 8));
  if (count > 0 && bytes != 0 && static_cast<uint64_t>(count) > kMost / bytes)
    Cursor::fail_value(0, "more than 64 MiB of data");
  for (int64_t n = 0; n < count && bytes != 0; ++n) append(value, bytes);
}

void DataSection::space(Cursor& in) {
  const int64_t count = read_constant(in, "a count", known_);
  const uint64_t value = in.take(',') ? number(in) : 0;
  if (count > 0) fill(static_cast<uint64_t>(count), static_cast<std::byte>(value & 255));
}

/// `.org offset, fill`, from the section's begin and forward alone.
void DataSection::origin(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  const int64_t to = read_constant(in, "an offset", known_);
  const uint64_t value = in.take(',') ? number(in) : 0;
  if (to < static_cast<int64_t>(end()))
    Cursor::fail_value(at, "the section is longer than that already");
  fill(static_cast<uint64_t>(to) - end(), static_cast<std::byte>(value & 255));
}

void DataSection::align(std::string_view name, Cursor& in) {
  const Alignment a = read_alignment(name, in);
  alignment_ = std::max(alignment_, a.to);
  for (uint64_t gap = a.gap(end()); gap != 0; --gap)
    append(a.fill >> (8 * ((a.width - gap % a.width) % a.width)), 1);
}

void DataSection::text(Cursor& in, bool ends) {
  if (in.done()) return;
  do {
    in.skip_blanks();
    in.expect('"', "before the text");
    while (in.peek() != '"' && in.peek() != '\0') {
      char c = in.peek();
      in.seek(in.at() + 1);
      if (c == '\\') c = escaped(in);
      append(static_cast<unsigned char>(c), 1);
    }
    in.expect('"', "behind the text");
    if (ends) append(0, 1);
  } while (in.take(','));
}

void DataSection::leb(Cursor& in, bool is_signed) {
  if (in.done()) return;
  do {
    int64_t n = read_constant(in, "a number", known_);
    for (bool more = true; more;) {
      const auto low = static_cast<uint64_t>(n) & 127;
      n = is_signed ? n >> 7 : static_cast<int64_t>(static_cast<uint64_t>(n) >> 7);
      more = is_signed ? n != ((low & 64) != 0 ? -1 : 0) : n != 0;
      append(low | (more ? 128 : 0), 1);
    }
  } while (in.take(','));
}

bool DataSection::is_data(std::string_view name) {
  constexpr std::string_view kOthers[] = {".zero",    ".skip",    ".space", ".fill",
                                          ".org",     ".ascii",   ".asciz", ".string",
                                          ".sleb128", ".uleb128", ".incbin"};
  return size_of(kNumbers, name) != 0 || size_of(kRealNumbers, name) != 0 || is_alignment(name) ||
         std::ranges::find(kOthers, name) != std::end(kOthers);
}

void DataSection::directive(std::string_view name, Cursor& in, const Surroundings& around) {
  known_ = around.known;
  here_ = around.here;
  if (const size_t size = size_of(kNumbers, name); size != 0) {
    numbers(in, size);
  } else if (const size_t real = size_of(kRealNumbers, name); real != 0) {
    floats(in, real == 8);
  } else if (name == ".fill") {
    fill(in);
  } else if (name == ".org") {
    origin(in);
  } else if (is_alignment(name)) {
    align(name, in);
  } else if (name == ".ascii" || name == ".asciz" || name == ".string") {
    text(in, name != ".ascii");
  } else if (name == ".sleb128" || name == ".uleb128") {
    leb(in, name == ".sleb128");
  } else if (name == ".incbin") {
    for (const char c : around.included(in)) append(static_cast<unsigned char>(c), 1);
  } else {
    space(in);
  }
  known_ = {};
  here_ = {};
  if (!in.done()) in.fail("unexpected text behind the data" + in.found());
}

}  // namespace lanewise::gcn
