#include "runtime/spirv/binary/loop_exits.hpp"

#include <algorithm>
#include <map>
#include <spirv-tools/optimizer.hpp>

#include "runtime/spirv/binary/code.hpp"
#include "runtime/spirv/binary/variable_use.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

bool is_return(const CodeInst& inst) {
  return inst.op() == spv::OpReturn || inst.op() == spv::OpReturnValue;
}

bool returns_in_loop(const Code& code) {
  for (const CodeLoop& loop : loops_of(code, successors(code)))
    for (size_t b = 0; b < loop.inside.size(); ++b)
      if (loop.inside[b] && is_return(code.blocks[b].insts.back())) return true;
  return false;
}

std::vector<uint32_t> without_inner_returns(const std::vector<uint32_t>& words) {
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.RegisterPass(spvtools::CreateMergeReturnPass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);  // tests validate every module we emit
  std::vector<uint32_t> out;
  if (!optimizer.Run(words.data(), words.size(), &out, options))
    throw Error(ErrorKind::device, "internal: SPIRV-Tools cannot merge the module's returns");
  return out;
}

class Exits {
 public:
  explicit Exits(Code& code) : code_(code), next_(successors(code)), use_(code, next_) {
    for (size_t b = 0; b < code.blocks.size(); ++b)
      for (const CodeInst& inst : code.blocks[b].insts) note_readers(inst, b);
  }

  void run() {
    for (const CodeLoop& loop : loops_of(code_, next_)) close(loop);
    hide_indices();
    place_conditions();
  }

 private:
  struct Exit {
    size_t block;    ///< leaves the loop at its end
    uint32_t label;  ///< of the block that control comes from
  };
  using Insts = std::vector<CodeInst>;

  static uint32_t last_label(const CodeBlock& block) {
    const auto found = std::find_if(block.insts.rbegin(), block.insts.rend(),
                                    [](const CodeInst& i) { return i.op() == spv::OpLabel; });
    return found->result;
  }
  static Insts::iterator after_phis(CodeBlock& block) {
    return std::find_if(block.insts.begin() + 1, block.insts.end(),
                        [](const CodeInst& i) { return i.op() != spv::OpPhi; });
  }

  void close(const CodeLoop& loop) {
    std::vector<size_t> leaving_from;
    for (size_t b = 0; b < loop.inside.size(); ++b)
      if (loop.inside[b] && std::ranges::count(next_[b], loop.merge) != 0)
        leaving_from.push_back(b);
    if (leaving_from.empty()) return;
    const std::vector<size_t> variables = use_.leaving(loop);
    const std::map<uint32_t, uint32_t> values = values_leaving(loop);
    CodeBlock& merge = code_.blocks[loop.merge];
    if (variables.empty() && values.empty() && merge.insts[1].op() != spv::OpPhi) return;

    const uint32_t header = code_.blocks[loop.header].label;
    split_header(loop);
    std::vector<Exit> exits;
    exits.reserve(leaving_from.size());
    for (const size_t b : leaving_from) exits.push_back({b, last_label(code_.blocks[b])});
    for (CodeInst& inst : merge.insts) {
      if (inst.op() != spv::OpPhi) continue;
      add_source(inst, null(inst.type), header);
    }
    Insts phis, stores;
    for (const size_t v : variables) {
      const VariableUse::Variable& variable = use_.variables()[v];
      CodeInst phi = make_inst(spv::OpPhi, variable.type, code_.new_id(), {}, 0);
      for (const Exit& exit : exits) add_source(phi, load_at_end(exit.block, variable), exit.label);
      add_source(phi, null(variable.type), header);
      stores.push_back(make_inst(spv::OpStore, 0, 0, {variable.id, phi.result}, 2));
      phis.push_back(std::move(phi));
    }
    for (const auto& [value, type] : values) {
      CodeInst phi = make_inst(spv::OpPhi, type, code_.new_id(), {}, 0);
      for (const Exit& exit : exits) add_source(phi, value, exit.label);
      add_source(phi, null(type), header);
      replace_behind(loop, value, phi.result);
      phis.push_back(std::move(phi));
    }
    for (const Insts* made : {&phis, &stores})
      for (const CodeInst& inst : *made) note_readers(inst, loop.merge);
    const auto at = merge.insts.insert(after_phis(merge), stores.begin(), stores.end());
    merge.insts.insert(at, phis.begin(), phis.end());
  }

  /// Values that the loop makes and code behind it names, with their types.
  std::map<uint32_t, uint32_t> values_leaving(const CodeLoop& loop) const {
    std::map<uint32_t, uint32_t> out;
    for (size_t b = 0; b < loop.inside.size(); ++b) {
      if (!loop.inside[b]) continue;
      for (const CodeInst& inst : code_.blocks[b].insts)
        if (inst.type != 0 && inst.result != 0 && is_read_behind(loop, inst.result))
          out.emplace(inst.result, inst.type);
    }
    for (const auto& [value, type] : out)
      if (code_.pointers.contains(type))
        throw Error(ErrorKind::device, "internal: a pointer leaves a loop");
    return out;
  }

