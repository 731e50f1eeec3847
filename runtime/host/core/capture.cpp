// Capture: what is put into a stream becomes nodes of a graph.
#include <algorithm>
#include <utility>

#include "runtime/host/core/graph.hpp"

namespace lanewise::core {
namespace {

std::mutex captures_mutex;
std::vector<std::shared_ptr<Capture>> captures;  ///< under way
std::vector<Stream*> streams;                    ///< that take part
thread_local CaptureMode thread_mode = CaptureMode::global;
thread_local const char this_thread = 0;

void join(Stream& stream, const std::shared_ptr<Capture>& capture) {
  stream.capture = capture;
  stream.tail.clear();
  const std::lock_guard lock(captures_mutex);
  streams.push_back(&stream);
}

/// All streams of the capture are as they were before.
void leave(const std::shared_ptr<Capture>& capture) {
  const std::lock_guard lock(captures_mutex);
  capture->ended = true;
  std::erase(captures, capture);
  std::erase_if(streams, [&](Stream* s) {
    if (s->capture != capture) return false;
    s->capture = nullptr;
    s->tail.clear();
    return true;
  });
}

Capture& valid(Stream& stream) {
  if (stream.capture->invalid) fail(Code::capture_invalidated);
  return *stream.capture;
}

void add(Stream& stream, GraphOperation operation) {
  Capture& capture = valid(stream);
  stream.tail = {capture.graph->add(std::move(operation), stream.tail)};
}

/// Whether these nodes are among those that the origin's last ones need, or are last ones.
bool is_joined(const std::vector<Node*>& last, const Stream& origin) {
  std::set<const Node*> reached(origin.tail.begin(), origin.tail.end());
  std::vector<const Node*> next(reached.begin(), reached.end());
  while (!next.empty()) {
    const Node* node = next.back();
    next.pop_back();
    for (const Node* n : node->needs)
      if (reached.insert(n).second) next.push_back(n);
  }
  return std::ranges::all_of(last, [&](const Node* n) { return reached.contains(n); });
}

struct ToGraph {
  GraphOperation operator()(const Work&) const { fail(Code::capture_unsupported); }
  template <typename What>
  GraphOperation operator()(const What& what) const {
    return what;
  }
};

}  // namespace

void begin_capture(Stream& stream, CaptureMode mode, std::shared_ptr<Graph> into,
                   const std::vector<Node*>& needs) {
  static std::atomic<uint64_t> last = 0;
  require(!stream.legacy, Code::capture_unsupported);
  require(stream.capture == nullptr, Code::capture_invalidated);
  auto capture = std::make_shared<Capture>();
  capture->graph = into != nullptr ? std::move(into) : std::make_shared<Graph>();
  capture->origin = &stream;
  capture->mode = mode;
  capture->id = ++last;
  capture->thread = &this_thread;
  join(stream, capture);
  stream.tail = needs;
  const std::lock_guard lock(captures_mutex);
  captures.push_back(capture);
}

std::shared_ptr<Graph> end_capture(Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.capture;
  require(capture != nullptr);
  require(capture->origin == &stream, Code::capture_unmatched);
  require(capture->mode == CaptureMode::relaxed || capture->thread == &this_thread,
          Code::capture_wrong_thread);
  bool joined = true;
  {
    const std::lock_guard lock(captures_mutex);
    joined = is_joined(capture->left, stream) && std::ranges::all_of(streams, [&](const Stream* s) {
               return s->capture != capture || is_joined(s->tail, stream);
             });
  }
  leave(capture);
  require(!capture->invalid, Code::capture_invalidated);
  require(joined, Code::capture_unjoined);
  return capture->graph;
}

void leave_capture(Stream& stream) {
  if (stream.capture == nullptr) return;
  Capture& capture = *stream.capture;
  if (capture.origin == &stream) {
    capture.invalid = true;
    return leave(stream.capture);
  }
  const std::lock_guard lock(captures_mutex);
  capture.left.insert(capture.left.end(), stream.tail.begin(), stream.tail.end());
  std::erase(streams, &stream);
}

CaptureMode exchange_capture_mode(CaptureMode mode) {
  return std::exchange(thread_mode, mode);
}

void forbid_in_capture() {
  const std::lock_guard lock(captures_mutex);
  if (captures.empty() || thread_mode == CaptureMode::relaxed) return;
  bool found = false;
  for (const auto& c : captures) {
    const bool own = c->thread == &this_thread;
    const bool forbids = c->mode == CaptureMode::global ? own || thread_mode == CaptureMode::global
                                                        : c->mode == CaptureMode::thread && own;
    if (!forbids) continue;
    c->invalid = true;
    found = true;
  }
  if (found) fail(Code::capture_unsupported);
}

void forbid_in_capture(Stream& stream) {
  if (stream.capture != nullptr) {
    stream.capture->invalid = true;
    fail(Code::capture_unsupported);
  }
  // Work of the default stream waits for the streams that do not say otherwise.
  if (!stream.legacy) return;
  const std::lock_guard lock(captures_mutex);
  for (Stream* s : streams) {
    constexpr unsigned kNonBlocking = 1;
    if ((s->flags & kNonBlocking) != 0) continue;
    s->capture->invalid = true;
    fail(Code::capture_implicit);
  }
}

void wait_in_order(const Stream& stream, Event& event) {
  StreamOrder* const order = Context::current().order();
  const auto mark = event.mark();
  if (order != nullptr && mark != nullptr) order->wait(stream, mark->reached);
}

void enqueue(Stream& stream, Operation operation) {
  if (stream.capture != nullptr) return add(stream, std::visit(ToGraph{}, std::move(operation)));
  if (stream.legacy) forbid_in_capture(stream);
  submit(operation, stamp_of(stream, operation));
}

void enqueue_launch(Stream& stream, Function& function, const Shape& shape, void* const* args) {
  require(stream.device == function.image->device, Code::invalid_handle);
  if (stream.capture == nullptr) {
    if (stream.legacy) forbid_in_capture(stream);
    StreamOrder* const order = Context::current().order();
    return submit_launch(
        function, shape, args,
        order != nullptr ? order->stamp(stream, "kernel", function.name) : nullptr);
  }
  check_shape(function, shape);
  Launch launch{function.shared_from_this(), shape, {}, {}};
  launch.take_args(args);
  add(stream, std::move(launch));
}

void enqueue_graph(Stream& stream, const Executable& executable) {
  if (stream.capture != nullptr) return add(stream, Child{executable.graph->clone()});
  if (stream.legacy) forbid_in_capture(stream);
  executable.launch(stream);
}

void enqueue_allocation(Stream& stream, const MemoryPtr& memory) {
  if (stream.capture == nullptr) {
    StreamOrder* const order = Context::current().order();
    if (order == nullptr || memory == nullptr) return;
    // Whoever uses it has to come behind it.
    return submit(Work{[order, memory, stamp = order->stamp(stream, "cudaMallocAsync")] {
      Footprint whole;
      whole.add(memory->address, memory->bytes, true);
      order->done(stamp, std::move(whole));
    }});
  }
  memory->of_graph = true;
  add(stream, Allocate{memory});
}

void record(Stream& stream, Event& event) {
  require(stream.device == event.device, Code::invalid_handle);
  if (stream.capture == nullptr) {
    event.capture = nullptr;
    return event.record(stream);
  }
  valid(stream);
  event.capture = stream.capture;
  event.captured = stream.tail;
}

void wait(Stream& stream, Event& event) {
  if (event.capture == nullptr) {
    if (stream.capture == nullptr) return wait_in_order(stream, event);
    stream.capture->invalid = true;
    fail(Code::capture_isolation);
  }
  require(!event.capture->ended, Code::captured_event);
  if (event.capture->invalid) fail(Code::capture_invalidated);
  require(!stream.legacy, Code::capture_implicit);
  if (stream.capture == nullptr) join(stream, event.capture);
  if (stream.capture != event.capture) {
    stream.capture->invalid = event.capture->invalid = true;
    fail(Code::capture_isolation);
  }
  for (Node* n : event.captured)
    if (std::ranges::find(stream.tail, n) == stream.tail.end()) stream.tail.push_back(n);
}

}  // namespace lanewise::core
