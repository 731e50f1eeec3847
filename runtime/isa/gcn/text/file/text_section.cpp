#include "runtime/isa/gcn/text/file/text_section.hpp"

#include <algorithm>
#include <utility>

#include "runtime/isa/gcn/tables/row.hpp"

namespace lanewise::gcn {

Kernel& TextSection::kernel() {
  if (listing_.kernels.empty()) {
    listing_.kernels.emplace_back();
    listing_.kernels.back().name = "stream";
  }
  return listing_.kernels.back();
}

uint64_t TextSection::end_of_code() const {
  if (listing_.kernels.empty()) return 0;
  const Kernel& k = listing_.kernels.back();
  return k.base + (k.code.empty() ? 0 : k.code.back().pc + size_of(k.code.back(), k.gen));
}

uint64_t TextSection::here(uint32_t line) {
  pad(line);
  return run_ ? run_->end() : end_of_code();
}

void TextSection::label(std::string_view name, uint32_t line) {
  if (run_ && run_->size() % 4 == 0) end_data();
  const bool plain =
      name[0] != '.' && name[0] != 'L' && (name.size() < 2 || name.substr(0, 2) != "BB");
  if (plain && starts_kernel(name)) return begin_kernel(name);
  pad(line);
  if (run_) {  // between words no instruction can stand
    data_labels_[std::string(name)] = run_->end();
    return;
  }
  kernel().labels.push_back({std::string(name), kernel().code.size()});
}

/// At the next address that the alignments in front of it allow.
void TextSection::begin_kernel(std::string_view name) {
  if (run_)
    Cursor::fail_at(0,
                    "code begins at multiples of 4 bytes, and the data in front end between "
                    "them: .p2align 2");
  uint64_t at = end_of_code();
  for (const Alignment& a : std::exchange(alignments_, {}))
    at += take_padding(a.gap(at), kMostGaps);
  branched_to_.clear();
  listing_.kernels.emplace_back();
  listing_.kernels.back().name = std::string(name);
  listing_.kernels.back().gen = listing_.gen;
  listing_.kernels.back().base = at;
}

/// A plain name is a function's where a directive says so. Else it is a label like others where
/// the code before branches to it or runs on into it.
bool TextSection::starts_kernel(std::string_view name) const {
  if (listing_.kernels.empty() || declared_.contains(name)) return true;
  if (branched_to_.contains(name)) return false;
  if (run_) return false;  // between words
  const std::vector<Instruction>& code = listing_.kernels.back().code;
  const auto is = [&](size_t n, const char* text) { return code[n].text.starts_with(text); };
  size_t n = code.size();
  while (n != 0 && (is(n - 1, "s_nop") || is(n - 1, "s_code_end"))) --n;
  if (n == 0) return code.empty();
  if (code[n - 1].text.starts_with(".")) return true;  // a word that is no instruction
  return is(n - 1, "s_endpgm") || is(n - 1, "s_setpc") || is(n - 1, "s_branch");
}

void TextSection::align(const Alignment& a, uint32_t line) {
  if (run_ && run_->size() % 4 != 0)
    run_->fill(4 - run_->size() % 4, static_cast<std::byte>(a.fills ? a.fill & 255 : 0));
  end_data();
  (void)line;
  alignments_.push_back(a);
}

/// Alignments that the code runs into are instructions of their own.
void TextSection::pad(uint32_t line) {
  constexpr uint32_t kNop = 0xbf800000;
  for (const Alignment& a : std::exchange(alignments_, {})) {
    const uint64_t gap = take_padding(a.gap(end_of_code()), kMostPadding);
    if (gap == 0) continue;
    const uint64_t fill = a.width == 1   ? a.fill * 0x01010101
                          : a.width == 2 ? a.fill | a.fill << 16
                                         : a.fill;
    run_.emplace(end_of_code());
    run_line_ = line;
    for (uint64_t n = 0; n < gap / 4; ++n) run_->append(a.fills ? fill : kNop, 4);
    end_data();
  }
}

uint64_t TextSection::take_padding(uint64_t bytes, uint64_t most) {
  padding_ += bytes;
  if (padding_ > most) Cursor::fail_value(0, "too many bytes between instructions");
  return bytes;
}

void TextSection::data(uint32_t line, const std::function<void(DataSection&)>& fill) {
  pad(line);
  if (!run_) {
    run_.emplace(end_of_code());
    run_line_ = line;
  }
  const uint64_t before = run_->size();
  const size_t late = run_->late().size();
  fill(*run_);
  for (size_t n = late; n < run_->late().size(); ++n) run_->late()[n].line = line;
  data_bytes_ += run_->size() - before;
  if (data_bytes_ > kMostData) {
    run_.reset();
    Cursor::fail_value(0, "more than 2 MiB of data between instructions: .rodata takes more");
  }
  if (run_->empty()) run_.reset();
}

void TextSection::end_data() {
  if (!run_) return;
  DataSection data = *std::exchange(run_, std::nullopt);
  if (data.size() % 4 != 0) data.fill(4 - data.size() % 4, std::byte{0});
  std::vector<bool> late(data.size() / 4);
  for (LateValue& v : data.late()) {
    for (uint64_t at = v.at; at < v.at + v.size; ++at) late[at / 4] = true;
    v.at += data.end() - data.size();
    late_.push_back(std::move(v));
  }
  decode_data(data, late);
}

/// Words that wait for their value are data, whatever they would be until then.
void TextSection::decode_data(const DataSection& data, const std::vector<bool>& late) {
  constexpr size_t kMostWords = 4;
  const size_t count = data.size() / 4;
  const auto word = [&](size_t n) {
    uint32_t w = 0;
    for (size_t b = 0; b < 4; ++b) w |= static_cast<uint32_t>(data.bytes()[4 * n + b]) << (8 * b);
    return w;
  };
  for (size_t n = 0; n < count;) {
    std::vector<uint32_t> rest;
    for (size_t k = n; k < std::min(count, n + kMostWords); ++k) rest.push_back(word(k));
    auto i = decode(rest, listing_.gen);
    const auto waits = [&] {
      const size_t words = size_of(*i, listing_.gen) / 4;
      return std::find(late.begin() + static_cast<std::ptrdiff_t>(n),
                       late.begin() + static_cast<std::ptrdiff_t>(std::min(count, n + words)),
                       true) !=
             late.begin() + static_cast<std::ptrdiff_t>(std::min(count, n + words));
    };
    if (!i || waits()) i = undecoded(rest, listing_.gen);
    n += size_of(*i, listing_.gen) / 4;
    i->text = print(*i, listing_.gen);
    add(std::move(*i), run_line_, 1);
  }
}

void TextSection::instruction(Instruction i, uint32_t line, uint32_t column) {
  pad(line);
  if (run_ && run_->size() % 4 != 0)
    Cursor::fail_at(0,
                    "instructions lie at multiples of 4 bytes, and the data in front end "
                    "between them: .p2align 2");
  end_data();
  if (const Operand* to = i.operand(Slot::label)) branched_to_.insert(to->label);
  add(std::move(i), line, column);
  with_code_.insert(kernel().name);
}

void TextSection::add(Instruction i, uint32_t line, uint32_t column) {
  Kernel& k = kernel();
  k.gen = listing_.gen;
  i.line = line;
  i.column = column;
  i.pc = k.code.empty() ? 0 : k.code.back().pc + size_of(k.code.back(), k.gen);
  k.code.push_back(std::move(i));
}

bool TextSection::holds_data_only(const Kernel& k) const {
  return !with_code_.contains(k.name) && (k.code.empty() || !k.code.back().row->ends_block());
}

void TextSection::finish() {
  end_data();
  alignments_.clear();
}

}  // namespace lanewise::gcn
