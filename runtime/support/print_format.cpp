#include "runtime/support/print_format.hpp"

#include <algorithm>
#include <cstdio>

namespace lanewise {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Reader {
 public:
  explicit Reader(std::string_view format) : rest_(format) {}

  std::vector<FormatChunk> run() {
    while (!rest_.empty()) {
      const size_t next = std::min(rest_.find('%'), rest_.size());
      text_ += rest_.substr(0, next);
      rest_.remove_prefix(next);
      if (!rest_.empty()) percent();
    }
    flush();
    return std::move(chunks_);
  }

 private:
  void percent() {
    const std::string_view whole = rest_;
    rest_.remove_prefix(1);
    if (rest_.starts_with('%')) {
      rest_.remove_prefix(1);
      text_ += '%';
      return;
    }
    Conversion c;
    if (!conversion(c)) {
      text_ += whole.substr(0, whole.size() - rest_.size());
      return;
    }
    flush();
    chunks_.push_back({std::string(whole.substr(0, whole.size() - rest_.size())), std::move(c)});
  }

  bool conversion(Conversion& c) {
    c.flags =
        take([](char x) { return std::string_view("-+ #0").find(x) != std::string_view::npos; });
    c.width = number();
    if (rest_.starts_with('.')) {
      rest_.remove_prefix(1);
      c.has_precision = true;
      c.precision = number();
    }
    if (rest_.starts_with('v')) {
      rest_.remove_prefix(1);
      const std::string n = take(is_digit);
      if (n != "2" && n != "3" && n != "4" && n != "8" && n != "16") return false;
      c.vector = static_cast<unsigned>(std::stoi(n));
    }
    c.length = length();
    if (rest_.empty() ||
        std::string_view("diouxXcspaAeEfFgG").find(rest_[0]) == std::string_view::npos)
      return false;
    c.type = rest_[0];
    rest_.remove_prefix(1);
    return true;
  }

  template <typename Is>
  std::string take(Is is) {
    const auto end = std::ranges::find_if_not(rest_, is);
    std::string taken(rest_.begin(), end);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string number() {
    if (!rest_.starts_with('*')) return take(is_digit);
    rest_.remove_prefix(1);
    return "*";
  }
  std::string length() {
    for (const std::string_view known : {"hh", "hl", "h", "ll", "l", "j", "z", "t", "L"})
      if (rest_.starts_with(known)) {
        rest_.remove_prefix(known.size());
        return std::string(known);
      }
    return {};
  }
  void flush() {
    if (!text_.empty()) chunks_.push_back({std::move(text_), {}});
    text_.clear();
  }

  std::string_view rest_;
  std::string text_;
  std::vector<FormatChunk> chunks_;
};

/// The most that a field takes: who asks for more made a mistake.
constexpr unsigned kMostWidth = 4096;

std::string limited(const std::string& digits) {
  return digits.size() > 4 || (!digits.empty() && std::stoul(digits) > kMostWidth)
             ? std::to_string(kMostWidth)
             : digits;
}

/// The format of the host's own printf for one value.
std::string host_format(const Conversion& c, const char* length, char type) {
  std::string format = "%" + c.flags + limited(c.width);
  if (c.has_precision) format += "." + limited(c.precision);
  return format + length + type;
}

template <typename T>
std::string print(const std::string& format, T value) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int size = std::snprintf(nullptr, 0, format.c_str(), value);
  std::string out(size < 0 ? 0 : static_cast<size_t>(size) + 1, '\0');
  if (!out.empty()) {
    std::snprintf(out.data(), out.size(), format.c_str(), value);
    out.pop_back();
  }
#pragma GCC diagnostic pop
  return out;
}

}  // namespace

std::vector<FormatChunk> parse_format(std::string_view format) {
  return Reader(format).run();
}

unsigned integer_bytes(const Conversion& c) {
  if (c.type == 'p' || c.type == 's') return 8;
  const bool wide = c.length == "l" || c.length == "ll" || c.length == "j" || c.length == "z" ||
                    c.length == "t" || c.length == "L";
  return wide && c.type != 'c' ? 8 : 4;
}

VariableArguments variable_arguments(std::string_view format) {
  VariableArguments all;
  const auto add = [&](size_t size) {
    all.bytes = (all.bytes + size - 1) / size * size + size;
    ++all.count;
  };
  for (const FormatChunk& chunk : parse_format(format)) {
    const Conversion& c = chunk.conversion;
    if (c.type == 0) continue;
    if (all.count + arguments_of(c) > kMostPrintArguments) break;
    for (size_t n = 1; n < arguments_of(c); ++n) add(4);
    add(c.is_float() ? 8 : integer_bytes(c));
    if (c.type == 's') all.strings |= 1U << (all.bytes / 8 - 1);
  }
  return all;
}

std::string format_integer(const Conversion& c, uint64_t bits, unsigned bytes) {
  if (c.type == 'c') return print(host_format(c, "", 'c'), static_cast<int>(bits & 0xff));
  if (c.type == 'p') {
    Conversion number = c;
    number.flags += '#';
    if (bits == 0) return format_string(c, "(nil)");
    return print(host_format(number, "ll", 'x'), static_cast<unsigned long long>(bits));
  }
  // A short argument comes in a word; the length says how much of it counts.
  const unsigned wanted = c.length == "hh" ? 1 : c.length == "h" ? 2 : bytes;
  const unsigned unused = 64 - 8 * std::min({wanted, bytes, 8U});
  if (c.is_signed())
    return print(host_format(c, "ll", c.type),
                 static_cast<long long>(static_cast<int64_t>(bits << unused) >> unused));
  return print(host_format(c, "ll", c.type),
               static_cast<unsigned long long>(bits << unused >> unused));
}

std::string format_float(const Conversion& c, double value) {
  return print(host_format(c, "", c.type), value);
}

std::string format_string(const Conversion& c, std::string_view text) {
  Conversion plain = c;
  std::erase_if(plain.flags, [](char f) { return f != '-'; });
  return print(host_format(plain, "", 's'), std::string(text).c_str());
}

}  // namespace lanewise
