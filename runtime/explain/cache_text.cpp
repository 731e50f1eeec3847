// What an access asks of the caches, in words, from the dialect tables of the cache tracker.
#include <fmt/format.h>

#include "lanewise/error.hpp"
#include "runtime/cache/dialects/dialect.hpp"
#include "runtime/explain/report.hpp"
#include "runtime/trace/site_text.hpp"

namespace lanewise::explain {
namespace {

using cache::Class;
using cache::Effect;
using cache::Path;
using cache::Probe;

std::string_view words(Path p) {
  switch (p) {
    case Path::none:
      return "no cache";
    case Path::data:
      return "the first-level data cache";
    case Path::read_only:
      return "the read-only cache";
    case Path::constant:
      return "the constant cache";
    case Path::instruction:
      return "the instruction cache";
    case Path::scalar:
      return "the scalar cache";
    case Path::call_stack:
      return "the call-stack cache";
  }
  return "";
}

std::string_view words(Probe p) {
  switch (p) {
    case Probe::normal:
      return "hit or fill";
    case Probe::no_fill:
      return "hit, or read through without filling";
    case Probe::cg:
      return "passed by, cached in L2 only";
    case Probe::glc:
      return "passed by (glc)";
    case Probe::drop:
      return "passed by, a matching line is invalidated";
  }
  return "";
}

std::string_view words(Class c) {
  switch (c) {
    case Class::normal:
      return "";
    case Class::first:
      return "evict first";
    case Class::last:
      return "evict last";
    case Class::unchanged:
      return "eviction order unchanged";
  }
  return "";
}

std::string_view words(Effect e) {
  switch (e) {
    case Effect::none:
      return "nothing is defined";
    case Effect::illegal:
      return "illegal";
    case Effect::prefetch_l1:
      return "the line is brought into L1";
    case Effect::prefetch_l2:
      return "the line is brought into L2";
    case Effect::prefetch_l2_last:
      return "the line is brought into L2 and evicted last";
    case Effect::prefetch_l2_normal:
      return "the line is brought into L2 with normal priority";
    case Effect::prefetch_l15:
      return "the line is brought into L1.5";
    case Effect::write_back_line:
      return "the line is written back";
    case Effect::invalidate_line:
      return "the line is written back and invalidated";
    case Effect::reset_line:
      return "the line is invalidated, dirty bytes are lost";
    case Effect::invalidate_global:
      return "every global line of this L1 is invalidated";
    case Effect::invalidate_local:
      return "every local line of this L1 is written back and invalidated";
    case Effect::invalidate_vector:
      return "every line of this vector L1 is invalidated";
    case Effect::invalidate_read_only:
      return "the read-only cache is invalidated";
    case Effect::invalidate_constant:
      return "the constant cache is invalidated";
    case Effect::invalidate_instruction:
      return "the instruction cache is invalidated";
    case Effect::invalidate_scalar:
      return "the scalar cache is invalidated, dirty bytes are lost";
    case Effect::write_back_scalar:
      return "the scalar cache is written back";
    case Effect::write_back_call_stack:
      return "the call stack is written back";
    case Effect::demote:
      return "the line's L2 priority becomes normal";
    case Effect::discard:
      return "the line leaves L2 without being written back";
    case Effect::cctl_u_all:
      return "CCTL.U.IVALL: deprecated, by the preset";
  }
  return "";
}

std::string access_words(const cache::Row& r, bool load) {
  std::string out = fmt::format("{}: ", r.id);
  if (r.path == Path::none) return out + "no cache";
  out += words(r.path);
  if (load) {
    out += fmt::format(", {}", words(r.probe));
  } else if (r.store == cache::StoreRule::evict) {
    out += ", a matching line is invalidated";
  } else if (r.store == cache::StoreRule::write_back) {
    out += ", stays there dirty";
  }
  if (r.l1_class != Class::normal) out += fmt::format("; there {}", words(r.l1_class));
  if (r.l2_class != Class::normal) out += fmt::format("; in L2 {}", words(r.l2_class));
  if ((r.flags & cache::kUncached) != 0) out += "; no cache keeps it";
  if ((r.flags & cache::kAcquire) != 0) out += "; then this L1's global lines are invalidated";
  if ((r.flags & cache::kLastUse) != 0) out += "; last use, need not be written back";
  return out;
}

}  // namespace

std::string cache_text(ir::Isa isa, const std::string& text) {
  try {
    const trace::Site site = trace::site_from_text(static_cast<trace::Dialect>(isa), text);
    if (site.kind == trace::OpKind::none) return {};
    if (site.kind == trace::OpKind::control) {
      if (const auto fault = cache::encoding_fault(site); !fault.empty())
        return fmt::format("illegal encoding: {}", fault);
      const cache::ControlRow* row = cache::find_control(site, site.space);
      return row == nullptr ? std::string() : fmt::format("{}: {}", row->id, words(row->effect));
    }
    const cache::Row* row = cache::find_row(site, site.space);
    return row == nullptr ? std::string() : access_words(*row, site.kind == trace::OpKind::load);
  } catch (const Error&) {
    return {};  // the tracker does not know this instruction: it moves no bytes of a cache
  }
}

}  // namespace lanewise::explain
