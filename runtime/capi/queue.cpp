// Queues and events.
#include "runtime/api/queue.hpp"

#include "runtime/capi/launch.hpp"
#include "runtime/capi/structs.hpp"

namespace lanewise::capi {
namespace {

struct QueueObject final : Object {
  using Handle = lw_queue;
  static constexpr HandleKind kKind = HandleKind::queue;
  explicit QueueObject(const Device& device) : Object(kKind), queue(device) {}
  Queue queue;
};

struct EventObject final : Object {
  using Handle = lw_event;
  static constexpr HandleKind kKind = HandleKind::event;
  EventObject(Event e, std::string k) : Object(kKind), event(std::move(e)), kernel(std::move(k)) {}
  Event event;
  std::string kernel;  ///< of a launch, else empty
};

void give_event(lw_event** out, Event event, const std::string& kernel = {}) {
  if (out != nullptr) give<EventObject>(out, std::move(event), kernel);
}

template <typename T>
std::span<T> memory(T* data, uint64_t bytes) {
  if (bytes != 0) required(data, "data");
  return {data, static_cast<size_t>(bytes)};
}

uint64_t nanoseconds(std::chrono::steady_clock::time_point t) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count());
}

void clear_optional(lw_event** out) {
  if (out != nullptr) *out = nullptr;
}

}  // namespace
}  // namespace lanewise::capi

using namespace lanewise;
using namespace lanewise::capi;

lw_status lw_queue_create(lw_device* device, lw_queue** out) {
  return guarded([&] {
    clear_out(out);
    give<QueueObject>(out, find<DeviceObject>(device)->device);
  });
}

void lw_queue_release(lw_queue* queue) {
  release<QueueObject>(queue);
}

lw_status lw_queue_launch(lw_queue* queue, lw_kernel* kernel, const lw_launch_options* options,
                          const lw_arg* args, size_t arg_count, lw_event** out) {
  return guarded([&] {
    clear_optional(out);
    const auto into = find<QueueObject>(queue);
    const auto what = find<KernelObject>(kernel);
    const Launching launching = to_cpp(options);
    give_event(out,
               into->queue.launch(what->kernel, launching.options, to_cpp(args, arg_count),
                                  launching.cancel),
               what->kernel.name());
  });
}

lw_status lw_queue_write(lw_queue* queue, lw_buffer* buffer, uint64_t offset, const void* data,
                         uint64_t bytes, lw_event** out) {
  return guarded([&] {
    clear_optional(out);
    const auto into = find<QueueObject>(queue);
    give_event(out, into->queue.write(find<BufferObject>(buffer)->buffer,
                                      memory(static_cast<const std::byte*>(data), bytes), offset));
  });
}

lw_status lw_queue_read(lw_queue* queue, lw_buffer* buffer, uint64_t offset, void* data,
                        uint64_t bytes, lw_event** out) {
  return guarded([&] {
    clear_optional(out);
    const auto into = find<QueueObject>(queue);
    give_event(out, into->queue.read(find<BufferObject>(buffer)->buffer,
                                     memory(static_cast<std::byte*>(data), bytes), offset));
  });
}

lw_status lw_queue_call(lw_queue* queue, lw_queue_callback function, void* user, lw_event** out) {
  return guarded([&] {
    clear_optional(out);
    const auto into = find<QueueObject>(queue);
    required(reinterpret_cast<void*>(function), "function");
    give_event(out, into->queue.call([function, user] { function(user); }));
  });
}

lw_status lw_queue_wait_event(lw_queue* queue, lw_event* event) {
  return guarded([&] {
    const auto into = find<QueueObject>(queue);
    into->queue.wait_for(find<EventObject>(event)->event);
  });
}

lw_status lw_queue_finish(lw_queue* queue) {
  return guarded([&] { find<QueueObject>(queue)->queue.finish(); });
}

lw_status lw_event_wait(lw_event* event, lw_result** result) {
  return guarded([&]() -> lw_status {
    if (result != nullptr) *result = nullptr;
    const auto object = find<EventObject>(event);
    object->event.wait();
    if (object->kernel.empty()) return LW_OK;
    return finish(object->event.result(), object->kernel, result);
  });
}

lw_status lw_event_wait_for(lw_event* event, double seconds, int* done) {
  return guarded([&] {
    *required(done, "done") = 0;
    const auto object = find<EventObject>(event);
    if (!(seconds >= 0)) fail(ErrorDetail::invalid_value, "seconds is no number of at least 0");
    // A year is as good as for ever, and converts without overflow.
    const std::chrono::duration<double> limit(std::min(seconds, 365.0 * 24 * 3600));
    *done = object->event.wait_for(std::chrono::duration_cast<std::chrono::nanoseconds>(limit));
  });
}

lw_status lw_event_times(lw_event* event, uint64_t* began, uint64_t* ended) {
  return guarded([&] {
    const auto object = find<EventObject>(event);
    *required(began, "began") = nanoseconds(object->event.began());
    *required(ended, "ended") = nanoseconds(object->event.ended());
  });
}

void lw_event_release(lw_event* event) {
  release<EventObject>(event);
}
