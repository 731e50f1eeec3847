// One kernel's memory layout, sites and symbols.
#include <algorithm>
#include <array>
#include <limits>

#include "runtime/isa/function_site.hpp"
#include "runtime/isa/ptx/semantics/context.hpp"

namespace lanewise::ptx {
namespace {

constexpr uint64_t kMaxMemory = uint64_t{1} << 24;  ///< the size of the shared and local windows

uint64_t align_up(uint64_t value, uint32_t align) {
  return (value + align - 1) / align * align;
}

ir::Type param_type(const Variable& v) {
  if (!v.dims.empty() || v.vector != 1) return ir::Type::none;
  const auto type = ptype_named(v.type);
  if (!type) return ir::Type::none;
  if (type->cls == PType::Class::bits) return ir::Type::none;
  return type->is_float() && !type->packed ? type->ir() : type->memory();
}

}  // namespace

KernelContext::KernelContext(ModuleContext& m, const Function& k)
    : module(m), kernel(k), builder(program), recursion(program, builder) {
  program.name = k.name;
  program.isa = ir::Isa::ptx;
  program.wave_lanes = 32;
  program.rendezvous = sm_number(m.module.target) >= 70;
  std::copy_n(k.reqntid, 3, program.required_block);
  if (k.maxntid[0] != 0) {
    uint64_t product = 1;
    for (uint32_t n : k.maxntid) product *= std::max(n, 1U);
    program.max_block =
        static_cast<uint32_t>(std::min<uint64_t>(product, std::numeric_limits<uint32_t>::max()));
  }
  builder.set_block(builder.add_block("entry"));
  plan_shared();
  if (k.entry) plan_params();
}

ir::Reg KernelContext::carry() {
  if (!carry_.valid()) carry_ = program.add_reg(ir::Width::pred, "%cc");
  return carry_;
}

uint32_t KernelContext::symbol(const std::string& name) {
  const auto [it, fresh] = symbols_.try_emplace(name, program.symbols.size());
  if (fresh) program.symbols.push_back({name});
  return it->second;
}

namespace {

/// Fences and controls of the caches; what accesses say, their operations have.
ir::CacheFacts cache_facts(const Instruction& inst) {
  using Kind = ir::CacheFacts::Kind;
  static constexpr std::array<std::string_view, 4> kControls = {"prefetch", "prefetchu",
                                                                "applypriority", "discard"};
  ir::CacheFacts facts;
  const auto says = [&](std::string_view qualifier) {
    return std::ranges::find(inst.mods, qualifier) != inst.mods.end();
  };
  if (inst.opcode == "membar" || inst.opcode == "fence") {
    // Those of proxies and barriers order no caches that are modelled.
    if (says("proxy") || says("mbarrier_init")) return facts;
    facts.kind = Kind::fence;
    facts.generic = true;
  } else if (std::ranges::find(kControls, inst.opcode) != kControls.end() && !says("tensormap")) {
    facts.kind = Kind::control;
  }
  return facts;
}

}  // namespace

uint32_t KernelContext::site(const Instruction& inst, const SourceLine& source) {
  const auto [it, fresh] = sites_.try_emplace(&inst, program.sites.size());
  if (!fresh) {
    say_function(program.sites[it->second]);
    return it->second;
  }
  ir::Site site;
  site.line = inst.loc.line;
  site.pc = it->second;
  site.text = inst.text;
  site.cache = cache_facts(inst);
  if (const std::string* file = module.file_name(source.file);
      file != nullptr && source.line != 0) {
    site.source_file = *file;
    site.source_line = source.line;
  }
  say_function(site);
  program.sites.push_back(std::move(site));
  return it->second;
}

/// An instruction of a function is lowered for each of its callers, and has one site.
void KernelContext::say_function(ir::Site& site) const {
  if (call_stack.size() < 2 || !site.assertion.empty()) return;
  isa::FunctionSite reported;
  if (const auto before = isa::FunctionSite::of(site.function))
    reported = *before;
  else if (!site.function.empty())
    return;
  reported.name = call_stack.back()->name;
  reported.callers.insert(call_stack[call_stack.size() - 2]->name);
  site.function = reported.text();
}

uint32_t KernelContext::allocate_local(uint64_t size, uint32_t align) {
  const uint64_t at = align_up(program.local_bytes, align);
  if (at + size > kMaxMemory)
    throw Reject{kernel.loc, "kernel '" + kernel.name + "' needs more than 16 MiB of local memory"};
  program.local_bytes = static_cast<uint32_t>(at + size);
  return static_cast<uint32_t>(at);
}

uint32_t KernelContext::stack() {
  if (!stack_) stack_ = allocate_local(Recursion::kStackBytes, 16);
  return *stack_;
}

uint32_t KernelContext::alloca_area() {
  if (!alloca_area_) alloca_area_ = allocate_local(kAllocaBytes, 16);
  return *alloca_area_;
}

ir::Reg KernelContext::alloca_top() {
  if (!alloca_top_.valid()) alloca_top_ = program.add_reg(ir::Width::b32, "alloca");
  return alloca_top_;
}

/// Shared variables that the kernel and everything it may call mention get offsets in order of
/// declaration; unsized ones all start where the static ones end.
void KernelContext::plan_shared() {
  std::vector<const Function*> work{&kernel};
  // What was lowered for its diagnostics only is not lowered again for those that call it
  // (Inliner).
  const auto counts = [&](const Function* f) {
    return f != nullptr && (kernel.entry || !module.lowered.contains(f));
  };
  for (const std::string& name : module.out.functions)
    if (const Function* f = module.function(name); counts(f)) work.push_back(f);
  std::set<const Function*> seen(work.begin(), work.end());
  std::set<std::string> names;
  std::vector<const Variable*> chosen;
  for (size_t i = 0; i < work.size(); ++i) {
    const FunctionUses& uses = module.uses(*work[i]);
    chosen.insert(chosen.end(), uses.shared.begin(), uses.shared.end());
    for (const std::string& name : uses.names) {
      names.insert(name);
      const Function* callee = module.function(name);
      if (counts(callee) && seen.insert(callee).second) work.push_back(callee);
    }
  }
  if (std::ranges::any_of(names, [](const auto& n) { return n.starts_with(kReservedNames); }))
    program.reserved_shared = kReservedShared;
  for (const Variable& v : module.module.variables)
    if (v.space == "shared" && names.contains(v.name)) chosen.push_back(&v);
  std::ranges::sort(chosen, {},
                    [](const Variable* v) { return std::pair(v->loc.line, v->loc.column); });
  uint64_t end = 0;
  for (const Variable* v : chosen) {
    if (variable_bytes(*v) == 0) continue;
    end = align_up(end, variable_align(*v));
    shared_[v] = static_cast<uint32_t>(end);
    end += variable_bytes(*v);
    if (end <= kMaxMemory) continue;
    // The kernel is refused; that every variable has a place keeps it at this one error.
    module.report(v->loc, "shared variables of kernel '" + kernel.name + "' exceed 16 MiB");
    for (const Variable* other : chosen) shared_[other] = 0;
    return;
  }
  program.shared_bytes = static_cast<uint32_t>(end);
  for (const Variable* v : chosen)
    if (variable_bytes(*v) == 0) shared_[v] = static_cast<uint32_t>(align_up(end, 16));
}

void KernelContext::plan_params() {
  uint64_t end = 0;
  for (const Variable& v : kernel.params) {
    ir::Param p;
    p.name = v.name;
    p.align = variable_align(v);
    end = align_up(end, p.align);
    p.offset = static_cast<uint32_t>(end);
    const uint64_t bytes = variable_bytes(v);
    if (bytes == 0 || end + bytes > (1U << 16))
      return module.report(
          v.loc, bytes == 0 ? "parameter '" + v.name + "' has no size (type ." + v.type + ")"
                            : "the parameters of '" + kernel.name + "' exceed 64 KiB");
    p.size = static_cast<uint32_t>(bytes);
    p.pointer = v.pointer;
    p.type = param_type(v);
    end += p.size;
    program.params.push_back(std::move(p));
  }
  program.param_bytes = static_cast<uint32_t>(end);
}

}  // namespace lanewise::ptx
