#include "runtime/cache/dialects/dialect.hpp"

#include "runtime/cache/dialects/dialect_bits.hpp"
#include "runtime/cache/dialects/dialect_tables.hpp"

namespace lanewise::cache {
namespace {

using trace::ControlOp;
using trace::Dialect;
using trace::Space;
using trace::Target;

constexpr uint16_t kSass = bits::any(Dialect::sass), kPtx = bits::any(Dialect::ptx),
                   kGcn = bits::any(Dialect::gcn), kNvidia = kSass | kPtx;
constexpr uint16_t kData = bits::any(Target::data, Target::deprecated_u);
constexpr uint16_t kLines = bits::any(Space::global, Space::local);
constexpr uint16_t kConstInstr = bits::any(Target::constant, Target::instruction);
constexpr uint16_t kVector = bits::any(Target::data), kScalar = bits::any(Target::scalar);

// The CCTL table of the SPA 5.0 text, row by row, then the PTX and GCN operations.
constexpr ControlRow kControls[] = {
    {"cctl.qry1", kSass, ControlOp::query, 0, 0, Effect::illegal},
    {"cctll.crs.wball", kSass, ControlOp::write_back_all, bits::any(Target::crs),
     bits::any(Space::local), Effect::write_back_call_stack},
    {"cctl.d.pf1", kNvidia, ControlOp::prefetch_l1, kData, kLines, Effect::prefetch_l1},
    {"cctl.d.pf1.5", kSass, ControlOp::prefetch_l15, kData, kLines, Effect::prefetch_l15},
    {"cctl.d.pf2", kNvidia, ControlOp::prefetch_l2, kData, kLines, Effect::prefetch_l2},
    {"cctl.d.wb", kSass, ControlOp::write_back, kData, kLines, Effect::write_back_line},
    {"cctl.d.iv", kSass, ControlOp::invalidate, kData, kLines, Effect::invalidate_line},
    {"cctl.d.rs", kSass, ControlOp::reset, kData, kLines, Effect::reset_line},
    {"cctll.ivall", kSass, ControlOp::invalidate_all, bits::any(Target::data),
     bits::any(Space::local), Effect::invalidate_local},
    {"cctl.d.ivall", kSass, ControlOp::invalidate_all, bits::any(Target::data), 0,
     Effect::invalidate_global},
    {"cctl.u.ivall", kSass, ControlOp::invalidate_all, bits::any(Target::deprecated_u), 0,
     Effect::cctl_u_all},
    {"cctl.c.ivall", kSass, ControlOp::invalidate_all, bits::any(Target::constant), 0,
     Effect::invalidate_constant},
    {"cctl.i.ivall", kSass, ControlOp::invalidate_all, bits::any(Target::instruction), 0,
     Effect::invalidate_instruction},
    {"cctlt.ivall", kSass, ControlOp::invalidate_all, bits::any(Target::texture), 0,
     Effect::invalidate_read_only},
    {"cctl.ci.undefined", kSass, ControlOp::prefetch_l1, kConstInstr, 0, Effect::none},
    {"cctl.pml2", kNvidia, ControlOp::prefetch_l2_evict_last, kData, kLines,
     Effect::prefetch_l2_last},
    {"prefetch.l2.evict_normal", kPtx, ControlOp::prefetch_l2_evict_normal, kData, kLines,
     Effect::prefetch_l2_normal},
    {"cctl.dml2", kNvidia, ControlOp::demote_normal, kData, bits::any(Space::global),
     Effect::demote},
    {"cctl.rml2", kNvidia, ControlOp::discard, kData, bits::any(Space::global), Effect::discard},
    {"buffer_wbinvl1", kGcn, ControlOp::invalidate_all, kVector, 0, Effect::invalidate_vector},
    {"s_dcache_inv", kGcn, ControlOp::reset, kScalar, 0, Effect::invalidate_scalar},
    {"s_dcache_wb", kGcn, ControlOp::write_back_all, kScalar, 0, Effect::write_back_scalar},
    {"s_icache_inv", kGcn, ControlOp::invalidate_all, bits::any(Target::instruction), 0,
     Effect::invalidate_instruction},
};

template <class E>
bool matches(uint16_t set, E value) {
  return set == 0 || (set >> static_cast<unsigned>(value) & 1) != 0;
}
bool matches(int8_t wanted, bool value) {
  return wanted < 0 || (wanted != 0) == value;
}

bool matches(const Row& r, const trace::Site& s, Space space) {
  return r.kind == s.kind && matches(r.spaces, space) && matches(r.orders, s.order) &&
         matches(r.scopes, s.scope) && matches(r.ops, s.op) && matches(r.l1, s.l1) &&
         matches(r.glc, s.glc) && matches(r.slc, s.slc) && matches(r.scalar, s.scalar) &&
         matches(r.uncached, s.uncached);
}

}  // namespace

std::span<const Row> access_rows(Dialect dialect) {
  switch (dialect) {
    case Dialect::sass:
      return sass_rows();
    case Dialect::gcn:
      return gcn_rows();
    case Dialect::ptx:
      break;
  }
  return ptx_rows();
}

const Row* find_row(const trace::Site& site, Space space) {
  for (const Row& r : access_rows(site.dialect))
    if (matches(r, site, space)) return &r;
  return nullptr;
}

std::span<const ControlRow> control_rows() {
  return kControls;
}

const ControlRow* find_control(const trace::Site& site, Space space) {
  for (const ControlRow& r : kControls)
    if (matches(r.dialects, site.dialect) && r.op == site.control &&
        matches(r.targets, site.target) && matches(r.spaces, space))
      return &r;
  return nullptr;
}

std::string_view encoding_fault(const trace::Site& s) {
  if (s.dialect != Dialect::sass || s.kind != trace::OpKind::control) return {};
  const trace::Encoding& e = s.encoding;
  const bool local = s.space == Space::local;
  const bool all = s.control == ControlOp::invalidate_all || s.control == ControlOp::write_back_all;
  const bool dispatch =
      all && !local && (s.target == Target::constant || s.target == Target::instruction);
  if (s.control == ControlOp::query) return ".QRY1 is not implemented";
  if (s.target == Target::crs && !(local && s.control == ControlOp::write_back_all))
    return ".CRS is valid only as CCTLL.CRS.WBALL";
  if (s.control == ControlOp::write_back_all && s.target != Target::crs)
    return ".WBALL is valid only as CCTLL.CRS.WBALL";
  if (all && e.register_address) return "Ra must be RZ with .IVALL and .WBALL";
  if (all && e.nonzero_immediate) return "the immediate must be 0 with .IVALL and .WBALL";
  if (all && e.extended) return ".E cannot be used with .IVALL and .WBALL";
  if (dispatch && e.read_scoreboard) return "CCTL.C.IVALL and CCTL.I.IVALL take no &rd";
  if ((dispatch || s.target == Target::crs) && e.wait < 5)
    return "CCTL.C.IVALL, CCTL.I.IVALL and CCTLL.CRS.WBALL need ?WAIT5 or more";
  if ((s.target == Target::constant || s.target == Target::instruction) && !all)
    return "only .IVALL is defined for .C and .I";
  return {};
}

}  // namespace lanewise::cache
