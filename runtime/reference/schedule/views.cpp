#include "runtime/reference/schedule/views.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace lanewise::reference::views {
namespace {

/// Beyond these bounds a thread knows more than it must, which is always allowed.
constexpr size_t kMostSeen = 4096;
constexpr size_t kMostMessages = 8;
constexpr size_t kMostWords = size_t{1} << 20;
/// Between two messages of a word others have place.
constexpr uint64_t kGap = uint64_t{1} << 32;

uint32_t bytes_of(const std::byte* word) {
  uint32_t value = 0;
  std::memcpy(&value, word, sizeof value);
  return value;
}

Shared joined(const Shared& a, const Shared& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  auto both = std::make_shared<View>(*a);
  both->join(*b);
  return both;
}

void join(View& view, const Shared& other) {
  if (other != nullptr) view.join(*other);
}

const Word& first_of(const std::pair<Word, uint64_t>& entry) {
  return entry.first;
}

void join(Released& to, const Released& from) {
  to.near = joined(to.near, from.near);
  to.far = joined(to.far, from.far);
}

}  // namespace

void View::see(Word word, uint64_t position) {
  const auto at = std::ranges::lower_bound(seen, word, std::less<>(), first_of);
  if (at == seen.end() || at->first != word)
    seen.insert(at, {word, position});
  else
    at->second = std::max(at->second, position);
}

uint64_t View::position(Word word) const {
  const auto at = std::ranges::lower_bound(seen, word, std::less<>(), first_of);
  return at == seen.end() || at->first != word ? 0 : at->second;
}

void View::join(const View& other) {
  floor = std::max(floor, other.floor);
  sequential = std::max(sequential, other.sequential);
  for (const auto& [word, position] : other.seen) see(word, position);
}

Memory::History& Memory::history(Word word, uint32_t before) {
  if (words_.size() > kMostWords) words_.clear();  // all of it is performed
  History& h = words_[word];
  if (h.messages.empty()) h.messages.push_back({.value = before});
  return h;
}

/// Index of the oldest message that the thread may read.
size_t Memory::oldest(const Thread& thread, Word word, const History& h) {
  uint64_t least = thread.now.position(word);
  for (const auto& [time, position] : h.fenced)
    if (time <= thread.now.sequential) least = std::max(least, position);
  for (const Message& m : h.messages)
    if (m.time <= thread.now.floor) least = std::max(least, m.position);
  size_t n = 0;
  while (n + 1 < h.messages.size() && h.messages[n].position < least) ++n;
  return n;
}

/// What a read learns of the message that it has got.
void Memory::observe(Thread& thread, Word word, const Message& m, const Sort& sort) {
  thread.now.see(word, m.position);
  if (!sort.strong) return;
  const bool mine = m.group == thread.group;
  Released got;
  if (mine) got.near = joined(m.released.near, m.released.far);
  if (!mine && sort.wide) got.far = m.released.far;
  // A fence behind the read, or an acquiring read of the same word.
  if (got.near != nullptr || got.far != nullptr) {
    views::join(thread.near, got.near);
    views::join(thread.far, got.far);
    join(thread.read[word], got);
  }
  if (!sort.acquires) return;
  const auto earlier = thread.read.find(word);
  if (earlier == thread.read.end()) return;
  views::join(thread.now, earlier->second.near);
  if (sort.wide) views::join(thread.now, earlier->second.far);
}

void Memory::bound(Thread& thread) const {
  const size_t most =
      std::max({thread.now.seen.size(), thread.near.seen.size(), thread.far.seen.size(),
                thread.read.size(), thread.released.size()});
  if (most <= kMostSeen) return;
  meet(thread);
  thread.near = thread.far = {};
  thread.read.clear();
  thread.released.clear();
  const auto now = std::make_shared<const View>(thread.now);
  thread.fenced = {now, now};
}

uint32_t Memory::load(Thread& thread, Word word, const Sort& sort) {
  if (sort.sequential) order_sequential(thread);
  const auto found = words_.find(word);
  uint32_t value = bytes_of(word);
  if (found != words_.end()) {
    const History& h = found->second;
    const size_t from = oldest(thread, word, h), all = h.messages.size();
    size_t n = all - 1;
    if (!sort.newest && !random_.once_in(1)) n = from + random_.below(all - from);
    value = h.messages[n].value;
    observe(thread, word, h.messages[n], sort);
    bound(thread);
  }
  if (sort.sequential) order_sequential(thread);
  return value;
}

