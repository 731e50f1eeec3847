// Rules about single instructions (H10, H12, H17, H18) and about the past of single bytes
// (H2 when read, H3 contract, H6, H7).
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/hazards/hazards.hpp"

namespace lanewise::cache {

using trace::OpKind;
using trace::Space;

namespace {

std::string_view hint_fault(const trace::Site& s) {
  const bool global = s.space == Space::global || s.space == Space::generic;
  if (s.hinted && !global) return "an L2 cache hint on an access that is not global";
  if (s.hinted && s.policy != trace::kPolicyAtRunTime && !decode_policy(s.policy).known)
    return "the policy operand is no word that createpolicy makes";
  const bool l2 = s.l2 != ir::EvictPriority::none;
  if (s.dialect == trace::Dialect::ptx && l2 && s.kind == OpKind::store && s.bytes != 32)
    return ".L2::evict_* on a store needs .v8 of 32 bits or .v4 of 64 bits";
  const bool by_line =
      s.control == trace::ControlOp::demote_normal || s.control == trace::ControlOp::discard;
  if (s.kind == OpKind::control && by_line && !global)
    return "applypriority and discard work on global addresses only";
  return {};
}

}  // namespace

void Hazards::first_execution(const trace::Site& s, uint32_t, const Plan* plan, const Access& a) {
  if (s.kind == OpKind::control) {
    if (const std::string_view fault = encoding_fault(s); !fault.empty())
      report(12, Severity::error, a, kNoContext, std::string(fault), "a legal encoding");
    else if (find_control(s, s.space == Space::generic ? Space::global : s.space) == nullptr &&
             hint_fault(s).empty())
      report(12, Severity::error, a, kNoContext, "this combination is not defined",
             "an operation that the cache has");
  }
  if (const std::string_view fault = hint_fault(s); !fault.empty())
    report(10, Severity::warning, a, kNoContext, std::string(fault),
           "see the PTX ISA on cache eviction priority hints");
  if (s.hinted && s.policy == trace::kPolicyAtRunTime)
    report(10, Severity::advice, a, kNoContext,
           "the L2 policy word is not known: it counts as evict_normal",
           "at most 4096 words in a launch; in a trace from elsewhere, the word of the site");
  if (s.hinted || s.l2 == ir::EvictPriority::first ||
      (plan != nullptr && (plan->l2_class == Class::first || (plan->flags & kStream) != 0)))
    watch_evictions();
  const bool loose = s.emitted == trace::Emitted::plain || s.emitted == trace::Emitted::volatile_;
  if (s.kind == OpKind::load && loose && plan != nullptr && (plan->flags & kReliesOnBypass) != 0)
    report(18, Severity::error, a, kNoContext,
           fmt::format("the guest bypasses its L1 here, the translation is a {} load, which a host "
                       "GPU may serve from its L1",
                       s.emitted == trace::Emitted::plain ? "plain" : "Volatile"),
           "an atomic load, or MakePointerVisible of the Vulkan memory model");
}

void Hazards::kernel_begin(uint32_t first_context) {
  kernel_end();  // of a kernel that did not say so
  first_context_ = first_context;
  ++kernels_;
  narrow_fences_.clear();
}

void Hazards::fence(const trace::Site& s, uint32_t sm, uint32_t context) {
  if (s.scope != ir::Scope::cta) return;
  if (narrow_fences_.size() <= sm) narrow_fences_.resize(sm + 1, kNoContext);
  narrow_fences_[sm] = context;
}

void Hazards::control_in_space(const trace::Site& s, Space space, const Access& a) {
  if (s.dialect != trace::Dialect::sass || s.space != Space::generic) return;
  if (space == Space::shared)
    report(17, Severity::warning, a, kNoContext,
           "CCTL.D with an address in the shared window: no cache holds it", "a global address");
  if (space == Space::local)
    report(17, Severity::warning, a, kNoContext,
           "CCTL.D with an address in the local window works on a local line",
           "CCTLL with a local address, when that is meant");
}

void Hazards::misaligned_control(const Access& a, uint64_t address) {
  Access at = a;
  at.block = block_of(address);
  at.mask = byte_range(static_cast<unsigned>(address - at.block), 1);
  report(10, Severity::warning, at, kNoContext, "the address is not aligned to 128 bytes",
         "an address that is a multiple of 128");
}

void Hazards::undefined_buffer(uint64_t address, uint64_t size) {
  undefined_.emplace_back(address, address + size);
  watching_ = true;
}

void Hazards::asked(const Plan& plan, const Access& a) {
  if (plan.row->kind == OpKind::store)
    before_store(plan, a);
  else
    before_load(plan, a);
}

void Hazards::before_load(const Plan& plan, const Access& a) {
  if (!engine_->owns(a.block)) return;
  if (!early_.empty()) check_early_eviction(a);
  if (watch_read_only_ && plan.row->path == Path::read_only) check_read_only_load(a);
  if (const auto it = notes_.find(a.block); it != notes_.end()) check_note(it->second, a);
  for (const auto& [begin, end] : undefined_) {
    if (a.block + kBlockBytes <= begin || a.block >= end) continue;
    Mask inside = a.mask;
    if (a.block < begin)
      inside = without(inside, byte_range(0, static_cast<unsigned>(begin - a.block)));
    if (a.block + kBlockBytes > end) {
      const auto keep = static_cast<unsigned>(end - a.block);
      inside = without(inside, byte_range(keep, static_cast<unsigned>(kBlockBytes) - keep));
    }
    Note& note = notes_[a.block];
    if (const Mask unwritten = without(inside, note.written); unwritten.any()) {
      Access at = a;
      at.mask = unwritten;
      report(6, Severity::error, at, kNoContext, "the bytes were never written",
             "write the buffer before it is read");
    }
  }
}

/// The warning about the loss becomes an error: somebody wanted these bytes.
void Hazards::lost_bytes_read(const Note& note, const Access& a) {
  const auto it = findings_.find({2, site_at(note.cause), site_at(note.owner)});
  if (it == findings_.end()) return;
  Finding& f = it->second;
  f.severity = Severity::error;
  if (f.read) return;
  f.read = engine_->moment();
  f.read_history = fmt::format("read {}: gets what was there before", place(a.context));
}

void Hazards::check_note(Note& note, const Access& a) {
  Access at = a;
  at.mask = a.mask & note.lost;
  if (at.mask.any()) lost_bytes_read(note, at);
  at.mask = a.mask & note.undefined;
  if (at.mask.any())
    report(6, Severity::error, at, note.cause, "the bytes were discarded and not written since",
           "write the line before it is read, or no discard");
  at.mask = a.mask & note.dropped;
  if (at.mask.any())
    report(7, Severity::warning, at, note.cause,
           "a .lu load has declared that these bytes are not needed again",
           "a plain load instead of .lu");
}

void Hazards::check_read_only_load(const Access& a) {
  ReadOnlyUse& use = engine_->read_only_use(a.block, kernels_);
  Access at = a;
  at.mask = a.mask & use.written;
  if (at.mask.any())
    report(3, Severity::warning, at, use.writer,
           "a read-only load of bytes that this kernel writes: the path is not coherent",
           "no const __restrict__ / __ldg: a plain load");
  use.read |= a.mask;
  use.reader = a.context;
}

void Hazards::before_store(const Plan& plan, const Access& a) {
  if (!engine_->owns(a.block)) return;
  if (watch_read_only_ && !plan.local) {
    ReadOnlyUse& use = engine_->read_only_use(a.block, kernels_);
    Access at = a;
    at.mask = a.mask & use.read;
    if (at.mask.any())
      report(3, Severity::warning, at, use.reader,
             "writes bytes that this kernel reads through the read-only path",
             "no const __restrict__ / __ldg: a plain load");
    use.written |= a.mask;
    use.writer = a.context;
  }
  const auto it = notes_.find(a.block);
  if (it == notes_.end()) {
    if (!undefined_.empty()) notes_[a.block].written = a.mask;
    return;
  }
  Note& n = it->second;
  n.lost = without(n.lost, a.mask);
  n.undefined = without(n.undefined, a.mask);
  n.dropped = without(n.dropped, a.mask);
  n.written |= a.mask;
}

void Hazards::discarded(const Access& a) {
  watching_ = true;
  if (!engine_->owns(a.block)) return;
  Note& n = notes_[a.block];
  n.undefined = ~Mask{};
  n.cause = a.context;
}

void Hazards::host_write(uint64_t address, uint64_t size) {
  if (size == 0) return;
  const uint64_t end = address + size;
  const auto clear = [&](uint64_t block, Note& n) {
    const uint64_t from = std::max(address, block), to = std::min(end, block + kBlockBytes);
    if (from >= to) return;
    const Mask m =
        byte_range(static_cast<unsigned>(from - block), static_cast<unsigned>(to - from));
    n.lost = without(n.lost, m);
    n.undefined = without(n.undefined, m);
    n.written |= m;
  };
  for (auto& [block, note] : notes_) clear(block, note);
  for (const auto& [begin, stop] : undefined_)
    for (uint64_t block = block_of(std::max(begin, address)); block < std::min(stop, end);
         block += kBlockBytes)
      if (engine_->owns(block)) clear(block, notes_[block]);
}

void Hazards::host_read(uint64_t address, uint64_t size, uint32_t context) {
  std::vector<uint64_t> blocks;
  for (const auto& [block, note] : notes_)
    if (block + kBlockBytes > address && block < address + size) blocks.push_back(block);
  std::sort(blocks.begin(), blocks.end());  // the first one is reported
  engine_->tick();
  for (const uint64_t block : blocks) {
    engine_->at_place(block);
    Access a;
    a.block = block;
    const uint64_t from = std::max(address, block),
                   to = std::min(address + size, block + kBlockBytes);
    a.mask = byte_range(static_cast<unsigned>(from - block), static_cast<unsigned>(to - from));
    a.context = context;
    check_note(notes_[block], a);
  }
  engine_->tick();
}

}  // namespace lanewise::cache
