// Streams and events.
#include <algorithm>
#include <array>

#include "runtime/host/core/graph.hpp"
#include "runtime/host/cuda/entry.hpp"

namespace lanewise::cuda {

Stream& stream_of(StreamHandle handle) {
  using OfDevices = std::array<Stream, kMostDevices>;
  const auto make = [](bool legacy) {
    auto* made = new OfDevices;  // destructors of the program may use it
    for (int device = 0; Stream & stream : *made) {
      stream.legacy = legacy;
      stream.device = device++;
    }
    return made;
  };
  static auto* const legacy = make(true);
  const auto number = reinterpret_cast<uintptr_t>(handle);
  const auto device = static_cast<size_t>(current_device());
  if (number <= 1) return (*legacy)[device];
  if (number == 2) {
    thread_local auto* const own = make(false);
    return (*own)[device];
  }
  return *Handles<Stream>::find(handle);
}

namespace {

constexpr int kGreatestPriority = -5;

void create_stream(StreamHandle* out, unsigned flags, int priority) {
  require(flags <= 1);
  Context::current();
  *required(out) = Handles<Stream>::add(
      std::make_shared<Stream>(flags, std::clamp(priority, kGreatestPriority, 0)));
}

constexpr unsigned kBlockingSync = 1, kDisableTiming = 2, kInterprocess = 4;

void create_event(EventHandle* out, unsigned flags) {
  require(flags <= (kBlockingSync | kDisableTiming | kInterprocess));
  Context::current();
  auto made = std::make_shared<Event>();
  made->flags = flags;
  made->timed = (flags & kDisableTiming) == 0;
  *required(out) = Handles<Event>::add(std::move(made));
}

std::shared_ptr<Mark> mark_of(EventHandle handle) {
  const auto event = Handles<Event>::find(handle);
  require(event->capture == nullptr, Code::captured_event);
  return event->mark();
}

/// For the check of races between streams.
void host_has_waited(const Stream& stream) {
  if (auto* order = Context::current().order()) order->host_waits(stream);
}
void host_has_waited(const core::Mark& mark) {
  if (auto* order = Context::current().order()) order->host_waits(mark.reached);
}

/// cudaStreamCallback_t gets the stream and its state.
struct Callback {
  void (*function)(StreamHandle, int, void*);
  StreamHandle stream;
  void* user;
};
void run_callback(void* user) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(user));
  callback->function(callback->stream, 0, callback->user);
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaStreamCreate, (StreamHandle * out)) {
  return answer([&] { create_stream(out, 0, 0); });
}
ENTRY(cudaStreamCreateWithFlags, (StreamHandle * out, unsigned flags)) {
  return answer([&] { create_stream(out, flags, 0); });
}
ENTRY(cudaStreamCreateWithPriority, (StreamHandle * out, unsigned flags, int priority)) {
  return answer([&] { create_stream(out, flags, priority); });
}
ENTRY(cudaStreamDestroy, (StreamHandle stream)) {
  return answer([&] { leave_capture(*Handles<Stream>::take(stream)); });
}
ENTRY_PTSZ(cudaStreamSynchronize, (StreamHandle stream)) {
  return answer([&] {
    forbid_in_capture(stream_of(stream));
    Context::current().synchronise_some();
    host_has_waited(stream_of(stream));
  });
}
ENTRY_PTSZ(cudaStreamQuery, (StreamHandle stream)) {
  return answer([&] {
    forbid_in_capture(stream_of(stream));
    require(Context::current().is_idle(), Code::not_ready);
    host_has_waited(stream_of(stream));
  });
}
ENTRY_PTSZ(cudaStreamWaitEvent, (StreamHandle stream, EventHandle event, unsigned flags)) {
  return answer([&] {
    require(flags <= 1);
    wait(stream_of(stream), *Handles<Event>::find(event));
  });
}
ENTRY(cudaEventCreate, (EventHandle * out)) {
  return answer([&] { create_event(out, 0); });
}
ENTRY(cudaEventCreateWithFlags, (EventHandle * out, unsigned flags)) {
  return answer([&] { create_event(out, flags); });
}
ENTRY(cudaEventDestroy, (EventHandle event)) {
  return answer([&] { Handles<Event>::take(event); });
}
ENTRY_PTSZ(cudaEventRecord, (EventHandle event, StreamHandle stream)) {
  return answer([&] { record(stream_of(stream), *Handles<Event>::find(event)); });
}
ENTRY_PTSZ(cudaEventRecordWithFlags, (EventHandle event, StreamHandle stream, unsigned flags)) {
  return answer([&] {
    require(flags <= 1);
    record(stream_of(stream), *Handles<Event>::find(event));
  });
}
ENTRY(cudaEventSynchronize, (EventHandle event)) {
  return answer([&] {
    const auto mark = mark_of(event);
    if (mark == nullptr) return;
    Context::current().synchronise_some();
    host_has_waited(*mark);
  });
}
ENTRY(cudaEventQuery, (EventHandle event)) {
  return answer([&] {
    const auto mark = mark_of(event);
    if (mark == nullptr) return;
    require(mark->is_done(), Code::not_ready);
    host_has_waited(*mark);
  });
}
ENTRY(cudaEventElapsedTime, (float* milliseconds, EventHandle begin, EventHandle end)) {
  return answer([&] {
    const auto from = Handles<Event>::find(begin), to = Handles<Event>::find(end);
    *required(milliseconds) = to->milliseconds_since(*from);
  });
}
ALSO(cudaEventElapsedTime_v2, cudaEventElapsedTime);

