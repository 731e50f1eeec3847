// One PTX file: module variables, taken addresses, every kernel.
#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/waves/wave_steps.hpp"
#include "runtime/isa/grid_workspace.hpp"
#include "runtime/isa/print_call.hpp"
#include "runtime/isa/ptx/check.hpp"
#include "runtime/isa/ptx/semantics/emit.hpp"
#include "runtime/isa/ptx/semantics/families/texture_lowering.hpp"
#include "runtime/isa/ptx/text/parser.hpp"

namespace lanewise::ptx {

ModuleContext::ModuleContext(const Module& m, const LowerOptions& o)
    : module(m), options(o), verdicts(ptx::verdicts(m)) {
  out.isa = ir::Isa::ptx;
  out.target = m.target;
  for (const Variable& v : m.variables) {
    const auto [it, fresh] = variables_.try_emplace(v.name, &v);
    if (fresh) continue;
    if (it->second->is_extern)
      it->second = &v;
    else if (!v.is_extern)
      report(v.loc, "duplicate declaration of '" + v.name + "', first declared on line " +
                        std::to_string(it->second->loc.line));
  }
  for (const Function& f : m.functions) functions_.try_emplace(f.name, &f);
  for (const Alias& a : m.aliases) {
    const auto name = functions_.find(a.name), target = functions_.find(a.target);
    if (const std::string why = alias_fault(m, a); !why.empty())
      report(a.loc, why);
    else
      name->second = target->second;
  }
  find_taken_addresses();
}

void ModuleContext::report(Loc loc, const std::string& message, bool warning) {
  const Diagnostic d{loc.line, loc.column, message, warning};
  if (seen_.emplace(loc.line, loc.column, message).second) diagnostics.push_back(d);
  // A function that several kernels call is at fault in each of them.
  if (kernel_errors != nullptr && !warning) kernel_errors->push_back(d);
}

const Variable* ModuleContext::variable(const std::string& name) const {
  const auto it = variables_.find(name);
  return it == variables_.end() ? nullptr : it->second;
}

const Function* ModuleContext::function(const std::string& name) const {
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second;
}

const FunctionUses& ModuleContext::uses(const Function& function) {
  const auto it = uses_.find(&function);
  if (it != uses_.end()) return it->second;
  return uses_.emplace(&function, scan_function(function)).first->second;
}

namespace {

/// Bytes of results and of parameters: what a function and a call by way of a pointer share.
using CallShape = std::pair<std::vector<uint64_t>, std::vector<uint64_t>>;

template <typename Callable>
CallShape shape_of(const Callable& f) {
  CallShape shape;
  for (const Variable& v : f.results) shape.first.push_back(variable_bytes(v));
  for (const Variable& v : f.params) shape.second.push_back(variable_bytes(v));
  return shape;
}

}  // namespace

bool ModuleContext::calls_itself(const Function& function) {
  if (!recursive_) find_recursion();
  return recursive_->contains(&function);
}

/// Once for the whole module: a chain of calls may be as long as the file.
void ModuleContext::find_recursion() {
  std::map<const Function*, uint32_t> node;
  std::vector<const Function*> all;
  for (const auto& [name, f] : functions_) {
    if (!f->has_body || !node.try_emplace(f, static_cast<uint32_t>(all.size())).second) continue;
    all.push_back(f);
  }
  // A pointer leads to any function of its shape whose address is taken. Each shape is a node, too.
  std::map<CallShape, uint32_t> shapes;
  for (const Function* f : all)
    for (const CallPrototype* p : uses(*f).prototypes)
      shapes.try_emplace(shape_of(*p), static_cast<uint32_t>(all.size() + shapes.size()));
  ir::Graph calls(all.size() + shapes.size());
  for (const std::string& name : out.functions) {
    const Function* f = function(name);
    if (f == nullptr || !f->has_body) continue;
    if (const auto shape = shapes.find(shape_of(*f)); shape != shapes.end())
      calls.add_edge(shape->second, node.at(f));
  }
  recursive_.emplace();
  std::vector<uint32_t> nodes;
  for (uint32_t n = 0; n < all.size() + shapes.size(); ++n) nodes.push_back(n);
  for (uint32_t n = 0; n < all.size(); ++n) {
    for (const std::string& name : uses(*all[n]).names) {
      const Function* named = function(name);
      if (named == nullptr || !named->has_body) continue;
      if (named == all[n]) recursive_->insert(named);
      calls.add_edge(n, node.at(named));
    }
    for (const CallPrototype* p : uses(*all[n]).prototypes)
      calls.add_edge(n, shapes.at(shape_of(*p)));
  }
  for (const std::vector<uint32_t>& cycle : ir::Components(calls).of(nodes)) {
    if (cycle.size() < 2) continue;
    for (const uint32_t n : cycle)
      if (n < all.size()) recursive_->insert(all[n]);
  }
}

uint32_t ModuleContext::function_index(const std::string& name) const {
  const auto it = std::ranges::find(out.functions, name);
  return it == out.functions.end() ? ir::kNone : static_cast<uint32_t>(it - out.functions.begin());
}

const std::string* ModuleContext::file_name(uint32_t number) const {
  for (const auto& [n, name] : module.files)
    if (n == number) return &name;
  return nullptr;
}

void ModuleContext::find_taken_addresses() {
  std::set<std::string> taken;
  for (const Function& f : module.functions)
    for (const std::string& name : uses(f).values) taken.insert(name);
  for (const Variable& v : module.variables)
    for (const Variable::Initialiser& i : v.init) taken.insert(i.value.name);
  for (const Function& f : module.functions)
    if (!f.entry && taken.contains(f.name)) out.functions.push_back(f.name);
}

namespace {

void append_bytes(std::vector<std::byte>& bytes, uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) bytes.push_back(std::byte(value >> (8 * i) & 0xff));
}

uint64_t float_bits(const Operand& o, PType type) {
  if (type.bits == 64) {
    if (!o.single) return o.bits;
    return std::bit_cast<uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(o.bits))));
  }
  if (o.single) return o.bits;
  return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits)));
}

