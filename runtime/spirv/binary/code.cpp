#include "runtime/spirv/binary/code.hpp"

#include <algorithm>
#include <spirv-tools/libspirv.hpp>

#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

class Reader {
 public:
  Code read(const std::vector<uint32_t>& words) {
    const ::spvtools::Context context(SPV_ENV_VULKAN_1_2);
    const auto header = [](void*, spv_endianness_t, uint32_t, uint32_t, uint32_t, uint32_t,
                           uint32_t) { return SPV_SUCCESS; };
    const auto inst = [](void* self, const spv_parsed_instruction_t* i) {
      static_cast<Reader*>(self)->take(*i);
      return SPV_SUCCESS;
    };
    code_.before.assign(words.begin(), words.begin() + kHeaderWords);
    if (spvBinaryParse(context.CContext(), this, words.data(), words.size(), header, inst,
                       nullptr) != SPV_SUCCESS)
      throw Error(ErrorKind::device, "internal: the linked module cannot be read");
    return std::move(code_);
  }

 private:
  static bool names_id(spv_operand_type_t type) {
    return type == SPV_OPERAND_TYPE_ID || type == SPV_OPERAND_TYPE_SCOPE_ID ||
           type == SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID;
  }

  void take(const spv_parsed_instruction_t& parsed) {
    CodeInst inst;
    inst.words.assign(parsed.words, parsed.words + parsed.num_words);
    inst.type = parsed.type_id;
    inst.result = parsed.result_id;
    for (uint16_t i = 0; i < parsed.num_operands; ++i)
      if (names_id(parsed.operands[i].type)) inst.ids.push_back(parsed.operands[i].offset);
    note_types(inst);
    note_facts(inst);
    follow_functions(inst);
    if (in_block_) {
      code_.blocks.back().insts.push_back(std::move(inst));
      return;
    }
    auto& out = code_.blocks.empty() ? code_.before : code_.between.back();
    out.insert(out.end(), inst.words.begin(), inst.words.end());
  }

  void note_types(const CodeInst& inst) {
    const auto& w = inst.words;
    if (inst.op() == spv::OpTypePointer) {
      code_.pointers.insert(inst.result);
      code_.target[inst.result] = w[3];
      if (w[2] == spv::StorageClassFunction) code_.pointer_to.emplace(w[3], inst.result);
    }
    if (inst.op() == spv::OpTypeBool) code_.bool_type = inst.result;
    if (inst.op() == spv::OpTypeInt && w[2] == 32 && w[3] == 0) code_.uint_type = inst.result;
    if (inst.op() == spv::OpTypeVector && w[2] == code_.uint_type && w[3] == 3)
      code_.uvec3_type = inst.result;
    if (inst.op() == spv::OpConstant && w.size() == 4) constants_[inst.result] = w[3];
    if (inst.op() == spv::OpTypeArray) {
      const auto length = constants_.find(w[3]);
      code_.array_length[inst.result] = length == constants_.end() ? ~0U : length->second;
    }
  }

  void note_facts(const CodeInst& inst) {
    const auto& w = inst.words;
    if (inst.op() == spv::OpDecorate && w[2] == spv::DecorationBuiltIn &&
        w[3] == spv::BuiltInLocalInvocationId)
      code_.local_id = w[1];
    if (inst.op() == spv::OpEntryPoint) code_.entry_points.insert(w[2]);
    if (inst.op() == spv::OpVariable && w[3] == spv::StorageClassPrivate)
      code_.private_variables[inst.result] = inst.type;
  }

  void follow_functions(const CodeInst& inst) {
    if (inst.op() == spv::OpFunction) {
      if (code_.types_end == 0) code_.types_end = code_.before.size();
      entry_ = code_.blocks.size();
      function_ = inst.result;
    }
    if (inst.op() == spv::OpLabel) {
      code_.block_of[inst.result] = code_.blocks.size();
      code_.blocks.push_back({inst.result, {}});
      code_.between.emplace_back();
      code_.entry_of.push_back(entry_);
      in_block_ = true;
    }
    if (inst.op() == spv::OpFunctionEnd) {
      in_block_ = false;
      if (entry_ < code_.blocks.size())
        code_.functions.push_back({function_, entry_, code_.blocks.size()});
    }
  }

  Code code_;
  std::unordered_map<uint32_t, uint32_t> constants_;
  size_t entry_ = 0;
  uint32_t function_ = 0;
  bool in_block_ = false;
};

/// Everything that the header reaches without passing the merge block.
CodeLoop loop_at(const Code& code, const std::vector<std::vector<size_t>>& next, size_t header,
                 uint32_t merge_label) {
  CodeLoop loop;
  loop.header = header;
  loop.merge = code.block_of.at(merge_label);
  loop.inside.assign(code.blocks.size(), false);
  std::vector<size_t> pending = {header};
  while (!pending.empty()) {
    const size_t b = pending.back();
    pending.pop_back();
    if (b == loop.merge || loop.inside[b]) continue;
    loop.inside[b] = true;
    ++loop.size;
    pending.insert(pending.end(), next[b].begin(), next[b].end());
  }
  return loop;
}

