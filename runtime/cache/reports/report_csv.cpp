// Counters one a line, under profilers' names where they count the same.
#include <fmt/format.h>

#include "runtime/cache/reports/report_data.hpp"

namespace lanewise::cache {
namespace {

struct Metric {
  std::string name;
  uint64_t value;
};

/// What the sites of one kind in global memory came to: instructions of that kind only.
SiteCounters sum_of(const Tracker& t, trace::OpKind kind) {
  SiteCounters sum;
  for (size_t i = 0; i < t.sites().size(); ++i) {
    const trace::Site& s = t.sites()[i];
    if (s.kind != kind || s.space == trace::Space::local) continue;
    const SiteCounters& n = t.site_counters()[i];
    sum.hardware_requests += n.hardware_requests;
    sum.sectors += n.sectors;
    sum.l1_hits += n.l1_hits;
    sum.l1_misses += n.l1_misses;
    sum.l1_write_hits += n.l1_write_hits;
    sum.l1_write_misses += n.l1_write_misses;
  }
  return sum;
}

/// As Nsight Compute names them (docs/cache-model.md says how far to trust the names).
std::vector<Metric> nvidia_metrics(const Tracker& t) {
  const LevelCounters& l2 = t.counters(Cache::l2);
  const SiteCounters loads = sum_of(t, trace::OpKind::load);
  const SiteCounters stores = sum_of(t, trace::OpKind::store);
  const std::string requests = "l1tex__t_requests_pipe_lsu_mem_global_op_";
  const std::string sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_";
  return {{requests + "ld.sum", loads.hardware_requests},
          {requests + "st.sum", stores.hardware_requests},
          {sectors + "ld.sum", loads.sectors},
          {sectors + "st.sum", stores.sectors},
          {sectors + "ld_lookup_hit.sum", loads.l1_hits},
          {sectors + "ld_lookup_miss.sum", loads.l1_misses},
          {sectors + "st_lookup_hit.sum", stores.l1_write_hits},
          {sectors + "st_lookup_miss.sum", stores.l1_write_misses},
          {"lts__t_sectors_op_read.sum", l2.sector_hits + l2.sector_misses},
          {"lts__t_sectors_op_read_lookup_hit.sum", l2.sector_hits},
          {"lts__t_sectors_op_read_lookup_miss.sum", l2.sector_misses},
          {"lts__t_sectors_op_write.sum", l2.write_sector_hits + l2.write_sector_misses},
          {"lts__t_sectors_op_write_lookup_hit.sum", l2.write_sector_hits},
          {"lts__t_sectors_op_write_lookup_miss.sum", l2.write_sector_misses},
          {"lts__t_sectors_lookup_hit.sum", l2.sector_hits + l2.write_sector_hits},
          {"lts__t_sectors_lookup_miss.sum", l2.sector_misses + l2.write_sector_misses},
          {"lts__t_sectors_evict_normal.sum", l2.by_class[0]},
          {"lts__t_sectors_evict_first.sum", l2.by_class[1]},
          {"lts__t_sectors_evict_last.sum", l2.by_class[2]}};
}

/// As rocprof names them.
std::vector<Metric> amd_metrics(const Tracker& t) {
  const LevelCounters& l1 = t.counters(Cache::l1);
  const LevelCounters& l2 = t.counters(Cache::l2);
  const uint64_t misses = l2.read_misses + l2.write_misses;
  return {{"TCP_TOTAL_ACCESSES", l1.reads + l1.writes},
          {"TCP_TCC_READ_REQ", l2.reads},
          {"TCP_TCC_WRITE_REQ", l2.writes},
          {"TCC_REQ", l2.reads + l2.writes},
          {"TCC_HIT", l2.reads + l2.writes - misses},
          {"TCC_MISS", misses},
          {"TCC_STREAMING_REQ", l2.by_class[1]},
          {"TCC_NORMAL_EVICT", l2.evictions},
          {"TCC_NORMAL_WRITEBACK", l2.write_backs}};
}

/// What no profiler of either vendor counts, under names of our own.
std::vector<Metric> own_metrics(const Tracker& t) {
  const LevelCounters& l1 = t.counters(Cache::l1);
  const LevelCounters& l2 = t.counters(Cache::l2);
  return {{"l1_lines_invalidated", l1.invalidated},
          {"l2_lines_evicted", l2.evictions},
          {"l2_lines_written_back", l2.write_backs},
          {"memory_bytes_read", l2.fills * t.preset().l2.sector},
          {"memory_bytes_written", l2.write_back_bytes},
          {"l1_dirty_bytes_left", t.dirty(Cache::l1).bytes},
          {"l2_dirty_bytes_left", t.dirty(Cache::l2).bytes}};
}

std::string csv_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

std::string csv_report(std::span<const Tracker* const> runs) {
  std::string out = "preset,scope,pc,instruction,metric,value\n";
  for (const Tracker* t : runs) {
    const bool amd = !t->sites().empty() && t->sites()[0].dialect == trace::Dialect::gcn;
    for (const auto& list : {amd ? amd_metrics(*t) : nvidia_metrics(*t), own_metrics(*t)})
      for (const Metric& m : list)
        out += fmt::format("{},total,,,{},{}\n", t->preset().name, m.name, m.value);
    for (size_t i = 0; i < t->sites().size(); ++i) {
      const SiteCounters& n = t->site_counters()[i];
      const std::string head = fmt::format("{},instruction,{:#x},{}", t->preset().name,
                                           t->sites()[i].pc, csv_text(text_of(t->sites()[i])));
      const std::pair<const char*, uint64_t> rows[] = {{"inst_executed", n.instructions},
                                                       {"thread_inst_executed", n.lanes},
                                                       {"memory_l1_requests", n.hardware_requests},
                                                       {"memory_l1_lines", n.requests},
                                                       {"memory_l1_sectors", n.sectors},
                                                       {"bytes_asked_for", n.bytes},
                                                       {"l1_sectors_hit", n.l1_hits},
                                                       {"l1_sectors_miss", n.l1_misses},
                                                       {"l2_sectors_hit", n.l2_hits},
                                                       {"l2_sectors_miss", n.l2_misses},
                                                       {"l1_store_sectors_hit", n.l1_write_hits},
                                                       {"l1_store_sectors_miss", n.l1_write_misses},
                                                       {"l2_store_sectors_hit", n.l2_write_hits},
                                                       {"l2_store_sectors_miss", n.l2_write_misses},
                                                       {"stale_requests", n.stale}};
      for (const auto& [metric, value] : rows)
        out += fmt::format("{},{},{}\n", head, metric, value);
    }
  }
  return out;
}

}  // namespace lanewise::cache
