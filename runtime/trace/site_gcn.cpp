// GCN3 ISA and LLVM's spelling: MUBUF, MTBUF, FLAT, SMRD/SMEM and the cache instructions.
#include <fmt/format.h>

#include "runtime/support/error.hpp"
#include "runtime/trace/site_text.hpp"
#include "runtime/trace/suffix.hpp"

namespace lanewise::trace {
namespace {

void all_lines(Site& s, Target target, ControlOp op) {
  s.kind = OpKind::control;
  s.target = target;
  s.control = op;
}

constexpr Suffix kControls[] = {
    {"buffer_wbinvl1", [](Site& s) { all_lines(s, Target::data, ControlOp::invalidate_all); }},
    {"buffer_wbinvl1_vol",
     [](Site& s) {
       all_lines(s, Target::data, ControlOp::invalidate_all);
       s.volatile_lines = true;
     }},
    {"buffer_wbinvl1_sc",
     [](Site& s) {
       all_lines(s, Target::data, ControlOp::invalidate_all);
       s.system_lines = true;
     }},
    {"s_dcache_inv", [](Site& s) { all_lines(s, Target::scalar, ControlOp::reset); }},
    {"s_dcache_inv_vol",
     [](Site& s) {
       all_lines(s, Target::scalar, ControlOp::reset);
       s.volatile_lines = true;
     }},
    {"s_dcache_wb", [](Site& s) { all_lines(s, Target::scalar, ControlOp::write_back_all); }},
    {"s_dcache_wb_vol",
     [](Site& s) {
       all_lines(s, Target::scalar, ControlOp::write_back_all);
       s.volatile_lines = true;
     }},
    {"s_icache_inv", [](Site& s) { all_lines(s, Target::instruction, ControlOp::invalidate_all); }},
};

struct Size {
  std::string_view ending;
  uint16_t bytes;
};
constexpr Size kSizes[] = {
    {"ubyte", 1},    {"sbyte", 1},     {"byte", 1},        {"ushort", 2},
    {"sshort", 2},   {"short", 2},     {"dword", 4},       {"dwordx2", 8},
    {"dwordx3", 12}, {"dwordx4", 16},  {"dwordx8", 32},    {"dwordx16", 64},
    {"format_x", 4}, {"format_xy", 8}, {"format_xyz", 12}, {"format_xyzw", 16},
};

bool set_size(std::string_view mnemonic, Site& s) {
  for (const Size& z : kSizes)
    if (mnemonic.size() > z.ending.size() &&
        mnemonic.substr(mnemonic.size() - z.ending.size()) == z.ending &&
        mnemonic[mnemonic.size() - z.ending.size() - 1] == '_') {
      s.bytes = z.bytes;
      return true;
    }
  return false;
}

bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

void classify(std::string_view m, Site& s) {
  const bool scalar = starts(m, "s_load_") || starts(m, "s_buffer_load_") ||
                      starts(m, "s_store_") || starts(m, "s_buffer_store_");
  const bool vector =
      starts(m, "buffer_") || starts(m, "tbuffer_") || starts(m, "flat_") || starts(m, "global_");
  if (!scalar && !vector) return;
  s.scalar = scalar;
  s.space = starts(m, "flat_") ? Space::generic : Space::global;
  if (m.find("_atomic_") != std::string_view::npos) {
    s.kind = OpKind::atomic;
    s.bytes = m.size() > 3 && m.substr(m.size() - 3) == "_x2" ? 8 : 4;
    return;
  }
  s.kind = m.find("store_") != std::string_view::npos ? OpKind::store : OpKind::load;
  if (!set_size(m, s))
    throw Error(ErrorKind::guest, fmt::format("'{}': the size of this access is not known", m));
}

}  // namespace

Site gcn_site(std::string_view text) {
  Site s;
  s.dialect = Dialect::gcn;
  s.text = text;
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view mnemonic = text.substr(0, end);
  if (!apply_suffix(kControls, mnemonic, s)) classify(mnemonic, s);
  for (const std::string_view word : split(text.substr(end), ' ')) {
    if (word == "glc") s.glc = true;
    if (word == "slc") s.slc = true;
  }
  return s;
}

Site site_from_text(Dialect dialect, std::string_view text) {
  switch (dialect) {
    case Dialect::sass:
      return sass_site(text);
    case Dialect::gcn:
      return gcn_site(text);
    case Dialect::ptx:
      break;
  }
  return ptx_site(text);
}

}  // namespace lanewise::trace
