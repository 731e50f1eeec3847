// A trace to several sinks, each in a thread of its own, while the caller's thread reads on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/trace/event.hpp"

namespace lanewise::trace {

/// Each sink gets all of the trace in its order, in chunks of some thousand events, of which a few
/// wait at most: who is ahead waits for the slowest. A sink's error ends its part; it is thrown in
/// the caller's thread by the next call or by finish(), the first sink's first.
class Relay final : public Sink {
 public:
  explicit Relay(std::span<Sink* const> sinks);
  /// Waits until the sinks have taken what was handed over.
  ~Relay() override;
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  void kernel(const Kernel& k) override;
  void site(const Site& s) override;
  void buffer(const Buffer& b) override;
  void event(const Event& e) override;
  void waves(std::span<const StridedWave> waves) override;
  void finish() override;
  /// What was handed over is taken, and nothing more will come. Throws a sink's error. For who has
  /// an error of its own to report, which comes later in the trace.
  void drain();

 private:
  static constexpr size_t kChunks = 6, kMostWaves = 4096, kMostEvents = 1024;
  enum class Kind : uint8_t { waves, event, kernel, site, buffer, finish };
  struct Run {
    Kind kind;
    uint32_t count;
  };
  struct Chunk {
    std::vector<Run> runs;
    std::vector<StridedWave> waves;
    std::vector<Event> events;  ///< used again, with what their parts hold; `used` counts
    size_t used = 0;
    std::vector<Kernel> kernels;
    std::vector<Site> sites;
    std::vector<Buffer> buffers;
    void clear();
    void hand_to(Sink& sink) const;
  };
  struct Taker {
    Sink* sink = nullptr;
    uint64_t taken = 0;  ///< chunks
    std::exception_ptr error;
    std::thread thread;
  };
  Chunk& chunk() { return chunks_[handed_ % kChunks]; }
  void add(Kind kind);
  void hand_over();
  void take_all(Taker& taker);
  void close();

  Chunk chunks_[kChunks];
  std::mutex mutex_;
  std::condition_variable more_, space_free_;
  uint64_t handed_ = 0;  ///< chunks
  bool closed_ = false;
  std::atomic<bool> failed_ = false;
  std::vector<std::unique_ptr<Taker>> takers_;
};

}  // namespace lanewise::trace
