// Streams and events.
#include "runtime/host/cuda/entry.hpp"

namespace lanewise::cuda {

Stream& stream_of(StreamHandle handle) {
  static auto* const legacy = [] {
    auto* made = new Stream;
    made->legacy = true;
    return made;
  }();
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number <= 1) return *legacy;
  if (number == 2) {
    thread_local Stream own;
    return own;
  }
  return *Handles<Stream>::find(handle);
}

namespace {

void create_stream(StreamHandle* out, unsigned flags, int priority) {
  require(flags <= 1);
  Context::current();
  *required(out) =
      Handles<Stream>::add(std::make_shared<Stream>(flags, std::clamp(priority, -5, 0)));
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
  return answer([&] { Handles<Stream>::take(stream); });
}
ENTRY(cudaStreamSynchronize, (StreamHandle stream)) {
  return answer([&] {
    stream_of(stream);
    Context::current().synchronise();
  });
}
ENTRY(cudaStreamQuery, (StreamHandle stream)) {
  return answer([&] {
    stream_of(stream);
    require(Context::current().is_idle(), Code::not_ready);
  });
}
/// Nothing but its checks: the queue is in the order of the calls.
ENTRY(cudaStreamWaitEvent, (StreamHandle stream, EventHandle event, unsigned flags)) {
  return answer([&] {
    stream_of(stream);
    Handles<Event>::find(event);
    require(flags <= 1);
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
ENTRY(cudaEventRecord, (EventHandle event, StreamHandle stream)) {
  return answer([&] {
    stream_of(stream);
    Handles<Event>::find(event)->record();
  });
}
ENTRY(cudaEventRecordWithFlags, (EventHandle event, StreamHandle stream, unsigned flags)) {
  return answer([&] {
    require(flags <= 1);
    stream_of(stream);
    Handles<Event>::find(event)->record();
  });
}
ENTRY(cudaEventSynchronize, (EventHandle event)) {
  return answer([&] {
    const auto mark = Handles<Event>::find(event)->mark();
    if (mark != nullptr) Context::current().synchronise();
  });
}
ENTRY(cudaEventQuery, (EventHandle event)) {
  return answer([&] {
    const auto mark = Handles<Event>::find(event)->mark();
    require(mark == nullptr || mark->is_done(), Code::not_ready);
  });
}
ENTRY(cudaEventElapsedTime, (float* milliseconds, EventHandle begin, EventHandle end)) {
  return answer([&] {
    const auto from = Handles<Event>::find(begin), to = Handles<Event>::find(end);
    *required(milliseconds) = to->milliseconds_since(*from);
  });
}
ALSO(cudaEventElapsedTime_v2, cudaEventElapsedTime);
ALSO(cudaStreamSynchronize_ptsz, cudaStreamSynchronize);
ALSO(cudaStreamQuery_ptsz, cudaStreamQuery);
ALSO(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent);
ALSO(cudaEventRecord_ptsz, cudaEventRecord);
ALSO(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags);
