// Any bytes: the parser answers with cases or with diagnostics that keep its promises, and what it
// accepts can be evaluated, or says why not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "runtime/script/script.hpp"

using namespace lanewise;
using namespace lanewise::script;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void evaluate_all(const Case& c) {
  Names names;
  names.lets = c.lets;
  names.budget = 1 << 12;
  for (const BufferDecl& b : c.buffers)
    names.arrays[b.name] = {b.type, 0x10000000, std::vector<std::byte>(40)};
  Env env;
  env.names = &names;
  env.set(Var::lane, 3);
  env.set(Var::i, 2);
  const auto words = [&](const ExprPtr& e, unsigned count) {
    if (e == nullptr) return;
    try {
      require(evaluate_words(*e, env, count).size() == count);
    } catch (const Problem& p) {
      require(p.loc.line >= 1 && p.loc.column >= 1 && !p.message.empty());
    }
    require(names.depth == 0);
  };
  for (const RegDecl& r : c.regs) {
    words(r.value, 1);
    words(r.value, 4);
  }
  for (const ParamDecl& p : c.params) words(p.value, 2);
  for (const BufferDecl& b : c.buffers) words(b.first, 1);
}

/// Loops may iterate a million times, and each time may be wrong. That is work, which the parser
/// bounds; here it would only keep from other inputs.
constexpr size_t kErrors = 100;
/// `0..999999`.
bool long_range(std::string_view text) {
  for (size_t at = text.find(".."); at != text.npos; at = text.find("..", at + 1)) {
    const size_t last = std::min(text.find_first_not_of("0123456789", at + 2), text.size());
    if (last - at > 2 + 4) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (long_range(text)) return 0;
  const Script all = parse(text, kErrors);
  for (const Diagnostic& d : all.diagnostics)
    require(d.line >= 1 && d.column >= 1 && !d.message.empty());
  require(!all.cases.empty() || !all.ok());
  const Script few = parse(text, 2);
  require(few.diagnostics.size() <= 2);
  require(few.ok() == all.ok());
  for (size_t n = 0; n < all.cases.size() && n < 8; ++n) evaluate_all(all.cases[n]);
  return 0;
}
