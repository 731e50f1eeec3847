#include "runtime/api/program/decompress.hpp"

#if defined(LANEWISE_HAS_LZ4)
#include <lz4.h>
#endif
#if defined(LANEWISE_HAS_ZSTD)
#include <zstd.h>
#endif

#include "lanewise/error_detail.hpp"

namespace lanewise::host::detail {
namespace {

/// The most that either format makes of a byte, so that a size that cannot be is not allocated.
[[maybe_unused]] constexpr uint64_t kMostOfLz4 = 255, kMostOfZstd = 1 << 15;
constexpr uint64_t kSmall = 1 << 16;

[[maybe_unused]] [[noreturn]] void refuse_missing(const std::string& format) {
  throw DetailedError(ErrorKind::usage, ErrorDetail::format,
                      "the image is compressed with " + format +
                          ", which this build has not; compile it with "
                          "-Xfatbin -compress-mode=none, or name the file of one image");
}

/// By a library's call that returns how many bytes it made.
template <typename Call>
[[maybe_unused]] std::optional<std::string> made_by(uint64_t size, uint64_t most,
                                                    const Call& call) {
  if (size > most + kSmall) return {};
  std::string out(size, '\0');
  if (call(out) != size) return {};
  return out;
}

}  // namespace

#if defined(LANEWISE_HAS_LZ4)
std::optional<std::string> decompress_lz4(std::string_view in, uint64_t size) {
  return made_by(size, in.size() * kMostOfLz4, [&](std::string& out) {
    return static_cast<uint64_t>(int64_t{LZ4_decompress_safe(
        in.data(), out.data(), static_cast<int>(in.size()), static_cast<int>(out.size()))});
  });
}
#else
std::optional<std::string> decompress_lz4(std::string_view, uint64_t) {
  refuse_missing("LZ4");
}
#endif

#if defined(LANEWISE_HAS_ZSTD)
std::optional<std::string> decompress_zstd(std::string_view in, uint64_t size) {
  return made_by(size, in.size() * kMostOfZstd, [&](std::string& out) {
    return uint64_t{ZSTD_decompress(out.data(), out.size(), in.data(), in.size())};
  });
}
#else
std::optional<std::string> decompress_zstd(std::string_view, uint64_t) {
  refuse_missing("zstd");
}
#endif

}  // namespace lanewise::host::detail