/// `{1, 2}` initialises floats by value.
uint64_t integer_as_float(const Operand& o, PType type) {
  if (type.bits < 32) throw Reject{o.loc, "an integer cannot initialise " + type.text()};
  Operand value = o;
  value.bits = std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(o.bits)));
  value.single = false;
  return float_bits(value, type);
}

void check_address(ModuleContext& ctx, const Operand& o, const Variable::Initialiser& init,
                   PType type) {
  const Variable* target = ctx.variable(o.name);
  if (init.mask != 0)
    throw Reject{o.loc, "bytes of an address in an initialiser are not supported"};
  if (type.bits < 32)
    throw Reject{o.loc, "the address of '" + o.name + "' does not fit a " + type.text()};
  if (target == nullptr && ctx.function(o.name) == nullptr)
    throw Reject{o.loc, "undeclared name '" + o.name + "' in an initialiser"};
  if (target != nullptr && target->space != "global" && target->space != "const")
    throw Reject{o.loc, "the address of ." + target->space + " variable '" + o.name +
                            "' is not known before the kernel runs"};
}

void append_value(ModuleContext& ctx, ir::Global& global, const Variable::Initialiser& init,
                  PType type) {
  const Operand& o = init.value;
  switch (o.kind) {
    case Operand::Kind::integer:
      append_bytes(global.init, type.is_float() ? integer_as_float(o, type) : o.bits, type.bytes());
      return;
    case Operand::Kind::float_:
      if (type.bits < 32)
        throw Reject{o.loc, "a floating-point constant cannot initialise " + type.text()};
      append_bytes(global.init, float_bits(o, type), type.bytes());
      return;
    case Operand::Kind::name:
    case Operand::Kind::array:
      check_address(ctx, o, init, type);
      global.relocs.push_back(
          {global.init.size(), o.name, o.offset, static_cast<uint8_t>(type.bytes())});
      append_bytes(global.init, 0, type.bytes());
      return;
    default:
      throw Reject{o.loc, "expected a constant or a name in an initialiser"};
  }
}

void add_global(ModuleContext& ctx, const Variable& v, const std::string& name) {
  const auto type = ptype_named(v.type);
  if (is_opaque(v.type)) {
    ctx.out.globals.push_back(texture_variable(v, name));
    return;
  }
  if (!type || type->is_pred()) return;
  if (v.type == "f16x2" && v.has_init)
    throw Reject{v.loc, "'" + v.name +
                            "' has a value of .f16x2, which is not supported: the halves "
                            "as .b32 are"};
  ir::Global g;
  g.name = name;
  g.space = v.space == "const" ? ir::Space::constant : ir::Space::global;
  g.align = variable_align(v);
  g.size = variable_bytes(v);
  for (const Variable::Initialiser& i : v.init) append_value(ctx, g, i, *type);
  if (g.size == 0) {
    // `x[] = {...}` takes its size from the initialiser.
    g.size = g.init.size();
    if (g.size == 0 && !v.is_extern) throw Reject{v.loc, "variable '" + v.name + "' has no size"};
  }
  if (g.init.size() > g.size)
    throw Reject{v.loc, "'" + v.name + "' has " + std::to_string(g.size) +
                            " bytes, its initialiser " + std::to_string(g.init.size())};
  ctx.out.globals.push_back(std::move(g));
}

