// Memory whose stores each thread sees at a time of its own (docs/schedules.md): words keep what
// was stored there, in the order of the word, and a thread has a view of how old a value it may
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/ir/types.hpp"
#include "runtime/reference/schedule/orders.hpp"

namespace lanewise::reference::views {

/// A word of the host's memory, aligned as the guest's address is.
using Word = std::byte*;

/// The oldest message of each word that a thread may read.
struct View {
  uint64_t floor = 0;       ///< all that was stored until then is known
  uint64_t sequential = 0;  ///< so is what sequential fences knew that came until then
  std::vector<std::pair<Word, uint64_t>> seen;  ///< positions in the words' orders, by word

  void see(Word word, uint64_t position);
  uint64_t position(Word word) const;  ///< 0: of none
  void join(const View& other);
};
using Shared = std::shared_ptr<const View>;

/// What a message brings to those that acquire it: lanes of its group, and all others.
struct Released {
  Shared near, far;
};

struct Message {
  uint64_t position = 0;
  uint64_t time = 0;  ///< when it was stored
  uint32_t value = 0;
  uint32_t group = 0;
  bool exchanged = false;  ///< an atomic's, right behind what it has read
  Released released = {};
};

/// What one access says of itself.
struct Sort {
  bool strong = false, acquires = false, releases = false, sequential = false;
  bool wide = false;    ///< its scope holds other groups
  bool newest = false;  ///< reads what was stored last
};

struct Thread {
  uint32_t group = 0;
  View now;
  View near, far;                           ///< of strong reads: what a fence behind them acquires
  Released fenced;                          ///< what strong stores release, by a fence before them
  std::unordered_map<Word, Released> read;  ///< the same of reads of one word
  std::unordered_map<Word, Released> released;  ///< by earlier releases of the same word
};

class Memory {
 public:
  explicit Memory(Random& random) : random_(random) {}

  uint32_t load(Thread& thread, Word word, const Sort& sort);
  /// A whole word. The bytes of the host's memory are always those of the word's last message.
  void store(Thread& thread, Word word, uint32_t value, const Sort& sort);
  /// The bytes in place were changed, wholly or in part: that is the last message.
  void stored_in_place(Thread& thread, Word word, uint32_t before, const Sort& sort);
  /// The same by an atomic, which has read the message before.
  void exchanged(Thread& thread, Word word, uint32_t before, const Sort& sort);
  void fence(Thread& thread, ir::Order order, bool wide);
  /// The thread has met others: it knows all that was stored.
  void meet(Thread& thread) const;
  /// Other memory lies there from now on.
  void forget(const std::byte* from, size_t bytes);

 private:
  struct History {
    std::vector<Message> messages;  ///< in the word's order
    /// What sequential fences knew of it: at which time, which position.
    std::vector<std::pair<uint64_t, uint64_t>> fenced;
  };
  History& history(Word word, uint32_t before);
  static size_t oldest(const Thread& thread, Word word, const History& h);
  void observe(Thread& thread, Word word, const Message& m, const Sort& sort);
  Released released_by(Thread& thread, Word word, const Sort& sort) const;
  void add(Thread& thread, Word word, History& h, size_t n, Message m, const Sort& sort);
  void order_sequential(Thread& thread);
  void bound(Thread& thread) const;

  Random& random_;
  std::unordered_map<Word, History> words_;
  uint64_t time_ = 0;
  uint64_t fenced_floor_ = 0;  ///< the highest floor of threads at sequential fences
};

}  // namespace lanewise::reference::views
