#include "runtime/cache/analysis/hints.hpp"

#include <fmt/format.h>

#include <vector>

#include "runtime/cache/dialects/policy_word.hpp"

namespace lanewise::cache {
namespace {

using trace::ControlOp;
using trace::OpKind;

constexpr const char* kOperators[] = {"",    ".ca", ".cg", ".cs", ".lu",
                                      ".cv", ".ci", ".nc", ".wb", ".wt"};
constexpr const char* kPriorities[] = {
    "", "evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate"};

/// A control operation that may be left out without changing what a program computes. (After a
/// discard the bytes are undefined: a program that reads them has no right result to lose.)
const char* hint_of(const trace::Site& s) {
  switch (s.control) {
    case ControlOp::prefetch_l1:
    case ControlOp::prefetch_l15:
    case ControlOp::prefetch_l2:
    case ControlOp::prefetch_l2_evict_last:
    case ControlOp::prefetch_l2_evict_normal:
      return "prefetch";
    case ControlOp::demote_normal:
      return "demotion to evict_normal";
    case ControlOp::discard:
      return "discard";
    default:
      return nullptr;
  }
}

bool takes_operators(const trace::Site& s) {
  return s.kind == OpKind::load || s.kind == OpKind::store || s.kind == OpKind::atomic;
}

}  // namespace

std::string hints_of(const trace::Site& s) {
  std::vector<std::string> all;
  if (s.kind == OpKind::control) {
    if (const char* hint = hint_of(s)) all.emplace_back(hint);
  } else if (takes_operators(s)) {
    if (s.op != ir::CacheOp::none) all.emplace_back(kOperators[static_cast<size_t>(s.op)]);
    if (s.l1 != ir::EvictPriority::none)
      all.push_back(fmt::format("L1 {}", kPriorities[static_cast<size_t>(s.l1)]));
    if (s.l2 != ir::EvictPriority::none)
      all.push_back(fmt::format("L2 {}", kPriorities[static_cast<size_t>(s.l2)]));
    if (s.hinted) {
      const std::string policy = policy_of(s);
      all.push_back("L2 policy " + (policy.empty() ? "unknown" : policy));
    }
    if (s.prefetch_bytes != 0) all.push_back(fmt::format("L2 prefetch {} B", s.prefetch_bytes));
    // On an atomic, glc says that the old value comes back.
    if (s.glc && s.kind != OpKind::atomic) all.emplace_back("glc");
    if (s.slc) all.emplace_back("slc");
  }
  return fmt::format("{}", fmt::join(all, " "));
}

trace::Site without_hints(trace::Site s) {
  if (s.kind == OpKind::control && hint_of(s) != nullptr) s.kind = OpKind::none;
  if (!takes_operators(s)) return s;
  s.op = ir::CacheOp::none;
  s.l1 = s.l2 = ir::EvictPriority::none;
  s.hinted = false;
  s.policy = 0;
  s.prefetch_bytes = 0;
  if (s.kind != OpKind::atomic) s.glc = false;
  s.slc = false;
  return s;
}

}  // namespace lanewise::cache
