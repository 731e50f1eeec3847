// Graphs: what the runtime has them do, with the driver's parameters of nodes.
#include "runtime/host/cuda/graphs.hpp"

#include "runtime/host/driver/copies.hpp"
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {

using cuda::add_node;
using cuda::HostParameters;
using cuda::MemsetParameters;

namespace {

/// CUDA_KERNEL_NODE_PARAMS, whose second version names kernels too.
struct KernelParameters : cuda::KernelParameters {
  const void* kernel;
  DriverContext* context;
};

Launch launch_of(const KernelParameters* p) {
  cuda::KernelParameters same = *required(p);
  if (same.function == nullptr) same.function = p->kernel;
  return cuda::launch_of(&same);
}
void give(cuda::KernelParameters* out, Node* node) {
  Launch& launch = cuda::operation_of<Launch>(node);
  *required(out) = cuda::parameters_of(launch);
  out->function = launch.function.get();
}
void give(Copy3D* out, Node* node) {
  const Copy& c = cuda::operation_of<Copy>(node);
  const auto side = [&](const Region& r) {
    Side3D s{};
    s.type = r.on_device ? kDeviceMemory : kHost;
    s.host = r.on_device ? nullptr : pointer_at(r.address);
    s.device = r.on_device ? r.address : 0;
    s.pitch = r.pitch;
    s.height = r.pitch != 0 && r.layer != 0 ? r.layer / r.pitch : c.height;
    return s;
  };
  *required(out) = {side(c.from), side(c.to), c.width, c.height, c.depth};
}

}  // namespace
}  // namespace lanewise::driver

using namespace lanewise::driver;

#define NEEDS Node **out, Graph *graph, Node *const *needs, size_t count
#define GIVEN out, graph, needs, count

SAME(cuGraphCreate, cudaGraphCreate, (Graph * *out, unsigned flags), (out, flags))
SAME(cuGraphDestroy, cudaGraphDestroy, (Graph * graph), (graph))
SAME(cuGraphClone, cudaGraphClone, (Graph * *out, Graph* graph), (out, graph))
SAME(cuGraphNodeFindInClone, cudaGraphNodeFindInClone, (Node * *out, Node* node, Graph* clone),
     (out, node, clone))
SAME(cuGraphDestroyNode, cudaGraphDestroyNode, (Node * node), (node))
SAME(cuGraphNodeGetType, cudaGraphNodeGetType, (Node * node, int* type), (node, type))
SAME(cuGraphGetNodes, cudaGraphGetNodes, (Graph * graph, Node** nodes, size_t* count),
     (graph, nodes, count))
SAME(cuGraphGetRootNodes, cudaGraphGetRootNodes, (Graph * graph, Node** nodes, size_t* count),
     (graph, nodes, count))
SAME(cuGraphGetEdges, lanewise_cuda12_cudaGraphGetEdges,
     (Graph * graph, Node** from, Node** to, size_t* count), (graph, from, to, count))
SAME(cuGraphGetEdges_v2, cudaGraphGetEdges,
     (Graph * graph, Node** from, Node** to, void* data, size_t* count),
     (graph, from, to, data, count))
SAME(cuGraphNodeGetDependencies, lanewise_cuda12_cudaGraphNodeGetDependencies,
     (Node * node, Node** out, size_t* count), (node, out, count))
SAME(cuGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies,
     (Node * node, Node** out, void* data, size_t* count), (node, out, data, count))
SAME(cuGraphNodeGetDependentNodes, lanewise_cuda12_cudaGraphNodeGetDependentNodes,
     (Node * node, Node** out, size_t* count), (node, out, count))
SAME(cuGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes,
     (Node * node, Node** out, void* data, size_t* count), (node, out, data, count))
SAME(cuGraphAddDependencies, lanewise_cuda12_cudaGraphAddDependencies,
     (Graph * graph, Node* const* from, Node* const* to, size_t count), (graph, from, to, count))
