// Writes pictures that every viewer opens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace samples {

/// Eight bits a channel; 1 channel is grey, 3 are red, green, blue. Rows from the top, left to
/// right.
struct Picture {
  int width = 0, height = 0, channels = 3;
  std::vector<uint8_t> bytes;

  Picture(int w, int h, int c) : width(w), height(h), channels(c), bytes(size_t{1} * w * h * c) {}
  uint8_t* at(int x, int y) { return &bytes[(size_t{1} * y * width + x) * channels]; }
};

/// False when the file cannot be written.
bool write_png(const std::string& path, const Picture& picture);

}  // namespace samples
