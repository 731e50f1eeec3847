#include "runtime/vulkan/probe/probe_shader.hpp"

#include <cstring>

namespace lanewise::vulkan {
namespace {

constexpr uint32_t kHeaderWords = 5;
constexpr uint32_t kOpDecorate = 71, kNoContraction = 42, kOpFConvert = 115;
constexpr uint32_t kOpConvertFToU = 109, kOpConvertUToF = 112;
constexpr uint32_t kOpExtension = 10, kOpCapability = 17, kOpEntryPoint = 15, kOpExecutionMode = 16;
// Capability and execution mode numbers of SPV_KHR_float_controls.
constexpr uint32_t kDenormPreserve[] = {4464, 4459};
constexpr uint32_t kDenormFlushToZero[] = {4465, 4460};
constexpr uint32_t kSignedZeroInfNanPreserve[] = {4466, 4461};
constexpr uint32_t kRoundingModeRte[] = {4467, 4462};

struct Mode {
  bool wanted;
  const uint32_t* numbers;
  uint32_t width;
};

std::vector<Mode> modes_of(const spirv::Target& t) {
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

bool converts_floats(uint32_t op) {
  return op >= kOpConvertFToU && op <= kOpConvertUToF;
}

/// Compilers keep narrowing that is undone at once only where it is decorated like this, as
/// translated kernels do; GLSL's `precise` does not reach conversions.
std::vector<uint32_t> exact_conversions(std::span<const uint32_t> words) {
  std::vector<uint32_t> decorations, out(words.begin(), words.begin() + kHeaderWords);
  for (size_t at = kHeaderWords; at < words.size(); at += words[at] >> 16)
    if (const uint32_t op = words[at] & 0xffff; converts_floats(op) || op == kOpFConvert)
      append_instruction(decorations, kOpDecorate, {words[at + 2], kNoContraction});
  bool placed = false;
  for (size_t at = kHeaderWords; at < words.size(); at += words[at] >> 16) {
    if (!placed && (words[at] & 0xffff) == kOpDecorate) {
      out.insert(out.end(), decorations.begin(), decorations.end());
      placed = true;
    }
    out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(at),
               words.begin() + static_cast<std::ptrdiff_t>(at + (words[at] >> 16)));
  }
  return out;
}

}  // namespace

std::vector<uint32_t> with_float_modes(std::span<const uint32_t> words,
                                       const spirv::Target& target) {
  const std::vector<Mode> modes = modes_of(target);
  std::vector<uint32_t> out(words.begin(), words.begin() + kHeaderWords);
  bool required = modes.empty();
  for (size_t at = kHeaderWords; at < words.size();) {
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
  return out;
}

void run_probe_shader(Device& device, Pipelines& pipelines, std::span<const uint32_t> words,
                      const Buffer& in, const Buffer& out, uint32_t groups,
                      const spirv::Target& modes) {
  const Pipeline pipeline = pipelines.create(with_float_modes(exact_conversions(words), modes));
  const size_t set = pipelines.add_set();
  pipelines.bind(set, {{{&in, in.size}, {&out, out.size}, {&in, 4}, {&in, 4}, {&in, 4}, {&in, 4}}});
  device.run([&](const vk::raii::CommandBuffer& commands) {
    pipelines.record(commands, pipeline, set, {}, {0, 0, 0}, {groups, 1, 1});
  });
}

}  // namespace lanewise::vulkan
