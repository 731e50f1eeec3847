// Rules that the engine's events decide. Rules that look at single instructions or at the past of
// single bytes: hazards_watch.cpp.
#include "runtime/cache/hazards/hazards.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise::cache {
namespace {

unsigned first_byte(const Mask& m) {
  return m.lo != 0 ? static_cast<unsigned>(std::countr_zero(m.lo))
                   : 64 + static_cast<unsigned>(std::countr_zero(m.hi) & 63);
}

uint64_t value_at(const uint8_t* block, const Mask& m) {
  uint64_t v = 0;
  for (unsigned i = first_byte(m), n = 0; i < kBlockBytes && n < 8; ++i)
    if ((m & byte_range(i, 1)).any()) v |= uint64_t{block[i]} << (8 * n++);
  return v;
}

}  // namespace

Finding& Hazards::report(unsigned rule, Severity severity, const Access& a, uint32_t other_context,
                         const std::string& message, const std::string& fix) {
  const bool has_block = a.block != 0 || a.mask.any();
  if (has_block ? !engine_->owns(a.block) : !engine_->share().answers_for_the_rest())
    return elsewhere_ = Finding{};
  ++reports_;
  return report_to(findings_, engine_->moment(), rule, severity, a, other_context, message, fix);
}

Finding& Hazards::report_to(Findings& findings, Moment when, unsigned number, Severity severity,
                            const Access& a, uint32_t other_context, const std::string& message,
                            const std::string& fix) const {
  const Context here = facts_.context_of(a.context), there = facts_.context_of(other_context);
  auto [it, fresh] = findings.try_emplace({number, here.site, there.site});
  Finding& f = it->second;
  ++f.count;
  if (!fresh) {
    f.severity = std::min(f.severity, severity);
    return f;
  }
  f.rule = number;
  f.severity = severity;
  f.seen = when;
  f.site = here.site;
  f.other_site = there.site;
  f.context = a.context;
  f.other_context = other_context;
  f.where = here;
  f.other_where = there;
  f.address = a.block + (a.mask.any() ? first_byte(a.mask) : 0);
  f.bytes = a.mask.count();
  f.message = message;
  f.fix = fix;
  return f;
}

bool Hazards::values_equal(const StaleRead& s, Finding* f) {
  if (s.access.bytes == nullptr) return false;
  uint8_t now[kBlockBytes] = {}, seen[kBlockBytes] = {};
  for (unsigned i = 0; i < kBlockBytes; ++i)
    if ((s.bytes & byte_range(i, 1)).any()) now[i] = engine_->coherent_byte(s.access.block + i);
  engine_->cached_bytes(s.cache, s.access, s.line.address, seen);
  bool equal = true;
  for (unsigned i = 0; i < kBlockBytes; ++i)
    if ((s.bytes & byte_range(i, 1)).any()) equal = equal && now[i] == seen[i];
  if (f != nullptr) {
    f->has_values = true;
    f->value = value_at(seen, s.bytes);
    f->newest_value = value_at(now, s.bytes);
  }
  return equal;
}

void Hazards::fill_history(Finding& f, const StaleRead& s, const SectorState& newest) {
  const unsigned at = first_byte(s.bytes);
  f.address = s.access.block + at;
  f.bytes = s.bytes.count();
  f.version = s.history.version[at / 32];
  f.newest = newest.version();
  f.observed = engine_->moment();
  f.line_history = {fmt::format("filled {}", place(s.line.fill)),
                    fmt::format("written {}", place(newest.writer())),
                    fmt::format("read {}: still resident in {}, never invalidated",
                                place(s.access.context), name(s.cache))};
  values_equal(s, &f);
}

void Hazards::stale_read(const StaleRead& s) {
  const uint64_t address = s.access.block + first_byte(s.bytes);
  const SectorState newest = engine_->sector(address);
  // The same bytes were written again: who reads them sees no difference.
  if (s.access.bytes != nullptr && values_equal(s, nullptr)) return;
  const trace::Site& site = facts_.site_of(facts_.context_of(s.access.context).site);
  unsigned number = 1;
  std::string message = fmt::format("reads version {} of the sector, version {} has been written",
                                    s.history.version[first_byte(s.bytes) / 32] & 0x3fffff,
                                    static_cast<uint32_t>(newest.version()));
  std::string fix = fresh_load_fix(site);
  const uint32_t narrow =
      s.access.sm < narrow_fences_.size() ? narrow_fences_[s.access.sm] : kNoContext;
  const bool between = narrow != kNoContext && s.line.fill != kNoContext && narrow > s.line.fill;
  if (s.cache == Cache::constant || s.cache == Cache::constant15 || s.cache == Cache::instruction ||
      s.cache == Cache::instruction15) {
    number = 15;
    const bool code = s.cache == Cache::instruction || s.cache == Cache::instruction15;
    fix = site.dialect == trace::Dialect::gcn ? "s_icache_inv after the store"
          : code                              ? "CCTL.I.IVALL after the store"
                                              : "CCTL.C.IVALL after the store";
  } else if (s.cache == Cache::scalar) {
    number = 16;
    fix = "s_dcache_inv before the scalar load, or a vector load";
  } else if (s.cache == Cache::l2) {
    fix = "a load with .cv, .volatile or system scope: the line is a copy of host memory";
  } else if (s.plan->row->path == Path::read_only) {
    number = 3;
    fix = "no const __restrict__ / __ldg: a plain or .cg load, for this data is not read-only";
  } else if (s.plan->probe == Probe::no_fill || s.plan->probe == Probe::cg) {
    number = 4;
    fix =
        "an invalidation (acquire, CCTL.IVALL) or ld.relaxed.gpu: not allocating does not skip "
        "an older line";
  } else if (between || (site.scope == ir::Scope::cta && site.order != ir::Order::weak)) {
    number = 5;
    fix = "gpu scope: the writer is on another SM";
    message += between ? fmt::format("; the fence {} has CTA scope", place(narrow))
                       : std::string("; the load has CTA scope");
  }
  Finding& f = report(number, Severity::error, s.access, newest.writer(), message, fix);
  if (f.line_history.empty()) fill_history(f, s, newest);
}

