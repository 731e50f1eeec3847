// Capture of streams.
#include "runtime/host/cuda/graphs.hpp"

namespace lanewise::cuda {
namespace {

CaptureMode mode_of(int mode) {
  require(mode >= 0 && mode <= 2);
  return static_cast<CaptureMode>(mode);
}

enum Status : int { kNone, kActive, kInvalidated };
int status_of(const Stream& stream) {
  return stream.capture == nullptr ? kNone : stream.capture->invalid ? kInvalidated : kActive;
}

/// What cudaStreamGetCaptureInfo gives, as far as the version asks for it.
int info(StreamHandle handle, int* status, unsigned long long* id, Graph** graph,
         Node* const** needs, size_t* count) {
  return answer([&] {
    Stream& stream = stream_of(handle);
    *required(status) = status_of(stream);
    if (*status != kActive) return;
    if (id != nullptr) *id = stream.capture->id;
    if (graph != nullptr) {
      *graph = stream.capture->graph.get();
      Handles<Graph>::add(stream.capture->graph);
    }
    if (needs != nullptr) *needs = stream.tail.data();
    if (count != nullptr) *count = stream.tail.size();
  });
}

int set_dependencies(StreamHandle handle, Node* const* nodes, size_t count, unsigned flags) {
  return answer([&] {
    Stream& stream = stream_of(handle);
    require(stream.capture != nullptr && flags <= 1, Code::capture_unmatched);
    if (flags == 1) stream.tail.clear();
    for (Node* n : nodes_of(nodes, count))
      if (std::find(stream.tail.begin(), stream.tail.end(), n) == stream.tail.end())
        stream.tail.push_back(n);
  });
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaStreamBeginCapture, (StreamHandle stream, int mode)) {
  return answer([&] { begin_capture(stream_of(stream), mode_of(mode)); });
}
ENTRY_PTSZ(cudaStreamBeginCaptureToGraph, (StreamHandle stream, Graph* graph, Node* const* needs,
                                           const void* /*data*/, size_t count, int mode)) {
  return answer([&] {
    begin_capture(stream_of(stream), mode_of(mode), graph_of(graph), nodes_of(needs, count));
  });
}
ENTRY(cudaStreamEndCapture, (StreamHandle stream, Graph** graph)) {
  return answer([&] {
    *required(graph) = nullptr;
    *graph = Handles<Graph>::add(end_capture(stream_of(stream)));
  });
}
ENTRY_PTSZ(cudaStreamIsCapturing, (StreamHandle stream, int* status)) {
  return answer([&] { *required(status) = status_of(stream_of(stream)); });
}
ENTRY(cudaThreadExchangeStreamCaptureMode, (int* mode)) {
  return answer([&] { *mode = static_cast<int>(exchange_capture_mode(mode_of(*required(mode)))); });
}
ENTRY_PTSZ(cudaStreamGetCaptureInfo,
           (StreamHandle stream, int* status, unsigned long long* id, Graph** graph,
            Node* const** needs, const void** data, size_t* count)) {
  if (data != nullptr) *data = nullptr;
  return info(stream, status, id, graph, needs, count);
}
ALSO(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo);
ALSO(cudaStreamGetCaptureInfo_v3_ptsz, cudaStreamGetCaptureInfo);
ENTRY_PTSZ(cudaStreamGetCaptureInfo_v2, (StreamHandle stream, int* status, unsigned long long* id,
                                         Graph** graph, Node* const** needs, size_t* count)) {
  return info(stream, status, id, graph, needs, count);
}
ENTRY_OF(11, cudaStreamGetCaptureInfo, (StreamHandle stream, int* status, unsigned long long* id)) {
  return info(stream, status, id, nullptr, nullptr, nullptr);
}
ALSO(lanewise_cuda12_cudaStreamGetCaptureInfo, lanewise_cuda11_cudaStreamGetCaptureInfo);
ENTRY_PTSZ(cudaStreamUpdateCaptureDependencies,
           (StreamHandle stream, Node* const* nodes, const void* /*data*/, size_t count,
            unsigned flags)) {
  return set_dependencies(stream, nodes, count, flags);
}
ALSO(cudaStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies);
ALSO(cudaStreamUpdateCaptureDependencies_v2_ptsz, cudaStreamUpdateCaptureDependencies);
ENTRY_OF(12, cudaStreamUpdateCaptureDependencies,
         (StreamHandle stream, Node* const* nodes, size_t count, unsigned flags)) {
  return set_dependencies(stream, nodes, count, flags);
}
ALSO(lanewise_cuda11_cudaStreamUpdateCaptureDependencies,
     lanewise_cuda12_cudaStreamUpdateCaptureDependencies);
/// The thread's default stream can be captured, the other one cannot.
ENTRY(cudaStreamBeginCapture_ptsz, (StreamHandle stream, int mode)) {
  return cudaStreamBeginCapture(stream == nullptr ? pointer_at<Stream>(2) : stream, mode);
}
ENTRY(cudaStreamEndCapture_ptsz, (StreamHandle stream, Graph** graph)) {
  return cudaStreamEndCapture(stream == nullptr ? pointer_at<Stream>(2) : stream, graph);
}
