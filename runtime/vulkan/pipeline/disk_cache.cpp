#include "runtime/vulkan/pipeline/disk_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

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

/// Says each sentence once in a process.
void warn(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> reported;
  const std::lock_guard lock(mutex);
  if (reported.insert(text).second) std::fprintf(stderr, "lanewise: warning: %s\n", text.c_str());
}

/// Why what others may have put there is not used; empty when only this user, or root, could.
std::string distrusted(const struct stat& s) {
  if (s.st_uid != geteuid() && s.st_uid != 0) return "it belongs to another user";
  if ((s.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write to it";
  return {};
}

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Parents as the umask has them, the last for this user alone.
std::error_code make_directory(const fs::path& directory) {
  std::error_code error;
  if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
  if (error || ::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return error;
  return {errno, std::generic_category()};
}

/// Makes the directory where it is absent; why it cannot be used, empty when it can.
std::string unusable(const fs::path& directory) {
  if (const std::error_code error = make_directory(directory)) return error.message();
  struct stat s;
  if (::stat(directory.c_str(), &s) != 0 || ::access(directory.c_str(), W_OK | X_OK) != 0)
    return std::strerror(errno);
  return S_ISDIR(s.st_mode) ? distrusted(s) : "it is no directory";
}

struct Entry {
  fs::path path;
  fs::file_time_type time;
  uint64_t size;
};

bool is_ours(const fs::path& path) {
  return path.extension() == kSuffix || path.filename().string().starts_with(kTemporary);
}

/// The cache's own files, oldest first. Files of others are never touched.
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
  if (const std::string why = unusable(directory_); !why.empty()) {
    switch_off(why);
    return;
  }
  usable_ = true;
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
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (number < 0 && errno != ELOOP) return {};  // not there
  const File file(number < 0 ? nullptr : ::fdopen(number, "rb"));
  struct stat s;
  const bool regular = file && ::fstat(number, &s) == 0 && S_ISREG(s.st_mode);
  if (const std::string why = regular ? distrusted(s) : "it is no regular file"; !why.empty()) {
    if (!distrust_reported_)
      warn(fmt::format("the cache file {} is not used: {}", path.string(), why));
    distrust_reported_ = true;
    return {};
  }
  const auto on_disk = static_cast<uint64_t>(s.st_size);
  Header h{};
  std::vector<std::byte> data;
  bool good = on_disk >= sizeof h && std::fread(&h, sizeof h, 1, file.get()) == 1 &&
              h.size == on_disk - sizeof h;
  if (good) {
    data.resize(h.size);
    good = std::fread(data.data(), 1, h.size, file.get()) == h.size;
    const Header expected = header_for(kind, key, data);
    good = good && std::memcmp(&h, &expected, sizeof h) == 0;
  }
  if (!good) {
    warn(fmt::format("the cache file {} is damaged; it is ignored and made anew", path.string()));
    return {};
  }
  // The time of last use decides what is dropped first.
  std::error_code error;
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  return data;
}

bool DiskCache::write_whole(const fs::path& path, std::span<const std::byte> header,
                            std::span<const std::byte> data) {
  const int number = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  File file(number < 0 ? nullptr : ::fdopen(number, "wb"));
  if (!file) return false;
  for (const auto part : {header, data})
    if (std::fwrite(part.data(), 1, part.size(), file.get()) != part.size()) return false;
  return std::fclose(file.release()) == 0;
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
