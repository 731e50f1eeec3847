#include "runtime/reference/schedule/search.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/reference/schedule/store_log.hpp"

namespace lanewise::reference {
namespace {

constexpr size_t kMostWords = size_t{1} << 16;

class Snapshot {
 public:
  explicit Snapshot(std::span<const Area> areas) : areas_(areas) {
    for (const Area& a : areas_) copies_.emplace_back(a.data, a.data + a.bytes);
  }
  void restore() const {
    for (size_t n = 0; n < areas_.size(); ++n)
      if (areas_[n].bytes != 0) std::memcpy(areas_[n].data, copies_[n].data(), copies_[n].size());
  }
  /// Calls with each byte that differs from now.
  template <typename Visit>
  void each_difference(Visit visit) const {
    constexpr size_t kBlock = 4096;
    for (size_t n = 0; n < areas_.size(); ++n) {
      const Area& a = areas_[n];
      for (size_t at = 0; a.is_result && at < a.bytes; at += kBlock) {
        const size_t bytes = std::min(kBlock, a.bytes - at);
        if (std::memcmp(a.data + at, &copies_[n][at], bytes) == 0) continue;
        for (size_t i = at; i < at + bytes; ++i)
          if (a.data[i] != copies_[n][i]) visit(a, i);
      }
    }
  }

 private:
  std::span<const Area> areas_;
  std::vector<std::vector<std::byte>> copies_;
};

class Search {
 public:
  Search(const LaunchRequest& request, const guest::Schedule& schedule, std::span<const Area> areas,
         const RunInOrder& run)
      : schedule_(schedule), groups_(request.grid.total()), run_(run), before_(areas) {
    first_ = run_seed(0);
    if (first_.fault_count != 0) return;
    const Snapshot result(areas);
    for (uint64_t seed = 1; seed < schedule_.number && first_.fault_count == 0; ++seed)
      try_order(seed, result);
    result.restore();
  }

  LaunchResult take() { return std::move(first_); }

 private:
  LaunchResult run_seed(uint64_t seed, StoreLog* log = nullptr) const {
    Orders orders(seed, groups_, schedule_.weak);
    orders.log = log;
    return run_(orders);
  }

  void try_order(uint64_t seed, const Snapshot& result) {
    before_.restore();
    LaunchResult now = run_seed(seed);
    OrderDependence found = names(seed);
    if (now.fault_count != 0) {
      const auto why = std::make_shared<const OrderDependence>(std::move(found));
      for (Fault& f : now.faults) f.order = why;
      first_.faults = std::move(now.faults);
      first_.fault_count = now.fault_count;
      return;
    }
    std::vector<const std::byte*> words;
    result.each_difference([&](const Area& a, size_t i) {
      ++found.bytes;
      const std::byte* word = a.data + i - ((a.address + i) & 3);
      if (words.size() < kMostWords && (words.empty() || words.back() != word))
        words.push_back(word);
    });
    if (words.empty()) return;
    std::ranges::sort(words, std::less<>());
    explain(seed, words, std::move(found));
  }

  OrderDependence names(uint64_t seed) const {
    OrderDependence out;
    out.schedule = guest::name_of_order(seed, schedule_.weak);
    out.first = guest::name_of_order(0, schedule_.weak);
    out.orders = seed + 1;
    return out;
  }

  /// Both orders once more, with their stores to the words that differ.
  void explain(uint64_t seed, const std::vector<const std::byte*>& words, OrderDependence found) {
    StoreLog first(words), second(words);
    before_.restore();
    run_seed(0, &first);
    before_.restore();
    run_seed(seed, &second);
    Parting parting = first_parting(first, second);
    if (parting.store == nullptr) {  // the first order alone stores there
      std::swap(parting.store, parting.other);
      std::swap(found.schedule, found.first);
    }
    Fault fault{.kind = FaultKind::order_dependent};
    if (const LoggedStore* s = parting.store; s != nullptr) {
      fault.site = s->site;
      std::ranges::copy(s->group, fault.group);
      fault.lane = s->lane;
      fault.address = s->address;
      fault.size = sizeof s->value;
      found.access = s->access;
      found.after = s->value;
    }
    if (const LoggedStore* s = parting.other; s != nullptr) {
      found.has_other = true;
      found.other_access = s->access;
      found.other_site = s->site;
      std::ranges::copy(s->group, found.other_group);
      found.other_lane = s->lane;
      found.before = s->value;
    } else if (parting.store != nullptr) {
      found.before = value_before(parting.store->word);
    }
    fault.order = std::make_shared<const OrderDependence>(std::move(found));
    first_.faults = {std::move(fault)};
    first_.fault_count = 1;
  }

  /// Where one order alone stores to a word, the other leaves it as it was.
  uint32_t value_before(const std::byte* word) const {
    before_.restore();
    uint32_t value = 0;
    std::memcpy(&value, word, sizeof value);
    return value;
  }

  const guest::Schedule schedule_;
  const uint64_t groups_;
  const RunInOrder& run_;
  const Snapshot before_;
  LaunchResult first_;
};

}  // namespace

LaunchResult search_orders(const LaunchRequest& request, const guest::Schedule& schedule,
                           std::span<const Area> areas, const RunInOrder& run) {
  return Search(request, schedule, areas, run).take();
}

}  // namespace lanewise::reference
