#include "runtime/spirv/loop_values.hpp"

#include <algorithm>
#include <map>
#include <spirv-tools/libspirv.hpp>
#include <spirv/unified1/spirv.hpp>
#include <unordered_map>
#include <unordered_set>

#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

struct Inst {
  std::vector<uint32_t> words;
  uint32_t type = 0, result = 0;
  std::vector<uint16_t> ids;  ///< words that name other instructions
  spv::Op op() const { return static_cast<spv::Op>(words[0] & 0xffff); }
};

struct Block {
  uint32_t label = 0;
  std::vector<Inst> insts;  ///< the label first, the terminator last
};

/// Blocks by index; every function of the module in one list, as control flow stays inside each.
struct Code {
  std::vector<uint32_t> before;  ///< header and everything in front of the first block
  std::vector<Block> blocks;
  std::vector<std::vector<uint32_t>> between;  ///< words after block i that belong to no block
  std::unordered_map<uint32_t, size_t> block_of;
  std::unordered_set<uint32_t> pointers;    ///< pointer types
  std::map<uint32_t, uint32_t> pointer_to;  ///< type -> type of a Function pointer to it
  size_t types_end = 0;                     ///< in `before`: the first function starts here
  std::vector<size_t> entry_of;             ///< [block] first block of its function
  uint32_t uint_type = 0, uvec3_type = 0, local_id = 0;
};

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
    code_.before.assign(words.begin(), words.begin() + 5);
    if (spvBinaryParse(context.CContext(), this, words.data(), words.size(), header, inst,
                       nullptr) != SPV_SUCCESS)
      throw Error(ErrorKind::device, "internal: the optimised module cannot be read");
    return std::move(code_);
  }

 private:
  static bool names_id(spv_operand_type_t type) {
    return type == SPV_OPERAND_TYPE_ID || type == SPV_OPERAND_TYPE_SCOPE_ID ||
           type == SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID;
  }

  void take(const spv_parsed_instruction_t& parsed) {
    Inst inst;
    inst.words.assign(parsed.words, parsed.words + parsed.num_words);
    inst.type = parsed.type_id;
    inst.result = parsed.result_id;
    for (uint16_t i = 0; i < parsed.num_operands; ++i)
      if (names_id(parsed.operands[i].type)) inst.ids.push_back(parsed.operands[i].offset);
    if (inst.op() == spv::OpTypePointer) {
      code_.pointers.insert(inst.result);
      if (inst.words[2] == spv::StorageClassFunction)
        code_.pointer_to.emplace(inst.words[3], inst.result);
    }
    note_facts(inst);
    if (inst.op() == spv::OpFunction) {
      if (code_.types_end == 0) code_.types_end = code_.before.size();
      entry_ = code_.blocks.size();
    }
    if (inst.op() == spv::OpLabel) {
      code_.block_of[inst.result] = code_.blocks.size();
      code_.blocks.push_back({inst.result, {}});
      code_.between.emplace_back();
      code_.entry_of.push_back(entry_);
      in_block_ = true;
    }
    if (inst.op() == spv::OpFunctionEnd) in_block_ = false;
    if (in_block_) {
      code_.blocks.back().insts.push_back(std::move(inst));
      return;
    }
    auto& out = code_.blocks.empty() ? code_.before : code_.between.back();
    out.insert(out.end(), inst.words.begin(), inst.words.end());
  }

  void note_facts(const Inst& inst) {
    const auto& w = inst.words;
    if (inst.op() == spv::OpTypeInt && w[2] == 32 && w[3] == 0) code_.uint_type = inst.result;
    if (inst.op() == spv::OpTypeVector && w[2] == code_.uint_type && w[3] == 3)
      code_.uvec3_type = inst.result;
    if (inst.op() == spv::OpDecorate && w[2] == spv::DecorationBuiltIn &&
        w[3] == spv::BuiltInLocalInvocationId)
      code_.local_id = w[1];
  }

  Code code_;
  size_t entry_ = 0;
  bool in_block_ = false;
};

class Closer {
 public:
  explicit Closer(Code& code) : code_(code), successors_(code.blocks.size()) {
    for (size_t b = 0; b < code.blocks.size(); ++b) find_successors(b);
  }

  void run() {
    make_zero();
    std::vector<Loop> loops;
    for (size_t b = 0; b < code_.blocks.size(); ++b) {
      for (const Inst& inst : code_.blocks[b].insts)
        if (inst.op() == spv::OpLoopMerge) loops.push_back(loop_at(b, inst.words[1]));
    }
    // Inner loops first: what they hand out may have to leave the outer ones as well.
    std::ranges::stable_sort(loops, {}, [](const Loop& l) { return l.size; });
    for (const Loop& loop : loops) close(loop);
  }

 private:
  struct Loop {
    size_t merge = 0, size = 0;
    std::vector<bool> inside;  ///< [block]
  };

