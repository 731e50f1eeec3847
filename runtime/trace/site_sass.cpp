// Suffixes: nvdisasm's spelling, Maxwell (SPA 5.0 pages of LDG, STG, CCTL) and Volta to Hopper
// (what ptxas 11.8 emits for each PTX qualifier).
#include <fmt/format.h>

#include <charconv>

#include "runtime/support/error.hpp"
#include "runtime/trace/site_text.hpp"
#include "runtime/trace/suffix.hpp"

namespace lanewise::trace {
namespace {

using ir::CacheOp;
using ir::EvictPriority;
using ir::Order;
using ir::Scope;

struct SassOpcode {
  std::string_view name;
  OpKind kind;
  Space space;
};
constexpr SassOpcode kSassOpcodes[] = {
    {"LD", OpKind::load, Space::generic},      {"LDG", OpKind::load, Space::global},
    {"LDL", OpKind::load, Space::local},       {"LDS", OpKind::load, Space::shared},
    {"LDC", OpKind::load, Space::constant},    {"ST", OpKind::store, Space::generic},
    {"STG", OpKind::store, Space::global},     {"STL", OpKind::store, Space::local},
    {"STS", OpKind::store, Space::shared},     {"ATOM", OpKind::atomic, Space::generic},
    {"ATOMG", OpKind::atomic, Space::global},  {"ATOMS", OpKind::atomic, Space::shared},
    {"RED", OpKind::atomic, Space::generic},   {"REDG", OpKind::atomic, Space::global},
    {"CCTL", OpKind::control, Space::generic}, {"CCTLL", OpKind::control, Space::local},
    {"CCTLT", OpKind::control, Space::global}, {"MEMBAR", OpKind::fence, Space::global},
    {"LDGSTS", OpKind::load, Space::global},
};

constexpr Suffix kSassAccess[] = {
    {"E", [](Site&) {}},
    {"U", [](Site&) {}},
    {"CA", [](Site& s) { s.op = CacheOp::ca; }},
    {"CG", [](Site& s) { s.op = CacheOp::cg; }},
    {"CS", [](Site& s) { s.op = CacheOp::cs; }},
    {"LU", [](Site& s) { s.op = CacheOp::lu; }},
    {"CV", [](Site& s) { s.op = CacheOp::cv; }},
    {"CI", [](Site& s) { s.op = CacheOp::ci; }},
    {"WB", [](Site& s) { s.op = CacheOp::wb; }},
    {"WT", [](Site& s) { s.op = CacheOp::wt; }},
    {"CONSTANT", [](Site& s) { s.op = CacheOp::ci; }},
    {"EF", [](Site& s) { s.l1 = EvictPriority::first; }},
    {"EL", [](Site& s) { s.l1 = EvictPriority::last; }},
    {"EU", [](Site& s) { s.l1 = EvictPriority::unchanged; }},
    {"NA", [](Site& s) { s.l1 = EvictPriority::no_allocate; }},
    {"STRONG", [](Site& s) { s.order = Order::relaxed; }},
    {"WEAK", [](Site& s) { s.order = Order::weak; }},
    {"MMIO", [](Site& s) { s.order = Order::mmio; }},
    {"CTA", [](Site& s) { s.scope = Scope::cta; }},
    {"SM", [](Site& s) { s.scope = Scope::cta; }},
    {"GPU", [](Site& s) { s.scope = Scope::gpu; }},
    {"SYS", [](Site& s) { s.scope = Scope::sys; }},
    {"BYPASS", [](Site& s) { s.op = CacheOp::cg; }},  // LDGSTS: past L1 (cp.async.cg)
    {"ACCESS", [](Site& s) { s.op = CacheOp::ca; }},  // LDGSTS: through L1 (cp.async.ca)
    {"ZFILL", [](Site&) {}},
    {"LTC64B", [](Site& s) { s.prefetch_bytes = 64; }},
    {"LTC128B", [](Site& s) { s.prefetch_bytes = 128; }},
    {"LTC256B", [](Site& s) { s.prefetch_bytes = 256; }},
    {"U8", [](Site& s) { s.bytes = 1; }},
    {"S8", [](Site& s) { s.bytes = 1; }},
    {"U16", [](Site& s) { s.bytes = 2; }},
    {"S16", [](Site& s) { s.bytes = 2; }},
    {"32", [](Site& s) { s.bytes = 4; }},
    {"64", [](Site& s) { s.bytes = 8; }},
    {"128", [](Site& s) { s.bytes = 16; }},
};

// Suffixes of an atomic that choose the operation or type; the caches do not see them.
constexpr std::string_view kSassAtomic[] = {
    "ADD", "MIN", "MAX", "INC", "DEC",   "AND",   "OR",   "XOR",  "EXCH", "CAS", "SAFEADD", "S32",
    "U32", "F32", "FTZ", "RN",  "F16x2", "F16X2", "POPC", "CAST", "SPIN", "S64", "U64",     "F64"};

constexpr Suffix kSassControl[] = {
    {"E", [](Site& s) { s.encoding.extended = true; }},
    {"D", [](Site& s) { s.target = Target::data; }},
    {"U", [](Site& s) { s.target = Target::deprecated_u; }},
    {"C", [](Site& s) { s.target = Target::constant; }},
    {"I", [](Site& s) { s.target = Target::instruction; }},
    {"CRS", [](Site& s) { s.target = Target::crs; }},
    {"PF1", [](Site& s) { s.control = ControlOp::prefetch_l1; }},
    {"5", [](Site& s) { s.control = ControlOp::prefetch_l15; }},  // PF1.5, in two parts
    {"PF2", [](Site& s) { s.control = ControlOp::prefetch_l2; }},
    {"PML2", [](Site& s) { s.control = ControlOp::prefetch_l2_evict_last; }},
    {"DML2", [](Site& s) { s.control = ControlOp::demote_normal; }},
    {"RML2", [](Site& s) { s.control = ControlOp::discard; }},
    {"WB", [](Site& s) { s.control = ControlOp::write_back; }},
    {"WBALL", [](Site& s) { s.control = ControlOp::write_back_all; }},
    {"IV", [](Site& s) { s.control = ControlOp::invalidate; }},
    {"IVALL", [](Site& s) { s.control = ControlOp::invalidate_all; }},
    {"IVTH", [](Site& s) { s.control = ControlOp::invalidate_all; }},
    {"RS", [](Site& s) { s.control = ControlOp::reset; }},
    {"QRY1", [](Site& s) { s.control = ControlOp::query; }},
};

constexpr Suffix kFence[] = {
    {"CTA", [](Site& s) { s.scope = Scope::cta; }},
    {"SM", [](Site& s) { s.scope = Scope::cta; }},
    {"GL", [](Site& s) { s.scope = Scope::gpu; }},
    {"GPU", [](Site& s) { s.scope = Scope::gpu; }},
    {"VC", [](Site& s) { s.scope = Scope::gpu; }},
    {"SYS", [](Site& s) { s.scope = Scope::sys; }},
    {"SC", [](Site& s) { s.order = Order::seq_cst; }},
    {"ALL", [](Site& s) { s.order = Order::acq_rel; }},
    {"IVALLD", [](Site& s) { s.invalidates = true; }},
    {"IVALLT", [](Site& s) { s.invalidates = true; }},
    {"IVALLTD", [](Site& s) { s.invalidates = true; }},
};

/// Reads `[Ra+imm]`, `&rd=n` and `?WAITn` as far as the legality rules of CCTL need them.
void read_control_operands(std::string_view operands, Site& s) {
  if (const size_t open = operands.find('['); open != std::string_view::npos) {
    const std::string_view inside = operands.substr(open + 1, operands.find(']') - open - 1);
    s.encoding.register_address =
        inside.find('R') != std::string_view::npos && inside.find("RZ") == std::string_view::npos;
    size_t number = inside.find_first_of("+-");
    number = number != std::string_view::npos ? number + 1
             : s.encoding.register_address || inside.find("RZ") != std::string_view::npos
                 ? inside.size()
                 : 0;
    s.encoding.nonzero_immediate =
        inside.substr(number).find_first_of("123456789abcdefABCDEF") != std::string_view::npos;
  }
  s.encoding.read_scoreboard = operands.find("&rd") != std::string_view::npos;
  if (const size_t at = operands.find("?WAIT"); at != std::string_view::npos) {
    unsigned wait = 0;
    const std::string_view digits = operands.substr(at + 5);
    std::from_chars(digits.data(), digits.data() + digits.size(), wait);
    s.encoding.wait = static_cast<uint8_t>(wait);
  }
}

bool atomic_suffix(std::string_view part, Site& s) {
  for (const std::string_view a : kSassAtomic)
    if (a == part) {
      if (part.size() == 3 && part.substr(1) == "64") s.bytes = 8;
      return true;
    }
  return false;
}

bool suffix(std::string_view part, Site& s) {
  switch (s.kind) {
    case OpKind::control:
      return apply_suffix(kSassControl, part, s);
    case OpKind::fence:
      return apply_suffix(kFence, part, s);
    case OpKind::atomic:
      if (atomic_suffix(part, s)) return true;
      [[fallthrough]];
    default:
      return apply_suffix(kSassAccess, part, s) ||
             (s.space == Space::shared || s.space == Space::constant);
  }
}

}  // namespace

Site sass_site(std::string_view text) {
  std::vector<std::string> unknown;
  Site s = sass_site(text, unknown);
  if (!unknown.empty())
    throw Error(ErrorKind::guest, fmt::format("'{}': suffix {} of {} is not known", text,
                                              unknown[0], text.substr(0, text.find('.'))));
  return s;
}

Site sass_site(std::string_view text, std::vector<std::string>& unknown) {
  Site s;
  s.dialect = Dialect::sass;
  s.text = text;
  if (!text.empty() && text[0] == '@')
    text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
  const size_t end = std::min(text.find(' '), text.size());
  const std::vector<std::string_view> parts = split(text.substr(0, end), '.');
  if (parts.empty()) return s;
  for (const SassOpcode& o : kSassOpcodes)
    if (o.name == parts[0]) {
      s.kind = o.kind;
      s.space = o.space;
    }
  if (s.kind == OpKind::none) return s;
  if (parts[0] == "CCTLT") s.target = Target::texture;
  for (size_t i = 1; i < parts.size(); ++i)
    if (!suffix(parts[i], s)) unknown.push_back(fmt::format(".{}", parts[i]));
  if (s.kind == OpKind::control) read_control_operands(text.substr(end), s);
  return s;
}

}  // namespace lanewise::trace
