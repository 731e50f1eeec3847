#include "runtime/reference/schedule/store_log.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace lanewise::reference {
namespace {

constexpr size_t kMostStores = size_t{1} << 20;

using Who = std::pair<std::array<uint32_t, 3>, uint32_t>;

Who who(const LoggedStore& s) {
  return {s.group, s.lane};
}

}  // namespace

bool StoreLog::watches(const std::byte* word) const {
  return std::ranges::binary_search(words_, word, std::less<>());
}

void StoreLog::note(const LoggedStore& store) {
  if (all_.size() < kMostStores) all_.push_back(store);
}

const LoggedStore* StoreLog::last_to(const std::byte* word) const {
  const auto at = std::find_if(all_.rbegin(), all_.rend(),
                               [&](const LoggedStore& s) { return s.word == word; });
  return at == all_.rend() ? nullptr : &*at;
}

Parting first_parting(const StoreLog& first, const StoreLog& second) {
  std::map<Who, std::vector<const LoggedStore*>> of_lanes;
  for (const LoggedStore& s : first.all()) of_lanes[who(s)].push_back(&s);
  std::map<Who, size_t> made;
  for (const LoggedStore& s : second.all()) {
    const std::vector<const LoggedStore*>& before = of_lanes[who(s)];
    const size_t n = made[who(s)]++;
    const LoggedStore* own = n < before.size() ? before[n] : nullptr;
    if (own != nullptr && own->word == s.word && own->value == s.value) continue;
    return {&s, own != nullptr && own->word == s.word ? own : first.last_to(s.word)};
  }
  for (const std::byte* word : second.words()) {
    const Parting last{second.last_to(word), first.last_to(word)};
    if (last.store != nullptr || last.other != nullptr) return last;
  }
  return {};
}

}  // namespace lanewise::reference
