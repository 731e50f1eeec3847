// What an access asks of the caches, in words, from the dialect tables of the cache tracker.
#include <fmt/format.h>

#include "lanewise/error.hpp"
#include "runtime/cache/dialects/dialect.hpp"
#include "runtime/explain/report.hpp"
#include "runtime/support/beside.hpp"
#include "runtime/trace/site_text.hpp"

namespace lanewise::explain {
namespace {

using cache::Class;
using cache::Effect;
using cache::Path;
using cache::Probe;

std::string_view words(Path p) {
  static constexpr std::pair<Path, std::string_view> kWords[] = {
      {Path::none, "no cache"},
      {Path::data, "the first-level data cache"},
      {Path::read_only, "the read-only cache"},
      {Path::constant, "the constant cache"},
      {Path::instruction, "the instruction cache"},
      {Path::scalar, "the scalar cache"},
      {Path::call_stack, "the call-stack cache"},
  };
  static_assert(std::size(kWords) == static_cast<size_t>(Path::call_stack) + 1);
  return beside(kWords, p);
}

std::string_view words(Probe p) {
  static constexpr std::pair<Probe, std::string_view> kWords[] = {
      {Probe::normal, "hit or fill"},
      {Probe::no_fill, "hit, or read through without filling"},
      {Probe::cg, "passed by, cached in L2 only"},
      {Probe::glc, "passed by (glc)"},
      {Probe::drop, "passed by, a matching line is invalidated"},
  };
  static_assert(std::size(kWords) == static_cast<size_t>(Probe::drop) + 1);
  return beside(kWords, p);
}

std::string_view words(Class c) {
  static constexpr std::pair<Class, std::string_view> kWords[] = {
      {Class::first, "evict first"},
      {Class::last, "evict last"},
      {Class::unchanged, "eviction order unchanged"},
  };
  return beside(kWords, c);
}

std::string_view words(Effect e) {
  static constexpr std::pair<Effect, std::string_view> kWords[] = {
      {Effect::none, "nothing is defined"},
      {Effect::illegal, "illegal"},
      {Effect::prefetch_l1, "the line is brought into L1"},
      {Effect::prefetch_l2, "the line is brought into L2"},
      {Effect::prefetch_l2_last, "the line is brought into L2 and evicted last"},
      {Effect::prefetch_l2_normal, "the line is brought into L2 with normal priority"},
      {Effect::prefetch_l15, "the line is brought into L1.5"},
      {Effect::write_back_line, "the line is written back"},
      {Effect::invalidate_line, "the line is written back and invalidated"},
      {Effect::reset_line, "the line is invalidated, dirty bytes are lost"},
      {Effect::invalidate_global, "every global line of this L1 is invalidated"},
      {Effect::invalidate_local, "every local line of this L1 is written back and invalidated"},
      {Effect::invalidate_vector, "every line of this vector L1 is invalidated"},
      {Effect::invalidate_read_only, "the read-only cache is invalidated"},
      {Effect::invalidate_constant, "the constant cache is invalidated"},
      {Effect::invalidate_instruction, "the instruction cache is invalidated"},
      {Effect::invalidate_scalar, "the scalar cache is invalidated, dirty bytes are lost"},
      {Effect::write_back_scalar, "the scalar cache is written back"},
      {Effect::write_back_call_stack, "the call stack is written back"},
      {Effect::demote, "the line's L2 priority becomes normal"},
      {Effect::discard, "the line leaves L2 without being written back"},
      {Effect::cctl_u_all, "CCTL.U.IVALL: deprecated, by the preset"},
  };
  static_assert(std::size(kWords) == static_cast<size_t>(Effect::cctl_u_all) + 1);
  return beside(kWords, e);
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
