// Complaints that only repeat a syntax error under another name.
#include <set>

#include "runtime/isa/ptx/check.hpp"

namespace lanewise::ptx {
namespace {

class Consequences {
 public:
  explicit Consequences(const Module& module) : module_(module) {
    for (const Function& f : module.functions) scope(f.body);
  }
  bool has(uint32_t line) const { return lines_.contains(line); }

 private:
  void scope(const Scope& s) {
    for (const Statement& st : s.statements) {
      if (const auto* in = std::get_if<Instruction>(&st)) instruction(*in);
      if (const auto* inner = std::get_if<std::unique_ptr<Scope>>(&st)) scope(**inner);
    }
  }
  void instruction(const Instruction& in) {
    bool uses = is_unread(in.guard);
    for (const Operand& o : in.operands) uses = uses || operand(o);
    if (!uses) return;
    lines_.insert(in.loc.line);
    for (const Operand& o : in.operands) lines_.insert(o.loc.line);
  }
  bool operand(const Operand& o) const {
    bool uses = is_unread(o.name) || is_unread(o.pair);
    for (const Operand& e : o.elements) uses = uses || operand(e);
    return uses;
  }
  /// `%r12` of `.reg .b32 %r<20>`, `v.x` of a vector.
  bool is_unread(std::string_view name) const {
    name = name.substr(0, name.find('.'));
    if (name.empty()) return false;
    if (module_.unread.contains(std::string(name))) return true;
    const size_t last = name.find_last_not_of("0123456789");
    return last != name.npos && module_.unread.contains(std::string(name.substr(0, last + 1)));
  }

  const Module& module_;
  std::set<uint32_t> lines_;
};

}  // namespace

std::vector<Diagnostic> without_consequences(const Module& module, std::vector<Diagnostic> found) {
  if (module.unread.empty()) return found;
  const Consequences unread(module);
  std::erase_if(found, [&](const Diagnostic& d) { return unread.has(d.line); });
  return found;
}

}  // namespace lanewise::ptx
