#include "runtime/isa/ptx/check.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/module/rules.hpp"
#include "runtime/isa/ptx/verdicts.hpp"

namespace lanewise::ptx {
namespace legal {
namespace {

bool is_old_assembler(const CheckOptions& options, unsigned version) {
  using Assembler = CheckOptions::Assembler;
  return options.assembler == Assembler::cuda_11_8 ||
         (options.assembler == Assembler::by_version && version < 79);
}

/// The qualifiers, with those that old files leave out. Until .version 1.3 divisions, roots and
/// functions are `.approx`, of f64 `.rn`; `mad.f32` has one rounding before sm_20, which assemblers
/// make a fused product, and needs none until 3.1.
std::vector<std::string> with_default(const Instruction& in, const Environment& env) {
  constexpr std::string_view kFunctions[] = {"div", "rcp", "sqrt", "rsqrt",
                                             "sin", "cos", "lg2",  "ex2"};
  constexpr std::string_view kRounded[] = {"div", "sqrt", "mad"};
  const auto is_one_of = [&](const auto& names) {
    return std::ranges::find(names, in.opcode) != std::end(names);
  };
  std::vector<std::string> mods = in.mods;
  if (mods.empty() || (env.version > 31 && (env.sm == 0 || env.sm >= 20))) return mods;
  const bool wide = mods.back() == "f64", alone = mods.size() == 1 && env.version <= 13;
  if (!wide && mods.back() != "f32") return mods;
  const bool product =
      in.opcode == "mad" && !wide && (mods.size() == 1 || mods[0] == "ftz" || mods[0] == "sat");
  if (product || (alone && wide && is_one_of(kRounded)))
    mods.insert(mods.begin(), "rn");
  else if (alone && (wide ? in.opcode == "rsqrt" : is_one_of(kFunctions)))
    mods.insert(mods.begin(), "approx");
  return mods;
}

class Checker {
 public:
  Checker(const Module& module, const CheckOptions& options, Verdicts& out)
      : symbols_(module), out_(out), diagnostics_(out.diagnostics), forms_(out.spellings) {
    env_.target = options.target.empty() ? module.target : options.target;
    env_.sm = sm_number(env_.target);
    env_.version =
        options.version ? options.version : module.version_major * 10 + module.version_minor;
    // Before .version 2.3 nothing says how wide addresses are.
    env_.address_size = env_.version < 23 ? 32 : module.address_size;
    env_.manual = options.strict == CheckOptions::Strict::manual;
    env_.independent = std::ranges::find(module.target_options, "texmode_independent") !=
                       module.target_options.end();
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
    s.independent = env_.independent;
    check_header(module, options, s, diagnostics_);
    ModuleRules(module, s, diagnostics_).run();
  }

  void function(const Function& f) {
    if (!f.has_body) return;
    symbols_.enter(f);
    scope(f.body);
  }

  void finish() {
    std::ranges::stable_sort(diagnostics_, [](const Diagnostic& a, const Diagnostic& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
  }

 private:
  void scope(const Scope& s) {
    symbols_.open(s);
    for (const Statement& st : s.statements) {
      if (const auto* in = std::get_if<Instruction>(&st)) judge(*in);
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
    if (s.kind == Symbol::Kind::reg && s.type.is_pred()) return;
    error(in.loc, "`@" + in.guard + "`: not a predicate register, a .pred register was expected");
  }

  void judge(const Instruction& in) {
    const size_t before = diagnostics_.size();
    instruction(in);
    for (size_t i = before; i < diagnostics_.size(); ++i) {
      const Diagnostic& d = diagnostics_[i];
      if (d.warning) continue;
      const auto [fault, first] = out_.faults.try_emplace(&in, d);
      if (!first &&
          std::pair(d.line, d.column) < std::pair(fault->second.line, fault->second.column))
        fault->second = d;
    }
  }

  void instruction(const Instruction& in) {
    guard(in);
    for (const Operand& o : in.operands) {
      if (!o.minus || in.opcode == "vmad") continue;
      error(o.loc, "`" + in.opcode + "`: a minus before `" + o.name +
                       "`, a constant or a register without sign was expected");
      return;
    }
    by_table(in);
  }

  /// The rows of an opcode are tried in turn: some differ in their operands alone.
  void by_table(const Instruction& in) {
    const std::vector<Match>& found = rows_of(in);
    std::vector<Diagnostic> least;
    bool first = true;
    for (const Match& m : found) {
      std::vector<Diagnostic> faults;
      Environment env = env_;
      env.diagnostics = &faults;
      judge_form(in, m, env);
      const bool fine = std::ranges::all_of(faults, &Diagnostic::warning);
      if (first || fine || faults.size() < least.size()) least = std::move(faults);
      first = false;
      if (fine) out_.forms.emplace(&in, &m.form);
      if (fine) break;
    }
    for (Diagnostic& d : least) diagnostics_.push_back(std::move(d));
  }

  static void judge_form(const Instruction& in, const Match& m, const Environment& env) {
    Context c(in, m.form.values, env);
    if (!m.error.empty()) {
      if (m.unknown_opcode) {
        env.diagnostics->push_back({in.loc.line, in.loc.column, m.error});
      } else {
        c.error(m.error);
      }
      return;
    }
    for (const auto& [gate, what] : m.form.gates)
      c.need(gate, what.empty() ? "this form" : "`." + std::string(what) + "`");
    for (const std::string_view what : m.form.ignored)
      c.warn("`." + std::string(what) + "` has no effect here, as for the assembler");
    if (m.form.row->operands != nullptr && !judge_operands(c, m.form.operands)) return;
    if (m.form.row->rule != nullptr) m.form.row->rule(c);
  }

  /// Most instructions of a file are spelled like others before them.
  const std::vector<Match>& rows_of(const Instruction& in) {
    std::string spelled = in.opcode;
    for (const std::string& q : in.mods) spelled.append(1, '.').append(q);
    const auto [it, fresh] = forms_.try_emplace(std::move(spelled));
    if (fresh) {
      std::vector<std::string> mods = with_default(in, env_);
      const bool same = mods.size() == in.mods.size();  // forms refer to the texts
      it->second = matches(in.opcode, same ? in.mods : out_.defaults.emplace_back(std::move(mods)),
                           env_.manual);
    }
    return it->second;
  }

  Symbols symbols_;
  Environment env_;
  Verdicts& out_;
  std::vector<Diagnostic>& diagnostics_;
  std::unordered_map<std::string, std::vector<Match>>& forms_;
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

std::unique_ptr<const Verdicts> verdicts(const Module& module, const CheckOptions& options) {
  auto out = std::make_unique<Verdicts>();
  legal::Checker checker(module, options, *out);
  checker.module(module, options);
  for (const Function& f : module.functions) checker.function(f);
  checker.finish();
  return out;
}

std::vector<Diagnostic> check(const Module& module, const CheckOptions& options) {
  return verdicts(module, options)->diagnostics;
}

}  // namespace lanewise::ptx
