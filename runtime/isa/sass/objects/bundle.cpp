// Code in memory: bundles of a control word and three instructions, or bare instruction words.
#include <fmt/format.h>

#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {
namespace {

uint64_t word_at(std::span<const std::byte> bytes, size_t offset) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value |= std::to_integer<uint64_t>(bytes[offset + i]) << (8 * i);
  return value;
}

void put_word(std::vector<std::byte>& out, uint64_t word) {
  for (unsigned i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(word >> (8 * i)));
}

std::string why_not(uint64_t word, Control control, unsigned arch) {
  const Form* form = decode_form(word, arch);
  const std::string complaint = form == nullptr ? "" : control_complaint(*form, word, control);
  if (!complaint.empty()) return complaint;
  const std::string name(opcode_name(word));
  return name.empty() ? fmt::format("this is no instruction that is known for sm_{}", arch)
                      : name + " is not supported in this form";
}

class BundleDecoder {
 public:
  BundleDecoder(unsigned arch, size_t max_errors) : arch_(arch), max_errors_(max_errors) {}

  void add(uint64_t word, Control control, uint64_t pc, bool has_control) {
    std::optional<Instruction> i = decode(word, control, arch_);
    if (!i) {
      report(pc, fmt::format("word {:016x}: {}", word, why_not(word, control, arch_)));
      i = undecoded(word, control);
    }
    i->pc = pc;
    i->has_control = has_control;
    out_.code.push_back(std::move(*i));
  }
  void report(uint64_t pc, const std::string& message) {
    if (max_errors_ == 0 || out_.diagnostics.size() < max_errors_)
      out_.diagnostics.push_back({0, 0, fmt::format("at {:#06x}: {}", pc, message), false});
  }
  /// A pair needs its second instruction.
  Decoded finish() {
    if (!out_.code.empty() && out_.code.back().control.dual())
      report(out_.code.back().pc, "the last instruction is the first of a dual-issue pair");
    return std::move(out_);
  }

 private:
  unsigned arch_;
  size_t max_errors_;
  Decoded out_;
};

}  // namespace

Decoded decode_bundles(std::span<const std::byte> code, unsigned arch, size_t max_errors) {
  BundleDecoder d(arch, max_errors);
  if (code.size() % 32 != 0)
    d.report(0, fmt::format("{} bytes of code, expected a multiple of 32 (a control word and three "
                            "instructions)",
                            code.size()));
  for (size_t at = 0; at + 32 <= code.size(); at += 32) {
    const uint64_t controls = word_at(code, at);
    for (unsigned slot = 0; slot < 3; ++slot) {
      const Control control{static_cast<uint32_t>(controls >> (21 * slot) & 0x1fffff)};
      d.add(word_at(code, at + 8 + 8 * slot), control, at + 8 + 8 * slot, true);
    }
  }
  return d.finish();
}

Decoded decode_words(std::span<const std::byte> code, unsigned arch, size_t max_errors) {
  BundleDecoder d(arch, max_errors);
  if (code.size() % 8 != 0)
    d.report(0, fmt::format("{} bytes, expected a multiple of 8", code.size()));
  for (size_t n = 0; 8 * n + 8 <= code.size(); ++n)
    d.add(word_at(code, 8 * n), {}, pc_of(n), false);
  return d.finish();
}

std::vector<std::byte> encode_bundles(const Kernel& kernel) {
  constexpr uint64_t kNop = 0x50b0000000070f00;
  std::vector<std::byte> out;
  for (size_t at = 0; at < kernel.code.size(); at += 3) {
    uint64_t controls = 0, words[3] = {kNop, kNop, kNop};
    for (size_t slot = 0; slot < 3; ++slot) {
      const bool real = at + slot < kernel.code.size();
      const uint64_t control = real ? kernel.code[at + slot].control.bits : Control::kBlank;
      controls |= control << (21 * slot);
      if (real) words[slot] = kernel.code[at + slot].word;
    }
    put_word(out, controls);
    for (const uint64_t word : words) put_word(out, word);
  }
  return out;
}

}  // namespace lanewise::sass
