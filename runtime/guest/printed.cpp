#include "runtime/guest/printed.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "runtime/layout/print_records.hpp"
#include "runtime/support/print_format.hpp"

namespace lanewise::guest {
namespace {

uint64_t number_at(std::span<const std::byte> bytes, size_t at, size_t size) {
  uint64_t value = 0;
  if (at <= bytes.size())
    std::memcpy(&value, bytes.data() + at, std::min({size, bytes.size() - at, sizeof value}));
  return value;
}

/// Arguments one behind the other, each at a multiple of its size, and copies of the strings that
/// some point to.
class Arguments {
 public:
  explicit Arguments(std::span<const std::byte> record) {
    const size_t words = number_at(record, 4, 2), strings = 8 * number_at(record, 6, 2);
    const auto behind = record.subspan(kPrintRecordHeader);
    bytes_ = behind.first(std::min(4 * words, behind.size()));
    if (strings != 0 && strings < record.size()) strings_ = record.subspan(strings);
  }

  /// As many as a call may have.
  bool wants(const Conversion& c) {
    count_ += arguments_of(c);
    return count_ <= kMostPrintArguments;
  }
  /// The copy of the string that the last argument points to.
  std::optional<std::string_view> text() const {
    for (auto rest = strings_; rest.size() > kPrintStringHeader;) {
      const size_t slot = number_at(rest, 0, 4), size = number_at(rest, 4, 4);
      rest = rest.subspan(kPrintStringHeader);
      const std::string_view text(reinterpret_cast<const char*>(rest.data()),
                                  std::min(size, rest.size()));
      if (8 * (slot + 1) == at_) return text.substr(0, text.find('\0'));
      rest = rest.subspan(std::min((size + 7) / 8 * 8, rest.size()));
    }
    return {};
  }

  bool has(unsigned size) const { return aligned(size) + size <= bytes_.size(); }
  uint64_t take(unsigned size) {
    const size_t at = aligned(size);
    at_ = at + size;
    return number_at(bytes_, at, size);
  }

