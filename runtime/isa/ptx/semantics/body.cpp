// Walks a function body: scopes, declarations, labels, instructions.
#include <algorithm>

#include "runtime/ir/make.hpp"
#include "runtime/isa/ptx/semantics/emit.hpp"
#include "runtime/isa/ptx/text/parser.hpp"

namespace lanewise::ptx {
namespace {

constexpr uint64_t kMaxWordObject = 256;  ///< larger call parameters live in local memory

bool is_jump_table(const Statement& s) {
  return std::holds_alternative<TargetList>(s) || std::holds_alternative<CallPrototype>(s);
}

/// Copies the guard predicate when an instruction of several operations overwrites it on the way.
void protect_guard(ir::Program& program, std::vector<ir::Inst>& insts, size_t first) {
  if (insts.size() < first + 2 || insts[first].guard.always()) return;
  const ir::Reg guard = insts[first].guard.reg;
  bool clobbered = false;
  for (size_t i = first; i + 1 < insts.size(); ++i)
    for (ir::Reg dst : insts[i].dst) clobbered = clobbered || dst == guard;
  if (!clobbered) return;
  const ir::Reg copy = program.add_reg(ir::Width::pred);
  for (size_t i = first; i < insts.size(); ++i)
    if (insts[i].guard.reg == guard) insts[i].guard.reg = copy;
  insts.insert(insts.begin() + static_cast<std::ptrdiff_t>(first),
               ir::instruction(ir::Op::mov, ir::Type::pred, {copy}, {guard}, insts[first].site));
}

bool is_control(std::string_view opcode) {
  return opcode == "bra" || opcode == "brx" || opcode == "ret" || opcode == "exit" ||
         opcode == "call";
}

/// GPUs before sm_20 had no subnormal f32, and assemblers keep that of code for them: what may
/// have `.ftz` has it. Nothing for other targets and instructions.
std::optional<Form> flushed_form(const KernelContext& kernel, const Instruction& inst,
                                 const Form& form) {
  const unsigned sm = sm_number(kernel.module.module.target);
  const bool flushes =
      sm != 0 && sm < 20 && !form.has("ftz") &&
      (form.get("type") == "f32" || (inst.opcode == "cvt" && form.get("dtype") == "f32"));
  if (!flushes) return {};
  Form flushed = form;
  flushed.values.emplace_back("ftz", "ftz");
  return flushed;
}

}  // namespace

Body::Body(KernelContext& k, const Function& f, uint32_t returns)
    : kernel(k), function(f), return_block(returns), uses_(k.module.uses(f)), levels_(1) {}

void Body::enter(uint32_t block) {
  if (open_) builder().jump(block);
  builder().set_block(block);
  open_ = true;
}

bool Body::needs_memory(const std::string& name, uint64_t size) const {
  return size > kMaxWordObject || uses_.values.contains(name);
}

std::shared_ptr<ParamObject> Body::make_object(const std::string& name, uint64_t size,
                                               uint32_t align, bool in_memory) {
  auto object = std::make_shared<ParamObject>();
  object->name = name;
  object->size = static_cast<uint32_t>(size);
  object->align = align;
  object->in_memory = in_memory;
  if (in_memory) {
    // Arguments are copied word by word, the last word of an odd size included.
    const uint64_t bytes = (size + 3) / 4 * 4;
    if (!kernel.recursion.inside()) {
      object->base = imm(kernel.allocate_local(bytes, std::max(align, 4U)));
      return object;
    }
    object->frame_at = kernel.recursion.reserve(bytes, std::max(align, 4U));
    const ir::Reg address = kernel.program.add_reg(ir::Width::b32, name);
    kernel.recursion.locate(object->frame_at, address);
    object->base = address;
    return object;
  }
  for (uint64_t at = 0; at < size; at += 4)
    object->words.push_back(
        kernel.program.add_reg(ir::Width::b32, name + "+" + std::to_string(at)));
  return object;
}

void Body::bind_param(const Variable& param, std::shared_ptr<ParamObject> object, bool input) {
  Entity e;
  e.kind = Entity::Kind::variable;
  e.variable = &param;
  e.space = object->in_memory ? ir::Space::local : ir::Space::param;
  e.base = object->base;
  e.object = std::move(object);
  e.input = input;
  add(param.name, param.loc, std::move(e));
}

void Body::bind_kernel_param(const Variable& param, uint32_t offset) {
  Entity e;
  e.kind = Entity::Kind::variable;
  e.variable = &param;
  e.space = ir::Space::param;
  e.base = imm(offset);
  add(param.name, param.loc, std::move(e));
}

Entity& Body::add(const std::string& name, Loc loc, Entity entity) {
  entity.loc = loc;
  const auto [it, fresh] = levels_.back().entities.try_emplace(name, std::move(entity));
  if (!fresh)
    throw Reject{loc, "duplicate declaration of '" + name + "', first declared on line " +
                          std::to_string(it->second.loc.line)};
  return it->second;
}

std::vector<ir::Reg> Body::make_registers(PType type, uint32_t vector, const std::string& name) {
  std::vector<ir::Reg> regs;
  if (type.bits == 128) {
    for (unsigned half : {0U, 1U})
      regs.push_back(kernel.program.add_reg(ir::Width::b64, half_name(name, half)));
    return regs;
  }
  for (unsigned i = 0; i < vector; ++i)
    regs.push_back(kernel.program.add_reg(
        type.width(), vector == 1 ? name : name + std::string(".") + "xyzw"[i % 4]));
  return regs;
}

void Body::declare_register(const Variable& v) {
  const auto type = ptype_named(v.type);
  if (!type) throw Reject{v.loc, "registers of type ." + v.type + " are not supported"};
  if (type->bits == 128 && v.vector != 1)
    throw Reject{v.loc, "vectors of .b128 registers do not exist"};
  if (v.range) {
    const auto [it, fresh] =
        levels_.back().ranges.try_emplace(v.name, Range{*type, *v.range, v.vector, v.loc});
    if (!fresh)
      throw Reject{v.loc, "duplicate declaration of '" + v.name +
                              "<...>', first declared on line " +
                              std::to_string(it->second.loc.line)};
    return;
  }
  Entity e;
  e.type = *type;
  e.regs = make_registers(*type, v.vector, v.name);
  add(v.name, v.loc, std::move(e));
}

void Body::declare(const Variable& v) {
  if (v.space == "reg") return declare_register(v);
  Entity e;
  e.kind = Entity::Kind::variable;
  e.variable = &v;
  const uint64_t bytes = variable_bytes(v);
  if (bytes == 0 && !(v.space == "shared" && v.is_extern))
    throw Reject{v.loc, "variable '" + v.name + "' has no size (type ." + v.type + ")"};
  if (v.space == "local") {
    e.space = ir::Space::local;
    if (kernel.recursion.inside()) {
      const ir::Reg address = kernel.program.add_reg(ir::Width::b32, v.name);
      kernel.recursion.locate(kernel.recursion.reserve(bytes, variable_align(v)), address);
      e.base = address;
    } else
      e.base = imm(kernel.allocate_local(bytes, variable_align(v)));
  } else if (v.space == "shared") {
    e.space = ir::Space::shared;
    e.base = imm(kernel.shared_offset(v));
  } else if (v.space == "param") {
    const bool memory = needs_memory(v.name, bytes);
    return bind_param(v, make_object(v.name, bytes, variable_align(v), memory), false);
  } else {
    e.space = v.space == "const" ? ir::Space::constant : ir::Space::global;
    e.base = ir::Operand::address_of(kernel.symbol(function.name + "." + v.name));
  }
  add(v.name, v.loc, std::move(e));
}

Entity* Body::find_ranged(Level& level, const std::string& name) {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  for (size_t at = digits; at < name.size() && name.size() - at <= 9; ++at) {
    if (name[at] == '0' && at + 1 != name.size()) continue;  // %r01 is not %r1
    const auto it = level.ranges.find(name.substr(0, at));
    if (it == level.ranges.end()) continue;
    if (std::stoul(name.substr(at)) >= it->second.count) continue;
    Entity e;
    e.loc = it->second.loc;
    e.type = it->second.type;
    e.regs = make_registers(e.type, it->second.vector, name);
    return &level.entities.try_emplace(name, std::move(e)).first->second;
  }
  return nullptr;
}

Entity* Body::find_element(const std::string& name) {
  static constexpr std::string_view kComponents = "xyzw";
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot + 2 != name.size()) return nullptr;
  const size_t index = std::string_view("xyzwrgba").find(name[dot + 1]) % kComponents.size();
  if (std::string_view("xyzwrgba").find(name[dot + 1]) == std::string_view::npos) return nullptr;
  Entity* whole = find(name.substr(0, dot));
  if (whole == nullptr || whole->kind != Entity::Kind::reg || whole->regs.size() <= index ||
      whole->regs.size() == 1 || whole->type.bits == 128)
    return nullptr;
  Entity e;
  e.loc = whole->loc;
  e.type = whole->type;
  e.regs = {whole->regs[index]};
  return &levels_.front().entities.try_emplace(name, std::move(e)).first->second;
}

