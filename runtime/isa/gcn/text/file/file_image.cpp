#include "runtime/isa/gcn/text/file/file_image.hpp"

#include <algorithm>

namespace lanewise::gcn {
namespace {

constexpr const char* kImageBegin = "the image's begin";

}  // namespace

FileImage::FileImage(Listing& listing, Symbols& symbols, TextSection& text, Sections& sections)
    : listing_(listing), symbols_(symbols), text_(text) {
  for (const Kernel& k : listing_.kernels) {
    symbols_.place(k.name, k.base);
    symbols_.place_labels(k);
  }
  for (const auto& [name, at] : text_.data_labels()) symbols_.place(name, at);
  constexpr uint64_t kAlign = 256;
  ir::Global image;
  image.name = "assembled code and data";
  image.align = kAlign;
  image.init.resize((text_.end_of_code() + kAlign - 1) & ~(kAlign - 1));
  for (const auto& section : sections.all()) {
    if (!section->loaded) continue;
    DataSection& data = section->data;
    constexpr uint64_t kLeast = 16;
    const uint64_t align = std::max(kLeast, data.alignment());
    image.align = std::max<uint32_t>(image.align, static_cast<uint32_t>(align));
    const uint64_t at = (image.init.size() + align - 1) & ~(align - 1);
    image.init.resize(at);
    image.init.insert(image.init.end(), data.bytes().begin(), data.bytes().end());
    for (const auto& [name, offset] : data.labels()) symbols_.place(name, at + offset);
    for (LateValue& v : data.late()) {
      v.at += at;
      text_.late().push_back(std::move(v));
    }
  }
  image.size = image.init.size();
  listing_.image = std::move(image);
}

void FileImage::write_code(const Kernel& k) {
  if (!listing_.ok()) return;
  std::byte* to = listing_.image->init.data() + k.base;
  for (const Instruction& i : k.code)
    for (const uint32_t word : encode(i, k.gen))
      for (int b = 0; b < 4; ++b) *to++ = static_cast<std::byte>(word >> (8 * b) & 255);
}

void FileImage::write_late_values(const Report& report) {
  ir::Global& image = *listing_.image;
  const auto address_of = [&](const std::string& name) { return symbols_.address(name); };
  for (const LateValue& v : text_.late()) {
    std::string problem;
    Cursor in(v.value);
    Expression e = read_expression(in, differences(address_of));
    e.relative = e.relative && e.names_relation;
    int addresses = 0;
    for (const Expression::Symbol& s : e.symbols) {
      if (!symbols_.address(s.name)) problem = symbols_.missing(s.name);
      addresses += s.times;
    }
    const bool absolute = addresses == 1 && !e.relative;
    if (absolute && v.size == 4 && problem.empty())
      problem = "an address needs 8 bytes (.quad), and here are 4";
    // From the image's begin: as if one more address were taken off.
    if (absolute) e.symbols.push_back({kImageBegin, -1});
    const auto value =
        problem.empty()
            ? value_of(
                  e,
                  [&](const std::string& name) {
                    return name == kImageBegin ? std::optional(uint64_t{0}) : address_of(name);
                  },
                  v.at, problem)
            : std::nullopt;
    if (!value)
      report(v.line, problem + v.from);
    else if (absolute)
      image.relocs.push_back({v.at, image.name, *value, 8});
    else
      for (size_t b = 0; b < v.size; ++b)
        image.init[v.at + b] = static_cast<std::byte>(static_cast<uint64_t>(*value) >> (8 * b));
  }
}

}  // namespace lanewise::gcn
