// spv::Builder with our register types, imported library functions and structured merges.
#pragma once

#include <glslang/SPIRV/SpvBuilder.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/ir/types.hpp"
#include "runtime/spirv/translate.hpp"

namespace lanewise::spirv {

using spv::Id;
using Ids = std::vector<Id>;

class ModuleBuilder : public spv::Builder {
 public:
  explicit ModuleBuilder(const Target& target);
  ~ModuleBuilder() override;  // out of line: glslang has no RTTI, nor has the file with the vtable

  Id void_type, bool_type, uint_type, int_type, uvec2_type, uvec3_type, uvec4_type, float_type;
  Id b64_type;  ///< uint64_t, on tier 0 uvec2, as in the library
  bool int64() const { return int64_; }

  Id type_of(ir::Width width) const;
  Id type_of(ir::Type type) const { return type_of(ir::width_of(type)); }
  Id u(uint32_t value);
  Id b(bool value) { return makeBoolConstant(value); }
  Id b64(uint64_t value);
  Id constant(ir::Width width, uint64_t bits);
  /// The value when the id is a constant made by u(), so that callers can fold.
  const uint32_t* known(Id id) const;
  const spv::Instruction& made(Id id) const { return *module.getInstruction(id); }

  /// What the block has computed before from the same operands is not computed again.
  Id op(spv::Op code, Id type, const Ids& args);
  Id glsl(int instruction, Id type, const Ids& args);
  Id select(Id condition, Id yes, Id no);
  /// In some lane of the subgroup that comes here, too.
  Id any_lane(Id condition);
  Id lo(Id b64_value);
  /// The same, made of the low words of what the value was made of: the rest of it is then not
  /// computed at all, unless somebody else needs it.
  Id narrow_lo(Id b64_value, int depth = 6);
  Id hi(Id b64_value);
  Id make64(Id lo, Id hi);
  Id to_b64(Id uvec2_value);
  Id to_uvec2(Id b64_value);
  Id extract(Id composite, Id type, unsigned index);
  /// Bits of an f32 that is no subnormal for sure.
  void note_flushed(Id bits) { flushed_.insert(bits); }
  bool is_flushed(Id bits) const { return flushed_.contains(bits); }

  /// Calls a function of the shader library; it is resolved when the modules are linked.
  Id call(const std::string& name, Id result_type, const Ids& args);

  void selection_merge(spv::Block* merge) {
    createSelectionMerge(merge, spv::SelectionControlMaskNone);
  }
  /// Enters `body` through a switch without cases: a construct that `break` may leave from inside
  /// nested ifs.
  void enter_scope(spv::Block* body, spv::Block* merge);
  /// A loop of the guest. Where drivers cut loops, lanes carry a mark out of it.
  void guest_loop(spv::Block* merge, spv::Block* again) {
    createLoopMerge(merge, again, spv::LoopControlMaskNone, {});
    ++guest_loops_;
  }
  size_t guest_loops() const { return guest_loops_; }
  /// Runs `body` until the id that it returns is false.
  void repeat(const std::function<Id()>& body);
  /// Runs `body` as long as `condition` gives an id that is true.
  void repeat_while(const std::function<Id()>& condition, const std::function<void()>& body);
  spv::Block* new_block() { return &makeNewBlock(); }
  bool terminated() const { return getBuildPoint()->isTerminated(); }
  void unreachable();
  /// A void function without parameters; the build point moves to its entry.
  spv::Function* begin_function(const char* name);
  void call_function(spv::Function* function);

  std::vector<uint32_t> words();

 private:
  struct Loop {
    spv::Block *header, *again, *merge;
  };
  /// The build point is inside; who builds on leads to `again` or `merge`.
  Loop begin_loop();
  void close_loop(const Loop& loop);
  Id import_function(const std::string& name, Id result_type, const Ids& args);

  /// An instruction of a block, up to three operands.
  struct Made {
    Id block, type;
    uint32_t code;
    std::array<Id, 3> args;
    bool operator==(const Made&) const = default;
  };
  /// The last ones of those that share a place, latest first.
  struct MadeSet {
    std::array<Made, 4> made{};
    std::array<Id, 4> ids{};
  };
  Id& made_before(spv::Op code, Id type, const Ids& args);
  Id new_constant(Id type, std::initializer_list<uint32_t> words);

  bool int64_;
  std::vector<MadeSet> made_;  ///< by hash; not all is remembered, and large modules stay in caches
  std::unordered_set<Id> flushed_;
  Id glsl_set_ = spv::NoResult;
  size_t guest_loops_ = 0;
  std::unordered_map<uint32_t, Id> uints_;
  std::unordered_map<Id, uint32_t> known_;
  std::map<uint64_t, Id> wides_;
  std::map<std::string, Id> imports_;
};

}  // namespace lanewise::spirv