Entity* Body::find_half(const std::string& name) {
  if (name.size() < 2 || name[name.size() - 2] != '#') return nullptr;
  Entity* whole = find(name.substr(0, name.size() - 2));
  if (whole == nullptr || whole->type.bits != 128) return nullptr;
  Entity e;
  e.loc = whole->loc;
  e.type = kB64;
  e.regs = {whole->regs[name.back() == '1' ? 1 : 0]};
  return &levels_.front().entities.try_emplace(name, std::move(e)).first->second;
}

Entity* Body::find_module_variable(const std::string& name) {
  if (const auto it = globals_.find(name); it != globals_.end()) return &it->second;
  const Variable* v = kernel.module.variable(name);
  if (v == nullptr) return nullptr;
  const bool opaque = is_opaque(v->type);
  if (!ptype_named(v->type) && !opaque)
    throw Reject{v->loc, "variable '" + name + "' of type ." + v->type + " is not supported"};
  Entity e;
  e.kind = Entity::Kind::variable;
  e.loc = v->loc;
  e.variable = v;
  if (v->space == "shared") {
    if (!kernel.has_shared(*v)) return nullptr;
    e.space = ir::Space::shared;
    e.base = imm(kernel.shared_offset(*v));
  } else {
    if (v->is_extern)
      throw Reject{v->loc, "extern variable '" + name + "' has no definition in this file"};
    e.space = v->space == "const" || opaque ? ir::Space::constant : ir::Space::global;
    e.base = ir::Operand::address_of(kernel.symbol(name));
  }
  return &globals_.try_emplace(name, std::move(e)).first->second;
}