SAME(cuGraphAddDependencies_v2, cudaGraphAddDependencies,
     (Graph * graph, Node* const* from, Node* const* to, const void* data, size_t count),
     (graph, from, to, data, count))
SAME(cuGraphRemoveDependencies, lanewise_cuda12_cudaGraphRemoveDependencies,
     (Graph * graph, Node* const* from, Node* const* to, size_t count), (graph, from, to, count))
SAME(cuGraphRemoveDependencies_v2, cudaGraphRemoveDependencies,
     (Graph * graph, Node* const* from, Node* const* to, const void* data, size_t count),
     (graph, from, to, data, count))

SAME(cuGraphInstantiateWithFlags, cudaGraphInstantiate,
     (Executable * *out, Graph* graph, unsigned long long flags), (out, graph, flags))
SAME(cuGraphInstantiate_v2, lanewise_cuda11_cudaGraphInstantiate,
     (Executable * *out, Graph* graph, Node** error, char* log, size_t bytes),
     (out, graph, error, log, bytes))
ALSO(cuGraphInstantiate, cuGraphInstantiate_v2);
SAME_PTSZ(cuGraphInstantiateWithParams, cudaGraphInstantiateWithParams,
          (Executable * *out, Graph* graph, void* parameters), (out, graph, parameters))
SAME(cuGraphExecDestroy, cudaGraphExecDestroy, (Executable * executable), (executable))
SAME(cuGraphExecGetFlags, cudaGraphExecGetFlags,
     (Executable * executable, unsigned long long* flags), (executable, flags))
SAME_PTSZ(cuGraphUpload, cudaGraphUpload, (Executable * executable, StreamHandle stream),
          (executable, stream))
SAME_PTSZ(cuGraphLaunch, cudaGraphLaunch, (Executable * executable, StreamHandle stream),
          (executable, stream))
SAME(cuGraphExecUpdate_v2, cudaGraphExecUpdate, (Executable * executable, Graph* graph, void* info),
     (executable, graph, info))
SAME(cuGraphExecUpdate, lanewise_cuda11_cudaGraphExecUpdate,
     (Executable * executable, Graph* graph, Node** node, int* result),
     (executable, graph, node, result))
SAME(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled,
     (Executable * executable, Node* node, unsigned enabled), (executable, node, enabled))
SAME(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled,
     (Executable * executable, Node* node, unsigned* enabled), (executable, node, enabled))

SAME(cuGraphAddEmptyNode, cudaGraphAddEmptyNode, (NEEDS), (GIVEN))
SAME(cuGraphAddKernelNode, cudaGraphAddKernelNode, (NEEDS, const cuda::KernelParameters* p),
     (GIVEN, p))
ENTRY(cuGraphAddKernelNode_v2, (NEEDS, const KernelParameters* p)) {
  return forward([&] { return add_node(out, graph, needs, count, [&] { return launch_of(p); }); });
}
ENTRY(cuGraphKernelNodeGetParams, (Node * node, cuda::KernelParameters* p)) {
  return answer([&] { give(p, node); });
}
ENTRY(cuGraphKernelNodeGetParams_v2, (Node * node, KernelParameters* p)) {
  return answer([&] {
    give(p, node);
    p->kernel = nullptr;
    p->context = current_context();
  });
}
SAME(cuGraphKernelNodeSetParams, cudaGraphKernelNodeSetParams,
     (Node * node, const cuda::KernelParameters* p), (node, p))
ENTRY(cuGraphKernelNodeSetParams_v2, (Node * node, const KernelParameters* p)) {
  return answer([&] { cuda::operation_of<Launch>(node) = launch_of(p); });
}
SAME(cuGraphExecKernelNodeSetParams, cudaGraphExecKernelNodeSetParams,
     (Executable * executable, Node* node, const cuda::KernelParameters* p), (executable, node, p))
