#include "runtime/tools/coverage.hpp"

#include <fmt/format.h>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/ptx/lower.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::tools {
namespace {

gcn::Gen gcn_gen(const std::string& target) {
  if (target.empty()) return gcn::Gen::gfx6;
  if (const auto gen = gcn::gen_named(target)) return *gen;
  throw Error(ErrorKind::usage,
              fmt::format("target {}: expected gfx600, gfx700 or gfx803", target));
}

[[noreturn]] void refuse(const std::string& isa) {
  throw Error(
      ErrorKind::usage,
      fmt::format("there is no coverage table for '{}'; ptx, sass or gcn was expected", isa));
}

}  // namespace

std::vector<isa::Coverage> coverage(const std::string& isa, const std::string& target) {
  if (isa == "ptx") return ptx::coverage();
  if (isa == "sass") return sass::coverage();
  if (isa == "gcn") return gcn::coverage(gcn_gen(target));
  refuse(isa);
}

isa::Coverage coverage_of(const std::string& isa, const std::string& target,
                          const std::string& form) {
  if (isa == "ptx") return ptx::coverage_of(form);
  if (isa == "sass") return sass::coverage_of(form);
  if (isa == "gcn") return gcn::coverage_of(form, gcn_gen(target));
  refuse(isa);
}

std::string judged_target(const std::string& isa, const std::string& target) {
  return isa == "gcn" ? std::string(gcn::name(gcn_gen(target))) : std::string();
}

const char* state_name(isa::FormState state) {
  switch (state) {
    case isa::FormState::exact:
      return "exact";
    case isa::FormState::approximate:
      return "approximate";
    case isa::FormState::unsupported:
      return "unsupported";
  }
  return "?";
}

}  // namespace lanewise::tools
