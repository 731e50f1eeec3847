#include "runtime/isa/sass/lowering/functions.hpp"

#include <algorithm>

#include "runtime/isa/function_site.hpp"
#include "runtime/isa/sass/lowering/call_stack.hpp"
#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

Functions::Functions(const Kernel& k) {
  std::map<uint64_t, size_t> by_pc;
  for (size_t n = 0; n < k.code.size(); ++n) by_pc[k.code[n].pc] = n;
  std::map<size_t, std::vector<size_t>> calls;  // by the function's begin
  for (size_t n = 0; n < k.code.size(); ++n) {
    const Instruction& i = k.code[n];
    if (i.form->flow != Flow::call) continue;
    const Call* c = relocated_call(k, i.pc);
    if (i.form->is(kAbsolute) && (c == nullptr || !c->target)) continue;
    const auto to = by_pc.find(c != nullptr && c->target ? *c->target : branch_target(i));
    if (to != by_pc.end()) calls[to->second].push_back(n);
  }
  for (const auto& [begin, from] : calls) {
    const auto label = std::ranges::find(k.labels, begin, &Label::index);
    if (label == k.labels.end()) continue;
    // Compilers put the kernel's name in front: $kernel$function.
    const std::string prefix = "$" + k.name + "$";
    const bool local = label->name.starts_with(prefix);
    by_begin_[begin].name = local ? label->name.substr(prefix.size()) : label->name;
  }
  for (auto& [begin, function] : by_begin_) {
    isa::FunctionSite site{function.name, k.code[begin].pc, {}};
    for (const size_t from : calls[begin]) {
      const Function* caller = at(from);
      site.callers.insert(caller != nullptr ? caller->name : k.name);
    }
    function.reported = site.text();
  }
}

const Functions::Function* Functions::at(size_t n) const {
  const auto behind = by_begin_.upper_bound(n);
  return behind == by_begin_.begin() ? nullptr : &std::prev(behind)->second;
}

std::string Functions::declared_name(size_t n) const {
  const Function* function = at(n);
  return function != nullptr ? function->reported : std::string();
}

}  // namespace lanewise::sass
