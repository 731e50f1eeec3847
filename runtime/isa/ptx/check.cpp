#include "runtime/isa/ptx/check.hpp"

#include <algorithm>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/module/rules.hpp"

namespace lanewise::ptx {
namespace legal {
namespace {

/// Forms that came after the grammar: the opcode's rows do not say what is legal with these
/// qualifiers.
constexpr std::pair<std::string_view, std::string_view> kNewer[] = {
    {"cp", "bulk"},    {"cp", "mbarrier"}, {"cp", "reduce"},  {"cvt", "e4m3x4"}, {"cvt", "e5m2x4"},
    {"cvt", "e2m1x4"}, {"cvt", "e2m3x4"},  {"cvt", "e3m2x4"}, {"cvt", "e2m1x2"}, {"cvt", "e2m3x2"},
    {"cvt", "e3m2x2"}, {"cvt", "ue8m0x2"}, {"cvt", "s2f6x2"},
};

bool is_newer(const Instruction& in) {
  return std::ranges::any_of(kNewer, [&](const auto& form) {
    return form.first == in.opcode && std::ranges::find(in.mods, form.second) != in.mods.end();
  });
}

bool is_old_assembler(const CheckOptions& options, unsigned version) {
  using Assembler = CheckOptions::Assembler;
  return options.assembler == Assembler::cuda_11_8 ||
         (options.assembler == Assembler::by_version && version < 79);
}

bool gate_applies(const Gate& gate, std::string_view opcode, std::string_view qualifier) {
  if (!gate.opcode.empty() && gate.opcode != opcode) return false;
  if (!gate.qualifier.ends_with('*')) return gate.qualifier == qualifier;
  return qualifier.starts_with(gate.qualifier.substr(0, gate.qualifier.size() - 1));
}

class Checker {
 public:
  Checker(const Module& module, const CheckOptions& options) : symbols_(module) {
    env_.target = options.target.empty() ? module.target : options.target;
    env_.sm = sm_number(env_.target);
    env_.version =
        options.version ? options.version : module.version_major * 10 + module.version_minor;
    env_.address_size = module.address_size;
    env_.manual = options.strict == CheckOptions::Strict::manual;
    env_.symbols = &symbols_;
    env_.diagnostics = &diagnostics_;
  }
  void module(const Module& module, const CheckOptions& options) {
    Setting s;
    s.target = env_.target;
    s.sm = env_.sm;
    s.version = env_.version;
    s.old_assembler = is_old_assembler(options, env_.version);
    s.address_size = env_.address_size;
    s.independent = std::ranges::find(module.target_options, "texmode_independent") !=
                    module.target_options.end();
    check_header(module, options, s, diagnostics_);
    ModuleRules(module, s, diagnostics_).run();
  }

  void function(const Function& f) {
    if (!f.has_body) return;
    symbols_.enter(f);
    scope(f.body);
  }

  std::vector<const Instruction*> passed;

  std::vector<Diagnostic> finish() {
    std::ranges::stable_sort(diagnostics_, [](const Diagnostic& a, const Diagnostic& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    return std::move(diagnostics_);
  }

 private:
  void scope(const Scope& s) {
    symbols_.open(s);
    for (const Statement& st : s.statements) {
      if (const auto* in = std::get_if<Instruction>(&st)) instruction(*in);
      if (const auto* inner = std::get_if<std::unique_ptr<Scope>>(&st)) scope(**inner);
    }
    symbols_.close();
  }

  void error(Loc loc, std::string message) {
    diagnostics_.push_back({loc.line, loc.column, std::move(message)});
  }

  void guard(const Instruction& in) {
    if (in.guard.empty()) return;
    const Symbol s = symbols_.find(in.guard);
    if (s.kind == Symbol::Kind::reg && s.type.cls == Type::Class::pred) return;
    error(in.loc, "`@" + in.guard + "`: not a predicate register, a .pred register was expected");
  }

  void instruction(const Instruction& in) {
    guard(in);
    Match m = match(in.opcode, in.mods, env_.manual);
    if (m.unknown) {
      if (!is_mnemonic(in.opcode)) {
        error(in.loc, "`" + in.opcode + "` is no instruction of PTX, a known one was expected");
        return;
      }
    }
    Context c(in, m, env_);
    const bool passes = m.unknown || (!m.error.empty() && is_newer(in));
    if (!m.error.empty() && !passes) {
      c.error(std::move(m.error));
      return;
    }
    qualifier(c, "");
    for (const std::string& q : in.mods) qualifier(c, q);
    if (passes) {
      passed.push_back(&in);
      return;
    }
    c.need(m.row->sm, m.row->version, "this form");
    m.row->rule(c);
  }

  void qualifier(Context& c, std::string_view q) {
    // Both assemblers take this name of shared memory in cp.async from its first version on.
    if (c.in.opcode == "cp" && q == "shared::cta") return;
    for (const Gate& gate : gates()) {
      if (!gate_applies(gate, c.in.opcode, q)) continue;
      c.need(gate.sm, gate.version,
             q.empty() ? std::string("this instruction") : "`." + std::string(q) + "`");
    }
  }

  Symbols symbols_;
  Environment env_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace
}  // namespace legal

std::string alias_fault(const Module& module, const Alias& alias) {
  const auto named = [&](const std::string& name) {
    return std::ranges::find(module.functions, name, &Function::name);
  };
  const auto own = named(alias.name), target = named(alias.target);
  const std::string text = "`.alias " + alias.name + ", " + alias.target + "`: ";
  if (own == module.functions.end())
    return text + "`" + alias.name + "` is not declared, a function without body was expected";
  if (own->has_body) return text + "`" + alias.name + "` has a body of its own, none was expected";
  if (target == module.functions.end() || !target->has_body)
    return text + "`" + alias.target + "` has no body in this file, one was expected";
  if (own->entry || target->entry) return text + "a kernel, a function was expected";
  return {};
}

std::vector<Diagnostic> check(const Module& module, const CheckOptions& options,
                              std::vector<const Instruction*>* passed) {
  legal::Checker checker(module, options);
  checker.module(module, options);
  for (const Function& f : module.functions) checker.function(f);
  if (passed != nullptr) *passed = std::move(checker.passed);
  return checker.finish();
}

}  // namespace lanewise::ptx
