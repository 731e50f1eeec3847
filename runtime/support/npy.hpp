// NumPy .npy files, versions 1 to 3, C order, little endian; and raw .bin files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::npy {

/// Element types as `--arg` spells them: u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64 (bool reads as
/// u8).
struct Array {
  std::string type;
  std::vector<uint64_t> shape;
  std::vector<std::byte> bytes;
};

/// Bytes of one element, 0 for an unknown type name.
unsigned element_size(std::string_view type);

/// The array in .npy bytes; Error(usage) names the file and says what is wrong with it.
Array parse_npy(std::string_view file_bytes, const std::string& path);
std::string format_npy(const Array& array);

/// By the file's ending: .bin = raw bytes (type u8), anything else .npy.
Array read_array(const std::string& path);
void write_array(const std::string& path, const Array& array);

}  // namespace lanewise::npy