void add_globals(ModuleContext& ctx, const Scope& scope, const std::string& function) {
  for (const Statement& s : scope.statements) {
    if (const auto* inner = std::get_if<std::unique_ptr<Scope>>(&s))
      add_globals(ctx, **inner, function);
    const auto* v = std::get_if<Variable>(&s);
    if (v != nullptr && (v->space == "global" || v->space == "const"))
      add_global(ctx, *v, function + "." + v->name);
  }
}

template <typename F>
void guarded(ModuleContext& ctx, F&& work) {
  try {
    work();
  } catch (const Reject& r) {
    ctx.report(r.loc, r.message);
  }
}

void lower_globals(ModuleContext& ctx) {
  for (const Variable& v : ctx.module.variables)
    if ((v.space == "global" || v.space == "const") && ctx.variable(v.name) == &v && !v.is_extern)
      guarded(ctx, [&] { add_global(ctx, v, v.name); });
  for (const Function& f : ctx.module.functions)
    guarded(ctx, [&] { add_globals(ctx, f.body, f.name); });
}

void bind_kernel_params(KernelContext& kernel, Body& body) {
  for (size_t i = 0; i < kernel.program.params.size(); ++i) {
    const Variable& v = kernel.kernel.params[i];
    guarded(kernel.module, [&] { body.bind_kernel_param(v, kernel.program.params[i].offset); });
  }
}

void lower_kernel(ModuleContext& ctx, const Function& f) {
  const unsigned sm = sm_number(ctx.module.target);
  if (!f.clusters.empty() && sm != 0 && sm < 90)
    throw Reject{f.clusters_loc, "'." + f.clusters +
                                     "' needs .target sm_90 or higher, the module says " +
                                     ctx.module.target};
  if (f.wants_clusters || (f.explicit_cluster && !f.cluster_size))
    throw Reject{f.clusters_loc, "thread block clusters are not supported (." + f.clusters + ")"};
  KernelContext kernel(ctx, f);
  Body body(kernel, f, ir::kNone);
  kernel.call_stack.push_back(&f);
  bind_kernel_params(kernel, body);
  body.run();
  kernel.recursion.finish([&] { return kernel.stack(); });
  if (!ctx.kernel_errors->empty()) return;
  ir::step_waves(kernel.program, ir::StepEvidence::volatile_access);
  ctx.out.kernels.push_back(std::move(kernel.program));
}

void sort_by_place(std::vector<Diagnostic>& list) {
  std::ranges::stable_sort(list, {},
                           [](const Diagnostic& d) { return std::pair(d.line, d.column); });
}

void lower_or_reject(ModuleContext& ctx, const Function& f,
                     std::vector<isa::RejectedKernel>& rejected) {
  isa::RejectedKernel failed{f.name, {}};
  ctx.kernel_errors = &failed.diagnostics;
  guarded(ctx, [&] { lower_kernel(ctx, f); });
  ctx.kernel_errors = nullptr;
  sort_by_place(failed.diagnostics);
  if (!failed.diagnostics.empty()) rejected.push_back(std::move(failed));
}

/// A function that no kernel calls is lowered for its diagnostics only.
void check_function(ModuleContext& ctx, const Function& f) {
  KernelContext kernel(ctx, f);
  Body body(kernel, f, ir::kNone);
  kernel.call_stack.push_back(&f);
  ctx.lowered.insert(&f);
  for (const auto* list : {&f.results, &f.params})
    for (const Variable& v : *list) guarded(ctx, [&] { body.declare(v); });
  body.run();
}

}  // namespace

LowerResult lower(const Module& module, const LowerOptions& options) {
  ModuleContext ctx(module, options);
  LowerResult result;
  lower_globals(ctx);
  result.unusable = std::ranges::any_of(ctx.diagnostics, [](const auto& d) { return !d.warning; });
  for (const Function& f : module.functions)
    if (f.entry && f.has_body) lower_or_reject(ctx, f, result.rejected);
  for (const Function& f : module.functions)
    if (!f.entry && f.has_body && !ctx.lowered.contains(&f))
      guarded(ctx, [&] { check_function(ctx, f); });
  sort_by_place(ctx.diagnostics);
  isa::add_print_buffer(ctx.out);
  isa::add_grid_workspace(ctx.out);
  result.module = std::move(ctx.out);
  result.diagnostics = std::move(ctx.diagnostics);
  return result;
}

}  // namespace lanewise::ptx
