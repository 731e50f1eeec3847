#include "runtime/support/npy.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "lanewise/error.hpp"
#include "runtime/support/input_file.hpp"
#include "runtime/support/npz.hpp"
#include "runtime/support/output_file.hpp"

namespace lanewise::npy {
namespace {

// With a header in front of as much as --arg takes.
constexpr uint64_t kMaxArrayFile = (uint64_t{64} << 30) + (uint64_t{1} << 20);

struct TypeRow {
  std::string_view name, descr;
  unsigned size;
};
constexpr std::array kTypes = {
    TypeRow{"u8", "|u1", 1},  TypeRow{"i8", "|i1", 1},  TypeRow{"u16", "<u2", 2},
    TypeRow{"i16", "<i2", 2}, TypeRow{"u32", "<u4", 4}, TypeRow{"i32", "<i4", 4},
    TypeRow{"u64", "<u8", 8}, TypeRow{"i64", "<i8", 8}, TypeRow{"f16", "<f2", 2},
    TypeRow{"f32", "<f4", 4}, TypeRow{"f64", "<f8", 8},
};

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::usage, fmt::format("'{}' is not a usable .npy file: {}", path, why));
}

/// The value of a key in the header's Python dictionary, up to the comma at depth 0.
std::optional<std::string_view> header_value(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return std::nullopt;
  const size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) return std::nullopt;
  size_t end = colon + 1;
  for (int depth = 0; end < header.size(); ++end) {
    if (header[end] == '(') ++depth;
    if (header[end] == ')') --depth;
    if (depth == 0 && (header[end] == ',' || header[end] == '}')) break;
  }
  std::string_view value = header.substr(colon + 1, end - colon - 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with(' ')) value.remove_suffix(1);
  return value;
}

std::string type_of(std::string_view descr, const std::string& path) {
  if (descr.size() >= 2 && (descr.front() == '\'' || descr.front() == '"')) {
    descr = descr.substr(1, descr.size() - 2);
  }
  if (descr == "|b1" || descr == "<u1") return "u8";
  if (descr == "<i1") return "i8";
  for (const TypeRow& row : kTypes) {
    if (row.descr == descr) return std::string(row.name);
  }
  fail(path,
       fmt::format("element type {} is not supported; expected little-endian integers of 1 to "
                   "8 bytes or floats of 2, 4 or 8",
                   descr));
}

std::vector<uint64_t> parse_shape(std::string_view text, const std::string& path) {
  if (!text.starts_with('(') || !text.ends_with(')')) fail(path, "its shape is no tuple");
  text = text.substr(1, text.size() - 2);
  std::vector<uint64_t> shape;
  while (true) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (text.empty()) return shape;
    uint64_t n = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (ec != std::errc()) fail(path, "its shape holds something that is no size");
    // NumPy's own limit; format_npy's header has 16 bits for its length.
    if (shape.size() == 64) fail(path, "its shape has more than 64 dimensions");
    shape.push_back(n);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    while (text.starts_with(' ') || text.starts_with(',')) text.remove_prefix(1);
  }
}

uint64_t count_of(const std::vector<uint64_t>& shape, const std::string& path) {
  uint64_t n = 1;
  for (const uint64_t d : shape) {
    if (d != 0 && n > (uint64_t{1} << 40) / d) fail(path, "its shape is too large");
    n *= d;
  }
  return n;
}

}  // namespace

unsigned element_size(std::string_view type) {
  for (const TypeRow& row : kTypes) {
    if (row.name == type) return row.size;
  }
  return 0;
}

Array parse_npy(std::string_view file, const std::string& path) {
  if (!file.starts_with("\x93NUMPY") || file.size() < 10) fail(path, "it has no NumPy header");
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(file[i]); };
  const unsigned major = byte(6);
  if (major < 1 || major > 3) fail(path, fmt::format("version {} is unknown", major));
  const size_t start = major == 1 ? 10 : 12;
  if (file.size() < start) fail(path, "it is cut off inside the header");
  size_t length = byte(8) | byte(9) << 8;
  if (major >= 2)
    length |= static_cast<size_t>(byte(10)) << 16 | static_cast<size_t>(byte(11)) << 24;
  if (file.size() - start < length) fail(path, "it is cut off inside the header");
  const std::string_view header = file.substr(start, length);

  const auto descr = header_value(header, "descr");
  const auto order = header_value(header, "fortran_order");
  const auto shape = header_value(header, "shape");
  if (!descr || !order || !shape) fail(path, "its header lacks descr, fortran_order or shape");
  Array a;
  a.type = type_of(*descr, path);
  a.shape = parse_shape(*shape, path);
  // With one dimension both orders are the same bytes.
  const auto wide = std::ranges::count_if(a.shape, [](uint64_t d) { return d != 1; });
  if (*order != "False" && wide > 1) fail(path, "it is in Fortran order; expected C order");
  const uint64_t bytes = count_of(a.shape, path) * element_size(a.type);
  const std::string_view data = file.substr(start + length);
  if (data.size() < bytes) {
    fail(path, fmt::format("it is cut off: {} bytes of data, {} expected", data.size(), bytes));
  }
  const auto* p = reinterpret_cast<const std::byte*>(data.data());
  a.bytes.assign(p, p + bytes);
  return a;
}

std::string format_npy(const Array& a) {
  std::string descr;
  for (const TypeRow& row : kTypes) {
    if (row.name == a.type) descr = row.descr;
  }
  std::string shape;
  for (const uint64_t d : a.shape) shape += fmt::format("{}, ", d);
  if (a.shape.size() > 1) shape.resize(shape.size() - 2);
  if (a.shape.size() == 1) shape.pop_back();
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  // The data starts at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char*>(a.bytes.data()), a.bytes.size());
  return out;
}

Array read_array(const std::string& path) {
  if (const ArchivePath in = archive_path(path); !in.file.empty())
    return parse_npy(array_in(read_file(in.file, kMaxArrayFile), in), path);
  const std::string file = read_file(path, kMaxArrayFile);
  if (!path.ends_with(".bin")) return parse_npy(file, path);
  Array a{"u8", {file.size()}, {}};
  const auto* p = reinterpret_cast<const std::byte*>(file.data());
  a.bytes.assign(p, p + file.size());
  return a;
}

void write_array(const std::string& path, const Array& a) {
  const std::string_view raw(reinterpret_cast<const char*>(a.bytes.data()), a.bytes.size());
  write_file(path, path.ends_with(".bin") ? raw : std::string_view(format_npy(a)));
}

}  // namespace lanewise::npy
