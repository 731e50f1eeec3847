#include "runtime/isa/elf/line_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace lanewise::elf {
namespace {

constexpr const char* kWhat = "a source line";
/// A path is shown with each instruction, and a hostile file may join one folder with many names.
constexpr size_t kMaxPath = 1024, kPathBytesPerByte = 32;

using Text = std::shared_ptr<const std::string>;

/// Reads on from a place; nothing lies beyond `end`.
class Cursor {
 public:
  Cursor(Bytes bytes, uint64_t at, uint64_t end) : bytes_(bytes.first(end)), at_(at) {}

  uint64_t at() const { return at_; }
  bool done() const { return at_ >= bytes_.size(); }
  void go(uint64_t at) { at_ = at; }

  template <typename T>
  T take() {
    const T value = read<T>(bytes_, at_, kWhat);
    at_ += sizeof(T);
    return value;
  }
  uint64_t unsigned_number() { return number().first; }
  int64_t signed_number() {
    const auto [value, bits] = number();
    const bool negative = bits < 64 && (value >> (bits - 1) & 1) != 0;
    return static_cast<int64_t>(negative ? value | ~uint64_t{0} << bits : value);
  }
  std::string text() {
    std::string out;
    while (const auto c = take<uint8_t>()) {
      out += static_cast<char>(c);
      if (out.size() > kMaxPath)
        throw ElfError(fmt::format("the path of a source file has over {} bytes", kMaxPath));
    }
    return out;
  }

 private:
  /// LEB128, and how many bits it has.
  std::pair<uint64_t, unsigned> number() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) return {value, shift + 7};
    }
  }

  Bytes bytes_;
  uint64_t at_;
};

/// One unit: a header with names of files, and a program that makes rows.
class Unit {
 public:
  /// Where a relocation puts the address at this place of .debug_line.
  struct Place {
    size_t section;
    uint64_t address;
  };
  using Places = std::map<uint64_t, Place>;
  using Rows = std::map<size_t, std::vector<LineRow>>;

  Unit(Cursor in, uint64_t end, const Places& places, Rows& rows)
      : in_(in),
        end_(end),
        left_(kPathBytesPerByte * (end - in.at())),
        places_(places),
        rows_(rows) {}

  void run() {
    const auto version = in_.take<uint16_t>();
    if (version < 2 || version > 4) return;
    const auto header = in_.take<uint32_t>();
    const uint64_t program = in_.at() + header;
    smallest_ = in_.take<uint8_t>();
    if (version == 4) in_.take<uint8_t>();  // operations of a long instruction word
    in_.take<uint8_t>();                    // is the first row a statement?
    line_base_ = static_cast<int8_t>(in_.take<uint8_t>());
    line_range_ = in_.take<uint8_t>();
    const auto opcode_base = in_.take<uint8_t>();
    if (line_range_ == 0 || opcode_base == 0)
      throw ElfError("the lines of the source have no range");
    for (unsigned n = 1; n < opcode_base; ++n) operands_.push_back(in_.take<uint8_t>());
    read_files();
    if (program < in_.at() || program > end_)
      throw ElfError("the header of the source's lines has a wrong length");
    for (in_.go(program); !in_.done();) step();
  }

 private:
  enum Standard : uint8_t {
    kCopy = 1,
    kAdvancePc,
    kAdvanceLine,
    kSetFile,
    kAddConstant = 8,
    kFixedAdvance,
  };
  enum Extended : uint8_t { kEndSequence = 1, kSetAddress = 2, kDefineFile = 3 };

  void read_files() {
    folders_.emplace_back();
    for (std::string folder = in_.text(); !folder.empty(); folder = in_.text())
      folders_.push_back(folder);
    for (std::string name = in_.text(); !name.empty(); name = in_.text()) add_file(name);
  }
  void add_file(const std::string& name) {
    const uint64_t folder = in_.unsigned_number();
    in_.unsigned_number();  // time
    in_.unsigned_number();  // size
    const bool relative = !name.starts_with('/') && folder != 0 && folder < folders_.size();
    std::string path = relative ? folders_[folder] + "/" + name : name;
    if (path.size() > left_)
      throw ElfError("the paths of source files are many times as long as their table");
    left_ -= path.size();
    files_.push_back(std::make_shared<const std::string>(std::move(path)));
  }

