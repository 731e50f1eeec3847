#include "runtime/spirv/binary/merge.hpp"

#include <algorithm>
#include <span>
#include <spirv-tools/libspirv.hpp>
#include <spirv/unified1/spirv.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "runtime/spirv/binary/code.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

using Words = std::vector<uint32_t>;
using Inst = std::span<const uint32_t>;

spv::Op op_of(Inst inst) {
  return static_cast<spv::Op>(inst[0] & 0xffff);
}
void append(Words& to, Inst inst) {
  to.insert(to.end(), inst.begin(), inst.end());
}
std::string text_at(Inst inst, size_t word) {
  return reinterpret_cast<const char*>(&inst[word]);
}

/// In the order of a module.
struct Sections {
  Words capabilities, extensions, imports, model, entries, names, decorations, globals, functions;

  Words& of(spv::Op op) {
    switch (op) {
      case spv::OpCapability:
        return capabilities;
      case spv::OpExtension:
        return extensions;
      case spv::OpExtInstImport:
        return imports;
      case spv::OpMemoryModel:
        return model;
      case spv::OpEntryPoint:
      case spv::OpExecutionMode:
      case spv::OpExecutionModeId:
        return entries;
      case spv::OpString:
      case spv::OpSource:
      case spv::OpSourceExtension:
      case spv::OpSourceContinued:
      case spv::OpName:
      case spv::OpMemberName:
      case spv::OpModuleProcessed:
        return names;
      case spv::OpDecorate:
      case spv::OpMemberDecorate:
      case spv::OpDecorateId:
        return decorations;
      default:
        return globals;
    }
  }
};

/// All but the instruction's own.
bool names_id(spv_operand_type_t type) {
  return type == SPV_OPERAND_TYPE_ID || type == SPV_OPERAND_TYPE_TYPE_ID ||
         type == SPV_OPERAND_TYPE_SCOPE_ID || type == SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID;
}

/// What is the same thing wherever it is declared, unless it is decorated.
bool is_shared(spv::Op op) {
  if (op == spv::OpTypeForwardPointer) return false;
  return (op >= spv::OpTypeVoid && op <= spv::OpTypeFunction) ||
         (op >= spv::OpConstantTrue && op <= spv::OpConstantNull);
}
size_t result_word(spv::Op op) {
  return op >= spv::OpTypeVoid && op <= spv::OpTypeFunction ? 1 : 2;
}

struct KeyHash {
  size_t operator()(const Words& key) const {
    size_t h = 0;
    for (const uint32_t w : key) h = (h ^ w) * 0x9e3779b97f4a7c15 ^ (h >> 29);
    return h;
  }
};

class Merger {
 public:
  Words run(const Words& body, const Words& part) {
    header_.assign(body.begin(), body.begin() + kHeaderWords);
    header_[1] = std::max(body[1], part[1]);
    out_.functions.reserve(body.size() + part.size());
    read_body(body);
    read_part(part);
    header_[3] = bound_;
    Words out = std::move(header_);
    out.reserve(body.size() + part.size());
    for (const Words* s :
         {&out_.capabilities, &out_.extensions, &out_.imports, &out_.model, &out_.entries,
          &out_.names, &out_.decorations, &out_.globals, &out_.functions})
      append(out, *s);
    return out;
  }

 private:
  // --- the body ----------------------------------------------------------------------------------

  void read_body(const Words& words) {
    bound_ = words[3];
    for (size_t at = kHeaderWords; at < words.size();) {
      const Inst inst = std::span(words).subspan(at, std::max(words[at] >> 16, 1U));
      if (op_of(inst) == spv::OpFunction) {
        at = take_function(words, at);
        continue;
      }
      at += inst.size();
      take_of_body(inst);
    }
  }

  void take_of_body(Inst inst) {
    const spv::Op op = op_of(inst);
    if (is_linkage(inst)) return;
    if (op == spv::OpDecorate && inst[2] == spv::DecorationLinkageAttributes) {
      ids_of_imports_[text_at(inst, 3)] = inst[1];
      return;
    }
    if (op == spv::OpDecorate || op == spv::OpMemberDecorate) decorated_.insert(inst[1]);
    if (op == spv::OpExtInstImport) sets_[text_at(inst, 2)] = inst[1];
    if (op == spv::OpCapability || op == spv::OpExtension) seen_.insert(key_of(inst, 0));
    if (is_shared(op)) {
      const uint32_t result = inst[result_word(op)];
      if (!decorated_.contains(result)) shared_.emplace(key_of(inst, result_word(op)), result);
    }
    append(out_.of(op), inst);
  }

