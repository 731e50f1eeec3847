// What memory and cache instructions say to the cache tracker beside what their operations have.
#include <algorithm>

#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {
namespace {

using Facts = ir::CacheFacts;

struct ControlRow {
  std::string_view row;
  Facts::Cache cache;
  ir::CacheCtl control;
  bool volatile_lines = false, system_lines = false;
};
constexpr ControlRow kControlRows[] = {
    {"buffer_wbinvl1", Facts::Cache::data, ir::CacheCtl::invalidate_all},
    {"buffer_wbinvl1_vol", Facts::Cache::data, ir::CacheCtl::invalidate_all, true},
    {"buffer_wbinvl1_sc", Facts::Cache::data, ir::CacheCtl::invalidate_all, false, true},
    {"s_dcache_inv", Facts::Cache::scalar, ir::CacheCtl::reset},
    {"s_dcache_inv_vol", Facts::Cache::scalar, ir::CacheCtl::reset, true},
    {"s_dcache_wb", Facts::Cache::scalar, ir::CacheCtl::write_back_all},
    {"s_dcache_wb_vol", Facts::Cache::scalar, ir::CacheCtl::write_back_all, true},
};

Facts control_facts(const Row& row) {
  Facts f;
  const auto* found = std::ranges::find(kControlRows, row.name, &ControlRow::row);
  if (found == std::end(kControlRows)) return f;
  f.kind = Facts::Kind::control;
  f.cache = found->cache;
  f.control = found->control;
  f.volatile_lines = found->volatile_lines;
  f.system_lines = found->system_lines;
  return f;
}

}  // namespace

Facts cache_facts(const Instruction& i) {
  if (i.row->kind == Kind::cache) return control_facts(*i.row);
  const bool scalar = i.row->encoding == Encoding::smrd;
  const bool vector = i.row->encoding == Encoding::mubuf || i.row->encoding == Encoding::mtbuf ||
                      i.row->encoding == Encoding::flat || i.row->encoding == Encoding::mimg;
  Facts f;
  if (!scalar && !vector) return f;
  switch (i.row->kind) {
    case Kind::load:
      f.kind = Facts::Kind::load;
      break;
    case Kind::store:
      f.kind = Facts::Kind::store;
      break;
    case Kind::atomic:
      f.kind = Facts::Kind::atomic;
      break;
    default:
      return f;
  }
  f.scalar = scalar;
  f.glc = i.glc;
  f.slc = i.slc;
  return f;
}

}  // namespace lanewise::gcn