/// What the store of a thread brings to those that acquire it.
Released Memory::released_by(Thread& thread, Word word, const Sort& sort) const {
  Released out;
  if (!sort.strong) return out;
  const auto add = [&](const Shared& view, bool far) {
    out.near = joined(out.near, view);
    if (far && sort.wide) out.far = joined(out.far, view);
  };
  add(thread.fenced.near, false);
  add(thread.fenced.far, true);
  if (sort.releases) {
    const auto now = std::make_shared<const View>(thread.now);
    Released& own = thread.released[word];
    own.near = now;
    if (sort.wide) own.far = now;
  }
  if (const auto before = thread.released.find(word); before != thread.released.end()) {
    add(before->second.near, false);
    add(before->second.far, true);
  }
  return out;
}

/// In front of the n-th message, or behind all.
void Memory::add(Thread& thread, Word word, History& h, size_t n, Message m, const Sort& sort) {
  std::vector<Message>& all = h.messages;
  const uint64_t before = all[n - 1].position;
  m.time = ++time_;
  m.position = n == all.size() ? before + kGap : before + (all[n].position - before) / 2;
  m.group = thread.group;
  Released own = released_by(thread, word, sort);
  join(own, m.released);
  m.released = std::move(own);
  thread.now.see(word, m.position);
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(n), std::move(m));
  if (all.size() > kMostMessages) all.erase(all.begin(), all.end() - kMostMessages);
  bound(thread);
}

void Memory::store(Thread& thread, Word word, uint32_t value, const Sort& sort) {
  if (sort.sequential) order_sequential(thread);
  History& h = history(word, bytes_of(word));
  // In front of stores that the thread need not know of.
  std::vector<Message>& all = h.messages;
  const size_t least = oldest(thread, word, h);
  size_t n = sort.newest || random_.once_in(1) ? all.size()
                                               : least + 1 + random_.below(all.size() - least);
  if (n < all.size() && (all[n].exchanged || all[n].position - all[n - 1].position <= 1))
    n = all.size();
  if (n == all.size()) std::memcpy(word, &value, sizeof value);
  add(thread, word, h, n, {.value = value}, sort);
  if (sort.sequential) order_sequential(thread);
}

void Memory::stored_in_place(Thread& thread, Word word, uint32_t before, const Sort& sort) {
  if (sort.sequential) order_sequential(thread);
  History& h = history(word, before);
  add(thread, word, h, h.messages.size(), {.value = bytes_of(word)}, sort);
  if (sort.sequential) order_sequential(thread);
}

void Memory::exchanged(Thread& thread, Word word, uint32_t before, const Sort& sort) {
  if (sort.sequential) order_sequential(thread);
  History& h = history(word, before);
  const Message read = h.messages.back();
  observe(thread, word, read, sort);
  Message m{.value = bytes_of(word)};
  m.exchanged = true;
  const bool mine = read.group == thread.group;
  if (mine) m.released.near = joined(read.released.near, read.released.far);
  if (sort.wide) {
    m.released.far = read.released.far;
    m.released.near = joined(m.released.near, read.released.far);
  }
  add(thread, word, h, h.messages.size(), std::move(m), sort);
  if (sort.sequential) order_sequential(thread);
}

void Memory::fence(Thread& thread, ir::Order order, bool wide) {
  using ir::Order;
  const bool all = order == Order::acq_rel || order == Order::seq_cst;
  if (all || order == Order::acquire) {
    thread.now.join(thread.near);
    if (wide) thread.now.join(thread.far);
  }
  if (order == Order::seq_cst) order_sequential(thread);
  if (!all && order != Order::release) return;
  const auto now = std::make_shared<const View>(thread.now);
  thread.fenced.near = now;
  if (wide) thread.fenced.far = now;
}

/// Sequential fences have one order: each knows what those before it knew, whatever their scopes.
void Memory::order_sequential(Thread& thread) {
  constexpr size_t kMost = 8;
  View& now = thread.now;
  now.sequential = ++time_;
  now.floor = fenced_floor_ = std::max(now.floor, fenced_floor_);
  for (const auto& [word, position] : now.seen) {
    const auto found = words_.find(word);
    if (found == words_.end()) continue;
    auto& fenced = found->second.fenced;
    if (!fenced.empty() && fenced.back().second >= position) continue;
    fenced.emplace_back(time_, position);
    if (fenced.size() <= kMost) continue;
    fenced[0].second = fenced[1].second;  // earlier than it was: more than must be known
    fenced.erase(fenced.begin() + 1);
  }
}

void Memory::meet(Thread& thread) const {
  thread.now.floor = time_;
  thread.now.seen.clear();
}

void Memory::forget(const std::byte* from, size_t bytes) {
  const auto lies_there = [&](const auto& entry) {
    return std::greater_equal<>()(entry.first, from) && std::less<>()(entry.first, from + bytes);
  };
  std::erase_if(words_, lies_there);
}

}  // namespace lanewise::reference::views