  void find_successors(size_t b) {
    const Inst& last = code_.blocks[b].insts.back();
    for (const uint16_t at : last.ids)
      if (const auto to = code_.block_of.find(last.words[at]); to != code_.block_of.end())
        successors_[b].push_back(to->second);
  }

  /// Everything that the header reaches without passing the merge block.
  Loop loop_at(size_t header, uint32_t merge_label) const {
    Loop loop;
    loop.merge = code_.block_of.at(merge_label);
    loop.inside.assign(code_.blocks.size(), false);
    std::vector<size_t> pending = {header};
    while (!pending.empty()) {
      const size_t b = pending.back();
      pending.pop_back();
      if (b == loop.merge || loop.inside[b]) continue;
      loop.inside[b] = true;
      ++loop.size;
      pending.insert(pending.end(), successors_[b].begin(), successors_[b].end());
    }
    return loop;
  }

  /// The values that the loop makes, with their types.
  std::unordered_map<uint32_t, uint32_t> made_in(const Loop& loop) const {
    std::unordered_map<uint32_t, uint32_t> made;
    for (size_t b = 0; b < code_.blocks.size(); ++b) {
      if (!loop.inside[b]) continue;
      for (const Inst& inst : code_.blocks[b].insts)
        if (inst.type != 0 && inst.result != 0 && !code_.pointers.contains(inst.type))
          made.emplace(inst.result, inst.type);
    }
    return made;
  }

  void close(const Loop& loop) {
    const auto made = made_in(loop);
    std::map<uint32_t, uint32_t> kept;  // value -> what stands for it after the loop
    for (size_t b = 0; b < code_.blocks.size(); ++b) {
      if (loop.inside[b]) continue;
      for (Inst& inst : code_.blocks[b].insts) {
        for (const uint16_t at : inst.ids) {
          uint32_t& word = inst.words[at];
          if (!made.contains(word) || taken_in_loop(loop, inst, at)) continue;
          const auto [it, fresh] = kept.try_emplace(word, 0);
          if (fresh) it->second = code_.before[kBound]++;
          word = it->second;
        }
      }
    }
    replace_phis(loop.merge);
    for (const auto& [value, after] : kept) {
      const uint32_t type = made.at(value), variable = new_variable(loop.merge, type);
      store_after(loop, type, value, variable);
      const auto read = load(type, after, variable);
      auto& insts = code_.blocks[loop.merge].insts;
      insts.insert(insts.begin() + 1, read.begin(), read.end());
    }
  }

  /// An OpPhi takes a value over at the end of a predecessor, which may lie in the loop.
  bool taken_in_loop(const Loop& loop, const Inst& inst, uint16_t at) const {
    if (inst.op() != spv::OpPhi) return false;
    const bool is_value = (at - 3) % 2 == 0;
    return is_value && loop.inside[code_.block_of.at(inst.words[at + 1U])];
  }

  /// Every predecessor stores what it brings; the merge block loads it.
  void replace_phis(size_t merge) {
    while (code_.blocks[merge].insts[1].op() == spv::OpPhi) {
      const Inst phi = code_.blocks[merge].insts[1];
      const uint32_t variable = new_variable(merge, phi.type);
      for (size_t w = 3; w + 1 < phi.words.size(); w += 2)
        store_at_end(code_.block_of.at(phi.words[w + 1]), phi.type, variable, phi.words[w]);
      const auto read = load(phi.type, phi.result, variable);
      auto& insts = code_.blocks[merge].insts;
      insts.erase(insts.begin() + 1);
      // Behind the OpPhi that are still to come.
      auto at = insts.begin() + 1;
      while (at->op() == spv::OpPhi) ++at;
      insts.insert(at, read.begin(), read.end());
    }
  }

  void store_at_end(size_t block, uint32_t type, uint32_t variable, uint32_t value) {
    const auto written = store(type, variable, value);
    auto& insts = code_.blocks[block].insts;
    auto at = insts.end() - 1;
    const spv::Op before = (at - 1)->op();
    if (before == spv::OpSelectionMerge || before == spv::OpLoopMerge) --at;
    insts.insert(at, written.begin(), written.end());
  }

  void store_after(const Loop& loop, uint32_t type, uint32_t value, uint32_t variable) {
    const auto written = store(type, variable, value);
    for (size_t b = 0; b < code_.blocks.size(); ++b) {
      if (!loop.inside[b]) continue;
      auto& insts = code_.blocks[b].insts;
      auto at = std::ranges::find(insts, value, &Inst::result);
      if (at == insts.end()) continue;
      do ++at;
      while (at->op() == spv::OpPhi);
      insts.insert(at, written.begin(), written.end());
      return;
    }
  }

