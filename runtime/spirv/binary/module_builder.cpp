#include "runtime/spirv/binary/module_builder.hpp"

#include <algorithm>

#include "runtime/spirv/binary/library.hpp"
#include "runtime/support/enum_set.hpp"

namespace lanewise::spirv {
namespace {

/// Of integers and bits alone: float instructions are decorated one by one.
bool repeats(spv::Op code) {
  static constexpr EnumSet<spv::Op> kRepeats{spv::OpBitcast,
                                             spv::OpUConvert,
                                             spv::OpSConvert,
                                             spv::OpIAdd,
                                             spv::OpISub,
                                             spv::OpIMul,
                                             spv::OpNot,
                                             spv::OpSNegate,
                                             spv::OpBitwiseAnd,
                                             spv::OpBitwiseOr,
                                             spv::OpBitwiseXor,
                                             spv::OpShiftLeftLogical,
                                             spv::OpShiftRightLogical,
                                             spv::OpShiftRightArithmetic,
                                             spv::OpIEqual,
                                             spv::OpINotEqual,
                                             spv::OpULessThan,
                                             spv::OpULessThanEqual,
                                             spv::OpUGreaterThan,
                                             spv::OpUGreaterThanEqual,
                                             spv::OpSLessThan,
                                             spv::OpSLessThanEqual,
                                             spv::OpSGreaterThan,
                                             spv::OpSGreaterThanEqual,
                                             spv::OpLogicalAnd,
                                             spv::OpLogicalOr,
                                             spv::OpLogicalNot,
                                             spv::OpSelect};
  return kRepeats.has(code);
}

}  // namespace

ModuleBuilder::ModuleBuilder(const Target& target)
    : int64_(library::variant_for(target) != library::Variant::t0) {
  add_capability(spv::CapabilityShader);
  add_capability(spv::CapabilityLinkage);
  if (int64_) {
    add_capability(spv::CapabilityInt64);
    add_capability(spv::CapabilityPhysicalStorageBufferAddresses);
    add_extension("SPV_KHR_physical_storage_buffer");
  }
  // As the library of the same tier has it: modules are linked only when they agree.
  set_addressing(int64_ ? spv::AddressingModelPhysicalStorageBuffer64
                        : spv::AddressingModelLogical);
  if (target.float64) add_capability(spv::CapabilityFloat64);
  void_type = make_void_type();
  bool_type = make_bool_type();
  uint_type = make_uint_type(32);
  int_type = make_int_type(32);
  uvec2_type = make_vector_type(uint_type, 2);
  uvec3_type = make_vector_type(uint_type, 3);
  uvec4_type = make_vector_type(uint_type, 4);
  float_type = make_float_type(32);
  b64_type = int64_ ? make_uint_type(64) : uvec2_type;
}

Id ModuleBuilder::type_of(ir::Width width) const {
  switch (width) {
    case ir::Width::pred:
      return bool_type;
    case ir::Width::b64:
      return b64_type;
    case ir::Width::b32:
      break;
  }
  return uint_type;
}

Id ModuleBuilder::u(uint32_t value) {
  auto [it, fresh] = uints_.try_emplace(value, spv::NoResult);
  if (fresh) {
    it->second = declare(spv::OpConstant, uint_type, std::span(&value, 1));
    known_.emplace(it->second, value);
  }
  return it->second;
}

Id ModuleBuilder::b64(uint64_t value) {
  auto [it, fresh] = wides_.try_emplace(value, spv::NoResult);
  if (fresh) {
    const std::array<uint32_t, 2> words{static_cast<uint32_t>(value),
                                        static_cast<uint32_t>(value >> 32)};
    it->second = int64_ ? declare(spv::OpConstant, b64_type, words)
                        : make_composite_constant(uvec2_type, {u(words[0]), u(words[1])});
  }
  return it->second;
}

Id ModuleBuilder::constant(ir::Width width, uint64_t bits) {
  switch (width) {
    case ir::Width::pred:
      return b(bits != 0);
    case ir::Width::b64:
      return b64(bits);
    case ir::Width::b32:
      break;
  }
  return u(static_cast<uint32_t>(bits));
}

const uint32_t* ModuleBuilder::known(Id id) const {
  const auto it = known_.find(id);
  return it == known_.end() ? nullptr : &it->second;
}

/// Where the result of the operation in this block is found, or is to be noted.
Id& ModuleBuilder::made_before(spv::Op code, Id type, std::span<const Id> args) {
  constexpr size_t kSets = 2048;
  Made made{build_point()->id(), type, static_cast<uint32_t>(code), {}};
  std::ranges::copy(args, made.args.begin());
  uint64_t h = uint64_t{made.block} << 32 ^ made.code;
  for (const Id word : {made.type, made.args[0], made.args[1], made.args[2]})
    h = (h ^ word) * 0x9e3779b97f4a7c15 ^ h >> 29;
  if (made_.empty()) made_.resize(kSets);
  MadeSet& set = made_[(h >> 32) % kSets];
  const auto found = std::ranges::find(set.made, made);
  if (found != set.made.end()) return set.ids.at(static_cast<size_t>(found - set.made.begin()));
  std::shift_right(set.made.begin(), set.made.end(), 1);
  std::shift_right(set.ids.begin(), set.ids.end(), 1);
  set.made[0] = made;
  return set.ids[0] = spv::NoResult;
}

Id ModuleBuilder::op(spv::Op code, Id type, std::span<const Id> args) {
  if (code == spv::OpBitcast) {
    const Instruction source = this->made(args[0]);
    if (source.type_id() == type) return args[0];
    if (source.op() == spv::OpBitcast && type_id(source.operand(0)) == type)
      return source.operand(0);
  }
  if (!repeats(code)) return create_op(code, type, args);
  Id& made = made_before(code, type, args);
  if (made == spv::NoResult) made = create_op(code, type, args);
  return made;
}

Id ModuleBuilder::any_lane(Id condition) {
  add_capability(spv::CapabilityGroupNonUniform);
  add_capability(spv::CapabilityGroupNonUniformVote);
  return create_op(spv::OpGroupNonUniformAny, bool_type, {u(spv::ScopeSubgroup), condition});
}

/// Of a pair that was just put together, the half that went in.
Id ModuleBuilder::extract(Id composite, Id type, unsigned index) {
  const Instruction source = this->made(composite);
  if (source.op() == spv::OpCompositeConstruct && source.type_id() == uvec2_type)
    return source.operand(static_cast<int>(index));
  Id& made = made_before(spv::OpCompositeExtract, type, std::array{composite, Id{index}});
  if (made == spv::NoResult) made = create_composite_extract(composite, type, index);
  return made;
}

Id ModuleBuilder::glsl(uint32_t instruction, Id type, const Ids& args) {
  if (glsl_set_ == spv::NoResult) glsl_set_ = import_set("GLSL.std.450");
  Ids operands{glsl_set_, instruction};
  operands.insert(operands.end(), args.begin(), args.end());
  return create_op(spv::OpExtInst, type, operands);
}

Id ModuleBuilder::select(Id condition, Id yes, Id no) {
  if (yes == no) return yes;
  const Id type = type_id(yes);
  // Before SPIR-V 1.4 a vector is selected by a vector of booleans.
  if (type == uvec2_type) {
    const Id type2 = make_vector_type(bool_type, 2);
    condition = create_composite_construct(type2, {condition, condition});
  }
  return op(spv::OpSelect, type, {condition, yes, no});
}

Id ModuleBuilder::to_uvec2(Id value) {
  return int64_ ? op(spv::OpBitcast, uvec2_type, {value}) : value;
}
Id ModuleBuilder::to_b64(Id value) {
  return int64_ ? op(spv::OpBitcast, b64_type, {value}) : value;
}
Id ModuleBuilder::lo(Id value) {
  if (!int64_) return extract(value, uint_type, 0);
  const Instruction made = this->made(value);
  if (made.op() == spv::OpBitcast && type_id(made.operand(0)) == uvec2_type) {
    const Instruction pair = this->made(made.operand(0));
    if (pair.op() == spv::OpCompositeConstruct) return pair.operand(0);
  }
  if (made.op() == spv::OpUConvert && type_id(made.operand(0)) == uint_type) return made.operand(0);
  return word(spv::OpUConvert, {value});
}
Id ModuleBuilder::narrow_lo(Id value, int depth) {
  if (!int64_ || depth == 0) return lo(value);
  const Instruction made = this->made(value);
  const auto operand = [&](int n) { return made.operand(n); };
  switch (made.op()) {
    case spv::OpConstant:
      return u(made.operand(0));
    case spv::OpUConvert:
    case spv::OpSConvert:
      return type_id(operand(0)) == uint_type ? operand(0) : lo(value);
    case spv::OpBitcast: {
      const Instruction pair = this->made(operand(0));
      const bool of_words = pair.op() == spv::OpCompositeConstruct && pair.type_id() == uvec2_type;
      return of_words ? pair.operand(0) : lo(value);
    }
    case spv::OpShiftLeftLogical: {
      const Instruction by = this->made(operand(1));
      if (by.op() != spv::OpConstant || by.operand(0) >= 32) return lo(value);
      return word(spv::OpShiftLeftLogical, {narrow_lo(operand(0), depth - 1), u(by.operand(0))});
    }
    case spv::OpBitwiseAnd: {
      const Id mask = narrow_lo(operand(1), depth - 1), kept = narrow_lo(operand(0), depth - 1);
      return mask == u(~0U) ? kept : word(spv::OpBitwiseAnd, {kept, mask});
    }
    case spv::OpIAdd:
    case spv::OpISub:
    case spv::OpIMul:
      return op(made.op(), uint_type,
                {narrow_lo(operand(0), depth - 1), narrow_lo(operand(1), depth - 1)});
    default:
      return lo(value);
  }
}
Id ModuleBuilder::hi(Id value) {
  return extract(to_uvec2(value), uint_type, 1);
}
Id ModuleBuilder::make64(Id low, Id high) {
  return to_b64(create_composite_construct(uvec2_type, {low, high}));
}

Id ModuleBuilder::import_function(const std::string& name, Id result_type,
                                  std::span<const Id> args) {
  Ids params;
  params.reserve(args.size());
  for (Id arg : args) params.push_back(type_id(arg));
  return declare_function(result_type, make_function_type(result_type, params), params, name);
}

Id ModuleBuilder::call(std::string_view name, Id result_type, std::span<const Id> args) {
  auto it = imports_.find(name);
  if (it == imports_.end())
    it = imports_.emplace(name, import_function(std::string(name), result_type, args)).first;
  Ids operands{it->second};
  operands.insert(operands.end(), args.begin(), args.end());
  return create_op(spv::OpFunctionCall, result_type, operands);
}

void ModuleBuilder::enter_scope(Block* body, Block* merge) {
  const Id selector = u(0);
  create_selection_merge(merge);
  create_switch(selector, body);
  set_build_point(body);
}

void ModuleBuilder::repeat(const std::function<Id()>& body) {
  const Loop loop = begin_loop();
  create_conditional_branch(body(), loop.again, loop.merge);
  close_loop(loop);
}

void ModuleBuilder::count_to(uint32_t count, const std::function<void(Id)>& body,
                             const char* name) {
  const Id counter = create_variable(spv::StorageClassFunction, uint_type, name);
  create_store(u(0), counter);
  repeat([&] {
    const Id number = create_load(counter);
    body(number);
    const Id next = word(spv::OpIAdd, {number, u(1)});
    create_store(next, counter);
    return test(spv::OpULessThan, {next, u(count)});
  });
}

void ModuleBuilder::repeat_while(const std::function<Id()>& condition,
                                 const std::function<void()>& body) {
  const Loop loop = begin_loop();
  Block* inside = new_block();
  create_conditional_branch(condition(), inside, loop.merge);
  set_build_point(inside);
  body();
  create_branch(loop.again);
  close_loop(loop);
}

ModuleBuilder::Loop ModuleBuilder::begin_loop() {
  Block* header = new_block();
  Block* inside = new_block();
  Block* again = new_block();
  const Loop loop{header, again, new_block()};
  create_branch(loop.header);
  set_build_point(loop.header);
  create_loop_merge(loop.merge, loop.again, spv::LoopControlDontUnrollMask);
  create_branch(inside);
  set_build_point(inside);
  return loop;
}

void ModuleBuilder::close_loop(const Loop& loop) {
  set_build_point(loop.again);
  create_branch(loop.header);
  set_build_point(loop.merge);
}

void ModuleBuilder::call_function(const Function* function) {
  create_op(spv::OpFunctionCall, void_type, {function->id()});
}

void ModuleBuilder::memory_barrier(spv::Scope scope, uint32_t semantics) {
  const Id where = u(scope), what = u(semantics);
  create_no_result_op(spv::OpMemoryBarrier, {where, what});
}

void ModuleBuilder::control_barrier(spv::Scope scope, uint32_t semantics) {
  const Id where = u(scope), what = u(semantics);
  create_no_result_op(spv::OpControlBarrier, {where, where, what});
}

}  // namespace lanewise::spirv
