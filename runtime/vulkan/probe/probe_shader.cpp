#include "runtime/vulkan/probe/probe_shader.hpp"

#include "runtime/spirv/binary/float_modes.hpp"

namespace lanewise::vulkan {
namespace {

constexpr uint32_t kHeaderWords = 5;
constexpr uint32_t kOpDecorate = 71, kNoContraction = 42, kOpFConvert = 115;
constexpr uint32_t kOpConvertFToU = 109, kOpConvertUToF = 112;

void append_instruction(std::vector<uint32_t>& out, uint32_t op, std::vector<uint32_t> operands) {
  out.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  out.insert(out.end(), operands.begin(), operands.end());
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

void run_probe_shader(Device& device, Pipelines& pipelines, std::span<const uint32_t> words,
                      const Buffer& in, const Buffer& out, uint32_t groups,
                      const spirv::Target& modes) {
  const Pipeline pipeline =
      pipelines.create(spirv::with_float_modes(exact_conversions(words), modes));
  const size_t set = pipelines.add_set();
  pipelines.bind(set, {{{&in, in.size}, {&out, out.size}, {&in, 4}, {&in, 4}, {&in, 4}, {&in, 4}}});
  device.run([&](const vk::raii::CommandBuffer& commands) {
    pipelines.record(commands, pipeline, set, {}, {0, 0, 0}, {groups, 1, 1});
  });
}

}  // namespace lanewise::vulkan