  /// Blocks that name the id, some of them twice.
  const std::vector<size_t>& readers(uint32_t id) const {
    static const std::vector<size_t> none;
    return id < readers_.size() ? readers_[id] : none;
  }
  void note_readers(const CodeInst& inst, size_t block) {
    for (const uint16_t at : inst.ids) {
      const uint32_t id = inst.words[at];
      if (id >= readers_.size()) readers_.resize(id + 1);
      if (readers_[id].empty() || readers_[id].back() != block) readers_[id].push_back(block);
    }
  }

  template <typename Visit>
  void each_use_behind(const CodeLoop& loop, uint32_t value, size_t block, Visit visit) const {
    if (loop.inside[block]) return;
    for (CodeInst& inst : code_.blocks[block].insts)
      for (const uint16_t at : inst.ids)
        if (inst.words[at] == value && !taken_in_loop(code_, loop, inst, at)) visit(inst.words[at]);
  }
  bool is_read_behind(const CodeLoop& loop, uint32_t value) const {
    bool found = false;
    for (const size_t b : readers(value))
      each_use_behind(loop, value, b, [&](uint32_t&) { found = true; });
    return found;
  }
  void replace_behind(const CodeLoop& loop, uint32_t value, uint32_t by) {
    const std::vector<size_t> blocks = readers(value);
    if (by >= readers_.size()) readers_.resize(by + 1);
    for (const size_t b : blocks)
      each_use_behind(loop, value, b, [&](uint32_t& word) {
        word = by;
        readers_[by].push_back(b);
      });
  }

  /// The header keeps its OpPhis and branches on; the second exit starts there.
  void split_header(const CodeLoop& loop) {
    CodeBlock& header = code_.blocks[loop.header];
    const uint32_t behind = code_.new_id();
    for (const size_t n : next_[loop.header]) rename_source(code_.blocks[n], header.label, behind);
    const auto first = after_phis(header);
    Insts rest(std::make_move_iterator(first), std::make_move_iterator(header.insts.end()));
    header.insts.erase(first, header.insts.end());
    const auto mark = std::ranges::find(rest, spv::OpLoopMerge, &CodeInst::op);
    header.insts.push_back(std::move(*mark));
    rest.erase(mark);
    header.insts.push_back(make_inst(spv::OpBranchConditional, 0, 0,
                                     {never(loop.header), code_.blocks[loop.merge].label, behind},
                                     3));
    header.insts.push_back(make_inst(spv::OpLabel, 0, behind, {}, 0));
    std::ranges::move(rest, std::back_inserter(header.insts));
    code_.block_of[behind] = loop.header;
  }

  static void rename_source(CodeBlock& block, uint32_t from, uint32_t to) {
    for (CodeInst& inst : block.insts) {
      if (inst.op() != spv::OpPhi) continue;
      for (size_t w = 4; w < inst.words.size(); w += 2)
        if (inst.words[w] == from) inst.words[w] = to;
    }
  }

  static void add_source(CodeInst& phi, uint32_t value, uint32_t label) {
    const auto at = static_cast<uint16_t>(phi.words.size());
    phi.words.insert(phi.words.end(), {value, label});
    phi.ids.insert(phi.ids.end(), {at, static_cast<uint16_t>(at + 1)});
    phi.words[0] = static_cast<uint32_t>(phi.words.size()) << 16 | spv::OpPhi;
  }

  uint32_t load_at_end(size_t block, const VariableUse::Variable& variable) {
    Insts& insts = code_.blocks[block].insts;
    auto at = insts.end() - 1;
    const spv::Op before = (at - 1)->op();
    if (before == spv::OpSelectionMerge || before == spv::OpLoopMerge) --at;
    const uint32_t value = code_.new_id();
    insts.insert(at, make_inst(spv::OpLoad, variable.type, value, {variable.id}, 1));
    return value;
  }

  uint32_t null(uint32_t type) {
    const auto [it, fresh] = nulls_.try_emplace(type, 0);
    if (!fresh) return it->second;
    it->second = code_.new_id();
    code_.declare({3U << 16 | spv::OpConstantNull, type, it->second});
    return it->second;
  }

  /// What a function computes at its beginning.
  struct Hidden {
    uint32_t invocation = 0;
    std::vector<uint32_t> nevers;
  };
  Hidden& hidden(size_t block) {
    Hidden& found = hidden_[code_.entry_of[block]];
    if (found.invocation == 0) found.invocation = code_.new_id();
    return found;
  }
  /// A condition that never holds, but no compiler knows; another one for each loop, because one
  /// that an outer loop has tested is known inside it.
  uint32_t never(size_t block) {
    hidden(block).nevers.push_back(code_.new_id());
    return hidden(block).nevers.back();
  }