  /// One without code is imported. Where the next function begins.
  size_t take_function(const Words& words, size_t first) {
    size_t at = first;
    bool has_code = false;
    for (;;) {
      const spv::Op op = op_of(std::span(words).subspan(at, 1));
      has_code = has_code || op == spv::OpLabel;
      at += words[at] >> 16;
      if (op == spv::OpFunctionEnd) break;
    }
    if (has_code) append(out_.functions, std::span(words).subspan(first, at - first));
    return at;
  }

  // --- the part of the library -------------------------------------------------------------------

  void read_part(const Words& words) {
    const spvtools::Context context(SPV_ENV_VULKAN_1_2);
    const auto header = [](void*, spv_endianness_t, uint32_t, uint32_t, uint32_t, uint32_t,
                           uint32_t) { return SPV_SUCCESS; };
    const auto inst = [](void* self, const spv_parsed_instruction_t* i) {
      static_cast<Merger*>(self)->take_of_part(*i);
      return SPV_SUCCESS;
    };
    if (spvBinaryParse(context.CContext(), this, words.data(), words.size(), header, inst,
                       nullptr) != SPV_SUCCESS)
      throw Error(ErrorKind::device, "internal: the shader library cannot be read");
  }

  void take_of_part(const spv_parsed_instruction_t& parsed) {
    const Inst given(parsed.words, parsed.num_words);
    const spv::Op op = op_of(given);
    if (op == spv::OpMemoryModel || is_linkage(given)) return;
    if (op == spv::OpCapability || op == spv::OpExtension) {
      if (seen_.insert(key_of(given, 0)).second) append(out_.of(op), given);
      return;
    }
    if (op == spv::OpDecorate && given[2] == spv::DecorationLinkageAttributes) {
      const auto wanted = ids_of_imports_.find(text_at(given, 3));
      if (wanted != ids_of_imports_.end()) new_ids_[given[1]] = wanted->second;
      return;
    }
    if (op == spv::OpExtInstImport) {
      const auto known = sets_.find(text_at(given, 2));
      if (known != sets_.end()) {
        new_ids_[given[1]] = known->second;
        return;
      }
    }
    const bool is_new = parsed.result_id == 0 || !new_ids_.contains(parsed.result_id);
    Words inst(given.begin(), given.end());
    for (uint16_t n = 0; n < parsed.num_operands; ++n) {
      const spv_parsed_operand_t& o = parsed.operands[n];
      if (!names_id(o.type)) continue;
      inst[o.offset] = new_id(inst[o.offset]);
    }
    if (op == spv::OpDecorate || op == spv::OpMemberDecorate) decorated_.insert(inst[1]);
    if (is_shared(op) && is_new) {
      const auto known = shared_.find(key_of(inst, result_word(op)));
      if (known != shared_.end()) {
        new_ids_[parsed.result_id] = known->second;
        return;
      }
    }
    if (parsed.result_id != 0) {
      const size_t at = parsed.type_id != 0 ? 2 : 1;
      inst[at] = new_id(parsed.result_id);
    }
    in_functions_ = in_functions_ || op == spv::OpFunction;
    append(in_functions_ ? out_.functions : out_.of(op), inst);
  }

  uint32_t new_id(uint32_t id) {
    const auto [at, fresh] = new_ids_.try_emplace(id, bound_);
    if (fresh) ++bound_;
    return at->second;
  }

  static bool is_linkage(Inst inst) {
    return op_of(inst) == spv::OpCapability &&
           inst[1] == static_cast<uint32_t>(spv::CapabilityLinkage);
  }
  /// Without the word of the result.
  static Words key_of(Inst inst, size_t result) {
    Words key(inst.begin(), inst.end());
    if (result != 0) key.erase(key.begin() + static_cast<ptrdiff_t>(result));
    return key;
  }

  Words header_;
  Sections out_;
  uint32_t bound_ = 0;
  bool in_functions_ = false;
  std::unordered_map<std::string, uint32_t> ids_of_imports_, sets_;
  std::unordered_set<uint32_t> decorated_;
  std::unordered_set<Words, KeyHash> seen_;              ///< capabilities and extensions
  std::unordered_map<Words, uint32_t, KeyHash> shared_;  ///< types and constants of the body
  std::unordered_map<uint32_t, uint32_t> new_ids_;       ///< of the part
};

}  // namespace

std::vector<uint32_t> merge(const std::vector<uint32_t>& body, const std::vector<uint32_t>& part) {
  return Merger().run(body, part);
}

}  // namespace lanewise::spirv
