// SPIR-V as text, and the validator.
#include <spirv-tools/libspirv.hpp>

#include "runtime/spirv/translate.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

// 1.2 knows physical storage buffers and accepts everything that tier 0 uses as well.
constexpr spv_target_env kEnvironment = SPV_ENV_VULKAN_1_2;

std::string place(const char* message, const spv_position_t& position) {
  return std::string(message) + " (word " + std::to_string(position.index) + ")";
}

}  // namespace

std::string disassemble(const std::vector<uint32_t>& words) {
  const spvtools::SpirvTools tools(kEnvironment);
  std::string text;
  constexpr uint32_t kOptions =
      SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES;
  if (!tools.Disassemble(words, &text, kOptions)) {
    throw Error(ErrorKind::usage, "not a SPIR-V module");
  }
  return text;
}

std::string validate(const std::vector<uint32_t>& words) {
  spvtools::SpirvTools tools(kEnvironment);
  std::string messages;
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& at, const char* message) {
        if (!messages.empty()) messages += '\n';
        messages += place(message, at);
      });
  if (tools.Validate(words)) return {};
  return messages.empty() ? "spirv-val rejects the module" : messages;
}

}  // namespace lanewise::spirv
