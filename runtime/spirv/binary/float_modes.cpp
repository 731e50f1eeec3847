#include "runtime/spirv/binary/float_modes.hpp"

#include <cstring>

#include "runtime/spirv/binary/code.hpp"

namespace lanewise::spirv {
namespace {

constexpr uint32_t kOpExtension = 10, kOpCapability = 17, kOpEntryPoint = 15, kOpExecutionMode = 16,
                   kOpFunction = 54;
// Capability and execution mode numbers.
constexpr uint32_t kDenormPreserve[] = {4464, 4459};
constexpr uint32_t kDenormFlushToZero[] = {4465, 4460};
constexpr uint32_t kSignedZeroInfNanPreserve[] = {4466, 4461};
constexpr uint32_t kRoundingModeRte[] = {4467, 4462};

struct Mode {
  bool wanted;
  const uint32_t* numbers;
  uint32_t width;
};

std::vector<Mode> modes_of(const Target& t) {
  std::vector<Mode> modes;
  for (const Mode& mode :
       {Mode{t.denorm_preserve, kDenormPreserve, 32},
        Mode{t.flushes && t.flush_mode, kDenormFlushToZero, 32},
        Mode{t.denorm_preserve64, kDenormPreserve, 64},
        Mode{t.signed_zero_inf_nan, kSignedZeroInfNanPreserve, 32},
        Mode{t.signed_zero_inf_nan64, kSignedZeroInfNanPreserve, 64},
        Mode{t.rte, kRoundingModeRte, 32}, Mode{t.rte64, kRoundingModeRte, 64}}) {
    if (mode.wanted) modes.push_back(mode);
  }
  return modes;
}

void append_instruction(std::vector<uint32_t>& out, uint32_t op, std::vector<uint32_t> operands) {
  out.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  out.insert(out.end(), operands.begin(), operands.end());
}

void append_requirements(std::vector<uint32_t>& out, const std::vector<Mode>& modes) {
  for (const Mode& mode : modes) append_instruction(out, kOpCapability, {mode.numbers[0]});
  const char text[] = "SPV_KHR_float_controls";
  std::vector<uint32_t> words((sizeof text + 3) / 4);
  std::memcpy(words.data(), text, sizeof text);
  append_instruction(out, kOpExtension, words);
}

}  // namespace

std::vector<uint32_t> with_float_modes(std::span<const uint32_t> words, const Target& target) {
  const std::vector<Mode> modes = modes_of(target);
  std::vector<uint32_t> out;
  out.reserve(words.size() + 64);
  out.assign(words.begin(), words.begin() + kHeaderWords);
  bool required = modes.empty();
  size_t at = kHeaderWords;
  while (at < words.size() && (words[at] & 0xffff) != kOpFunction) {
    const uint32_t op = words[at] & 0xffff, length = words[at] >> 16;
    // Requirements follow the module's own capabilities; modes follow the entry point.
    if (!required && op != kOpCapability) {
      append_requirements(out, modes);
      required = true;
    }
    out.insert(out.end(), words.begin() + at, words.begin() + at + length);
    if (op == kOpEntryPoint) {
      for (const Mode& mode : modes) {
        append_instruction(out, kOpExecutionMode, {words[at + 2], mode.numbers[1], mode.width});
      }
    }
    at += length;
  }
  out.insert(out.end(), words.begin() + at, words.end());
  return out;
}

}  // namespace lanewise::spirv
