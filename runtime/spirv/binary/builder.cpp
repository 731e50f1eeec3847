#include "runtime/spirv/binary/builder.hpp"

#include "runtime/spirv/binary/code.hpp"

namespace lanewise::spirv {
namespace {

constexpr uint32_t kVersion = 0x00010300, kGenerator = 0;

using Words = std::vector<uint32_t>;

void put(Words& to, spv::Op op, std::initializer_list<uint32_t> operands) {
  to.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  to.insert(to.end(), operands.begin(), operands.end());
}
/// Four characters a word, with at least one zero behind them.
void put_text(Words& to, std::string_view text) {
  const size_t first = to.size();
  to.resize(first + text.size() / 4 + 1);
  for (size_t n = 0; n < text.size(); ++n)
    to[first + n / 4] |= static_cast<uint32_t>(static_cast<unsigned char>(text[n])) << 8 * (n % 4);
}
/// The words from `begin` on are one instruction, whose first word is still missing its length.
void set_length(Words& words, size_t begin) {
  words[begin] |= static_cast<uint32_t>(words.size() - begin) << 16;
}
void append(Words& to, const Words& words) {
  to.insert(to.end(), words.begin(), words.end());
}

}  // namespace

uint32_t Builder::Instruction::word(int n) const {
  const Place& place = builder_->places_[id_];
  return place.row == Row::none ? 0 : builder_->row(place.row)[place.at + static_cast<size_t>(n)];
}

Id Builder::new_id(Id type, Row row, size_t at) {
  places_.push_back({type, row, static_cast<uint32_t>(at)});
  return static_cast<Id>(places_.size() - 1);
}

// --- the module ----------------------------------------------------------------------------------

void Builder::add_decoration(Id id, spv::Decoration decoration,
                             std::initializer_list<uint32_t> more) {
  const size_t begin = decorations_.size();
  decorations_.insert(decorations_.end(), {spv::OpDecorate, id, static_cast<uint32_t>(decoration)});
  decorations_.insert(decorations_.end(), more.begin(), more.end());
  set_length(decorations_, begin);
}

void Builder::add_member_decoration(Id id, uint32_t member, spv::Decoration decoration,
                                    uint32_t value) {
  put(decorations_, spv::OpMemberDecorate, {id, member, static_cast<uint32_t>(decoration), value});
}

void Builder::add_name(Id id, std::string_view name) {
  const size_t begin = names_.size();
  names_.insert(names_.end(), {spv::OpName, id});
  put_text(names_, name);
  set_length(names_, begin);
}

void Builder::add_entry_point(const Function* function, std::string_view name,
                              uint32_t local_size) {
  entry_point_ = {spv::OpEntryPoint, spv::ExecutionModelGLCompute, function->id_};
  put_text(entry_point_, name);
  put(modes_, spv::OpExecutionMode, {function->id_, spv::ExecutionModeLocalSize, local_size, 1, 1});
}

Id Builder::import_set(const char* name) {
  const Id id = new_id(spv::NoResult, Row::none, 0);
  const size_t begin = sets_.size();
  sets_.insert(sets_.end(), {spv::OpExtInstImport, id});
  put_text(sets_, name);
  set_length(sets_, begin);
  return id;
}

Id Builder::declare_function(Id result, Id type, std::span<const Id> params,
                             const std::string& name) {
  const Id id = new_id(result, Row::none, 0);
  put(externals_, spv::OpFunction, {result, id, spv::FunctionControlMaskNone, type});
  for (const Id param : params)
    put(externals_, spv::OpFunctionParameter, {param, new_id(param, Row::none, 0)});
  put(externals_, spv::OpFunctionEnd, {});
  const size_t begin = decorations_.size();
  decorations_.insert(decorations_.end(), {spv::OpDecorate, id, spv::DecorationLinkageAttributes});
  put_text(decorations_, name);
  decorations_.push_back(spv::LinkageTypeImport);
  set_length(decorations_, begin);
  return id;
}

// --- types and constants -------------------------------------------------------------------------

Id Builder::declare(spv::Op op, Id type, std::span<const uint32_t> operands) {
  Words& to = row(Row::declarations);
  const size_t begin = to.size();
  const Id id = new_id(type, Row::declarations, begin);
  to.push_back(op);
  if (type != spv::NoResult) to.push_back(type);
  to.push_back(id);
  to.insert(to.end(), operands.begin(), operands.end());
  set_length(to, begin);
  return id;
}

Id Builder::declared(spv::Op op, Id type, std::initializer_list<uint32_t> operands) {
  Words key{static_cast<uint32_t>(op), type};
  key.insert(key.end(), operands.begin(), operands.end());
  const auto [at, fresh] = declared_.try_emplace(std::move(key), spv::NoResult);
  if (fresh) at->second = declare(op, type, std::span(operands.begin(), operands.size()));
  return at->second;
}

Id Builder::make_uint_type(uint32_t width) {
  if (width == 64) add_capability(spv::CapabilityInt64);
  return declared(spv::OpTypeInt, spv::NoResult, {width, 0});
}
Id Builder::make_float_type(uint32_t width) {
  if (width == 64) add_capability(spv::CapabilityFloat64);
  return declared(spv::OpTypeFloat, spv::NoResult, {width});
}
Id Builder::make_vector_type(Id component, uint32_t size) {
  return declared(spv::OpTypeVector, spv::NoResult, {component, size});
}
Id Builder::make_pointer(spv::StorageClass storage, Id pointee) {
  return declared(spv::OpTypePointer, spv::NoResult, {static_cast<uint32_t>(storage), pointee});
}
Id Builder::make_array_type(Id element, Id size, uint32_t stride) {
  if (stride == 0) return declared(spv::OpTypeArray, spv::NoResult, {element, size});
  const std::array<uint32_t, 2> operands{element, size};
  const Id id = declare(spv::OpTypeArray, spv::NoResult, operands);
  add_decoration(id, spv::DecorationArrayStride, {stride});
  return id;
}
Id Builder::make_struct_type(std::initializer_list<Id> members, std::string_view name) {
  const Id id =
      declare(spv::OpTypeStruct, spv::NoResult, std::span(members.begin(), members.size()));
  add_name(id, name);
  return id;
}
Id Builder::make_struct_result_type(Id first, Id second) {
  const size_t before = places_.size();
  const Id id = declared(spv::OpTypeStruct, spv::NoResult, {first, second});
  if (places_.size() > before) add_name(id, "ResType");
  return id;
}
Id Builder::make_function_type(Id result, const Ids& params) {
  Words key{spv::OpTypeFunction, spv::NoResult, result};
  append(key, params);
  const auto [at, fresh] = declared_.try_emplace(key, spv::NoResult);
  if (fresh) at->second = declare(spv::OpTypeFunction, spv::NoResult, std::span(key).subspan(2));
  return at->second;
}
Id Builder::make_bool_constant(bool value) {
  return declared(value ? spv::OpConstantTrue : spv::OpConstantFalse, make_bool_type(), {});
}
Id Builder::make_composite_constant(Id type, std::initializer_list<Id> parts) {
  return declared(spv::OpConstantComposite, type, parts);
}

Id Builder::create_variable(spv::StorageClass storage, Id type, const char* name, Id initial) {
  const Id pointer = make_pointer(storage, type);
  const bool local = storage == spv::StorageClassFunction;
  const Row where = local ? Row::variables : Row::declarations;
  Words& to = row(where);
  const size_t begin = to.size();
  const Id id = new_id(pointer, where, begin);
  to.insert(to.end(), {spv::OpVariable, pointer, id, static_cast<uint32_t>(storage)});
  if (initial != spv::NoResult) to.push_back(initial);
  set_length(to, begin);
  if (local) here_->function_->variables_.push_back(static_cast<uint32_t>(begin));
  if (name != nullptr) add_name(id, name);
  return id;
}

// --- blocks --------------------------------------------------------------------------------------

Block* Builder::new_block() {
  Block& block = blocks_.emplace_back();
  block.id_ = new_id(spv::NoResult, Row::none, 0);
  if (here_ != nullptr) block.function_ = here_->function_;
  return &block;
}

/// What was put into the open range belongs to the block of the build point.
void Builder::end_range() {
  const auto end = static_cast<uint32_t>(row(Row::code).size());
  if (here_ == nullptr || end == begin_) return;
  const auto range = static_cast<uint32_t>(ranges_.size());
  ranges_.push_back({begin_, end, Block::kNoRange});
  if (here_->last_range_ == Block::kNoRange)
    here_->first_range_ = range;
  else
    ranges_[here_->last_range_].next = range;
  here_->last_range_ = range;
  begin_ = end;
}

void Builder::set_build_point(Block* block) {
  if (block == here_) return;
  end_range();
  here_ = block;
}

Function* Builder::begin_function(const char* name) {
  Function& function = functions_.emplace_back();
  function.result_ = make_void_type();
  function.type_ = make_function_type(function.result_, {});
  function.id_ = new_id(function.result_, Row::none, 0);
  function.entry_ = new_block();
  function.entry_->function_ = &function;
  set_build_point(function.entry_);
  add_name(function.id_, name);
  return &function;
}

void Builder::end_block(std::array<Block*, 2> next) {
  here_->next_ = next;
  here_->ended_ = true;
}
void Builder::create_branch(Block* to) {
  create_no_result_op(spv::OpBranch, {to->id_});
  end_block({to});
}
void Builder::create_conditional_branch(Id condition, Block* then, Block* otherwise) {
  create_no_result_op(spv::OpBranchConditional, {condition, then->id_, otherwise->id_});
  end_block({then, otherwise});
}
void Builder::create_switch(Id selector, Block* otherwise) {
  create_no_result_op(spv::OpSwitch, {selector, otherwise->id_});
  end_block({otherwise});
}
void Builder::make_return() {
  create_no_result_op(spv::OpReturn, {});
  end_block({});
}
void Builder::unreachable() {
  create_no_result_op(spv::OpUnreachable, {});
  end_block({});
}
void Builder::create_selection_merge(Block* merge) {
  create_no_result_op(spv::OpSelectionMerge, {merge->id_, spv::SelectionControlMaskNone});
  here_->merge_ = merge;
}
void Builder::create_loop_merge(Block* merge, Block* again, spv::LoopControlMask control) {
  create_no_result_op(spv::OpLoopMerge, {merge->id_, again->id_, static_cast<uint32_t>(control)});
  here_->merge_ = merge;
  here_->again_ = again;
}

// --- instructions --------------------------------------------------------------------------------

Id Builder::create_op(spv::Op op, Id type, std::span<const uint32_t> operands) {
  Words& to = row(Row::code);
  const Id id = new_id(type, Row::code, to.size());
  to.push_back(static_cast<uint32_t>(operands.size() + 3) << 16 | op);
  to.push_back(type);
  to.push_back(id);
  to.insert(to.end(), operands.begin(), operands.end());
  return id;
}

void Builder::create_no_result_op(spv::Op op, std::initializer_list<uint32_t> operands) {
  put(row(Row::code), op, operands);
}

Id Builder::create_load(Id variable) {
  return create_op(spv::OpLoad, made(type_id(variable)).operand(1), {variable});
}

// --- the words -----------------------------------------------------------------------------------

std::vector<uint32_t> Builder::words() {
  end_range();
  Words out;
  out.reserve(row(Row::code).size() + row(Row::declarations).size() + row(Row::variables).size() +
              names_.size() + decorations_.size() + externals_.size() + 2 * blocks_.size() + 256);
  write_header(out);
  append(out, names_);
  append(out, decorations_);
  append(out, row(Row::declarations));
  append(out, externals_);
  for (const Function& function : functions_) write_function(function, out);
  return out;
}

void Builder::write_header(Words& out) const {
  out = {spv::MagicNumber, kVersion, kGenerator, static_cast<uint32_t>(places_.size()), 0};
  for (const spv::Capability capability : capabilities_)
    put(out, spv::OpCapability, {static_cast<uint32_t>(capability)});
  for (const std::string& name : extensions_) {
    const size_t begin = out.size();
    out.push_back(spv::OpExtension);
    put_text(out, name);
    set_length(out, begin);
  }
  append(out, sets_);
  put(out, spv::OpMemoryModel,
      {static_cast<uint32_t>(addressing_), static_cast<uint32_t>(spv::MemoryModelGLSL450)});
  const size_t begin = out.size();
  append(out, entry_point_);
  append(out, interface_);
  if (!entry_point_.empty()) set_length(out, begin);
  append(out, modes_);
}

void Builder::write_function(const Function& function, Words& out) {
  put(out, spv::OpFunction,
      {function.result_, function.id_, spv::FunctionControlMaskNone, function.type_});
  struct Step {
    Block* block;
    bool late;  ///< a merge block or loop's end that waited for what comes before it
  };
  std::vector<Step> steps{{function.entry_, false}};
  while (!steps.empty()) {
    auto [block, late] = steps.back();
    steps.pop_back();
    if (block == nullptr) continue;
    if (late)
      block->visits_ &= static_cast<uint8_t>(~kDelayed);
    else
      block->visits_ |= kReached;
    if ((block->visits_ & (kVisited | kDelayed)) != 0) continue;
    write_block(*block, function, out);
    block->visits_ |= kVisited;
    for (Block* waiting : {block->merge_, block->again_}) {
      if (waiting == nullptr) continue;
      waiting->visits_ |= kDelayed;
      steps.push_back({waiting, true});
    }
    if ((block->visits_ & kReached) == 0) continue;
    steps.push_back({block->next_[1], false});
    steps.push_back({block->next_[0], false});
  }
  put(out, spv::OpFunctionEnd, {});
}

void Builder::write_block(const Block& block, const Function& function, Words& out) const {
  put(out, spv::OpLabel, {block.id_});
  const auto copy = [&](const Words& from, size_t begin, size_t end) {
    out.insert(out.end(), from.begin() + static_cast<ptrdiff_t>(begin),
               from.begin() + static_cast<ptrdiff_t>(end));
  };
  if (&block == function.entry_) {
    const Words& variables = row(Row::variables);
    for (const uint32_t at : function.variables_) copy(variables, at, at + (variables[at] >> 16));
  }
  for (uint32_t n = block.first_range_; n != Block::kNoRange; n = ranges_[n].next)
    copy(row(Row::code), ranges_[n].begin, ranges_[n].end);
}

}  // namespace lanewise::spirv