/// The types start where the annotations end.
bool is_type(uint32_t first_word) {
  const uint32_t op = first_word & 0xffff;
  return op >= spv::OpTypeVoid && op <= spv::OpTypePointer;
}

}  // namespace

CodeInst make_inst(spv::Op op, uint32_t type, uint32_t result, std::vector<uint32_t> operands,
                   uint16_t ids) {
  CodeInst inst;
  inst.type = type;
  inst.result = result;
  inst.words = {0};
  if (type != 0) inst.words.push_back(type);
  if (result != 0) inst.words.push_back(result);
  for (uint16_t i = 0; i < ids; ++i)
    inst.ids.push_back(static_cast<uint16_t>(inst.words.size() + i));
  inst.words.insert(inst.words.end(), operands.begin(), operands.end());
  inst.words[0] = static_cast<uint32_t>(inst.words.size()) << 16 | static_cast<uint32_t>(op);
  return inst;
}

void Code::declare(const std::vector<uint32_t>& words) {
  before.insert(before.begin() + static_cast<std::ptrdiff_t>(types_end), words.begin(),
                words.end());
  types_end += words.size();
}

uint32_t Code::uint_constant(uint32_t value) {
  const uint32_t id = new_id();
  declare({4U << 16 | spv::OpConstant, uint_type, id, value});
  return id;
}

/// An optimiser takes the input out of modules that do not read it.
void Code::declare_local_id() {
  if (uvec3_type == 0) {
    uvec3_type = new_id();
    declare({4U << 16 | spv::OpTypeVector, uvec3_type, uint_type, 3});
  }
  const uint32_t pointer = new_id();
  local_id = new_id();
  declare({4U << 16 | spv::OpTypePointer, pointer, spv::StorageClassInput, uvec3_type});
  declare({4U << 16 | spv::OpVariable, pointer, local_id, spv::StorageClassInput});
  const auto insert = [&](size_t at, const std::vector<uint32_t>& words) {
    before.insert(before.begin() + static_cast<std::ptrdiff_t>(at), words.begin(), words.end());
    types_end += words.size();
  };
  size_t at = kHeaderWords;
  for (; at < types_end && !is_type(before[at]); at += before[at] >> 16) {
    if ((before[at] & 0xffff) != spv::OpEntryPoint) continue;
    insert(at + (before[at] >> 16), {local_id});
    before[at] += 1U << 16;
  }
  insert(at, {4U << 16 | spv::OpDecorate, local_id, spv::DecorationBuiltIn,
              spv::BuiltInLocalInvocationId});
}

std::vector<CodeInst> Code::load_invocation(uint32_t result) {
  if (local_id == 0) declare_local_id();
  const uint32_t ids = new_id();
  return {make_inst(spv::OpLoad, uvec3_type, ids, {local_id}, 1),
          make_inst(spv::OpCompositeExtract, uint_type, result, {ids, 0}, 1)};
}

Code read_code(const std::vector<uint32_t>& words) {
  return Reader().read(words);
}

std::vector<uint32_t> write_code(Code code) {
  std::vector<uint32_t> out = std::move(code.before);
  for (size_t b = 0; b < code.blocks.size(); ++b) {
    for (const CodeInst& inst : code.blocks[b].insts)
      out.insert(out.end(), inst.words.begin(), inst.words.end());
    out.insert(out.end(), code.between[b].begin(), code.between[b].end());
  }
  return out;
}

size_t count_of(spv::Op op, const std::vector<uint32_t>& words) {
  size_t count = 0;
  for (size_t at = kHeaderWords; at < words.size(); at += std::max(words[at] >> 16, 1U))
    count += (words[at] & 0xffff) == static_cast<uint32_t>(op) ? 1 : 0;
  return count;
}

std::vector<std::vector<size_t>> successors(const Code& code) {
  std::vector<std::vector<size_t>> next(code.blocks.size());
  for (size_t b = 0; b < code.blocks.size(); ++b) {
    const CodeInst& last = code.blocks[b].insts.back();
    for (const uint16_t at : last.ids)
      if (const auto to = code.block_of.find(last.words[at]); to != code.block_of.end())
        next[b].push_back(to->second);
  }
  return next;
}

std::vector<CodeInst>::iterator after_variables(CodeBlock& entry) {
  auto at = entry.insts.begin() + 1;
  while (at->op() == spv::OpVariable) ++at;
  return at;
}

std::vector<CodeLoop> loops_of(const Code& code, const std::vector<std::vector<size_t>>& next) {
  std::vector<CodeLoop> loops;
  for (size_t b = 0; b < code.blocks.size(); ++b) {
    for (const CodeInst& inst : code.blocks[b].insts)
      if (inst.op() == spv::OpLoopMerge) loops.push_back(loop_at(code, next, b, inst.words[1]));
  }
  std::ranges::stable_sort(loops, {}, [](const CodeLoop& l) { return l.size; });
  return loops;
}

bool taken_in_loop(const Code& code, const CodeLoop& loop, const CodeInst& inst, uint16_t at) {
  if (inst.op() != spv::OpPhi) return false;
  const bool is_value = (at - 3) % 2 == 0;
  return is_value && loop.inside[code.block_of.at(inst.words[at + 1U])];
}

}  // namespace lanewise::spirv
