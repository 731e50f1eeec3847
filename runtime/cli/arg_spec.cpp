#include "runtime/cli/arg_spec.hpp"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "lanewise/error.hpp"
#include "runtime/cli/array_values.hpp"
#include "runtime/cli/texture_arg.hpp"

namespace lanewise::cli {
namespace {

constexpr const char* kKinds[] = {"u8",    "i8",   "u16",  "i16",    "u32",   "i32",   "u64",
                                  "i64",   "f16",  "f32",  "f64",    "hex",   "in",    "out",
                                  "inout", "zero", "iota", "random", "print", "local", "tex"};

[[noreturn]] void fail(const std::string& spec, const std::string& why) {
  throw Error(ErrorKind::usage, fmt::format("--arg {}: {}", spec, why));
}

template <typename T>
void append(std::vector<std::byte>& bytes, T value, unsigned size = sizeof(T)) {
  const auto* p = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), p, p + size);
}

/// Denormals are numbers like others; what is beyond the largest is an infinity that nobody wrote.
void parse_float(ArgSpec& out, const std::string& spec, unsigned size, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  // Parsed again so that f32 is rounded once, from the text.
  const float single = std::strtof(text.c_str(), nullptr);
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) != 0 || *end != 0)
    fail(spec, fmt::format("'{}' is no number", text));
  const bool written =
      text.find("inf") != std::string::npos || text.find("INF") != std::string::npos;
  const bool infinite = size == 8   ? std::isinf(value)
                        : size == 4 ? std::isinf(single)
                                    : (to_half(value) & 0x7fff) == 0x7c00;
  if (infinite && !written) fail(spec, fmt::format("{} does not fit f{}", text, 8 * size));
  out.real = true;
  if (size == 8) append(out.scalar, value);
  if (size == 4) append(out.scalar, single);
  if (size == 2) append(out.scalar, to_half(value));
}

void parse_integer(ArgSpec& out, const std::string& spec, bool is_signed, unsigned size,
                   const std::string& text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const int base = digits.starts_with("0x") || digits.starts_with("0X") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  uint64_t magnitude = 0;
  const auto [end, ec] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (ec == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    fail(spec, fmt::format("'{}' is no integer", text));
  }
  const unsigned bits = 8 * size;
  const uint64_t top = uint64_t{1} << (bits - 1);
  const bool fits = ec == std::errc() && (negative    ? is_signed && magnitude <= top
                                          : is_signed ? magnitude < top
                                                      : magnitude <= top - 1 + top);
  if (!fits) {
    fail(spec, fmt::format("{} does not fit {}{}", text, is_signed ? "i" : "u", bits));
  }
  const uint64_t value = negative ? ~magnitude + 1 : magnitude;
  append(out.scalar, value, size);
  out.integer = true;
  out.is_signed = is_signed;
}

void parse_hex(ArgSpec& out, const std::string& spec, const std::string& text) {
  if (text.empty() || text.size() % 2 != 0) fail(spec, "expected an even number of hex digits");
  for (size_t i = 0; i < text.size(); i += 2) {
    unsigned byte = 0;
    const auto [end, ec] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (ec != std::errc() || end != text.data() + i + 2) {
      fail(spec, fmt::format("'{}' is no hex byte", text.substr(i, 2)));
    }
    out.scalar.push_back(static_cast<std::byte>(byte));
  }
}

/// "f32[1024]" or "u8[16,4]".
Array parse_shape(const std::string& spec, const std::string& text) {
  const size_t open = text.find('[');
  if (open == std::string::npos || !text.ends_with(']')) {
    fail(spec, fmt::format("expected TYPE[N] or TYPE[N,M] at its end, as in f32[1024]{}",
                           text.empty() ? std::string() : ", found '" + text + "'"));
  }
  Array a;
  a.type = text.substr(0, open);
  const unsigned size = element_size(a.type);
  if (size == 0) {
    fail(spec, fmt::format("unknown type '{}'; expected u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64",
                           a.type));
  }
  uint64_t total = size;
  const char* at = text.data() + open + 1;
  const char* end = text.data() + text.size() - 1;
  while (true) {
    uint64_t n = 0;
    const auto [stop, ec] = std::from_chars(at, end, n);
    if (ec != std::errc() || (stop != end && *stop != ',')) fail(spec, "a dimension is no number");
    if (n != 0 && total > (uint64_t{1} << 36) / n) fail(spec, "the array is larger than 64 GiB");
    total *= n;
    a.shape.push_back(n);
    if (stop == end) break;
    at = stop + 1;
  }
  a.bytes.resize(total);
  return a;
}