ENTRY_PTSZ(cudaStreamGetFlags, (StreamHandle stream, unsigned* flags)) {
  return answer([&] { *required(flags) = stream_of(stream).flags; });
}
ENTRY_PTSZ(cudaStreamGetPriority, (StreamHandle stream, int* priority)) {
  return answer([&] { *required(priority) = stream_of(stream).priority; });
}
ENTRY_PTSZ(cudaStreamGetId, (StreamHandle stream, unsigned long long* id)) {
  return answer([&] { *required(id) = stream_of(stream).id; });
}
ENTRY_PTSZ(cudaStreamGetDevice, (StreamHandle stream, int* device)) {
  return answer([&] { *required(device) = stream_of(stream).device; });
}
ENTRY(cudaDeviceGetStreamPriorityRange, (int* least, int* greatest)) {
  return answer([&] {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = kGreatestPriority;
  });
}
ENTRY_PTSZ(cudaLaunchHostFunc, (StreamHandle stream, void (*function)(void*), void* user)) {
  return answer([&] {
    require(function != nullptr);
    enqueue(stream_of(stream), HostCall{function, user});
  });
}
ENTRY_PTSZ(cudaStreamAddCallback, (StreamHandle stream, void (*function)(StreamHandle, int, void*),
                                   void* user, unsigned flags)) {
  return answer([&] {
    require(function != nullptr && flags == 0);
    Stream& on = stream_of(stream);
    require(on.capture == nullptr, Code::capture_unsupported);
    auto callback = std::make_unique<Callback>(Callback{function, stream, user});
    enqueue(on, HostCall{run_callback, callback.get()});
    (void)callback.release();  // run_callback owns it now
  });
}
/// Attributes are hints: synchronisation policy, access windows, priority.
ENTRY_PTSZ(cudaStreamSetAttribute, (StreamHandle stream, int /*attribute*/, const void* value)) {
  return answer([&] {
    stream_of(stream);
    required(value);
  });
}
ENTRY_PTSZ(cudaStreamGetAttribute, (StreamHandle stream, int /*attribute*/, void* value)) {
  return answer([&] {
    constexpr size_t kBytes = 64;
    stream_of(stream);
    std::fill_n(static_cast<std::byte*>(required(value)), kBytes, std::byte{0});
  });
}
ENTRY_PTSZ(cudaStreamCopyAttributes, (StreamHandle to, StreamHandle from)) {
  return answer([&] {
    stream_of(to);
    stream_of(from);
  });
}
ENTRY(cudaCtxResetPersistingL2Cache, ()) {
  return answer([] { Context::current(); });
}