  /// Only now, so that what stands at a function's beginning is found by its index until here.
  void place_conditions() {
    for (const auto& [entry, ids] : hidden_) {
      Insts made = code_.load_invocation(ids.invocation);
      for (const uint32_t never : ids.nevers)
        made.push_back(make_inst(spv::OpIEqual, code_.bool_type, never,
                                 {ids.invocation, code_.uint_constant(impossible_--)}, 2));
      CodeBlock& block = code_.blocks[entry];
      block.insts.insert(after_variables(block), made.begin(), made.end());
    }
  }

  /// Arrays that are only ever indexed by constants would become single values, too. One store with
  /// an index that no compiler knows keeps an array in memory; where it would overwrite something,
  /// or an element is no single value, each access has such an index instead.
  void hide_indices() {
    const std::unordered_set<uint32_t> initialised = initialised_arrays();
    std::map<uint32_t, CodeInst> stored;  // array -> one of its accesses
    for (size_t b = 0; b < code_.blocks.size(); ++b) {
      Insts& insts = code_.blocks[b].insts;
      for (size_t i = 0; i < insts.size(); ++i) {
        if (!is_large_array(insts[i])) continue;
        const uint32_t array = insts[i].words[3];
        if (insts[i].words.size() == 5 && !initialised.contains(array)) {
          stored.try_emplace(array, insts[i]);
          continue;
        }
        const Insts made = hide_index(insts[i], b);
        insts.insert(insts.begin() + static_cast<std::ptrdiff_t>(i), made.begin(), made.end());
        i += made.size();
      }
    }
    for (const auto& [array, access] : stored) store_first(array, access);
  }

  Insts hide_index(CodeInst& access, size_t block) {
    const uint32_t index = access.words[4], zero = code_.new_id();
    access.words[4] = code_.new_id();
    return {make_inst(spv::OpShiftRightLogical, code_.uint_type, zero,
                      {hidden(block).invocation, top_bit()}, 2),
            make_inst(spv::OpIAdd, code_.uint_type, access.words[4], {index, zero}, 2)};
  }

  /// Nothing is in the array where its function begins.
  void store_first(uint32_t array, CodeInst access) {
    const size_t begin = begin_of(array);
    access.words[4] = code_.uint_constant(0);
    access.words[2] = access.result = code_.new_id();
    Insts made = hide_index(access, begin);
    const uint32_t element = code_.target.at(access.type);
    made.push_back(access);
    made.push_back(make_inst(spv::OpStore, 0, 0, {access.result, null(element)}, 2));
    CodeBlock& block = code_.blocks[begin];
    block.insts.insert(after_variables(block), made.begin(), made.end());
  }

  /// The first block of the function that has the array, or where the kernel begins.
  size_t begin_of(uint32_t array) const {
    for (const CodeFunction& f : code_.functions) {
      const bool has =
          code_.private_variables.contains(array)
              ? code_.entry_points.contains(f.id)
              : std::ranges::any_of(code_.blocks[f.first].insts, [&](const CodeInst& i) {
                  return i.op() == spv::OpVariable && i.result == array;
                });
      if (has) return f.first;
    }
    throw Error(ErrorKind::device, "internal: an array of no function");
  }

  std::unordered_set<uint32_t> initialised_arrays() const {
    constexpr size_t kPlain = 4;  // words of a variable without initial value
    std::unordered_set<uint32_t> out;
    for (size_t at = kHeaderWords; at < code_.before.size(); at += code_.before[at] >> 16)
      if ((code_.before[at] & 0xffff) == spv::OpVariable && code_.before[at] >> 16 > kPlain)
        out.insert(code_.before[at + 2]);
    for (const CodeBlock& block : code_.blocks)
      for (const CodeInst& inst : block.insts)
        if (inst.op() == spv::OpVariable && inst.words.size() > kPlain) out.insert(inst.result);
    return out;
  }

  uint32_t top_bit() {
    if (top_bit_ == 0) top_bit_ = code_.uint_constant(31);
    return top_bit_;
  }

  bool is_large_array(const CodeInst& inst) const {
    const bool chain = inst.op() == spv::OpAccessChain || inst.op() == spv::OpInBoundsAccessChain;
    if (!chain) return false;
    return use_.arrays().contains(inst.words[3]);
  }

  Code& code_;
  const std::vector<std::vector<size_t>> next_;
  const VariableUse use_;
  std::vector<std::vector<size_t>> readers_;  ///< [id]
  std::map<uint32_t, uint32_t> nulls_;        ///< type -> its null
  std::map<size_t, Hidden> hidden_;           ///< by a function's first block
  uint32_t top_bit_ = 0;
  uint32_t impossible_ = ~0U;  ///< numbers that no invocation has
};

}  // namespace

std::vector<uint32_t> close_loops(const std::vector<uint32_t>& words) {
  Code code = read_code(words);
  if (returns_in_loop(code)) code = read_code(without_inner_returns(words));
  Exits(code).run();
  return write_code(std::move(code));
}

}  // namespace lanewise::spirv
