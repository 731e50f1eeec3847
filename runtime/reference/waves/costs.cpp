// What instructions are charged for (--check perf).
#include "runtime/layout/addresses.hpp"
#include "runtime/reference/perf/profile.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {

/// `lanes` take part; the address is what the access uses.
void Group::count_access(Wave& wave, const Code& code, uint64_t lanes) {
  using Kind = Profile::Kind;
  using What = Profile::What;
  if (code.site == ir::kNone) return;
  const ir::Space space = code.mem->space;
  if (space == ir::Space::param || space == ir::Space::constant || space == ir::Space::code)
    return;  // no request of these counters
  const What what = code.action == Action::load    ? What::load
                    : code.action == Action::store ? What::store
                    : code.results == 0            ? What::reduction
                                                   : What::atomic;
  // The lanes of a generic access go to one space, or to several, which are requests of their own.
  std::map<Kind, WaveBytes> requests;
  const auto add = [&](Kind kind, uint32_t lane, uint64_t address) {
    requests[kind].lanes.emplace_back(lane, address);
  };
  const Kind own = space == ir::Space::shared  ? Kind::shared
                   : space == ir::Space::local ? Kind::local
                                               : Kind::global;
  for_each_lane(lanes, [&](uint32_t i) {
    const uint64_t address = code.address(wave.get(code.src[0], i));
    const bool generic = space == ir::Space::generic;
    if (generic && address - guest::kSharedWindow < guest::kWindowSize)
      add(Kind::shared, i, address - guest::kSharedWindow);
    else if (generic && address - guest::kLocalWindow < guest::kWindowSize)
      add(Kind::local, i, address - guest::kLocalWindow);
    else
      add(own, i, address);
  });
  if (lanes == 0) requests[own];  // executed for nobody
  for (auto& [kind, request] : requests) {
    request.bytes = code.bytes;
    setting_.profile->access(code.site, kind, what, request);
  }
}

void Group::count_arithmetic(const Code& code, uint64_t lanes) {
  using Kind = Profile::Kind;
  using What = Profile::What;
  if (code.site == ir::kNone) return;
  const Kind kind = code.type == ir::Type::f64 ? Kind::f64 : Kind::f32;
  const What what = code.op == ir::Op::ffma   ? What::fma
                    : code.op == ir::Op::fmul ? What::mul
                                              : What::add;
  setting_.profile->arithmetic(code.site, kind, what, lanes);
}

void Group::count_branch(const Code& code, uint64_t active, uint64_t taken) {
  if (code.site != ir::kNone) setting_.profile->branch(code.site, active, taken);
}

}  // namespace lanewise::reference
