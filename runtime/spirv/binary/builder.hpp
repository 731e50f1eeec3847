// A SPIR-V module in the making. All instructions lie in a few rows of words, blocks are stretches
// of these, and nothing is allocated for an instruction of its own: a kernel has millions.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace spv {
/// No id has this number.
inline constexpr Id NoResult = 0;
}  // namespace spv

namespace lanewise::spirv {

using spv::Id;
using Ids = std::vector<Id>;

class Function;

/// What follows a label, up to a terminator. Builder writes it out where the tree of merges has it.
class Block {
 public:
  Id id() const { return id_; }

 private:
  friend class Builder;
  static constexpr uint32_t kNoRange = ~0U;

  Id id_ = 0;
  Function* function_ = nullptr;
  bool ended_ = false;
  uint32_t first_range_ = kNoRange, last_range_ = kNoRange;
  std::array<Block*, 2> next_{};               ///< where its terminator leads
  Block *merge_ = nullptr, *again_ = nullptr;  ///< of its merge instruction
  uint8_t visits_ = 0;                         ///< bits of Builder::Visit
};

class Function {
 public:
  Id id() const { return id_; }

 private:
  friend class Builder;
  Id id_ = 0, result_ = 0, type_ = 0;
  Block* entry_ = nullptr;
  std::vector<uint32_t> variables_;  ///< the instructions
};

class Builder {
 public:
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // --- what was made -----------------------------------------------------------------------------

  /// An instruction that has a result. It stays valid while others are made.
  class Instruction {
   public:
    spv::Op op() const { return static_cast<spv::Op>(word(0) & 0xffff); }
    int operand_count() const { return static_cast<int>(word(0) >> 16) - first(); }
    Id type_id() const { return builder_->type_id(id_); }
    Id operand(int n) const { return word(first() + n); }

   private:
    friend class Builder;
    Instruction(const Builder* builder, Id id) : builder_(builder), id_(id) {}
    int first() const { return type_id() == spv::NoResult ? 2 : 3; }
    uint32_t word(int n) const;

    const Builder* builder_;
    Id id_;
  };
  Instruction made(Id id) const { return {this, id}; }
  Id type_id(Id id) const { return places_[id].type; }

  // --- the module --------------------------------------------------------------------------------

  void add_capability(spv::Capability capability) { capabilities_.insert(capability); }
  void add_extension(const char* name) { extensions_.insert(name); }
  void set_addressing(spv::AddressingModel model) { addressing_ = model; }
  void add_decoration(Id id, spv::Decoration decoration, std::initializer_list<uint32_t> more = {});
  void add_member_decoration(Id id, uint32_t member, spv::Decoration decoration, uint32_t value);
  void add_name(Id id, std::string_view name);
  /// Of the module's only entry point; variables that it uses are added afterwards.
  void add_entry_point(const Function* function, std::string_view name, uint32_t local_size);
  void add_interface(Id variable) { interface_.push_back(variable); }

  // --- types and constants -----------------------------------------------------------------------

  Id make_void_type() { return declared(spv::OpTypeVoid, spv::NoResult, {}); }
  Id make_bool_type() { return declared(spv::OpTypeBool, spv::NoResult, {}); }
  Id make_uint_type(uint32_t width);
  Id make_int_type(uint32_t width) { return declared(spv::OpTypeInt, spv::NoResult, {width, 1}); }
  Id make_float_type(uint32_t width);
  Id make_vector_type(Id component, uint32_t size);
  Id make_pointer(spv::StorageClass storage, Id pointee);
  /// With a stride, the type is nobody else's, as it is decorated.
  Id make_array_type(Id element, Id size, uint32_t stride);
  Id make_struct_type(std::initializer_list<Id> members, std::string_view name);
  /// Of instructions with two results.
  Id make_struct_result_type(Id first, Id second);
  Id make_function_type(Id result, const Ids& params);
  Id make_bool_constant(bool value);
  Id make_null_constant(Id type) { return declared(spv::OpConstantNull, type, {}); }
  Id make_composite_constant(Id type, std::initializer_list<Id> parts);