ENTRY(cuGraphExecKernelNodeSetParams_v2,
      (Executable * executable, Node* node, const KernelParameters* p)) {
  return answer([&] { cuda::operation_in<Launch>(executable, node) = launch_of(p); });
}
ENTRY(cuGraphAddMemcpyNode, (NEEDS, const Copy3D* p, DriverContext* /*context*/)) {
  return forward([&] { return add_node(out, graph, needs, count, [&] { return copy_of(p); }); });
}
ENTRY(cuGraphMemcpyNodeGetParams, (Node * node, Copy3D* p)) {
  return answer([&] { give(p, node); });
}
ENTRY(cuGraphMemcpyNodeSetParams, (Node * node, const Copy3D* p)) {
  return answer([&] { cuda::operation_of<Copy>(node) = copy_of(p); });
}
ENTRY(cuGraphExecMemcpyNodeSetParams,
      (Executable * executable, Node* node, const Copy3D* p, DriverContext* /*context*/)) {
  return answer([&] { cuda::operation_in<Copy>(executable, node) = copy_of(p); });
}
extern "C" int cudaGraphAddMemsetNode(NEEDS, const MemsetParameters* p);
ENTRY(cuGraphAddMemsetNode, (NEEDS, const MemsetParameters* p, DriverContext* /*context*/)) {
  return forward([&] { return cudaGraphAddMemsetNode(GIVEN, p); });
}
SAME(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams, (Node * node, MemsetParameters* p),
     (node, p))
SAME(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams,
     (Node * node, const MemsetParameters* p), (node, p))
extern "C" int cudaGraphExecMemsetNodeSetParams(Executable* executable, Node* node,
                                                const MemsetParameters* p);
ENTRY(cuGraphExecMemsetNodeSetParams, (Executable * executable, Node* node,
                                       const MemsetParameters* p, DriverContext* /*context*/)) {
  return forward([&] { return cudaGraphExecMemsetNodeSetParams(executable, node, p); });
}
SAME(cuGraphAddHostNode, cudaGraphAddHostNode, (NEEDS, const HostParameters* p), (GIVEN, p))
SAME(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams, (Node * node, HostParameters* p),
     (node, p))
SAME(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams, (Node * node, const HostParameters* p),
     (node, p))
SAME(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams,
     (Executable * executable, Node* node, const HostParameters* p), (executable, node, p))
SAME(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode, (NEEDS, Graph* child), (GIVEN, child))
SAME(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph, (Node * node, Graph** child),
     (node, child))
SAME(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams,
     (Executable * executable, Node* node, Graph* child), (executable, node, child))
SAME(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode, (NEEDS, EventHandle event),
     (GIVEN, event))
SAME(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode, (NEEDS, EventHandle event), (GIVEN, event))
SAME(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent,
     (Node * node, EventHandle* event), (node, event))
SAME(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent,
     (Node * node, EventHandle event), (node, event))
SAME(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent,
     (Node * node, EventHandle* event), (node, event))
SAME(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent, (Node * node, EventHandle event),
     (node, event))
SAME(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent,
     (Executable * executable, Node* node, EventHandle event), (executable, node, event))
SAME(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent,
     (Executable * executable, Node* node, EventHandle event), (executable, node, event))
SAME(cuGraphAddMemAllocNode, cudaGraphAddMemAllocNode, (NEEDS, void* p), (GIVEN, p))
SAME(cuGraphAddMemFreeNode, cudaGraphAddMemFreeNode, (NEEDS, void* pointer), (GIVEN, pointer))
SAME(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams, (Node * node, void* p),
     (node, p))
SAME(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams, (Node * node, void* pointer),
     (node, pointer))
SAME(cuDeviceGraphMemTrim, cudaDeviceGraphMemTrim, (int device), (device))
SAME(cuDeviceGetGraphMemAttribute, cudaDeviceGetGraphMemAttribute,
     (int device, int attribute, void* value), (device, attribute, value))
SAME(cuDeviceSetGraphMemAttribute, cudaDeviceSetGraphMemAttribute,
     (int device, int attribute, const void* value), (device, attribute, value))
