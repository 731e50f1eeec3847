#include "runtime/api/program/fat_binary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "lanewise/error_detail.hpp"
#include "runtime/api/program/decompress.hpp"
#include "runtime/api/program/embedded.hpp"
#include "runtime/isa/elf/fat_entries.hpp"
#include "runtime/isa/ptx/link.hpp"
#include "runtime/isa/sass/sass.hpp"

namespace lanewise::host::detail {
namespace {

/// Of all images together: what a broken file says is not believed.
constexpr uint64_t kMostBytes = uint64_t{1} << 29;

[[noreturn]] void refuse(const std::string& why) {
  throw DetailedError(ErrorKind::usage, ErrorDetail::format, why);
}

struct Image : elf::FatEntry {
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
    if (kind == kPtx) return 1000 + sm;
    return kind == kCubin && sass::known_arch(std::to_string(sm)) != 0 ? sm : 0;
  }
  /// nvcc adds a cubin without code to each program.
  bool is_empty() const {
    return kind == kCubin && !compressed() && data.find(".text.") == std::string_view::npos;
  }
};

std::vector<Image> images_in(std::string_view fat) {
  elf::FatEntries entries(fat);
  std::vector<Image> images;
  for (Image image; entries.next(image);) images.push_back(image);
  if (entries.broken() == elf::FatEntries::Broken::shorter)
    refuse("broken fat binary: it is shorter than it says");
  if (entries.broken() == elf::FatEntries::Broken::entry)
    refuse(fmt::format("broken fat binary: image {} is longer than the file", images.size()));
  return images;
}

std::string linked_text(const std::vector<std::string>& texts) {
  ptx::Linked linked = ptx::link(texts);
  if (linked.clashes.empty()) return std::move(linked.text);
  const ptx::Linked::Clash& c = linked.clashes[0];
  refuse(fmt::format("PTX text {}, line {}: {}", c.second.file + 1, c.second.line,
                     c.message(fmt::format("text {}", c.first.file + 1))));
}

/// Chooses, and remembers what it saw for the note.
class Chooser {
 public:
  explicit Chooser(Isa wanted) : wanted_(wanted) {}

  void add(const Embedded& program) {
    std::vector<std::string> linked;
    for (const std::string_view fat : program.fat_binaries) {
      ++fat_binaries_;
      std::vector<Image> images = images_in(fat);
      std::erase_if(images, [](const Image& i) { return i.is_empty(); });
      for (const Image& image : images) count(seen_, image.text());
      if (program.relocatable || program.fat_binaries.size() > 1) {
        if (wanted_ == Isa::sass || wanted_ == Isa::gcn) continue;
        if (std::optional<ChosenImage> ptx = best(images, Isa::ptx)) linked.push_back(ptx->data);
      } else if (std::optional<ChosenImage> one = best(images, wanted_)) {
        out.images.push_back({one->isa, std::move(one->data), program.where});
      }
    }
    if (linked.size() > 1) linked_ += linked.size();
    if (!linked.empty())
      out.images.push_back({Isa::ptx, linked_text(linked), program.where});
    else if (program.fat_binaries.size() > 1 && !program.relocatable && wanted_ != Isa::ptx)
      add_linked_cubin(program);
  }

  ChosenImages finish() {
    const std::string all = fmt::format(
        "{} of {} image{}: {}",
        fat_binaries_ == 1 ? "a fat binary" : fmt::format("{} fat binaries", fat_binaries_),
        total(seen_), total(seen_) == 1 ? "" : "s", list(seen_));
    if (out.images.empty()) {
      const std::string cubins = fmt::format("a cubin for {}", sass::kKnownArchs);
      refuse(
          fmt::format("this is {}; {} was expected (nvcc -gencode "
                      "arch=compute_NN,code=compute_NN adds PTX)",
                      all,
                      wanted_ == Isa::ptx    ? "PTX"
                      : wanted_ == Isa::sass ? cubins
                                             : "PTX, or " + cubins));
    }
    out.note = all;
    if (total(seen_) != 1) out.note += "; taken: " + list(taken_);
    if (linked_ != 0) out.note += fmt::format("; {} of them were linked", linked_);
    return std::move(out);
  }

  ChosenImages out;

 private:
  using Counts = std::vector<std::pair<std::string, size_t>>;
  static void count(Counts& counts, const std::string& text) {
    const auto known = std::ranges::find(counts, text, &Counts::value_type::first);
    if (known == counts.end())
      counts.emplace_back(text, 1);
    else
      ++known->second;
  }
  static size_t total(const Counts& counts) {
    size_t all = 0;
    for (const auto& [text, times] : counts) all += times;
    return all;
  }
  static std::string list(const Counts& counts) {
    std::vector<std::string> texts;
    for (const auto& [text, times] : counts)
      texts.push_back(times == 1 ? text : fmt::format("{} ({} times)", text, times));
    return fmt::format("{}", fmt::join(texts, "; "));
  }

  std::string unpacked(const Image& image) {
    const uint64_t size = image.compressed() ? image.size : image.data.size();
    std::optional<std::string> data;
    if (size <= kMostBytes - bytes_)
      data = !image.compressed()                 ? std::string(image.data)
             : (image.flags & Image::kZstd) != 0 ? decompress_zstd(image.data, size)
                                                 : decompress_lz4(image.data, size);
    if (!data) refuse("broken fat binary: " + image.text() + ", does not decompress");
    bytes_ += size;
    while (image.kind == Image::kPtx && data->ends_with('\0')) data->pop_back();
    return *data;
  }

  std::optional<ChosenImage> best(const std::vector<Image>& images, Isa wanted) {
    std::vector<const Image*> ranked;
    for (const Image& image : images)
      if (image.worth(wanted) != 0) ranked.push_back(&image);
    std::stable_sort(ranked.begin(), ranked.end(), [&](const Image* a, const Image* b) {
      return a->worth(wanted) > b->worth(wanted);
    });
    std::optional<ChosenImage> first;
    for (const Image* image : ranked) {
      ChosenImage made{image->isa(), unpacked(*image), ""};
      // A cubin for a later target may hold instructions that none of the others needs.
      if (made.isa == Isa::ptx || is_known(made.data)) {
        count(taken_, image->text());
        return made;
      }
      if (!first) first = std::move(made);
    }
    if (first) count(taken_, ranked[0]->text());
    return first;
  }

  /// Every word of its kernels is an instruction of the table.
  static bool is_known(const std::string& cubin) {
    const sass::Listing listing = sass::read_cubin(std::as_bytes(std::span(cubin)), 1);
    return std::ranges::all_of(listing.kernels,
                               [](const sass::Kernel& k) { return k.diagnostics.empty(); });
  }

  /// Of fat binaries that belong together, the one that nvlink made of the others comes first.
  void add_linked_cubin(const Embedded& program) {
    if (std::optional<ChosenImage> cubin = best(images_in(program.fat_binaries[0]), Isa::sass))
      out.images.push_back({Isa::sass, std::move(cubin->data), program.where});
  }

  Isa wanted_;
  Counts seen_, taken_;
  size_t fat_binaries_ = 0, linked_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

ChosenImages images_of(std::string_view file, Isa wanted) {
  Chooser chooser(wanted);
  for (const Embedded& program : embedded_in(file)) chooser.add(program);
  return chooser.finish();
}

}  // namespace lanewise::host::detail
