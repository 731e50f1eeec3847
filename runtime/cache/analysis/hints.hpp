// Hints and cache operators of an instruction, and a trace without them.
#pragma once

#include <string>

#include "runtime/trace/event.hpp"

namespace lanewise::cache {

/// What the instruction asks of the caches beyond its access, as the guest spells it: ".cg",
/// "L1::evict_first, policy last 8/16, else first", "glc slc", "prefetch". Empty for a plain
/// access, and for what is no hint because programs rely on it: orders and scopes, fences,
/// invalidations and write backs (CCTL, BUFFER_WBINVL1, S_DCACHE_*).
std::string hints_of(const trace::Site& site);

/// The instruction as if it had none. A prefetch, a demotion or a discard does nothing then.
trace::Site without_hints(trace::Site site);

/// Hands a trace on as if no instruction had hints, and without access policy windows. Waves keep
/// their numbers.
class WithoutHints final : public trace::Sink {
 public:
  explicit WithoutHints(trace::Sink& to) : to_(to) {}
  void kernel(const trace::Kernel& k) override { to_.kernel(k); }
  void site(const trace::Site& s) override { to_.site(without_hints(s)); }
  void buffer(const trace::Buffer& b) override { to_.buffer(b); }
  void event(const trace::Event& e) override {
    if (e.kind != trace::EventKind::policy_window && e.kind != trace::EventKind::end_of_window)
      to_.event(e);
  }
  void waves(std::span<const trace::StridedWave> waves) override { to_.waves(waves); }
  void finish() override { to_.finish(); }

 private:
  trace::Sink& to_;
};

}  // namespace lanewise::cache
