#include "runtime/api/program/fat_binary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#if defined(LANEWISE_HAS_ZSTD)
#include <zstd.h>
#endif

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "lanewise/error_detail.hpp"
#include "runtime/isa/sass/sass.hpp"

namespace lanewise::host::detail {
namespace {

constexpr uint32_t kMagic = 0xba55ed50;
constexpr size_t kHeader = 16, kShortestEntry = 64;
constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;
constexpr uint16_t kPtx = 1, kCubin = 2;
/// Larger than any program: what a broken file says is not believed.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

[[noreturn]] void refuse(const std::string& why) {
  throw DetailedError(ErrorKind::usage, ErrorDetail::format, why);
}

uint64_t number_at(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t n = 0; n < size && at + n < bytes.size(); ++n)
    value |= uint64_t{static_cast<unsigned char>(bytes[at + n])} << 8 * n;
  return value;
}

struct Image {
  uint16_t kind = 0;
  unsigned sm = 0;
  uint64_t flags = 0;
  std::string_view data;  ///< compressed, if it is
  uint64_t size = 0;      ///< when it is no longer compressed

  std::string text() const {
    const std::string what = kind == kPtx     ? "PTX"
                             : kind == kCubin ? "a cubin"
                                              : fmt::format("an image of kind {}", kind);
    const char* how = (flags & kZstd) != 0  ? ", compressed with zstd"
                      : (flags & kLz4) != 0 ? ", compressed with LZ4"
                                            : "";
    return fmt::format("{} for sm_{}{}", what, sm, how);
  }
  Isa isa() const { return kind == kPtx ? Isa::ptx : Isa::sass; }
  /// Larger is better; 0: it cannot run.
  unsigned worth(Isa wanted) const {
    if (wanted != Isa::automatic && wanted != isa()) return 0;
    if (kind == kCubin && sass::known_arch(std::to_string(sm)) != 0) return 1000 + sm;
    return kind == kPtx ? sm : 0;
  }
};

std::vector<Image> images_in(std::string_view file) {
  const size_t header = number_at(file, 6, 2);
  const uint64_t size = number_at(file, 8, 8);
  if (header < kHeader || header > file.size() || size > file.size() - header)
    refuse("broken fat binary: it is shorter than it says");
  std::string_view rest = file.substr(header, size);
  std::vector<Image> images;
  while (rest.size() >= kShortestEntry) {
    Image image;
    const size_t begins = number_at(rest, 4, 4);
    const uint64_t bytes = number_at(rest, 8, 8), packed = number_at(rest, 16, 4);
    if (begins < kShortestEntry || begins > rest.size() || bytes > rest.size() - begins ||
        packed > bytes)
      refuse(fmt::format("broken fat binary: image {} is longer than the file", images.size()));
    image.kind = static_cast<uint16_t>(number_at(rest, 0, 2));
    image.sm = static_cast<unsigned>(number_at(rest, 28, 4));
    image.flags = number_at(rest, 40, 8);
    image.size = number_at(rest, 56, 8);
    image.data = rest.substr(begins, packed != 0 ? packed : bytes);
    images.push_back(image);
    rest.remove_prefix(begins + bytes);
  }
  return images;
}

/// A block of LZ4: runs of literals, each but the last with a copy of what came before. Nothing
/// where it is broken.
std::optional<std::string> unpacked_lz4(std::string_view in, uint64_t size) {
  std::string out;
  size_t at = 0;
  const auto more = [&](size_t length) {
    for (unsigned char next = 255; length >= 15 && next == 255 && at < in.size();)
      length += next = static_cast<unsigned char>(in[at++]);
    return length;
  };
  while (at < in.size()) {
    const auto token = static_cast<unsigned char>(in[at++]);
    const size_t literals = more(token >> 4);
    if (literals > in.size() - at || literals > size - out.size()) return {};
    out += in.substr(at, literals);
    at += literals;
    if (at == in.size()) break;
    const size_t back = number_at(in, at, 2);
    at += 2;
    const size_t length = more(token & 15) + 4;
    if (at > in.size() || back == 0 || back > out.size() || length > size - out.size()) return {};
    for (size_t n = 0; n < length; ++n) out += out[out.size() - back];
  }
  if (out.size() != size) return {};
  return out;
}

std::optional<std::string> unpacked_zstd([[maybe_unused]] std::string_view in,
                                         [[maybe_unused]] uint64_t size) {
#if defined(LANEWISE_HAS_ZSTD)
  std::string out(size, '\0');
  if (ZSTD_decompress(out.data(), out.size(), in.data(), in.size()) == size) return out;
  return {};
#else
  refuse(
      "the image is compressed with zstd, which this build has not; compile it with "
      "-Xfatbin -compress-mode=none, or name the file of one image");
#endif
}

std::string unpacked(const Image& image) {
  if ((image.flags & (kLz4 | kZstd)) == 0) return std::string(image.data);
  std::optional<std::string> data;
  if (image.size <= kMostBytes)
    data = (image.flags & kZstd) != 0 ? unpacked_zstd(image.data, image.size)
                                      : unpacked_lz4(image.data, image.size);
  if (!data) refuse("broken fat binary: " + image.text() + ", does not decompress");
  return *data;
}

/// Of a cubin: every word of its kernels is an instruction of the table.
bool is_known(const Image& image) {
  if (image.kind != kCubin) return true;
  const std::string bytes = unpacked(image);
  const sass::Listing listing = sass::read_cubin(std::as_bytes(std::span(bytes)), 1);
  return std::ranges::all_of(listing.kernels,
                             [](const sass::Kernel& k) { return k.diagnostics.empty(); });
}

}  // namespace

bool is_fat_binary(std::string_view file) {
  return file.size() >= kHeader && number_at(file, 0, 4) == kMagic;
}

ChosenImage image_of(std::string_view file, Isa wanted) {
  const std::vector<Image> images = images_in(file);
  std::vector<std::string> list;
  for (const Image& i : images) list.push_back(i.text());
  const std::string all = fmt::format("a fat binary of {} image{}: {}", images.size(),
                                      images.size() == 1 ? "" : "s", fmt::join(list, "; "));
  std::vector<const Image*> ranked;
  for (const Image& image : images)
    if (image.worth(wanted) != 0) ranked.push_back(&image);
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Image* a, const Image* b) {
    return a->worth(wanted) > b->worth(wanted);
  });
  const std::string cubins = fmt::format("a cubin for {}", sass::kKnownArchs);
  if (ranked.empty())
    refuse(
        fmt::format("this is {}; {} was expected (nvcc -gencode "
                    "arch=compute_NN,code=compute_NN adds PTX)",
                    all,
                    wanted == Isa::ptx    ? "PTX"
                    : wanted == Isa::sass ? cubins
                                          : "PTX, or " + cubins));
  // A cubin for a later target may hold instructions that none of the others needs.
  auto best = std::ranges::find_if(ranked, [](const Image* image) { return is_known(*image); });
  if (best == ranked.end()) best = ranked.begin();
  ChosenImage chosen;
  chosen.isa = (*best)->isa();
  chosen.data = unpacked(**best);
  while (chosen.isa == Isa::ptx && chosen.data.ends_with('\0')) chosen.data.pop_back();
  chosen.note = all + (images.size() == 1 ? "" : "; taken: " + (*best)->text());
  return chosen;
}

}  // namespace lanewise::host::detail
