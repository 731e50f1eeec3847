// Files that may be lost at any time: translations, driver pipelines, probe results.
//
// Every file carries a header with its key, size and checksum and is renamed into place when it is
// complete, so a crash leaves either the old file or the new one. A file that does not fit its
// header is reported once, ignored, and overwritten by the next store.
//
// What is loaded is run, so it must be this user's own: a directory or a file that belongs to
// somebody else (but root), or that others may write to, is not used, with one warning.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lanewise::vulkan {

/// 128 bits from two differently seeded hashes.
struct CacheKey {
  uint64_t high = 0, low = 0;
  bool operator==(const CacheKey&) const = default;
  std::string hex() const;
};
CacheKey make_key(std::string_view text);

/// Part of the file name and of the header.
enum class CacheKind : uint32_t { module = 1, pipelines = 2, probe = 3 };

class DiskCache {
 public:
  /// "off" keeps nothing; empty finds the directory in the environment.
  explicit DiskCache(std::string_view directory, uint64_t max_bytes = uint64_t{256} << 20);

  std::optional<std::vector<std::byte>> load(CacheKind kind, const CacheKey& key);
  void store(CacheKind kind, const CacheKey& key, std::span<const std::byte> data);
  bool usable() const { return usable_; }
  std::filesystem::path path_of(CacheKind kind, const CacheKey& key) const;

 private:
  void switch_off(const std::string& why);
  bool write_whole(const std::filesystem::path& path, std::span<const std::byte> header,
                   std::span<const std::byte> data);
  void drop_oldest();

  std::filesystem::path directory_;
  uint64_t max_bytes_;
  uint64_t known_bytes_ = 0;  ///< about what the directory holds
  bool usable_ = false;
  bool distrust_reported_ = false;
};

}  // namespace lanewise::vulkan
