// The check of races between operations of streams (--check race): which of them are ordered, by
// streams, events and what the host waited for, and what each has touched in memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lanewise/lanewise.h"
#include "runtime/support/findings/finding.hpp"

namespace lanewise::core {

struct Copy;
struct Fill;
struct Stream;

/// Of each stream, how many of its operations are done before a point in time.
class Reached {
 public:
  void join(const Reached& other);
  void add(uint64_t stream, uint64_t count) { counts_[stream] = count; }
  bool covers(uint64_t stream, uint64_t count) const {
    const auto known = counts_.find(stream);
    return known != counts_.end() && known->second >= count;
  }

 private:
  std::map<uint64_t, uint64_t> counts_;
};

/// An operation of a stream, and what comes before it.
struct Stamp {
  uint64_t stream = 0, count = 0;
  Reached before;
  Reached host;        ///< what the host had waited for when it made the call
  std::string where;   ///< "stream 14"
  std::string what;    ///< "kernel 'saxpy'", "copy"
  std::string kernel;  ///< "" = none
  /// Of a node of a graph that was launched: the launch, the node's number, and the nodes of the
  /// launch that come before it.
  uint64_t launch = 0;
  size_t node = 0;
  std::vector<bool> needs;

  bool comes_before(const Stamp& later) const;
};
using StampPtr = std::shared_ptr<const Stamp>;

/// Bytes that an operation has read, written or both.
struct Touch {
  uint64_t address = 0, bytes = 0;
  uint32_t load = 0, store = 0;  ///< 0 = none, else 1 + a number in Footprint::places
  bool strong_load = false, strong_store = false, same_value = false;

  bool operator==(const Touch&) const = default;
};
struct Footprint {
  std::vector<findings::Place> places;
  std::vector<Touch> touches;  ///< sorted by address

  void add(uint64_t address, uint64_t bytes, bool writes);
};
Footprint footprint_of(lw_result* result, uint64_t ranges);
Footprint footprint_of(const Copy& copy);
Footprint footprint_of(const Fill& fill);

class StreamOrder {
 public:
  explicit StreamOrder(bool same_values) : same_values_(same_values) {}

  /// The next operation of the stream. `kernel`: "" = it is `what`.
  StampPtr stamp(const Stream& stream, const std::string& what, const std::string& kernel = {});
  /// Of the launch of a graph, and of its nodes.
  StampPtr stamp_graph(const Stream& stream);
  static StampPtr stamp_node(const Stamp& graph, size_t node, std::vector<bool> needs,
                             const std::string& what, const std::string& kernel);
  /// What an event that is recorded in the stream stands for.
  Reached record(const Stream& stream);
  void wait(const Stream& stream, const Reached& event);
  /// The host waits for work that was put in so far.
  void host_waits(const Stream& stream);
  void host_waits(const Reached& event);
  void host_waits_for_device(int device);
  void host_waits_for_all();

  /// The operation is done; calls are in the order of the queue. Finds what meets it in memory.
  void done(const StampPtr& stamp, Footprint footprint);
  /// The memory is free; what is known of it does not concern whoever gets it next.
  void forget(uint64_t address, uint64_t bytes);

 private:
  struct State {
    Reached reached;
    uint64_t count = 0;
    int device = 0;
    bool legacy = false, blocking = true;
  };
  struct Kept {
    StampPtr stamp;
    Footprint footprint;
  };
  State& advance(const Stream& stream);
  void compare(const Kept& first, const Kept& second);
  struct Accesses {
    bool first_stores, second_stores;
  };
  std::optional<Accesses> conflict(const Touch& first, const Touch& second) const;
  void report(const Kept& first, const Touch& a, const Kept& second, const Touch& b, Accesses how);
  void bound();

  const bool same_values_;
  std::mutex mutex_;
  std::map<uint64_t, State> states_;  ///< by Stream::id
  Reached host_;
  std::vector<Kept> kept_;
  size_t touches_ = 0;  ///< in `kept_`
  bool forgets_ = false;
  uint64_t launches_ = 0;
  std::set<std::string> known_;  ///< pairs that were reported
};

}  // namespace lanewise::core
