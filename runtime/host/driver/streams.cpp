// Streams, events, capture.
#include "runtime/host/driver/entry.hpp"

namespace lanewise::core {
struct Graph;
struct Node;
}  // namespace lanewise::core

using namespace lanewise::driver;

ENTRY_PTSZ(cuStreamGetCtx, (StreamHandle stream, DriverContext** context)) {
  return answer([&] {
    const Stream& of = stream_of(stream);
    DriverContext* const current = current_context();
    *required(context) = of.device == current->device ? current : &primary_context(of.device);
  });
}
ENTRY_PTSZ(cuStreamGetCtx_v2, (StreamHandle stream, DriverContext** context, void** green)) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}

SAME(cuStreamCreate, cudaStreamCreateWithFlags, (StreamHandle * out, unsigned flags), (out, flags))
SAME(cuStreamCreateWithPriority, cudaStreamCreateWithPriority,
     (StreamHandle * out, unsigned flags, int priority), (out, flags, priority))
SAME_WITHOUT_CONTEXT(cuStreamDestroy_v2, cudaStreamDestroy, (StreamHandle stream), (stream))
ALSO(cuStreamDestroy, cuStreamDestroy_v2);
SAME_PTSZ(cuStreamSynchronize, cudaStreamSynchronize, (StreamHandle stream), (stream))
SAME_PTSZ(cuStreamQuery, cudaStreamQuery, (StreamHandle stream), (stream))
SAME_PTSZ(cuStreamWaitEvent, cudaStreamWaitEvent,
          (StreamHandle stream, EventHandle event, unsigned flags), (stream, event, flags))
SAME_PTSZ(cuStreamGetFlags, cudaStreamGetFlags, (StreamHandle stream, unsigned* flags),
          (stream, flags))
SAME_PTSZ(cuStreamGetPriority, cudaStreamGetPriority, (StreamHandle stream, int* priority),
          (stream, priority))
SAME_PTSZ(cuStreamGetId, cudaStreamGetId, (StreamHandle stream, unsigned long long* id),
          (stream, id))
SAME_PTSZ(cuStreamGetDevice, cudaStreamGetDevice, (StreamHandle stream, int* device),
          (stream, device))
SAME_PTSZ(cuStreamSetAttribute, cudaStreamSetAttribute,
          (StreamHandle stream, int attribute, const void* value), (stream, attribute, value))
SAME_PTSZ(cuStreamGetAttribute, cudaStreamGetAttribute,
          (StreamHandle stream, int attribute, void* value), (stream, attribute, value))
SAME_PTSZ(cuStreamCopyAttributes, cudaStreamCopyAttributes, (StreamHandle to, StreamHandle from),
          (to, from))
SAME_PTSZ(cuStreamAttachMemAsync, cudaStreamAttachMemAsync,
          (StreamHandle stream, void* pointer, size_t bytes, unsigned flags),
          (stream, pointer, bytes, flags))
SAME_PTSZ(cuLaunchHostFunc, cudaLaunchHostFunc,
          (StreamHandle stream, void (*function)(void*), void* user), (stream, function, user))
SAME_PTSZ(cuStreamAddCallback, cudaStreamAddCallback,
          (StreamHandle stream, void (*function)(StreamHandle, int, void*), void* user,
           unsigned flags),
          (stream, function, user, flags))

SAME(cuEventCreate, cudaEventCreateWithFlags, (EventHandle * out, unsigned flags), (out, flags))
SAME_WITHOUT_CONTEXT(cuEventDestroy_v2, cudaEventDestroy, (EventHandle event), (event))
ALSO(cuEventDestroy, cuEventDestroy_v2);
SAME_PTSZ(cuEventRecord, cudaEventRecord, (EventHandle event, StreamHandle stream), (event, stream))
SAME_PTSZ(cuEventRecordWithFlags, cudaEventRecordWithFlags,
          (EventHandle event, StreamHandle stream, unsigned flags), (event, stream, flags))
SAME(cuEventSynchronize, cudaEventSynchronize, (EventHandle event), (event))
SAME(cuEventQuery, cudaEventQuery, (EventHandle event), (event))
SAME(cuEventElapsedTime, cudaEventElapsedTime,
     (float* milliseconds, EventHandle begin, EventHandle end), (milliseconds, begin, end))
ALSO(cuEventElapsedTime_v2, cuEventElapsedTime);

SAME(cuStreamBeginCapture_v2, cudaStreamBeginCapture, (StreamHandle stream, int mode),
     (stream, mode))
SAME(cuStreamBeginCapture_v2_ptsz, cudaStreamBeginCapture_ptsz, (StreamHandle stream, int mode),
     (stream, mode))
ENTRY(cuStreamBeginCapture, (StreamHandle stream)) {
  return cuStreamBeginCapture_v2(stream, 0);
}
ENTRY(cuStreamBeginCapture_ptsz, (StreamHandle stream)) {
  return cuStreamBeginCapture_v2_ptsz(stream, 0);
}
SAME_PTSZ(cuStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph,
          (StreamHandle stream, Graph* graph, Node* const* needs, const void* data, size_t count,
           int mode),
          (stream, graph, needs, data, count, mode))
SAME(cuStreamEndCapture, cudaStreamEndCapture, (StreamHandle stream, Graph** graph),
     (stream, graph))
SAME(cuStreamEndCapture_ptsz, cudaStreamEndCapture_ptsz, (StreamHandle stream, Graph** graph),
     (stream, graph))
SAME_PTSZ(cuStreamIsCapturing, cudaStreamIsCapturing, (StreamHandle stream, int* status),
          (stream, status))
SAME(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, (int* mode), (mode))
SAME_PTSZ(cuStreamGetCaptureInfo, lanewise_cuda11_cudaStreamGetCaptureInfo,
          (StreamHandle stream, int* status, unsigned long long* id), (stream, status, id))
SAME_PTSZ(cuStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2,
          (StreamHandle stream, int* status, unsigned long long* id, Graph** graph,
           Node* const** needs, size_t* count),
          (stream, status, id, graph, needs, count))
SAME_PTSZ(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo,
          (StreamHandle stream, int* status, unsigned long long* id, Graph** graph,
           Node* const** needs, const void** data, size_t* count),
          (stream, status, id, graph, needs, data, count))
SAME_PTSZ(cuStreamUpdateCaptureDependencies, lanewise_cuda12_cudaStreamUpdateCaptureDependencies,
          (StreamHandle stream, Node* const* nodes, size_t count, unsigned flags),
          (stream, nodes, count, flags))
SAME_PTSZ(cuStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies,
          (StreamHandle stream, Node* const* nodes, const void* data, size_t count, unsigned flags),
          (stream, nodes, data, count, flags))