/// Splits "FILE:REST" at the last colon.
std::pair<std::string, std::string> split_last(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool parse_scalar(ArgSpec& out, const std::string& spec, const std::string& kind,
                  const std::string& text) {
  if (kind == "hex") {
    parse_hex(out, spec, text);
    return true;
  }
  const unsigned size = element_size(kind);
  if (size == 0) return false;
  if (kind[0] == 'f') {
    parse_float(out, spec, size, text);
  } else {
    parse_integer(out, spec, kind[0] == 'i', size, text);
  }
  return true;
}

}  // namespace

std::vector<std::string> arg_beginnings() {
  std::vector<std::string> all;
  for (const char* kind : kKinds) all.push_back(std::string(kind) + ":");
  return all;
}

Arg ArgSpec::value() const {
  if (integer) return Arg::integer(scalar, is_signed);
  return real ? Arg::real(scalar) : Arg::raw(scalar);
}

ArgSpec parse_arg(const std::string& spec) {
  const size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  if (colon == std::string::npos) {
    fail(spec, "expected KIND:VALUE such as u32:7, f32:2.5, in:x.npy, out:y.npy:f32[1024]");
  }
  const std::string rest = spec.substr(colon + 1);
  ArgSpec out;
  if (parse_scalar(out, spec, kind, rest)) return out;
  const bool file = kind == "in" || kind == "out" || kind == "inout";
  if (file && (rest.empty() || rest.starts_with(':'))) fail(spec, "a file name is missing");
  if (kind == "in") {
    out.kind = ArgSpec::Kind::in;
    out.path = rest;
    out.array = read_array(rest);
  } else if (kind == "out") {
    out.kind = ArgSpec::Kind::out;
    const auto [path, shape] = split_last(rest);
    out.path = out.write_to = path;
    out.array = parse_shape(spec, shape);
  } else if (kind == "inout") {
    out.kind = ArgSpec::Kind::inout;
    const auto [path, target] = split_last(rest);
    const size_t open = target.find('[');
    if (open != std::string::npos && target.ends_with(']') &&
        element_size(target.substr(0, open)) != 0)
      fail(spec, fmt::format("the file says what it holds; '{0}' behind it would be the file to "
                             "write to (./{0} is a file of that name)",
                             target));
    out.path = path;
    out.write_to = target.empty() ? path : target;
    out.array = read_array(path);
  } else if (kind == "zero") {
    out.kind = ArgSpec::Kind::zero;
    out.path = "zero:" + rest;
    out.array = parse_shape(spec, rest);
  } else if (kind == "print") {
    out.kind = ArgSpec::Kind::out;
    out.prints = true;
    out.path = spec;
    out.array = parse_shape(spec, rest);
  } else if (kind == "iota" || kind == "random") {
    out.kind = ArgSpec::Kind::in;
    out.path = spec;
    auto [shape, seed] = split_last(rest);
    out.array = parse_shape(spec, shape);
    if (constexpr std::string_view kName = "seed="; kind == "random" && seed.starts_with(kName))
      seed.erase(0, kName.size());
    uint64_t number = 1;
    const auto [end, ec] = std::from_chars(seed.data(), seed.data() + seed.size(), number);
    const bool wrong = ec != std::errc() || end != seed.data() + seed.size() || kind == "iota";
    if (!seed.empty() && wrong)
      fail(spec, fmt::format("'{}' behind the shape: {}", seed,
                             kind == "iota" ? "iota counts from 0 and takes nothing else"
                                            : "expected the seed, a number"));
    kind == "iota" ? fill_iota(out.array) : fill_random(out.array, number);
  } else if (kind == "tex") {
    out.kind = ArgSpec::Kind::texture;
    // What follows the last colon is keys where there is a `=` in it.
    auto [path, keys] = split_last(rest);
    if (keys.find('=') == std::string::npos) path = rest, keys.clear();
    if (path.empty()) fail(spec, "a file name is missing");
    out.path = path;
    out.array = read_array(path);
    TextureSpec texture = parse_texture(spec, out.array, keys);
    out.texture = texture.options;
    out.write_to = std::move(texture.write_to);
  } else if (kind == "local") {
    out.kind = ArgSpec::Kind::local;
    const auto [end, ec] = std::from_chars(rest.data(), rest.data() + rest.size(), out.local_bytes);
    if (ec != std::errc() || end != rest.data() + rest.size() || out.local_bytes > UINT32_MAX)
      fail(spec, "expected a byte count below 2^32");
  } else {
    fail(spec, fmt::format("unknown kind '{}'; expected {}", kind, fmt::join(kKinds, " ")));
  }
  return out;
}

}  // namespace lanewise::cli