Entity* Body::find(const std::string& name) {
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    if (const auto it = level->entities.find(name); it != level->entities.end()) return &it->second;
    if (Entity* e = find_ranged(*level, name)) return e;
  }
  if (Entity* e = find_element(name)) return e;
  if (Entity* e = find_half(name)) return e;
  return find_module_variable(name);
}

/// Labels, jump tables and prototypes are known in their whole scope, before their own line too.
void Body::predeclare(const Scope& scope) {
  for (const Statement& s : scope.statements) {
    try {
      Entity e;
      if (const auto* label = std::get_if<Label>(&s)) {
        e.kind = Entity::Kind::label;
        e.block = builder().add_block(label->name);
        add(label->name, label->loc, e);
      } else if (const auto* list = std::get_if<TargetList>(&s)) {
        e.kind = Entity::Kind::targets;
        e.targets = list;
        add(list->name, list->loc, e);
      } else if (const auto* proto = std::get_if<CallPrototype>(&s)) {
        e.kind = Entity::Kind::prototype;
        e.prototype = proto;
        add(proto->name, proto->loc, e);
      }
    } catch (const Reject& r) {
      kernel.module.report(r.loc, r.message);
    }
  }
}

void Body::scope(const Scope& scope) {
  predeclare(scope);
  for (const Statement& s : scope.statements) {
    try {
      statement(s);
    } catch (const Reject& r) {
      kernel.module.report(r.loc, r.message);
    }
  }
}

void Body::statement(const Statement& s) {
  if (is_jump_table(s)) return;
  if (const auto* inst = std::get_if<Instruction>(&s)) return instruction(*inst);
  if (const auto* variable = std::get_if<Variable>(&s)) return declare(*variable);
  if (const auto* line = std::get_if<SourceLine>(&s)) {
    source_ = *line;
    return;
  }
  if (const auto* label = std::get_if<Label>(&s)) {
    const Entity* e = find(label->name);
    if (e != nullptr && e->kind == Entity::Kind::label && e->loc.line == label->loc.line)
      enter(e->block);
    return;
  }
  levels_.emplace_back();
  scope(*std::get<std::unique_ptr<Scope>>(s));
  levels_.pop_back();
}

void Body::instruction(const Instruction& inst) {
  ++kernel.lowered_instructions;
  const Verdicts& verdicts = *kernel.module.verdicts;
  if (const auto fault = verdicts.faults.find(&inst); fault != verdicts.faults.end())
    throw Reject{{fault->second.line, fault->second.column}, fault->second.message};
  const Form* judged = verdicts.forms.at(&inst);
  const std::optional<Form> flushed = flushed_form(kernel, inst, *judged);
  const Form& form = flushed ? *flushed : *judged;
  const Row& row = *form.row;
  if (row.lower == nullptr)
    throw Reject{inst.loc, "'" + inst.opcode + "' is not supported: " + row.note};
  for (const Operand& o : inst.operands)
    if (o.minus) throw Reject{o.loc, "a negated operand of '" + inst.opcode + "' is not supported"};
  if (!open_) {
    builder().set_block(builder().add_block());
    open_ = true;
  }
  builder().set_site(kernel.site(inst, source_));
  Emit emit(*this, inst, form);
  const uint32_t block = builder().block();
  const size_t first = kernel.program.blocks[block].insts.size();
  const ir::Guard guard = emit.guard();
  if (!is_control(inst.opcode)) builder().set_guard(guard);
  try {
    row.lower(emit);
  } catch (...) {
    builder().set_guard({});
    throw;
  }
  builder().set_guard({});
  if (builder().block() == block)
    protect_guard(kernel.program, kernel.program.blocks[block].insts, first);
}

void Body::run() {
  levels_.emplace_back();
  scope(function.body);
  if (!open_) return;
  if (return_block == ir::kNone)
    builder().exit();
  else
    builder().jump(return_block);
  open_ = false;
}

}  // namespace lanewise::ptx