  /// In a function: at its begin. `initial` is a constant.
  Id create_variable(spv::StorageClass storage, Id type, const char* name = nullptr,
                     Id initial = spv::NoResult);

  // --- blocks ------------------------------------------------------------------------------------

  Block* new_block();
  Block* build_point() const { return here_; }
  void set_build_point(Block* block);
  bool terminated() const { return here_->ended_; }
  /// A void function without parameters; the build point moves to its entry.
  Function* begin_function(const char* name);

  void create_branch(Block* to);
  void create_conditional_branch(Id condition, Block* then, Block* otherwise);
  void create_selection_merge(Block* merge);
  void create_loop_merge(Block* merge, Block* again, spv::LoopControlMask control);
  /// A switch without cases.
  void create_switch(Id selector, Block* otherwise);
  void make_return();
  void unreachable();

  // --- instructions ------------------------------------------------------------------------------

  Id create_op(spv::Op op, Id type, std::span<const uint32_t> operands);
  Id create_op(spv::Op op, Id type, std::initializer_list<uint32_t> operands) {
    return create_op(op, type, std::span(operands.begin(), operands.size()));
  }
  void create_no_result_op(spv::Op op, std::initializer_list<uint32_t> operands);
  Id create_load(Id variable);
  void create_store(Id value, Id variable) { create_no_result_op(spv::OpStore, {variable, value}); }
  Id create_composite_extract(Id composite, Id type, uint32_t index) {
    return create_op(spv::OpCompositeExtract, type, {composite, index});
  }
  Id create_composite_construct(Id type, const Ids& parts) {
    return create_op(spv::OpCompositeConstruct, type, parts);
  }

  /// The module. Blocks stand behind those that lead to them, merge blocks behind what they merge.
  std::vector<uint32_t> words();

 protected:
  Builder() { places_.resize(1); }
  ~Builder() = default;

  /// A type or constant that is not looked for among those that there are.
  Id declare(spv::Op op, Id type, std::span<const uint32_t> operands);
  /// The declaration of a function that another module has.
  Id declare_function(Id result, Id type, std::span<const Id> params, const std::string& name);
  Id import_set(const char* name);

 private:
  using Words = std::vector<uint32_t>;
  /// Where the instruction lies that an id is the result of.
  enum class Row : uint8_t { none, code, declarations, variables };
  struct Place {
    Id type = spv::NoResult;
    Row row = Row::none;
    uint32_t at = 0;
  };
  /// Words of a block; what it has behind them is in the range `next`.
  struct Range {
    uint32_t begin, end, next;
  };
  enum Visit : uint8_t { kReached = 1, kVisited = 2, kDelayed = 4 };

  Id new_id(Id type, Row row, size_t at);
  Id declared(spv::Op op, Id type, std::initializer_list<uint32_t> operands);
  const Words& row(Row row) const { return rows_[static_cast<size_t>(row)]; }
  Words& row(Row row) { return rows_[static_cast<size_t>(row)]; }
  void end_range();
  void end_block(std::array<Block*, 2> next);
  void write_header(Words& out) const;
  void write_function(const Function& function, Words& out);
  void write_block(const Block& block, const Function& function, Words& out) const;

  std::vector<Place> places_;  ///< [id]
  std::array<Words, 4> rows_;  ///< [Row]
  std::vector<Range> ranges_;
  std::deque<Block> blocks_;
  std::deque<Function> functions_;
  Block* here_ = nullptr;
  uint32_t begin_ = 0;            ///< of the range that is open
  std::map<Words, Id> declared_;  ///< by operation, type and operands
  std::set<spv::Capability> capabilities_;
  std::set<std::string> extensions_;
  spv::AddressingModel addressing_ = spv::AddressingModelLogical;
  Words sets_, names_, decorations_, externals_, modes_;
  Words entry_point_;
  Ids interface_;
};

}  // namespace lanewise::spirv
