// Several short launches in one submission: what a submission and its fence cost is paid once.
#include <algorithm>

#include "runtime/guest/ended.hpp"
#include "runtime/vulkan/launch/dispatch.hpp"

namespace lanewise::vulkan {
namespace {

constexpr size_t kMostTogether = 64;
/// By what each took when it ran last. So long does the first of them wait for the others, at most.
constexpr double kMostMilliseconds = 8;
/// Every launch has a list of allocations of its own.
constexpr size_t kMostAllocations = 4096;

double expected_ms(const Batched& c) {
  return c.kernel->ms_per_group * static_cast<double>(c.request->grid.total());
}

/// What ends a launch from outside would end its batched, and traced ones have work between
/// their chunks.
bool may_share(const Batched& c) {
  const LaunchRequest& r = *c.request;
  return c.kernel->dispatched && c.kernel->ms_per_group >= 0 && r.events == nullptr &&
         r.cancel == nullptr && r.timeout_seconds == 0 && r.allocations.size() <= kMostAllocations;
}

/// Nobody sees how long each took, so each is assumed to have taken what was expected of it, scaled
/// to the time they took in all.
void share_time(std::span<const Batched> launches, double took, std::span<LaunchResult> results) {
  double expected = 0;
  for (const Batched& c : launches) expected += expected_ms(c);
  const double scale = expected > 0 ? took / expected : 0;
  for (size_t i = 0; i < launches.size(); ++i)
    results[i].times.dispatch_ms = expected_ms(launches[i]) * scale;
  // What is expected next time; a kernel of several of the launches has one of their figures.
  for (size_t i = 0; i < launches.size(); ++i)
    launches[i].kernel->ms_per_group =
        results[i].times.dispatch_ms / static_cast<double>(launches[i].request->grid.total());
}

}  // namespace

size_t Dispatcher::that_fit_together(std::span<const Batched> launches) {
  double expected = 0;
  size_t count = 0;
  for (const Batched& c : launches.first(std::min(launches.size(), kMostTogether))) {
    if (!may_share(c) || (expected += expected_ms(c)) > kMostMilliseconds) break;
    if (count == slots_.size()) slots_.emplace_back(device_, pipelines_);
    const uint64_t most = prepare_backing(slots_[count], *c.request, *c.kernel);
    ChunkPlan plan(c.request->grid, device_.facts().max_groups);
    if (plan.done()) break;
    plan.next(std::min(most, first_chunk_groups(*c.kernel)));
    if (!plan.done()) break;
    ++count;
  }
  return count;
}

std::vector<LaunchResult> Dispatcher::run_together(std::span<const Batched> launches) {
  const auto start = Clock::now();
  for (size_t i = 0; i < launches.size(); ++i)
    prepare(slots_[i], *launches[i].request, *launches[i].kernel, launches[i].bounds);
  std::vector<Dispatch> dispatches;
  dispatches.reserve(launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    const auto& [request, kernel, bounds] = launches[i];
    const Dim3& grid = request->grid;
    dispatches.push_back({&slots_[i], request, kernel, {{0, 0, 0}, {grid.x, grid.y, grid.z}}});
  }
  submit(dispatches);
  while (device_.wait(Clock::now() + kPoll) != Wait::done)
    for (const LaunchSlot& slot : std::span(slots_).first(launches.size())) slot.end_if_asked();

  std::vector<LaunchResult> results(launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    const Batched& c = launches[i];
    results[i].wave_mode = c.kernel->module.wave_mode;
    results[i].wave_reason = c.kernel->module.wave_reason;
    decode(slots_[i], *c.request, *c.kernel, c.bounds, results[i]);
  }
  share_time(launches, milliseconds(Clock::now() - start), results);
  return results;
}

}  // namespace lanewise::vulkan