void Hazards::lost(Loss loss, const Access& cause, const Line& line, const Mask& bytes) {
  watching_ = true;
  if (!engine_->owns(block_of(line.address))) return;
  Note& note = notes_[block_of(line.address)];
  note.cause = cause.context;
  note.owner = line.write;
  if (loss == Loss::last_use) {
    note.dropped |= bytes;
    return;
  }
  if (loss == Loss::discard) return;  // by contract; reading them again is H6
  note.lost |= bytes;
  Access a = cause;
  a.block = block_of(line.address);
  a.mask = bytes;
  const bool scalar = loss == Loss::scalar_invalidate;
  Finding& f = report(2, Severity::warning, a, line.write,
                      fmt::format("{} dirty bytes are dropped without a write back", bytes.count()),
                      scalar ? "s_dcache_wb before s_dcache_inv"
                             : "CCTL.IV (writes back first) or CCTL.WB before CCTL.RS");
  if (!f.line_history.empty()) return;
  f.observed = engine_->moment();
  f.line_history = {fmt::format("written {}", place(line.write)),
                    fmt::format("dropped {}", place(cause.context))};
}

void Hazards::evicted(Cache c, const Line& line, Priority p, uint32_t context) {
  Access a;
  a.block = block_of(line.address);
  a.mask = line.valid;
  a.context = context == kNoContext ? line.fill : context;
  if ((line.flags & kPrefetched) != 0) {
    a.context = line.fill;
    report(11, Severity::advice, a, kNoContext, "the prefetched line was never used",
           "no prefetch, or an earlier one of data that is used");
  }
  const bool at_end = context == kNoContext;
  if (c == Cache::l1 && at_end && line.dirty.any() && (line.flags & kCallStack) != 0) {
    a.context = line.write;
    report(13, Severity::warning, a, kNoContext,
           "CCTLL.CRS.WBALL put the call return stack into L1, from where nothing pushed it on",
           "CCTLL.IVALL after CCTLL.CRS.WBALL");
  } else if (c == Cache::l1 && at_end && line.dirty.any() && (line.flags & kWrittenBack) != 0) {
    a.context = line.write;
    report(13, Severity::warning, a, kNoContext,
           "the line was written to again after its write back, and not written back since",
           "CCTL.WB after the last store to the line");
  }
  if (c == Cache::l2 && p == Priority::last && !at_end) {
    a.context = context;
    report(8, Severity::advice, a, line.fill,
           "an evict_last line was evicted: its set is full of them",
           "evict_last on a smaller part of the data (createpolicy.fractional)");
  }
  if (c == Cache::l2 && p == Priority::first && !at_end) {
    left_early(line.address);
    watching_ = true;
  }
}

void Hazards::partial_write_back(const Line& line, unsigned sectors) {
  Access a;
  a.block = block_of(line.address);
  a.mask = line.dirty.any() ? line.dirty : line.valid;
  a.context = line.write;
  Finding& f = report(9, Severity::advice, a, kNoContext,
                      "sectors leave L2 partly written: memory must read, merge and write",
                      "pack the stores, or use vector stores, so that whole 32-byte sectors fill");
  f.count += sectors - 1;
}

void Hazards::priority_refused(const Access& a) {
  report(8, Severity::advice, a, kNoContext,
         "evict_last lines exceed the set-aside: this one entered as normal",
         "a smaller fraction (createpolicy.fractional), about set-aside / footprint");
}

void Hazards::useless_control(const Access& a, Effect, const char* why) {
  report(11, Severity::advice, a, kNoContext, why, "remove the instruction");
}

Findings Hazards::all_findings() const {
  Findings so_far = findings_;
  if (!is_part()) judge_sharing(so_far);
  return so_far;
}

std::vector<Finding> to_report(const Findings& findings, const Preset& preset) {
  std::vector<Finding> all;
  for (const auto& [key, f] : findings) {
    if (f.rule == 9 && f.count < preset.knobs.partial_write_limit) continue;
    all.push_back(f);
    if (f.read) all.back().line_history.push_back(f.read_history);
  }
  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
    return std::tuple(a.severity, b.count) < std::tuple(b.severity, a.count);
  });
  return all;
}

}  // namespace lanewise::cache
