#include "runtime/cache/chase/target.hpp"
#include "runtime/cache/engine/engine.hpp"

namespace lanewise::cache {
namespace {

constexpr double kL1 = 1, kL2 = 8, kMemory = 32;
constexpr unsigned kWarm = 6, kTimed = 6;  ///< rounds
constexpr unsigned kLongWarm = 1, kLongTimed = 1;

class Modelled final : public ChaseTarget {
 public:
  explicit Modelled(const Preset& preset) : preset_(preset) {}

  uint64_t bytes() const override { return uint64_t{1} << 40; }
  unsigned warm_rounds() const override { return kWarm; }
  unsigned timed_rounds() const override { return kTimed; }
  double noise() const override { return 0; }
  std::string unit() const override { return "units of the model"; }

  double time(ChaseWay way, std::span<const uint64_t> round) override {
    constexpr ir::CacheOp kOps[] = {ir::CacheOp::ca, ir::CacheOp::nc, ir::CacheOp::cg};
    // L2 of an earlier round would disturb policies that keep what is old; L1 starts empty
    // with each kernel.
    if (engine_ == nullptr || way == ChaseWay::l2 || !preset_.knobs.l1_invalidated_at_kernel_begin)
      engine_ = std::make_unique<Engine>(preset_, nullptr);
    Engine& engine = *engine_;
    trace::Site site;
    site.kind = trace::OpKind::load;
    site.op = kOps[static_cast<size_t>(way)];
    const Plan plan = engine.plan(site, trace::Space::global);
    SiteCounters counters;
    engine.set_site(&counters);
    engine.kernel_begin(0);
    const bool lengthy = round.size() > kShortRound;
    const auto once = [&] {
      for (const uint64_t offset : round) {
        const uint64_t address = kBase + offset;
        Access a;
        a.block = address & ~(kBlockBytes - 1);
        a.mask = byte_range(static_cast<unsigned>(address % kBlockBytes), 4);
        engine.run(plan, a);
      }
    };
    for (unsigned i = 0; i < (lengthy ? kLongWarm : kWarm); ++i) once();
    const SiteCounters before = counters;
    const unsigned timed = lengthy ? kLongTimed : kTimed;
    for (unsigned i = 0; i < timed; ++i) once();
    const double memory = static_cast<double>(counters.l2_misses - before.l2_misses);
    const double l2 = static_cast<double>(counters.l2_hits - before.l2_hits);
    const double loads = static_cast<double>(round.size() * timed);
    return ((loads - memory - l2) * kL1 + l2 * kL2 + memory * kMemory) / loads;
  }

 private:
  static constexpr uint64_t kBase = uint64_t{1} << 41;
  Preset preset_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

std::unique_ptr<ChaseTarget> modelled_target(const Preset& preset) {
  return std::make_unique<Modelled>(preset);
}

}  // namespace lanewise::cache
