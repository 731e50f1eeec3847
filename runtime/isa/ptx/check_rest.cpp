// Verdicts on what the grammar has no rows for.
#include <algorithm>
#include <map>
#include <set>

#include "runtime/isa/ptx/check.hpp"
#include "runtime/isa/ptx/check_grammar.hpp"
#include "runtime/isa/ptx/lower.hpp"
#include "runtime/isa/ptx/semantics/table.hpp"

namespace lanewise::ptx {
namespace {

uint32_t last_line(const Instruction& in) {
  uint32_t line = in.loc.line;
  for (const Operand& o : in.operands) line = std::max(line, o.loc.line);
  return line;
}

std::string spelled(const Instruction& in) {
  std::string text = in.opcode;
  for (const std::string& mod : in.mods) text += "." + mod;
  return "`" + text + "`";
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// Says nothing about legality: what Lanewise does not run, or does not know.
bool is_own_limit(const Instruction& in, const Match& match, std::string_view message) {
  if (match.unknown_opcode || (match.error.empty() && match.form.row->lower == nullptr))
    return true;
  // The grammar has the opcode, but not this newer form, and no more has lowering.
  if (!legal::match(in.opcode, {}, false).unknown) return true;
  if (has(message, "supported:") || has(message, "not supported") || has(message, "has no body") ||
      has(message, "unknown instruction") || has(message, " needs "))
    return true;
  // Later forms whose qualifiers are older: a third source, and floats.
  const bool extremes = in.opcode == "min" || in.opcode == "max";
  if (extremes && in.operands.size() == 4) return true;
  if (in.opcode == "redux" && std::ranges::find(in.mods, "f32") != in.mods.end()) return true;
  return has(message, "unsupported form") && !are_qualifiers(in.mods);
}

std::string as_verdict(const Instruction& in, const std::string& message) {
  constexpr std::string_view kUnsupported = "unsupported form ";
  if (!message.starts_with(kUnsupported)) return message;
  const size_t why = message.find(": ");
  return spelled(in) + " is no known form of `" + in.opcode + "`" +
         (why == message.npos ? "" : message.substr(why));
}

class Judge {
 public:
  Judge(const Module& module, std::vector<const Instruction*> passed, const std::set<uint32_t>& bad)
      : module_(module), passed_(std::move(passed)), bad_lines_(bad) {}

  std::vector<Diagnostic> run() {
    if (passed_.empty()) return {};
    for (const Diagnostic& d : lower(module_).diagnostics) {
      if (d.warning || bad_lines_.contains(d.line)) continue;
      const Instruction* in = instruction_at(d.line);
      if (in == nullptr) {
        head_refused_ = head_refused_ || is_head(d.line);
        continue;
      }
      refused_.emplace(in, d);
    }
    for (const Instruction* in : passed_) verdict(*in);
    return std::move(out_);
  }

 private:
  const Instruction* instruction_at(uint32_t line) const {
    for (const Instruction* in : passed_)
      if (in->loc.line <= line && line <= last_line(*in)) return in;
    return nullptr;
  }

  /// Of a function: nothing of its body has been looked at.
  bool is_head(uint32_t line) const {
    return std::ranges::any_of(module_.functions, [&](const Function& f) {
      return line == f.loc.line || (line != 0 && line == f.clusters_loc.line);
    });
  }

  void verdict(const Instruction& in) {
    const Match match = match_form(in.opcode, in.mods);
    const auto found = refused_.find(&in);
    if (bad_lines_.contains(in.loc.line)) return;
    if (found != refused_.end() && !is_own_limit(in, match, found->second.message)) {
      Diagnostic d = found->second;
      d.message = as_verdict(in, d.message);
      out_.push_back(std::move(d));
      return;
    }
    const bool unknown = !match.error.empty() || match.form.row->lower == nullptr;
    if (found == refused_.end() && !unknown && !head_refused_) return;
    const char* why = found == refused_.end() && !unknown
                          ? "it was not looked at, as a function's head is refused"
                          : "this form is not known here";
    out_.push_back({in.loc.line, in.loc.column,
                    std::string(kNotJudged) + spelled(in) + ": " + why +
                        "; the real assembler (ptxas) says whether it is legal",
                    true});
  }

  const Module& module_;
  std::vector<const Instruction*> passed_;
  const std::set<uint32_t>& bad_lines_;
  std::map<const Instruction*, Diagnostic> refused_;  ///< by lowering: the first reason
  bool head_refused_ = false;
  std::vector<Diagnostic> out_;
};

}  // namespace

std::vector<Diagnostic> judge(const Module& module, const CheckOptions& options) {
  std::vector<const Instruction*> passed;
  std::vector<Diagnostic> all = check(module, options, &passed);
  std::set<uint32_t> bad;
  for (const Diagnostic& d : all)
    if (!d.warning) bad.insert(d.line);
  std::vector<Diagnostic> rest = Judge(module, std::move(passed), bad).run();
  all.insert(all.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  std::ranges::stable_sort(all, [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  return all;
}

}  // namespace lanewise::ptx
