// PTX ISA: ld, st, atom, red, prefetch, prefetchu, applypriority, discard, membar, fence, ldu.
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

struct PtxOpcode {
  std::string_view name;
  OpKind kind;
  ControlOp control = ControlOp::prefetch_l1;
};
constexpr PtxOpcode kPtxOpcodes[] = {
    {"ld", OpKind::load},
    {"ldu", OpKind::load},
    {"st", OpKind::store},
    {"atom", OpKind::atomic},
    {"red", OpKind::atomic},
    {"membar", OpKind::fence},
    {"fence", OpKind::fence},
    {"prefetch", OpKind::control, ControlOp::prefetch_l1},
    {"prefetchu", OpKind::control, ControlOp::prefetch_l1},
    {"applypriority", OpKind::control, ControlOp::demote_normal},
    {"discard", OpKind::control, ControlOp::discard},
};

constexpr Suffix kSuffixes[] = {
    {"global", [](Site& s) { s.space = Space::global; }},
    {"local", [](Site& s) { s.space = Space::local; }},
    {"shared", [](Site& s) { s.space = Space::shared; }},
    {"shared::cta", [](Site& s) { s.space = Space::shared; }},
    {"shared::cluster", [](Site& s) { s.space = Space::shared; }},
    {"const", [](Site& s) { s.space = Space::constant; }},
    {"param", [](Site& s) { s.space = Space::constant; }},
    {"ca", [](Site& s) { s.op = CacheOp::ca; }},
    {"cg", [](Site& s) { s.op = CacheOp::cg; }},
    {"cs", [](Site& s) { s.op = CacheOp::cs; }},
    {"lu", [](Site& s) { s.op = CacheOp::lu; }},
    {"cv", [](Site& s) { s.op = CacheOp::cv; }},
    {"wb", [](Site& s) { s.op = CacheOp::wb; }},
    {"wt", [](Site& s) { s.op = CacheOp::wt; }},
    {"nc", [](Site& s) { s.op = CacheOp::nc; }},
    {"weak", [](Site& s) { s.order = Order::weak; }},
    {"relaxed",
     [](Site& s) {
       if (s.order != Order::mmio) s.order = Order::relaxed;
     }},
    {"volatile", [](Site& s) { s.order = Order::volatile_; }},
    {"mmio", [](Site& s) { s.order = Order::mmio; }},
    {"acquire", [](Site& s) { s.order = Order::acquire; }},
    {"release", [](Site& s) { s.order = Order::release; }},
    {"acq_rel", [](Site& s) { s.order = Order::acq_rel; }},
    {"sc", [](Site& s) { s.order = Order::seq_cst; }},
    {"cta", [](Site& s) { s.scope = Scope::cta; }},
    {"cluster", [](Site& s) { s.scope = Scope::cluster; }},
    {"gl", [](Site& s) { s.scope = Scope::gpu; }},
    {"gpu", [](Site& s) { s.scope = Scope::gpu; }},
    {"sys", [](Site& s) { s.scope = Scope::sys; }},
    {"L1::evict_normal", [](Site& s) { s.l1 = EvictPriority::normal; }},
    {"L1::evict_unchanged", [](Site& s) { s.l1 = EvictPriority::unchanged; }},
    {"L1::evict_first", [](Site& s) { s.l1 = EvictPriority::first; }},
    {"L1::evict_last", [](Site& s) { s.l1 = EvictPriority::last; }},
    {"L1::no_allocate", [](Site& s) { s.l1 = EvictPriority::no_allocate; }},
    {"L2::evict_first", [](Site& s) { s.l2 = EvictPriority::first; }},
    {"L2::64B", [](Site& s) { s.prefetch_bytes = 64; }},
    {"L2::128B", [](Site& s) { s.prefetch_bytes = 128; }},
    {"L2::256B", [](Site& s) { s.prefetch_bytes = 256; }},
    {"L2::cache_hint",
     [](Site& s) {
       s.hinted = true;
       s.policy = kPolicyAtRunTime;
     }},
};

// L1 and L2 of the controls mean the level; with an eviction priority, what becomes of the line.
constexpr Suffix kControl[] = {
    {"L1", [](Site& s) { s.control = ControlOp::prefetch_l1; }},
    {"L2",
     [](Site& s) {
       if (s.control == ControlOp::prefetch_l1) s.control = ControlOp::prefetch_l2;
     }},
    {"L2::evict_last", [](Site& s) { s.control = ControlOp::prefetch_l2_evict_last; }},
    {"L2::evict_normal",
     [](Site& s) {
       if (s.control == ControlOp::prefetch_l1) s.control = ControlOp::prefetch_l2_evict_normal;
     }},
};
constexpr Suffix kAccess[] = {
    {"L2::evict_last", [](Site& s) { s.l2 = EvictPriority::last; }},
    {"L2::evict_normal", [](Site& s) { s.l2 = EvictPriority::normal; }},
};
constexpr std::string_view kAtomic[] = {"add", "min", "max",  "inc", "dec",  "and",
                                        "or",  "xor", "exch", "cas", "noftz"};

/// v2 v4 v8 multiply the element; b32 u8 f64 ... set it (bytes holds the vector factor before).
bool type_suffix(std::string_view part, unsigned& factor, unsigned& bits) {
  unsigned n = 0;
  const bool x2 = part.size() > 2 && part.substr(part.size() - 2) == "x2";
  const std::string_view digits = part.substr(1, part.size() - 1 - (x2 ? 2 : 0));
  const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (r.ec != std::errc{} || r.ptr != digits.data() + digits.size()) return false;
  if (part[0] == 'v' && (n == 2 || n == 4 || n == 8)) {
    factor = n;
    return true;
  }
  if (std::string_view("busf").find(part[0]) == std::string_view::npos) return false;
  if (n != 8 && n != 16 && n != 32 && n != 64 && n != 128) return false;
  bits = n * (x2 ? 2 : 1);
  return true;
}

bool known_suffix(std::string_view part, Site& s) {
  if (s.kind == OpKind::control && apply_suffix(kControl, part, s)) return true;
  if (s.kind != OpKind::control && apply_suffix(kAccess, part, s)) return true;
  if (apply_suffix(kSuffixes, part, s)) return true;
  if (s.kind == OpKind::atomic)
    for (const std::string_view a : kAtomic)
      if (a == part) return true;
  return false;
}

}  // namespace

Site ptx_site(std::string_view text) {
  Site s;
  s.dialect = Dialect::ptx;
  s.text = text;
  if (!text.empty() && text[0] == '@')
    text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
  const size_t end = std::min(text.find_first_of(" \t;"), text.size());
  const std::vector<std::string_view> parts = split(text.substr(0, end), '.');
  if (parts.empty()) return s;
  for (const PtxOpcode& o : kPtxOpcodes)
    if (o.name == parts[0]) {
      s.kind = o.kind;
      s.control = o.control;
      s.space = Space::generic;
    }
  if (s.kind == OpKind::none) return s;
  unsigned factor = 1, bits = 32;
  for (size_t i = 1; i < parts.size(); ++i)
    if (!known_suffix(parts[i], s) && !type_suffix(parts[i], factor, bits))
      throw Error(ErrorKind::guest,
                  fmt::format("'{}': suffix .{} of {} is not known", text, parts[i], parts[0]));
  s.bytes = static_cast<uint16_t>(factor * bits / 8);
  if (s.kind == OpKind::fence && s.order == Order::weak)
    s.order = parts[0] == "membar" ? Order::seq_cst : Order::acq_rel;
  return s;
}

}  // namespace lanewise::trace
