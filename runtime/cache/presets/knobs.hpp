// Every knob once: its name in preset files, its values, and what it means.
#pragma once

#include "runtime/cache/presets/preset.hpp"

namespace lanewise::cache {

inline constexpr const char* kHashNames[] = {"linear", "fold", "fermi", "ipoly"};

/// Shows every knob to a visitor with flag(name, value, meaning), choice(name, value, names,
/// meaning) and number(name, value, least, most, meaning). `K` is Knobs or const Knobs.
template <class K, class Visitor>
void each_knob(K& k, Visitor& v) {
  static constexpr const char* kStore[] = {"evict", "update", "write_back", "allocate"};
  static constexpr const char* kPass[] = {"leave", "evict", "hit"};
  static constexpr const char* kU[] = {"data", "constant", "both"};
  static constexpr const char* kGranule[] = {"sector", "line"};
  v.flag("global_in_l1", k.global_in_l1, "plain global loads may allocate in L1");
  v.flag("local_in_l1", k.local_in_l1, "local memory lives in L1, dirty lines included");
  v.flag("nc_in_l1", k.nc_in_l1, "the read-only path is cached");
  v.choice("l1_store", k.l1_store, kStore, "what a global store does to its own SM's line");
  v.choice("cg_on_l1_line", k.cg_on_l1_line, kPass, ".cg load that matches an older L1 line");
  v.choice("glc_on_l1_line", k.glc_on_l1_line, kPass, "GCN glc load that matches an older L1 line");
  v.flag("atomic_invalidates_l1", k.atomic_invalidates_l1,
         "an atomic invalidates its SM's own line");
  v.choice("fill", k.fill, kGranule, "what a miss fetches");
  v.choice("prefetch_fill", k.prefetch_fill, kGranule, "what CCTL.PF1 / prefetch.L1 fetches");
  v.flag("fetch_on_write", k.fetch_on_write, "a write miss fetches the rest of the sector first");
  v.flag("write_allocate_l2", k.write_allocate_l2, "a write miss allocates in L2");
  v.choice("cctl_u", k.cctl_u, kU, "what CCTL.U.IVALL works on: the text contradicts itself");
  v.flag("ivall_reaches_l15", k.ivall_reaches_l15,
         "CCTL.C/I.IVALL empties the level 1.5 cache, too");
  v.flag("unchanged_fills_at_lru_end", k.unchanged_fills_at_lru_end,
         "an evict_unchanged fill is the next to go");
  v.number("persisting_percent", k.persisting_percent, 0, 100,
           "share of L2 that evict_last lines may hold");
  v.number("dirty_limit_percent", k.dirty_limit_percent, 0, 100,
           "clean victims first while fewer lines are dirty; 0 = off");
  v.flag("wbinvl1_all_lines", k.wbinvl1_all_lines, "the _VOL and _SC forms invalidate every line");
  v.flag("slc_stays_in_l2", k.slc_stays_in_l2, "false: an slc line becomes first to be evicted");
  v.flag("l1_invalidated_at_kernel_begin", k.l1_invalidated_at_kernel_begin,
         "L1, constant and scalar caches start a kernel empty");
  v.flag("l2_written_back_at_kernel_end", k.l2_written_back_at_kernel_end,
         "dirty L2 lines go to memory when a kernel ends");
  v.number("request_lanes", k.request_lanes, 1, 64,
           "lanes whose 32-bit accesses make one tag-stage request");
  v.number("false_sharing_limit", k.false_sharing_limit, 1, 1U << 30,
           "alternations before H14 reports");
  v.number("evict_first_window", k.evict_first_window, 1, 1U << 30,
           "H8: a miss on an evict-first line evicted so recently");
  v.number("partial_write_limit", k.partial_write_limit, 1, 1U << 30,
           "partial sectors of one instruction before H9 reports");
}

/// Shows every cache that a preset may have: visit(name in preset files, its geometry).
template <class P, class Visit>
void each_cache(P& p, Visit visit) {
  visit("l1", p.l1);
  visit("constant", p.constant);
  visit("constant15", p.constant15);
  visit("instruction", p.instruction);
  visit("instruction15", p.instruction15);
  visit("scalar", p.scalar);
  visit("l2", p.l2);
}

}  // namespace lanewise::cache
