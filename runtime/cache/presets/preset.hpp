// Presets: the geometry and the behaviour of one GPU's caches, as data. The files are in presets/;
// docs/presets.md lists every field with its default.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cache/policies/policy.hpp"

namespace lanewise::cache {

enum class IndexHash : uint8_t { linear, fold, fermi, ipoly };

/// One cache. Capacity = slices * sets * ways * line.
struct Geometry {
  bool present = false;
  bool infinite = false;  ///< grows instead of evicting
  uint32_t slices = 1;
  uint32_t sets = 1;
  uint32_t ways = 1;
  uint32_t line = 128;
  uint32_t sector = 32;
  uint32_t shared_by = 1;  ///< SMs or CUs that share one instance
  const Policy* replacement = &lru_policy;
  IndexHash hash = IndexHash::linear;      ///< which slice; with one slice, which set
  IndexHash set_hash = IndexHash::linear;  ///< with several slices, which set of the slice
  uint64_t bytes() const { return uint64_t{slices} * sets * ways * line; }
};

/// `allocate`: written through, and a miss allocates; what the store did not write is fetched when
/// it is read (lazily).
enum class L1Store : uint8_t { evict, update, write_back, allocate };
enum class PassBy : uint8_t { leave, evict, hit };
enum class CctlU : uint8_t { data, constant, both };
enum class Granule : uint8_t { sector, line };

/// Behaviour that documents leave open or that differs between chips. Names are those of the
/// preset files.
struct Knobs {
  bool global_in_l1 = true;               ///< plain global loads may allocate in L1
  bool local_in_l1 = true;                ///< local memory lives in L1, dirty lines included
  bool nc_in_l1 = true;                   ///< the read-only path is cached
  L1Store l1_store = L1Store::evict;      ///< what a global store does to its own SM's line
  PassBy cg_on_l1_line = PassBy::leave;   ///< .cg load that matches an older L1 line
  PassBy glc_on_l1_line = PassBy::evict;  ///< GCN glc load that matches an older L1 line
  bool atomic_invalidates_l1 = true;
  Granule fill = Granule::sector;         ///< what a miss fetches
  Granule prefetch_fill = Granule::line;  ///< what CCTL.PF1 / prefetch.L1 fetches
  bool fetch_on_write = false;            ///< a write miss fetches the rest of the sector first
  bool write_allocate_l2 = true;
  CctlU cctl_u = CctlU::data;
  bool ivall_reaches_l15 = false;  ///< CCTL.C/I.IVALL empties the level 1.5 cache, too
  bool unchanged_fills_at_lru_end = true;
  uint32_t persisting_percent = 100;  ///< share of L2 that evict_last lines may hold
  uint32_t dirty_limit_percent = 0;   ///< clean victims first while fewer lines are dirty; 0 = off
  bool wbinvl1_all_lines = true;      ///< the _VOL and _SC forms invalidate every line
  bool slc_stays_in_l2 = false;       ///< false: an slc line becomes first to be evicted
  bool l1_invalidated_at_kernel_begin = true;
  bool l2_written_back_at_kernel_end = false;
  uint32_t request_lanes = 32;        ///< lanes whose 32-bit accesses make one tag-stage request
  uint32_t false_sharing_limit = 8;   ///< alternations before H14 reports
  uint32_t evict_first_window = 64;   ///< H8: a miss on an evict-first line evicted so recently
  uint32_t partial_write_limit = 64;  ///< partial sectors of one instruction before H9 reports
};

struct Preset {
  std::string name;
  std::string title;
  uint32_t sms = 1;
  Geometry l1, constant, constant15, instruction, instruction15, scalar, l2;
  Knobs knobs;
  /// Where a cache's or a knob's figures come from, with how sure that is: (high), (medium), (low).
  struct Source {
    std::string of, text;
  };
  std::vector<Source> sources;
};

/// A preset by name, or from a file ("file:PATH"); "+VARIANT" behind it is one of its variants.
/// Throws Error(usage) that names the file and the field when something is unknown, missing or out
/// of range.
Preset load_preset(const std::string& name);
Preset parse_preset(const std::string& json, const std::string& origin,
                    const std::string& variant = {});
std::vector<std::string> preset_names();
/// The variants of the presets, each with its preset's name: "gm204+lines32".
std::vector<std::string> preset_variants();

}  // namespace lanewise::cache
