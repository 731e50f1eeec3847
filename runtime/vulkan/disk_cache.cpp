#include "runtime/vulkan/disk_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "runtime/support/hash.hpp"

namespace lanewise::vulkan {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'L', 'W', 'C', 'A', 'C', 'H', 'E', '\n'};
constexpr uint32_t kVersion = 1;
constexpr const char* kSuffix = ".lwc";
constexpr const char* kTemporary = ".tmp-";

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t kind;
  uint64_t key_high, key_low;
  uint64_t size;
  uint64_t checksum;
};

Header header_for(CacheKind kind, const CacheKey& key, std::span<const std::byte> data) {
  Header h{};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.version = kVersion;
  h.kind = static_cast<uint32_t>(kind);
  h.key_high = key.high;
  h.key_low = key.low;
  h.size = data.size();
  h.checksum = hash_bytes(data.data(), data.size());
  return h;
}

const char* kind_name(CacheKind kind) {
  switch (kind) {
    case CacheKind::module:
      return "module";
    case CacheKind::pipelines:
      return "pipelines";
    case CacheKind::probe:
      return "probe";
  }
  return "other";
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path default_directory() {
  if (const auto own = environment("LANEWISE_CACHE_DIR"); !own.empty()) return own;
  if (const auto xdg = environment("XDG_CACHE_HOME"); !xdg.empty())
    return fs::path(xdg) / "lanewise";
  if (const auto home = environment("HOME"); !home.empty()) {
    return fs::path(home) / ".cache" / "lanewise";
  }
  return {};
}

void warn(const std::string& text) {
  std::fprintf(stderr, "lanewise: warning: %s\n", text.c_str());
}

struct Entry {
  fs::path path;
  fs::file_time_type time;
  uint64_t size;
};

bool is_ours(const fs::path& path) {
  return path.extension() == kSuffix || path.filename().string().starts_with(kTemporary);
}

/// The cache's own files, oldest first. Foreign files are never touched.
std::vector<Entry> entries_of(const fs::path& directory) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!is_ours(it->path()) || !it->is_regular_file(ignored)) continue;
    const auto time = it->last_write_time(ignored);
    const auto size = it->file_size(ignored);
    if (!ignored) entries.push_back({it->path(), time, size});
  }
  std::ranges::sort(entries, {}, &Entry::time);
  return entries;
}

}  // namespace

std::string CacheKey::hex() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

CacheKey make_key(std::string_view text) {
  return {hash_text(text), hash_text(text, hash_text("second half"))};
}

DiskCache::DiskCache(std::string_view directory, uint64_t max_bytes) : max_bytes_(max_bytes) {
  if (directory.empty() && environment("LANEWISE_CACHE_DIR") == "off") directory = "off";
  if (directory == "off") return;
  directory_ = directory.empty() ? default_directory() : fs::path(directory);
  if (directory_.empty()) return;
  std::error_code error;
  fs::create_directories(directory_, error);
  usable_ = !error && ::access(directory_.c_str(), W_OK | X_OK) == 0;
  if (!usable_) switch_off(error ? error.message() : std::strerror(errno));
  if (!usable_) return;
  for (const Entry& entry : entries_of(directory_)) known_bytes_ += entry.size;
}

void DiskCache::switch_off(const std::string& why) {
  usable_ = false;
  warn(fmt::format("the cache directory {} cannot be used ({}); nothing is kept on disk",
                   directory_.string(), why));
}

fs::path DiskCache::path_of(CacheKind kind, const CacheKey& key) const {
  return directory_ / fmt::format("{}-{}{}", kind_name(kind), key.hex(), kSuffix);
}

std::optional<std::vector<std::byte>> DiskCache::load(CacheKind kind, const CacheKey& key) {
  if (!usable_) return {};
  const fs::path path = path_of(kind, key);
  std::error_code error;
  const auto on_disk = fs::file_size(path, error);
  if (error) return {};  // not there
  std::ifstream file(path, std::ios::binary);
  Header h{};
  std::vector<std::byte> data;
  bool good = on_disk >= sizeof h && file.read(reinterpret_cast<char*>(&h), sizeof h).good() &&
              h.size == on_disk - sizeof h;
  if (good) {
    data.resize(h.size);
    file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(h.size));
    const Header expected = header_for(kind, key, data);
    good = file.gcount() == static_cast<std::streamsize>(h.size) &&
           std::memcmp(&h, &expected, sizeof h) == 0;
  }
  if (!good) {
    warn(fmt::format("the cache file {} is damaged; it is ignored and made anew", path.string()));
    return {};
  }
  // The time of last use decides what is dropped first.
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  return data;
}

bool DiskCache::write_whole(const fs::path& path, std::span<const std::byte> header,
                            std::span<const std::byte> data) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (const auto part : {header, data}) {
    file.write(reinterpret_cast<const char*>(part.data()),
               static_cast<std::streamsize>(part.size()));
  }
  file.close();
  return file.good();
}

void DiskCache::store(CacheKind kind, const CacheKey& key, std::span<const std::byte> data) {
  if (!usable_ || data.size() + sizeof(Header) > max_bytes_) return;
  static unsigned counter = 0;
  const fs::path temporary = directory_ / fmt::format("{}{}-{}", kTemporary, ::getpid(), counter++);
  const Header header = header_for(kind, key, data);
  std::error_code error;
  if (!write_whole(temporary, std::as_bytes(std::span(&header, 1)), data)) {
    fs::remove(temporary, error);
    return switch_off("a file cannot be written");
  }
  fs::rename(temporary, path_of(kind, key), error);
  if (error) {
    const std::string why = error.message();
    fs::remove(temporary, error);
    return switch_off(why);
  }
  known_bytes_ += sizeof header + data.size();
  if (known_bytes_ > max_bytes_) drop_oldest();
}

/// Down to three quarters, so that this does not happen at every store.
void DiskCache::drop_oldest() {
  const auto entries = entries_of(directory_);
  known_bytes_ = 0;
  for (const Entry& entry : entries) known_bytes_ += entry.size;
  for (const Entry& entry : entries) {
    if (known_bytes_ <= max_bytes_ / 4 * 3) break;
    std::error_code error;
    fs::remove(entry.path, error);
    known_bytes_ -= entry.size;
  }
}

}  // namespace lanewise::vulkan
