// What each instruction set says a memory access does to the caches, as tables of rows: the first
// row that matches decides. The three sets contradict each other (SASS SM 5.x maps load .CS to .CA
// and .LU to .CG, PTX does not), so they share the vocabulary and nothing else.
//
// Sources: PTX ISA, "Cache Operators" and "Cache Eviction Priority Hints"; the SPA 5.0 texts of
// LDG, STG and CCTL; GCN3 ISA, LLVM AMDGPUUsage (memory model GFX6-GFX9), gem5's VIPER protocol.
// What a document leaves open is a knob of the preset.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/cache/presets/preset.hpp"
#include "runtime/trace/event.hpp"

namespace lanewise::cache {

/// The first cache an access meets.
enum class Path : uint8_t { none, data, read_only, constant, instruction, scalar, call_stack };

/// What a load does there.
enum class Probe : uint8_t {
  normal,   ///< hit, or fill
  no_fill,  ///< hit, or read through without filling
  cg,       ///< passes by; a matching line: knob cg_on_l1_line
  glc,      ///< passes by; a matching line: knob glc_on_l1_line
  drop,     ///< passes by; a matching line is invalidated (written back first)
};

/// What a store does there.
enum class StoreRule : uint8_t {
  preset,      ///< knob l1_store
  evict,       ///< a matching line is invalidated
  write_back,  ///< stays in the first level, dirty (when the knob of its space says so)
};

/// The eviction class that an access asks for.
enum class Class : uint8_t { normal, first, last, unchanged };

enum RowFlag : uint8_t {
  kRefetchSystem = 1,    ///< host memory: the clean L2 line is given up and fetched again
  kWriteThrough = 2,     ///< host memory: written through L2, which stays clean
  kAcquire = 4,          ///< afterwards all global lines of this L1 are invalidated
  kLastUse = 8,          ///< the bytes need not be written back
  kReliesOnBypass = 16,  ///< the guest counts on not seeing an old L1 line
  kUncached = 32,        ///< no cache keeps it
  kStream = 64,          ///< GCN slc: knob slc_stays_in_l2
};

struct Row {
  std::string_view id;  ///< stable name, in statistics and tests
  // What it matches; 0 = anything.
  trace::OpKind kind = trace::OpKind::load;
  uint16_t spaces = 0, orders = 0, scopes = 0, ops = 0, l1 = 0;
  int8_t glc = -1, slc = -1, scalar = -1, uncached = -1;
  // What it does.
  Path path = Path::data;
  Probe probe = Probe::normal;
  StoreRule store = StoreRule::preset;
  Class l1_class = Class::normal, l2_class = Class::normal;
  uint8_t flags = 0;
};

std::span<const Row> access_rows(trace::Dialect dialect);
/// The row for an access of this site in this (already resolved) space; nullptr when none matches.
const Row* find_row(const trace::Site& site, trace::Space space);

enum class Effect : uint8_t {
  none,  ///< nothing is defined for this combination
  illegal,
  prefetch_l1,
  prefetch_l2,
  prefetch_l2_last,
  prefetch_l2_normal,
  prefetch_l15,
  write_back_line,
  invalidate_line,
  reset_line,
  invalidate_global,  ///< every global line of the L1
  invalidate_local,   ///< every local line of the L1, written back first
  invalidate_vector,  ///< every line of a GCN vector L1
  invalidate_read_only,
  invalidate_constant,
  invalidate_instruction,
  invalidate_scalar,  ///< dirty scalar bytes are lost
  write_back_scalar,
  write_back_call_stack,
  demote,
  discard,
  cctl_u_all,  ///< knob cctl_u
};

struct ControlRow {
  std::string_view id;
  uint16_t dialects = 0;  ///< bit = trace::Dialect
  trace::ControlOp op = trace::ControlOp::prefetch_l1;
  uint16_t targets = 0;  ///< bit = trace::Target; 0 = any
  uint16_t spaces = 0;   ///< bit = trace::Space; 0 = any
  Effect effect = Effect::none;
};
std::span<const ControlRow> control_rows();
/// Row of a control in the space that its address has.
const ControlRow* find_control(const trace::Site& site, trace::Space space);

/// Which clause of the encoding rules a control violates; empty when it is legal.
std::string_view encoding_fault(const trace::Site& site);

}  // namespace lanewise::cache
