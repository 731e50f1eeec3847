// How a fat binary is laid out: a header, then entries with headers of their own, each a program
// for one target. Nothing here allocates or throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanewise::elf {

struct FatEntry {
  enum : uint16_t { kPtx = 1, kCubin = 2 };
  enum : uint64_t { kLz4 = 0x2000, kZstd = 0x8000 };
  uint16_t kind = 0;
  unsigned sm = 0;
  uint64_t flags = 0;
  std::string_view data;  ///< compressed, if it is
  uint64_t size = 0;      ///< when it is no longer compressed
  bool compressed() const { return (flags & (kLz4 | kZstd)) != 0; }
};

/// The entries of one fat binary, in order.
class FatEntries {
 public:
  static constexpr uint32_t kMagic = 0xba55ed50;
  static constexpr size_t kHeader = 16, kShortestEntry = 64;
  enum class Broken { no, shorter, entry };

  static uint64_t number_at(std::string_view bytes, size_t at, size_t size) {
    uint64_t value = 0;
    for (size_t n = 0; n < size && at + n < bytes.size(); ++n)
      value |= uint64_t{static_cast<unsigned char>(bytes[at + n])} << 8 * n;
    return value;
  }
  static bool starts(std::string_view bytes) {
    return bytes.size() >= kHeader && number_at(bytes, 0, 4) == kMagic;
  }

  /// `bytes` may go on behind it.
  explicit FatEntries(std::string_view bytes) {
    const size_t header = number_at(bytes, 6, 2);
    const uint64_t size = number_at(bytes, 8, 8);
    if (header < kHeader || header > bytes.size() || size > bytes.size() - header) {
      broken_ = Broken::shorter;
      return;
    }
    length_ = header + size;
    rest_ = {bytes.data() + header, size};
  }
  /// False at the end, and where the next one is broken.
  bool next(FatEntry& entry) {
    if (broken_ != Broken::no || rest_.size() < kShortestEntry) return false;
    const size_t begins = number_at(rest_, 4, 4);
    const uint64_t bytes = number_at(rest_, 8, 8), packed = number_at(rest_, 16, 4);
    if (begins < kShortestEntry || begins > rest_.size() || bytes > rest_.size() - begins ||
        packed > bytes) {
      broken_ = Broken::entry;
      return false;
    }
    entry.kind = static_cast<uint16_t>(number_at(rest_, 0, 2));
    entry.sm = static_cast<unsigned>(number_at(rest_, 28, 4));
    entry.flags = number_at(rest_, 40, 8);
    entry.size = number_at(rest_, 56, 8);
    entry.data = {rest_.data() + begins, packed != 0 ? packed : bytes};
    rest_.remove_prefix(begins + bytes);
    return true;
  }
  Broken broken() const { return broken_; }
  /// Of the whole fat binary, its header included.
  uint64_t length() const { return length_; }

 private:
  std::string_view rest_;
  uint64_t length_ = 0;
  Broken broken_ = Broken::no;
};

/// Calls `use` with each fat binary in a section's bytes; between them may be padding.
template <typename Use>
void for_each_fat_binary(std::string_view section, const Use& use) {
  constexpr size_t kAlign = 8;
  while (section.size() >= FatEntries::kHeader) {
    size_t step = kAlign;
    if (FatEntries::starts(section)) {
      const FatEntries entries(section);
      // What is broken is shown as it is: to whoever uses it, it says so itself.
      const uint64_t length = entries.length() != 0 ? entries.length() : section.size();
      use(std::string_view(section.data(), length));
      step = (length + kAlign - 1) / kAlign * kAlign;
    }
    section.remove_prefix(step < section.size() ? step : section.size());
  }
}

}  // namespace lanewise::elf
