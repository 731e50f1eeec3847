// Streams, events, capture.
#include "runtime/host/driver/entry.hpp"

namespace lanewise::core {
struct Graph;
struct Node;
}  // namespace lanewise::core

using namespace lanewise::driver;

ENTRY(cuStreamGetCtx, (StreamHandle stream, DriverContext** context)) {
  return answer([&] {
    const Stream& of = stream_of(stream);
    DriverContext* const current = current_context();
    *required(context) = of.device == current->device ? current : &primary_context(of.device);
  });
}
ENTRY(cuStreamGetCtx_v2, (StreamHandle stream, DriverContext** context, void** green)) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}
ALSO(cuStreamGetCtx_ptsz, cuStreamGetCtx);
ALSO(cuStreamGetCtx_v2_ptsz, cuStreamGetCtx_v2);

SAME(cuStreamCreate, cudaStreamCreateWithFlags, (StreamHandle * out, unsigned flags), (out, flags))
SAME(cuStreamCreateWithPriority, cudaStreamCreateWithPriority,
     (StreamHandle * out, unsigned flags, int priority), (out, flags, priority))
extern "C" int cudaStreamDestroy(StreamHandle stream);
ENTRY(cuStreamDestroy_v2, (StreamHandle stream)) {
  return forward([&] { return cudaStreamDestroy(stream); }, Needs::device);
}
ALSO(cuStreamDestroy, cuStreamDestroy_v2);
SAME(cuStreamSynchronize, cudaStreamSynchronize, (StreamHandle stream), (stream))
SAME(cuStreamQuery, cudaStreamQuery, (StreamHandle stream), (stream))
SAME(cuStreamWaitEvent, cudaStreamWaitEvent,
     (StreamHandle stream, EventHandle event, unsigned flags), (stream, event, flags))
SAME(cuStreamGetFlags, cudaStreamGetFlags, (StreamHandle stream, unsigned* flags), (stream, flags))
SAME(cuStreamGetPriority, cudaStreamGetPriority, (StreamHandle stream, int* priority),
     (stream, priority))
SAME(cuStreamGetId, cudaStreamGetId, (StreamHandle stream, unsigned long long* id), (stream, id))
SAME(cuStreamGetDevice, cudaStreamGetDevice, (StreamHandle stream, int* device), (stream, device))
SAME(cuStreamSetAttribute, cudaStreamSetAttribute,
     (StreamHandle stream, int attribute, const void* value), (stream, attribute, value))
SAME(cuStreamGetAttribute, cudaStreamGetAttribute,
     (StreamHandle stream, int attribute, void* value), (stream, attribute, value))
SAME(cuStreamCopyAttributes, cudaStreamCopyAttributes, (StreamHandle to, StreamHandle from),
     (to, from))
SAME(cuStreamAttachMemAsync, cudaStreamAttachMemAsync,
     (StreamHandle stream, void* pointer, size_t bytes, unsigned flags),
     (stream, pointer, bytes, flags))
SAME(cuLaunchHostFunc, cudaLaunchHostFunc,
     (StreamHandle stream, void (*function)(void*), void* user), (stream, function, user))
SAME(cuStreamAddCallback, cudaStreamAddCallback,
     (StreamHandle stream, void (*function)(StreamHandle, int, void*), void* user, unsigned flags),
     (stream, function, user, flags))
ALSO(cuStreamSynchronize_ptsz, cuStreamSynchronize);
ALSO(cuStreamQuery_ptsz, cuStreamQuery);
ALSO(cuStreamWaitEvent_ptsz, cuStreamWaitEvent);
ALSO(cuStreamGetFlags_ptsz, cuStreamGetFlags);
ALSO(cuStreamGetPriority_ptsz, cuStreamGetPriority);
ALSO(cuStreamGetId_ptsz, cuStreamGetId);
ALSO(cuStreamGetDevice_ptsz, cuStreamGetDevice);
ALSO(cuStreamSetAttribute_ptsz, cuStreamSetAttribute);
ALSO(cuStreamGetAttribute_ptsz, cuStreamGetAttribute);
ALSO(cuStreamCopyAttributes_ptsz, cuStreamCopyAttributes);
ALSO(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync);
ALSO(cuLaunchHostFunc_ptsz, cuLaunchHostFunc);
ALSO(cuStreamAddCallback_ptsz, cuStreamAddCallback);