  /// An array in the first block of the function: SwiftShader's own optimiser would turn a plain
  /// variable back into the value it stands for.
  uint32_t new_variable(size_t block, uint32_t type) {
    const uint32_t pointer = pointer_type(array_of(type)), id = code_.before[kBound]++;
    auto& insts = code_.blocks[code_.entry_of[block]].insts;
    insts.insert(insts.begin() + 1,
                 make(spv::OpVariable, pointer, id, {spv::StorageClassFunction}, 0));
    return id;
  }

  uint32_t array_of(uint32_t type) {
    const auto [it, fresh] = arrays_.try_emplace(type, 0);
    if (!fresh) return it->second;
    it->second = code_.before[kBound]++;
    declare({4U << 16 | spv::OpTypeArray, it->second, type, two_});
    return it->second;
  }

  uint32_t constant(uint32_t value) {
    const uint32_t id = code_.before[kBound]++;
    declare({4U << 16 | spv::OpConstant, code_.uint_type, id, value});
    return id;
  }

  /// A zero that no optimiser knows: bit 31 of an invocation's number.
  void make_zero() {
    if (code_.blocks.empty() || code_.uint_type == 0 || code_.uvec3_type == 0 ||
        code_.local_id == 0)
      throw Error(ErrorKind::device, "internal: the module does not know its invocation");
    two_ = constant(2);
    const uint32_t shift = constant(31);
    const uint32_t ids = code_.before[kBound]++, x = code_.before[kBound]++;
    zero_ = code_.before[kBound]++;
    const std::vector<Inst> made = {
        make(spv::OpLoad, code_.uvec3_type, ids, {code_.local_id}, 1),
        make(spv::OpCompositeExtract, code_.uint_type, x, {ids, 0}, 1),
        make(spv::OpShiftRightLogical, code_.uint_type, zero_, {x, shift}, 2)};
    auto& insts = code_.blocks[0].insts;
    auto at = insts.begin() + 1;
    while (at->op() == spv::OpVariable) ++at;
    insts.insert(at, made.begin(), made.end());
  }

  uint32_t pointer_type(uint32_t type) {
    const auto [it, fresh] = code_.pointer_to.try_emplace(type, 0);
    if (!fresh) return it->second;
    it->second = code_.before[kBound]++;
    code_.pointers.insert(it->second);
    declare({4U << 16 | spv::OpTypePointer, it->second, spv::StorageClassFunction, type});
    return it->second;
  }

  /// Behind all types and constants, in front of the first function.
  void declare(const std::vector<uint32_t>& words) {
    code_.before.insert(code_.before.begin() + static_cast<std::ptrdiff_t>(code_.types_end),
                        words.begin(), words.end());
    code_.types_end += words.size();
  }

  /// The first `ids` of the operands name instructions.
  static Inst make(spv::Op op, uint32_t type, uint32_t result, std::vector<uint32_t> operands,
                   uint16_t ids) {
    Inst inst;
    inst.type = type;
    inst.result = result;
    inst.words = {0};
    if (type != 0) inst.words.insert(inst.words.end(), {type, result});
    for (uint16_t i = 0; i < ids; ++i)
      inst.ids.push_back(static_cast<uint16_t>(inst.words.size() + i));
    inst.words.insert(inst.words.end(), operands.begin(), operands.end());
    inst.words[0] = static_cast<uint32_t>(inst.words.size()) << 16 | static_cast<uint32_t>(op);
    return inst;
  }
  Inst place(uint32_t type, uint32_t variable) {
    return make(spv::OpAccessChain, pointer_type(type), code_.before[kBound]++, {variable, zero_},
                2);
  }
  std::vector<Inst> load(uint32_t type, uint32_t result, uint32_t variable) {
    const Inst at = place(type, variable);
    return {at, make(spv::OpLoad, type, result, {at.result}, 1)};
  }
  std::vector<Inst> store(uint32_t type, uint32_t variable, uint32_t value) {
    const Inst at = place(type, variable);
    return {at, make(spv::OpStore, 0, 0, {at.result, value}, 2)};
  }

  static constexpr size_t kBound = 3;  ///< word of the header: one above every id

  Code& code_;
  std::vector<std::vector<size_t>> successors_;
  std::map<uint32_t, uint32_t> arrays_;  ///< type -> type of an array of two
  uint32_t two_ = 0, zero_ = 0;
};

}  // namespace

std::vector<uint32_t> keep_loop_values(const std::vector<uint32_t>& words) {
  Code code = Reader().read(words);
  Closer(code).run();
  std::vector<uint32_t> out = std::move(code.before);
  for (size_t b = 0; b < code.blocks.size(); ++b) {
    for (const Inst& inst : code.blocks[b].insts)
      out.insert(out.end(), inst.words.begin(), inst.words.end());
    out.insert(out.end(), code.between[b].begin(), code.between[b].end());
  }
  return out;
}

}  // namespace lanewise::spirv
