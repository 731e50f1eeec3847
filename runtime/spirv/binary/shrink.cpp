// Makes a linked module smaller for drivers that compile what they are given as it stands.
//
// SwiftShader neither folds constants nor drops branches on them, and the time and memory of its
// compiler grow much faster than the number of blocks in a loop: 32 checked loads in a loop took
// more than 40 s as linked. The library's functions branch on flags that are constants at each
// call, so inlining them and folding those branches removes most of the blocks. Other drivers do
// this themselves, and the passes would cost more than they save there: they run only where they
// are needed.
#include "runtime/spirv/binary/shrink.hpp"

#include <algorithm>
#include <spirv-tools/optimizer.hpp>

#include "runtime/spirv/binary/code.hpp"
#include "runtime/spirv/binary/loop_values.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {

namespace {

enum class MergeBlocks : uint8_t { no, yes };

/// Merging a loop's empty body with a continue construct of several blocks makes the header its own
/// continue target, which only a loop of one block may be. The optimiser does it.
bool has_headers_that_continue(const std::vector<uint32_t>& words) {
  uint32_t label = 0;
  for (size_t at = 5; at < words.size() && words[at] >> 16 != 0; at += words[at] >> 16) {
    const auto op = static_cast<spv::Op>(words[at] & 0xffff);
    if (op == spv::OpLabel) label = words[at + 1];
    if (op != spv::OpLoopMerge || words[at + 2] != label) continue;
    const size_t branch = at + (words[at] >> 16), end = branch + (words[branch] >> 16);
    if (std::find(words.begin() + branch + 1, words.begin() + end, label) == words.begin() + end)
      return true;
  }
  return false;
}

/// Of a kernel that has no effect the optimiser takes the types that its constants and its entry
/// point's variables still name.
bool has_integers(const std::vector<uint32_t>& words) {
  for (size_t at = 5; at < words.size() && words[at] >> 16 != 0; at += words[at] >> 16)
    if (static_cast<spv::Op>(words[at] & 0xffff) == spv::OpTypeInt) return true;
  return false;
}

std::vector<uint32_t> optimised(const std::vector<uint32_t>& words, MergeBlocks merge) {
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  std::string message;
  optimizer.SetMessageConsumer(
      [&](spv_message_level_t level, const char*, const spv_position_t&, const char* text) {
        if (level <= SPV_MSG_ERROR) message = text;
      });
  optimizer.RegisterPass(spvtools::CreateMergeReturnPass())
      .RegisterPass(spvtools::CreateInlineExhaustivePass())
      .RegisterPass(spvtools::CreateEliminateDeadFunctionsPass())
      .RegisterPass(spvtools::CreatePrivateToLocalPass())
      .RegisterPass(spvtools::CreateLocalSingleBlockLoadStoreElimPass())
      .RegisterPass(spvtools::CreateLocalSingleStoreElimPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreateSSARewritePass())
      .RegisterPass(spvtools::CreateCCPPass())
      .RegisterPass(spvtools::CreateDeadBranchElimPass())
      .RegisterPass(spvtools::CreateSimplificationPass())
      .RegisterPass(spvtools::CreateIfConversionPass());
  if (merge == MergeBlocks::yes) optimizer.RegisterPass(spvtools::CreateBlockMergePass());
  optimizer.RegisterPass(spvtools::CreateRedundancyEliminationPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass());
  if (merge == MergeBlocks::yes) optimizer.RegisterPass(spvtools::CreateBlockMergePass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);  // tests validate every module we emit
  std::vector<uint32_t> out;
  if (!optimizer.Run(words.data(), words.size(), &out, options)) {
    if (message.find("ID overflow") != std::string::npos)
      throw Error(
          ErrorKind::device,
          "the kernel is too large for this device: it has more than 4,194,303 SPIR-V ids once "
          "the library's functions are part of it; run it on another device");
    throw Error(ErrorKind::device, "SPIRV-Tools cannot optimise the module: " + message);
  }
  return out;
}

}  // namespace

std::vector<uint32_t> shrink(const std::vector<uint32_t>& words) {
  std::vector<uint32_t> out = optimised(words, MergeBlocks::yes);
  if (has_headers_that_continue(out)) out = optimised(words, MergeBlocks::no);
  return keep_loop_values(has_integers(out) ? out : words);
}

}  // namespace lanewise::spirv
