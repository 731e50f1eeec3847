#include "runtime/spirv/binary/loop_values.hpp"

#include <algorithm>
#include <map>

#include "runtime/spirv/binary/code.hpp"

namespace lanewise::spirv {
namespace {

class Closer {
 public:
  explicit Closer(Code& code) : code_(code) {}

  void run() {
    if (code_.blocks.empty()) return;
    make_zero();
    for (const CodeLoop& loop : loops_of(code_, successors(code_))) close(loop);
  }

 private:
  /// The values that the loop makes, with their types.
  std::unordered_map<uint32_t, uint32_t> made_in(const CodeLoop& loop) const {
    std::unordered_map<uint32_t, uint32_t> made;
    for (size_t b = 0; b < code_.blocks.size(); ++b) {
      if (!loop.inside[b]) continue;
      for (const CodeInst& inst : code_.blocks[b].insts)
        if (inst.type != 0 && inst.result != 0 && !code_.pointers.contains(inst.type))
          made.emplace(inst.result, inst.type);
    }
    return made;
  }

  void close(const CodeLoop& loop) {
    const auto made = made_in(loop);
    std::map<uint32_t, uint32_t> kept;  // value -> what stands for it after the loop
    for (size_t b = 0; b < code_.blocks.size(); ++b) {
      if (loop.inside[b]) continue;
      for (CodeInst& inst : code_.blocks[b].insts) {
        for (const uint16_t at : inst.ids) {
          uint32_t& word = inst.words[at];
          if (!made.contains(word) || taken_in_loop(code_, loop, inst, at)) continue;
          const auto [it, fresh] = kept.try_emplace(word, 0);
          if (fresh) it->second = code_.new_id();
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

  /// Every predecessor stores what it brings; the merge block loads it.
  void replace_phis(size_t merge) {
    while (code_.blocks[merge].insts[1].op() == spv::OpPhi) {
      const CodeInst phi = code_.blocks[merge].insts[1];
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

  void store_after(const CodeLoop& loop, uint32_t type, uint32_t value, uint32_t variable) {
    const auto written = store(type, variable, value);
    for (size_t b = 0; b < code_.blocks.size(); ++b) {
      if (!loop.inside[b]) continue;
      auto& insts = code_.blocks[b].insts;
      auto at = std::ranges::find(insts, value, &CodeInst::result);
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
    const uint32_t pointer = pointer_type(array_of(type)), id = code_.new_id();
    auto& insts = code_.blocks[code_.entry_of[block]].insts;
    insts.insert(insts.begin() + 1,
                 make_inst(spv::OpVariable, pointer, id, {spv::StorageClassFunction}, 0));
    return id;
  }

  uint32_t array_of(uint32_t type) {
    const auto [it, fresh] = arrays_.try_emplace(type, 0);
    if (!fresh) return it->second;
    it->second = code_.new_id();
    code_.declare({4U << 16 | spv::OpTypeArray, it->second, type, two_});
    return it->second;
  }

  /// A zero that no optimiser knows: bit 31 of an invocation's number.
  void make_zero() {
    two_ = code_.uint_constant(2);
    zero_ = code_.new_id();
    const uint32_t invocation = code_.new_id();
    std::vector<CodeInst> made = code_.load_invocation(invocation);
    made.push_back(make_inst(spv::OpShiftRightLogical, code_.uint_type, zero_,
                             {invocation, code_.uint_constant(31)}, 2));
    code_.blocks[0].insts.insert(after_variables(code_.blocks[0]), made.begin(), made.end());
  }

  uint32_t pointer_type(uint32_t type) {
    const auto [it, fresh] = code_.pointer_to.try_emplace(type, 0);
    if (!fresh) return it->second;
    it->second = code_.new_id();
    code_.pointers.insert(it->second);
    code_.declare({4U << 16 | spv::OpTypePointer, it->second, spv::StorageClassFunction, type});
    return it->second;
  }

  CodeInst place(uint32_t type, uint32_t variable) {
    return make_inst(spv::OpAccessChain, pointer_type(type), code_.new_id(), {variable, zero_}, 2);
  }
  std::vector<CodeInst> load(uint32_t type, uint32_t result, uint32_t variable) {
    const CodeInst at = place(type, variable);
    return {at, make_inst(spv::OpLoad, type, result, {at.result}, 1)};
  }
  std::vector<CodeInst> store(uint32_t type, uint32_t variable, uint32_t value) {
    const CodeInst at = place(type, variable);
    return {at, make_inst(spv::OpStore, 0, 0, {at.result, value}, 2)};
  }

  Code& code_;
  std::map<uint32_t, uint32_t> arrays_;  ///< type -> type of an array of two
  uint32_t two_ = 0, zero_ = 0;
};

}  // namespace

std::vector<uint32_t> keep_loop_values(const std::vector<uint32_t>& words) {
  Code code = read_code(words);
  Closer(code).run();
  return write_code(std::move(code));
}

}  // namespace lanewise::spirv
