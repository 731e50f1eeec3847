#include "runtime/spirv/binary/stack_frame.hpp"

#include <algorithm>
#include <spirv/unified1/spirv.hpp>
#include <unordered_map>

#include "runtime/spirv/binary/code.hpp"

namespace lanewise::spirv {
namespace {

class Counter {
 public:
  StackUse count(const std::vector<uint32_t>& words) {
    for (size_t at = kHeaderWords; at < words.size(); at += std::max(words[at] >> 16, 1U))
      look(static_cast<spv::Op>(words[at] & 0xffff), &words[at], words[at] >> 16);
    return use_;
  }

 private:
  void look(spv::Op op, const uint32_t* w, uint32_t length) {
    switch (op) {
      case spv::OpTypeBool:
        size_[w[1]] = 1;
        return;
      case spv::OpTypeInt:
      case spv::OpTypeFloat:
        size_[w[1]] = std::max(w[2] / 32, 1U);
        return;
      case spv::OpTypeVector:
        size_[w[1]] = size_of(w[2]) * w[3];
        return;
      case spv::OpConstant:
        constant_[w[2]] = w[3];
        return;
      case spv::OpTypeArray:
        size_[w[1]] = size_of(w[2]) * constant_[w[3]];
        return;
      case spv::OpTypeStruct:
        for (uint32_t n = 2; n < length; ++n) size_[w[1]] += size_of(w[n]);
        return;
      case spv::OpTypePointer:
        target_[w[1]] = w[3];
        outside_[w[1]] = w[2] != spv::StorageClassPrivate && w[2] != spv::StorageClassFunction;
        return;
      case spv::OpVariable:
        if (!outside_[w[1]]) use_.variable_words += size_of(target_[w[1]]);
        return;
      case spv::OpAccessChain:
      case spv::OpInBoundsAccessChain:
        if (outside_[w[1]]) ++use_.accesses;
        return;
      case spv::OpPhi:
        use_.phi_operands += size_of(w[1]) * ((length - 3) / 2);
        return;
      default:
        return;
    }
  }
  uint64_t size_of(uint32_t type) const {
    const auto found = size_.find(type);
    return found == size_.end() ? 1 : found->second;
  }

  StackUse use_;
  std::unordered_map<uint32_t, uint64_t> size_, constant_;
  std::unordered_map<uint32_t, uint32_t> target_;
  std::unordered_map<uint32_t, bool> outside_;
};

}  // namespace

StackUse stack_use(const std::vector<uint32_t>& words) {
  return Counter().count(words);
}

uint64_t frame_bytes(const StackUse& use, uint32_t invocations) {
  // Read from SwiftShader's code, kernels of 25,000 to 160,000 words: up to two words for each
  // operand of an OpPhi, and 16 for an access, whose invocations go one after the other.
  const uint64_t spilled = use.phi_operands * 2 + use.accesses * 16;
  return 4 * invocations * (use.variable_words + spilled);
}

}  // namespace lanewise::spirv
