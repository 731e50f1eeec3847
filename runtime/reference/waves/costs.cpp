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
  Kind kind = Kind::global;
  switch (code.mem->space) {
    case ir::Space::shared:
      kind = Kind::shared;
      break;
    case ir::Space::local:
      kind = Kind::local;
      break;
    case ir::Space::global:
    case ir::Space::generic:
      break;
    default:
      return;  // parameters, constants: no request of these counters
  }
  const What what = code.action == Action::load    ? What::load
                    : code.action == Action::store ? What::store
                    : code.results == 0            ? What::reduction
                                                   : What::atomic;
  WaveBytes access{{}, code.bytes};
  for_each_lane(lanes, [&](uint32_t i) {
    access.lanes.emplace_back(i, (wave.get(code.src[0], i) + code.offset) & code.keep);
  });
  // The lanes of a generic access go to one space, or to several, which are requests of their own.
  if (code.mem->space == ir::Space::generic && !access.lanes.empty()) {
    WaveBytes of_shared{{}, code.bytes}, of_local{{}, code.bytes}, of_global{{}, code.bytes};
    for (const auto& [lane, address] : access.lanes) {
      if (address - guest::kSharedWindow < guest::kWindowSize)
        of_shared.lanes.emplace_back(lane, address - guest::kSharedWindow);
      else if (address - guest::kLocalWindow < guest::kWindowSize)
        of_local.lanes.emplace_back(lane, address - guest::kLocalWindow);
      else
        of_global.lanes.emplace_back(lane, address);
    }
    if (!of_shared.lanes.empty())
      setting_.profile->access(code.site, Kind::shared, what, of_shared);
    if (!of_local.lanes.empty()) setting_.profile->access(code.site, Kind::local, what, of_local);
    if (!of_global.lanes.empty())
      setting_.profile->access(code.site, Kind::global, what, of_global);
    return;
  }
  setting_.profile->access(code.site, kind, what, access);
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
