#include "samples/support/png.hpp"

#include <zlib.h>

#include <fstream>

namespace samples {
namespace {

void append_big_endian(std::vector<uint8_t>& out, uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<uint8_t>(value >> shift));
}

/// Length, name, contents and a checksum of the two.
void append_chunk(std::vector<uint8_t>& out, const char* name, const std::vector<uint8_t>& data) {
  append_big_endian(out, static_cast<uint32_t>(data.size()));
  const size_t begin = out.size();
  out.insert(out.end(), name, name + 4);
  out.insert(out.end(), data.begin(), data.end());
  const uLong crc = crc32(0, &out[begin], static_cast<uInt>(out.size() - begin));
  append_big_endian(out, static_cast<uint32_t>(crc));
}

/// Each row begins with the name of its filter. Filter 2, the difference to the row above, makes
/// smooth pictures small.
std::vector<uint8_t> filtered(const Picture& p) {
  const size_t row = size_t{1} * p.width * p.channels;
  std::vector<uint8_t> out;
  out.reserve((row + 1) * p.height);
  for (int y = 0; y < p.height; ++y) {
    out.push_back(2);
    const uint8_t* here = &p.bytes[y * row];
    for (size_t i = 0; i < row; ++i)
      out.push_back(static_cast<uint8_t>(here[i] - (y > 0 ? here[i - row] : 0)));
  }
  return out;
}

}  // namespace

bool write_png(const std::string& path, const Picture& p) {
  const std::vector<uint8_t> rows = filtered(p);
  uLongf size = compressBound(rows.size());
  std::vector<uint8_t> packed(size);
  if (compress2(packed.data(), &size, rows.data(), rows.size(), Z_BEST_COMPRESSION) != Z_OK)
    return false;
  packed.resize(size);

  std::vector<uint8_t> header;
  append_big_endian(header, static_cast<uint32_t>(p.width));
  append_big_endian(header, static_cast<uint32_t>(p.height));
  const uint8_t colour = p.channels == 3 ? 2 : 0;
  header.insert(header.end(), {8, colour, 0, 0, 0});

  std::vector<uint8_t> file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", packed);
  append_chunk(file, "IEND", {});
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  return static_cast<bool>(out.flush());
}

}  // namespace samples
