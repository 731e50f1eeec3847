#include "runtime/isa/ptx/check.hpp"

#include <algorithm>
#include <charconv>

#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx {
namespace legal {
namespace {

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
  void header() {
    if (env_.address_size == 32 && (env_.version >= 80 || env_.sm >= 90)) {
      error({1, 1}, "`.address_size 32` ends with .version 7.8 and sm_89, found .version " +
                        version_text(env_.version) + " and " + env_.target + ", 64 was expected");
    }
    const unsigned needed = version_of_target(env_.sm);
    if (needed > env_.version)
      error({1, 1}, "`.target " + env_.target + "` needs .version " + version_text(needed) +
                        " or higher, found " + version_text(env_.version));
  }

  void function(const Function& f) {
    if (!f.has_body) return;
    symbols_.enter(f);
    scope(f.body);
  }

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
      if (const auto* v = std::get_if<Variable>(&st)) variable(*v);
      if (const auto* inner = std::get_if<std::unique_ptr<Scope>>(&st)) scope(**inner);
    }
    symbols_.close();
  }

  void error(Loc loc, std::string message) {
    diagnostics_.push_back({loc.line, loc.column, std::move(message)});
  }

  void variable(const Variable& v) {
    if (v.type != "b128" || v.space != "reg" || env_.version >= 83) return;
    error(v.loc, "`" + v.name + "`: a register of .b128 needs .version 8.3 or higher, found " +
                     version_text(env_.version));
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
    if (!m.error.empty()) {
      c.error(std::move(m.error));
      return;
    }
    qualifier(c, "");
    for (const std::string& q : in.mods) qualifier(c, q);
    if (m.unknown) return;
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

bool is_target(std::string_view name) {
  if (!name.starts_with("sm_")) return false;
  unsigned sm = 0;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), sm);
  if (error != std::errc{} || legal::version_of_target(sm) == 0) return false;
  const std::string_view rest = name.substr(static_cast<size_t>(end - name.data()));
  return rest.empty() || (sm >= 90 && (rest == "a" || rest == "f"));
}

std::vector<Diagnostic> check(const Module& module, const CheckOptions& options) {
  legal::Checker checker(module, options);
  checker.header();
  for (const Function& f : module.functions) checker.function(f);
  return checker.finish();
}

}  // namespace lanewise::ptx
