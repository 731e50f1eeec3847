// Streams and events. All streams put their work into the context's queue, in the order of the
// calls, so waiting for an event that was recorded before needs nothing but this order.
#pragma once

#include <condition_variable>

#include "runtime/host/core/handles.hpp"
#include "runtime/host/core/operation.hpp"
#include "runtime/host/core/stream_order.hpp"

namespace lanewise::core {

struct Capture;

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  int device = current_device();
  bool legacy = false;  ///< the default stream that waits for all others
  std::shared_ptr<Capture> capture;
  std::vector<struct Node*> tail;  ///< while it is captured: what its next node needs

  Stream();
  explicit Stream(unsigned f, int p = 0) : Stream() { flags = f, priority = p; }
};

/// When an event was recorded: the work before it is done.
struct Mark {
  std::mutex mutex;
  bool done = false;
  uint64_t nanoseconds = 0;  ///< of a steady clock
  Reached reached;           ///< where the check of races looks: what it stands for

  void reach();
  bool is_done();
};

struct Event {
  unsigned flags = 0;
  int device = current_device();
  bool timed = true;
  std::mutex mutex;
  std::shared_ptr<Mark> last;        ///< null = never recorded
  std::shared_ptr<Capture> capture;  ///< recorded in a stream that was being captured
  std::vector<struct Node*> captured;

  void record(const Stream& stream);
  std::shared_ptr<Mark> mark();
  float milliseconds_since(Event& earlier);
};

/// What the stream is given from now on comes behind the event.
void wait_in_order(const Stream& stream, Event& event);
/// Puts the operation into the stream, or into the graph that is being captured of it.
void enqueue(Stream& stream, Operation operation);
void enqueue_launch(Stream& stream, Function& function, const Shape& shape, void* const* args);

}  // namespace lanewise::core
