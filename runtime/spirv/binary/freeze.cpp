// Specialisation constants become plain constants, and what the compiler derived from them too.
#include <algorithm>
#include <optional>
#include <spirv/unified1/spirv.hpp>
#include <unordered_map>

#include "runtime/spirv/binary/code.hpp"
#include "runtime/spirv/binary/library.hpp"

namespace lanewise::spirv::library {
namespace {

class Freezer {
 public:
  Freezer(const std::vector<uint32_t>& words, const std::map<uint32_t, uint32_t>& values)
      : words_(words), values_(values) {}

  std::vector<uint32_t> run() {
    out_.reserve(words_.size());
    out_.assign(words_.begin(), words_.begin() + kHeaderWords);
    size_t at = kHeaderWords;
    for (; at < words_.size() && (words_[at] & 0xffff) != spv::OpFunction;
         at += std::max(words_[at] >> 16, 1U))
      step(&words_[at]);
    out_.insert(out_.end(), words_.begin() + static_cast<ptrdiff_t>(at), words_.end());
    return std::move(out_);
  }

 private:
  void step(const uint32_t* inst) {
    switch (inst[0] & 0xffff) {
      case spv::OpDecorate:
        if (inst[2] == static_cast<uint32_t>(spv::DecorationSpecId)) {
          spec_id_[inst[1]] = inst[3];
          return;
        }
        break;
      case spv::OpTypeBool:
        bool_type_ = inst[1];
        break;
      case spv::OpConstant:
        if (inst[0] >> 16 == 4) known_[inst[2]] = inst[3];
        break;
      case spv::OpConstantTrue:
        known_[inst[2]] = 1;
        break;
      case spv::OpConstantFalse:
        known_[inst[2]] = 0;
        break;
      case spv::OpSpecConstant:
        if (inst[0] >> 16 == 4) return constant(inst[1], inst[2], value_of(inst[2], inst[3]));
        break;
      case spv::OpSpecConstantOp:
        if (const auto value = evaluate(inst)) return constant(inst[1], inst[2], *value);
        break;
      default:
        break;
    }
    out_.insert(out_.end(), inst, inst + (inst[0] >> 16));
  }

  uint32_t value_of(uint32_t id, uint32_t otherwise) const {
    const auto spec = spec_id_.find(id);
    if (spec == spec_id_.end()) return otherwise;
    const auto value = values_.find(spec->second);
    return value == values_.end() ? otherwise : value->second;
  }

  void constant(uint32_t type, uint32_t id, uint32_t value) {
    known_[id] = value;
    if (type == bool_type_) {
      const uint32_t op = value != 0 ? spv::OpConstantTrue : spv::OpConstantFalse;
      out_.insert(out_.end(), {op | 3U << 16, type, id});
    } else {
      out_.insert(out_.end(), {spv::OpConstant | 4U << 16, type, id, value});
    }
  }

  std::optional<uint32_t> operand(uint32_t id) const {
    const auto found = known_.find(id);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The two-operand forms that glslang makes of our sources; any other stays as it is.
  std::optional<uint32_t> evaluate(const uint32_t* inst) const {
    if (inst[0] >> 16 != 6) return {};
    const auto a = operand(inst[4]), b = operand(inst[5]);
    if (!a || !b) return {};
    switch (inst[3]) {
      case spv::OpIEqual:
        return *a == *b;
      case spv::OpINotEqual:
        return *a != *b;
      case spv::OpUGreaterThan:
        return *a > *b;
      case spv::OpULessThan:
        return *a < *b;
      case spv::OpIAdd:
        return *a + *b;
      case spv::OpISub:
        return *a - *b;
      case spv::OpIMul:
        return *a * *b;
      default:
        return {};
    }
  }

  const std::vector<uint32_t>& words_;
  const std::map<uint32_t, uint32_t>& values_;
  std::vector<uint32_t> out_;
  std::unordered_map<uint32_t, uint32_t> spec_id_, known_;
  uint32_t bool_type_ = 0;
};

uint32_t value_or(const std::map<uint32_t, uint32_t>& values, uint32_t id, uint32_t otherwise) {
  const auto found = values.find(id);
  return found == values.end() ? otherwise : found->second;
}

}  // namespace

std::vector<uint32_t> freeze(const std::vector<uint32_t>& words,
                             std::map<uint32_t, uint32_t> values) {
  const uint32_t lane_count = std::max(value_or(values, lanes, 1), 1U);
  values[lanes] = lane_count;
  // lib/memory/clear.glsl takes four words at a time.
  const uint32_t array =
      value_or(values, local_in_backing, 0) != 0 ? 0 : value_or(values, local_words, 1);
  values[local_total] = std::max((array * lane_count + 3) / 4 * 4, 16U);
  values[level_words] = std::max(value_or(values, wave_levels, 0) * lane_count, 1U);
  values[shared_words] = std::max(value_or(values, shared_words, 1), 16U);
  return Freezer(words, values).run();
}

}  // namespace lanewise::spirv::library
