#include "runtime/spirv/binary/module_builder.hpp"

#include <algorithm>
#include <memory>

#include "runtime/spirv/binary/library.hpp"

namespace lanewise::spirv {
namespace {

constexpr unsigned kGenerator = 0;

/// Of integers and bits alone: float instructions are decorated one by one.
bool repeats(spv::Op code) {
  switch (code) {
    case spv::OpBitcast:
    case spv::OpUConvert:
    case spv::OpSConvert:
    case spv::OpIAdd:
    case spv::OpISub:
    case spv::OpIMul:
    case spv::OpNot:
    case spv::OpSNegate:
    case spv::OpBitwiseAnd:
    case spv::OpBitwiseOr:
    case spv::OpBitwiseXor:
    case spv::OpShiftLeftLogical:
    case spv::OpShiftRightLogical:
    case spv::OpShiftRightArithmetic:
    case spv::OpIEqual:
    case spv::OpINotEqual:
    case spv::OpULessThan:
    case spv::OpULessThanEqual:
    case spv::OpUGreaterThan:
    case spv::OpUGreaterThanEqual:
    case spv::OpSLessThan:
    case spv::OpSLessThanEqual:
    case spv::OpSGreaterThan:
    case spv::OpSGreaterThanEqual:
    case spv::OpLogicalAnd:
    case spv::OpLogicalOr:
    case spv::OpLogicalNot:
    case spv::OpSelect:
      return true;
    default:
      return false;
  }
}

spv::SpvBuildLogger& message_sink() {
  thread_local spv::SpvBuildLogger instance;
  return instance;
}

}  // namespace

ModuleBuilder::ModuleBuilder(const Target& target)
    : spv::Builder(spv::Spv_1_3, kGenerator, &message_sink()),
      int64_(library::variant_for(target) != library::Variant::t0) {
  addCapability(spv::CapabilityShader);
  addCapability(spv::CapabilityLinkage);
  if (int64_) {
    addCapability(spv::CapabilityInt64);
    addCapability(spv::CapabilityPhysicalStorageBufferAddresses);
    addExtension("SPV_KHR_physical_storage_buffer");
  }
  // As the library of the same tier has it: modules are linked only when they agree.
  setMemoryModel(int64_ ? spv::AddressingModelPhysicalStorageBuffer64 : spv::AddressingModelLogical,
                 spv::MemoryModelGLSL450);
  if (target.float64) addCapability(spv::CapabilityFloat64);
  void_type = makeVoidType();
  bool_type = makeBoolType();
  uint_type = makeUintType(32);
  int_type = makeIntType(32);
  uvec2_type = makeVectorType(uint_type, 2);
  uvec3_type = makeVectorType(uint_type, 3);
  uvec4_type = makeVectorType(uint_type, 4);
  float_type = makeFloatType(32);
  b64_type = int64_ ? makeUintType(64) : uvec2_type;
}

ModuleBuilder::~ModuleBuilder() = default;

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

/// spv::Builder looks through all constants of the type for each one that it makes.
Id ModuleBuilder::new_constant(Id type, std::initializer_list<uint32_t> words) {
  auto made = std::make_unique<spv::Instruction>(getUniqueId(), type, spv::OpConstant);
  for (const uint32_t word : words) made->addImmediateOperand(word);
  const Id id = made->getResultId();
  module.mapInstruction(made.get());
  constantsTypesGlobals.push_back(std::move(made));
  return id;
}

Id ModuleBuilder::u(uint32_t value) {
  auto [it, fresh] = uints_.try_emplace(value, spv::NoResult);
  if (fresh) {
    it->second = new_constant(uint_type, {value});
    known_.emplace(it->second, value);
  }
  return it->second;
}

Id ModuleBuilder::b64(uint64_t value) {
  auto [it, fresh] = wides_.try_emplace(value, spv::NoResult);
  if (fresh) {
    it->second =
        int64_ ? new_constant(b64_type,
                              {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)})
               : makeCompositeConstant(uvec2_type, {u(static_cast<uint32_t>(value)),
                                                    u(static_cast<uint32_t>(value >> 32))});
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
Id& ModuleBuilder::made_before(spv::Op code, Id type, const Ids& args) {
  constexpr size_t kSets = 2048;
  Made made{getBuildPoint()->getId(), type, static_cast<uint32_t>(code), {}};
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

Id ModuleBuilder::op(spv::Op code, Id type, const Ids& args) {
  if (code == spv::OpBitcast) {
    const spv::Instruction& source = *module.getInstruction(args[0]);
    if (source.getTypeId() == type) return args[0];
    if (source.getOpCode() == spv::OpBitcast && getTypeId(source.getIdOperand(0)) == type)
      return source.getIdOperand(0);
  }
  if (!repeats(code)) return createOp(code, type, args);
  Id& made = made_before(code, type, args);
  if (made == spv::NoResult) made = createOp(code, type, args);
  return made;
}

Id ModuleBuilder::any_lane(Id condition) {
  addCapability(spv::CapabilityGroupNonUniform);
  addCapability(spv::CapabilityGroupNonUniformVote);
  return createOp(spv::OpGroupNonUniformAny, bool_type, {u(spv::ScopeSubgroup), condition});
}

/// Of a pair that was just put together, the half that went in.
Id ModuleBuilder::extract(Id composite, Id type, unsigned index) {
  const spv::Instruction& source = *module.getInstruction(composite);
  if (source.getOpCode() == spv::OpCompositeConstruct && source.getTypeId() == uvec2_type)
    return source.getIdOperand(static_cast<int>(index));
  Id& made = made_before(spv::OpCompositeExtract, type, {composite, index});
  if (made == spv::NoResult) made = createCompositeExtract(composite, type, index);
  return made;
}

Id ModuleBuilder::glsl(int instruction, Id type, const Ids& args) {
  if (glsl_set_ == spv::NoResult) glsl_set_ = import("GLSL.std.450");
  return createBuiltinCall(type, glsl_set_, instruction, args);
}

Id ModuleBuilder::select(Id condition, Id yes, Id no) {
  if (yes == no) return yes;
  const Id type = getTypeId(yes);
  // Before SPIR-V 1.4 a vector is selected by a vector of booleans.
  if (type == uvec2_type) {
    const Id type2 = makeVectorType(bool_type, 2);
    condition = createCompositeConstruct(type2, {condition, condition});
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
  const spv::Instruction& made = *module.getInstruction(value);
  if (made.getOpCode() == spv::OpBitcast && getTypeId(made.getIdOperand(0)) == uvec2_type) {
    const spv::Instruction& pair = *module.getInstruction(made.getIdOperand(0));
    if (pair.getOpCode() == spv::OpCompositeConstruct) return pair.getIdOperand(0);
  }
  if (made.getOpCode() == spv::OpUConvert && getTypeId(made.getIdOperand(0)) == uint_type)
    return made.getIdOperand(0);
  return op(spv::OpUConvert, uint_type, {value});
}
Id ModuleBuilder::narrow_lo(Id value, int depth) {
  if (!int64_ || depth == 0) return lo(value);
  const spv::Instruction& made = *module.getInstruction(value);
  const auto operand = [&](int n) { return made.getIdOperand(n); };
  switch (made.getOpCode()) {
    case spv::OpConstant:
      return u(made.getImmediateOperand(0));
    case spv::OpUConvert:
    case spv::OpSConvert:
      return getTypeId(operand(0)) == uint_type ? operand(0) : lo(value);
    case spv::OpBitcast: {
      const spv::Instruction& pair = *module.getInstruction(operand(0));
      const bool of_words =
          pair.getOpCode() == spv::OpCompositeConstruct && pair.getTypeId() == uvec2_type;
      return of_words ? pair.getIdOperand(0) : lo(value);
    }
    case spv::OpShiftLeftLogical: {
      const spv::Instruction& by = *module.getInstruction(operand(1));
      if (by.getOpCode() != spv::OpConstant || by.getImmediateOperand(0) >= 32) return lo(value);
      return op(spv::OpShiftLeftLogical, uint_type,
                {narrow_lo(operand(0), depth - 1), u(by.getImmediateOperand(0))});
    }
    case spv::OpBitwiseAnd: {
      const Id mask = narrow_lo(operand(1), depth - 1), kept = narrow_lo(operand(0), depth - 1);
      return mask == u(~0U) ? kept : op(spv::OpBitwiseAnd, uint_type, {kept, mask});
    }
    case spv::OpIAdd:
    case spv::OpISub:
    case spv::OpIMul:
      return op(made.getOpCode(), uint_type,
                {narrow_lo(operand(0), depth - 1), narrow_lo(operand(1), depth - 1)});
    default:
      return lo(value);
  }
}
Id ModuleBuilder::hi(Id value) {
  return extract(to_uvec2(value), uint_type, 1);
}
Id ModuleBuilder::make64(Id low, Id high) {
  return to_b64(createCompositeConstruct(uvec2_type, {low, high}));
}

Id ModuleBuilder::import_function(const std::string& name, Id result_type, const Ids& args) {
  Ids params;
  params.reserve(args.size());
  for (Id arg : args) params.push_back(getTypeId(arg));
  const Id type = makeFunctionType(result_type, params);
  // A declaration has no blocks, which spv::Function cannot express: the instructions are written
  // by hand into the list that is printed before the function bodies.
  const Id id = getUniqueId();
  auto function = std::make_unique<spv::Instruction>(id, result_type, spv::OpFunction);
  function->addImmediateOperand(spv::FunctionControlMaskNone);
  function->addIdOperand(type);
  module.mapInstruction(function.get());
  externals.push_back(std::move(function));
  for (Id param : params) {
    externals.push_back(
        std::make_unique<spv::Instruction>(getUniqueId(), param, spv::OpFunctionParameter));
  }
  externals.push_back(std::make_unique<spv::Instruction>(spv::OpFunctionEnd));

  auto linkage = std::make_unique<spv::Instruction>(spv::OpDecorate);
  linkage->addIdOperand(id);
  linkage->addImmediateOperand(spv::DecorationLinkageAttributes);
  linkage->addStringOperand(name.c_str());
  linkage->addImmediateOperand(spv::LinkageTypeImport);
  decorations.push_back(std::move(linkage));
  return id;
}

Id ModuleBuilder::call(const std::string& name, Id result_type, const Ids& args) {
  auto [it, fresh] = imports_.try_emplace(name, spv::NoResult);
  if (fresh) it->second = import_function(name, result_type, args);
  Ids operands{it->second};
  operands.insert(operands.end(), args.begin(), args.end());
  return createOp(spv::OpFunctionCall, result_type, operands);
}

void ModuleBuilder::enter_scope(spv::Block* body, spv::Block* merge) {
  const Id selector = u(0);
  selection_merge(merge);
  auto inst = std::make_unique<spv::Instruction>(spv::OpSwitch);
  inst->addIdOperand(selector);
  inst->addIdOperand(body->getId());
  buildPoint->addInstruction(std::move(inst));
  body->addPredecessor(buildPoint);
  setBuildPoint(body);
}

void ModuleBuilder::repeat(const std::function<Id()>& body) {
  const Loop loop = begin_loop();
  createConditionalBranch(body(), loop.again, loop.merge);
  close_loop(loop);
}

void ModuleBuilder::repeat_while(const std::function<Id()>& condition,
                                 const std::function<void()>& body) {
  const Loop loop = begin_loop();
  spv::Block* inside = new_block();
  createConditionalBranch(condition(), inside, loop.merge);
  setBuildPoint(inside);
  body();
  createBranch(loop.again);
  close_loop(loop);
}

ModuleBuilder::Loop ModuleBuilder::begin_loop() {
  spv::Block* header = new_block();
  spv::Block* inside = new_block();
  spv::Block* again = new_block();
  const Loop loop{header, again, new_block()};
  createBranch(loop.header);
  setBuildPoint(loop.header);
  createLoopMerge(loop.merge, loop.again, spv::LoopControlDontUnrollMask, {});
  createBranch(inside);
  setBuildPoint(inside);
  return loop;
}

void ModuleBuilder::close_loop(const Loop& loop) {
  setBuildPoint(loop.again);
  createBranch(loop.header);
  setBuildPoint(loop.merge);
}

void ModuleBuilder::unreachable() {
  buildPoint->addInstruction(std::make_unique<spv::Instruction>(spv::OpUnreachable));
}

spv::Function* ModuleBuilder::begin_function(const char* name) {
  spv::Block* entry = nullptr;
  spv::Function* function =
      makeFunctionEntry(spv::NoPrecision, void_type, name, {}, {}, {}, &entry);
  setBuildPoint(entry);
  return function;
}

void ModuleBuilder::call_function(spv::Function* function) {
  createOp(spv::OpFunctionCall, void_type, Ids{function->getId()});
}

std::vector<uint32_t> ModuleBuilder::words() {
  std::vector<uint32_t> out;
  dump(out);
  return out;
}

}  // namespace lanewise::spirv