SAME(cuEventCreate, cudaEventCreateWithFlags, (EventHandle * out, unsigned flags), (out, flags))
extern "C" int cudaEventDestroy(EventHandle event);
ENTRY(cuEventDestroy_v2, (EventHandle event)) {
  return forward([&] { return cudaEventDestroy(event); }, Needs::device);
}
ALSO(cuEventDestroy, cuEventDestroy_v2);
SAME(cuEventRecord, cudaEventRecord, (EventHandle event, StreamHandle stream), (event, stream))
SAME(cuEventRecordWithFlags, cudaEventRecordWithFlags,
     (EventHandle event, StreamHandle stream, unsigned flags), (event, stream, flags))
SAME(cuEventSynchronize, cudaEventSynchronize, (EventHandle event), (event))
SAME(cuEventQuery, cudaEventQuery, (EventHandle event), (event))
SAME(cuEventElapsedTime, cudaEventElapsedTime,
     (float* milliseconds, EventHandle begin, EventHandle end), (milliseconds, begin, end))
ALSO(cuEventElapsedTime_v2, cuEventElapsedTime);
ALSO(cuEventRecord_ptsz, cuEventRecord);
ALSO(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags);

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
SAME(cuStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph,
     (StreamHandle stream, Graph* graph, Node* const* needs, const void* data, size_t count,
      int mode),
     (stream, graph, needs, data, count, mode))
SAME(cuStreamEndCapture, cudaStreamEndCapture, (StreamHandle stream, Graph** graph),
     (stream, graph))
SAME(cuStreamEndCapture_ptsz, cudaStreamEndCapture_ptsz, (StreamHandle stream, Graph** graph),
     (stream, graph))
SAME(cuStreamIsCapturing, cudaStreamIsCapturing, (StreamHandle stream, int* status),
     (stream, status))
SAME(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, (int* mode), (mode))
SAME(cuStreamGetCaptureInfo, lanewise_cuda11_cudaStreamGetCaptureInfo,
     (StreamHandle stream, int* status, unsigned long long* id), (stream, status, id))
SAME(cuStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2,
     (StreamHandle stream, int* status, unsigned long long* id, Graph** graph, Node* const** needs,
      size_t* count),
     (stream, status, id, graph, needs, count))
SAME(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo,
     (StreamHandle stream, int* status, unsigned long long* id, Graph** graph, Node* const** needs,
      const void** data, size_t* count),
     (stream, status, id, graph, needs, data, count))
SAME(cuStreamUpdateCaptureDependencies, lanewise_cuda12_cudaStreamUpdateCaptureDependencies,
     (StreamHandle stream, Node* const* nodes, size_t count, unsigned flags),
     (stream, nodes, count, flags))
SAME(cuStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies,
     (StreamHandle stream, Node* const* nodes, const void* data, size_t count, unsigned flags),
     (stream, nodes, data, count, flags))
ALSO(cuStreamBeginCaptureToGraph_ptsz, cuStreamBeginCaptureToGraph);
ALSO(cuStreamIsCapturing_ptsz, cuStreamIsCapturing);
ALSO(cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo);
ALSO(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v2);
ALSO(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3);
ALSO(cuStreamUpdateCaptureDependencies_ptsz, cuStreamUpdateCaptureDependencies);
ALSO(cuStreamUpdateCaptureDependencies_v2_ptsz, cuStreamUpdateCaptureDependencies_v2);
