#include "runtime/reference/sync/watch.hpp"

namespace lanewise::reference {

void SyncWatch::add(Fault fault, Sync sync) {
  uint32_t other = ir::kNone;
  for (const Sync::Place& p : sync.places)
    if (p.site != fault.site && other == ir::kNone) other = p.site;
  const auto [at, is_new] = known_.try_emplace({sync.kind, fault.site, other}, found_.size());
  if (!is_new) {
    ++syncs_[at->second]->times;
    return;
  }
  syncs_.push_back(std::make_shared<Sync>(std::move(sync)));
  fault.sync = syncs_.back();
  found_.push_back(std::move(fault));
}

void SyncWatch::collect(LaunchResult& result) const {
  result.fault_count += found_.size();
  // In front: what lanes did wrong may follow from it.
  result.faults.insert(result.faults.begin(), found_.begin(), found_.end());
  if (result.faults.size() > kMaxFaults) result.faults.resize(kMaxFaults);
}

}  // namespace lanewise::reference
