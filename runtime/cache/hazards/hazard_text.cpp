// Names, messages and fixes of the rules.
#include <fmt/format.h>

#include "runtime/cache/hazards/hazards.hpp"

namespace lanewise::cache {

std::string_view name(Severity s) {
  constexpr std::string_view kNames[] = {"error", "warning", "advice"};
  return kNames[static_cast<size_t>(s)];
}

const Rule& rule(unsigned number) {
  static constexpr Rule kTable[kRules + 1] = {
      {"H0", ""},
      {"H1", "stale read across SMs"},
      {"H2", "dirty bytes lost"},
      {"H3", "read-only load of data that changes"},
      {"H4", "load without allocation hits an old line"},
      {"H5", "scope too narrow"},
      {"H6", "read of undefined bytes"},
      {"H7", "bytes read again after their last use"},
      {"H8", "eviction hints thrash"},
      {"H9", "partial sectors written"},
      {"H10", "policy misused"},
      {"H11", "cache control without effect"},
      {"H12", "illegal cache control encoding"},
      {"H13", "write back out of order"},
      {"H14", "false sharing"},
      {"H15", "stale constant or instruction"},
      {"H16", "scalar and vector caches disagree"},
      {"H17", "address in another space"},
      {"H18", "translated access does not bypass"},
  };
  return kTable[number <= kRules ? number : 0];
}

std::string Hazards::place(uint32_t context) const {
  const Context c = facts_.context_of(context);
  if (context == kNoContext) return "an unknown access";
  if (c.site == kNoContext) return fmt::format("seq {} by the host", context);
  return fmt::format("seq {} by '{}' (group {} wave {} SM {})", context,
                     facts_.site_of(c.site).text, c.group, c.wave, c.sm);
}

std::string Hazards::fresh_load_fix(const trace::Site& site) const {
  switch (site.dialect) {
    case trace::Dialect::sass:
      return "LDG.CG or LDG.CV for the load, or CCTL.IVALL / MEMBAR.GL.IVALLD before it";
    case trace::Dialect::gcn:
      return "glc on the load, or buffer_wbinvl1 before it";
    case trace::Dialect::ptx:
      break;
  }
  return "ld.relaxed.gpu or ld.acquire.gpu for the load, or fence.acq_rel.gpu before it";
}

}  // namespace lanewise::cache