 private:
  size_t aligned(unsigned size) const { return (at_ + size - 1) / size * size; }
  std::span<const std::byte> bytes_, strings_;
  size_t at_ = 0, count_ = 0;
};

/// Takes `*` for width and precision. A negative width is a flag and a width.
bool fill_in(Conversion& c, Arguments& arguments) {
  if (c.width == "*") {
    if (!arguments.has(4)) return false;
    const auto width = static_cast<int32_t>(arguments.take(4));
    if (width < 0) c.flags += '-';
    c.width = std::to_string(width < 0 ? -int64_t{width} : int64_t{width});
  }
  if (c.precision == "*") {
    if (!arguments.has(4)) return false;
    const auto precision = static_cast<int32_t>(arguments.take(4));
    c.has_precision = precision >= 0;
    c.precision = precision < 0 ? "" : std::to_string(precision);
  }
  return true;
}

std::string convert(const FormatChunk& chunk, Arguments& arguments, const ReadString& read_string) {
  Conversion c = chunk.conversion;
  if (c.type == 0 || !arguments.wants(c)) return chunk.text;
  const unsigned size = c.is_float() ? 8 : integer_bytes(c);
  if (!fill_in(c, arguments) || !arguments.has(size)) return "(no argument)";
  const uint64_t bits = arguments.take(size);
  if (c.is_float()) return format_float(c, std::bit_cast<double>(bits));
  if (c.type != 's') return format_integer(c, bits, size);
  if (bits == 0) return format_string(c, "(null)");
  if (const auto copy = arguments.text()) return format_string(c, *copy);
  return format_string(c, read_string(bits).value_or("(unreadable string)"));
}

/// A format of the metadata, taken apart.
struct OpenClFormat {
  std::vector<uint32_t> sizes;
  std::vector<FormatChunk> chunks;
};

/// The compiler writes line ends and the like as C does, and `:` by its octal number.
std::string unescaped(std::string_view text) {
  const std::map<char, char> known = {{'a', '\a'}, {'b', '\b'}, {'f', '\f'}, {'n', '\n'},
                                      {'r', '\r'}, {'t', '\t'}, {'v', '\v'}, {'\\', '\\'}};
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (const auto found = known.find(text[i + 1]); found != known.end()) {
        out += found->second;
        ++i;
        continue;
      }
      if (text.substr(i + 1, 2) == "72") {
        out += ':';
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

std::optional<uint32_t> take_number(std::string_view& text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data() + text.size() || *end != ':') return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return value;
}

std::map<uint32_t, OpenClFormat> taken_apart(std::span<const std::string> formats) {
  std::map<uint32_t, OpenClFormat> known;
  for (const std::string& format : formats) {
    std::string_view rest = format;
    const auto id = take_number(rest), count = id ? take_number(rest) : std::nullopt;
    OpenClFormat f;
    bool right = count.has_value();
    for (uint32_t n = 0; right && n < *count; ++n) {
      const auto size = take_number(rest);
      right = size.has_value();
      if (right) f.sizes.push_back(*size);
    }
    if (!right) continue;
    f.chunks = parse_format(unescaped(rest));
    known[*id] = std::move(f);
  }
  return known;
}

/// One element of an argument: a vector has several, as wide as its size says.
std::string element(const Conversion& c, std::span<const std::byte> bytes) {
  const auto size = static_cast<unsigned>(bytes.size());
  const uint64_t bits = number_at(bytes, 0, size);
  if (!c.is_float()) return format_integer(c, bits, size);
  if (size >= 8) return format_float(c, std::bit_cast<double>(bits));
  if (size == 4) return format_float(c, std::bit_cast<float>(static_cast<uint32_t>(bits)));
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<double>(bits & 0x3ff);
  double value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31)
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  return format_float(c, (bits & 0x8000) != 0 ? -value : value);
}

std::string argument(const Conversion& c, std::span<const std::byte> bytes) {
  if (c.type == 's') {
    const char* text = reinterpret_cast<const char*>(bytes.data());
    return format_string(c, {text, std::find(text, text + bytes.size(), '\0')});
  }
  if (c.vector == 1) return element(c, bytes);
  // Three take the bytes of four.
  const size_t capacity = bytes.size() / (c.vector == 3 ? 4 : c.vector);
  std::string out;
  for (unsigned n = 0; n < c.vector; ++n)
    out += (n == 0 ? "" : ",") + element(c, bytes.subspan(n * capacity, capacity));
  return out;
}

constexpr size_t words_of(uint32_t size) {
  return (size_t{size} + 3) / 4 * 4;
}

/// Bytes of the record; 0 when it is cut off.
size_t print_opencl(const OpenClFormat& f, std::span<const std::byte> record, std::string& out) {
  size_t at = 4, next = 0;
  bool cut = false;
  const auto take = [&]() -> std::optional<std::span<const std::byte>> {
    if (next == f.sizes.size()) return std::nullopt;
    const uint32_t size = f.sizes[next++];
    cut = cut || words_of(size) > record.size() - at;
    if (cut) return std::nullopt;
    const auto bytes = record.subspan(at, size);
    at += words_of(size);
    return bytes;
  };
  for (const FormatChunk& chunk : f.chunks) {
    Conversion c = chunk.conversion;
    if (c.type == 0) {
      out += chunk.text;
      continue;
    }
    for (std::string* star : {&c.width, &c.precision}) {
      if (*star != "*") continue;
      const auto bytes = take();
      const auto value = bytes ? static_cast<int32_t>(number_at(*bytes, 0, 4)) : 0;
      if (star == &c.width && value < 0) c.flags += '-';
      if (star == &c.precision && value < 0) c.has_precision = false;
      *star = std::to_string(value < 0 ? -int64_t{value} : int64_t{value});
    }
    const auto bytes = take();
    out += bytes && !bytes->empty() ? argument(c, *bytes) : "(no argument)";
  }
  while (next < f.sizes.size()) take();
  return cut ? 0 : at;
}

}  // namespace

std::string printed_by_cuda(std::span<const std::byte> records, const ReadString& read_string) {
  std::string out;
  while (records.size() >= kPrintRecordHeader) {
    const size_t size = number_at(records, 0, 4);
    if (size < kPrintRecordHeader || size > records.size()) break;
    const auto format = read_string(number_at(records, 8, 8));
    Arguments arguments(records.first(size));
    if (!format) out += "(unreadable format)";
    for (const FormatChunk& chunk : parse_format(format.value_or("")))
      out += convert(chunk, arguments, read_string);
    records = records.subspan(size);
  }
  return out;
}

std::string printed_by_opencl(std::span<const std::byte> records,
                              std::span<const std::string> formats) {
  const std::map<uint32_t, OpenClFormat> known = taken_apart(formats);
  std::string out;
  while (records.size() >= 4) {
    const auto found = known.find(static_cast<uint32_t>(number_at(records, 0, 4)));
    if (found == known.end())
      return out + "(a record of an unknown format; the rest is left out)\n";
    const size_t size = print_opencl(found->second, records, out);
    if (size == 0) return out + "(a record that is cut off)\n";
    records = records.subspan(size);
  }
  return out;
}

namespace {

/// The string at an address, up to a length that no format has.
std::optional<std::string> string_at(Engine& engine, std::span<const Allocation> memory,
                                     uint64_t address) {
  constexpr uint64_t kChunk = 256, kMost = 64 * 1024;
  const auto in = std::ranges::find_if(
      memory, [&](const Allocation& a) { return address - a.address < a.size; });
  if (in == memory.end()) return std::nullopt;
  std::string text;
  for (uint64_t at = address; text.size() < kMost && at < in->address + in->size;) {
    std::string chunk(std::min(kChunk, in->address + in->size - at), '\0');
    engine.read(at, std::as_writable_bytes(std::span(chunk)));
    const size_t end = chunk.find('\0');
    text.append(chunk, 0, end);
    if (end != std::string::npos) break;
    at += chunk.size();
  }
  return text;
}

}  // namespace

std::string take_printed(Engine& engine, std::span<const Allocation> memory,
                         const ir::Program& program, uint64_t buffer) {
  if (!program.needs.prints || buffer == 0) return {};
  uint32_t used = 0;
  engine.read(buffer, std::as_writable_bytes(std::span(&used, 1)));
  if (used == 0) return {};
  std::vector<std::byte> records(std::min(used, kPrintCapacity));
  engine.read(buffer + kPrintHeader, records);
  std::string text = program.isa == ir::Isa::gcn
                         ? printed_by_opencl(records, program.needs.print_formats)
                         : printed_by_cuda(records, [&](uint64_t address) {
                             return string_at(engine, memory, address);
                           });
  if (used > kPrintCapacity)
    text += "(more was printed than the " + std::to_string(kPrintCapacity) +
            " bytes of the buffer hold; the rest is lost)\n";
  // Nothing is left that a record that did not fit could end in.
  std::ranges::fill(records, std::byte{0});
  engine.write(buffer + kPrintHeader, records);
  used = 0;
  engine.write(buffer, std::as_bytes(std::span(&used, 1)));
  return text;
}

}  // namespace lanewise::guest
