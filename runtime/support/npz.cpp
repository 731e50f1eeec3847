#include "runtime/support/npz.hpp"

#include <cstdint>
#include <vector>

#include "lanewise/error.hpp"

namespace lanewise::npy {
namespace {

[[noreturn]] void fail_at(const std::string& file, const std::string& what) {
  throw Error(ErrorKind::usage, "'" + file + "': " + what);
}

/// Little-endian numbers of the archive; what lies outside is broken.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  uint32_t number(uint64_t at, unsigned size) const {
    const std::string_view part = slice(at, size);
    uint32_t value = 0;
    for (unsigned n = 0; n < size; ++n)
      value |= static_cast<uint32_t>(static_cast<unsigned char>(part[n])) << (8 * n);
    return value;
  }
  std::string_view slice(uint64_t at, uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at)
      fail_at(file_, "broken .npz archive: it is shorter than it says");
    return bytes_.substr(at, size);
  }

 private:
  std::string_view bytes_;
  const std::string& file_;
};

// The ZIP file format, 4.3: records begin with a signature.
constexpr uint32_t kEndOfDirectory = 0x06054b50, kDirectoryEntry = 0x02014b50;
constexpr uint64_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30;

struct Entry {
  std::string name;  ///< without .npy
  uint32_t method = 0, bytes = 0, offset = 0;
};

std::vector<Entry> entries_of(std::string_view archive, const std::string& file) {
  const Reader in(archive, file);
  // A comment may stand behind it.
  const size_t end = archive.rfind("PK\x05\x06");
  if (end == std::string_view::npos || in.number(end, 4) != kEndOfDirectory)
    fail_at(file, "it is no .npz archive");
  in.slice(end, kEndBytes);
  const uint32_t count = in.number(end + 10, 2);
  uint64_t at = in.number(end + 16, 4);
  std::vector<Entry> out;
  for (uint32_t n = 0; n < count; ++n) {
    if (in.number(at, 4) != kDirectoryEntry) fail_at(file, "broken .npz archive");
    Entry e;
    e.method = in.number(at + 10, 2);
    e.bytes = in.number(at + 24, 4);
    e.offset = in.number(at + 42, 4);
    const uint32_t name = in.number(at + 28, 2);
    e.name = in.slice(at + kEntryBytes, name);
    at += kEntryBytes + name + in.number(at + 30, 2) + in.number(at + 32, 2);
    constexpr std::string_view kEnding = ".npy";
    if (!e.name.ends_with(kEnding)) continue;
    e.name.resize(e.name.size() - kEnding.size());
    out.push_back(std::move(e));
  }
  return out;
}

}  // namespace

ArchivePath archive_path(const std::string& path) {
  constexpr std::string_view kEnding = ".npz";
  if (path.ends_with(kEnding)) return {path, ""};
  const size_t at = path.rfind(".npz:");
  if (at == std::string::npos) return {};
  return {path.substr(0, at + kEnding.size()), path.substr(at + kEnding.size() + 1)};
}

std::string_view array_in(std::string_view archive, const ArchivePath& path) {
  const std::vector<Entry> entries = entries_of(archive, path.file);
  const Entry* found = nullptr;
  std::string all;
  for (const Entry& e : entries) {
    all += (all.empty() ? "" : ", ") + e.name;
    if (e.name == path.name || (path.name.empty() && entries.size() == 1)) found = &e;
  }
  if (found == nullptr)
    fail_at(path.file, path.name.empty()
                           ? "it holds several arrays, name one as " + path.file + ":NAME: " + all
                           : "it holds no array '" + path.name + "'; there are: " + all);
  if (found->method != 0)
    fail_at(path.file, "array '" + found->name + "' is compressed: write it with np.savez");
  constexpr uint32_t kElsewhere = 0xffffffff;
  if (found->bytes == kElsewhere || found->offset == kElsewhere)
    fail_at(path.file, "archives of 4 GiB and more are not supported");
  const Reader in(archive, path.file);
  const uint64_t data = found->offset + kLocalBytes + uint64_t{in.number(found->offset + 26, 2)} +
                        in.number(found->offset + 28, 2);
  return in.slice(data, found->bytes);
}

}  // namespace lanewise::npy