  void step() {
    const auto opcode = in_.take<uint8_t>();
    if (opcode > operands_.size()) {
      const unsigned both = opcode - static_cast<unsigned>(operands_.size()) - 1;
      advance(both / line_range_);
      line_ += static_cast<uint64_t>(line_base_ + static_cast<int>(both % line_range_));
      return add_row(file());
    }
    switch (opcode) {
      case 0:
        return extended();
      case kCopy:
        return add_row(file());
      case kAdvancePc:
        return advance(in_.unsigned_number());
      case kAdvanceLine:
        line_ += static_cast<uint64_t>(in_.signed_number());
        return;
      case kSetFile:
        file_ = in_.unsigned_number();
        return;
      case kAddConstant:
        return advance((255U - operands_.size() - 1) / line_range_);
      case kFixedAdvance:
        address_ += in_.take<uint16_t>();
        return;
      default:
        for (unsigned n = 0; n < operands_[opcode - 1]; ++n) in_.unsigned_number();
    }
  }

  void extended() {
    const uint64_t size = in_.unsigned_number(), begin = in_.at();
    if (size == 0 || size > end_ - begin) throw ElfError("a source line lies outside the file");
    const auto opcode = in_.take<uint8_t>();
    if (opcode == kEndSequence) {
      add_row(nullptr);
      section_.reset();
      address_ = 0;
      file_ = line_ = 1;
    } else if (opcode == kSetAddress) {
      const auto place = places_.find(in_.at());
      section_.reset();
      if (place != places_.end()) {
        section_ = place->second.section;
        address_ = place->second.address;
        if (size == 1 + sizeof(uint64_t)) address_ += in_.take<uint64_t>();
      }
    } else if (opcode == kDefineFile) {
      add_file(in_.text());
    }
    in_.go(begin + size);
  }

  void advance(uint64_t steps) { address_ += steps * smallest_; }

  Text file() const { return file_ == 0 || file_ > files_.size() ? nullptr : files_[file_ - 1]; }
  void add_row(Text file) {
    if (section_)
      rows_[*section_].push_back({address_, std::move(file), static_cast<uint32_t>(line_)});
  }

  Cursor in_;
  uint64_t end_, left_;
  const Places& places_;
  Rows& rows_;
  uint8_t smallest_ = 1, line_range_ = 1;
  int8_t line_base_ = 0;
  std::vector<uint8_t> operands_;  ///< how many each standard opcode has
  std::vector<std::string> folders_;
  std::vector<Text> files_;
  std::optional<size_t> section_;
  uint64_t address_ = 0, file_ = 1, line_ = 1;
};

Unit::Places relocated_places(const File& file, size_t lines) {
  constexpr unsigned kSectionBits = 24;  // of sh_info, as cubins use it
  Unit::Places out;
  for (const Section& s : file.sections) {
    if ((s.type != kRel && s.type != kRela) || s.info % (1U << kSectionBits) != lines) continue;
    for (const Reloc& r : file.relocations(s)) {
      const Symbol& to = file.symbols[r.symbol];
      if (to.section >= file.sections.size()) continue;
      out[r.offset] = {to.section, to.value + static_cast<uint64_t>(r.addend)};
    }
  }
  return out;
}

}  // namespace

std::map<size_t, std::vector<LineRow>> source_lines(const File& file) {
  Unit::Rows rows;
  const Section* lines = file.section(".debug_line");
  if (lines == nullptr) return rows;
  const Unit::Places places =
      relocated_places(file, static_cast<size_t>(lines - file.sections.data()));
  for (uint64_t at = 0; at < lines->data.size();) {
    const uint64_t begin = at + sizeof(uint32_t);
    const uint64_t length = read<uint32_t>(lines->data, at, kWhat);
    if (length > lines->data.size() - begin)
      throw ElfError("a unit of the source's lines is cut off");
    at = begin + length;
    Unit(Cursor(lines->data, begin, at), at, places, rows).run();
  }
  // A sequence that begins where another one ends goes on there.
  for (auto& [section, list] : rows)
    std::stable_sort(list.begin(), list.end(), [](const LineRow& a, const LineRow& b) {
      return std::pair(a.address, a.file != nullptr) < std::pair(b.address, b.file != nullptr);
    });
  return rows;
}

}  // namespace lanewise::elf
