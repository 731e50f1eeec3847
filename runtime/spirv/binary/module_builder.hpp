// A module with our register types, imported library functions and structured merges.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/ir/types.hpp"
#include "runtime/spirv/binary/builder.hpp"
#include "runtime/spirv/translate.hpp"

namespace lanewise::spirv {

class ModuleBuilder : public Builder {
 public:
  explicit ModuleBuilder(const Target& target);

  Id void_type, bool_type, uint_type, int_type, uvec2_type, uvec3_type, uvec4_type, float_type;
  Id b64_type;  ///< uint64_t, on tier 0 uvec2, as in the library
  bool int64() const { return int64_; }

  Id type_of(ir::Width width) const;
  Id type_of(ir::Type type) const { return type_of(ir::width_of(type)); }
  Id u(uint32_t value);
  Id b(bool value) { return make_bool_constant(value); }
  Id b64(uint64_t value);
  Id constant(ir::Width width, uint64_t bits);
  /// The value when the id is a constant made by u(), so that callers can fold.
  const uint32_t* known(Id id) const;

  /// What the block has computed before from the same operands is not computed again.
  Id op(spv::Op code, Id type, std::span<const Id> args);
  Id op(spv::Op code, Id type, std::initializer_list<Id> args) {
    return op(code, type, std::span(args.begin(), args.size()));
  }
  /// Those that give words, and those that give conditions.
  Id word(spv::Op code, std::initializer_list<Id> args) { return op(code, uint_type, args); }
  Id test(spv::Op code, std::initializer_list<Id> args) { return op(code, bool_type, args); }
  Id negated(Id condition) { return test(spv::OpLogicalNot, {condition}); }
  Id equals(Id a, uint32_t b) { return test(spv::OpIEqual, {a, u(b)}); }
  Id differs(Id a, uint32_t b) { return test(spv::OpINotEqual, {a, u(b)}); }
  Id glsl(uint32_t instruction, Id type, const Ids& args);
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
  /// Bits that are 0, and bits that are 1, whatever the word's unknown parts are.
  struct KnownBits {
    uint32_t zeros = 0, ones = 0;
  };
  KnownBits known_bits(Id word, int depth = 6) const;
  /// `word` lies below a power of two.
  void note_below(Id word, uint32_t power) { below_[word] = power; }
  /// `word & mask`; words that differ in other bits alone have one result, where that is seen.
  Id masked(Id word, uint32_t mask);
  /// Bits of an f32 that is no subnormal for sure.
  void note_flushed(Id bits) { flushed_.insert(bits); }
  bool is_flushed(Id bits) const { return flushed_.contains(bits); }
  /// Bits of an f32 from 0 to 1.
  void note_unit(Id bits) { units_.insert(bits); }
  bool is_unit(Id bits) const { return units_.contains(bits); }

  /// Calls a function of the shader library; it is resolved when the modules are linked.
  Id call(std::string_view name, Id result_type, std::span<const Id> args);
  bool imports(std::string_view name) const { return imports_.contains(name); }
  Id call(std::string_view name, Id result_type, std::initializer_list<Id> args) {
    return call(name, result_type, std::span(args.begin(), args.size()));
  }
  void memory_barrier(spv::Scope scope, uint32_t semantics);
  void control_barrier(spv::Scope scope, uint32_t semantics);

  /// Builds `body` under the condition; values made inside must not be used outside.
  template <typename Body>
  void when(Id condition, Body body) {
    Block* then = new_block();
    Block* merge = new_block();
    create_selection_merge(merge);
    create_conditional_branch(condition, then, merge);
    set_build_point(then);
    body();
    if (!terminated()) create_branch(merge);
    set_build_point(merge);
  }
  /// Enters `body` through a switch without cases: a construct that `break` may leave from inside
  /// nested ifs.
  void enter_scope(Block* body, Block* merge);
  /// A loop of the guest. Where drivers cut loops, lanes carry a mark out of it.
  void guest_loop(Block* merge, Block* again) {
    create_loop_merge(merge, again, spv::LoopControlMaskNone);
    ++guest_loops_;
  }
  size_t guest_loops() const { return guest_loops_; }
  /// Runs `body` until the id that it returns is false.
  void repeat(const std::function<Id()>& body);
  /// Runs `body` with 0, 1 ... up to below `count`.
  void count_to(uint32_t count, const std::function<void(Id)>& body, const char* name = nullptr);
  /// Runs `body` as long as `condition` gives an id that is true.
  void repeat_while(const std::function<Id()>& condition, const std::function<void()>& body);
  void call_function(const Function* function);

 private:
  struct Loop {
    Block *header, *again, *merge;
  };
  /// The build point is inside; who builds on leads to `again` or `merge`.
  Loop begin_loop();
  void close_loop(const Loop& loop);
  Id import_function(const std::string& name, Id result_type, std::span<const Id> args);

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
  Id& made_before(spv::Op code, Id type, std::span<const Id> args);

  bool int64_;
  std::vector<MadeSet> made_;  ///< by hash; not all is remembered, and large modules stay in caches
  std::unordered_set<Id> flushed_, units_;
  std::unordered_map<Id, uint32_t> below_;
  Id glsl_set_ = spv::NoResult;
  size_t guest_loops_ = 0;
  std::unordered_map<uint32_t, Id> uints_;
  std::unordered_map<Id, uint32_t> known_;
  std::unordered_map<uint64_t, Id> wides_;
  std::map<std::string, Id, std::less<>> imports_;
};

}  // namespace lanewise::spirv
